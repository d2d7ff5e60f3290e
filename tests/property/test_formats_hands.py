"""One report, however a sender writes it down, is one exam with the same cells."""

from __future__ import annotations

import random
from pathlib import Path

import pandas as pd
import pytest

from pipeline.formats.hl7v2 import Hl7Options, read
from tests.fixtures.feeds.hl7_writer import (
    Hand,
    Report,
    any_hand,
    any_report,
    feed,
    message,
    named_in_text,
)

STATUS = {"final": "final", "prelim": "prelim", "corrected": "corrected"}


def read_all(path: Path) -> tuple[pd.DataFrame, list[str]]:
    batches = list(read(path, Hl7Options(encoding="utf-8")))
    aside = [reason for batch in batches for reason in batch.quarantined["reason"]]
    return pd.concat([batch.exams for batch in batches]), aside


def expected(report: Report, hand: Hand) -> dict[str, str]:
    told = named_in_text(report) if hand.reader_at == "text" else report
    identifier, family, given = report.reader
    if hand.reader_at == "text":
        identifier, family, given = "name:QUELLBACH FAITH", "Quellbach", "Faith"
    written = {
        "accession": report.accession,
        "patient_id": report.patient,
        "patient_name": "^".join(report.name),
        "reader_id": identifier,
        "reader_name": f"{family}^{given}",
        "performed_at": f"2026-03-{report.performed[6:8]}T10:00:00",
        "signed_at": f"2026-03-{report.signed[6:8]}T11:30:00",
        "status": report.status,
        "text": "\n".join(told.lines),
        "modality": "XR",
        "patient_class": "I",
    }
    # A sender writes what its character set lacks as a question mark.
    declared = hand.encoding
    return {k: v.encode(declared, "replace").decode(declared) for k, v in written.items()}


@pytest.mark.parametrize("seed", range(60))
def test_every_hand_gives_the_same_exam(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    hand = any_hand(rng)
    reports = [any_report(rng, n) for n in range(3)]
    path = tmp_path / "feed.hl7"
    path.write_bytes(feed(reports, hand))
    exams, aside = read_all(path)
    assert aside == []
    for found, report in zip(exams.to_dict("records"), reports, strict=True):
        wanted = expected(report, hand)
        if hand.kind == "ED":  # the attachment has a character set of its own
            wanted["text"] = "\n".join(
                (named_in_text(report) if hand.reader_at == "text" else report).lines
            )
        assert {name: found[name] for name in wanted} == wanted, hand


@pytest.mark.parametrize("seed", range(8))
def test_order_and_number_of_files_change_nothing(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    pieces = [message(any_report(rng, n), any_hand(rng)).encode() for n in range(12)]
    whole, parts = tmp_path / "whole.hl7", tmp_path / "parts"
    whole.write_bytes(b"".join(pieces))
    rng.shuffle(pieces)
    parts.mkdir()
    for n in range(4):
        (parts / f"{n}.hl7").write_bytes(b"".join(pieces[3 * n : 3 * n + 3]))
    tables = [
        read_all(source)[0].drop(columns="source_row").sort_values("exam_id", ignore_index=True)
        for source in (whole, parts)
    ]
    pd.testing.assert_frame_equal(*tables)
