"""One group's whole result: curve, errors with their zero points, phrase table, scores.

A group is a reader, a pathology, or both. Everything comes from its tally; the bootstrap is a
multinomial on the tally's cells, and every statistic is read off the same replicates. Where
patients are known they are resampled, or their likeness (`calibration.estimate`) widens what is
drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from calibration.arrays import BoolArray, FloatArray
from calibration.bins import BinTables
from calibration.curve import ReliabilityCurve, calibration_error, curve_points, simultaneous_band
from calibration.errors import TallyError
from calibration.estimate import (
    Estimate,
    IntervalRule,
    Likeness,
    Options,
    cluster_moments,
    estimate_from_replicates,
    likeness,
    multinomial_moments,
    null_moments,
)
from calibration.phrase_calibration import (
    PhraseCalibration,
    phrase_calibration,
    phrase_error,
    phrase_error_interval,
)
from calibration.plain import INLINE, named
from calibration.rounding import estimate
from calibration.scores import accuracy, brier, label_values
from calibration.survey import PhraseTable
from calibration.tally import GroupedTally, Tally

_DEFAULTS = Options()
_MOST_SAMPLES = 200
"""Samples behind the band and the interval of the phrase error; more do not change them."""
_Statistic: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class GroupResult:
    """What one group's observations say.

    Attributes
    ----------
    n
        Observations (sum of weights); 0 gives NaN values throughout, never zeros.
    tally
        The counts themselves.
    ece
        Expected calibration error with its reference level and null quantile. Its percentile
        interval holds its level where phrases are wide, as on the radiology scale; of calibrated
        readers of 100 statements 0 to 60 % where they are narrow or atoms (docs/method.md).
    ece_star
        ECE of the hedges: of observations whose phrase is not `PhraseTable.certain`.
    phrase_error
        Phrase calibration error, whose zero is zero.
    brier, accuracy
        Expected under S ~ u_k.
    curve
        Reliability curve with pointwise interval and simultaneous band.
    phrases
        The phrase table, read first.
    """

    n: float
    tally: Tally = field(metadata=INLINE)
    ece: Estimate
    ece_star: Estimate
    phrase_error: Estimate
    brier: Estimate
    accuracy: Estimate
    curve: ReliabilityCurve
    phrases: PhraseCalibration = field(metadata=named("phrase_table"))


@dataclass(frozen=True, slots=True, eq=False)
class _Replicates:
    """The sample's n and y, its bootstrap replicates (B, K), and labels under the null (B, K)."""

    n: FloatArray
    mass: FloatArray
    boot_n: FloatArray
    boot_mass: FloatArray
    null_mass: FloatArray
    alike: Likeness
    resampled: str

    def estimate(self, statistic: _Statistic, rule: IntervalRule) -> Estimate:
        """Read a statistic of (n, y) off the sample, and its interval off the replicates."""
        return estimate_from_replicates(
            float(statistic(self.n, self.mass)),
            statistic(self.boot_n, self.boot_mass),
            n=float(self.n.sum()),
            rule=rule,
            resampled=self.resampled,
        )

    def null_high(self, statistic: _Statistic, *, mass: FloatArray | None = None) -> float:
        """95 % point of a statistic for a calibrated reader of the same phrases."""
        drawn = self.null_mass if mass is None else mass
        null = statistic(np.broadcast_to(self.n, drawn.shape), drawn)
        return float(np.quantile(null, 0.95)) if null.size else float("nan")


def calibrate(
    tally: Tally,
    *,
    phrase_table: PhraseTable,
    options: Options = _DEFAULTS,
    patients: GroupedTally | Likeness | None = None,
    rng: np.random.Generator,
) -> GroupResult:
    """Everything about one group's calibration.

    Parameters
    ----------
    tally
        Counts against the phrases of ``phrase_table``, in its order.
    phrase_table
        What the phrases mean.
    options
        Bins, replicates and the rule of the intervals.
    patients
        The same observations grouped by patient; then patients are resampled, not observations.
        Or how alike a patient's are, where patients themselves are not at hand.
    rng
        Source of chance.

    Raises
    ------
    TallyError
        If the tally counts another number of phrases than the table has.
    """
    if tally.n_phrases != len(phrase_table):
        raise TallyError(
            f"The tally counts {tally.n_phrases} phrases but the phrase table "
            f"{phrase_table.name!r} has {len(phrase_table)}; count against this table."
        )
    tables, interval = options.tables(phrase_table.distributions), options.interval
    means, certain = phrase_table.means, phrase_table.certain
    sample = _sampled(tally, patients, means, options.bootstrap, rng)
    return GroupResult(
        n=tally.total,
        tally=tally,
        curve=_curve(sample, tables, means, rng),
        phrases=phrase_calibration(tally, phrase_table=phrase_table, effect=sample.alike.phrase),
        ece=_error(sample, tables, means, interval),
        ece_star=_error(_without(sample, certain), tables, means, interval),
        phrase_error=_phrase_error(tally, sample, means, interval, rng),
        brier=_brier(sample, phrase_table, interval),
        accuracy=_accuracy(sample, phrase_table, interval),
    )


def _sampled(
    tally: Tally,
    patients: GroupedTally | Likeness | None,
    means: FloatArray,
    bootstrap: int,
    rng: np.random.Generator,
) -> _Replicates:
    """Resample observations, or patients where they are known, and labels under the null."""
    if isinstance(patients, GroupedTally):
        alike, unit = likeness(patients), "patients"
        n, mass = cluster_moments(patients, replicates=bootstrap, rng=rng)
    else:
        alike = patients or Likeness()
        unit = "observations" if alike.whole <= 1.0 else "observations, patients' likeness in it"
        n, mass = multinomial_moments(tally, replicates=bootstrap, rng=rng, effect=alike.whole)
    null = null_moments(tally.n, means, replicates=bootstrap, rng=rng, effect=alike.whole)
    several = slice(None) if tally.total > 1.0 else slice(0)  # one statement has no spread
    return _Replicates(tally.n, tally.label_mass, n[several], mass[several], null, alike, unit)


def _brier(sample: _Replicates, table: PhraseTable, rule: IntervalRule) -> Estimate:
    score = partial(brier, means=table.means, variances=table.variances)
    level = float(score(sample.n, sample.n * table.means))
    return replace(sample.estimate(score, rule), reference_level=level)


def _accuracy(sample: _Replicates, table: PhraseTable, rule: IntervalRule) -> Estimate:
    return sample.estimate(partial(accuracy, positive=label_values(table.distributions)), rule)


def _curve(
    sample: _Replicates, tables: BinTables, means: FloatArray, rng: np.random.Generator
) -> ReliabilityCurve:
    expected, _, _ = curve_points(sample.n, sample.n * means, tables=tables)
    observed, confidence, density = curve_points(sample.n, sample.mass, tables=tables)
    low = high = np.full_like(observed, np.nan)
    band_low, band_high = low, high
    if len(sample.boot_n) and sample.n.sum() > 0:
        curves, _, _ = curve_points(sample.boot_n, sample.boot_mass, tables=tables)
        low, high = _quantiles(curves, ~np.isnan(observed))
        band_low, band_high = simultaneous_band(
            sample.n / sample.alike.whole,
            sample.mass / sample.alike.whole,
            tables=tables,
            replicates=min(len(curves), _MOST_SAMPLES),
            rng=rng,
        )
    return ReliabilityCurve(
        bin_edges=tables.edges,
        observed=observed,
        confidence=confidence,
        density=density,
        expected=expected,
        low=low,
        high=high,
        band_low=band_low,
        band_high=band_high,
    )


def _quantiles(curves: FloatArray, occupied: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Pointwise 2.5 % and 97.5 % over replicates, NaN replicates left out and empty bins NaN."""
    low, high = np.full((2, curves.shape[1]), np.nan)
    if np.isnan(curves[:, occupied]).any():
        low[occupied], high[occupied] = np.nanquantile(curves[:, occupied], [0.025, 0.975], axis=0)
    else:
        low[occupied], high[occupied] = np.quantile(curves[:, occupied], [0.025, 0.975], axis=0)
    return low, high


def _without(sample: _Replicates, dropped: BoolArray) -> _Replicates:
    kept = np.where(dropped, 0.0, 1.0)
    arrays = ("n", "mass", "boot_n", "boot_mass", "null_mass")
    return replace(sample, **{name: getattr(sample, name) * kept for name in arrays})


def _error(
    sample: _Replicates, tables: BinTables, means: FloatArray, rule: IntervalRule
) -> Estimate:
    error = partial(calibration_error, tables=tables)
    return replace(
        sample.estimate(error, rule),
        reference_level=float(error(sample.n, sample.n * means)),
        null_high=sample.null_high(error),
    )


def printed_error(
    exact: Tally, likeness: Likeness, means: FloatArray, options: Options, rng: np.random.Generator
) -> Estimate:
    """Phrase error of exact counts as it may be printed: those of small ones, rounded, add up."""
    sample = _sampled(exact, likeness, means, options.bootstrap, rng)
    return estimate(_phrase_error(exact, sample, means, options.interval, rng), exact.total)


def _phrase_error(
    tally: Tally,
    sample: _Replicates,
    means: FloatArray,
    rule: IntervalRule,
    rng: np.random.Generator,
) -> Estimate:
    """Phrase error with its inverted interval; its chance varies as statements of one phrase do."""
    error, alike = partial(phrase_error, means=means), sample.alike
    null, expected = sample.null_mass, sample.n * means
    if alike.phrase < alike.whole:
        null = expected + (null - expected) * np.sqrt(alike.phrase / alike.whole)
    plain = replace(
        sample.estimate(error, rule),
        reference_level=0.0,
        null_high=sample.null_high(error, mass=null),
    )
    if rule != "percentile" or not len(sample.null_mass):
        return plain
    middle, low, high = phrase_error_interval(
        tally,
        means=means,
        replicates=min(len(sample.null_mass), _MOST_SAMPLES),
        rng=rng,
        effect=alike.phrase,
    )
    method = plain.method if np.isnan(low) else "test inversion along the observed gaps"
    return replace(plain, low=low, high=high, corrected=middle, method=method)
