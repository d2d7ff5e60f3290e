"""Fit the line that weighs runs of tokens, on authors of whom the networks learned nothing.

``python benchmarks/judge/line.py --weights DIR``; DIR is what `train.py` wrote and `calibrate.py`
calibrated. A run that an author marked, in part or whole, is an identifier. The line of a fold
comes from the left-out authors of the other folds, that of the networks for use from all. Runs of
which the networks are nearly sure teach nothing and are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from gold import FOLDS, NEWER, authors, file_of, save
from numpy.typing import NDArray
from rows import labels
from sklearn.linear_model import LogisticRegression

from pipeline.deidentify import Deidentifier, Options
from pipeline.deidentify.audit import GoldReport
from pipeline.deidentify.judge import Judge
from pipeline.deidentify.judge.model import load_weights

STRENGTH, SURE, RARE = 0.5, np.log(0.95 / 0.05), 0.1
"""The inverse of the penalty, the log-odds from which a run teaches nothing, and the least spread
by which a feature is scaled, so that one of a few runs weighs little."""


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


def main() -> None:
    """Fit the line of each fold to all other folds, and that for use to everyone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True)
    folder = parser.parse_args().weights
    rules, gold = Deidentifier(Options(caution=0)), authors(NEWER)
    shown = {}
    for fold in FOLDS:
        judge = Judge(rules.lexicon, weights=load_weights(folder / file_of(fold)))
        shown |= {name: seen(gold[name], rules, judge) for name in fold}
    for fold in (*FOLDS, ()):
        fitted = line(each for name, each in shown.items() if name not in fold)
        place = folder / file_of(fold)
        save(replace(load_weights(place), runs=fitted), place)
        print(place.name, np.round(fitted, 3).tolist(), flush=True)


if __name__ == "__main__":
    main()
