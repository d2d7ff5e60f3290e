"""Results → the rows of a phrase chart: one a phrase, surest present first.

A number stands in a row only where enough exams carry it; the state says why one does not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

import numpy as np

from calibration.phrase_calibration import PhraseCalibration
from calibration.profile import AtomJudgement, Interval, PhraseRate, ReaderProfile
from calibration.profile.shown import Rated, Side
from calibration.survey import CERTAIN
from reports.marked import hedges_in_parts
from reports.numbers import count, percent, percent_interval, percent_limits
from reports.strings import Strings
from reports.swaps import side_of

_HIDDEN: Final = float("nan")
# A rate that is estimated is never exactly 0 or 1, however it was rounded.
_EDGE: Final = 1e-9


class RowState(Enum):
    """Whether a phrase's numbers may be printed."""

    SHOWN = "shown"
    TOO_FEW = "too few"
    WITHHELD = "withheld"
    NOT_USED = "not used"


@dataclass(frozen=True, slots=True)
class PhraseRow:
    """One phrase: own numbers (NaN unless SHOWN), what readers expect, and the department's rate.

    ``department`` is NaN where the department is not shown, or its rate rests on too few.
    """

    phrase: str
    state: RowState
    n: int
    observed: float
    low: float
    high: float
    expected: float
    expected_low: float = _HIDDEN
    expected_high: float = _HIDDEN
    department: float = _HIDDEN
    side: Side | None = None
    """Where the page says that CT shows more or less than the word."""
    certain: tuple[str, ...] = ()
    """The phrases of a row of certainties; empty for a hedge."""
    finding: str = ""
    """The finding that the row is about, where it is not about all."""
    expected_error: float = 0.0
    """Half of the expectation's 95 % interval by the survey's respondents."""

    def tick(self) -> tuple[int, int]:
        """Give expectation and its error, in per cent as printed."""
        return round(100 * self.expected), round(100 * self.expected_error)

    @property
    def name(self) -> str:
        """The phrase, with its finding where it has one."""
        return f"{self.phrase}, {self.finding}" if self.finding else self.phrase

    @property
    def hedge(self) -> bool:
        """Whether the row is one hedge."""
        return not self.certain and not self.expected < CERTAIN and not self.expected > 1 - CERTAIN


def _state(n: float, minimum_n: int) -> RowState:
    if math.isnan(n):
        return RowState.WITHHELD
    if n <= 0:
        return RowState.NOT_USED
    return RowState.SHOWN if n >= minimum_n else RowState.TOO_FEW


def _department_rates(department: PhraseCalibration | None, minimum_n: int) -> dict[str, float]:
    """Give the department's rate of each phrase of which it may be shown."""
    if department is None:
        return {}
    each = zip(department.phrases, department.n, department.observed, strict=True)
    return {phrase: float(rate) for phrase, n, rate in each if n >= minimum_n}


def phrase_rows(
    table: PhraseCalibration, *, minimum_n: int, department: PhraseCalibration | None = None
) -> tuple[PhraseRow, ...]:
    """Order all phrases from surest present to surest absent, own numbers only where n allows.

    Phrases without a known expectation come last; a count that is NaN has been withheld.
    """
    rates = _department_rates(department, minimum_n)
    surest = np.nan_to_num(table.expected, nan=-1.0)
    rows = []
    for k in np.argsort(surest, kind="stable")[::-1]:
        state = _state(float(table.n[k]), minimum_n)
        own = state is RowState.SHOWN
        rows.append(
            PhraseRow(
                phrase=table.phrases[k],
                state=state,
                n=round(float(table.n[k])) if own else 0,
                observed=float(table.observed[k]) if own else _HIDDEN,
                low=float(table.low[k]) if own else _HIDDEN,
                high=float(table.high[k]) if own else _HIDDEN,
                expected=float(table.expected[k]),
                expected_low=float(table.expected_low[k]),
                expected_high=float(table.expected_high[k]),
                department=rates.get(table.phrases[k], _HIDDEN),
                expected_error=float(table.expected_error[k]),
            )
        )
    return tuple(rows)


def profile_rows(
    profile: ReaderProfile,
    *,
    table: PhraseCalibration,
    words: Strings,
    minimum_n: int,
    department: PhraseCalibration | None = None,
) -> tuple[PhraseRow, ...]:
    """Order a profile's hedges and its certainties by what they are set against.

    A hedge is set against its meaning, with the band of those surveyed that ``table`` gives,
    "present" and "absent" against the department's rates on the same findings. Of a hedge in some
    findings only the department has no rate.
    """
    rates, bands = _department_rates(department, minimum_n), _bands(table)
    doubts = {each.phrase: each.doubt for each in profile.phrases}
    rows = [
        replace(
            row,
            expected_low=bands[row.phrase][0],
            expected_high=bands[row.phrase][1],
            expected_error=doubts.get(row.phrase, 0.0),
            department=_HIDDEN if row.finding else rates.get(row.phrase, _HIDDEN),
            side=side,
        )
        for rated, side in hedges_in_parts(profile)
        for row in [rated_row(rated, words)]
        if rated.n >= minimum_n
    ]
    rows.sort(key=lambda row: -row.expected)
    present = _atom_row(profile.present, minimum_n, certain=1.0)
    return (*present, *rows, *_atom_row(profile.absent, minimum_n, certain=0.0))


def missed(row: PhraseRow) -> Side | None:
    """Say on which side of its tick a hedge's rate lies whose interval misses it, all as printed.

    A tick is as wide as its survey leaves open.
    """
    if not row.hedge or row.state is not RowState.SHOWN or math.isnan(row.expected + row.low):
        return None
    low, high = percent_limits(row.low, row.high, row.observed)
    tick, error = row.tick()
    missing = high < tick - error or low > tick + error
    return side_of(row.observed, row.expected) if missing else None


def rated_row(rated: Rated, words: Strings) -> PhraseRow:
    """Give a hedge's estimated rate a row, with the side on which CT lies."""
    rest = isinstance(rated, PhraseRate) and bool(rated.besides)
    return PhraseRow(
        phrase=rated.phrase,
        state=RowState.SHOWN,
        n=round(rated.n),
        observed=min(max(rated.rate.value, _EDGE), 1.0 - _EDGE),
        low=rated.rate.low,
        high=rated.rate.high,
        expected=rated.meaning,
        expected_error=rated.doubt if isinstance(rated, PhraseRate) else 0.0,
        side=side_of(rated.rate.value, rated.meaning),
        finding=words("phrase_chart.rest") if rest else rated.finding or "",
    )


def row_said(row: PhraseRow, words: Strings) -> str:
    """Say a row's numbers, for a screen reader or on hovering."""
    return words(
        "alt.phrase",
        phrase=row.name,
        meaning=percent(row.expected),
        rate=percent(row.observed),
        interval=percent_interval(row.low, row.high, row.observed),
        n=count(row.n),
    )


def rows_said(rows: Iterable[PhraseRow], words: Strings) -> str:
    """Say which phrases of a picture the page speaks of, with their numbers; or that it is none."""
    shown = ((row.name, percent(row.expected), percent(row.observed)) for row in rows if row.side)
    said = [words("alt.says", phrase=p, meaning=meaning, rate=rate) for p, meaning, rate in shown]
    return words("alt.spoken", rows="; ".join(said)) if said else words("alt.spoken_none")


def _bands(table: PhraseCalibration) -> dict[str, tuple[float, float]]:
    """Give where the middle four fifths of those surveyed put each phrase."""
    ends = zip(table.expected_low.tolist(), table.expected_high.tolist(), strict=True)
    return dict(zip(table.phrases, ends, strict=True))


def _atom_row(atom: AtomJudgement, minimum_n: int, *, certain: float) -> tuple[PhraseRow, ...]:
    """Give "present" or "absent" its row, or none where nobody else wrote it to compare with."""
    if atom.n < minimum_n or not atom.phrases or math.isnan(atom.rate.value):
        return ()
    wrong = atom.rate if certain == 0.0 else _flipped(atom.rate)
    off: Side = "more" if certain == 0.0 else "less"
    row = PhraseRow(
        phrase=", ".join(atom.phrases),
        state=RowState.SHOWN,
        n=round(atom.n),
        observed=wrong.value,
        low=wrong.low,
        high=wrong.high,
        expected=atom.expected / atom.n,
        side=off if atom.state == "more often" else None,
        certain=atom.phrases,
    )
    return (row,)


def _flipped(rate: Interval) -> Interval:
    return Interval(1.0 - rate.value, 1.0 - rate.high, 1.0 - rate.low)
