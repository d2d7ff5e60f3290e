"""Observations: four pairs small enough to write the answer down."""

from __future__ import annotations

import pandas as pd
import pytest

from calibration.survey import builtin
from pipeline.tables.observations import (
    OTHERS,
    QUIET,
    BlockTables,
    Labelling,
    alternatives,
    ct_labels,
    observe,
    tallied,
)

PHRASES = builtin("diagnostic-certainty-scale")


def pairs(*readers: str) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "xr_study_code": f"X{i}",
                "ct_study_code": f"C{i}",
                "xr_exam_key": f"X{i}.final.1",
                "ct_exam_key": f"C{i}.final.1",
                "patient_code": f"P{i}",
                "reader_code": reader,
                "interval_hours": 3.0,
                "patient_class": "inpatient",
                "age_band": "40-59",
                "patient_sex": "female",
                "site_code": "T-23AB",
                "performed_month": "2026-03",
                "draft": "no other author named",
            }
            for i, reader in enumerate(readers)
        ]
    )


def says(*rows: tuple[str, str | None, str]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"exam_key": f"{study}.final.1", "pathology": "pneumonia", "phrase": p, "outcome": o}
            for study, p, o in rows
        ]
    )


def readings(n: int, *failed: str) -> pd.DataFrame:
    keys = [f"{m}{i}.final.1" for m in "XC" for i in range(n)]
    return pd.DataFrame(
        {
            "exam_key": keys,
            "outcome": ["failed" if k.split(".")[0] in failed else "read" for k in keys],
        }
    )


def test_forecast_meets_its_outcome() -> None:
    found = observe(
        pairs("R1"),
        says(("X0", "likely", "stated"), ("C0", "present", "stated")),
        readings(1),
        labelling=Labelling(PHRASES),
    )
    row = found.observations.iloc[0]
    assert (row["phrase"], row["ct_phrase"], row["label"]) == ("likely", "present", 1.0)
    assert found.left_out == {"a report of the pair could not be read": 0}


def test_xray_silence_is_no_forecast() -> None:
    found = observe(
        pairs("R1"), says(("C0", "present", "stated")), readings(1), labelling=Labelling(PHRASES)
    )
    assert found.observations.empty


def test_ct_silence_counts_as_absent_or_leaves_the_forecast_out() -> None:
    said = says(("X0", "likely", "stated"))
    absent = observe(pairs("R1"), said, readings(1), labelling=Labelling(PHRASES))
    assert list(absent.observations["label"]) == [0.0]
    assert list(absent.observations["ct_phrase"]) == ["(not mentioned)"]
    left_out = observe(
        pairs("R1"), said, readings(1), labelling=Labelling(PHRASES, silence="exclude")
    )
    assert left_out.observations.empty
    assert left_out.left_out["the CT does not mention the finding"] == 1


def test_unread_ct_is_not_taken_for_silence() -> None:
    found = observe(
        pairs("R1"),
        says(("X0", "likely", "stated")),
        readings(1, "C0"),
        labelling=Labelling(PHRASES),
    )
    assert found.observations.empty
    assert found.left_out == {"a report of the pair could not be read": 1}


def test_a_purged_report_is_neither_silent_nor_unread() -> None:
    read = readings(3, "C1").replace({"outcome": {"failed": "purged"}})
    read.loc[read["exam_key"] == "X2.final.1", "outcome"] = "failed"
    found = observe(pairs("R1", "R2", "R3"), says(("X1", "likely", "stated")), read,
                    labelling=Labelling(PHRASES))  # fmt: skip
    assert found.left_out == {
        "a report of the pair could not be read": 1,
        "a report of the pair was purged": 1,
    }
    assert [(s.remaining, s.excluded) for s in found.flow] == [(2, 1), (1, 1), (1, 0)]


@pytest.mark.parametrize(
    ("xray", "ct", "reason"),
    [
        ((None, "not evaluable"), ("present", "stated"), "the X-ray finding was not evaluable"),
        (
            (None, "unmapped"),
            ("present", "stated"),
            "the X-ray's certainty phrase is not in the vocabulary",
        ),
        (
            ("cannot exclude", "stated"),
            ("present", "stated"),
            "the X-ray's phrase has no surveyed meaning",
        ),
        (
            ("likely", "stated"),
            (None, "not evaluable"),
            "the CT called the finding not evaluable",
        ),
        (
            ("likely", "stated"),
            (None, "unmapped"),
            "the CT's certainty phrase is not in the vocabulary",
        ),
        (("likely", "stated"), ("versus", "stated"), "the CT's phrase has no surveyed meaning"),
    ],
)
def test_forecast_left_out_is_counted_under_its_reason(
    xray: tuple[str | None, str], ct: tuple[str | None, str], reason: str
) -> None:
    found = observe(
        pairs("R1"), says(("X0", *xray), ("C0", *ct)), readings(1), labelling=Labelling(PHRASES)
    )
    assert found.observations.empty
    assert found.left_out == {"a report of the pair could not be read": 0, reason: 1}


def test_forecast_without_a_named_reader_is_left_out() -> None:
    found = observe(
        pairs(""),
        says(("X0", "likely", "stated"), ("C0", "present", "stated")),
        readings(1),
        labelling=Labelling(PHRASES),
    )
    assert found.left_out["no reader is named"] == 1


def test_uncertain_ct_hardens_under_the_probability_rule() -> None:
    # numerics: "likely" has mean .774 and P(c ≥ ½) = .918.
    assert ct_labels(PHRASES, rule="mean")["likely"] == pytest.approx(0.774, abs=5e-4)
    assert ct_labels(PHRASES, rule="probability")["likely"] == pytest.approx(0.918, abs=5e-4)
    for rule in ("mean", "probability"):
        labels = ct_labels(PHRASES, rule=rule)
        assert (labels["absent"], labels["present"]) == (0.0, 1.0)


def test_tally_counts_cells() -> None:
    found = observe(
        pairs("R1", "R1", "R2"),
        says(
            ("X0", "likely", "stated"),
            ("X1", "likely", "stated"),
            ("X2", "likely", "stated"),
            ("C0", "present", "stated"),
            ("C1", "present", "stated"),
        ),
        readings(3),
        labelling=Labelling(PHRASES),
    )
    cells = tallied(found.observations)
    rows = cells[["reader_code", "label_value", "count"]].to_records(index=False).tolist()
    assert rows == [("R1", 1.0, 2.0), ("R2", 0.0, 1.0)]


def test_flow_goes_on_to_pairs_that_were_read_and_name_a_reader() -> None:
    found = observe(
        pairs("R1", "", "R2"),
        says(("X0", "likely", "stated")),
        readings(3, "C2"),
        labelling=Labelling(PHRASES),
    )
    assert [(s.remaining, s.excluded) for s in found.flow] == [(3, 0), (2, 1), (1, 1)]


def test_no_pairs_and_no_findings_give_no_observations_and_no_error() -> None:
    columns = ("exam_key", "pathology", "phrase", "outcome")
    nothing = pd.DataFrame({name: pd.Series(dtype="str") for name in columns})
    found = observe(pairs("R1").iloc[:0], nothing, nothing, labelling=Labelling(PHRASES))
    assert found.observations.empty
    assert tallied(found.observations).empty


def test_cts_that_the_readers_signed_themselves_are_left_out_in_one_of_the_choices() -> None:
    every = pairs("R1", "R1", "R2").assign(ct_own=[True, False, False])
    words = (("X", "likely"), ("C", "present"))
    said = [(f"{kind}{i}", word, "stated") for i in range(3) for kind, word in words]
    block = BlockTables(
        pairs=every,
        window_pairs=every.assign(window_hours=6.0),
        report_findings=says(*said),
        readings=readings(3).assign(recommends_ct=False),
        returned=pd.DataFrame(columns=["pair_id", "pathology", "answer"]),
    )
    found = alternatives(block, Labelling(PHRASES)).groupby("choice")["count"].sum()
    assert (found[OTHERS], found[QUIET]) == (2.0, 3.0)
