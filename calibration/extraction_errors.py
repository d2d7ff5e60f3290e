"""What extraction errors do to a tally, and taking them out again.

======  ========  ==============================================================
symbol  shape     meaning
======  ========  ==============================================================
Q       (K, K)    P(extracted phrase j | true phrase k), from the audit
c       (K,)      extracted uses: E[c] = Qᵀ n
s, t    --        sensitivity and specificity of the label
======  ========  ==============================================================

The correction is the inverse matrix (Rogan and Gladen 1978 for the label): n̂ = Q⁻ᵀ c and, since a
label error is independent of the phrase given the true label, y = (ŷ − (1 − t) n) / (s + t − 1).
Inverting noise can leave the possible range; n̂ < 0 and y outside [0, n] are moved to the nearest
possible value and counted. The audit's own sampling error is propagated by resampling its rows.

``corrected_errors`` gives the errors of calibration as they would be without the engine's mistakes.
Every bootstrap replicate is corrected too, each with an audit that is resampled, so that the
interval carries the sampling of observations and of the audit. Both errors are sums of absolute
gaps, which noise can only raise, so replicates lie above the value. The interval of the phrase
error is inverted along the rays of `calibration.phrase_calibration`, its noise that of the
replicates, y* − n* ŷ/n̂; that of the ECE is reflected below (no lower than the basic bootstrap's
end) and reaches to the percentile above.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from calibration.arrays import FloatArray, divided, numbers
from calibration.bins import BinTables
from calibration.curve import calibration_error
from calibration.errors import CalibrationError
from calibration.estimate import Estimate, Options, interval, multinomial_moments
from calibration.phrase_calibration import inverted, phrase_error, rays
from calibration.plain import LEFT_OUT
from calibration.survey import PhraseTable
from calibration.tally import Tally

_WORST_CONDITION = 1e3
_METHOD = "bootstrap of observations and audit, {} replicates"
_DEFAULTS = Options(bootstrap=200)


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """Counts of a hand-checked sample.

    Attributes
    ----------
    phrase_confusion
        Rows: true phrase; columns: extracted phrase; counts, shape (K, K). A row without a count
        is taken as read without error.
    label_confusion
        [[true 0 → 0, 0 → 1], [1 → 0, 1 → 1]], counts, shape (2, 2); None if labels are exact.
    """

    phrase_confusion: FloatArray
    label_confusion: FloatArray | None = None

    def __post_init__(self) -> None:
        for name in ("phrase_confusion", "label_confusion"):
            given = getattr(self, name)
            if name == "phrase_confusion" or given is not None:
                counts = numbers(name, given)
                if counts.ndim != 2 or not np.all((counts >= 0) & np.isfinite(counts)):
                    raise CalibrationError(f"{name}: counts stand in rows, and none is missing.")
                object.__setattr__(self, name, counts)

    def resampled(self, rng: np.random.Generator) -> Audit:
        """Draw every row again with as many checks as it had."""
        labels = None if self.label_confusion is None else _redraw(self.label_confusion, rng)
        return Audit(_redraw(self.phrase_confusion, rng), labels)


@dataclass(frozen=True, slots=True, eq=False)
class CorrectedTally:
    """n and label mass as they would be without extraction errors.

    Attributes
    ----------
    n, label_mass
        Shape (K,).
    moved
        Observations' worth of mass that had to be moved into the possible range; a large share of
        the total means the audit is too small for this correction.
    """

    n: FloatArray
    label_mass: FloatArray
    moved: float


def correct_tally(n: FloatArray, label_mass: FloatArray, *, audit: Audit) -> CorrectedTally:
    """Correct extracted n and label mass (K,).

    Raises
    ------
    CalibrationError
        If the confusion matrix cannot be inverted reliably, or label errors carry no information
        (sensitivity + specificity ≤ 1).
    """
    transposed = _rates(audit.phrase_confusion).T
    condition = float(np.linalg.cond(transposed))
    if not condition < _WORST_CONDITION:
        raise CalibrationError(
            f"phrase_confusion: condition number {condition:.3g}; the extractor confuses some "
            "phrases completely. Merge them before correcting."
        )
    solved = np.linalg.solve(transposed, np.stack([n, label_mass], axis=1))
    uses, mass = solved[:, 0], solved[:, 1]
    if audit.label_confusion is not None:
        (true_negative, _), (_, sensitivity) = _rates(audit.label_confusion)
        informative = float(true_negative + sensitivity - 1.0)
        if informative <= 0.0:
            raise CalibrationError(
                f"label_confusion: sensitivity {sensitivity:.3f} + specificity "
                f"{true_negative:.3f} is not above 1, so labels carry no information."
            )
        mass = (mass - (1.0 - true_negative) * uses) / informative
    possible = np.clip(uses, 0.0, None)
    possible *= n.sum() / possible.sum() if possible.sum() > 0 else 1.0
    inside = np.clip(mass, 0.0, possible)
    moved = float(np.abs(possible - uses).sum() / 2.0 + np.abs(inside - mass).sum())
    return CorrectedTally(possible, inside, moved)


def corrected_replicates(
    tally: Tally, *, audit: Audit, n: FloatArray, label_mass: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Correct bootstrap replicates (B, K) of a tally, each with a resampled audit.

    Replicates whose audit cannot be inverted are NaN, so that intervals leave them out.
    """
    uses, mass = np.full((2, *n.shape), np.nan)
    for b in range(len(n)):
        try:
            one = correct_tally(n[b], label_mass[b], audit=audit.resampled(rng))
        except CalibrationError:
            continue
        uses[b], mass[b] = one.n, one.label_mass
    if np.isnan(uses).all() and len(n):
        raise CalibrationError(
            f"audit: none of {len(n)} resampled audits can be inverted for "
            f"{tally.total:g} observations; check more reports."
        )
    return uses, mass


def _rates(counts: FloatArray) -> FloatArray:
    """Rows as probabilities; a row without counts is the identity."""
    return divided(counts, counts.sum(axis=1, keepdims=True), nothing=np.eye(len(counts)))


def _redraw(counts: FloatArray, rng: np.random.Generator) -> FloatArray:
    drawn = [
        rng.multinomial(round(float(row.sum())), row / row.sum()) if row.sum() > 0 else row
        for row in counts
    ]
    return np.array(drawn, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class CorrectedErrors:
    """ECE and phrase calibration error after correction.

    Attributes
    ----------
    n
        Observations.
    ece, phrase_error
        With intervals over observations and audit.
    moved
        Observations' worth of mass that had to be moved into the possible range.
    """

    n: float = field(metadata=LEFT_OUT)
    ece: Estimate
    phrase_error: Estimate
    moved: float


def corrected_errors(
    tally: Tally,
    *,
    audit: Audit,
    phrase_table: PhraseTable,
    options: Options = _DEFAULTS,
    rng: np.random.Generator,
) -> CorrectedErrors:
    """Correct a tally and read both errors off it.

    Parameters
    ----------
    tally
        Counts as extracted, against the phrases of `phrase_table`.
    audit
        Confusions over the same phrases, shape (K, K).
    phrase_table
        What the phrases mean.
    options
        Bins, and replicates of observations and audit together; the intervals have their own rule.
    rng
        Source of chance.

    Raises
    ------
    CalibrationError
        If the audit's matrix cannot be inverted reliably.
    """
    tables = options.tables(phrase_table.distributions)
    fixed = correct_tally(tally.n, tally.label_mass, audit=audit)
    n, mass = multinomial_moments(tally, replicates=options.bootstrap, rng=rng)
    n, mass = corrected_replicates(tally, audit=audit, n=n, label_mass=mass, rng=rng)
    usable = np.isfinite(n).all(axis=1)
    n, mass = n[usable], mass[usable]
    return CorrectedErrors(
        n=tally.total,
        ece=_error(tally.total, fixed, n, mass, tables),
        phrase_error=_phrase_error(tally.total, fixed, n, mass, phrase_table.means),
        moved=fixed.moved,
    )


def _error(
    total: float, fixed: CorrectedTally, n: FloatArray, mass: FloatArray, tables: BinTables
) -> Estimate:
    value = float(calibration_error(fixed.n, fixed.label_mass, tables=tables))
    replicates = calibration_error(n, mass, tables=tables)
    low, _ = interval(value, replicates, rule="basic")
    _, high = interval(value, replicates, rule="percentile")
    return Estimate(value, max(low, 0.0), max(high, value), total, _METHOD.format(len(n)))


def _phrase_error(
    total: float, fixed: CorrectedTally, n: FloatArray, mass: FloatArray, means: FloatArray
) -> Estimate:
    """Phrase error with its interval, inverted with the noise of the replicates (B, K).

    A phrase's noise is made no less than a calibrated reader's: rates seen as 0 or 1 have none.
    """
    value = float(phrase_error(fixed.n, fixed.label_mass, means=means))
    if not (len(n) and total > 0):
        return Estimate(value, np.nan, np.nan, total, _METHOD.format(len(n)))
    rate = divided(fixed.label_mass, fixed.n, nothing=means)
    noise = mass - n * rate
    seen, null = noise.var(axis=0), fixed.n * means * (1.0 - means)
    noise *= np.sqrt(np.maximum(divided(null, seen, nothing=1.0), 1.0))
    spread = np.maximum(seen, null) / np.where(fixed.n > 0, fixed.n, np.inf) ** 2
    true = rays(rate - means, spread, means=means)
    errors = np.abs(noise[:, None, None] + n[:, None, None] * (true - means)).sum(axis=-1)
    errors /= n.sum(axis=1)[:, None, None]
    _, low, high = inverted(value, errors, np.abs(true - means) @ (fixed.n / fixed.n.sum()))
    return Estimate(value, low, high, total, f"{_METHOD.format(len(n))}, inverted")
