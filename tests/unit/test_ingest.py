"""Ingest: every row comes out once, as an exam or under one reason."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pandas as pd
import pytest

from pipeline.errors import InputError
from pipeline.formats.exams import ExamBatch
from pipeline.formats.exports import TableOptions, read
from pipeline.formats.validation import REASONS, IngestOptions, validate

NOW = pd.Timestamp("2026-11-20T12:00:00Z")
GOOD = {
    "accession": "A1",
    "patient_id": "7",
    "reader_id": "r1",
    "modality": "CR",
    "performed_at": "2026-03-04T10:00:00+01:00",
    "signed_at": "2026-03-04T10:30:00+01:00",
    "text": "No effusion.",
    "exam_name": "XR CHEST 2 VIEWS",
    "patient_age_years": "71",
    "patient_class": "Inpatient",
}


NO_NUMBERS = (
    "N/A", "na", "None", "NULL", "NaN", "nil", "Unknown", "-", "--", "?", "0", "000000", "Infinity",
    "-inf", "TEST", "0.0",
)  # fmt: skip
NAN = float("nan")
ROUNDED = (
    "3E+11", "3e+11", "2.026010112345678e+16", "2,02601E+16", "2.0260E16", "3.E+11", "202.6E+15",
    "2.02601e+016", " 1.2E+5 ",
)  # fmt: skip
LOST = (
    "0001-01-01T00:00:00",
    "1900-01-01 08:10",
    "1970-01-01T00:00:00Z",
    "1979-12-31T10:00",
    "1899-12-30",
)


def options(**more: object) -> IngestOptions:
    settings: dict[str, object] = {
        "modalities": {"XR": "XR", "CR": "XR", "CT": "CT"},
        "chest_pattern": r"\bchest\b",
        "now": NOW,
    }
    return IngestOptions(**(settings | more))


def exports(tmp_path: Path, *rows: dict[str, str]) -> Path:
    path = tmp_path / "exams.csv"
    pd.DataFrame(rows).fillna("").to_csv(path, index=False)
    return path


def ingested(
    tmp_path: Path, *rows: dict[str, str], **more: object
) -> tuple[pd.DataFrame, list[tuple[int, str]]]:
    seen: set[str] = set()
    batches = [
        validate(batch, source="exams.csv", options=options(**more), seen=seen)
        for batch in read(exports(tmp_path, *rows), TableOptions(batch_rows=2))
    ]
    bad = pd.concat([b.quarantined for b in batches])
    kept = pd.concat([b.exams for b in batches])
    return kept, list(zip(bad["row"], bad["reason"], strict=True))


@pytest.mark.parametrize(
    "written",
    [
        "2026-03-04T10:00:00+01:00[Europe/Paris]",
        "2026-03-04 09:00:00 UTC",
        "2026-03-04-09.00.00.000000",
        "2026-03-04 09:00:00,000",
    ],
)
def test_times_as_others_write_them_are_read(tmp_path: Path, written: str) -> None:
    kept, bad = ingested(tmp_path, GOOD | {"performed_at": written})
    assert bad == []
    assert kept["performed_at"].item() == pd.Timestamp("2026-03-04T09:00:00Z")


def test_a_sites_own_words_for_a_status_are_known_once_they_are_mapped(tmp_path: Path) -> None:
    own = GOOD | {"status": " freigegeben "}
    assert ingested(tmp_path, own)[1] == [(1, "unknown_status")]
    kept, bad = ingested(tmp_path, own, statuses={"freigegeben": "final"})
    assert (bad, kept["status"].tolist()) == ([], ["final"])


@pytest.mark.parametrize(
    ("written", "means"),
    [("Final Resident", "prelim"), ("FINAL  RESIDENT ", "prelim"), ("STORNIERT", "retracted"),
     ("final", "final"), ("Final Resident (PGY3)", None), ("Final Fellow", None),
     ("Prelim Fellow", "prelim")],
)  # fmt: skip
def test_capitals_and_blanks_make_no_other_status_and_what_is_longer_than_final_must_be_mapped(
    tmp_path: Path, written: str, means: str | None
) -> None:
    own = {"Final resident": "prelim", "storniert": "retracted"}
    kept, bad = ingested(tmp_path, GOOD | {"status": written}, statuses=own)
    assert kept["status"].tolist() == ([means] if means else [])
    assert bad == ([] if means else [(1, "unknown_status")])
    plain, _ = ingested(
        tmp_path, GOOD | {"status": "Final Fellow"}, statuses={"storniert": "final"}
    )
    assert plain["status"].tolist() == ["final"]


@pytest.mark.parametrize(
    ("swapped", "told"),
    [
        ({"status": "KS1"}, "unknown status ‹AA9›"),  # a reader's number, which another row has
        ({"modality": "ks1 "}, "unknown modality ‹aa9›"),
        (
            {"status": "MB2", "reader_id": "final"},
            "unknown status ‹AA9›",
        ),  # the other way round too
        ({"status": "A1"}, "unknown status ‹A9›"),
        ({"status": "ZZ9"}, "unknown status ZZ9"),
    ],
)
def test_a_reader_s_short_number_in_another_column_is_not_shown(
    tmp_path: Path, swapped: dict[str, str], told: str
) -> None:
    rows = (GOOD | {"reader_id": "KS1"}, GOOD | {"accession": "B2"} | swapped)
    (batch,) = read(exports(tmp_path, *rows), TableOptions())
    notes = validate(batch, source="a", options=options(), seen=set()).notes
    assert [note for note in notes if note.startswith("unknown")] == [told]
    written = validate(batch, source="a", options=options(as_written=True), seen=set()).notes
    assert [note.split()[-1].upper() for note in written if note.startswith("unknown")] == [
        next(iter(swapped.values())).strip().upper()
    ]


@pytest.mark.parametrize(
    ("written", "known"),
    [("F", "female"), (" male ", "male"), ("w", "female"), ("D", "other"), ("U", "unknown"),
     ("", "unknown"), ("2", "unknown")],
)  # fmt: skip
def test_sex_is_read_as_it_is_written_and_what_no_list_knows_is_unknown(
    written: str, known: str, tmp_path: Path
) -> None:
    kept, bad = ingested(tmp_path, GOOD | {"patient_sex": written})
    assert (bad, kept["patient_sex"].tolist()) == ([], [known])


DAYS = ("2026", "2026-03", "2026-03-04", "20260304", "2026/03/04", "2026/3/4", "2026.03.04")


@pytest.mark.parametrize("day", DAYS[2:])
def test_a_day_of_signing_counts_as_its_end_however_it_is_written(tmp_path: Path, day: str) -> None:
    kept, bad = ingested(tmp_path, GOOD | {"signed_at": day})
    assert bad == []
    assert kept["signed_at"].item() == pd.Timestamp("2026-03-04T23:59:59Z")


def test_good_row_is_kept_with_canonical_values(tmp_path: Path) -> None:
    kept, bad = ingested(tmp_path, GOOD)
    assert bad == []
    row = kept.iloc[0]
    assert (row["modality"], row["status"], row["patient_class"]) == ("XR", "final", "inpatient")
    assert row["performed_at"] == pd.Timestamp("2026-03-04T09:00:00Z")
    assert row["is_chest"]
    assert row["patient_age_years"] == 71.0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"accession": " "}, "missing_accession"),
        ({"patient_id": ""}, "missing_patient_id"),
        ({"accession": "1.00235E+11"}, "rounded_number"),
        ({"patient_id": "4,2E+08"}, "rounded_number"),
        *(({"patient_id": number}, "rounded_number") for number in ROUNDED),
        *(({"accession": number}, "rounded_number") for number in ROUNDED),
        *(({"reader_id": number}, "rounded_number") for number in ROUNDED),
        *(({"performed_at": day}, "no_time_of_day") for day in DAYS),
        ({"signed_at": "2026"}, "bad_signed_at"),
        ({"signed_at": "2026-03"}, "bad_signed_at"),
        ({"text": "   "}, "missing_text"),
        ({"text": "x" * 200_001}, "text_too_long"),
        ({"text": "No\x00effusion"}, "nul_bytes"),
        ({"patient_id": "MR\x0012"}, "nul_bytes"),
        ({"accession": "A\x1f2"}, "nul_bytes"),
        ({"reader_id": "r\x7f1"}, "nul_bytes"),
        ({"patient_name": "DOE\x00JANE"}, "nul_bytes"),
        ({"status": "retracted", "patient_id": "MR\x0012"}, "nul_bytes"),
        ({"patient_name": "x" * 2_001}, "field_too_long"),
        ({"patient_id": "9" * 2_001}, "field_too_long"),
        *(({"patient_id": number}, "missing_patient_id") for number in NO_NUMBERS),
        *(({"accession": number}, "missing_accession") for number in NO_NUMBERS),
        *(({"performed_at": time}, "bad_performed_at") for time in LOST),
        *(({"signed_at": time}, "bad_signed_at") for time in LOST),
        ({"modality": "MR"}, "unknown_modality"),
        ({"status": "on hold"}, "unknown_status"),
        ({"performed_at": "yesterday"}, "bad_performed_at"),
        ({"signed_at": "soon"}, "bad_signed_at"),
        ({"signed_at": "2027-01-01T00:00:00Z"}, "future_date"),
        ({"signed_at": "2026-03-04T05:00:00Z"}, "signed_before_performed"),
    ],
)
def test_bad_row_is_set_aside_under_its_reason(
    tmp_path: Path, change: dict[str, str], reason: str
) -> None:
    kept, bad = ingested(tmp_path, GOOD, GOOD | {"accession": "A2"} | change)
    assert len(kept) == 1
    assert bad == [(2, reason)]
    assert reason in REASONS


@pytest.mark.parametrize(
    ("age", "years"),
    [
        *((age, 71) for age in ("71 Years", "071Y", "71 y.o.", "71 yrs old", "71 ans", "71,0")),
        *((age, 71) for age in ("71 J.", "71 años", "71 år", "71 歲", "７１才", "71세", "71 лет")),
        *((age, 0.5) for age in ("6M", "006M", "6 mois", "6个月", "6 Monate", "26.0892857 w")),
        *((age, 1.25) for age in ("1Y3M", "1岁3月", "1 year, 3 months")),
    ],
)
def test_an_age_is_read_in_the_units_that_hospitals_write(
    tmp_path: Path, age: str, years: float
) -> None:
    kept, bad = ingested(tmp_path, GOOD | {"patient_age_years": age})
    assert bad == []
    assert kept["patient_age_years"].tolist() == pytest.approx([years])


@pytest.mark.parametrize("age", ["old", "131", "-5", "7 sols", "71 12", "71-75", "n.b."])
def test_an_age_that_is_none_is_unknown_and_counted_and_its_report_stays(
    tmp_path: Path, age: str
) -> None:
    rows = exports(tmp_path, GOOD, GOOD | {"accession": "A2", "patient_age_years": age})
    (batch,) = read(rows, TableOptions())
    kept = validate(batch, source="exams.csv", options=options(), seen=set())
    assert kept.exams["patient_age_years"].isna().tolist() == [False, True]
    assert kept.notes == {"age or birth date that cannot be read, or is nobody's": 1}


def test_a_birth_date_stands_in_for_an_age_that_cannot_be_read(tmp_path: Path) -> None:
    kept, _ = ingested(
        tmp_path, GOOD | {"patient_age_years": "7 sols", "patient_birth_date": "1950-03-05"}
    )
    assert kept["patient_age_years"].tolist() == [75.0]


@pytest.mark.parametrize(
    "number",
    ["N-0", "NA7", "0001", "NUL", "Nonet", "O", "99999999", "12E4567", "26E123", "1E5", "E+11",
     "3E+11X", "1.5", "7.12.2026", "1E+1234", "26-3E+11"],
)  # fmt: skip
def test_a_number_that_only_looks_like_a_word_for_none_or_a_rounded_one_is_one(
    tmp_path: Path, number: str
) -> None:
    assert ingested(tmp_path, GOOD | {"patient_id": number, "accession": number})[1] == []


@pytest.mark.parametrize(
    ("born", "age"),
    [("12.05.60", 65), ("04.03.26", 0), ("05.03.26", NAN), ("06.03.26", 99), ("12.05.1960", 65),
     ("12.05.20", 5), ("12.05.72", 53), ("", NAN)],
)  # fmt: skip
def test_a_birth_year_of_two_figures_is_the_last_that_is_not_after_the_exam(
    tmp_path: Path, born: str, age: float
) -> None:
    dated = {"performed_at": "04.03.26 09:00", "signed_at": "04.03.26 10:00"}
    dated |= {"patient_age_years": "", "patient_birth_date": born}
    formats = ("%d.%m.%y %H:%M", "%d.%m.%Y %H:%M")
    kept, bad = ingested(tmp_path, GOOD | dated, time_formats=formats)
    assert bad == []
    assert kept["patient_age_years"].tolist() == pytest.approx([age], nan_ok=True)


def test_a_birth_date_with_its_whole_year_behind_the_exam_is_nobodys(tmp_path: Path) -> None:
    later = {"patient_age_years": "", "patient_birth_date": "12.05.2060"}
    kept, _ = ingested(tmp_path, GOOD | later, time_formats=("%d.%m.%y", "%d.%m.%Y"))
    assert kept["patient_age_years"].isna().all()


def test_versions_are_counted_part_by_part(tmp_path: Path) -> None:
    written = ["1.9", "1.10", "2", "2.0", "2.1", "10.1", "v3", "1.2.3", ""]
    rows = [GOOD | {"version": each, "accession": f"V{n}"} for n, each in enumerate(written)]
    sequence = ingested(tmp_path, *rows)[0]["sequence"].reset_index(drop=True)
    assert sequence[:6].is_monotonic_increasing
    assert (sequence[0] < sequence[1], sequence[2] == sequence[3]) == (True, True)
    assert sequence[6:].isna().all()


def test_a_retraction_with_a_lost_date_is_kept_by_when_it_was_signed(tmp_path: Path) -> None:
    gone = GOOD | {"status": "retracted", "performed_at": "1970-01-01T00:00:00Z", "text": ""}
    kept, bad = ingested(tmp_path, gone)
    assert (bad, kept["performed_at"].tolist()) == ([], kept["signed_at"].tolist())


def test_repeated_exam_is_set_aside_even_in_a_later_batch(tmp_path: Path) -> None:
    others = [GOOD | {"accession": f"B{i}"} for i in range(3)]
    kept, bad = ingested(tmp_path, GOOD, *others, GOOD)
    assert len(kept) == 4
    assert bad == [(5, "duplicate_exam")]


def test_new_version_of_an_exam_is_not_a_repeat(tmp_path: Path) -> None:
    kept, bad = ingested(tmp_path, GOOD | {"status": "prelim"}, GOOD | {"status": "final"})
    assert (len(kept), bad) == (2, [])


def test_naive_times_are_local_to_the_configured_zone(tmp_path: Path) -> None:
    naive = GOOD | {"performed_at": "2026-03-04 10:00:00", "signed_at": "2026-03-04 11:00:00"}
    kept, _ = ingested(tmp_path, naive, time_zone="America/New_York")
    assert kept.iloc[0]["performed_at"] == pd.Timestamp("2026-03-04T15:00:00Z")


def test_times_of_the_sites_own_format_are_read_beside_iso(tmp_path: Path) -> None:
    own = {"performed_at": "3/4/2026 10:00 PM", "signed_at": "3/4/2026 11:30 PM"}
    iso = {"performed_at": "2026-03-04T10:00:00", "signed_at": ""}
    kept, bad = ingested(
        tmp_path, GOOD | own, GOOD | {"accession": "A2"} | iso,
        GOOD | {"accession": "A3", "performed_at": "14/14/2026 10:00 PM"},
        time_formats=("%m/%d/%Y %I:%M %p",), time_zone="America/New_York",
    )  # fmt: skip
    assert kept["performed_at"].tolist() == [
        pd.Timestamp("2026-03-05T03:00:00Z"), pd.Timestamp("2026-03-04T15:00:00Z")
    ]  # fmt: skip
    assert kept.iloc[0]["signed_at"] == pd.Timestamp("2026-03-05T04:30:00Z")
    assert bad == [(3, "bad_performed_at")]


@pytest.mark.parametrize("offset", ["+01:00", "+0100", "+01", " +01:00", "-05:00", "Z", " Z", ""])
def test_an_offset_is_understood_in_every_spelling(tmp_path: Path, offset: str) -> None:
    zoned = {"performed_at": f"2026-03-04 10:00:00{offset}", "signed_at": ""}
    kept, bad = ingested(tmp_path, GOOD | zoned, time_zone="America/New_York")
    assert bad == []
    hours = {"": 15, "Z": 10, " Z": 10, "-05:00": 15}.get(offset, 9)
    assert kept.iloc[0]["performed_at"] == pd.Timestamp(2026, 3, 4, hours, tz="UTC")


def test_a_time_that_is_none_spoils_no_other(tmp_path: Path) -> None:
    odd = [
        "2026-03-04T10:00+1",
        "2026-03-04T10:00+99:99",
        "+",
        "T+",
        "2026-03-04T25:00",
        "0001-01-01T00:00",
    ]
    rows = [GOOD | {"accession": f"B{n}", "performed_at": each} for n, each in enumerate(odd)]
    kept, bad = ingested(tmp_path, GOOD, *rows)
    assert kept["accession"].tolist()[0] == "A1"
    assert len(kept) + len(bad) == 1 + len(odd)


def test_unknown_time_of_signing_is_kept_as_unknown(tmp_path: Path) -> None:
    kept, bad = ingested(tmp_path, GOOD | {"signed_at": ""})
    assert bad == []
    assert kept["signed_at"].isna().all()


def test_age_comes_from_the_birth_date_where_it_is_not_stated(tmp_path: Path) -> None:
    born = GOOD | {"patient_age_years": "", "patient_birth_date": "1950-03-05"}
    kept, _ = ingested(tmp_path, born)
    assert kept.iloc[0]["patient_age_years"] == 75.0


@pytest.mark.parametrize(("born", "age"), [
    ("2008-03-04", 18), ("2008-03-05", 17), ("2008", 17), ("2007", 18), ("200803", 17),
    ("2008-02", 18), ("20080200", 18), ("2007-00-00", 18), ("20070000", 18),
])  # fmt: skip
def test_somebody_is_of_age_on_the_last_birthday_that_may_be_theirs(
    tmp_path: Path, born: str, age: int
) -> None:
    row = {**GOOD, "patient_age_years": "", "patient_birth_date": born}
    kept, _ = ingested(tmp_path, row | {"performed_at": "2026-03-04T09:00:00Z"})
    assert kept["patient_age_years"].item() == age


def test_birth_dates_and_times_are_read_in_the_sites_own_formats(tmp_path: Path) -> None:
    own = {"performed_at": "46085.395833", "signed_at": "04.03.2026 10:30", "patient_age_years": "",
           "patient_birth_date": "05.03.1950"}  # fmt: skip
    kept, bad = ingested(tmp_path, GOOD | own, time_formats=("%d.%m.%Y %H:%M",))
    assert bad == []
    assert kept.iloc[0]["patient_age_years"] == 75.0
    assert kept.iloc[0]["performed_at"] == pd.Timestamp("2026-03-04T09:30:00Z")


def test_exam_code_map_outranks_the_name(tmp_path: Path) -> None:
    coded = GOOD | {"exam_code": "X9", "exam_name": "XR CHEST"}
    kept, _ = ingested(tmp_path, coded, chest_codes={"X9": False})
    assert not kept.iloc[0]["is_chest"]


def test_row_with_too_many_fields_is_set_aside_and_the_rest_read(tmp_path: Path) -> None:
    path = exports(tmp_path, GOOD, GOOD | {"accession": "A3"})
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1], lines[1] + ",extra,fields", lines[2]]))
    batch = next(read(path, TableOptions()))
    assert list(batch.exams["source_row"]) == [1, 3]
    assert list(batch.quarantined["reason"]) == ["wrong_field_count"]


def test_broken_json_line_is_set_aside_and_the_rest_read(tmp_path: Path) -> None:
    path = tmp_path / "exams.jsonl"
    path.write_text(json.dumps(GOOD) + "\n{broken\n[1]\n" + json.dumps(GOOD) + "\n")
    batch = next(read(path, TableOptions()))
    assert list(batch.exams["source_row"]) == [1, 4]
    assert list(batch.quarantined["row"]) == [2, 3]
    assert set(batch.quarantined["reason"]) == {"not_json"}


def test_parquet_and_csv_give_the_same_exams(tmp_path: Path) -> None:
    path = exports(tmp_path, GOOD, GOOD | {"accession": "00123"})
    twin = tmp_path / "exams.parquet"
    pd.read_csv(path, dtype=str, keep_default_na=False).to_parquet(twin)
    one, other = next(read(path, TableOptions())), next(read(twin, TableOptions()))
    pd.testing.assert_frame_equal(one.exams, other.exams)


def test_column_map_names_the_sources_columns(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    pd.DataFrame([GOOD]).rename(columns={"accession": "ACC_NO"}).to_csv(path, index=False)
    batch = next(read(path, TableOptions(columns={"accession": "ACC_NO"})))
    assert list(batch.exams["accession"]) == ["A1"]


def test_missing_columns_are_all_named(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    pd.DataFrame([GOOD]).drop(columns=["text", "reader_id"]).to_csv(path, index=False)
    with pytest.raises(InputError, match=r"2 needed column\(s\) missing: 'reader_id'.*'text'"):
        next(read(path, TableOptions()))


def test_wrong_encoding_says_what_to_set(tmp_path: Path) -> None:
    path = tmp_path / "exams.csv"
    pd.DataFrame([GOOD | {"text": "œdème"}]).to_csv(path, index=False, encoding="cp1252")
    with pytest.raises(InputError, match=r"not valid utf-8.*encoding"):
        next(read(path, TableOptions(encoding="utf-8")))
    assert next(read(path, TableOptions(encoding="cp1252"))).exams.iloc[0]["text"] == "œdème"


def test_an_absent_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        next(read(tmp_path / "exams.csv", TableOptions()))


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b"\xff\xfe", b" \r\n\n", b"\x00" * 64])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.xlsx", "a.csv.gz"])
def test_an_empty_file_is_one_row_set_aside(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    (batch,) = read(path, TableOptions())
    assert (len(batch.exams), batch.quarantined["reason"].tolist()) == (0, ["empty_file"])


BERLIN = "Europe/Berlin"


@pytest.mark.parametrize(
    ("written", "first", "last"),
    [
        ("2026-10-25T02:30:00", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"),  # doubled
        ("2026-03-29T02:30:00", "2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"),  # left out
        ("2026-03-29T03:30:00", "2026-03-29T01:30:00Z", "2026-03-29T01:30:00Z"),
    ],
)
def test_hour_of_a_clock_change_is_the_first_when_performed_and_the_last_when_signed(
    tmp_path: Path, written: str, first: str, last: str
) -> None:
    row = GOOD | {"performed_at": written, "signed_at": written}
    (batch,) = read(exports(tmp_path, row), TableOptions())
    now = pd.Timestamp("2027-01-01", tz="UTC")
    checks = options(time_zone=BERLIN, now=now)
    judged = validate(batch, source="exams.csv", options=checks, seen=set())
    assert judged.exams["performed_at"].item() == pd.Timestamp(first)
    assert judged.exams["signed_at"].item() == pd.Timestamp(last)
    noted = "time in an hour that a clock change doubles or leaves out"
    assert judged.notes == ({noted: 1} if first != last else {})


def test_a_name_that_the_clocks_do_not_show_then_is_read_both_ways_and_counted(
    tmp_path: Path,
) -> None:
    row = GOOD | {"performed_at": "2026-07-01 10:00 CET", "signed_at": "2026-07-01 10:00 CET"}
    (batch,) = read(exports(tmp_path, row), TableOptions())
    checks = options(time_zone=BERLIN, now=pd.Timestamp("2027-01-01", tz="UTC"))
    judged = validate(batch, source="exams.csv", options=checks, seen=set())
    assert judged.exams["performed_at"].item() == pd.Timestamp("2026-07-01T08:00Z")
    assert judged.exams["signed_at"].item() == pd.Timestamp("2026-07-01T09:00Z")
    told = "time under the name of its zone's other season (EST in July)"
    assert judged.notes == {told: 1}


def test_report_sent_again_is_the_same_version_of_it(tmp_path: Path) -> None:
    sent = [GOOD | {"sent_at": f"2026-03-04T1{hour}:00:00Z"} for hour in (1, 2, 2)]
    kept, bad = ingested(tmp_path, *sent)
    assert bad == [(3, "duplicate_exam")]
    assert len(set(kept["source_digest"])) == 1


def test_unknown_modalities_are_named_with_their_counts(tmp_path: Path) -> None:
    rows = [GOOD | {"modality": m, "accession": m + n} for m, n in (("MG", "1"), ("MG", "2"))]
    (batch,) = read(exports(tmp_path, *rows), TableOptions())
    judged = validate(batch, source="exams.csv", options=options(), seen=set())
    assert judged.notes == {"unknown modality MG": 2}


@pytest.mark.parametrize(
    ("cell", "kept_as"),
    [
        ("CT\\SR", "CT"),
        ("XR/CR", "XR"),
        ("XR\\PR", "XR"),
        ("ct;pr", "CT"),
        ("PT\\CT", None),
        ("SR", None),
    ],
)
def test_of_several_modalities_in_a_cell_the_one_with_pictures_counts(
    tmp_path: Path, cell: str, kept_as: str | None
) -> None:
    kept, bad = ingested(tmp_path, GOOD | {"modality": cell})
    assert kept["modality"].tolist() == ([kept_as] if kept_as else [])
    assert bad == ([] if kept_as else [(1, "unknown_modality")])


def test_an_unknown_status_is_named_although_the_text_is_empty_too(tmp_path: Path) -> None:
    own = GOOD | {"status": "annullato", "text": ""}
    assert ingested(tmp_path, own)[1] == [(1, "unknown_status")]
    kept, bad = ingested(tmp_path, own, statuses={"annullato": "retracted"})
    assert (bad, kept["status"].tolist()) == ([], ["retracted"])


def test_a_batch_of_no_exams_has_the_columns_and_types_of_any_other(tmp_path: Path) -> None:
    (full,) = read(exports(tmp_path, GOOD), TableOptions())
    none = ExamBatch(full.exams.iloc[:0], full.quarantined)
    seen: set[str] = set()
    kept, empty = (
        validate(batch, source="exams.csv", options=options(), seen=seen).exams
        for batch in (full, none)
    )
    assert len(empty) == 0
    assert empty.dtypes.to_dict() == kept.dtypes.to_dict()
