"""Train the learned judge, each author left out in turn: a network from everyone else's reports.

``python benchmarks/judge/train.py --out DIR [--seed N]``, then `calibrate.py` and `score.py` on
DIR. The network for use (``weights.npz``) is fit to everyone. ``--only k,m`` leaves out these
authors alone, so that several processes can share the work. One core, about fifteen minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fit import exported, find_space, fit
from gold import AUTHORS, authors, ours
from rows import Rows, read_rows

from pipeline.deidentify import Deidentifier, Options
from pipeline.deidentify.judge.tokens import Describer, Glossary

REPORTS = 300
"""So many reports of an author are shown; the larger sets repeat their bodies with other values."""


def all_rows(seed: int) -> tuple[dict[str, Rows], Glossary, Glossary, Describer]:
    """Make the rows of every set."""
    rules = Deidentifier(Options(caution=0))
    describer = Describer(rules.lexicon)
    words, gaps = describer.glossaries()
    sets = {
        name: read_rows(reports[:REPORTS], rules, words, gaps, seed)
        for name, reports in (authors() | ours()).items()
    }
    return sets, words, gaps, describer


def main() -> None:
    """Leave each author out, then nobody, and write the networks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join((*AUTHORS, "nobody")))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    sets, words, gaps, describer = all_rows(asked.seed)
    print({name: len(rows.labels) for name, rows in sets.items()}, flush=True)
    for author in asked.only.split(","):
        others = {name: rows for name, rows in sets.items() if name != author}
        space = find_space(others, words, gaps, describer)
        name = "weights.npz" if author == "nobody" else f"without_{author}.npz"
        exported(fit(others, space, asked.seed), space).save(asked.out / name)
        print(name, (asked.out / name).stat().st_size, "bytes", flush=True)


if __name__ == "__main__":
    main()
