"""Pairing: small tables whose right answer can be read off the clock."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

from pipeline.deidentify.coding import is_adult
from pipeline.tables.observations import coverage, written
from pipeline.tables.pairing import LEFT_OUT, pair
from pipeline.tables.versions import parts, redated
from reports.pages.run_report import remedy

DAY = pd.Timestamp("2026-03-04T00:00:00Z")


def exam(
    study: str,
    modality: str,
    performed: float,
    signed: float | None = None,
    **more: object,
) -> dict[str, object]:
    """One report version; times are hours of one day."""
    status = str(more.get("status", "final"))
    at = DAY + pd.Timedelta(hours=performed + 0.5 if signed is None else signed)
    return {
        "study_code": study,
        "patient_code": "P1",
        "reader_code": "R1",
        "exam_key": f"{study}.{status}.{more.get('version', 1)}",
        "modality": modality,
        "performed_at": DAY + pd.Timedelta(hours=performed),
        "signed_at": at,
        "stated_at": at,
        "performed_month": "2026-03",
        "status": status,
        "is_chest": True,
        "is_adult": True,
        "age_band": "40-59",
        "patient_class": "inpatient",
        "patient_sex": "female",
        "site_code": "T-23AB",
        "cues": "likely;absent",
        "drafted": False,
        "sequence": None,
        "sent_at": None,
        "text_digest": "d",
        "text_mark": "d",
    } | {k: v for k, v in more.items() if k != "version"}


def paired(*exams: dict[str, object], **options: object) -> list[tuple[str, str]]:
    pairs = pair(pd.DataFrame(exams), **options).pairs
    return list(zip(pairs["xr_exam_key"], pairs["ct_exam_key"], strict=True))


def fate(*exams: dict[str, object], **options: object) -> dict[str, str]:
    fates = pair(pd.DataFrame(exams), **options).fates
    return dict(zip(fates["study_code"], fates["fate"], strict=True))


def test_ct_within_twelve_hours_answers_the_xray() -> None:
    assert paired(exam("X", "XR", 1), exam("C", "CT", 5)) == [("X.final.1", "C.final.1")]


def test_ct_exactly_twelve_hours_later_still_counts() -> None:
    assert paired(exam("X", "XR", 1), exam("C", "CT", 13)) == [("X.final.1", "C.final.1")]


def test_ct_after_the_window_or_before_the_xray_does_not_count() -> None:
    assert paired(exam("X", "XR", 1), exam("C", "CT", 13.1)) == []
    assert paired(exam("X", "XR", 5), exam("C", "CT", 1)) == []


def test_ct_before_the_xray_counts_where_the_configuration_says_so() -> None:
    exams = (exam("X", "XR", 5), exam("C", "CT", 1))
    assert paired(*exams, ct_before_hours=6.0) == [("X.final.1", "C.final.1")]


def test_nearest_ct_wins_and_each_study_is_used_once() -> None:
    exams = (
        exam("X1", "XR", 1),
        exam("X2", "XR", 3),
        exam("C1", "CT", 4),
        exam("C2", "CT", 9),
    )
    assert paired(*exams) == [("X1.final.1", "C2.final.1"), ("X2.final.1", "C1.final.1")]


def test_xray_whose_ct_answers_a_nearer_one_is_counted_as_such() -> None:
    fates = fate(exam("X1", "XR", 1), exam("X2", "XR", 3), exam("C1", "CT", 4))
    assert fates == {"X1": "its CT answers a nearer X-ray", "X2": "paired"}


def test_addendum_signed_after_the_ct_does_not_leak_back() -> None:
    exams = (
        exam("X", "XR", 1, 1.5),
        exam("X", "XR", 1, 8.0, status="addendum", version=2),
        exam("C", "CT", 5),
    )
    assert paired(*exams) == [("X.final.1", "C.final.1")]


def test_addendum_signed_before_the_ct_is_the_forecast() -> None:
    exams = (
        exam("X", "XR", 1, 1.5),
        exam("X", "XR", 1, 3.0, status="addendum", version=2),
        exam("C", "CT", 5),
    )
    assert paired(*exams) == [("X.addendum.2", "C.final.1")]


def test_report_signed_only_after_the_ct_made_no_forecast() -> None:
    fates = fate(exam("X", "XR", 1, 6.0), exam("C", "CT", 5))
    assert fates == {"X": "no signed report before the CT was performed"}


def test_unknown_time_of_signing_makes_no_forecast_but_may_be_an_outcome() -> None:
    unknown = {"signed_at": pd.NaT}
    assert paired(exam("X", "XR", 1, **unknown), exam("C", "CT", 5)) == []
    assert paired(exam("X", "XR", 1), exam("C", "CT", 5, **unknown)) == [("X.final.1", "C.final.1")]


def test_preliminary_read_serves_only_where_the_configuration_accepts_it() -> None:
    exams = (
        exam("X", "XR", 1, 1.5, status="prelim"),
        exam("X", "XR", 1, 9.0, version=2),
        exam("C", "CT", 5),
    )
    assert paired(*exams) == []
    assert paired(*exams, accept_preliminary=True) == [("X.prelim.1", "C.final.1")]


def test_forecast_keeps_the_reader_who_signed_that_version() -> None:
    exams = pd.DataFrame(
        [
            exam("X", "XR", 1, 1.5, reader_code="R1"),
            exam("X", "XR", 1, 8.0, status="corrected", version=2, reader_code="R2"),
            exam("C", "CT", 5),
        ]
    )
    assert list(pair(exams).pairs["reader_code"]) == ["R1"]


def test_ct_without_a_signed_report_is_counted() -> None:
    fates = fate(exam("X", "XR", 1), exam("C", "CT", 5, status="prelim"))
    assert fates == {"X": "the CT has no signed report"}


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        ("is_chest", "not a chest exam"),
        ("is_adult", "younger than the age limit, or age unknown"),
    ],
)
def test_ineligible_xray_is_counted_under_its_reason(column: str, reason: str) -> None:
    assert fate(exam("X", "XR", 1, **{column: False}), exam("C", "CT", 5)) == {"X": reason}


def test_another_patients_ct_answers_nothing() -> None:
    fates = fate(exam("X", "XR", 1), exam("C", "CT", 5, patient_code="P2"))
    assert fates == {"X": "no chest CT of the patient in the window"}


def versions(*each: tuple[str, float, float], modality: str = "CT", **more: object) -> list[dict]:
    """Versions of a study: status, time of performance, time of signing."""
    return [
        exam(modality[0], modality, at, signed, status=status, version=n, **more)
        for n, (status, at, signed) in enumerate(each)
    ]


@pytest.mark.parametrize(
    ("cts", "signed", "hours"),
    [
        ([("final", 18, 19), ("corrected", 10, 20)], 9.0, 2.0),
        ([("final", 18, 19), ("corrected", 10, 20)], 12.0, None),  # it may have seen the CT
        ([("final", 10, 19), ("corrected", 18, 20)], 9.0, 10.0),
        ([("final", 10, 19), ("corrected", 18, 20)], 12.0, None),  # at which time is in doubt
        ([("prelim", 23, 24), ("final", 10, 20)], 9.0, 2.0),  # a draft's time is what was planned
        ([("final", 10, 11), ("addendum", 19, 20)], 9.0, 2.0),  # dictated then
        ([("final", 18, 19), ("addendum", 10, 20)], 9.0, 2.0),  # of before the first signing
        ([("prelim", 10, 11), ("addendum", 12, 13)], 9.0, 4.0),
    ],
)
def test_a_ct_was_performed_when_its_last_signed_version_says_and_no_forecast_may_have_seen_it(
    cts: list[tuple[str, float, float]], signed: float, hours: float | None
) -> None:
    found = pair(pd.DataFrame([exam("X", "XR", 8, signed), *versions(*cts)]))
    assert found.pairs["interval_hours"].tolist() == ([] if hours is None else [hours])
    told = "paired" if hours else "no signed report before the CT was performed"
    assert found.fates["fate"].tolist() == [told]
    assert found.retimed == 1


def test_an_x_ray_is_what_its_last_signed_version_says_else_one_before() -> None:
    told = {"performed_month": "2026-02", "patient_class": "emergency"}
    first, last = versions(("final", 1, 2), ("corrected", 3, 4), modality="XR", **told)
    last |= {"performed_month": "2026-03", "age_band": "unknown", "is_adult": False}
    added = exam("X", "XR", 9, 5, status="addendum", is_chest=False, patient_class="unknown")
    found = pair(pd.DataFrame([first, last, added, exam("C", "CT", 6)]))
    (row,) = found.pairs.itertuples()
    assert (row.interval_hours, row.performed_month, row.age_band) == (3.0, "2026-03", "40-59")
    assert row.patient_class == "emergency"
    other = pair(pd.DataFrame([first, last | {"is_chest": False}, added, exam("C", "CT", 6)]))
    assert other.fates["fate"].tolist() == ["not a chest exam"]
    assert pair(pd.DataFrame([first, exam("C", "CT", 6)])).retimed == 0


def test_flow_adds_up_from_versions_to_pairs() -> None:
    exams = pd.DataFrame(
        [
            exam("X1", "XR", 1),
            exam("X1", "XR", 1, 2.0, status="corrected", version=2),
            exam("X2", "XR", 3, is_chest=False),
            exam("X3", "XR", 20),
            exam("C1", "CT", 4),
        ]
    )
    steps = pair(exams).flow
    assert [s.remaining for s in steps] == [5, 5, 4, 3, 2, 2, 1, 1, 1, 1, 1, 1]
    for before, after in itertools.pairwise(steps):
        assert before.remaining - after.excluded == after.remaining


def test_no_exams_of_one_modality_gives_no_pairs_and_no_error() -> None:
    result = pair(pd.DataFrame([exam("X", "XR", 1)]))
    assert result.pairs.empty
    assert list(result.fates["fate"]) == ["no chest CT of the patient in the window"]


@pytest.mark.parametrize(
    ("sent", "signed", "left"),
    [
        ((None, None), (2.0, 3.0), []),  # signed before it was taken back
        ((None, None), (3.0, 3.0), []),  # no telling: it counts as before
        ((None, None), (4.0, 3.0), ["X.final.1"]),
        ((5.0, 4.0), (2.0, 3.0), ["X.final.1"]),  # sent again later, as it had been signed
        ((3.0, 4.0), (5.0, 2.0), []),  # taken back with the time of an earlier signing
    ],
)
def test_what_was_taken_back_is_used_only_where_it_came_again_later(
    sent: tuple[float | None, float | None], signed: tuple[float, float], left: list[str]
) -> None:
    times = [pd.NaT if hour is None else DAY + pd.Timedelta(hours=hour) for hour in sent]
    exams = pd.DataFrame(
        [
            exam("X", "XR", 1, signed[0], sent_at=times[0]),
            exam("X", "XR", 1, signed[1], sent_at=times[1], status="retracted"),
            exam("C", "CT", 8, sent_at=pd.NaT),
        ]
    )
    result = pair(exams.assign(sent_at=pd.to_datetime(exams["sent_at"], utc=True)))
    assert result.pairs["xr_exam_key"].tolist() == left
    assert result.flow[1].excluded == 2 - len(left)


@pytest.mark.parametrize(
    ("sent", "status", "signed"),
    [
        (10.0, "addendum", 10.0), (10.0, "corrected", 10.0), (1.2, "addendum", 1.5),
        (10.0, "final", 1.5), (None, "corrected", None), (None, "addendum", None),
    ],
)  # fmt: skip
def test_a_change_under_the_old_time_of_signing_is_signed_when_it_was_sent(
    sent: float | None, status: str, signed: float | None
) -> None:
    first = exam("X", "XR", 1, sent_at=DAY + pd.Timedelta(hours=1.6))
    at = pd.NaT if sent is None else DAY + pd.Timedelta(hours=sent)
    change = exam("X", "XR", 1, status=status, version=2, sent_at=at)
    again = change | {"sent_at": DAY + pd.Timedelta(hours=30)}  # exported once more
    exams = pd.DataFrame([first, change, *([again] if sent else [])])
    exams = exams.assign(sent_at=pd.to_datetime(exams["sent_at"], utc=True))
    dated = redated(exams)["signed_at"].iloc[1]
    assert pd.isna(dated) if signed is None else dated == DAY + pd.Timedelta(hours=signed)
    ct = pd.DataFrame([exam("C", "CT", 8)])
    chosen = pair(pd.concat([redated(exams), ct])).pairs["xr_exam_key"].tolist()
    assert chosen == [change["exam_key"] if signed == 1.5 else first["exam_key"]]


@pytest.mark.parametrize(
    ("before", "status", "sent", "signed"),
    [
        ([], "corrected", 10.0, 10.0), ([], "addendum", 10.0, 10.0), ([], "corrected", None, 1.5),
        ([], "addendum", None, None), ([("final", 1.2, 1.3)], "addendum", None, 1.5),
        ([], "final", 10.0, 1.5), ([("prelim", 0.5, 0.6)], "corrected", 10.0, 10.0),
        ([("final", 1.2, 1.3)], "corrected", 10.0, 1.5),
        ([("final", 1.2, 1.3), ("corrected", 1.5, 1.6)], "corrected", 10.0, 10.0),
        ([("final", 1.5, 10.0)], "corrected", 10.0, 10.0),  # both sent once more, at one time
        ([("final", None, 1.0)], "corrected", 10.0, 10.0),
    ],
)  # fmt: skip
def test_a_change_whose_time_of_signing_may_be_that_of_what_it_changed_is_dated_by_its_sending(
    before: list[tuple[str, float | None, float]],
    status: str,
    sent: float | None,
    signed: float | None,
) -> None:
    def at(hour: float | None) -> pd.Timestamp:
        return pd.NaT if hour is None else DAY + pd.Timedelta(hours=hour)

    earlier = [
        exam("X", "XR", 1, status=each, version=n, sent_at=at(then), text_mark=str(n))
        | {"signed_at": at(begun)}
        for n, (each, begun, then) in enumerate(before)
    ]
    change = exam("X", "XR", 1, status=status, version=9, sent_at=at(sent), text_mark="new")
    exams = pd.DataFrame([*earlier, change])
    exams = exams.assign(sent_at=pd.to_datetime(exams["sent_at"], utc=True))
    dated = redated(exams)["signed_at"].iloc[-1]
    assert pd.isna(dated) if signed is None else dated == at(signed)


@pytest.mark.parametrize(
    ("earlier", "changed", "read"),
    [
        ({}, {"status": "corrected"}, "first"),
        ({"sequence": 1}, {"sequence": 2}, "first"),
        ({"sequence": 1}, {"sequence": 2, "text_mark": "d"}, "change"),  # the same words
        ({"signed_at": DAY + pd.Timedelta(hours=1.2)}, {"status": "corrected"}, "change"),
        ({"status": "prelim"}, {"status": "corrected"}, "change"),
    ],
)
def test_other_words_under_an_old_time_of_which_no_sending_is_told_are_no_forecast(
    earlier: dict[str, object], changed: dict[str, object], read: str
) -> None:
    def versions(study: str, modality: str, performed: float) -> list[dict[str, object]]:
        one, other = (
            exam(study, modality, performed, text_mark=mark) | more | {"exam_key": f"{study}.{key}"}
            for key, mark, more in (("first", "d", earlier), ("change", "new", changed))
        )
        return [one, other]

    told = pd.DataFrame([*versions("X", "XR", 1), *versions("C", "CT", 3)])
    told["sent_at"] = pd.to_datetime(told["sent_at"], utc=True)
    found = pair(redated(told))
    assert found.late_versions == (read == "first")
    (pair_,) = found.pairs.itertuples()
    assert (pair_.xr_exam_key, pair_.ct_exam_key) == (f"X.{read}", "C.change")


def test_an_addendum_under_the_old_time_is_read_with_the_report_of_its_ct() -> None:
    report, addendum = exam("C", "CT", 3), exam("C", "CT", 3, status="addendum", text_mark="new")
    told = pd.DataFrame([exam("X", "XR", 1), report, addendum]).assign(shard="s")
    told = redated(told.assign(sent_at=pd.to_datetime(told["sent_at"], utc=True)))
    chosen = pair(told).pairs["ct_exam_key"].tolist()
    assert chosen == [addendum["exam_key"]]
    assert parts(told, chosen)["part_key"].tolist() == [report["exam_key"], addendum["exam_key"]]


def test_an_x_ray_lost_for_want_of_what_was_amended_has_a_fate_of_its_own_and_a_remedy() -> None:
    sent = {"status": "corrected", "sent_at": DAY + pd.Timedelta(hours=30)}
    exams = pd.DataFrame([exam("X", "XR", 1, **sent), exam("Y", "XR", 1, 9), exam("C", "CT", 5)])
    exams = redated(exams.assign(sent_at=pd.to_datetime(exams["sent_at"], utc=True)))
    late, amended = pair(exams).fates.sort_values("study_code", ascending=False)["fate"]
    assert late == "no signed report before the CT was performed"
    assert amended == "changed and sent after the CT; what it changed is not in the export"
    assert LEFT_OUT[amended] == ""  # its remedy says more
    assert "first sent" in remedy(amended)


def test_an_export_without_x_rays_is_counted_as_nothing_and_stops_no_run() -> None:
    fates = pair(pd.DataFrame([exam("C", "CT", 1), exam("D", "CT", 2)])).fates
    assert [len(table) for table in (fates, coverage(fates), written(fates))] == [0, 0, 0]


@pytest.mark.parametrize("words", ["d", "other"])
def test_other_words_under_the_old_status_and_time_of_signing_are_no_forecast(words: str) -> None:
    first = exam("X", "XR", 1, sent_at=DAY + pd.Timedelta(hours=1.6))
    change = exam("X", "XR", 1, version=2, sent_at=DAY + pd.Timedelta(hours=10), text_mark=words)
    dated = redated(pd.DataFrame([first, change, first | {"sent_at": DAY + pd.Timedelta("30h")}]))
    assert dated["signed_at"].eq(first["signed_at"]).tolist() == [True, words == "d", True]


@pytest.mark.parametrize(("least", "known"), [(18, [False, True, False]), (0, [True, True, True])])
def test_an_unknown_age_is_let_in_only_where_no_age_is_asked_for(
    least: int, known: list[bool]
) -> None:
    assert is_adult(pd.Series([17.0, 18.0, None]), least).tolist() == known


def test_the_age_limit_is_the_fate_that_names_its_option() -> None:
    (why,) = fate(exam("X", "XR", 1, is_adult=False), exam("C", "CT", 5)).values()
    assert "min_age_years" in LEFT_OUT[why]


def test_a_pair_says_whether_its_reader_signed_the_ct_too() -> None:
    for reader, own in (("R1", True), ("R2", False), ("", False)):
        exams = [exam("X", "XR", 1), exam("C", "CT", 5, reader_code=reader)]
        assert pair(pd.DataFrame(exams)).pairs["ct_own"].tolist() == [own]
    nobody = [exam("X", "XR", 1, reader_code=""), exam("C", "CT", 5, reader_code="")]
    assert pair(pd.DataFrame(nobody)).pairs["ct_own"].tolist() == [False]
