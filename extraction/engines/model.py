"""What every engine with a language model does: ask, believe or not, ask once more, count.

Reports are read in blocks, so that memory stays flat; each block is asked in one go, and what
fails in its answer is asked once more, in another way. What fails again, or gets no answer, is
`Failed` at its place with the reason, and the batch goes on.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from extraction.engines import ledger
from extraction.engines.account import Answer
from extraction.engines.completer import Completer, Completion, Question, Usage
from extraction.engines.prompted import Asked, PromptedReader
from extraction.engines.settings import LocalSettings, ServerSettings
from extraction.engines.witness import Guided, Testimony
from extraction.finding import UNREADABLE, Failed, FailureReason, Modality, Outcome
from extraction.prompt.examples import Prompts
from extraction.prompt.template import MARK
from extraction.report import Place
from extraction.vocabulary import Vocabulary

BLOCK: Final = 1_000
"""Reports that are asked in one go."""

_LIKELIEST: Final = 2
"""Tokens whose probabilities are asked for at each place, to tell how sure the model is."""

_Part: TypeAlias = tuple[object, tuple[Place, ...]]
"""A report, and the sentences that are asked about; none of them for the whole."""

_UNPUT: Final[frozenset[FailureReason]] = frozenset(
    {"empty text", "not text", "text too long", "no readable section", "engine error"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """On what terms an engine reads, whoever runs its model.

    Attributes
    ----------
    vocabulary, prompts
        None for the shipped ones.
    tolerated_outage
        Largest share of a batch that may get no answer before `ModelOutageError` is raised; two
        reports of a batch always may, all of them never. At 1, the default, nothing is raised. A
        job that keeps what it has read sets it, so that a night without a model is repeated and
        not remembered.
    memory
        Outcomes of earlier runs; None to ask every time.
    """

    vocabulary: Vocabulary | None = None
    prompts: Prompts | None = None
    tolerated_outage: float = 1.0
    memory: ledger.Memory | None = None

    def reader(self, limits: ServerSettings | LocalSettings | ledger.Heading) -> PromptedReader:
        """Give what writes the questions to a model and reads its answers."""
        return PromptedReader(
            self.vocabulary,
            self.prompts,
            context_tokens=limits.context_tokens,
            answer_tokens=limits.answer_tokens,
            manner=limits.manner,
        )


USUAL: Final = Terms()


class ModelEngine:
    """Reads reports with a language model; see `extraction.finding.Engine`.

    Parameters
    ----------
    completer
        Runs the model.
    reader
        Writes the questions and reads the answers.
    named
        What rows and errors call it.
    terms
        Which outage it tolerates, and what it remembers.
    blocks
        Blocks under way at once.

    Attributes
    ----------
    ledger
        What became of all answers so far.
    """

    def __init__(
        self,
        completer: Completer,
        reader: PromptedReader,
        named: ledger.Named,
        terms: Terms = USUAL,
        *,
        blocks: int = 1,
    ) -> None:
        self.guided = reader.manner.guided
        self.name = f"rules+{named.engine}" if self.guided else named.engine
        self.vocabulary = reader.vocabulary
        self._completer, self._reader = completer, reader
        self._tolerated, self._memory = terms.tolerated_outage, terms.memory
        self._named = named
        asked = "\0".join([reader.digest, named.bound, *filter(None, [named.computed])])
        digest = hashlib.sha256(asked.encode()).hexdigest()[:16]
        self.version = f"{named.model}+{digest}+{self.vocabulary.digest}"
        self._blocks, self._slots = blocks, threading.Semaphore(blocks)
        self.ledger = ledger.Ledger()

    @property
    def usage(self) -> Usage:
        """What the model was asked so far."""
        return self._completer.usage

    def counts(self) -> dict[str, object]:
        """Give what was asked, answered, left out and remembered so far, for a manifest."""
        return self.ledger.counts(self.usage, self.facts)

    def summary(self) -> str:
        """Give the counts in a line, for a log."""
        return self.ledger.summary(self.usage)

    @property
    def facts(self) -> Mapping[str, object]:
        """What runs the model (its version, device, precision), where that is known."""
        return {}

    def record(self, path: Path) -> None:
        """Write every answer from now on to a file that `kinds.ReplayEngine` reads."""
        form = self._reader.manner.form
        heading = ledger.Heading(
            engine=self._named.engine,
            model=self._named.model,
            computed=self._named.computed,
            chat=self._reader.manner.chat,
            guided=self.guided,
            quoted=form.quoted,
            shape=form.shape,
            bound=self._named.bound,
            context_tokens=self._reader.context_tokens,
            answer_tokens=self._reader.answer_tokens,
            version=self.version,
        )
        self._completer = ledger.RecordingCompleter(self._completer, path, heading)

    def close(self) -> None:
        """Free what the model holds."""
        self._completer.close()

    def extract(self, texts: Sequence[str], *, modality: Modality) -> list[Outcome]:
        """Read reports; see `extraction.finding.Engine.extract`.

        Raises
        ------
        ModelOutageError
            If the model failed a larger share of them than is tolerated, or cannot be had.
        """
        return [answer.outcome for answer in self.answers(texts, modality=modality)]

    def answers(self, texts: Sequence[object], *, modality: Modality) -> list[Answer]:
        """Read reports and give what became of every answer; raises as `extract` does."""
        blocks = [texts[start : start + BLOCK] for start in range(0, len(texts), BLOCK)]
        if not blocks:
            return []
        with ThreadPoolExecutor(min(self._blocks, len(blocks))) as pool:
            read = pool.map(lambda block: self._read(block, modality), blocks)
            answers = [answer for block in read for answer in block]
        asked = [answer.outcome for answer in answers if answer.doubts != {}]
        ledger.check_outage(asked, tolerated=self._tolerated, place=self._named.place)
        return answers

    def question(self, text: str, *, modality: Modality) -> Question | Failed:
        """Give the first question about a report, as it would be put."""
        asked = self._ask((text, ()), modality, again=False)
        return self._question(asked) if isinstance(asked, Asked) else asked

    def put(self, questions: Sequence[Question]) -> list[Completion]:
        """Put questions of any kind to the model."""
        return self._completer.complete(questions)

    def _read(self, texts: Sequence[object], modality: Modality) -> list[Answer]:
        with self._slots:
            by_rules = self._reader.guide(texts)
            parts: dict[int, _Part] = {
                n: (text, tuple(read.doubts) if read else ())
                for n, (text, read) in enumerate(zip(texts, by_rules, strict=True))
                if read is None or read.doubts
            }
            keys = {n: self._key(text, modality) for n, (text, _) in parts.items()}
            known = self._memory.recall(list(keys.values())) if self._memory else {}
            new = {n: part for n, part in parts.items() if keys[n] not in known}
            answers = self._asked_twice(new, modality)
        outcomes = {keys[n]: answer.outcome for n, answer in answers.items()}
        if self._memory:
            self._memory.keep({k: o for k, o in outcomes.items() if not isinstance(o, Failed)})
        old = {n: known[key] for n, key in keys.items() if n not in answers}
        held = self._reader.recalled([parts[n] for n in old], list(old.values()))
        answers |= dict(zip(old, held, strict=True))
        whole = [
            answers[n] if read is None else self._joined(read, answers.get(n))
            for n, read in enumerate(by_rules)
        ]
        self.ledger.note(whole, recalled=len(old))
        return whole

    def _joined(self, read: Guided, answer: Answer | None) -> Answer:
        """Join what the rules read to the model's answer, where it was asked."""
        said = None if answer is None else answer.outcome
        outcome = read.with_answer(said, engine=self._named.engine)
        return replace(answer or Answer(outcome), outcome=outcome, doubts=read.counted)

    def _asked_twice(self, texts: Mapping[int, _Part], modality: Modality) -> dict[int, Answer]:
        """Ask about some reports, and once more about those whose answers failed."""
        answers = self._round(texts, modality, again=False)
        failed = [n for n, answer in answers.items() if self._worth_asking(answer.outcome)]
        second = self._round({n: texts[n] for n in failed}, modality, again=True)
        return answers | {n: _second(answers[n], answer) for n, answer in second.items()}

    def _round(
        self, texts: Mapping[int, _Part], modality: Modality, *, again: bool
    ) -> dict[int, Answer]:
        """Ask about some reports, all in one go."""
        asked = {n: self._ask(part, modality, again=again) for n, part in texts.items()}
        put = {n: question for n, question in asked.items() if isinstance(question, Asked)}
        completions = self._completer.complete([self._question(each) for each in put.values()])
        heard = self._reader.hear(list(put.values()))
        read = {
            n: self._answer(question, completion, testimony)
            for (n, question), completion, testimony in zip(
                put.items(), completions, heard, strict=True
            )
        }
        return read | {n: Answer(q) for n, q in asked.items() if isinstance(q, Failed)}

    def _question(self, asked: Asked) -> Question:
        manner, number = self._reader.manner, len(asked.sentences)
        likeliest = _LIKELIEST if self.guided else 0
        question = replace(asked.question, stop=(MARK,), logprobs=likeliest)
        if self._named.bound == "schema":
            schema = manner.form.schema(self.vocabulary, sentences=number)
            return replace(question, schema=json.dumps(schema))
        if self._named.bound == "regex":
            mark = "" if manner.chat else MARK
            bound = manner.form.regex(self.vocabulary, sentences=number, mark=mark)
            return replace(question, regex=bound)
        return question

    def _ask(self, part: _Part, modality: Modality, *, again: bool) -> Asked | Failed:
        text, only = part
        try:
            return self._reader.ask(text, modality=modality, again=again, only=only)
        except UNREADABLE:
            return Failed("engine error")

    def _answer(self, asked: Asked, completion: Completion, heard: Testimony | None) -> Answer:
        if isinstance(completion, str):
            return Answer(Failed(completion))
        try:
            return self._reader.read(
                asked, completion.text, heard, cut=completion.cut, logprobs=completion.logprobs
            )
        except UNREADABLE:
            return Answer(Failed("engine error"))

    def _worth_asking(self, outcome: Outcome) -> bool:
        """Whether a second question may do better: transports make their own attempts."""
        if not isinstance(outcome, Failed) or outcome.reason in _UNPUT:
            return False
        if outcome.reason == "timed out":
            return not self._completer.ill
        return outcome.reason not in ledger.NO_ANSWER

    def _key(self, text: object, modality: Modality) -> str:
        said = text if isinstance(text, str) else ""
        parts = "\0".join([self.name, self.version, modality, type(text).__name__, said])
        return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()


def _second(first: Answer, second: Answer) -> Answer:
    """Join the answer to a second question to what is known of the first."""
    lines = tuple(replace(line, attempt=2) for line in second.lines)
    reason = first.outcome.reason if isinstance(first.outcome, Failed) else ""
    return replace(second, lines=first.lines + lines, earlier=reason, attempt=2)
