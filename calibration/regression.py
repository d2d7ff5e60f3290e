"""Logistic regressions on counts: a ridge fit, a reader's calibration line, weights of selection.

Ridge:  minimise  −Σ_c [mass_c η_c − n_c log(1 + e^η_c)] + (penalty / 2) ‖β‖²,
        η_c = offset_c + intercept + x_c·β

The intercept is not penalised. Labels may be soft: mass_c is a sum of labels in [0, 1] and n_c
the number of them. A penalty of 1 is a standard normal prior on each coefficient (Gelman et al.
2008 argue for weak priors of this size on indicator variables).

Line: logit P(label) = intercept + slope · logit(mean_k), means clipped to [.01, .99]; 0 and 1 are
perfect (Cox 1958).

Weights: only doubtful X-rays get a CT, so paired ones are no fair sample of all (verification
bias; Begg and Greenes 1983). With e(x) the chance that an X-ray with features x is paired, fitted
on all X-rays, a paired one stands for 1/e(x). Weights are stabilised by the overall share paired
and capped, so that no single exam decides a figure; features that were not recorded cannot be
undone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from calibration.arrays import BoolArray, FloatArray
from calibration.errors import CalibrationError, NotConvergedError
from calibration.estimate import Z95, Estimate
from calibration.survey import PhraseTable
from calibration.tally import Tally

_STEPS = 100
_TOLERANCE = 1e-9
_CLIP = 0.01


def indicators(frame: pd.DataFrame, *, n: FloatArray | None = None) -> FloatArray:
    """One column per level of every column but its most frequent one, shape (N, D).

    Levels are in sorted order; a missing value is a level of its own. `n` (N,) says how many rows
    each row stands for.
    """
    parts = []
    weight = pd.Series(np.ones(len(frame)) if n is None else n, index=frame.index)
    for name in frame.columns:
        values = frame[name].astype(str).fillna("")
        counts = weight.groupby(values).sum()
        base = min(counts.index[counts == counts.max()]) if len(counts) else ""
        parts += [(values == level).to_numpy() for level in sorted(counts.index) if level != base]
    if not parts:
        return np.zeros((len(frame), 0))
    return np.stack(parts, axis=1).astype(np.float64)


def ridge_logistic(
    design: FloatArray,
    *,
    n: FloatArray,
    mass: FloatArray,
    offset: FloatArray | None = None,
    penalty: float = 1.0,
) -> FloatArray:
    """Fitted probabilities of every row, shape (C,).

    Parameters
    ----------
    design
        x without an intercept, shape (C, D).
    n, mass
        Observations and their label mass per row, shape (C,).
    offset
        Log-odds known beforehand, shape (C,); 0 if not given.
    penalty
        Of the squared coefficients; 0 is plain maximum likelihood.

    Raises
    ------
    CalibrationError
        If there is nothing to fit: no observation, or all labels equal.
    NotConvergedError
        If Newton's method did not reach its tolerance.
    """
    if mass.sum() <= 0 or (n - mass).sum() <= 0:
        raise CalibrationError(
            "ridge_logistic: all labels are equal, or there are none; there is nothing to fit."
        )
    known = np.zeros(len(n)) if offset is None else offset
    x = np.concatenate([np.ones((len(n), 1)), design], axis=1)
    theta, _ = _newton(x, n, mass, known, np.diag([0.0] + [penalty] * design.shape[1]))
    return np.asarray(expit(known + x @ theta), dtype=np.float64)


def _newton(
    x: FloatArray, n: FloatArray, mass: FloatArray, known: FloatArray, ridge: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Coefficients and information at the maximum."""
    theta = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = expit(known + x @ theta)
        gradient = x.T @ (mass - n * p) - ridge @ theta
        information = (x * (n * p * (1.0 - p))[:, None]).T @ x + ridge
        step = np.linalg.lstsq(information, gradient, rcond=None)[0]
        largest = float(np.abs(step).max())
        theta = theta + step * min(1.0, 4.0 / max(largest, 1e-300))
        if largest < _TOLERANCE:
            return np.asarray(theta), np.asarray(information)
    raise NotConvergedError(f"logistic fit: no convergence in {_STEPS} steps; raise the penalty.")


@dataclass(frozen=True, slots=True)
class LogisticCalibration:
    """A reader's calibration line on the log-odds scale; 0 and 1 are perfect.

    Attributes
    ----------
    intercept
        Above 0: outcomes happen more often than the words say.
    slope
        Below 1: the words are too extreme; above 1: too timid.
    """

    intercept: Estimate
    slope: Estimate


def logistic_calibration(tally: Tally, *, phrase_table: PhraseTable) -> LogisticCalibration:
    """Fit logit P(label) = intercept + slope · logit(mean_k) by maximum likelihood.

    Parameters
    ----------
    tally
        One group's counts; soft labels enter as fractional counts.
    phrase_table
        Gives the means, clipped to [.01, .99].

    Returns
    -------
    LogisticCalibration
        With 95 % Wald intervals; NaN values with the n stated when the line does not exist
        (no observation, one mean only, all labels equal, or labels separated by the phrases).
    """
    used = tally.n > 0
    n, mass = tally.n[used], tally.label_mass[used]
    x = logit(np.clip(phrase_table.means[used], _CLIP, 1.0 - _CLIP))
    if _degenerate(x, n, mass):
        return _no_line(tally.total)
    design = np.stack([np.ones_like(x), x], axis=1)
    try:
        theta, information = _newton(design, n, mass, np.zeros(len(n)), np.zeros((2, 2)))
    except NotConvergedError:
        return _no_line(tally.total)
    half = Z95 * np.sqrt(np.diag(np.linalg.inv(information)))
    ends = np.stack([theta - half, theta + half], axis=1)
    intercept, slope = (
        Estimate(float(t), float(low), float(high), tally.total, "maximum likelihood, Wald")
        for t, (low, high) in zip(theta, ends, strict=True)
    )
    return LogisticCalibration(intercept=intercept, slope=slope)


def expected_line(x: FloatArray, *, n: FloatArray, rate: FloatArray) -> FloatArray:
    """Fit the line of expected rates (K,) at log-odds x (K,); (0, 1) where there is none."""
    if _degenerate(x, n, n * rate):
        return np.array([0.0, 1.0])
    design, nothing = np.stack([np.ones_like(x), x], axis=1), np.zeros((2, 2))
    return _newton(design, n, n * rate, np.zeros(len(n)), nothing)[0]


def _degenerate(x: FloatArray, n: FloatArray, mass: FloatArray) -> bool:
    """Whether the likelihood has no finite maximum: one x, one label, or separated labels."""
    if len(np.unique(x)) < 2 or mass.sum() <= 0 or (n - mass).sum() <= 0:
        return True
    with_one, with_zero = x[mass > 0], x[n - mass > 0]
    return bool(with_one.min() >= with_zero.max() or with_one.max() <= with_zero.min())


def _no_line(n: float) -> LogisticCalibration:
    missing = Estimate(np.nan, np.nan, np.nan, n, "no finite maximum of the likelihood")
    return LogisticCalibration(intercept=missing, slope=missing)


_PENALTY, _LARGEST = 0.1, 10.0
"""Of the fit of e(x), and the cap of the stabilised weights."""


def selection_weights(design: FloatArray, taken: BoolArray, *, n: FloatArray) -> FloatArray:
    """Fit e(x) by ridge logistic regression; weights of the exams taken, NaN of others, (N,).

    Parameters
    ----------
    design
        Features of every exam, without an intercept, shape (N, D).
    taken
        Whether the exam was taken, shape (N,).
    n
        How many exams alike in everything each row stands for, shape (N,).

    Raises
    ------
    CalibrationError
        If no exam was taken.
    """
    if not taken.any():
        raise CalibrationError(
            "selection_weights: no exam was taken, so there is nothing to weigh."
        )
    mass = np.where(taken, n, 0.0)
    share = float(mass.sum() / n.sum())
    if taken.all():
        return np.ones(len(taken))
    # A weak ridge: weights must follow the data, and rare levels stay finite all the same.
    chance = ridge_logistic(design, n=n, mass=mass, penalty=_PENALTY)
    return np.where(taken, np.minimum(share / chance, _LARGEST), np.nan)
