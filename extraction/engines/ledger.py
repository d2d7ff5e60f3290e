"""What an engine is called, what became of its answers, and answers on file to be asked again.

Answers are counted for the manifest, and judged as an outage. On file:

    first line   what was asked, and how: engine, model and revision, manner, limits, digests
    each other   a hash of the whole question → what the model wrote, its tokens

A recording quotes the reports it was made from and is kept as they are: readable by its owner only.
Failures are not recorded. Of one question's answers the last in the file counts; a line that a
killed run left half written is passed over.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from extraction.engines.account import Answer, Disagreement, Rejection
from extraction.engines.completer import Bound, Completer, Completion, Question, Reply, Usage
from extraction.engines.witness import Doubt
from extraction.errors import ModelOutageError, ModelSettingsError
from extraction.finding import Failed, FailureReason, Outcome
from extraction.prompt.forms import AnswerForm
from extraction.prompt.template import Manner

NO_ANSWER: Final[frozenset[FailureReason]] = frozenset(
    {
        "server unreachable", "server error", "request refused", "timed out", "model stopped",
        "not recorded",
    }
)  # fmt: skip
"""Reasons that say that there was no answer at all."""

_ALWAYS_TOLERATED: Final = 2


class Memory(Protocol):
    """Remembers outcomes by a hash of all that decides them; holds no text."""

    def recall(self, keys: Sequence[str]) -> Mapping[str, Outcome]:
        """Give what is known of some keys."""

    def keep(self, outcomes: Mapping[str, Outcome]) -> None:
        """Remember outcomes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a model engine is called, and where.

    Attributes
    ----------
    engine
        ``server``, ``vllm``, ``transformers`` or ``replay``.
    model
        The model's name, with its revision where that is known.
    place
        The model as an error names it.
    computed
        Anything else that decides an answer, such as the precision.
    bound
        How answers are bound to their form: by a regular expression, by a JSON schema, or not.
    """

    engine: str
    model: str
    place: str
    computed: str = ""
    bound: Bound = "no"


class Ledger:
    """Adds up answers; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.rejected: Counter[Rejection] = Counter()
        """Lines of all answers so far that were left out, by reason."""
        self._doubts: Counter[Doubt] | None = None
        self._by_rules = 0
        self.recalled = 0
        self.disagreement = Disagreement()

    def note(self, answers: Iterable[Answer], *, recalled: int) -> None:
        """Add answers up, some of which were given in an earlier run."""
        with self._lock:
            self.recalled += recalled
            for answer in answers:
                self.rejected.update(answer.rejected)
                self.disagreement += answer.disagreement
                if answer.doubts is not None:
                    self._doubts = (self._doubts or Counter()) + Counter(answer.doubts)
                    self._by_rules += not answer.doubts

    def counts(self, usage: Usage, facts: Mapping[str, object]) -> dict[str, object]:
        """Give what was asked, answered, left out and remembered so far, for a manifest."""
        asked = {name: value for name, value in asdict(usage).items() if name != "counters"}
        rate = usage.answer_tokens / usage.seconds if usage.seconds else None
        return {
            **asked,
            "seconds": round(usage.seconds, 3),
            "answer_tokens_per_second": None if rate is None else round(rate, 1),
            "reports_remembered": self.recalled,
            "answer_lines_left_out": dict(self.rejected),
            "held_against_the_vocabulary": asdict(self.disagreement),
            "engine_counters": dict(usage.counters),
            **self._guidance(),
            **facts,
        }

    def _guidance(self) -> dict[str, object]:
        """Give the reports that the rules alone read, and the sentences in doubt."""
        if self._doubts is None:
            return {}
        return {"reports_by_rules_alone": self._by_rules, "sentences_in_doubt": dict(self._doubts)}

    def summary(self, usage: Usage) -> str:
        """Give the counts in a line, for a log."""
        return (
            f"{usage.questions:,} questions, {usage.answered:,} answered, {self.recalled:,} "
            f"reports remembered, {usage.prompt_tokens:,} tokens read ({usage.cached_tokens:,} "
            f"of them from the cache), {usage.answer_tokens:,} written in {usage.seconds:,.1f} s"
        )


def check_outage(outcomes: Sequence[Outcome], *, tolerated: float, place: str) -> None:
    """Refuse a batch of which too many reports got no answer.

    Parameters
    ----------
    tolerated
        Largest share that may get none; two reports always may, all never. 1 refuses nothing.
    place
        The model as the error names it.

    Raises
    ------
    ModelOutageError
        With the counts by reason.
    """
    failed = Counter(
        outcome.reason
        for outcome in outcomes
        if isinstance(outcome, Failed) and outcome.reason in NO_ANSWER
    )
    most = max(tolerated * len(outcomes), _ALWAYS_TOLERATED)
    if tolerated < 1 and (failed.total() > most or failed.total() == len(outcomes)):
        counts = ", ".join(f"{reason}: {number}" for reason, number in failed.items())
        raise ModelOutageError(
            f"{place}: {failed.total()} of {len(outcomes)} reports got no answer ({counts}). "
            "Nothing of this batch was kept; check the model's name and place, and run again."
        )


REVISION: Final = 1


class Heading(BaseModel):
    """How the recorded answers were asked for; enough to ask the same again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    recording: int = REVISION
    engine: str
    model: str
    computed: str = ""
    chat: bool
    guided: bool = False
    quoted: Literal["words", "number"]
    shape: Literal["lines", "json"]
    bound: Bound
    context_tokens: int
    answer_tokens: int
    version: str

    @property
    def manner(self) -> Manner:
        """How the model was asked."""
        return Manner(self.chat, AnswerForm(self.quoted, self.shape), self.guided)


class _Kept(BaseModel):
    question: str
    text: str
    cut: bool
    tokens: tuple[int, int, int] = (0, 0, 0)
    logprobs: tuple[dict[str, float], ...] = ()


class RecordingCompleter:
    """Asks another completer, and writes what it answers; see `completer.Completer`.

    Parameters
    ----------
    inner
        Who is asked.
    path
        The file; begun anew if it was recorded otherwise, else continued.
    heading
        Its first line.

    Raises
    ------
    ModelSettingsError
        If something else lies there: it is left as it is.
    """

    def __init__(self, inner: Completer, path: Path, heading: Heading) -> None:
        self._inner, self._path = inner, path
        self._lock = threading.Lock()
        self._first = heading.model_dump_json() + "\n"
        is_filled = path.exists() and path.stat().st_size > 0
        self._is_begun = is_filled and read_heading(path) == heading

    @property
    def usage(self) -> Usage:
        """What was asked so far."""
        return self._inner.usage

    @property
    def ill(self) -> bool:
        """Whether asking again is vain."""
        return self._inner.ill

    def complete(self, questions: Sequence[Question]) -> list[Completion]:
        """Answer questions, each in its place, and write the answers down."""
        answers = self._inner.complete(questions)
        kept = [
            kept_line(digest_of(question), answer)
            for question, answer in zip(questions, answers, strict=True)
            if isinstance(answer, Reply)
        ]
        with self._lock:
            if not self._is_begun:
                self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._path.touch(mode=0o600)
                self._path.write_text(self._first, encoding="utf-8")
                self._is_begun = True
            with self._path.open("a", encoding="utf-8") as file:
                file.write("".join(["\n", *kept]))
        return answers

    def close(self) -> None:
        """Free what the other holds."""
        self._inner.close()


class ReplayCompleter:
    """Answers from a recording; what is not in it is no answer; see `completer.Completer`."""

    ill = False

    def __init__(self, path: Path) -> None:
        self._known = kept_replies(path)
        self._lock = threading.Lock()
        self.usage = Usage()

    def complete(self, questions: Sequence[Question]) -> list[Completion]:
        """Answer questions, each in its place."""
        answers: list[Completion] = [
            self._known.get(digest_of(question), "not recorded") for question in questions
        ]
        with self._lock:
            for question, answer in zip(questions, answers, strict=True):
                self.usage.add(question, answer)
        return answers

    def close(self) -> None:
        """Do nothing: nothing is held."""


def read_heading(path: Path) -> Heading:
    """Read how a recording was made.

    Raises
    ------
    ModelSettingsError
        If the file is no recording, or one of another revision.
    """
    try:
        with path.open(encoding="utf-8") as file:
            heading = Heading.model_validate_json(file.readline())
    except (OSError, ValueError):
        raise ModelSettingsError(
            f"{path.name} is no recording of a model's answers and is left as it is; name another "
            "file to record to, or one that --record wrote."
        ) from None
    if heading.recording != REVISION:
        raise ModelSettingsError(
            f"{path.name} is a recording of revision {heading.recording}; record it anew."
        )
    return heading


def kept_replies(path: Path) -> dict[str, Reply]:
    """Read the replies of a file by their keys; none where there is no file."""
    known: dict[str, Reply] = {}
    if not path.is_file():
        return known
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                kept = _Kept.model_validate_json(line)
            except ValidationError:
                continue
            known[kept.question] = Reply(kept.text, kept.cut, *kept.tokens, kept.logprobs)
    return known


def kept_line(key: str, reply: Reply) -> str:
    """Write a reply under its key, as a line of its own."""
    tokens = (reply.prompt_tokens, reply.cached_tokens, reply.answer_tokens)
    places = tuple(dict(place) for place in reply.logprobs)
    kept = _Kept(question=key, text=reply.text, cut=reply.cut, tokens=tokens, logprobs=places)
    return kept.model_dump_json() + "\n"


def digest_of(question: Question) -> str:
    """Hash all that decides the answer to a question."""
    return hashlib.sha256(json.dumps(asdict(question)).encode()).hexdigest()
