"""Calibration without bins: the continuous curve and the smooth calibration error.

* Continuous curve (Wang et al. 2025, Eq. 8): r(s) = Σ y_k u_k(s) / Σ n_k u_k(s) over the phrases
  that have a density; atoms are separate points.
* Smooth ECE (Błasiok and Nakkiran 2023) of the phrase means: the residual y_k − n_k m_k, a point
  mass at m_k, is smoothed by a Gaussian reflected at 0 and 1; smECE_σ = ∫ |smoothed| / N, at the
  one σ with smECE_σ = σ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from calibration.arrays import FloatArray
from calibration.distributions import Atom, Distribution
from calibration.tally import Tally

__all__ = ["ContinuousCurve", "continuous_curve", "smooth_calibration_error"]

_GRID = (np.arange(1000) + 0.5) / 1000


@dataclass(frozen=True, slots=True, eq=False)
class ContinuousCurve:
    """Reliability curve on a grid, and one point per atom in use.

    Attributes
    ----------
    at
        Scores, shape (G,).
    observed
        r(s), NaN where no phrase in use has density, shape (G,).
    density
        Density of the continuous part of the use, shape (G,); integrates to 1 − atoms' share.
    atom_at, atom_observed, atom_share
        Score, observed frequency and share of use of every atom in use, each (A,).
    """

    at: FloatArray
    observed: FloatArray
    density: FloatArray
    atom_at: FloatArray
    atom_observed: FloatArray
    atom_share: FloatArray


def continuous_curve(
    tally: Tally, *, distributions: Sequence[Distribution], at: FloatArray = _GRID
) -> ContinuousCurve:
    """Evaluate Eq. 8 on scores ``at`` inside (0, 1), shape (G,)."""
    n, mass, total = tally.n, tally.label_mass, max(tally.total, np.finfo(float).tiny)
    densities = np.stack([d.density(at) for d in distributions])
    use = n @ densities
    atoms = np.array([isinstance(d, Atom) for d in distributions]) & (n > 0)
    return ContinuousCurve(
        at=at,
        observed=np.divide(mass @ densities, use, out=np.full_like(use, np.nan), where=use > 0),
        density=use / total,
        atom_at=np.array([d.mean for d in distributions])[atoms],
        atom_observed=mass[atoms] / n[atoms],
        atom_share=n[atoms] / total,
    )


def smooth_calibration_error(tally: Tally, *, means: FloatArray) -> float:
    """Smooth ECE of the phrase means (K,); NaN where there is no observation."""
    used = tally.n > 0
    if not used.any():
        return float("nan")
    residual = (tally.label_mass - tally.n * means)[used] / tally.total
    centres = means[used]

    def excess(sigma: float) -> float:
        return float(np.abs(residual @ _reflected(centres, sigma)).mean()) - sigma

    if excess(1e-3) <= 0.0:
        return float(np.abs(residual @ _reflected(centres, 1e-3)).mean())
    return float(brentq(excess, 1e-3, 1.0, xtol=1e-9))


def _reflected(centres: FloatArray, sigma: float) -> FloatArray:
    """Gaussian kernels (A, G) reflected into [0, 1], each with mean height 1 on the grid."""
    images = np.array([0.0, 2.0, -2.0])
    total = np.zeros((len(centres), len(_GRID)))
    for shift in images:
        for sign in (1.0, -1.0):
            z = (_GRID - (shift + sign * centres[:, None])) / sigma
            total += np.exp(-(z**2) / 2.0)
    return np.asarray(total / total.mean(axis=1, keepdims=True))
