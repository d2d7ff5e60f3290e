"""Inverse-probability weights: which X-rays come to be compared with a CT, and undoing it.

Only doubtful X-rays get a CT, so paired ones are no fair sample of all (verification bias; Begg
and Greenes 1983). With e(x) the chance that an X-ray with features x is paired, fitted on all
X-rays, a paired one stands for 1/e(x). Weights are stabilised by the overall share paired and
capped, so that no single exam decides a figure; features that were not recorded cannot be undone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.arrays import BoolArray, FloatArray
from calibration.errors import CalibrationError
from calibration.regression import ridge_logistic

__all__ = ["SelectionWeights", "selection_weights"]

_PENALTY = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class SelectionWeights:
    """Weights of the exams that were taken.

    Attributes
    ----------
    weight
        One per row, NaN where it was not taken, shape (N,).
    chance
        e(x), shape (N,).
    capped
        How many exams' weights the cap lowered.
    """

    weight: FloatArray
    chance: FloatArray
    capped: int


def selection_weights(
    design: FloatArray,
    taken: BoolArray,
    *,
    n: FloatArray | None = None,
    largest: float = 10.0,
) -> SelectionWeights:
    """Fit e(x) by ridge logistic regression and weigh the exams taken.

    Parameters
    ----------
    design
        Features of every exam, without an intercept, shape (N, D).
    taken
        Whether the exam was taken, shape (N,).
    n
        How many exams alike in everything each row stands for, shape (N,); one if not given.
    largest
        Cap of the stabilised weights.

    Raises
    ------
    CalibrationError
        If no exam was taken.
    """
    if not taken.any():
        msg = "selection_weights: no exam was taken, so there is nothing to weigh."
        raise CalibrationError(msg)
    count = np.ones(len(taken)) if n is None else n
    mass = np.where(taken, count, 0.0)
    share = float(mass.sum() / count.sum())
    if taken.all():
        return SelectionWeights(np.ones(len(taken)), np.ones(len(taken)), 0)
    # A weak ridge: weights must follow the data, and rare levels stay finite all the same.
    chance = ridge_logistic(design, n=count, mass=mass, penalty=_PENALTY)
    full = share / chance
    weight = np.where(taken, np.minimum(full, largest), np.nan)
    return SelectionWeights(weight, chance, int(mass[full > largest].sum()))
