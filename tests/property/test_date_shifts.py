"""How many date shifts fit a patient's exams: what counting them one by one gives."""

from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.vault.shifts import LEAST_SHIFTS, bounds, random_shift, stated_months

DAY = pd.Timedelta(days=1)
ZONES = ["UTC", "Australia/Sydney", "America/Los_Angeles", "America/Havana"]
"""Havana changed its clocks at the midnight with which April 2012 began."""


def patient(code: str, times: list[pd.Timestamp], shift: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "patient_code": code,
            "performed_at": [t + shift * DAY for t in times],
            "performed_month": [t.strftime("%Y-%m") for t in times],
        }
    )


def feasible_shifts(exams: pd.DataFrame, zone: str) -> pd.Series:
    """Count the date shifts that fit each patient's exams with a month of their own."""
    if "month_is_own" in exams:
        exams = exams[exams["month_is_own"]]
    start, end = bounds(pd.to_datetime(exams["performed_month"], format="%Y-%m"), zone)
    limits = exams[["patient_code"]].assign(  # back into the month: start <= t - s < end
        least=np.floor((exams["performed_at"] - end) / DAY) + 1,
        most=np.floor((exams["performed_at"] - start) / DAY),
    )
    by_patient = limits.groupby("patient_code", sort=True)
    least = by_patient["least"].max().clip(lower=-365)
    most = by_patient["most"].min().clip(upper=365)
    none = (least <= 0) & (most >= 0)
    return (most - least + 1 - none).astype(np.int64)


@pytest.mark.slow
@given(
    hours=st.lists(st.integers(0, 24 * 400), min_size=1, max_size=4),
    shift=st.integers(-365, 365).filter(bool),
    zone=st.sampled_from(ZONES),
    year=st.sampled_from(["2012", "2025"]),
)
def test_counting_agrees_with_trying_every_shift(
    hours: list[int], shift: int, zone: str, year: str
) -> None:
    start = pd.Timestamp(f"{year}-01-01", tz=zone)
    exams = patient("A", [start + pd.Timedelta(hours=h) for h in hours], shift)
    days = np.array([each for each in range(-365, 366) if each])
    fits = np.full(len(days), fill_value=True)
    for at, month in zip(exams["performed_at"], exams["performed_month"], strict=True):
        fits &= (at - pd.to_timedelta(days, unit="D")).strftime("%Y-%m") == month
    assert shift in days[fits]
    assert feasible_shifts(exams, zone).tolist() == [fits.sum()]


def test_a_patient_seen_on_the_first_and_the_last_of_a_month_would_keep_one_shift() -> None:
    first, last = (pd.Timestamp(day, tz="UTC") for day in ("2026-03-01 10:00", "2026-03-31 10:00"))
    exams = pd.concat([patient("A", [first], 90), patient("B", [first, last], -40)])
    assert feasible_shifts(exams, "UTC").tolist() == [31, 1]


moments = st.lists(
    st.integers(0, 24 * 120).map(lambda h: pd.Timestamp("2025-11-20", tz="UTC") + h * DAY / 24),
    min_size=1,
    max_size=8,
)
edges = st.lists(
    st.sampled_from(["2026-01-31T23:00Z", "2026-02-01T01:00Z", "2026-02-28T12:00Z",
                     "2026-03-01T00:00Z", "2026-03-31T22:00Z", "2026-04-01T02:00Z",
                     "2026-05-31T22:00Z"]).map(pd.Timestamp),
    min_size=1,
    max_size=7,
)  # fmt: skip
daily = st.integers(1, 200).map(
    lambda n: [pd.Timestamp("2026-01-05T08:00Z") + i * DAY for i in range(n)]
)


@settings(max_examples=60)
@given(
    at=st.one_of(moments, edges, daily),
    seed=st.randoms(use_true_random=False),
    zone=st.sampled_from(ZONES),
)
def test_eight_shifts_fit_whatever_the_exams_and_their_order_decides_nothing(
    at: list[pd.Timestamp], seed: random.Random, zone: str
) -> None:
    times = [each.tz_convert(zone) for each in at]
    months, is_own, room = stated_months(times)
    again = list(zip(times, months, strict=True))
    seed.shuffle(again)
    assert stated_months([t for t, _ in again])[0] == [month for _, month in again]
    exams = pd.DataFrame({"performed_month": months, "month_is_own": is_own})
    for shift in (random_shift(room), *(random_shift(room) for _ in range(3))):
        shifted = pd.Series([t + shift * DAY for t in times])
        coded = exams.assign(patient_code="A", performed_at=shifted.dt.tz_convert("UTC"))
        left = feasible_shifts(coded, zone)
        assert left.item() >= LEAST_SHIFTS
    for each, month, own in zip(times, months, is_own, strict=True):
        near = {(each + days * DAY).strftime("%Y-%m") for days in range(-15, 16)}
        assert month in near or not own


def test_true_months_are_stated_wherever_they_leave_room() -> None:
    times = [pd.Timestamp(day, tz="UTC") for day in ("2026-03-05", "2026-03-20", "2026-04-12")]
    assert stated_months(times)[:2] == (["2026-03", "2026-03", "2026-04"], [True] * 3)


def test_no_shift_lies_where_the_end_of_the_range_would_tell_it() -> None:
    drawn = {random_shift((-1, 8)) for _ in range(6000)}
    assert 300 < max(drawn) <= 359  # 358 to 365 are eight
    assert min(drawn) < -300
    assert 0 not in drawn
