"""The rules beside a model: where they doubt, so that it is asked, and what they hold against it.

| doubt | a sentence in which |
|---|---|
| hedged | a statement carries another certainty than absent or present, or one that maps to none |
| conflicting | a pathology is called absent or present, and elsewhere in the report the opposite |
| unstated | a pathology is named and nothing is stated of it: a question, advice, a limitation |

All other sentences are the rules'. The model is shown the doubtful sentences of a report and no
others; its statements take the place of the rules' there, and where it fails the report fails,
because what is left of it would read as "not mentioned".

Margin: by how much the log-probability of the token written lies above that of the likeliest other
one, in nats; of a line the smallest over the tokens of its certainty. Below 0 the grammar, and not
the model, chose the token.

A statement is *supported* where the quoted words speak of its pathology and carry its certainty;
*unsupported* where they do not speak of the pathology, or carry another certainty on the same side;
*contradicted* where they say the opposite. The rules are no judge of who is right: they only make
it visible where a model and the words part.

Convention: "absent", "very unlikely" and "unlikely" are one side, all other phrases the other.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast, get_args

from extraction import finding
from extraction.report import Place
from extraction.rules.engine import RuleEngine, Spoken
from extraction.vocabulary import Vocabulary

if TYPE_CHECKING:
    from extraction.prompt.examples import Line
    from extraction.prompt.forms import AnswerForm


Doubt: TypeAlias = Literal["hedged", "conflicting", "unstated"]
"""Why a model is asked about a sentence; a closed set."""

_PLAIN: Final = frozenset({"absent", "present"})
_CERTAINTY: Final = re.compile(r'"certainty"\s*:\s*"([^"]*)"')
_DROPPED: Final = re.compile(r"[^!-~]")


@dataclass(frozen=True, slots=True)
class Guided:
    """One report as the rules read it, and where they are in doubt.

    Attributes
    ----------
    read
        What the rules read.
    doubts
        Doubtful sentences in reading order, each with its first reason.
    sentences
        Sentences that name a pathology.
    """

    read: finding.Outcome
    doubts: Mapping[Place, Doubt] = field(default_factory=dict)
    sentences: int = 0

    @property
    def counted(self) -> dict[Doubt, int]:
        """Doubtful sentences by reason."""
        return dict(Counter(self.doubts.values()))

    def with_answer(self, said: finding.Outcome | None, *, engine: str) -> finding.Outcome:
        """Join the rules' sure statements to what a model said of the doubtful sentences.

        Parameters
        ----------
        said
            The model's outcome; None where it was not asked.
        engine
            What its findings are to be known by.
        """
        if said is None:
            return _marked(self.read, "rules")
        if isinstance(said, finding.Failed):
            return said
        own = self.read.findings if isinstance(self.read, finding.Extracted) else ()
        sure = [f for f in own if Place(f.section, f.start, f.end) not in self.doubts]
        asked = said.findings if isinstance(said, finding.Extracted) else ()
        findings = [replace(f, read_by="rules") for f in sure]
        findings += [replace(f, read_by=engine) for f in asked]
        if not findings:
            return finding.NothingStated(said.not_evaluable)
        return finding.Extracted(
            tuple(sorted(findings, key=attrgetter("start", "end"))), said.not_evaluable
        )


def guided(rules: RuleEngine, texts: Sequence[str]) -> list[Guided]:
    """Read reports by the rules, and name the sentences in which they are in doubt."""
    outcomes = rules.extract(texts, modality="XR")
    readable = [
        text for text, o in zip(texts, outcomes, strict=True) if not isinstance(o, finding.Failed)
    ]
    spoken = iter(rules.spoken(readable))
    return [
        Guided(outcome) if isinstance(outcome, finding.Failed) else _guided(outcome, next(spoken))
        for outcome in outcomes
    ]


def _guided(outcome: finding.Outcome, spoken: Sequence[Spoken]) -> Guided:
    return Guided(outcome, doubtful(spoken), len({(said.start, said.end) for said in spoken}))


def doubtful(spoken: Sequence[Spoken]) -> dict[Place, Doubt]:
    """Name the sentences of a report in which its rules are in doubt, in reading order."""
    sides: dict[str, set[str]] = {}
    for said in spoken:
        if said.states and said.phrase in _PLAIN:
            sides.setdefault(said.pathology, set()).add(said.phrase)
    found: dict[Place, Doubt] = {}
    for said in spoken:
        reason = _reason(said, both=len(sides.get(said.pathology, ())) > 1)
        if reason:
            found.setdefault(Place(said.section, said.start, said.end), reason)
    return found


def margins(
    completion: str, form: AnswerForm, logprobs: Sequence[Mapping[str, float]], *, most: int
) -> list[float | None]:
    """Give the margin of each line of an answer; None where it cannot be told.

    Parameters
    ----------
    completion
        What the model wrote, up to the mark that ended it.
    form
        The form of the answer.
    logprobs
        For each token written, itself first and then the likeliest others.
    most
        Lines that are read at most.
    """
    lines = form.parsed(completion, most=most).lines
    ends, steps = _tokens(completion, logprobs)
    if not ends:
        return [None] * len(lines)
    return [_margin(cell, completion, ends, steps) for cell in _cells(completion, lines)]


def _reason(said: Spoken, *, both: bool) -> Doubt | None:
    if not said.states:
        return "unstated"
    if said.phrase not in _PLAIN:
        return "hedged"
    return "conflicting" if both else None


def _marked(outcome: finding.Outcome, engine: str) -> finding.Outcome:
    if not isinstance(outcome, finding.Extracted):
        return outcome
    findings = tuple(replace(f, read_by=engine) for f in outcome.findings)
    return finding.Extracted(findings, outcome.not_evaluable)


def _cells(
    completion: str, lines: Sequence[tuple[str, Line | None]]
) -> Iterator[tuple[int, int] | None]:
    """Say from where to where each line's certainty stands in the answer."""
    named = [match.span(1) for match in _CERTAINTY.finditer(completion)]
    if len(named) == len(lines):
        yield from named
        return
    passed = 0
    for written, line in lines:
        at = completion.find(written, passed)
        within = written.lower().rfind(line.certainty) if line else -1
        passed = at + len(written) if at >= 0 else passed
        found = at >= 0 and within >= 0 and line is not None
        yield (at + within, at + within + len(line.certainty)) if found and line else None


def _tokens(
    completion: str, logprobs: Sequence[Mapping[str, float]]
) -> tuple[list[int], list[float | None]]:
    """Give where each token ends, spaces and foreign letters not counted, and its margin.

    Tokenizers write spaces, and letters of several bytes, each in their own way; nothing is given
    for tokens that are not those of the answer.
    """
    ends, steps, said = [], [], ""
    for place in logprobs:
        words = list(place)
        said += _DROPPED.sub("", words[0]) if words else ""
        ends.append(len(said))
        others = [place[word] for word in words[1:]]
        steps.append(place[words[0]] - max(others) if others else None)
    return (ends, steps) if said.startswith(_DROPPED.sub("", completion)) else ([], [])


def _margin(
    cell: tuple[int, int] | None, completion: str, ends: list[int], steps: list[float | None]
) -> float | None:
    if cell is None:
        return None
    first, last = (len(_DROPPED.sub("", completion[:at])) for at in cell)
    starts = [0, *ends[:-1]]
    within = [
        step
        for start, end, step in zip(starts, ends, steps, strict=True)
        if step is not None and start < last and end > first
    ]
    return min(within, default=None)


REVISION: Final = "1"
"""Raised whenever what is held against an answer changes; part of a model engine's version."""


Verdict: TypeAlias = Literal[
    "supported", "unsupported pathology", "unsupported certainty", "contradicted"
]
"""What the vocabulary says of one statement; a closed set."""


VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)


_DENYING: Final = frozenset({"absent", "very unlikely", "unlikely"})


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of what the vocabulary finds stated an answer speaks of, in sentences.

    Attributes
    ----------
    covered
        Sentences of which every stated pathology has a line.
    partly
        Sentences with a line, and with a pathology that has none.
    silent
        Sentences that state something and have no line at all.
    """

    covered: int = 0
    partly: int = 0
    silent: int = 0

    @property
    def uncovered(self) -> int:
        """Sentences that state a pathology no line covers."""
        return self.partly + self.silent


@dataclass(frozen=True, slots=True)
class Testimony:
    """What the vocabulary finds spoken of in one report."""

    spoken: tuple[Spoken, ...] = ()

    def within(self, places: Collection[Place]) -> Testimony:
        """Keep what is spoken in some sentences."""
        kept = {(place.start, place.end) for place in places}
        return Testimony(tuple(said for said in self.spoken if (said.start, said.end) in kept))

    def verdict(self, place: Place, pathology: str, certainty: str) -> Verdict:
        """Hold one statement against the words it quotes.

        Parameters
        ----------
        place
            Where the quoted words stand.
        pathology, certainty
            What is said of them; the certainty may be "not evaluable" or one that maps to none.
        """
        named = [said for said in self.spoken if said.pathology == pathology and _in(said, place)]
        if not named:
            return "unsupported pathology"
        read = {said.phrase for said in named if said.states and said.phrase is not None}
        if certainty == finding.NOT_EVALUABLE:
            return "contradicted" if all(said.states for said in named) else "supported"
        unmapped = any(said.states and said.phrase is None for said in named)
        if certainty in read or (certainty == finding.OTHER and unmapped):
            return "supported"
        denies = certainty in _DENYING
        if read and all((phrase in _DENYING) != denies for phrase in read):
            return "contradicted"
        return "unsupported certainty"

    def coverage(self, lines: Collection[tuple[Place, str]]) -> Coverage:
        """Count the sentences that state something, by whether lines speak of it."""
        stated: dict[tuple[int, int], list[Spoken]] = {}
        for said in self.spoken:
            if said.states:
                stated.setdefault((said.start, said.end), []).append(said)
        kinds = [_covered(sentence, lines) for sentence in stated.values()]
        return Coverage(kinds.count("covered"), kinds.count("partly"), kinds.count("silent"))


class Witness:
    """Reads reports by the rules; safe to use from several threads."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._rules = RuleEngine(vocabulary)
        self._lock = threading.Lock()
        self.digest = f"{REVISION}+{self._rules.version}"

    def sentences(self, text: str) -> list[Place]:
        """Give every sentence of a report, as the rules part them."""
        with self._lock:
            return self._rules.sentences(text)

    def guide(self, texts: Sequence[object]) -> list[Guided]:
        """Read reports, and name the sentences in which the rules are in doubt."""
        with self._lock:
            return guided(self._rules, cast("Sequence[str]", texts))  # what is no text fails

    def hear(self, texts: Sequence[str]) -> list[Testimony | None]:
        """Give what each report speaks of; None for one that the rules cannot read."""
        try:
            with self._lock:
                return [Testimony(tuple(said)) for said in self._rules.spoken(texts)]
        except finding.UNREADABLE:
            if len(texts) == 1:
                return [None]
        return [heard for text in texts for heard in self.hear([text])]


def _in(said: Spoken, place: Place) -> bool:
    return said.mention_start < place.end and place.start < said.mention_end


def _covered(
    sentence: Sequence[Spoken], lines: Collection[tuple[Place, str]]
) -> Literal["covered", "partly", "silent"]:
    start, end = sentence[0].start, sentence[0].end
    here = {name for place, name in lines if place.start < end and start < place.end}
    if not here:
        return "silent"
    return "covered" if here.issuperset(said.pathology for said in sentence) else "partly"
