"""Logistic regression on counts, with a ridge that keeps rare levels from running away.

    minimise  −Σ_c [mass_c η_c − n_c log(1 + e^η_c)] + (penalty / 2) ‖β‖²,
    η_c = offset_c + intercept + x_c·β

The intercept is not penalised. Labels may be soft: mass_c is a sum of labels in [0, 1] and n_c
the number of them. A penalty of 1 is a standard normal prior on each coefficient (Gelman et al.
2008 argue for weak priors of this size on indicator variables).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import expit

from calibration.arrays import FloatArray
from calibration.errors import CalibrationError, NotConvergedError

__all__ = ["indicators", "ridge_logistic"]

_STEPS = 100
_TOLERANCE = 1e-9


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
        msg = "ridge_logistic: all labels are equal, or there are none; there is nothing to fit."
        raise CalibrationError(msg)
    known = np.zeros(len(n)) if offset is None else offset
    x = np.concatenate([np.ones((len(n), 1)), design], axis=1)
    ridge = np.diag([0.0] + [penalty] * design.shape[1])
    theta = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        p = expit(known + x @ theta)
        gradient = x.T @ (mass - n * p) - ridge @ theta
        information = (x * (n * p * (1.0 - p))[:, None]).T @ x + ridge
        step = np.linalg.lstsq(information, gradient, rcond=None)[0]
        largest = float(np.abs(step).max())
        theta = theta + step * min(1.0, 4.0 / max(largest, 1e-300))
        if largest < _TOLERANCE:
            return np.asarray(expit(known + x @ theta), dtype=np.float64)
    msg = f"ridge_logistic: no convergence in {_STEPS} steps; raise the penalty."
    raise NotConvergedError(msg)
