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

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, log_expit

from calibration.arrays import BoolArray, FloatArray, IntArray

CURVE = 4
"""Coordinates of a reader's curve: shift, slope − 1, bend and twist."""

_LEAST = 0.25


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
    misread, elsewhere
        Share ε (R, 1, K) of a reader's uses of a word that are misreadings, and c (R, F, 1), how
        often CT is positive where another word was meant: a word that holds with probability p is
        seen to hold with μ = (1 − ε) p + ε c. None where nothing is misread.
    """

    n: FloatArray
    mass: FloatArray
    meaning: FloatArray
    survey: FloatArray
    misread: FloatArray | None = None
    elsewhere: FloatArray | None = None

    @property
    def size(self) -> int:
        """J, the coordinates the department and a reader share."""
        return CURVE + int(self.n.shape[1]) + int(self.n.shape[2])

    @property
    def curve(self) -> FloatArray:
        """b_k of every phrase, shape (K, 4): x² and x³ at right angles to what is lower.

        Both have mean square 1 over the phrases; where those are too few to show one, it is 0.
        """
        powers = self.meaning[:, None] ** np.arange(CURVE)
        for power in range(2, CURVE):
            lower, column = powers[:, :power], powers[:, power]
            column = column - lower @ np.linalg.lstsq(lower, column, rcond=None)[0]
            size = np.sqrt(np.mean(column**2)) if len(column) > power else np.inf
            powers[:, power] = column / max(float(size), 1e-9)
        return powers

    @property
    def phrases(self) -> slice:
        """Where phrase effects stand among the coordinates."""
        return slice(CURVE, CURVE + self.n.shape[2])

    @property
    def findings(self) -> slice:
        """Where finding effects stand among the coordinates."""
        return slice(CURVE + self.n.shape[2], self.size)

    def take(self, cells: BoolArray) -> Counts:
        """Give some cells in a row, for `log_likelihood` and `rightly_read`."""
        kept = replace(self, n=self.n[cells], mass=self.mass[cells])
        if self.misread is None or self.elsewhere is None:
            return kept
        wrong = np.broadcast_to(self.misread, self.n.shape)[cells]
        other = np.broadcast_to(self.elsewhere, self.n.shape)[cells]
        return replace(kept, misread=wrong, elsewhere=other)

    def log_likelihood(self, eta: FloatArray) -> FloatArray:
        """Of every cell at log-odds ``eta``; any shape that ``n`` goes with."""
        if self.misread is None or self.elsewhere is None:
            return np.asarray(self.mass * log_expit(eta) + (self.n - self.mass) * log_expit(-eta))
        seen = (1.0 - self.misread) * expit(eta) + self.misread * self.elsewhere
        return np.asarray(self.mass * np.log(seen) + (self.n - self.mass) * np.log1p(-seen))

    def rightly_read(self, eta: FloatArray) -> Counts:
        """Give counts of words rightly read with the same score and curvature at ``eta``.

        With μ' = dμ/dη and g = μ' / (μ (1 − μ)) the score is g (y − n μ) and the curvature
        n μ' g − (dg/dη) (y − n μ); where that is below a quarter of its expectation n μ' g, as it
        can be because the likelihood is not log-concave, the expectation stands for it. Where
        nothing is misread, these are the counts themselves, whatever ``eta``.
        """
        if self.misread is None or self.elsewhere is None:
            return self
        p = expit(eta)
        seen = (1.0 - self.misread) * p + self.misread * self.elsewhere
        chance = p * (1.0 - p)
        steep, spread = (1.0 - self.misread) * chance, seen * (1.0 - seen)
        g, off = steep / spread, self.mass - self.n * seen
        bend = steep * (1.0 - 2.0 * p) / spread - g**2 * (1.0 - 2.0 * seen)
        expected = self.n * steep * g
        curve = expected - bend * off
        n = np.where(curve > _LEAST * expected, curve, expected) / chance
        return replace(self, n=n, mass=n * p + g * off)


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """Prior precisions and means: θ (J,), u (R, L), and which cells hold habits.

    ``cell`` (R, H) is the flat index f·K + k of each reader's habit columns, −1 where unused;
    ``habit_mean`` (R, L) is 0 outside habits; ``remainder`` (R, 1, 1) is every reader's σ_c².
    """

    theta: FloatArray
    reader: FloatArray
    cell: IntArray
    habit_mean: FloatArray
    remainder: FloatArray


def places(cell: IntArray, phrases: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Readers and columns of the habits in single cells, their findings and phrases."""
    rows, columns = np.nonzero(cell >= 0)
    finding, phrase = np.divmod(cell[rows, columns], phrases)
    return rows, columns, finding, phrase


def linear_predictor(counts: Counts, scales: Scales, total: FloatArray) -> FloatArray:
    """Log-odds of every cell, shape (R, F, K); ``total`` is θ + u_r with habits, (R, L)."""
    eta = (
        counts.meaning
        + (total[:, :CURVE] @ counts.curve.T + total[:, counts.phrases])[:, None, :]
        + total[:, counts.findings, None]
    )
    rows, columns, finding, phrase = places(scales.cell, len(counts.meaning))
    np.add.at(eta, (rows, finding, phrase), total[rows, counts.size + columns])
    return np.asarray(eta)


def score(counts: Counts, scales: Scales, residual: FloatArray) -> FloatArray:
    """Gradient of the log-likelihood in (θ + u_r, habits), shape (R, L)."""
    by_phrase = residual.sum(axis=1)
    flat = residual.reshape(len(residual), -1)
    held = np.where(scales.cell >= 0, np.take_along_axis(flat, np.maximum(scales.cell, 0), 1), 0.0)
    return np.concatenate([by_phrase @ counts.curve, by_phrase, residual.sum(axis=2), held], axis=1)


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
    rows, columns, finding, phrase = places(scales.cell, len(counts.meaning))
    w, at = weight[rows, finding, phrase], counts.size + columns
    features: list[tuple[int | IntArray, FloatArray]] = [
        (i, w * counts.curve[phrase, i]) for i in range(CURVE)
    ]
    features += [(counts.phrases.start + phrase, w), (counts.findings.start + finding, w), (at, w)]
    for other, value in features:
        full[rows, at, other] = full[rows, other, at] = value
