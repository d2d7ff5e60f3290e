"""What the rules hold against a model's answer, and the report as they read it.

A statement is *supported* where the quoted words speak of its pathology and carry its certainty;
*unsupported* where they do not speak of the pathology, or carry another certainty on the same side;
*contradicted* where they say the opposite. The rules are no judge of who is right: they only make
it visible where a model and the words part.

Convention: "absent", "very unlikely" and "unlikely" are one side, all other phrases the other.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

from extraction.engines.grounding import Place
from extraction.engines.guide import Guided, guided
from extraction.finding import NOT_EVALUABLE, OTHER, UNREADABLE
from extraction.rules.engine import RuleEngine, Spoken
from extraction.vocabulary import Vocabulary

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
        if certainty == NOT_EVALUABLE:
            return "contradicted" if all(said.states for said in named) else "supported"
        unmapped = any(said.states and said.phrase is None for said in named)
        if certainty in read or (certainty == OTHER and unmapped):
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
            return [Place(*found) for found in self._rules.sentences(text)]

    def guide(self, texts: Sequence[object]) -> list[Guided]:
        """Read reports, and name the sentences in which the rules are in doubt."""
        with self._lock:
            return guided(self._rules, cast("Sequence[str]", texts))  # what is no text fails

    def hear(self, texts: Sequence[str]) -> list[Testimony | None]:
        """Give what each report speaks of; None for one that the rules cannot read."""
        try:
            with self._lock:
                return [Testimony(tuple(said)) for said in self._rules.spoken(texts)]
        except UNREADABLE:
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
