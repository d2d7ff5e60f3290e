"""Feeds whose author had not seen the readers, against the truth that came with them."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipeline.formats.exams import ExamBatch
from pipeline.formats.exports import TableOptions
from pipeline.formats.exports import read as read_table
from pipeline.formats.fhir import FhirOptions
from pipeline.formats.fhir import read as read_fhir
from pipeline.formats.hl7v2 import FieldMap, Hl7Options
from pipeline.formats.hl7v2 import read as read_hl7
from pipeline.formats.validation import IngestOptions, validate
from pipeline.formats.values import status_of

FEEDS = Path(__file__).parents[1] / "fixtures" / "feeds" / "blind"
NAMES = sorted(p.name for p in FEEDS.iterdir() if p.suffix != ".md" and ".truth" not in p.name)
CHECKS = IngestOptions(
    modalities={"XR": "XR", "CT": "CT"}, chest_pattern="chest", now=pd.Timestamp("2026-12-30T00Z")
)


def spaced(text: str) -> str:
    return " ".join(text.split())


def letters(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.casefold())
    return "".join(c for c in plain if c.isalpha())


def moment(stamp: str) -> pd.Timestamp:
    return pd.Timestamp(stamp).floor("s")


def same_time(found: str, accepted: list[str]) -> bool:
    time = moment(found)
    others = [moment(each) for each in accepted]
    return any(
        time == o if (time.tz is None) == (o.tz is None)
        else time.tz_localize(None) == o.tz_localize(None)
        for o in others
    )  # fmt: skip


def wrong(exam: dict[str, Any], truth: dict[str, Any]) -> list[str]:
    """Name the fields of an exam that are not as the truth has them."""
    reader = letters(exam["reader_name"] or exam["reader_id"].removeprefix("name:"))
    text = spaced(exam["text"])
    checks = {
        "accession": exam["accession"] == truth["accession"],
        "patient": exam["patient_id"] in truth["patient"],
        "modality": truth["modality"] == "other" or exam["modality"] == truth["modality"],
        "performed": same_time(exam["performed_at"], truth["performed"]),
        "signed": same_time(exam["signed_at"], truth["signed"]),
        "status": status_of(exam["status"]) in truth["status"],
        "reader": any(
            reader.startswith(letters(name)) if name else not reader for name in truth["reader"]
        ),
        "words": all(spaced(words) in text for words in truth["words"]),
    }
    return [name for name, holds in checks.items() if not holds]


def read(path: Path, truth: dict[str, Any]) -> Iterator[ExamBatch]:
    """Read a feed as its site would configure it; tables as far as their times are typed."""
    if path.suffix == ".hl7":
        options = Hl7Options(fields=FieldMap.of(truth["fields"]), exam_codes=truth["codes"])
        yield from read_hl7(path, options)
    elif path.suffix == ".json":
        yield from read_fhir(path, FhirOptions(truth["codes"]))
    else:
        kind = path.suffix[1:].replace("psv", "csv")
        table = TableOptions(columns=truth["columns"], exam_codes=truth["codes"], kind=kind)
        seen: set[str] = set()
        for batch in read_table(path, table):
            yield validate(batch, source=path.name, options=CHECKS, seen=seen)


@pytest.mark.parametrize("name", NAMES)
def test_every_report_is_read_as_its_author_meant_it(name: str) -> None:
    path = FEEDS / name
    truth = json.loads((FEEDS / f"{path.stem}.truth.json").read_text(encoding="utf-8"))
    batches = list(read(path, truth))
    exams = pd.concat([batch.exams for batch in batches]).to_dict("records")
    aside = {row for batch in batches for row in batch.quarantined["row"]}
    faults = {}
    for each in truth["exams"]:
        own = [e for e in exams if e["accession"] == each["accession"]]
        own = [e for e in own if each["row"] in (None, e["source_row"])]
        found = [wrong(e, each) for e in own] or [["lost"]]
        if min(map(len, found)):
            faults[each["accession"], each["row"]] = min(found, key=len)
    assert faults == {}
    assert set(truth["aside"]) <= aside
    assert len(exams) >= len(truth["exams"]) > 20
