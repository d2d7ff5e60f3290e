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

import hashlib
import json
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Protocol

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
from extraction.errors import ExtractionError
from extraction.finding import FailureReason


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
            msg = f"{len(self.choices)} choices but {len(self.labels)} labels"
            raise ValueError(msg)
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
        msg = f"{path.name}: cannot be read ({type(error).__name__}); give JSON lines in UTF-8."
        raise QuestionError(msg) from None
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
        msg = f"{path.name}: no usable question, {len(problems)} unusable line(s){first}."
        raise QuestionError(msg)
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
        problem = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in problem["loc"]) or "the whole line"
        return f"{where}: {problem['msg']}"
    right, wrong = (tuple(dict.fromkeys(texts)) for texts in read.answers())
    if not right:
        return "no right answer"
    return Question(read.id or f"line {number}", read.question, right, wrong)


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote, and whether a limit stopped it."""

    text: str
    cut: bool


class Completer(Protocol):
    """Anything that continues prompts, always in the same way."""

    @property
    def name(self) -> str:
        """What the model is called; part of what a reply is remembered by."""

    def complete(
        self, prompts: Sequence[str], *, max_tokens: int, stop: Sequence[str]
    ) -> list[Completion | FailureReason]:
        """Continue every prompt; a prompt that fails gives its reason at its place."""


class ModelCompleter:
    """Asks any model that the extraction engines can run, greedily.

    Parameters
    ----------
    model
        Runs it: behind a server, or in a process on this machine.
    name
        What the model is called.
    """

    def __init__(self, model: engines.Completer, *, name: str) -> None:
        self._model = model
        self._name = name

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._name

    def complete(
        self, prompts: Sequence[str], *, max_tokens: int, stop: Sequence[str]
    ) -> list[Completion | FailureReason]:
        """Continue every prompt; see :class:`Completer`."""
        marks = tuple(stop)
        asked = [engines.Question(prompt, max_tokens, stop=marks) for prompt in prompts]
        return [
            reply if isinstance(reply, str) else Completion(reply.text, reply.cut)
            for reply in self._model.complete(asked)
        ]


_BATCH: Final = 64


class _Kept(BaseModel):
    key: str
    text: str
    cut: bool


class RememberingCompleter:
    """Asks another completer only what it has not been asked before.

    Parameters
    ----------
    inner
        Who is asked.
    path
        Where replies are kept; made when the first one comes.

    Attributes
    ----------
    asked, remembered
        Prompts put to the model by this object, and prompts answered from the file.
    """

    def __init__(self, inner: Completer, path: Path) -> None:
        self._inner, self._path = inner, path
        self._known = _read(path)
        self.asked = self.remembered = 0

    @property
    def name(self) -> str:
        """Name of the model."""
        return self._inner.name

    def complete(
        self, prompts: Sequence[str], *, max_tokens: int, stop: Sequence[str]
    ) -> list[Completion | FailureReason]:
        """Continue every prompt, from memory where it is known; equal prompts are put once."""
        keys = [self._key(prompt, max_tokens, stop) for prompt in prompts]
        new = {k: p for k, p in zip(keys, prompts, strict=True) if k not in self._known}
        self.remembered += len(prompts) - sum(key in new for key in keys)
        self.asked += len(new)
        found: dict[str, Completion | FailureReason] = {}
        waiting = list(new.items())
        for start in range(0, len(waiting), _BATCH):
            batch = waiting[start : start + _BATCH]
            replies = self._inner.complete([p for _, p in batch], max_tokens=max_tokens, stop=stop)
            answered = dict(zip([key for key, _ in batch], replies, strict=True))
            found |= answered
            self._keep({k: r for k, r in answered.items() if isinstance(r, Completion)})
        return [self._known[key] if key in self._known else found[key] for key in keys]

    def _key(self, prompt: str, max_tokens: int, stop: Sequence[str]) -> str:
        parts = json.dumps([self._inner.name, prompt, max_tokens, list(stop)])
        return hashlib.sha256(parts.encode()).hexdigest()

    def _keep(self, replies: dict[str, Completion]) -> None:
        self._known |= replies
        lines = [_Kept(key=k, text=r.text, cut=r.cut).model_dump_json() for k, r in replies.items()]
        if lines:
            with self._path.open("a", encoding="utf-8") as file:
                file.write("\n".join(["", *lines, ""]))


def _read(path: Path) -> dict[str, Completion]:
    known: dict[str, Completion] = {}
    if not path.is_file():
        return known
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            kept = _Kept.model_validate_json(line)
        except ValidationError:
            continue
        known[kept.key] = Completion(kept.text, kept.cut)
    return known
