"""Fit the line that weighs runs of tokens, on authors of whom the networks learned nothing.

``python benchmarks/judge/line.py --weights DIR``; DIR is what `train.py` wrote and `calibrate.py`
calibrated. A run that an author marked, in part or whole, is an identifier. The line of a fold
comes from the left-out authors of the other folds, that of the networks for use from all. Runs of
which the networks are nearly sure teach nothing and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from refit import refit
from rows import labels
from sklearn.linear_model import LogisticRegression

from pipeline.deidentify import Deidentifier
from pipeline.deidentify.audit import GoldReport
from pipeline.deidentify.judge import Judge

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


def line(shown: Sequence[Runs]) -> NDArray[np.float32]:
    """Fit the line: its shift, then a number for each feature."""
    features, truth = (
        np.concatenate([getattr(each, name) for each in shown]) for name in ("features", "truth")
    )
    unsure = features[:, 1] < SURE
    mean, spread = features[unsure].mean(axis=0), features[unsure].std(axis=0).clip(min=RARE)
    model = LogisticRegression(C=STRENGTH, max_iter=3000)
    model.fit((features[unsure] - mean) / spread, truth[unsure])
    fitted = model.coef_[0] / spread
    fitted[0] = model.intercept_[0] - fitted[1:] @ mean[1:]
    return fitted.astype(np.float32)


if __name__ == "__main__":
    refit(__doc__, "runs", seen, line)
