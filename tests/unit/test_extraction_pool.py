"""Unit: engines vote cell by cell, and what divides them is ranked for review."""

from __future__ import annotations

import pandas as pd
import pytest

from extraction.pool import Reading, review_queue, vote
from extraction.resolution import ReadingError, ReportFinding, outcomes_of, readings_of
from extraction.rules.engine import RuleEngine
from extraction.tables import report_table, statement_table
from extraction.vocabulary import load

VOCABULARY = load()
NAMES = ("pneumonia", "pleural effusion")


def said(**cells: str) -> dict[str, ReportFinding]:
    """One engine's report: pathology → phrase."""
    return {name: ReportFinding(name, phrase, "stated") for name, phrase in cells.items()}


FAILED = {name: ReportFinding(name, None, "failed", "timed out") for name in NAMES}


def pneumonia(*readings: Reading) -> tuple[str | None, str, str]:
    cell = vote(readings, report_ids=["1"], pathologies=["pneumonia"]).cells[0]
    return cell.phrase, cell.outcome, cell.decided


def one(cells: dict[str, ReportFinding]) -> Reading:
    return {"1": cells}


def test_most_ballots_win() -> None:
    likely, absent = one(said(pneumonia="likely")), one(said(pneumonia="absent"))
    assert pneumonia(absent, likely, likely) == ("likely", "stated", "most votes")
    assert pneumonia(likely, likely) == ("likely", "stated", "unanimous")


def test_a_tie_goes_to_the_engine_named_first() -> None:
    likely, absent = one(said(pneumonia="likely")), one(said(pneumonia="absent"))
    assert pneumonia(likely, absent) == ("likely", "stated", "tie: first engine")
    assert pneumonia(absent, likely) == ("absent", "stated", "tie: first engine")


def test_a_tie_does_not_go_to_a_first_engine_that_stands_alone() -> None:
    a, b, c = (one(said(pneumonia=phrase)) for phrase in ("absent", "likely", "possibly"))
    assert pneumonia(a, b, c, c, b) == ("likely", "stated", "tie: first engine")


def test_silence_is_a_ballot_and_failure_is_none() -> None:
    likely, silent, failed = one(said(pneumonia="likely")), one({}), one(FAILED)
    assert pneumonia(likely, silent, silent) == (None, "not mentioned", "most votes")
    assert pneumonia(likely, failed, failed) == ("likely", "stated", "one vote")
    assert pneumonia(failed, failed) == (None, "failed", "no vote")


def test_a_report_an_engine_never_saw_casts_no_ballot() -> None:
    assert pneumonia(one(said(pneumonia="likely")), {}, {}) == ("likely", "stated", "one vote")


def test_the_queue_starts_with_the_unread_then_goes_by_dissensus() -> None:
    both = {"pneumonia": "likely", "pleural effusion": "present"}
    agree = said(**both)
    first = {"same": agree, "one": agree, "two": agree, "lost": FAILED}
    second = {
        "same": agree,
        "one": said(**(both | {"pneumonia": "absent"})),
        "two": said(**{"pneumonia": "absent", "pleural effusion": "absent"}),
        "lost": FAILED,
    }
    voted = vote([first, second], report_ids=["same", "one", "two", "lost"], pathologies=NAMES)
    queue = review_queue(voted)
    assert [(d.rank, d.report_id, d.dissensus) for d in queue] == [
        (1, "lost", 0.0),
        (2, "two", 1.0),
        (3, "one", 0.5),
    ]
    assert [cell.pathology for cell in queue[2].cells] == ["pneumonia"]


@pytest.mark.parametrize("level", ["statement", "report"])
def test_a_table_is_read_back_as_it_was_written(level: str) -> None:
    texts = [
        "FINDINGS: No effusion. IMPRESSION: Small effusion. Likely pneumonia.",
        "Left basilar opacity, XXXX atelectasis.",
        "",
    ]
    outcomes = RuleEngine(VOCABULARY).extract(texts, modality="XR")
    ids = ["1", "2", "3"]
    table = (
        statement_table(ids, texts, outcomes)
        if level == "statement"
        else report_table(ids, outcomes, vocabulary=VOCABULARY, every_state=True)
    )
    read = readings_of(table, vocabulary=VOCABULARY)
    state = {name: cell.phrase or cell.outcome for name, cell in read["1"].items()}
    assert (state["pleural effusion"], state["pneumonia"]) == ("present", "likely")
    assert read["2"]["atelectasis"].outcome == "unmapped"
    assert {cell.outcome for cell in read["3"].values()} == {"failed"}
    assert read["3"]["pneumonia"].reason == "empty text"


def test_a_row_with_unknown_words_is_refused_by_its_number() -> None:
    rows = [("1", "pneumonia", "surely", "stated"), ("2", "gout", "likely", "stated")]
    table = pd.DataFrame(rows, columns=["report_id", "pathology", "phrase", "outcome"])
    with pytest.raises(
        ReadingError, match=r"2 of 2 rows.*row 1: phrase 'surely'.*row 2: pathology"
    ):
        outcomes_of(table, vocabulary=VOCABULARY)
