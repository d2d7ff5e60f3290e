"""What identifies a patient stays in the exams; no quarantine row and no message repeats it."""

from __future__ import annotations

import base64
import gzip
import json
import sqlite3
import traceback
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from pipeline.config.sections import Input
from pipeline.errors import RadcalError
from pipeline.formats.exams import ExamBatch
from pipeline.formats.exports import TableOptions
from pipeline.formats.exports import read as read_table
from pipeline.formats.fhir import FhirOptions
from pipeline.formats.fhir import read as read_fhir
from pipeline.formats.hl7v2 import FieldMap, Hl7Options
from pipeline.formats.hl7v2 import read as read_hl7
from pipeline.formats.sources import queried

CANARY = "Quetzalcoatl4711"


def hl7(folder: Path) -> list[ExamBatch]:
    c = CANARY
    head = f"MSH|^~\\&|{c}|{c}|||2026||%s|{c}|P|2.4\rPID|1||{c}^^^{c}||{c}^{c}||{c}|||{c}||{c}\r"
    messages = [
        f"{c} no header at all\r",
        head % "ADT^A01",
        head % "ORU^R01",
        head % "ORU^R01" + f"OBR|1|{c}|{c}|{c}^{c}\rOBX|1|RP|{c}||{c}\r",
        f"MSH|^~\\&|{c}\r",
    ]
    path = folder / "feed.hl7"
    path.write_text("".join(messages), encoding="utf-8")
    return list(read_hl7(path, Hl7Options()))


def fhir(folder: Path) -> list[ExamBatch]:
    report = {"resourceType": "DiagnosticReport", "id": CANARY, "subject": {"display": CANARY}}
    bad = base64.b64encode(CANARY.encode()).decode() + "*"
    lines = [
        json.dumps({**report, "status": "cancelled", "conclusion": CANARY}),
        json.dumps({**report, "status": "final"}),
        json.dumps({**report, "status": "final", "presentedForm": [{"data": bad}]}),
        f'{{"{CANARY}": ',
        json.dumps([CANARY]),
        json.dumps({"resourceType": CANARY}),
    ]
    path = folder / "reports.ndjson"
    path.write_text("\n".join(lines), encoding="utf-8")
    return list(read_fhir(path, FhirOptions()))


@pytest.mark.parametrize(("feed", "rows"), [(hl7, 5), (fhir, 5)], ids=["hl7", "fhir"])
def test_no_quarantine_row_repeats_what_it_set_aside(
    tmp_path: Path, feed: Callable[[Path], list[ExamBatch]], rows: int
) -> None:
    batches = feed(tmp_path)
    kept = pd.concat([batch.exams for batch in batches])
    assert set(kept["status"]) <= {"retracted"}  # a report taken back is no fault of its row
    quarantined = pd.concat([batch.quarantined for batch in batches])
    assert len(quarantined) == rows
    assert CANARY not in quarantined.to_csv()


def test_no_error_repeats_a_field_map(tmp_path: Path) -> None:
    path = tmp_path / "feed.hl7"
    path.write_text(f"MSH|^~\\&|{CANARY}\r", encoding="utf-8")
    with pytest.raises(RadcalError) as caught:
        list(read_hl7(path, Hl7Options(fields=FieldMap.of({"status": "nowhere"}))))
    assert CANARY not in str(caught.value)


CELLS = dict.fromkeys(
    ("accession", "patient_id", "reader_id", "modality", "performed_at", "signed_at", "text"),
    CANARY,
)
TABLE = pd.DataFrame([CELLS | {"accession": f"{CANARY} {i}"} for i in range(3000)])


def cut_gzip(folder: Path) -> list[ExamBatch]:
    packed = gzip.compress(TABLE.to_csv(index=False).encode())
    (folder / "cut.csv.gz").write_bytes(packed[: len(packed) // 2])
    return list(read_table(folder / "cut.csv.gz", TableOptions()))


def damaged_parquet(folder: Path) -> list[ExamBatch]:
    path = folder / "exams.parquet"
    TABLE.to_parquet(path, compression=None)
    content = path.read_bytes()
    path.write_bytes(content[:200] + bytes(700) + content[900:])
    return list(read_table(path, TableOptions()))


def wrong_encoding(folder: Path) -> list[ExamBatch]:
    path = folder / "latin.csv"
    path.write_bytes(TABLE.assign(text=f"Größe {CANARY}").to_csv(index=False).encode("cp1252"))
    return list(read_table(path, TableOptions(encoding="utf-8")))


def no_header(folder: Path) -> list[ExamBatch]:
    path = folder / "rows.csv"
    words = f"Clear; {CANARY}; no effusion; no {CANARY}; normal"
    path.write_text("Titles\n" + f"{CANARY},{CANARY},{words}\n" * 30)
    return list(read_table(path, TableOptions()))


def cut_list(folder: Path) -> list[ExamBatch]:
    path = folder / "exams.json"
    path.write_text(TABLE.to_json(orient="records")[:-9])
    return list(read_table(path, TableOptions(kind="jsonl")))


def broken_list(folder: Path) -> list[ExamBatch]:
    path = folder / "exams.json"
    rows = json.dumps([CELLS | {"text": "Clear"}, CELLS], indent=1)
    path.write_text(rows.replace(f': "{CANARY}"', f": {CANARY}", 20))
    return list(read_table(path, TableOptions(kind="jsonl")))


def lines_without_numbers(folder: Path) -> list[ExamBatch]:
    path = folder / "lines.csv"
    path.write_text(f"{CANARY}," * 6 + CANARY + "\n" + ",".join(CELLS) + "\n")
    return list(read_table(path, TableOptions(columns={"text": "text by number"})))


def undecodable_query(folder: Path) -> list[ExamBatch]:
    with sqlite3.connect(folder / "ris.sqlite") as database:
        TABLE.to_sql("reports", database, index=False)
        broken = "UPDATE reports SET text = CAST(CAST(text AS BLOB) || X'FF' AS TEXT)"
        database.execute(f"{broken} WHERE rowid > 5")
    address = f"sqlite:///{folder / 'ris.sqlite'}"
    asked = Input(format="sql", query="SELECT * FROM reports ORDER BY accession")
    return list(queried(address, asked, batch_rows=1000))


@pytest.mark.parametrize(
    "broken",
    [cut_gzip, damaged_parquet, wrong_encoding, no_header, cut_list, broken_list,
     lines_without_numbers, undecodable_query],
)  # fmt: skip
def test_no_error_of_a_broken_source_repeats_what_it_holds(
    tmp_path: Path, broken: Callable[[Path], list[ExamBatch]]
) -> None:
    with pytest.raises(RadcalError) as caught:
        broken(tmp_path)
    assert CANARY not in "".join(traceback.format_exception(caught.value))
