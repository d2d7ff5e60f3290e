"""What a model may write: reading never fails, and an answer in the asked form reads back."""

from __future__ import annotations

from typing import get_args

import hypothesis.strategies as st
from hypothesis import given

from extraction.neighbours.forms import FORMS, Asked, Form, matched, normalised
from extraction.neighbours.questions import Question
from extraction.neighbours.run import (
    Stated,
    Unreadable,
    UnreadableReason,
    read_answer,
    read_own_phrases,
)

PHRASES = ("almost certain", "about even", "no chance")
WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=12).filter(
    lambda word: not word.casefold().startswith(("probability", "confidence", "guess"))
)
LIKE_ANSWERS = st.lists(
    st.sampled_from(
        [
            "Guess:",
            "Probability:",
            "Confidence:",
            "Beta(",
            "2",
            ",",
            ")",
            "0.5",
            "%",
            "-",
            "\n",
            " ",
        ]
    )
    | st.text(max_size=4),
    max_size=14,
).map("".join)


def asked(form: Form) -> Asked:
    label = "Probability" if form == "probability" else "Confidence"
    return Asked("", form, label)


@given(LIKE_ANSWERS, st.sampled_from(FORMS), st.booleans())
def test_whatever_is_written_is_read_or_has_a_reason(text: str, form: Form, cut: bool) -> None:
    found = read_answer(text, asked(form), phrases=PHRASES, cut=cut)
    if isinstance(found, Unreadable):
        assert found.reason in get_args(UnreadableReason)
        return
    stated = (found.probability, found.phrase, found.alpha)
    assert sum(part is not None for part in stated) == 1
    assert found.probability is None or 0.0 <= found.probability <= 1.0
    assert found.phrase is None or found.phrase in PHRASES
    assert found.alpha is None or (found.alpha > 0 and found.beta is not None and found.beta > 0)
    assert found.guess


@given(WORDS, st.floats(0, 1), st.booleans())
def test_probability_in_the_asked_form_reads_back(guess: str, said: float, labelled: bool) -> None:
    start = "Guess: " if labelled else " "
    found = read_answer(f"{start}{guess}\nProbability: {said!r}\n", asked("probability"))
    assert found == Stated(guess, probability=said)


@given(WORDS, st.floats(0.001, 1000), st.floats(0.001, 1000))
def test_beta_in_the_asked_form_reads_back(guess: str, alpha: float, beta: float) -> None:
    found = read_answer(f"{guess}\nConfidence: Beta({alpha!r}, {beta!r})", asked("beta"))
    assert found == Stated(guess, alpha=alpha, beta=beta)


@given(st.dictionaries(st.sampled_from(PHRASES), st.tuples(*[st.floats(0.01, 99)] * 2), min_size=1))
def test_own_phrases_in_the_asked_form_read_back(listed: dict[str, tuple[float, float]]) -> None:
    text = "".join(f'- "{phrase}", {a!r}, {b!r}\n' for phrase, (a, b) in listed.items())
    assert read_own_phrases(text) == listed


@given(st.text(max_size=20), st.text(max_size=20))
def test_comparison_is_stable_and_symmetric(one: str, other: str) -> None:
    assert normalised(normalised(one)) == normalised(one)
    first = matched(Question("q", "?", (one,)), other).right
    second = matched(Question("q", "?", (other,)), one).right
    assert first == second
