"""The shared feeds, where they are at hand: everything accounted for, readers attributed."""

from __future__ import annotations

import csv
import os
import random
import re
from pathlib import Path

import pandas as pd
import pytest

from pipeline.formats.exams import ExamBatch
from pipeline.formats.fhir import FhirOptions
from pipeline.formats.fhir import read as read_fhir
from pipeline.formats.hl7v2 import Hl7Options, read
from pipeline.formats.readers import signer

SHARED = Path(os.environ.get("RADCAL_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
FEED = SHARED / "hl7" / "messages.hl7"

pytestmark = pytest.mark.skipif(not FEED.is_file(), reason="the shared feeds are not here")


def options() -> Hl7Options:
    with (SHARED / "hl7" / "exam_code_modality.csv").open(encoding="utf-8") as handle:
        codes = {row["Exam Code"]: row["Modality"] for row in csv.DictReader(handle)}
    return Hl7Options(exam_codes=codes)


def exams(batches: list[ExamBatch]) -> pd.DataFrame:
    return pd.concat([batch.exams for batch in batches], ignore_index=True)


def test_every_message_is_an_exam_or_has_a_reason() -> None:
    batches = list(read(FEED, options()))
    quarantined = pd.concat([batch.quarantined for batch in batches])
    messages = len(re.findall(rb"(?:^|[\r\n])MSH\|", FEED.read_bytes()))
    rows = set(exams(batches)["source_row"]) | set(quarantined["row"])
    assert rows == set(range(1, messages + 1))
    assert set(quarantined["reason"]) <= {"no_report_text"}


def test_the_reader_is_attributed_wherever_one_is_named() -> None:
    found = exams(list(read(FEED, options())))
    named = found[
        (found["reader_source"] != "") | found["text"].map(lambda t: signer(t) is not None)
    ]
    assert (named["reader_id"] != "").mean() >= 0.95
    assert (found["reader_conflict"] == "1").mean() <= 0.01


def test_a_shuffled_and_split_feed_gives_the_same_exams(tmp_path: Path) -> None:
    whole = exams(list(read(FEED, options())))
    messages = re.split(rb"(?<=\r)(?=MSH\|)", FEED.read_bytes())
    random.Random(5).shuffle(messages)
    (tmp_path / "a.hl7").write_bytes(b"".join(messages[:200]).replace(b"\r", b"\r\n"))
    (tmp_path / "b.hl7").write_bytes(b"".join(b"\x0b" + m + b"\x1c\r" for m in messages[200:]))
    parts = exams(list(read(tmp_path, options())))
    columns = [name for name in whole.columns if name != "source_row"]
    keys = ["exam_id", "patient_id"]
    pd.testing.assert_frame_equal(
        whole.sort_values(keys)[columns].reset_index(drop=True),
        parts.sort_values(keys)[columns].reset_index(drop=True),
    )


def test_every_fhir_report_is_read_and_the_known_mismatch_flagged() -> None:
    found = exams(list(read_fhir(SHARED / "fhir", FhirOptions())))
    assert len(found) == 52
    example = found[found["exam_id"].str.contains("chest-xray-report")]
    assert example["reader_name"].item() == "Bone^Ronald"
    assert example["reader_conflict"].item() == "1"
