"""Fit what the judge's chances are worth to authors that its networks were spared.

``python benchmarks/judge/calibrate.py --weights DIR``; DIR is what `train.py` wrote. Slope and
shift of a fold come from the left-out authors of the other folds.
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
from pipeline.deidentify.judge.tokens import KINDS


@dataclass(frozen=True, slots=True)
class Seen:
    """The log-odds of an author's tokens, of which kind they are, and whether identifiers."""

    odds: NDArray[np.float64]
    kinds: NDArray[np.int64]
    truth: NDArray[np.bool_]


def seen(reports: Sequence[GoldReport], rules: Deidentifier, judge: Judge) -> Seen:
    """Show an author's reports to the judge."""
    court = judge._open([rules.read(report.text) for report in reports])
    weighed = judge._weigh(court)
    none = np.clip(weighed.shares[:, 0].astype(np.float64), 1e-6, 1 - 1e-6)
    truth = labels(court.shard, reports)[weighed.asked] > 0
    return Seen(np.log((1 - none) / none), weighed.kinds, truth)


def slopes(shown: Sequence[Seen]) -> NDArray[np.float32]:
    """Fit slope and shift of the log-odds, for each kind of token."""
    pairs = []
    for kind in range(len(KINDS)):
        odds = np.concatenate([each.odds[each.kinds == kind] for each in shown])
        truth = np.concatenate([each.truth[each.kinds == kind] for each in shown])
        inputs = np.column_stack([odds, np.ones(len(odds))])
        line = LogisticRegression(C=1e6, fit_intercept=False, max_iter=1000).fit(inputs, truth)
        pairs.append(line.coef_[0])
    return np.array(pairs, dtype=np.float32)


if __name__ == "__main__":
    refit(__doc__, "calibration", seen, slopes)
