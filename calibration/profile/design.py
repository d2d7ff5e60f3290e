"""What the model of a department is made of: counts, prior scales, and the design they share.

======  ============  ==============================================================
symbol  shape         meaning
======  ============  ==============================================================
z_fk    (J,)          (b_k, e_k, e_f): curve, phrase and finding of a cell
t_r     (R, L)        θ + u_r, and the reader's habits
G_r     (R, L, L)     Σ_cells w z zᵀ, the data's information about t_r
======  ============  ==============================================================

Nothing as large as cells × coordinates is ever held: sums over the axes of (R, F, K) arrays do.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.arrays import FloatArray, IntArray

__all__ = ["CURVE", "Counts", "Scales", "information", "linear_predictor", "score"]

CURVE = 3
"""Coordinates of a reader's curve: shift, slope − 1 and bend."""


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Effective observations of hedges in every cell, and what the phrases mean.

    Attributes
    ----------
    n, mass
        Shape (R, F, K).
    meaning
        m_k on the log-odds scale, shape (K,).
    survey
        Standard error of m_k from the survey's respondents, shape (K,); 0 where assigned.
    """

    n: FloatArray
    mass: FloatArray
    meaning: FloatArray
    survey: FloatArray

    @property
    def size(self) -> int:
        """J, the coordinates the department and a reader share."""
        return CURVE + int(self.n.shape[1]) + int(self.n.shape[2])

    @property
    def curve(self) -> FloatArray:
        """b_k of every phrase, shape (K, 3); the bend has mean square 1 over the phrases."""
        x = self.meaning
        line = np.stack([np.ones_like(x), x], axis=1)
        if len(x) <= line.shape[1]:
            return np.concatenate([line, np.zeros((len(x), 1))], axis=1)
        bend = x**2 - line @ np.linalg.lstsq(line, x**2, rcond=None)[0]
        size = float(np.sqrt(np.mean(bend**2)))
        return np.concatenate([line, bend[:, None] / max(size, 1e-9)], axis=1)

    @property
    def phrases(self) -> slice:
        """Where phrase effects stand among the coordinates."""
        return slice(CURVE, CURVE + self.n.shape[2])

    @property
    def findings(self) -> slice:
        """Where finding effects stand among the coordinates."""
        return slice(CURVE + self.n.shape[2], self.size)


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """Prior precisions and means: θ (J,), u (R, L), and which cells hold habits.

    ``cell`` (R, H) is the flat index f·K + k of each reader's habit columns, −1 where unused;
    ``habit_mean`` (R, L) is 0 outside habits; ``remainder`` is σ_c².
    """

    theta: FloatArray
    reader: FloatArray
    cell: IntArray
    habit_mean: FloatArray
    remainder: float


def linear_predictor(counts: Counts, scales: Scales, total: FloatArray) -> FloatArray:
    """Log-odds of every cell, shape (R, F, K); ``total`` is θ + u_r with habits, (R, L)."""
    eta = (
        counts.meaning
        + (total[:, :CURVE] @ counts.curve.T + total[:, counts.phrases])[:, None, :]
        + total[:, counts.findings, None]
    )
    rows, columns = np.nonzero(scales.cell >= 0)
    flat = eta.reshape(len(eta), -1)
    np.add.at(flat, (rows, scales.cell[rows, columns]), total[rows, counts.size + columns])
    return np.asarray(flat.reshape(eta.shape))


def score(counts: Counts, scales: Scales, residual: FloatArray) -> FloatArray:
    """Gradient of the log-likelihood in (θ + u_r, habits), shape (R, L)."""
    by_phrase = residual.sum(axis=1)
    flat = residual.reshape(len(residual), -1)
    held = np.where(scales.cell >= 0, np.take_along_axis(flat, np.maximum(scales.cell, 0), 1), 0.0)
    curve = by_phrase @ counts.curve
    return np.concatenate([curve, by_phrase, residual.sum(axis=2), held], axis=1)


def information(counts: Counts, scales: Scales, weight: FloatArray) -> FloatArray:
    """G_r for cell weights n p (1 − p), shape (R, L, L)."""
    readers, size = len(weight), counts.size
    c, k, f, curve = slice(0, CURVE), counts.phrases, counts.findings, counts.curve
    by_phrase, by_finding = weight.sum(axis=1), weight.sum(axis=2)
    full = np.zeros((readers, size + scales.cell.shape[1], size + scales.cell.shape[1]))
    full[:, c, c] = np.einsum("rk,ki,kj->rij", by_phrase, curve, curve)
    full[:, k, c] = by_phrase[:, :, None] * curve
    full[:, c, k] = full[:, k, c].transpose(0, 2, 1)
    full[:, f, c] = weight @ curve
    full[:, c, f] = full[:, f, c].transpose(0, 2, 1)
    full[:, k, k] = by_phrase[:, :, None] * np.eye(len(curve))
    full[:, f, f] = by_finding[:, :, None] * np.eye(weight.shape[1])
    full[:, f, k] = weight
    full[:, k, f] = weight.transpose(0, 2, 1)
    _add_habits(full, counts, scales, weight)
    return full


def _add_habits(full: FloatArray, counts: Counts, scales: Scales, weight: FloatArray) -> None:
    rows, columns = np.nonzero(scales.cell >= 0)
    finding, phrase = np.divmod(scales.cell[rows, columns], len(counts.meaning))
    w, at = weight[rows, finding, phrase], counts.size + columns
    features: list[tuple[int | IntArray, FloatArray]] = [
        (i, w * counts.curve[phrase, i]) for i in range(CURVE)
    ]
    features += [(counts.phrases.start + phrase, w), (counts.findings.start + finding, w), (at, w)]
    for other, value in features:
        full[rows, at, other] = full[rows, other, at] = value
