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

_BLOCK = 64
"""Rows per buffer: 64 · 16 targets · 100 bins of doubles stay in a core's cache."""


def substituted_error(
    n: FloatArray, label_mass: FloatArray, *, source: BinTables, target: BinTables
) -> FloatArray:
    """ECE(u_k → v_l) for every pair, shape (..., K, L), from tallies (..., K).

    Rows of phrases that no tally uses are the unchanged ECE, and are not computed.
    """
    flat_n = np.atleast_2d(n).reshape(-1, n.shape[-1])
    flat_mass = np.atleast_2d(label_mass).reshape(flat_n.shape)
    used = np.flatnonzero(flat_n.any(axis=0))
    residual = flat_mass @ source.mass - flat_n @ source.moment
    sums = np.tile(np.abs(residual).sum(axis=1)[:, None, None], (1, n.shape[-1], len(target.mass)))
    own = flat_mass[:, used, None] * source.mass[used] - flat_n[:, used, None] * source.moment[used]
    sums[:, used] = _swapped_sums(
        residual[:, None, :] - own, flat_mass[:, used], flat_n[:, used], target
    )
    share = source.mass.sum(axis=1)
    total = (flat_n @ share)[:, None, None]
    total = total + flat_n[..., None] * (target.mass.sum(axis=1) - share[:, None])
    nothing = np.full(sums.shape, np.nan)
    divided = np.divide(sums, total, out=nothing, where=total > 0)
    return np.asarray(divided.reshape(*n.shape, len(target.mass)))


def _swapped_sums(
    rest: FloatArray, label_mass: FloatArray, n: FloatArray, target: BinTables
) -> FloatArray:
    """Σ_m |rest + y Q_l − n F_l| for rows (B, U) and all targets, (B, U, L)."""
    rows, factors = rest.reshape(-1, rest.shape[-1]), np.stack([label_mass, -n], axis=-1)
    factors = factors.reshape(-1, 2)
    sums = np.empty((len(rows), len(target.mass)))
    occupied = (target.mass != 0) | (target.moment != 0)
    wide = occupied.sum(axis=1) > 1
    pair = np.stack([target.mass[wide], target.moment[wide]])
    sums[:, wide] = _wide_sums(rows, factors, pair)
    whole = np.abs(rows).sum(axis=1)
    for place in np.flatnonzero(~wide):  # an atom moves one bin, if any
        at = np.flatnonzero(occupied[place])
        moved = rows[:, at] + factors @ np.stack([target.mass[place, at], target.moment[place, at]])
        sums[:, place] = whole + (np.abs(moved) - np.abs(rows[:, at])).sum(axis=1)
    return sums.reshape(*n.shape, len(target.mass))


def _wide_sums(rows: FloatArray, factors: FloatArray, pair: FloatArray) -> FloatArray:
    """Σ_m |rest + d_l| for rows of rests (R, M) and d = factors (R, 2) @ pair (2, L, M), (R, L).

    |rest + d| = 2 max(d, −rest) + rest − d: of the three passes over R·L·M numbers one is a
    product with a matrix of two rows and one, the sum, a product with ones. Blocks of rows keep
    them in the cache.
    """
    _, targets, bins = pair.shape
    flat_pair, ones, least = pair.reshape(2, targets * bins), np.ones(bins), -rows
    sums, buffer = np.empty((len(rows), targets)), np.empty((_BLOCK, targets * bins))
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        flat = buffer[: len(rows[block])]
        np.matmul(factors[block], flat_pair, out=flat)
        changed = flat.reshape(len(flat), targets, bins)
        np.maximum(changed, least[block, None, :], out=changed)
        np.matmul(changed, ones, out=sums[block])
    sums *= 2.0
    sums += rows.sum(axis=1)[:, None]
    sums -= factors @ pair.sum(axis=2)
    return sums


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
