"""A language model's completion → an outcome; whatever it says, this never raises.

    completion → lines → grounded in the report → held against its words → findings

Lines that cannot be used are counted by reason. An answer is a failure, with its reason, when it is
empty or unreadable, stops in the middle, repeats itself, quotes or names more that is not in the
report than is, or is silent about more sentences that state something than it speaks of: a
statement lost that way must not read as "not mentioned".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from extraction import finding
from extraction.engines.account import Answer, AnswerLine, Became, Rejection, masked
from extraction.engines.grounding import DecidingWords, Grounder
from extraction.engines.witness import Coverage, Testimony
from extraction.prompt.examples import NONE, Line
from extraction.prompt.forms import BY_WORDS, AnswerForm, Parsed
from extraction.prompt.template import MARK
from extraction.report import Place
from extraction.vocabulary import Vocabulary

MAX_LINES: Final = 200
"""More lines than this are no answer about one report."""

_MAX_CHARACTERS: Final = 200_000
_LOOP: Final = 3
_UNLISTED: Final = "(unlisted)"


@dataclass(slots=True)
class _Tally:
    """What an answer's lines have yielded so far."""

    grounder: Grounder
    testimony: Testimony | None
    sentences: Sequence[Place] = ()
    lines: list[AnswerLine] = field(default_factory=list)
    findings: list[finding.Finding] = field(default_factory=list)
    not_evaluable: set[str] = field(default_factory=set)
    covered: list[tuple[Place, str]] = field(default_factory=list)
    last: dict[Line, int] = field(default_factory=dict)
    places: set[tuple[int, Line]] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    cursor: int = 0

    def left_out(self, reason: Rejection) -> int:
        """Count the lines left out for one reason."""
        return sum(line.became == reason for line in self.lines)

    @property
    def coverage(self) -> Coverage:
        """How much of what is stated the lines speak of."""
        return self.testimony.coverage(self.covered) if self.testimony else Coverage()


class CompletionReader:
    """Reads completions of one form by the words of one vocabulary."""

    def __init__(self, vocabulary: Vocabulary, form: AnswerForm = BY_WORDS) -> None:
        self._form = form
        self._pathologies = frozenset(vocabulary.pathologies)
        self._phrases = frozenset(vocabulary.phrases)
        self._certainties = self._phrases | {finding.OTHER, finding.NOT_EVALUABLE}
        self._deciding = DecidingWords.of(vocabulary)
        listed = " ".join(self._pathologies | self._certainties).split()
        self._known = self._deciding.protected | frozenset(listed) | {NONE.strip("- ")}
        names = {re.escape(section.name) for section in vocabulary.sections if section.read}
        self._label = re.compile(rf"(?:{'|'.join(sorted(names))})\s*:\s*", re.IGNORECASE)

    def read(
        self,
        completion: str,
        *,
        text: str,
        sections: Sequence[Place],
        cut: bool = False,
        testimony: Testimony | None = None,
        sentences: Sequence[Place] = (),
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
        testimony
            What the vocabulary finds said in the report; None to hold the answer against nothing.
        sentences
            The report's sentences in the order of their numbers, for answers that quote by number.
        """
        body, mark, _ = completion[:_MAX_CHARACTERS].partition(MARK)
        cut = (cut or len(completion) > _MAX_CHARACTERS) and not mark
        parsed = self._form.parsed(body, most=MAX_LINES)
        tally = _Tally(Grounder(text, sections, self._deciding), testimony, sentences)
        for written, line in parsed.lines:
            self._take(line, written, tally)
        tally.lines += [AnswerLine("none", written=NONE)] * parsed.nones
        coverage = tally.coverage
        return Answer(
            _outcome(tally, coverage, parsed, cut=cut or parsed.stops or self._breaks_off(parsed)),
            tuple(tally.lines),
            coverage,
        )

    def _breaks_off(self, parsed: Parsed) -> bool:
        """Whether the last word, which no quotation mark ends, only begins a certainty."""
        line = parsed.lines[-1][1] if parsed.lines and self._form.quoted == "number" else None
        if line is None or line.certainty in self._certainties:
            return False
        return any(known.startswith(line.certainty) for known in self._certainties)

    def _take(self, line: Line | None, written: str, tally: _Tally) -> None:
        """Note what becomes of one line."""
        shown = masked(written, self._known)
        if line is None:
            tally.lines.append(AnswerLine("broken line", written=shown))
            return
        place = self._placed(line, tally)
        became = self._became(line, place, tally)
        where = (place.start, place.end) if place else (0, 0)
        pathology = line.pathology if line.pathology in self._pathologies else ""
        certainty = line.certainty if line.certainty in self._certainties else ""
        tally.lines.append(AnswerLine(became, *where, pathology, certainty, shown))

    def _became(self, line: Line, place: Place | None, tally: _Tally) -> Became:
        if place is None:
            repeated = line in tally.last
            tally.last.setdefault(line, 0)
            return "repeated line" if repeated else "ungrounded sentence"
        if (place.start, line) in tally.places:
            return "repeated line"
        tally.places.add((place.start, line))
        tally.last[line] = tally.cursor = place.start
        return self._state(line, place, tally)

    def _placed(self, line: Line, tally: _Tally) -> Place | None:
        """Find a line's sentence: where the answer has got to, or after its last mention."""
        if self._form.quoted == "number":
            number = int(line.sentence) if line.sentence.isdecimal() else 0
            known = 0 < number <= len(tally.sentences)
            return tally.sentences[number - 1] if known else None
        sentence = self._label.sub("", line.sentence, count=1) if ":" in line.sentence else ""
        wanted = [line.sentence] + [sentence] * (sentence not in ("", line.sentence))
        after = tally.last[line] + 1 if line in tally.last else tally.cursor
        for candidate in wanted:
            if candidate in tally.unknown:
                continue
            place = tally.grounder.find(candidate, after=after)
            if place is not None:
                return place
            tally.unknown.add(candidate)
        return None

    def _state(self, line: Line, place: Place, tally: _Tally) -> Became:
        """Hold a line against the words it quotes, and take what can be believed."""
        if line.pathology not in self._pathologies:
            return "unlisted pathology"
        held = tally.testimony
        said = held.verdict(place, line.pathology, line.certainty) if held else "unchecked"
        if said == "unsupported pathology":
            return said
        tally.covered.append((place, line.pathology))
        if line.certainty == finding.NOT_EVALUABLE:
            tally.not_evaluable.add(line.pathology)
            return said
        phrase = line.certainty if line.certainty in self._phrases else None
        cue = finding.PLAIN if phrase else self._named(line.certainty)
        tally.findings.append(
            finding.Finding(place.section, place.start, place.end, line.pathology, cue, phrase)
        )
        return said

    def _named(self, certainty: str) -> str:
        """Name an unmapped certainty, in words of ours only: an answer may hold anything."""
        words = certainty.split()
        known = 0 < len(words) <= _LOOP and all(word in self._deciding.protected for word in words)
        return certainty if known or certainty == finding.OTHER else _UNLISTED


def _outcome(tally: _Tally, coverage: Coverage, parsed: Parsed, *, cut: bool) -> finding.Outcome:
    failure = _failure(tally, lines=len(parsed.lines), nones=parsed.nones, cut=cut)
    if failure is not None:
        return finding.Failed(failure)
    if coverage.silent > coverage.covered + coverage.partly:
        return finding.Failed("incomplete answer")
    if tally.findings:
        return finding.Extracted(tuple(tally.findings), frozenset(tally.not_evaluable))
    return finding.NothingStated(frozenset(tally.not_evaluable))


def _failure(tally: _Tally, *, lines: int, nones: int, cut: bool) -> finding.FailureReason | None:
    """Why an answer cannot be used, most telling reason first."""
    used = len(tally.findings) + len(tally.not_evaluable)
    if not lines and not nones:
        return "empty answer"
    repeated = tally.left_out("repeated line")
    if (repeated >= _LOOP and 2 * repeated >= lines) or (nones >= _LOOP and not used):
        return "repeated answer"
    if cut:
        return "truncated answer"
    if tally.left_out("ungrounded sentence") > used:
        return "ungrounded answer"
    if tally.left_out("unsupported pathology") > used:
        return "unsupported answer"
    if not nones and (not used or tally.left_out("broken line") > used):
        return "unreadable answer"
    return None
