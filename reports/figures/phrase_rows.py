"""Rows of the phrase chart, in order of meaning: shown, too rare, withheld, or not used."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from calibration.phrase_calibration import PhraseCalibration

__all__ = ["PhraseRow", "RowState", "phrase_rows"]


class RowState(Enum):
    """Whether a phrase's numbers may be printed."""

    SHOWN = "shown"
    TOO_FEW = "too few"
    WITHHELD = "withheld"
    NOT_USED = "not used"


@dataclass(frozen=True, slots=True)
class PhraseRow:
    """One phrase: own numbers (NaN unless SHOWN), what readers expect, and the department's rate.

    ``department`` is NaN where the department is not shown; ``department_withheld`` says that
    it used the phrase, and the rate rests on too few.
    """

    phrase: str
    state: RowState
    n: int
    observed: float
    low: float
    high: float
    shrunk: float
    expected: float
    expected_low: float
    expected_high: float
    department: float
    department_withheld: bool = False


def _state(n: float, minimum_n: int) -> RowState:
    if math.isnan(n):
        return RowState.WITHHELD
    if n <= 0:
        return RowState.NOT_USED
    return RowState.SHOWN if n >= minimum_n else RowState.TOO_FEW


def _department_rates(
    department: PhraseCalibration | None, minimum_n: int
) -> dict[str, tuple[float, bool]]:
    """Give the department's rate of each phrase it used, and whether it is withheld."""
    if department is None:
        return {}
    each = zip(department.phrases, department.n, department.observed, strict=True)
    states = {phrase: (_state(float(n), minimum_n), float(rate)) for phrase, n, rate in each}
    return {
        phrase: (rate, False) if state is RowState.SHOWN else (float("nan"), True)
        for phrase, (state, rate) in states.items()
        if state is not RowState.NOT_USED
    }


def phrase_rows(
    table: PhraseCalibration, *, minimum_n: int, department: PhraseCalibration | None = None
) -> tuple[PhraseRow, ...]:
    """Order all phrases from surest present to surest absent, own numbers only where n allows.

    Phrases without a known expectation come last; a count that is NaN has been withheld.
    """
    rates = _department_rates(department, minimum_n)
    order = np.argsort(np.where(np.isnan(table.expected), -1.0, table.expected), kind="stable")[
        ::-1
    ]
    rows = []
    for k in order:
        state = _state(float(table.n[k]), minimum_n)
        hidden = float("nan")
        own = state is RowState.SHOWN
        rate, withheld = rates.get(table.phrases[k], (hidden, False))
        rows.append(
            PhraseRow(
                phrase=table.phrases[k],
                state=state,
                n=round(float(table.n[k])) if own else 0,
                observed=float(table.observed[k]) if own else hidden,
                low=float(table.low[k]) if own else hidden,
                high=float(table.high[k]) if own else hidden,
                shrunk=float(table.shrunk[k]) if own else hidden,
                expected=float(table.expected[k]),
                expected_low=float(table.expected_low[k]),
                expected_high=float(table.expected_high[k]),
                department=rate,
                department_withheld=withheld,
            )
        )
    return tuple(rows)
