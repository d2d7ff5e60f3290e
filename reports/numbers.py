"""How numbers look in print: one way for each kind, and words where there is no number.

Shares print as whole per cent ("48 %"), intervals with an en dash ("36–60 %"), calibration errors
as percentage points ("7 points") for readers and with three decimals for the committee. A small
positive share never prints as 0 %, a share short of all never as 100 %. NaN prints as an en dash
in a table cell, never as 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, Literal, NamedTuple, TypeAlias

BLANK: Final = "–"
FINE: Final = 60
"""Statements from which on a counted share is printed: a step of three is then five points."""
_SPACE: Final = "\u00a0"


Language: TypeAlias = Literal["en", "de"]
"""What pages can be written in; each has its catalogue in `reports.strings`."""


class Manner(NamedTuple):
    """How a language writes: its tag, its comma and point, and what stands between two limits."""

    tag: str
    comma: str
    point: str
    between: str

    @property
    def between_cells(self) -> str:
        """What parts the cells of its spreadsheets: no comma, where that is a number's."""
        return ";" if self.point == "," else ","


MANNERS: Final[Mapping[str, Manner]] = {
    "en": Manner("en-GB", ",", ".", "to"),
    "de": Manner("de-DE", ".", ",", "bis"),
}
_MANNER: ContextVar[Manner] = ContextVar("manner", default=MANNERS["en"])


@contextmanager
def written(language: str) -> Iterator[None]:
    """Write numbers as a language does: in German 1.234,5 for the English 1,234.5.

    >>> with written("de"):
    ...     count(12345), decimal(0.5, 1)
    ('12.345', '0,5')
    """
    token = _MANNER.set(MANNERS[language])
    try:
        yield
    finally:
        _MANNER.reset(token)


def marked(text: str) -> str:
    """Put the points and commas of an English number as the language does."""
    manner = _MANNER.get()
    return text.translate(str.maketrans(",.", manner.comma + manner.point))


def count(value: float) -> str:
    """Print whole numbers with thousands separators.

    >>> count(12345)
    '12,345'
    """
    return marked(f"{round(value):,}")


def _whole(share: float) -> str:
    rounded = round(100 * share)
    if rounded == 0 and share > 0:
        return "<1"
    if rounded == 100 and share < 1:
        return ">99"
    return str(rounded)


def percent(share: float) -> str:
    r"""Print a share in [0, 1] as whole per cent.

    >>> percent(0.484), percent(0.002), percent(0.0), percent(0.999), percent(float("nan"))
    ('48\xa0%', '<1\xa0%', '0\xa0%', '>99\xa0%', '–')
    """
    return BLANK if math.isnan(share) else f"{_whole(share)}{_SPACE}%"


def percent_interval(low: float, high: float, around: float = math.nan) -> str:
    r"""Print an interval of shares; an estimate that lies inside it lies inside as printed.

    Limits that whole per cent would bring onto the estimate `around` stand one off it, and those of
    one that prints as "<1 %" or ">99 %" beyond it.

    >>> percent_interval(0.36, 0.601), percent_interval(0.838, 0.944, 0.842)
    ('36–60\xa0%', '83–94\xa0%')
    >>> percent_interval(0.005001, 0.19, 0.005), percent_interval(0.995, 0.995, 0.995)
    ('0–19\xa0%', '99–100\xa0%')
    """
    if math.isnan(low) or math.isnan(high):
        return BLANK
    first, last = percent_limits(low, high, around)
    return f"{first}{_SPACE}%" if first == last else f"{first}–{last}{_SPACE}%"


def percent_limits(low: float, high: float, around: float = math.nan) -> tuple[int, int]:
    """Give the whole per cents that `percent_interval` prints.

    >>> percent_limits(0.02, 0.316, 0.14)
    (2, 32)
    """
    first, last = round(100 * low), round(100 * high)
    if low < around:
        first = max(0, min(first, round(100 * around) - 1))
    if high > around:
        last = min(100, max(last, round(100 * around) + 1))
    if 0.0 < around < 1.0 and (at := round(100 * around)) % 100 == 0:
        first, last = min(first, max(at - 1, 0)), max(last, min(at + 1, 100))
    return first, last


def points(value: float) -> str:
    """Print a difference of shares in percentage points, one decimal below 10.

    >>> points(0.074), points(0.132), points(-0.05)
    ('7.4', '13', '−5.0')
    """
    if math.isnan(value):
        return BLANK
    size = abs(100 * value)
    sign = "−" if value < 0 else ""
    return marked(f"{sign}{size:.1f}" if size < 9.95 else f"{sign}{size:.0f}")


def hours(value: float) -> str:
    """Print hours with as many decimals as were configured.

    >>> hours(12.0), hours(1.5)
    ('12', '1.5')
    """
    return marked(f"{value:g}")


def decimal(value: float, places: int = 3) -> str:
    """Print a plain decimal with a real minus sign.

    >>> decimal(0.0714), decimal(-1.5, 2), decimal(float("nan"))
    ('0.071', '−1.50', '–')
    """
    if math.isnan(value):
        return BLANK
    text = f"{value:.{places}f}"
    return marked(text.replace("-", "−") if float(text) else text.lstrip("-"))


def signed(value: float, places: int = 3) -> str:
    """Print a decimal with its sign, zero without.

    >>> signed(0.02), signed(-0.02), signed(-0.0001, 2)
    ('+0.020', '−0.020', '0.00')
    """
    text = decimal(value, places)
    signless = math.isnan(value) or value < 0 or not float(f"{value:.{places}f}")
    return text if signless else f"+{text}"


def interval(low: float, high: float, places: int = 3) -> str:
    """Print an interval of decimals; "to" keeps a minus sign from meeting a dash.

    >>> interval(-0.01, 0.02, 2)
    '−0.01 to 0.02'
    """
    if math.isnan(low) or math.isnan(high):
        return BLANK
    return f"{decimal(low, places)} {_MANNER.get().between} {decimal(high, places)}"
