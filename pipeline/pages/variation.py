"""How readers differ: gaps raw, shrunk and adjusted for case mix, and the signals.

Case mix: finding, age band, patient class, the interval between X-ray and CT, difficulty, and
whether someone else drafted the report (`case_mix`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from calibration.arrays import FloatArray
from calibration.errors import CalibrationError
from calibration.estimate import Estimate
from calibration.gaps import Gaps, ShrunkGaps, adjusted_gaps, reader_gaps, shrink_gaps
from calibration.groups import tally_of
from calibration.profile import DepartmentProfile
from calibration.regression import indicators
from calibration.rounding import counted as printed
from calibration.survey import PhraseTable
from calibration.tally import Tally
from pipeline.pages import content
from pipeline.pages.cases import MIX, mix_columns
from pipeline.pages.small_cells import complementary
from pipeline.tables.results import Scale
from reports.content import SuppressedCell
from reports.review_content import ReaderRow


@dataclass(frozen=True, slots=True)
class _Measured:
    """What is known of the readers that may be shown, in code order."""

    codes: Sequence[str] = ()
    raw: Gaps | None = None
    shrunk: ShrunkGaps | None = None
    adjusted: Gaps | None = None
    signals: frozenset[str] = field(default_factory=frozenset)


def variation(
    cells: pd.DataFrame,
    mix: pd.DataFrame,
    coverage: pd.DataFrame,
    *,
    scale: Scale,
    profiles: DepartmentProfile | None,
) -> tuple[ReaderRow, ...]:
    """Measure every reader of the period against the others.

    Parameters
    ----------
    cells
        All readers' rows of the tally table, one period.
    mix
        The same period's cases, added up by what describes them (`observations.mix`).
    coverage
        The period's X-rays, counted by what became of them (`observations.coverage`).
    profiles
        Who is a signal for review: a reader told of a pattern.
    """
    grouped = {str(c): own for c, own in cells.groupby("reader_code", sort=True)}
    tallies = {code: tally_of(own, scale.phrases) for code, own in grouped.items()}
    minimum = scale.config.reports.min_exams
    sizes = {code: t.total for code, t in tallies.items()}
    few = {code for code, n in sizes.items() if n < minimum}
    hidden = complementary(sizes, few)
    shown = {code: t for code, t in tallies.items() if code not in few | hidden}
    enough = len(tallies) >= scale.config.reports.min_readers
    signals = frozenset(
        each.reader for each in profiles or () if each.pattern.verdict.state == "pattern"
    )
    measured = _measure(shown, mix, scale, signals) if shown and enough else _Measured()
    return tuple(_row(code, t, measured, hidden, coverage, scale) for code, t in tallies.items())


def _measure(
    shown: dict[str, Tally], mix: pd.DataFrame, scale: Scale, signals: frozenset[str]
) -> _Measured:
    codes, tallies, means = list(shown), list(shown.values()), scale.phrases.means
    raw = reader_gaps(tallies, means=means)
    return _Measured(
        codes=codes,
        raw=raw,
        shrunk=shrink_gaps(raw),
        adjusted=_adjusted(codes, mix, scale.phrases),
        signals=signals,
    )


def _adjusted(codes: Sequence[str], mix: pd.DataFrame, phrases: PhraseTable) -> Gaps | None:
    """Adjust for case mix; None where the model cannot be fitted (all labels equal)."""
    seen = mix[mix["reader_code"].isin(list(codes))]
    summed = mix_columns(seen).groupby(["reader_code", "phrase", *MIX], sort=True, observed=True)
    rows = summed[["weight", "mass"]].sum().reset_index()
    means = dict(zip(phrases.phrases, phrases.means, strict=True))
    try:
        return adjusted_gaps(
            np.searchsorted(codes, rows["reader_code"].tolist()),
            stated=rows["phrase"].map(means).to_numpy(np.float64),
            design=indicators(rows[list(MIX)]),
            n=rows["weight"].to_numpy(np.float64),
            mass=rows["mass"].to_numpy(np.float64),
            n_readers=len(codes),
        )
    except CalibrationError:
        return None


def _row(
    code: str,
    counted: Tally,
    measured: _Measured,
    hidden: frozenset[str],
    coverage: pd.DataFrame,
    scale: Scale,
) -> ReaderRow:
    minimum = scale.config.reports.min_exams
    if counted.total < minimum or code in hidden:
        cell = SuppressedCell(minimum, "complementary" if code in hidden else "exams")
        return ReaderRow(code, 0, cell, cell, cell)
    own = content.coverage_of(coverage[coverage["reader_code"] == code], scale.config)
    at = list(measured.codes).index(code) if measured.codes else None
    return ReaderRow(
        code,
        int(counted.total),
        gap=_of(measured.raw, at, "mean difference, normal"),
        adjusted=_of(measured.adjusted, at, "indirect standardisation, normal"),
        shrunk=_of_shrunk(measured.shrunk, at, counted.total),
        reliability=float("nan")
        if measured.shrunk is None or at is None
        else float(measured.shrunk.reliability[at]),
        share_paired=float(printed(own.paired) / printed(own.xrays)) if own else None,
        signal=code in measured.signals,
    )


def _of(gaps: Gaps | None, at: int | None, method: str) -> Estimate | None:
    if gaps is None or at is None:
        return None
    low, high = gaps.limits()
    return _estimate(gaps.value, low, high, at, float(gaps.n[at]), method)


def _of_shrunk(shrunk: ShrunkGaps | None, at: int | None, n: float) -> Estimate | None:
    if shrunk is None or at is None:
        return None
    method = "empirical Bayes, normal"
    return _estimate(shrunk.value, shrunk.low, shrunk.high, at, n, method)


def _estimate(
    value: FloatArray, low: FloatArray, high: FloatArray, at: int, n: float, method: str
) -> Estimate | None:
    """Give one reader's estimate, or None where it could not be computed."""
    if not np.isfinite(value[at]):
        return None
    return Estimate(float(value[at]), float(low[at]), float(high[at]), n, method)
