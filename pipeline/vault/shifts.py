"""Date shifts, and the months that may be stated beside shifted times.

Each patient's times are shifted by a secret number of days s, from -365 to 365 and
never 0. The analysis zone holds the shifted time t + s of an exam, and beside it a month, because
pages are issued by month. Whoever has both can rule shifts out: s' fits an exam if t + s - s' lies
in the stated month, and fits a patient if it fits all of the patient's exams. One exam leaves 28 to
31 shifts; exams on several days of a month, or on both sides of its end, leave fewer. Where fewer
than `LEAST_SHIFTS` would be left, `stated_months` states other months: those of a calendar that
runs some days ahead or behind.

A month is the site's, from its first midnight to its last by the clocks of the site's time zone,
which is no secret; shifts are whole days of 24 hours.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

import pandas as pd

_MAX_SHIFT_DAYS: Final = 365
LEAST_SHIFTS: Final = 8
"""At least so many date shifts fit any patient's exams and their stated months."""
_LEEWAY_DAYS: Final = 15
"""Most days by which the calendar of the stated months runs ahead or behind."""
_SPANS_DAYS: Final = (0, 30, 60, 120, 240, 10**6)
"""Exams within so many days get one stated month; the first span that leaves enough is taken."""
_DAY: Final = pd.Timedelta(days=1)

Room: TypeAlias = tuple[int, int]
"""(least, most): beside a shift s, the shifts s + d with least ≤ d ≤ most fit all stated months."""
# Both may be negative: where the stated months are not the true ones, d = 0 need not fit.


def random_shift(room: Room | None = None) -> int:
    """Draw a date shift of -365 to 365 days, never 0; `LEAST_SHIFTS` or more fit in the room."""
    while True:
        days = secrets.randbelow(2 * _MAX_SHIFT_DAYS) - _MAX_SHIFT_DAYS
        days = days if days < 0 else days + 1
        if room is None or _possible(days + room[0], days + room[1]) >= LEAST_SHIFTS:
            return days


def _possible(least: int, most: int) -> int:
    """Count the possible shifts from least to most."""
    least, most = max(least, -_MAX_SHIFT_DAYS), min(most, _MAX_SHIFT_DAYS)
    return most - least + 1 - (least <= 0 <= most)


def stated_months(times: Sequence[pd.Timestamp]) -> tuple[list[str], list[bool], Room]:
    """Choose the months that are stated for a patient's exams, so that enough shifts fit them.

    The true months if they leave enough shifts; else those of a calendar that runs up to 15 days
    ahead or behind, by as few days as suffice; else exams within 30, 60, ... days of one another
    all get the month of the first of them. Only the times decide, in any order, so every vault
    states the same months.

    Parameters
    ----------
    times
        True times of all the patient's exams, in the time zone whose months are stated.

    Returns
    -------
    tuple
        Each exam's month, whether it is its own and not that of an earlier exam, and the room.

    Examples
    --------
    >>> stated_months([pd.Timestamp("2026-03-31T22:00Z"), pd.Timestamp("2026-04-01T01:00Z")])
    (['2026-04', '2026-04'], [True, True], (-29, -1))
    """
    ordered = sorted(set(times))
    heads, ahead, room = next(filter(None, (_calendar(ordered, span) for span in _SPANS_DAYS)))
    months = {at: f"{heads[at] - ahead * _DAY:%Y-%m}" for at in ordered}
    own = {*heads.values()}
    return [months[at] for at in times], [at in own for at in times], room


def _calendar(
    ordered: Sequence[pd.Timestamp], span: int
) -> tuple[dict[pd.Timestamp, pd.Timestamp], int, Room] | None:
    """Group times by a span; give each its head, the least days ahead that suffice, and the room.

    None where no calendar of these groups leaves enough shifts.
    """
    heads = _heads(ordered, span)
    own = set(heads.values())
    for days in sorted(range(-_LEEWAY_DAYS, _LEEWAY_DAYS + 1), key=lambda d: (abs(d), d)):
        back, forth = _room([at - days * _DAY for at in own])
        if forth - back > LEAST_SHIFTS:
            return heads, days, (days + back, days + forth)
    return None


def _heads(ordered: Sequence[pd.Timestamp], span: int) -> dict[pd.Timestamp, pd.Timestamp]:
    """Give each time the first time of its group; a group spans less than so many days."""
    heads: dict[pd.Timestamp, pd.Timestamp] = {}
    head = ordered[0]
    for at in ordered:
        head = head if at - head < span * _DAY else at
        heads[at] = head
    return heads


def _room(times: Iterable[pd.Timestamp]) -> Room:
    """Give the `Room` under true months, by the fewest days to the end and since the start."""
    ends = [(at, *month_ends(f"{at:%Y-%m}", str(at.tz))) for at in times]
    both = [(at - start, end - at) for at, start, end in ends]
    return -min(-(-rest // _DAY) - 1 for _, rest in both), min(since // _DAY for since, _ in both)


@lru_cache(maxsize=4096)
def month_ends(month: str, zone: str) -> tuple[pd.Timestamp, pd.Timestamp]:
    """Give the first moment of a month in a time zone, and that of the next month.

    Examples
    --------
    >>> [str(at.tz_convert("UTC")) for at in month_ends("2026-03", "Australia/Sydney")]
    ['2026-02-28 13:00:00+00:00', '2026-03-31 13:00:00+00:00']
    """
    at = pd.Period(month, freq="M")
    # Clocks may be changed at the very midnight with which a month begins.
    first, next_one = (
        each.start_time.tz_localize(zone, ambiguous=True, nonexistent="shift_forward")
        for each in (at, at + 1)
    )
    return first, next_one


def bounds(months: pd.Series, zone: str) -> tuple[pd.Series[pd.Timestamp], pd.Series[pd.Timestamp]]:
    """Give `month_ends` of many months, each told by its first day."""
    ends = {month: month_ends(f"{month:%Y-%m}", zone) for month in months.unique()}
    first, next_one = (
        pd.to_datetime(months.map({month: both[i] for month, both in ends.items()}), utc=True)
        for i in (0, 1)
    )
    return first, next_one
