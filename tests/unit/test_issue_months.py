"""The months of an issue: few stray X-rays move none, and what is left for the next is counted."""

from __future__ import annotations

import pandas as pd
import pytest

from pipeline.tables.results import newest_whole, short_of_usual, thin_months

STRAYED = {"2025-09": 1, "2025-10": 316, "2025-11": 345, "2025-12": 392, "2026-01": 379,
           "2026-02": 327, "2026-03": 356, "2026-04": 343, "2026-05": 335, "2026-06": 349,
           "2026-07": 346, "2026-08": 359, "2026-09": 282, "2026-10": 2}  # fmt: skip
"""A demonstration's year, of which three X-rays are stated as of the months before and after."""


@pytest.mark.parametrize(
    ("xrays", "last"),
    [
        (STRAYED, "2026-09"),
        (STRAYED | {"2026-10": 90}, "2026-09"),
        (STRAYED | {"2026-10": 180}, "2026-10"),
        (STRAYED | {"2099-01": 1}, "2026-09"),
        # Ten times as many as long ago: half of what is usual now counts.
        ({f"{y}-{m:02}": 10 for y in (2021, 2022, 2023) for m in range(1, 13)}
         | {f"2024-{m:02}": 100 for m in range(1, 13)} | {"2025-01": 20}, "2024-12"),
        ({"2026-08": 100, "2026-09": 2}, "2026-09"),
        ({"2026-09": 2}, "2026-09"),
    ],
)  # fmt: skip
def test_an_issue_ends_with_the_newest_month_that_holds_half_of_what_a_middle_one_does(
    xrays: dict[str, int], last: str
) -> None:
    assert newest_whole(sorted(xrays), *2 * [pd.Series(xrays, dtype=float)]) == [last]


def test_where_only_thin_months_have_observations_the_newest_of_them_is_taken() -> None:
    seen = pd.Series(STRAYED, dtype=float)
    assert newest_whole(["2025-09", "2026-10"], seen, seen) == ["2026-10"]
    assert newest_whole([], seen.iloc[:0], seen.iloc[:0]) == []


def test_months_of_a_few_stray_xrays_are_thin_and_half_a_middle_month_is_not() -> None:
    assert thin_months(pd.Series(STRAYED, dtype=float)) == {"2025-09", "2026-10"}
    assert thin_months(pd.Series({"a": 10.0, "b": 20.0, "c": 20.0})) == set()


YEAR = {f"{y}-{m:02}": 600.0 for y in (2025, 2026) for m in range(1, 13)}
FEW = dict.fromkeys(YEAR, 120.0)


@pytest.mark.parametrize(
    ("xrays", "answered", "short"),
    [
        ({}, {}, ()),
        ({"2026-12": 390}, {}, (("X-rays", "2026-12", 65),)),
        ({}, {"2026-12": 78}, (("X-rays with a CT", "2026-12", 65),)),
        ({"2026-12": 500}, {"2026-12": 100}, ()),  # a sixth less
        ({"2026-12": 450, "2025-12": 470}, {}, ()),  # December is quiet every year
        ({"2026-12": 250}, {}, ()),  # half is missing: the month is left for the next issue
        (dict.fromkeys(YEAR, 40.0) | {"2026-12": 26}, dict.fromkeys(YEAR, 5.0), ()),  # chance
    ],
)
def test_a_month_of_which_two_thirds_have_come_is_short_and_a_holiday_month_is_not(
    xrays: dict[str, float], answered: dict[str, float], short: tuple[tuple[str, str, int], ...]
) -> None:
    counts = (pd.Series(YEAR | xrays), pd.Series(FEW | answered))
    assert short_of_usual(*counts) == short
    first = [each.head(3) for each in counts]
    assert short_of_usual(*first) == ()


def test_a_month_whose_cts_have_not_come_is_left_for_the_next_issue() -> None:
    xrays, answered = pd.Series(YEAR), pd.Series(FEW)
    assert newest_whole(list(YEAR), xrays, answered) == ["2026-12"]
    answered["2026-12"] = 59.0
    assert newest_whole(list(YEAR), xrays, answered) == ["2026-11"]
    # Of so few CTs a month has half by chance.
    assert newest_whole(list(YEAR), xrays, answered / 4) == ["2026-12"]


def test_the_part_of_a_month_with_which_a_workspace_begins_is_no_usual() -> None:
    months = ("2026-06", "2026-07", "2026-08", "2026-09")
    for last, newest in ((410, "2026-08"), (510, "2026-09")):
        counts = pd.Series(dict(zip(months, (360.0, 1000.0, 1000.0, float(last)), strict=True)))
        assert newest_whole(list(months), counts, counts) == [newest]
