"""Completions by hand: what is read as stated, and the reason where nothing can be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from extraction.neighbours.forms import Asked, Form, Prompter, matched
from extraction.neighbours.questions import Question, QuestionError, load_questions
from extraction.neighbours.run import Stated, Unreadable, read_answer, read_own_phrases

PHRASES = ("Almost certain", "about even", "doesn't seem so")


def read(form: Form, completion: str, *, cut: bool = False) -> Stated | str:
    label = "Probability" if form == "probability" else "Confidence"
    found = read_answer(completion, Asked("", form, label), phrases=PHRASES, cut=cut)
    return found.reason if isinstance(found, Unreadable) else found


@pytest.mark.parametrize(
    ("completion", "number"),
    [
        (" Paris\nProbability: 0.9", 0.9),
        ("Guess: Paris\n\nProbability: .75\n\nI am sure because", 0.75),
        ("Paris\nProbability: 85%", 0.85),
        ("Paris\nProbability: 85 %.", 0.85),
        ("Paris\n**Probability:** 1", 1.0),
        ("Paris\nProbability: 0.6 (rather sure)", 0.6),
        ("Paris\nProbability: ~0.5", 0.5),
        ("Paris\nprobability: 1e-3", 0.001),
        ("Paris\nsome words\nProbability: 0.0\nProbability: 0.9", 0.0),
    ],
)
def test_probability_is_read_as_stated(completion: str, number: float) -> None:
    assert read("probability", completion) == Stated("Paris", probability=number)


@pytest.mark.parametrize(
    ("form", "completion", "reason"),
    [
        ("probability", "", "empty answer"),
        ("probability", " \n \n", "empty answer"),
        ("probability", "\nProbability: 0.9", "no guess"),
        ("probability", "Paris", "no confidence"),
        ("probability", "Paris\nProbability:", "no confidence"),
        ("probability", "Paris\nProbability: high", "not a probability"),
        ("probability", "Paris\nProbability: 0.7-0.9", "not a probability"),
        ("probability", "Paris\nProbability: 3/4", "not a probability"),
        ("probability", "Paris\nProbability: 0,9", "not a probability"),
        ("probability", "Paris\nProbability: nan", "not a probability"),
        ("probability", "Paris\nProbability: 85", "outside 0 to 1"),
        ("probability", "Paris\nProbability: -0.1", "outside 0 to 1"),
        ("probability", "Paris\nProbability: 120%", "outside 0 to 1"),
        ("phrase", "Paris\nConfidence: certain", "unlisted phrase"),
        ("phrase", "Paris\nConfidence: almost certain, about even", "unlisted phrase"),
        ("beta", "Paris\nConfidence: 0.9", "not a Beta distribution"),
        ("beta", "Paris\nConfidence: Beta(2)", "not a Beta distribution"),
        ("beta", "Paris\nConfidence: Beta(2, 3) or Beta(4, 5)", "not a Beta distribution"),
        ("beta", "Paris\nConfidence: Beta(0, 3)", "parameter not above 0"),
        ("beta", "Paris\nConfidence: Beta(-1, 3)", "parameter not above 0"),
    ],
)
def test_what_can_not_be_read_has_its_reason(form: Form, completion: str, reason: str) -> None:
    assert read(form, completion) == reason


@pytest.mark.parametrize(
    ("said", "phrase"),
    [
        ("almost certain", "Almost certain"),
        ('"ABOUT  EVEN."', "about even"),
        ("doesn’t seem so", "doesn't seem so"),
    ],
)
def test_phrase_is_found_whatever_its_dress(said: str, phrase: str) -> None:
    assert read("phrase", f"Paris\nConfidence: {said}") == Stated("Paris", phrase=phrase)


@pytest.mark.parametrize("said", ["Beta(2, .5)", "beta( 2.0 , 0.5 ).", "Beta(alpha=2, beta=0.5)"])
def test_beta_is_read_with_or_without_names(said: str) -> None:
    assert read("beta", f"Paris\nConfidence: {said}") == Stated("Paris", alpha=2.0, beta=0.5)


def test_number_that_a_limit_may_have_cut_is_not_believed() -> None:
    assert read("probability", "Paris\nProbability: 0.", cut=True) == "truncated answer"
    assert read("probability", "Par", cut=True) == "truncated answer"
    whole = read("probability", "Paris\nProbability: 0.9\nbecause", cut=True)
    assert whole == Stated("Paris", probability=0.9)


def test_own_phrases_keep_usable_lines_only() -> None:
    listed = (
        '- "Sure", 9, 1\n2. “No way”, 1, 20\n- "sure", 2, 2\n- "odd", 0, 1\n- maybe, 1, 1\ntext'
    )
    assert read_own_phrases(listed) == {"sure": (9.0, 1.0), "no way": (1.0, 20.0)}


@pytest.mark.parametrize(
    ("guess", "right", "by"),
    [
        ("the MITOCHONDRION.", True, "match"),
        ("mitochondrión", True, "match"),
        ("nucleus", False, "listed"),
        ("ribosome", False, "unlisted"),
        ("...", False, "unlisted"),
    ],
)
def test_comparison_of_words(guess: str, right: bool, by: str) -> None:
    question = Question("q", "What?", ("mitochondrion",), ("Nucleus",))
    verdict = matched(question, guess)
    assert (verdict.right, verdict.by) == (right, by)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("3.5", "35", False),
        ("-5", "5", False),
        ("1,000", "1000", True),
        ("x-ray", "X ray", True),
        ("Down's syndrome", "Downs syndrome", True),
        ("a", "the", False),
        ("50%", "50", False),
    ],
)
def test_digits_and_signs_count_and_dress_does_not(one: str, other: str, same: bool) -> None:
    assert matched(Question("q", "?", (one,)), other).right is same


def lines(tmp_path: Path, *rows: object) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text(
        "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)
    )
    return path


def test_every_layout_gives_right_and_wrong_answers(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        {"question": "a?", "correct_answer": "x", "distractor1": "y", "distractor2": "", "id": 7},
        {"question": "b?", "best_answer": "x", "correct_answers": ["x", "z"], "type": "t"},
        {"Question": "c?", "Best Answer": "x", "Correct Answers": "x; z", "Incorrect Answers": "y"},
        {"question": "d?", "mc1_targets": {"choices": ["x", "y"], "labels": [1, 0]}},
        {"question": "e?", "answers": ["x"], "wrong": ["y"]},
    )
    questions, problems = load_questions(path)
    assert problems == []
    assert [q.question_id for q in questions] == ["7", "line 2", "line 3", "line 4", "line 5"]
    assert [q.right for q in questions] == [("x",), ("x", "z"), ("x", "z"), ("x",), ("x",)]
    assert [q.wrong for q in questions] == [("y",), (), ("y",), ("y",), ("y",)]


def test_every_unusable_line_is_named_with_its_fault(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        {"question": "a?", "answers": ["x"], "id": "one"},
        {"question": "b?", "answers": ["x"], "id": "one"},
        {"question": "c?", "answers": []},
        {"question": "d?", "mc1_targets": {"choices": ["x", "y"], "labels": [1]}},
        {"question": "e?", "mc1_targets": {"choices": ["x"], "labels": [0]}},
        {"question": 5, "answers": ["x"]},
        "{",
    )
    questions, problems = load_questions(path)
    assert [q.question_id for q in questions] == ["one"]
    starts = ["line 2: its id is that of an earlier", "line 3: answers: ", "line 4: mc1_targets: "]
    starts += ["line 5: no right answer", "line 6: question: ", "line 7: not a JSON object"]
    assert len(problems) == len(starts)
    for problem, start in zip(problems, starts, strict=True):
        assert problem.startswith(start)


def test_file_without_a_question_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match=r"no usable question, 1 unusable line\(s\); line 1"):
        load_questions(lines(tmp_path, "{"))


def test_prompt_shows_phrases_and_ends_at_the_guess() -> None:
    question = Question("q", "Which\nplanet?", ("Mars",), ("Venus", "Earth"))
    asked = Prompter().question(question, "phrase", phrases=PHRASES)
    assert "; ".join(PHRASES) in asked.prompt
    assert "Question: Which planet?" in asked.prompt
    assert asked.prompt.endswith("\nGuess:")
