"""Fit the line that weighs runs of tokens, on authors of whom the networks learned nothing.

``python benchmarks/judge/line.py [--weights FILE]``. A run that an author marked, in part or whole,
is an identifier. Each writer's sets are scored by the line of all other writers, beside the line
that FILE holds; then the line of them all is written into FILE. Runs of which the networks are
nearly sure teach nothing and are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from gold import UNLEARNED, save, unlearned
from numpy.typing import NDArray
from rows import labels
from sklearn.linear_model import LogisticRegression

from pipeline.deidentify import Deidentifier, Options
from pipeline.deidentify.audit import GoldReport, audit
from pipeline.deidentify.judge import Judge, Weights
from pipeline.deidentify.judge.model import load_weights

STRENGTH, SURE, RARE = 0.5, np.log(0.95 / 0.05), 0.1
"""The inverse of the penalty, the log-odds from which a run teaches nothing, and the least spread
by which a feature is scaled, so that one of a few runs weighs little."""
_FILE = Path(__file__).parents[2] / "pipeline" / "deidentify" / "judge" / "weights.npz"


@dataclass(frozen=True, slots=True)
class Runs:
    """What is known of some runs, and whether they are identifiers."""

    features: NDArray[np.float64]
    truth: NDArray[np.bool_]


def seen(reports: Sequence[GoldReport], rules: Deidentifier, judge: Judge) -> Runs:
    """Show reports to the judge."""
    court = judge._open([rules.read(report.text) for report in reports])
    weighed = judge._weigh(court)
    missable = court.ballot.owners[weighed.asked] < 0
    heard = np.flatnonzero(missable & (weighed.chances > judge._least(court, weighed)))
    slots = weighed.asked[heard]
    runs = judge._runs(court.shard, slots, weighed.chances[heard])
    truth = np.maximum.reduceat(labels(court.shard, reports)[slots] > 0, runs.opens)
    return Runs(judge._features(court.shard, weighed, heard, runs), truth)


def line(shown: Iterable[Runs]) -> NDArray[np.float32]:
    """Fit the line: its shift, then a number for each feature."""
    some = list(shown)
    features, truth = (
        np.concatenate([getattr(each, name) for each in some]) for name in ("features", "truth")
    )
    unsure = features[:, 1] < SURE
    mean, spread = features[unsure].mean(axis=0), features[unsure].std(axis=0).clip(min=RARE)
    model = LogisticRegression(C=STRENGTH, max_iter=3000)
    model.fit((features[unsure] - mean) / spread, truth[unsure])
    fitted = model.coef_[0] / spread
    fitted[0] = model.intercept_[0] - fitted[1:] @ mean[1:]
    return fitted.astype(np.float32)


def scored(gold: dict[str, list[GoldReport]], weights: Weights) -> list[list[int]]:
    """Give what is missed, needless, and harmed of words of certainty, for each set."""
    cleaner = Deidentifier(weights=weights)
    audits = [audit(reports, cleaner) for reports in gold.values()]
    return [
        [each.recall["ALL"].n - each.recall["ALL"].count, each.superfluous.count,
         each.phrases_harmed]
        for each in audits
    ]  # fmt: skip


def main() -> None:
    """Leave each writer out, then nobody, and write the line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, default=_FILE)
    place = parser.parse_args().weights
    weights, gold, rules = load_weights(place), unlearned(), Deidentifier(Options(caution=0))
    judge = Judge(rules.lexicon, weights=weights)
    shown = {name: seen(reports, rules, judge) for name, reports in gold.items()}
    print("set: missed, needless, words of certainty harmed, as the file holds it and left out")
    total = np.zeros((2, 3), dtype=int)
    for sets in UNLEARNED:
        others = line(each for name, each in shown.items() if name not in sets)
        own = {name: gold[name] for name in sets}
        scores = scored(own, weights), scored(own, replace(weights, runs=others))
        for name, before, after in zip(sets, *scores, strict=True):
            print(f"  {name} {before} {after}", flush=True)
        total += np.array(scores).sum(axis=1)
    print("all", *total.tolist())
    fitted = line(shown.values())
    save(replace(weights, runs=fitted), place)
    print(np.round(fitted, 3).tolist())


if __name__ == "__main__":
    main()
