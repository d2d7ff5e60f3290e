"""Texts that a store has cut: told by the other texts of their export."""

from __future__ import annotations

import base64
import csv
import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from pipeline.formats import fhir, hl7v2
from pipeline.formats.exams import ExamBatch
from pipeline.formats.exports import TableOptions
from pipeline.formats.exports import read as read_table
from pipeline.formats.validation import IngestOptions, validate
from pipeline.formats.whole import NO_IMPRESSION, OTHERWISE, Whole, says_so

LIMIT = 500
OPTIONS = IngestOptions({"CT": "CT"}, "chest", pd.Timestamp("2026-11-30", tz="UTC"))
CELLS = {
    "patient_id": "P7", "reader_id": "r1", "modality": "CT", "exam_name": "CT CHEST",
    "performed_at": "2026-03-01T10:00:00Z", "signed_at": "2026-03-01T11:00:00Z",
}  # fmt: skip
SAID = (
    "Kein größerer Pleuraerguss links.", "The lungs are clear.", "A nodule of 6 mm, unchanged.",
    "Mild atelectasis at both bases, likely from shallow inspiration.", "No consolidation.",
)  # fmt: skip


def report(rng: random.Random, *, most: int = 40) -> str:
    """Invent a report of 60 to some 1,300 characters."""
    body = " ".join(rng.choice(SAID) for _ in range(rng.randint(1, most)))
    return f"FINDINGS: {body}\nIMPRESSION: {rng.choice(SAID)}"


def stored(seed: int, number: int = 60) -> dict[str, str]:
    rng = random.Random(seed)
    return {f"A{n:03}": report(rng) for n in range(number)}


def table(path: Path, texts: dict[str, str]) -> list[ExamBatch]:
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, ["accession", *CELLS, "text"])
        writer.writeheader()
        writer.writerows({"accession": a, **CELLS, "text": text} for a, text in texts.items())
    return list(read_table(path, TableOptions(batch_rows=25, kind="csv")))


def messages(path: Path, texts: dict[str, str]) -> list[ExamBatch]:
    with path.open("w", encoding="utf-8", newline="") as out:
        for accession, text in texts.items():
            written = text.replace("\n", "\\.br\\")
            out.write(
                "MSH|^~\\&|RIS|SITE|||20260301110000||ORU^R01|1|P|2.4\rPID|1||P7\r"
                f"OBR|1||{accession}|X^CT CHEST|||20260301100000|||||||||||||||20260301110000|||F"
                f"|||||||r1^HOPE^FAITH\rOBX|1|TX|R^REPORT||{written}||||||F\r"
            )
    return list(hl7v2.read(path, hl7v2.Hl7Options()))


def resources(path: Path, texts: dict[str, str]) -> list[ExamBatch]:
    path = path.with_suffix(".ndjson")
    with path.open("w", encoding="utf-8") as out:
        for n, (accession, text) in enumerate(texts.items()):
            data = base64.b64encode(text.encode()).decode()
            form = {"presentedForm": [{"contentType": "text/plain", "data": data}]}
            found = {
                "resourceType": "DiagnosticReport", "id": accession, "status": "final",
                "code": {"text": "CT CHEST"}, "subject": {"identifier": {"value": "P7"}},
                "effectiveDateTime": CELLS["performed_at"], "issued": CELLS["signed_at"],
                **(form if n % 2 else {"conclusion": text}),
            }  # fmt: skip
            out.write(json.dumps(found) + "\n")
    return list(fhir.read(path, fhir.FhirOptions()))


def judged(batches: list[ExamBatch]) -> tuple[set[str], list[tuple[str, str]]]:
    kept: set[str] = set()
    aside, seen = list[tuple[str, str]](), set[str]()
    for batch in batches:
        found = validate(batch, source="s", options=OPTIONS, seen=seen)
        kept |= set(found.exams["accession"])
        aside += zip(found.quarantined["reason"], found.quarantined["detail"], strict=True)
    return kept, aside


@pytest.mark.parametrize("write", [table, messages, resources])
@pytest.mark.parametrize("in_bytes", [False, True])
def test_texts_that_a_store_has_cut_are_set_aside_and_the_whole_ones_are_read(
    tmp_path: Path, write: object, *, in_bytes: bool
) -> None:
    texts = stored(1)
    cut = {
        a: t.encode()[:LIMIT].decode(errors="ignore") if in_bytes else t[:LIMIT]
        for a, t in texts.items()
    }
    sizes = {a: len(t.encode() if in_bytes else t) for a, t in texts.items()}
    # One that is whole but ends within three characters of the limit cannot be told from a cut one.
    hurt = {a for a, size in sizes.items() if size >= LIMIT - 3}
    assert 10 < len(hurt) < 50
    kept, aside = judged(write(tmp_path / "s", cut))  # type: ignore[operator]
    assert kept == set(texts) - hurt
    assert Counter(reason for reason, _ in aside) == {"text_cut": len(hurt)}
    assert f"ends at 500 {'bytes' if in_bytes else 'characters'}" in aside[0][1]


@pytest.mark.parametrize("write", [table, messages, resources])
@pytest.mark.parametrize("seed", range(3))
def test_of_an_export_that_cuts_nothing_no_text_is_set_aside(
    tmp_path: Path, write: object, seed: int
) -> None:
    texts = stored(seed)
    assert judged(write(tmp_path / "s", texts)) == (set(texts), [])  # type: ignore[operator]


def test_a_report_that_is_taken_back_needs_no_whole_text(tmp_path: Path) -> None:
    texts = {a: t[:LIMIT] for a, t in stored(1).items()}
    gone = next(a for a, t in texts.items() if len(t) == LIMIT)
    (batch, *rest) = table(tmp_path / "s", texts)
    status = batch.exams["accession"].map({gone: "retracted"}).fillna("final")
    kept, _ = judged([ExamBatch(batch.exams.assign(status=status), batch.quarantined), *rest])
    assert gone in kept


def test_forms_that_are_all_of_one_length_are_no_limit() -> None:
    whole = Whole()
    form = "FINDINGS: {} Heart, lungs, mediastinum, bones and soft tissues without change.\n" * 3
    texts = [form.format(*(f"{n:04}-{n * 7:05}",) * 3) + "Signed by R012" for n in range(200)]
    for text in texts:
        whole.add([("text", text)])
    assert {whole.fault([("text", text)]) for text in texts} == {""}


def test_one_text_alone_that_breaks_off_at_a_round_length_is_enough() -> None:
    rng, whole = random.Random(3), Whole()
    texts = [report(rng) for _ in range(60)]
    long = report(rng, most=400).replace("IMPRESSION", "Impression") * 3
    for text in (*texts, long[:4000]):
        whole.add([("REPORT", text)])
    assert long[3999].isalpha()
    assert whole.fault([("REPORT", long[:4000])]).startswith("REPORT ends at 4,000 characters")
    assert not any(whole.fault([("REPORT", text)]) for text in texts)


def test_what_ends_as_few_do_and_lacks_the_impression_was_cut_and_either_is_counted() -> None:
    whole = Whole()
    rng = random.Random(4)
    cut, terse, unsigned = "FINDINGS: The lungs are cl", "normal chest", "IMPRESSION: No change"
    texts = [*(report(rng) for _ in range(80)), cut, terse, unsigned]
    for text in texts:
        whole.add([("text", text)])
    faults = {text: fault for text in texts if (fault := whole.fault([("text", text)]))}
    assert faults == {cut: "it ends as few do, and lacks the impression that nearly all have"}
    assert Counter(note.told for note in whole.notes) == {OTHERWISE: 2, NO_IMPRESSION: 1}


@pytest.mark.parametrize(
    ("end", "is_said"),
    [
        ("[truncated]", True), ("(continued)", True), ("<report cut off>", True), ("[...]", True),
        ("*** TEXT TRUNCATED ***", True), ("(wird fortgesetzt)", True), ("Fortsetzung folgt", True),
        ("(see above).", False), ("to be continued as needed.", False), ("(more marked).", False),
        ("The aorta appears truncated", False), ("more", False),
    ],
)  # fmt: skip
def test_a_text_may_say_at_its_end_that_it_goes_on(end: str, *, is_said: bool) -> None:
    assert says_so(f"The left lower lobe {end}") is is_said


def test_a_cut_indication_costs_no_report() -> None:
    rng, whole = random.Random(6), Whole()
    rows = [[("INDICATION", report(rng)[:255]), ("FINDINGS", report(rng))] for _ in range(60)]
    for each in rows:
        whole.add(each)
    assert {whole.fault(each) for each in rows} == {""}
    assert whole.fault([("FINDINGS", "The lungs are [truncated]")]) != ""


def test_another_columns_value_is_no_report(tmp_path: Path) -> None:
    texts = stored(2, 6) | {"A900": "CT  Chest", "A901": "-", "A902": "a901", "A903": "Clear."}
    kept, aside = judged(table(tmp_path / "s", texts))
    assert set(texts) - kept == {"A900", "A901", "A902"}
    assert [reason for reason, _ in aside] == ["not_a_report", "missing_text", "not_a_report"]


def test_a_pointer_is_no_report_and_an_exam_that_was_not_made_has_none(tmp_path: Path) -> None:
    texts = stored(2, 6) | {
        "A900": "IMPRESSION: Please see scanned report.", "A901": "Reported under accession A003.",
        "A902": "CT chest not performed, patient refused.", "A903": "No report.",
        "A904": "See report of 3 March, no effusion.", "A905": "CT chest: no change.",
    }  # fmt: skip
    kept, aside = judged(table(tmp_path / "s", texts))
    assert set(texts) - kept == {"A900", "A901", "A902", "A903"}
    assert [why for why, _ in aside] == ["only_attachment"] * 2 + ["no_valid_report"] * 2


@pytest.mark.parametrize("status", ["", "amended", "prelim"])
def test_a_report_in_which_an_addendum_stands_is_one_whatever_its_status(
    tmp_path: Path, status: str
) -> None:
    texts = {"A1": "FINDINGS: Clear.\n\nADDENDUM:\nCT shows a mass.", "A2": "ADDENDUM: none"}
    (batch,) = table(tmp_path / "s", texts)
    stated = replace(batch, exams=batch.exams.assign(status=status))
    found = validate(stated, source="s", options=OPTIONS, seen=set()).exams
    own = {"": "final", "amended": "corrected", "prelim": "prelim"}[status]
    assert found["status"].tolist() == ["prelim" if own == "prelim" else "addendum", own]


def test_rows_of_one_length_part_words_and_are_joined_without_a_lines_end(tmp_path: Path) -> None:
    texts = {accession: text + "." * 60 for accession, text in stored(5, 12).items()}
    path = tmp_path / "feed.hl7"
    with path.open("w", encoding="utf-8", newline="") as out:
        for accession, text in texts.items():
            head = (
                f"MSH|^~\\&|RIS|S|||20260301||ORU^R01|1|P|2.4\rPID|1||P7\rOBR|1||{accession}|X^CT\r"
            )
            pieces = [text[at : at + 100] for at in range(0, len(text), 100)]
            rows = (each.replace("\n", "\\.br\\") for each in pieces)
            out.write(head + "".join(f"OBX|{n}|TX|R||{r}||||||F\r" for n, r in enumerate(rows, 1)))
    (batch,) = hl7v2.read(path, hl7v2.Hl7Options())
    assert dict(zip(batch.exams["accession"], batch.exams["text"], strict=True)) == texts
