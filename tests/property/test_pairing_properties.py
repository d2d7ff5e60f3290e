"""Pairing: equal to a slow twin that walks candidate pairs one by one, and blind to row order."""

from __future__ import annotations

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.tables.pairing import pair

DAY = pd.Timestamp("2026-03-04T00:00:00Z")

Study = tuple[str, str, int, int]
PATIENTS = 8
studies = st.lists(
    st.lists(
        st.tuples(st.sampled_from(["XR", "CT"]), st.integers(0, 30), st.integers(0, 6)),
        max_size=14,
    ),
    min_size=PATIENTS,
    max_size=PATIENTS,
).map(lambda each: [(f"P{i}", *study) for i, own in enumerate(each) for study in own])
"""Studies of several patients: pairing many patients costs what pairing one does."""


def table(drawn: list[Study]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "study_code": f"S{i:02d}",
                "patient_code": patient,
                "reader_code": "R1",
                "exam_key": f"S{i:02d}.final.1",
                "modality": modality,
                "performed_at": DAY + pd.Timedelta(hours=performed),
                "signed_at": DAY + pd.Timedelta(hours=performed + delay),
                "performed_month": "2026-03",
                "status": "final",
                "is_chest": True,
                "is_adult": True,
                "age_band": "40-59",
                "patient_class": "inpatient",
                "patient_sex": "female",
                "site_code": "T-23AB",
                "cues": "",
                "drafted": False,
                "sequence": None,
                "sent_at": None,
                "text_digest": "d",
                "text_mark": "d",
            }
            for i, (patient, modality, performed, delay) in enumerate(drawn)
        ]
    )


def slow_twin(exams: pd.DataFrame) -> set[tuple[str, str]]:
    rows = exams.to_dict("records")
    candidates = sorted(
        (
            ct["performed_at"] - xr["performed_at"],
            *((each["signed_at"], each["performed_at"], each["study_code"]) for each in (xr, ct)),
        )
        for xr in rows
        for ct in rows
        if xr["modality"] == "XR"
        and ct["modality"] == "CT"
        and xr["patient_code"] == ct["patient_code"]
        and pd.Timedelta(0) < ct["performed_at"] - xr["performed_at"] <= pd.Timedelta(hours=12)
        and xr["signed_at"] <= ct["performed_at"]
    )
    used: set[str] = set()
    chosen = set()
    for _, (*_, xr_code), (*_, ct_code) in candidates:
        if xr_code not in used and ct_code not in used:
            used |= {xr_code, ct_code}
            chosen.add((xr_code, ct_code))
    return chosen


@settings(max_examples=16)
@given(studies.filter(bool))
def test_pairs_equal_those_of_the_slow_twin(drawn: list[Study]) -> None:
    exams = table(drawn)
    pairs = pair(exams).pairs
    assert set(zip(pairs["xr_study_code"], pairs["ct_study_code"], strict=True)) == slow_twin(exams)


@settings(max_examples=8)
@given(studies.filter(bool), st.integers(0, 99))
def test_row_order_changes_nothing(drawn: list[Study], seed: int) -> None:
    exams = table(drawn)
    shuffled = exams.sample(frac=1.0, random_state=seed)
    pd.testing.assert_frame_equal(pair(exams).pairs, pair(shuffled).pairs)


@settings(max_examples=8)
@given(studies.filter(bool))
def test_every_xray_has_one_fate_and_the_flow_adds_up(drawn: list[Study]) -> None:
    exams = table(drawn)
    result = pair(exams)
    assert len(result.fates) == int((exams["modality"] == "XR").sum())
    assert result.flow[-1].remaining == len(result.pairs) == sum(result.fates["fate"] == "paired")
