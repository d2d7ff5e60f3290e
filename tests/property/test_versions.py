"""Which version of a report counts: decided by the export's content, never by codes or order."""

from __future__ import annotations

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.tables.pairing import pair
from pipeline.tables.versions import contradictory, in_order

DAY = pd.Timestamp("2026-03-04T00:00:00Z")
versions = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from([None, 1.0, 2.0]),
        st.sampled_from(["final", "corrected"]),
        st.sampled_from(["", "R1", "R2"]),
        st.sampled_from("ab"),
    ),
    min_size=1,
    max_size=6,
)


Drawn = list[tuple[int, float | None, str, str, str]]
places = st.lists(versions, min_size=4, max_size=8)
"""Versions of several X-rays, each of a patient of its own: pairing many costs what one costs."""


def table(drawn: list[Drawn], labels: list[int]) -> pd.DataFrame:
    rows = [
        {"patient_code": f"P{place}", "study_code": f"X{place}", "modality": "XR", "hour": 1,
         "signed": 2 + signed, "sequence": sequence, "status": status, "reader_code": reader,
         "text_digest": text, "exam_key": f"X{place}.{status}.{label}"}
        for place, of_one in enumerate(drawn)
        for label, (signed, sequence, status, reader, text) in zip(labels, of_one, strict=False)
    ]  # fmt: skip
    cts = [
        {"patient_code": f"P{place}", "study_code": f"C{place}", "modality": "CT", "hour": 5,
         "signed": 6, "sequence": None, "status": "final", "reader_code": "R9",
         "text_digest": "ct", "exam_key": f"C{place}.final.1"}
        for place in range(len(drawn))
    ]  # fmt: skip
    frame = pd.DataFrame([*rows, *cts]).assign(
        performed_month="2026-03", is_chest=True, is_adult=True,
        age_band="40-59", patient_class="inpatient", patient_sex="unknown",
        site_code="unknown", cues="", drafted=False, sent_at=pd.NaT,
        text_mark=lambda f: f["text_digest"],
    )  # fmt: skip
    hours = {"performed_at": frame.pop("hour"), "signed_at": frame.pop("signed")}
    return frame.assign(**{name: DAY + pd.to_timedelta(h, unit="h") for name, h in hours.items()})


@settings(max_examples=15)
@given(places, st.permutations(range(6)), st.permutations(range(6)), st.integers(0, 99))
def test_labels_and_row_order_choose_no_version(
    drawn: list[Drawn], one: list[int], other: list[int], seed: int
) -> None:
    first = pair(table(drawn, one))
    second = pair(table(drawn, other).sample(frac=1, random_state=seed))
    told = []
    for labels, result in ((one, first), (other, second)):
        words = table(drawn, labels).set_index("exam_key")[["text_digest", "reader_code"]]
        pairs = result.pairs.sort_values("xr_study_code")
        told.append((dict(result.fates[["study_code", "fate"]].to_numpy()),
                     words.loc[pairs["xr_exam_key"]].to_numpy().tolist()))  # fmt: skip
    assert len(told[0][0]) == len(drawn)
    assert told[0] == told[1]


@settings(max_examples=15)
@given(places)
def test_a_forecast_contradicts_no_version_of_its_own_place(drawn: list[Drawn]) -> None:
    exams = table(drawn, list(range(6)))
    pairs = pair(exams).pairs.set_index("xr_study_code")["xr_exam_key"]
    apart = contradictory(exams)
    for study, versions_of_it in exams[exams["modality"] == "XR"].groupby("study_code"):
        last = in_order(versions_of_it).iloc[-1]
        assert pairs.get(study) == (None if apart[last.name] else last["exam_key"])
