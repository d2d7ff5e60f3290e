"""Audit each author's reports under networks that never saw them, and under the rules alone.

``python benchmarks/judge/score.py --weights DIR [--caution C …]``; DIR is what `train.py` wrote and
`calibrate.py` and `line.py` completed. What the judge adds was learned from other writers alone;
with several cautions the totals are a curve of what is missed by needless removals.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gold import FOLDS, NEWER, authors, file_of

from pipeline.deidentify import Deidentifier, Options
from pipeline.deidentify.audit import DeidAudit, GoldReport, audit
from pipeline.deidentify.judge.model import load_weights


def main() -> None:
    """Print a line for each author and the totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--caution", type=float, nargs="+", default=[Options().caution])
    parser.add_argument("--authors", nargs="+", default=NEWER)
    asked = parser.parse_args()
    gold = authors(asked.authors)
    for caution in (0.0, *asked.caution):
        scores = {name: _score(gold[name], asked.weights, name, caution) for name in asked.authors}
        print(f"caution {caution}: set, all, names, left whole, needless per report, harmed")
        for name, each in scores.items():
            print(f"  {name} {_line(each)}")
        found = [each.recall["ALL"] for each in scores.values()]
        n, missed = sum(each.n for each in found), sum(each.n - each.count for each in found)
        needless = sum(each.superfluous.count for each in scores.values())
        reports = sum(each.reports for each in scores.values())
        print(f"  all {missed} of {n} missed, {needless} needless in {reports} reports")


def _score(reports: list[GoldReport], folder: Path, author: str, caution: float) -> DeidAudit:
    weights = load_weights(folder / next(file_of(fold) for fold in FOLDS if author in fold))
    return audit(reports, Deidentifier(Options(caution=caution), weights=weights))


def _line(each: DeidAudit) -> str:
    needless = each.superfluous.count / each.reports
    missed = {k: v.n - v.count for k, v in each.recall.items() if v.n > v.count and k != "ALL"}
    return (
        f"{each.recall['ALL'].value:.4f} {each.recall['NAME'].value:.4f} "
        f"{each.untouched['ALL'].value:.4f} {needless:.3f} {each.phrases_harmed} {missed}"
    )


if __name__ == "__main__":
    main()
