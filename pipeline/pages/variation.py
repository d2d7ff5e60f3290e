"""How readers differ: gaps raw, shrunk and adjusted for case mix.

Case mix: finding, age band, patient class, the interval between X-ray and CT, difficulty, and
whether someone else drafted the report (`case_mix`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.estimate import Estimate
from calibration.gaps import Gaps, ShrunkGaps, reader_gaps, shrink_gaps
from calibration.groups import tally_of
from calibration.rounding import counted as printed
from calibration.rounding import rounded
from calibration.tally import Tally
from pipeline.pages import content
from pipeline.pages.cases import MIX, adjusted, estimate, mix_columns
from pipeline.pages.sensitivity import Evidence
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


def variation(evidence: Evidence, *, scale: Scale) -> tuple[ReaderRow, ...]:
    """Measure every reader of the period against the others."""
    grouped = {str(c): own for c, own in evidence.cells.groupby("reader_code", sort=True)}
    tallies = {code: tally_of(own, scale.phrases) for code, own in grouped.items()}
    minimum = scale.config.reports.min_exams
    exact = {code: t.total for code, t in tallies.items()}
    sizes = {code: rounded(t).total for code, t in tallies.items()}
    few = {code for code, n in sizes.items() if min(n, exact[code]) < minimum}
    hidden = complementary(exact, few)
    shown = {code: t for code, t in tallies.items() if code not in few | hidden}
    enough = len(tallies) >= scale.config.reports.min_readers
    measured = _measure(shown, evidence, scale) if shown and enough else _Measured()
    withheld = dict.fromkeys(few, SuppressedCell(minimum))
    withheld |= dict.fromkeys(hidden, SuppressedCell(minimum, "complementary"))
    return tuple(
        ReaderRow(code, 0, withheld[code], withheld[code], withheld[code])
        if code in withheld
        else _row(code, n, measured, evidence.coverage, scale)
        for code, n in sizes.items()
    )


def _measure(shown: dict[str, Tally], evidence: Evidence, scale: Scale) -> _Measured:
    codes, tallies, means = list(shown), list(shown.values()), scale.phrases.means
    effects = [evidence.alike_by_reader.get(code, 1.0) for code in codes]
    raw = reader_gaps(tallies, means=means).widened(effects)
    seen = evidence.mix[evidence.mix["reader_code"].isin(codes)]
    fair = adjusted(mix_columns(seen), "reader_code", codes, equal=MIX, scale=scale)
    return _Measured(
        codes=codes,
        raw=raw,
        shrunk=shrink_gaps(raw),
        adjusted=None if fair is None else fair.widened(effects),
    )


def _row(
    code: str, n: float, measured: _Measured, coverage: pd.DataFrame, scale: Scale
) -> ReaderRow:
    own = content.coverage_of(coverage[coverage["reader_code"] == code], scale.config)
    at = list(measured.codes).index(code) if measured.codes else None
    return ReaderRow(
        code,
        round(n),
        gap=estimate(measured.raw, at, "mean difference, normal"),
        adjusted=estimate(measured.adjusted, at, "indirect standardisation, normal"),
        shrunk=_of_shrunk(measured.shrunk, at, n),
        reliability=float("nan")
        if measured.shrunk is None or at is None
        else float(measured.shrunk.reliability[at]),
        share_paired=float(printed(own.paired) / printed(own.xrays)) if own else None,
    )


def _of_shrunk(shrunk: ShrunkGaps | None, at: int | None, n: float) -> Estimate | None:
    if shrunk is None or at is None or not np.isfinite(shrunk.value[at]):
        return None
    value, low, high = (float(part[at]) for part in (shrunk.value, shrunk.low, shrunk.high))
    return Estimate(value, low, high, n, "empirical Bayes, normal")
