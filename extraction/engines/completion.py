"""A language model's completion → an outcome; whatever it says, this never raises.

    completion → lines → grounded in the report → in the vocabulary → findings

Lines that cannot be used are counted by reason. An answer is a failure, with its reason, when it is
empty or unreadable, stops in the middle, repeats itself, or quotes more that is not in the report
than is: a statement lost that way must not read as "not mentioned".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

from extraction.engines.grounding import DecidingWords, Grounder, Place
from extraction.finding import (
    PLAIN,
    Extracted,
    Failed,
    FailureReason,
    Finding,
    NothingStated,
    Outcome,
)
from extraction.prompt import MARK, NONE, NOT_EVALUABLE, OTHER, Line, parse
from extraction.report import Section
from extraction.vocabulary import Vocabulary

__all__ = ["MAX_LINES", "REJECTIONS", "Answer", "CompletionReader", "Rejection"]

MAX_LINES: Final = 200
"""More lines than this are no answer about one report."""

Rejection: TypeAlias = Literal[
    "broken line", "ungrounded sentence", "unlisted pathology", "repeated line"
]
"""Why a line of an answer was left out; a closed set."""

REJECTIONS: Final[tuple[Rejection, ...]] = get_args(Rejection)

_MAX_CHARACTERS: Final = 200_000
_LOOP: Final = 3
_UNLISTED: Final = "(unlisted)"


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one completion: the outcome, and how many lines were left out and why."""

    outcome: Outcome
    rejected: Mapping[Rejection, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Tally:
    """What an answer's lines have yielded so far."""

    findings: list[Finding] = field(default_factory=list)
    not_evaluable: set[str] = field(default_factory=set)
    rejected: Counter[Rejection] = field(default_factory=Counter)
    last: dict[Line, int] = field(default_factory=dict)
    places: set[tuple[int, Line]] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    cursor: int = 0


class CompletionReader:
    """Reads completions by the words of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._pathologies = frozenset(vocabulary.pathologies)
        self._phrases = frozenset(vocabulary.phrases)
        self._deciding = DecidingWords.of(vocabulary)
        names = {re.escape(section.name) for section in vocabulary.sections if section.read}
        self._label = re.compile(rf"(?:{'|'.join(sorted(names))})\s*:\s*", re.IGNORECASE)

    def read(
        self, completion: str, *, text: str, sections: Sequence[Section], cut: bool = False
    ) -> Answer:
        """Turn a completion into an outcome.

        Parameters
        ----------
        completion
            What the model wrote after the prompt.
        text
            The report; findings carry offsets into it.
        sections
            Its stretches that were shown to the model.
        cut
            Whether the model was stopped by a limit and not by itself.
        """
        body, mark, _ = completion[:_MAX_CHARACTERS].partition(MARK)
        written = [line for line in body.splitlines() if line.strip()]
        cut = (cut or len(completion) > _MAX_CHARACTERS) and not mark
        cut = cut or len(written) > MAX_LINES
        lines = [line for line in written[:MAX_LINES] if not _says_none(line)]
        nones = len(written[:MAX_LINES]) - len(lines)
        tally = _Tally()
        grounder = Grounder(text, sections, self._deciding)
        parsed = [parse(line) for line in lines]
        for line in parsed:
            self._take(line, grounder, tally)
        cut = cut or (bool(parsed) and parsed[-1] is None and _opens(lines[-1]))
        return Answer(_outcome(tally, lines=len(lines), nones=nones, cut=cut), tally.rejected)

    def _take(self, line: Line | None, grounder: Grounder, tally: _Tally) -> None:
        if line is None:
            tally.rejected["broken line"] += 1
            return
        place = self._placed(line, grounder, tally)
        if place is None:
            tally.rejected["repeated line" if line in tally.last else "ungrounded sentence"] += 1
            tally.last.setdefault(line, 0)
        elif (place.start, line) in tally.places:
            tally.rejected["repeated line"] += 1
        else:
            tally.places.add((place.start, line))
            tally.last[line] = tally.cursor = place.start
            self._state(line, place, tally)

    def _placed(self, line: Line, grounder: Grounder, tally: _Tally) -> Place | None:
        """Find a line's sentence: where the answer has got to, or after its last mention."""
        sentence = self._label.sub("", line.sentence, count=1) if ":" in line.sentence else ""
        wanted = [line.sentence] + [sentence] * (sentence not in ("", line.sentence))
        after = tally.last[line] + 1 if line in tally.last else tally.cursor
        for candidate in wanted:
            if candidate in tally.unknown:
                continue
            place = grounder.find(candidate, after=after)
            if place is not None:
                return place
            tally.unknown.add(candidate)
        return None

    def _state(self, line: Line, place: Place, tally: _Tally) -> None:
        if line.pathology not in self._pathologies:
            tally.rejected["unlisted pathology"] += 1
        elif line.certainty == NOT_EVALUABLE:
            tally.not_evaluable.add(line.pathology)
        else:
            phrase = line.certainty if line.certainty in self._phrases else None
            cue = PLAIN if phrase else self._named(line.certainty)
            tally.findings.append(
                Finding(place.section, place.start, place.end, line.pathology, cue, phrase)
            )

    def _named(self, certainty: str) -> str:
        """Name an unmapped certainty, in words of ours only: an answer may hold anything."""
        words = certainty.split()
        known = 0 < len(words) <= _LOOP and all(word in self._deciding.protected for word in words)
        return certainty if known or certainty == OTHER else _UNLISTED


def _outcome(tally: _Tally, *, lines: int, nones: int, cut: bool) -> Outcome:
    failure = _failure(tally, lines=lines, nones=nones, cut=cut)
    if failure is not None:
        return Failed(failure)
    if tally.findings:
        return Extracted(tuple(tally.findings), frozenset(tally.not_evaluable))
    return NothingStated(frozenset(tally.not_evaluable))


def _failure(tally: _Tally, *, lines: int, nones: int, cut: bool) -> FailureReason | None:
    """Why an answer cannot be used, most telling reason first."""
    rejected, used = tally.rejected, len(tally.findings) + len(tally.not_evaluable)
    if not lines and not nones:
        return "empty answer"
    repeated = rejected["repeated line"]
    if (repeated >= _LOOP and 2 * repeated >= lines) or (nones >= _LOOP and not used):
        return "repeated answer"
    if cut:
        return "truncated answer"
    if rejected["ungrounded sentence"] > used:
        return "ungrounded answer"
    if not nones and (not used or rejected["broken line"] > used):
        return "unreadable answer"
    return None


def _says_none(line: str) -> bool:
    return line.strip(" \t\r-–*•.\"'").lower() == NONE.strip("- ")


def _opens(line: str) -> bool:
    return line.lstrip().startswith(("-", '"', "“"))
