"""Unit: where the rules are in doubt, and how sure a model was, by hand."""

from __future__ import annotations

import pytest

from extraction.engines.witness import guided, margins
from extraction.prompt.forms import AnswerForm
from extraction.rules.engine import RuleEngine

RULES = RuleEngine()
LINES, JSON = AnswerForm(), AnswerForm("number", "json")
ANSWER = '- "Möglich: likely edema.", "pulmonary edema", "most likely"\n'


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("No pleural effusion.", []),
        ("Possible pneumonia.", ["hedged"]),
        ("Opacity, XXXX atelectasis.", ["hedged"]),
        ("Rule out pneumonia.", ["unstated"]),
        ("Limited evaluation for pneumothorax.", ["unstated"]),
        ("No right effusion. Small left effusion.", ["conflicting", "conflicting"]),
        ("No right effusion. Possible left effusion.", ["hedged"]),
    ],
)
def test_sentence_is_in_doubt_for_a_reason(sentence: str, why: list[str]) -> None:
    (read,) = guided(RULES, [f"FINDINGS: Small hiatal hernia. {sentence}"])
    assert list(read.doubts.values()) == why


def test_report_that_the_rules_cannot_read_is_in_no_doubt() -> None:
    (read,) = guided(RULES, [""])
    assert (read.doubts, read.sentences) == ({}, 0)


def test_margin_is_the_smallest_over_the_tokens_of_the_certainty_alone() -> None:
    # "most" is 2.0 ahead and " likely" 0.5; the quoted "likely" is a toss-up and no matter
    places = (
        {'- "M': -0.1, "x": -9.0}, {"\ufffd": -0.1, "x": -9.0}, {"\ufffd": -0.1, "x": -9.0},
        {"glich": -0.1, "x": -9.0}, {":": -0.1, "x": -9.0}, {" likely": -0.7, " no": -0.7},
        {' edema.", "pulmonary edema", "': -0.1, "x": -3.0}, {"most": -0.5, "very": -2.5},
        {" likely": -0.5, " unlikely": -1.0}, {'"\n': -0.1, "x": -0.2},
    )  # fmt: skip
    assert margins(ANSWER, LINES, places, most=9) == [pytest.approx(0.5)]


def test_certainty_that_only_the_grammar_chose_has_a_margin_below_nothing() -> None:
    answer = '{"statements": [{"sentence": 1, "pathology": "fracture", "certainty": "absent"}]}'
    at = answer.index("absent")
    places = ({answer[:at]: 0.0}, {"absent": -4.0, "none": -1.5}, {answer[at + 6 :]: 0.0})
    assert margins(answer, JSON, places, most=9) == [pytest.approx(-2.5)]


def test_margin_of_tokens_that_are_not_the_answer_s_is_unknown() -> None:
    assert margins(ANSWER, LINES, ({"other": -0.1, "x": -9.0},), most=9) == [None]
    assert margins(ANSWER, LINES, (), most=9) == [None]
