"""Errors of calibration as they would be without the reading engine's mistakes.

The tally is corrected by an audit's confusion matrix (``errors_in_extraction``), and so is every
bootstrap replicate, each with an audit that is resampled too, so that the interval carries the
sampling of observations and of the audit. Both errors are sums of absolute gaps, which noise can
only raise, so replicates lie above the value: an interval is reflected below (no lower than the
basic bootstrap's end) and reaches to the percentile above, wide rather than wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from calibration.bins import BinRule, phrase_bins
from calibration.curve import calibration_error
from calibration.errors_in_extraction import Audit, correct_tally, corrected_replicates
from calibration.estimate import Estimate
from calibration.phrase_calibration import phrase_error
from calibration.plain import LEFT_OUT
from calibration.resample import interval, multinomial_moments
from calibration.survey import PhraseTable
from calibration.tally import Tally

__all__ = ["CorrectedErrors", "corrected_errors"]


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
    bins: int = 100,
    bin_rule: BinRule = "exact",
    bootstrap: int = 200,
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
    bins, bin_rule
        As in ``calibration.result.calibrate``.
    bootstrap
        Replicates of observations and audit together.
    rng
        Source of chance.

    Raises
    ------
    CalibrationError
        If the audit's matrix cannot be inverted reliably.
    """
    tables = phrase_bins(phrase_table.distributions, bins=bins, rule=bin_rule)
    means = phrase_table.means
    fixed = correct_tally(tally.n, tally.label_mass, audit=audit)
    n, mass = multinomial_moments(tally, replicates=bootstrap, rng=rng)
    n, mass = corrected_replicates(tally, audit=audit, n=n, label_mass=mass, rng=rng)
    usable = np.isfinite(n).all(axis=1)
    n, mass = n[usable], mass[usable]

    return CorrectedErrors(
        n=tally.total,
        ece=_estimate(
            tally.total,
            float(calibration_error(fixed.n, fixed.label_mass, tables=tables)),
            calibration_error(n, mass, tables=tables),
        ),
        phrase_error=_estimate(
            tally.total,
            float(phrase_error(fixed.n, fixed.label_mass, means=means)),
            phrase_error(n, mass, means=means),
        ),
        moved=fixed.moved,
    )


def _estimate(n: float, value: float, replicates: np.ndarray) -> Estimate:
    low, _ = interval(value, replicates, rule="basic")
    _, high = interval(value, replicates, rule="percentile")
    method = f"bootstrap of observations and audit, {len(replicates)} replicates"
    return Estimate(value, max(low, 0.0), max(high, value), n, method)
