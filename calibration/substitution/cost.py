"""What it would cost, in calibration error, to say phrase l wherever phrase k is said.

C_kl = [ECE(u_k → v_l) − ECE] / a_k (Wang et al. 2025, Eq. 12), where a_k = n_k / N. Replacing one
phrase changes the residual yP − nE by a matrix of rank one, so no observation is revisited:
residual − (y_k P_k − n_k E_k) + (y_k Q_l − n_k F_l), with (Q, F) the tables of the targets.
The denominator Σ (nP)_m is N, because every exact row of P sums to 1; under the midpoint rule the
denominator changes with the phrase and is recomputed.
"""

from __future__ import annotations

import numpy as np

from calibration.arrays import FloatArray
from calibration.bins import BinTables
from calibration.curve import calibration_error

__all__ = ["substituted_error", "substitution_cost"]


def substituted_error(
    n: FloatArray, label_mass: FloatArray, *, source: BinTables, target: BinTables
) -> FloatArray:
    """ECE(u_k → v_l) for every pair, shape (..., K, L), from tallies (..., K)."""
    residual = label_mass @ source.mass - n @ source.moment
    own = label_mass[..., None] * source.mass - n[..., None] * source.moment
    rest = residual[..., None, :] - own
    pieces = np.empty((*n.shape, len(target.mass)))
    for l_index, (mass, moment) in enumerate(zip(target.mass, target.moment, strict=True)):
        changed = rest + label_mass[..., None] * mass
        changed -= n[..., None] * moment
        pieces[..., l_index] = np.abs(changed, out=changed).sum(axis=-1)
    share = source.mass.sum(axis=1)
    total = (n @ share)[..., None, None]
    total = total + n[..., None] * (target.mass.sum(axis=1) - share[:, None])
    nothing = np.full(pieces.shape, np.nan)
    return np.asarray(np.divide(pieces, total, out=nothing, where=total > 0))


def substitution_cost(
    n: FloatArray, label_mass: FloatArray, *, source: BinTables, target: BinTables
) -> FloatArray:
    """C_kl (Eq. 12), shape (..., K, L); NaN in the rows of phrases never used."""
    base = calibration_error(n, label_mass, tables=source)[..., None, None]
    gain = substituted_error(n, label_mass, source=source, target=target) - base
    total = n.sum(axis=-1, keepdims=True)
    share = np.divide(n, total, out=np.zeros_like(n), where=total > 0)[..., None]
    nothing = np.full(gain.shape, np.nan)
    return np.asarray(np.divide(gain, share, out=nothing, where=share > 0))
