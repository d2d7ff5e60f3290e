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

_BLOCK = 512
"""Rows at a time: two buffers of 512 · 100 doubles stay in a core's cache."""


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
    sums = np.empty((len(flat_n), n.shape[-1], len(target.mass)))
    sums[:] = np.abs(residual).sum(axis=1)[:, None, None]
    factors = np.stack([flat_mass[:, used].T, -flat_n[:, used].T], axis=-1)
    rest = np.matmul(factors, np.stack([source.mass[used], source.moment[used]], axis=1))
    np.subtract(residual, rest, out=rest)
    swapped = _swapped_sums(rest.reshape(-1, rest.shape[-1]), factors.reshape(-1, 2), target)
    sums[:, used] = swapped.reshape(len(used), len(flat_n), len(target.mass)).swapaxes(0, 1)
    share, reached = source.mass.sum(axis=1), target.mass.sum(axis=1)
    total = (flat_n @ share)[:, None, None] + flat_n[..., None] * (reached - share[:, None])
    divided = np.divide(sums, total, out=np.full(sums.shape, np.nan), where=total > 0)
    return np.asarray(divided.reshape(*n.shape, len(target.mass)))


def _swapped_sums(rest: FloatArray, factors: FloatArray, target: BinTables) -> FloatArray:
    """Σ_m |rest + d_l| with d_l = y Q_l − n F_l; rests (R, M) and factors (y, −n) (R, 2), (R, L).

    |rest + d| = 2 max(d, −rest) + rest − d, so that of the three passes over the R·L·M numbers two
    are products, with a matrix of two rows and with ones. An atom moves one bin, if any.
    """
    occupied = (target.mass != 0) | (target.moment != 0)
    pairs = np.stack([target.mass, target.moment], axis=1)
    sums = np.empty((len(rest), len(pairs)))
    wide = np.flatnonzero(occupied.sum(axis=1) > 1)
    larger = 2.0 * _larger_sums(factors, pairs[wide], least=-rest)
    larger += rest.sum(axis=1)[:, None] - factors @ pairs[wide].sum(axis=2).T
    sums[:, wide] = larger
    whole = np.abs(rest).sum(axis=1)
    for place in np.flatnonzero(occupied.sum(axis=1) <= 1):
        at = np.flatnonzero(occupied[place])
        moved = rest[:, at] + factors @ pairs[place][:, at]
        sums[:, place] = whole + (np.abs(moved) - np.abs(rest[:, at])).sum(axis=1)
    return sums


def _larger_sums(factors: FloatArray, pairs: FloatArray, *, least: FloatArray) -> FloatArray:
    """Σ_m max(factors @ pairs_l, least) for rows (R, M) and L pairs (2, M), (R, L)."""
    rows, bins = least.shape
    sums, ones = np.empty((len(pairs), rows)), np.ones(bins)
    buffer = np.empty((min(_BLOCK, rows), bins))
    for start in range(0, rows, _BLOCK):
        block = slice(start, start + _BLOCK)
        own, floor = factors[block], least[block]
        changed = buffer[: len(own)]
        for place, pair in enumerate(pairs):
            np.matmul(own, pair, out=changed)
            np.maximum(changed, floor, out=changed)
            np.matmul(changed, ones, out=sums[place, block])
    return sums.T


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
