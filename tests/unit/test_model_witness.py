"""Unit: a model's statements held against the words they quote, by hand."""

from __future__ import annotations

import pytest

from extraction.engines.account import Answer, AnswerLine, Disagreement, masked
from extraction.engines.completion import CompletionReader
from extraction.engines.witness import Witness
from extraction.finding import NOT_EVALUABLE, OTHER, Extracted, Failed, NothingStated
from extraction.report import Place, SectionReader
from extraction.tables import ANSWER_COLUMNS, answer_table, queue_table
from extraction.vocabulary import load

VOCABULARY = load()
WITNESS = Witness(VOCABULARY)
READER = CompletionReader(VOCABULARY)
SECTIONS = SectionReader(VOCABULARY)
EFFUSION = "No pleural effusion."
OPACITY = "Left base opacity may represent pneumonia."
REPORT = f"FINDINGS: {EFFUSION} {OPACITY} Rule out tuberculosis."


def read(completion: str, *, text: str = REPORT) -> Answer:
    return READER.read(
        completion, text=text, sections=SECTIONS.read(text), testimony=WITNESS.hear([text])[0]
    )


def line(sentence: str, pathology: str, certainty: str) -> str:
    return f'- "{sentence}", "{pathology}", "{certainty}"\n'


RIGHT = (
    line(EFFUSION, "pleural effusion", "absent")
    + line(OPACITY, "lung opacity", "present")
    + line(OPACITY, "pneumonia", "may represent")
)


@pytest.mark.parametrize(
    ("sentence", "pathology", "certainty", "verdict"),
    [
        (EFFUSION, "pleural effusion", "absent", "supported"),
        (OPACITY, "pneumonia", "may represent", "supported"),
        (EFFUSION, "tuberculosis", "diagnostic of", "unsupported pathology"),
        (EFFUSION, "pneumonia", "may represent", "unsupported pathology"),
        (OPACITY, "pneumonia", "likely", "unsupported certainty"),
        (OPACITY, "pneumonia", OTHER, "unsupported certainty"),
        (OPACITY, "pneumonia", "absent", "contradicted"),
        (EFFUSION, "pleural effusion", "present", "contradicted"),
        (EFFUSION, "pleural effusion", "unlikely", "unsupported certainty"),
        (EFFUSION, "pleural effusion", NOT_EVALUABLE, "contradicted"),
        ("Rule out tuberculosis.", "tuberculosis", "present", "unsupported certainty"),
    ],
)
def test_statement_is_held_against_the_words_it_quotes(
    sentence: str, pathology: str, certainty: str, verdict: str
) -> None:
    at = REPORT.index(sentence)
    place = Place("findings", at, at + len(sentence))
    (heard,) = WITNESS.hear([REPORT])
    assert heard is not None
    assert heard.verdict(place, pathology, certainty) == verdict


def test_right_answer_agrees_with_every_word() -> None:
    answer = read(RIGHT)
    assert isinstance(answer.outcome, Extracted)
    assert answer.disagreement == Disagreement(statements=3)
    assert answer.disagreement.share == 0


def test_pathology_the_quoted_words_do_not_name_is_left_out_and_counted() -> None:
    answer = read(RIGHT + line(EFFUSION, "tuberculosis", "diagnostic of"))
    assert isinstance(answer.outcome, Extracted)
    assert "tuberculosis" not in {finding.pathology for finding in answer.outcome.findings}
    assert answer.rejected == {"unsupported pathology": 1}
    assert answer.disagreement == Disagreement(statements=4, unsupported=1)


def test_answer_that_names_mostly_what_the_words_do_not_is_a_failure() -> None:
    answer = read(line(EFFUSION, "fracture", "absent") + line(OPACITY, "lung mass", "present"))
    assert answer.outcome == Failed("unsupported answer")


def test_none_for_a_report_that_states_something_is_a_failure_and_no_negative() -> None:
    answer = read("- none\n")
    assert answer.outcome == Failed("incomplete answer")
    assert answer.disagreement == Disagreement(uncovered=2)


def test_none_for_a_report_that_states_nothing_is_believed() -> None:
    answer = read("- none\n", text="FINDINGS: Endotracheal tube in place.")
    assert answer.outcome == NothingStated()
    assert answer.disagreement.share is None


def test_sentence_with_a_line_but_not_for_all_it_states_is_uncovered_and_no_failure() -> None:
    answer = read(
        line(EFFUSION, "pleural effusion", "absent") + line(OPACITY, "lung opacity", "present")
    )
    assert isinstance(answer.outcome, Extracted)
    assert (answer.coverage.covered, answer.coverage.partly, answer.coverage.silent) == (1, 1, 0)


def test_disagreement_counts_each_kind_over_what_was_compared() -> None:
    apart = Disagreement(statements=6, unsupported=1, contradicted=2, uncovered=2)
    assert (apart.parted, apart.compared, apart.share) == (5, 8, 5 / 8)


def test_lines_are_kept_without_a_word_of_the_report_that_the_vocabulary_does_not_know() -> None:
    text = "FINDINGS: Mr Quux has no pleural effusion at Zanzibar."
    answer = read(
        line("Mr Quux has no pleural effusion at Zanzibar.", "pleural effusion", "absent")
        + "Quux is well\n"
        + line("Quuxian mass.", "lung mass", "present"),
        text=text,
    )
    table = answer_table(["r1"], [answer])
    assert table.columns.tolist() == list(ANSWER_COLUMNS)
    assert table["became"].tolist() == ["supported", "broken line", "ungrounded sentence"]
    shown = table.to_csv()
    assert "Quux" not in shown
    assert "Zanzibar" not in shown
    assert text[table.loc[0, "start"] : table.loc[0, "end"]].startswith("Mr Quux")


def test_masking_leaves_marks_and_known_words() -> None:
    assert masked('- "Dr X: no mass", 3', {"no", "mass"}) == '- "_ _: no mass", _'


def test_queue_names_failures_first_then_the_most_contested() -> None:
    fine, lone = read(RIGHT), read(RIGHT + line(EFFUSION, "tuberculosis", "present"))
    contested = read(
        line(EFFUSION, "pleural effusion", "present")
        + line(OPACITY, "lung opacity", "absent")
        + line(OPACITY, "pneumonia", "absent")
    )
    queue = queue_table(
        ["fine", "lone", "worst", "failed"], [fine, lone, contested, read("- none")]
    )
    assert queue["report_id"].tolist() == ["failed", "worst", "lone"]
    assert queue["reason"].tolist() == ["incomplete answer", "", ""]


def test_only_the_last_attempt_is_counted() -> None:
    lines = (AnswerLine("contradicted"), AnswerLine("supported", attempt=2))
    answer = Answer(NothingStated(), lines, attempt=2)
    assert answer.disagreement == Disagreement(statements=1)
