"""How late a model gets an item right: over its layers, or over its training checkpoints.

Layers and checkpoints are handled alike: a model gives T successive predictions per item, the last
of which is its final one. Models of a pool may differ in T; each is normalised by its own and then
averaged (Mickus et al. 2025, Eq. 8 to 11).

* First-right score (Eq. 8, 9): 1 if the final prediction is wrong, otherwise the first index, from
  1, from which all predictions are right, divided by T + 1.
* Average failure (Eq. 10): share of predictions that are wrong.
* Missing probability (Eq. 11): 1 − mean probability of the reference class.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from calibration.arrays import FloatArray, IntArray
from calibration.errors import CalibrationError
from calibration.neighbours.categorical import checked_probabilities
from calibration.neighbours.difficulty.pool import checked_reference

__all__ = ["average_failure", "first_right", "missing_probability"]


def first_right(*, predictions: Sequence[ArrayLike], reference: ArrayLike) -> FloatArray:
    """First-layer or first-checkpoint score averaged over models, in (0, 1], shape (n,).

    Parameters
    ----------
    predictions
        Per model the predicted classes, each (T, n), first layer or checkpoint first.
    reference
        Reference class of every item, shape (n,).

    Raises
    ------
    CalibrationError
        If there is no model, a model has no prediction, or items do not match.

    Examples
    --------
    >>> first_right(predictions=[[[0, 2], [0, 1]]], reference=[0, 1]).round(3).tolist()
    [0.333, 0.667]
    """
    scores = []
    for right in _right(predictions, reference):
        steps = len(right)
        streak = np.logical_and.accumulate(right[::-1], axis=0).sum(axis=0)
        scores.append(np.where(streak > 0, (steps - streak + 1.0) / (steps + 1.0), 1.0))
    return np.asarray(np.mean(scores, axis=0), dtype=np.float64)


def average_failure(*, predictions: Sequence[ArrayLike], reference: ArrayLike) -> FloatArray:
    """Share of wrong predictions, averaged over models, shape (n,).

    Parameters
    ----------
    predictions, reference
        As for :func:`first_right`.
    """
    rates = [1.0 - right.mean(axis=0) for right in _right(predictions, reference)]
    return np.asarray(np.mean(rates, axis=0), dtype=np.float64)


def missing_probability(*, probs: Sequence[ArrayLike], reference: ArrayLike) -> FloatArray:
    """1 − mean probability of the reference class, averaged over models, shape (n,).

    Parameters
    ----------
    probs
        Per model the class probabilities of its checkpoints, each (T, n, C).
    reference
        Reference class of every item, shape (n,).

    Raises
    ------
    CalibrationError
        If there is no model, a row is not a distribution, or items do not match.
    """
    missing = []
    for index, model in enumerate(probs):
        steps = np.asarray(model, dtype=np.float64)
        if steps.ndim != 3 or not len(steps):
            msg = f"probs of model {index}: shape {steps.shape}, expected (steps, items, classes)."
            raise CalibrationError(msg)
        _, items, classes = steps.shape
        truth = checked_reference(reference, items=items, classes=classes)
        for number, step in enumerate(steps):
            checked_probabilities(step, name=f"probs of model {index}, step {number}")
        missing.append(1.0 - steps[:, np.arange(items), truth].mean(axis=0))
    _some(missing)
    return np.asarray(np.mean(missing, axis=0), dtype=np.float64)


def _right(predictions: Sequence[ArrayLike], reference: ArrayLike) -> list[FloatArray]:
    """Per model whether each prediction is right, as 0 and 1, each (T, n)."""
    truth: IntArray = np.asarray(reference)
    found = []
    for index, model in enumerate(predictions):
        steps = np.asarray(model)
        if steps.ndim != 2 or not len(steps) or steps.shape[1:] != truth.shape:
            msg = (
                f"predictions of model {index}: shape {steps.shape}, expected (steps, "
                f"{truth.size}) to match the reference."
            )
            raise CalibrationError(msg)
        found.append((steps == truth).astype(np.float64))
    _some(found)
    return found


def _some(models: list[FloatArray]) -> None:
    if not models:
        msg = "the pool holds no model; give at least one."
        raise CalibrationError(msg)
