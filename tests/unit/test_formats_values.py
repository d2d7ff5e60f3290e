"""Words of sources for a report's status and an exam's modality."""

from __future__ import annotations

import pandas as pd
import pytest

from pipeline.formats.times import between_clocks, iso_times, utc_times
from pipeline.formats.values import modality_of, status_of


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        ("Auth (Verified)", "final"),
        ("Authorised", "final"),
        ("FINAL-CORRECTED", "corrected"),
        ("Edited Result - FINAL", "corrected"),
        ("Final w/ Addendum", "addendum"),
        ("Unauth", "prelim"),
        ("Not Final", "prelim"),
        ("Unfinalized", "prelim"),
        ("In Progress", "prelim"),
        ("Unsigned transcript", "prelim"),
        ("In Error", ""),
        ("Complete", ""),
        ("Cancelled", "retracted"),
    ],
)
def test_a_status_is_what_all_of_its_words_say(words: str, ours: str) -> None:
    assert status_of(words) == ours


@pytest.mark.parametrize(
    ("name", "modality"),
    [
        ("HRCT THORAX", "CT"),
        ("CTPA", "CT"),
        ("CTCHEST WC", "CT"),
        ("XRCHEST2V", "XR"),
        ("Portable AP chest", "XR"),
        ("CHEST PORT", "XR"),
        ("PCXR", "XR"),
        ("Thorax p.a.", "XR"),
        ("CHEST PORT PLACEMENT US", "US"),
        ("CTCAE FORM", ""),
        ("RAD CHEST", ""),
    ],
)
def test_a_modality_is_read_off_the_name(name: str, modality: str) -> None:
    assert modality_of(name) == modality


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Pacific/Kiritimati"])
@pytest.mark.parametrize(
    ("never", "year"),
    [
        ("9999-12-31T23:59:59", 9999), ("9999-12-31T23:59:59-05:00", 9999),
        ("0001-01-01T00:00:00", 2), ("0001-01-01T00:00:00+09:00", 2),
    ],
)  # fmt: skip
def test_a_time_that_stands_for_never_or_for_none_stops_no_row_beside_it(
    zone: str, never: str, year: int
) -> None:
    stamps = pd.Series([never, "2026-03-01T12:00:00Z"])
    found = utc_times(stamps, zone)
    assert abs(found[0].year - year) <= 1
    assert found[1] == pd.Timestamp("2026-03-01T12:00:00Z")
    assert not between_clocks(stamps, zone).any()


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("2026-03-01T12:00:00Z", "%Y-%m-%dT%H:%M:%SZ"), ("01/03/2026 12:00 Z", "%d/%m/%Y %H:%M Z"),
        ("20260301120000Z", "%Y%m%d%H%M%S'Z'"),
        ("01/03/2026 12:00 p.m. Z", "%d/%m/%Y %I:%M %p Z"),
    ],
)  # fmt: skip
def test_a_z_that_a_format_spells_out_is_utc_and_half_of_a_day_may_have_full_stops(
    written: str, form: str
) -> None:
    found = utc_times(iso_times(pd.Series([written]), [form]), "Australia/Sydney")
    assert found.tolist() == [pd.Timestamp("2026-03-01T12:00:00Z")]


@pytest.mark.parametrize(
    ("written", "form", "time"),
    [
        ("04-03-2026 02:15 PM", "%d-%m-%Y %H:%M %p", "14:15"),
        ("04-03-2026 12:15 a.m.", "%d-%m-%Y %H:%M %p", "00:15"),
        ("04-03-2026 12:15 pm", "%d-%m-%Y %H:%M %p", "12:15"),
        ("04-03-2026 14:15 PM", "%d-%m-%Y %H:%M %p", "14:15"),
        ("04-03-2026 12:15", "%d-%m-%Y %I:%M", "12:15"),
        ("04-03-2026 14:15", "%d-%m-%Y %I:%M", "14:15"),
    ],
)
def test_an_hour_is_read_as_written_whichever_sign_of_hours_the_format_has(
    written: str, form: str, time: str
) -> None:
    assert iso_times(pd.Series([written]), [form]).tolist() == [f"2026-03-04T{time}:00"]


NEW_YORK, JAVA = "America/New_York", "%a %b %d %H:%M:%S %Z %Y"


@pytest.mark.parametrize(
    ("written", "form", "zone", "first", "last"),
    [
        ("2026-07-01 10:00:00 EDT", "", NEW_YORK, "07-01T14:00", "07-01T14:00"),
        ("2026-07-01T10:00BST", "", "Europe/London", "07-01T09:00", "07-01T09:00"),
        ("2026-11-01 01:30 EDT", "", NEW_YORK, "11-01T05:30", "11-01T05:30"),
        ("2026-11-01 01:30 EST", "", NEW_YORK, "11-01T06:30", "11-01T06:30"),
        ("2026-07-01 10:00 EST", "", NEW_YORK, "07-01T14:00", "07-01T15:00"),
        ("7/1/2026 10:00 PM EDT", "%m/%d/%Y %I:%M %p", NEW_YORK, "07-02T02:00", "07-02T02:00"),
        ("1.7.2026 10:00 CEST", "%d.%m.%Y %H:%M %Z", "Europe/Berlin", "07-01T08:00", "07-01T08:00"),
        ("Wed Jul 01 10:00:00 EDT 2026", JAVA, NEW_YORK, "07-01T14:00", "07-01T14:00"),
        ("20260701100000 EDT", "", NEW_YORK, "07-01T14:00", "07-01T14:00"),
        ("2026-07-01 10:00 IST", "", "Asia/Kolkata", "07-01T04:30", "07-01T04:30"),
        ("2026-07-01 10:00 IST", "", "Europe/Dublin", "07-01T09:00", "07-01T09:00"),
        ("2026-07-01 10:00 GMT", "", "Europe/London", "07-01T10:00", "07-01T10:00"),
    ],
)  # fmt: skip
def test_a_name_of_the_sites_own_zone_is_its_offset_and_tells_the_doubled_hours_apart(
    written: str, form: str, zone: str, first: str, last: str
) -> None:
    stamps = iso_times(pd.Series([written]), [form])
    assert utc_times(stamps, zone).tolist() == [pd.Timestamp(f"2026-{first}Z")]
    assert utc_times(stamps, zone, last=True).tolist() == [pd.Timestamp(f"2026-{last}Z")]
    assert not between_clocks(stamps, zone).any()
    assert between_clocks(stamps, zone, named=True).tolist() == [first != last]


@pytest.mark.parametrize(
    "written", ["2026-07-01 10:00 PDT", "2026-07-01 EDT", "07-01 10:00 EDT", "10:1 " * 100_000]
)
def test_a_name_of_another_zone_or_behind_no_time_of_day_is_read_as_nothing(written: str) -> None:
    assert utc_times(iso_times(pd.Series([written])), NEW_YORK).isna().all()
