"""Questions, and how they are asked: files read, prompts completed, replies kept beside the output.

| layout | known by | right answers | wrong answers |
|---|---|---|---|
| SciQ | ``correct_answer`` | it | ``distractor1`` … ``distractor3`` |
| TruthfulQA, generation | ``best_answer`` or ``correct_answers`` | both | ``incorrect_answers`` |
| TruthfulQA, multiple choice | ``mc1_targets``, ``mc2_targets`` | label 1 | label 0 |
| plain | ``answers`` | all of them | ``wrong`` |

Every layout has ``question``; ``id`` is optional, and the line's number otherwise. Names are read
without regard to case and spaces ("Best Answer"), lists may be one text parted by semicolons, as in
TruthfulQA's own table. Other fields are not read.

A run that stopped goes on where it was: one JSON line per reply, under the hash of model, prompt
and limits. Failures are not kept; a line that a killed run left half written is passed over.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from extraction.engines import completer as engines
from extraction.engines.completer import Completer, Completion, Reply
from extraction.engines.ledger import digest_of, kept_line, kept_replies
from extraction.errors import ExtractionError, explained


class QuestionError(ExtractionError):
    """A question file cannot be used; the message says which lines and why."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question with what counts as right.

    Attributes
    ----------
    question_id
        The file's own name for it, or ``line 17``.
    text
        As it is put.
    right, wrong
        Answers known to be right, at least one, and answers known to be wrong.
    """

    question_id: str
    text: str
    right: tuple[str, ...]
    wrong: tuple[str, ...] = ()


def _parted(value: object) -> object:
    return [part for part in value.split(";") if part.strip()] if isinstance(value, str) else value


def _named(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
_Texts = Annotated[tuple[_Text, ...], BeforeValidator(_parted)]


class _Layout(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    id: Annotated[_Text | None, BeforeValidator(_named)] = None
    question: _Text

    @abstractmethod
    def answers(self) -> tuple[Sequence[str], Sequence[str]]:
        """Right and wrong answers."""


class _SciQ(_Layout):
    correct_answer: _Text
    distractor1: str = ""
    distractor2: str = ""
    distractor3: str = ""

    def answers(self) -> tuple[Sequence[str], Sequence[str]]:
        wrong = (self.distractor1, self.distractor2, self.distractor3)
        return (self.correct_answer,), [text.strip() for text in wrong if text.strip()]


class _TruthfulQA(_Layout):
    best_answer: str = ""
    correct_answers: _Texts = ()
    incorrect_answers: _Texts = ()

    def answers(self) -> tuple[Sequence[str], Sequence[str]]:
        best = self.best_answer.strip()
        return (*([best] if best else []), *self.correct_answers), self.incorrect_answers


class _Targets(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    choices: tuple[_Text, ...] = Field(min_length=1)
    labels: tuple[Annotated[int, Field(ge=0, le=1)], ...]

    @model_validator(mode="after")
    def _agree(self) -> _Targets:
        if len(self.choices) != len(self.labels):
            raise ValueError(f"{len(self.choices)} choices but {len(self.labels)} labels")
        return self


class _Choices(_Layout):
    mc1_targets: _Targets | None = None
    mc2_targets: _Targets | None = None

    def answers(self) -> tuple[Sequence[str], Sequence[str]]:
        targets = self.mc1_targets or self.mc2_targets
        pairs = list(zip(targets.choices, targets.labels, strict=True)) if targets else []
        return [text for text, label in pairs if label], [t for t, label in pairs if not label]


class _Plain(_Layout):
    answers_: _Texts = Field(alias="answers", min_length=1)
    wrong: _Texts = ()

    def answers(self) -> tuple[Sequence[str], Sequence[str]]:
        return self.answers_, self.wrong


_KNOWN: tuple[tuple[frozenset[str], type[_Layout]], ...] = (
    (frozenset({"correct_answer"}), _SciQ),
    (frozenset({"mc1_targets", "mc2_targets"}), _Choices),
    (frozenset({"best_answer", "correct_answers"}), _TruthfulQA),
    (frozenset({"answers"}), _Plain),
)


def load_questions(path: Path) -> tuple[list[Question], list[str]]:
    """Read a question file; give the usable questions, and a line on every one that is not.

    Raises
    ------
    QuestionError
        If the file cannot be read or holds no usable question.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise QuestionError(
            f"{path.name}: cannot be read ({type(error).__name__}); give JSON lines in UTF-8."
        ) from None
    questions: dict[str, Question] = {}
    problems = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        found = _question(line, number)
        if isinstance(found, str):
            problems.append(f"line {number}: {found}")
        elif found.question_id in questions:
            problems.append(f"line {number}: its id is that of an earlier question")
        else:
            questions[found.question_id] = found
    if not questions:
        first = f"; {problems[0]}" if problems else ""
        raise QuestionError(
            f"{path.name}: no usable question, {len(problems)} unusable line(s){first}."
        )
    return list(questions.values()), problems


def _question(line: str, number: int) -> Question | str:
    """Read one line: a question, or what is wrong with it, never quoting its text."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return "not a JSON object"
    if not isinstance(record, dict):
        return "not a JSON object"
    named = {"_".join(str(key).lower().split()): value for key, value in record.items()}
    layout = next((model for keys, model in _KNOWN if keys & named.keys()), None)
    if layout is None:
        return "no known layout: needs correct_answer, correct_answers, mc1_targets or answers"
    try:
        read = layout.model_validate(named)
    except ValidationError as error:
        return explained(error)[0]
    right, wrong = (tuple(dict.fromkeys(texts)) for texts in read.answers())
    if not right:
        return "no right answer"
    return Question(read.id or f"line {number}", read.question, right, wrong)


_BATCH: Final = 64


class RememberingCompleter:
    """Asks any model that the extraction engines can run, greedily, and nothing twice.

    Parameters
    ----------
    model
        Runs it: behind a server, or in a process on this machine.
    path
        Where replies are kept; made when the first one comes.
    name
        What the model is called; part of what a reply is remembered by.

    Attributes
    ----------
    asked
        Prompts put to the model by this object.
    """

    def __init__(self, model: Completer, path: Path, *, name: str) -> None:
        self._model, self._path, self.name = model, path, name
        self._known = kept_replies(path)
        self.asked = 0

    def complete(
        self, prompts: Sequence[str], *, max_tokens: int, stop: Sequence[str]
    ) -> list[Completion]:
        """Continue every prompt, from memory where it is known; equal prompts are put once."""
        marks = tuple(stop)
        put = [engines.Question(prompt, max_tokens, stop=marks) for prompt in prompts]
        keys = [f"{self.name}:{digest_of(question)}" for question in put]
        new = {k: q for k, q in zip(keys, put, strict=True) if k not in self._known}
        self.asked += len(new)
        found: dict[str, Completion] = {}
        waiting = list(new)
        for start in range(0, len(waiting), _BATCH):
            batch = waiting[start : start + _BATCH]
            replies = self._model.complete([new[key] for key in batch])
            found |= zip(batch, replies, strict=True)
            self._keep({key: found[key] for key in batch})
        return [self._known[key] if key in self._known else found[key] for key in keys]

    def _keep(self, replies: dict[str, Completion]) -> None:
        read = {key: reply for key, reply in replies.items() if isinstance(reply, Reply)}
        self._known |= read
        if read:
            with self._path.open("a", encoding="utf-8") as file:
                file.write("".join(["\n", *(kept_line(k, r) for k, r in read.items())]))
