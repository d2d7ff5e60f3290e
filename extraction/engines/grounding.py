"""Where in a report a quoted sentence stands; what stands nowhere is not the report's.

Looked for as written, then without regard to case, spacing and the shape of quotation marks and
dashes, then with a few letters wrong. A near match never passes when the two differ in a word of
certainty, a side or a number: "no effusion" is near "an effusion" in letters alone. Nor may a
quotation begin just behind a negation that it leaves away.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from rapidfuzz import fuzz

from extraction.report import Place
from extraction.vocabulary import Vocabulary

FUZZY_THRESHOLD: Final = 90.0
"""Least similarity of a near match, of 100."""

_MIN_LETTERS: Final = 3
_MAX_FUZZY: Final = 2_000
_LOOK_BACK: Final = 80
_WORDS_BACK: Final = 3
_BOUNDARY: Final = re.compile(r"[.,;:!?\n]")
_WORD: Final = re.compile(r"[^\W_]+")
_SIDES: Final = frozenset({"left", "right", "bilateral", "both", "upper", "middle", "lower"})
_ALIKE: Final = str.maketrans(
    {"“": "'", "”": "'", '"': "'", "‘": "'", "’": "'", "`": "'", "–": "-", "—": "-", "‐": "-"}
)


@dataclass(frozen=True, slots=True)
class DecidingWords:
    """Words that change what a sentence says.

    Attributes
    ----------
    protected
        A near match may not differ in them: the words of every cue, and the sides.
    negations
        The words that open a negation.
    """

    protected: frozenset[str]
    negations: frozenset[str]

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> DecidingWords:
        """Take them from a vocabulary's cues."""
        cues = vocabulary.cues
        protected = {word for cue in cues for pattern in cue.words for word in _words(pattern)}
        opening = {
            _words(pattern)[0]
            for cue in cues
            if cue.kind == "negation" and cue.side == "before"
            for pattern in cue.words
            if pattern[:1].isalpha()
        }
        return cls(frozenset(protected | _SIDES), frozenset(opening))


class Grounder:
    """Finds quoted sentences in one report.

    Parameters
    ----------
    text
        The report as given.
    sections
        Its stretches that state findings; nothing is found outside them.
    deciding
        Words that change what a sentence says.
    """

    def __init__(self, text: str, sections: Sequence[Place], deciding: DecidingWords) -> None:
        self._text = text
        self._sections = sections
        self._words = deciding

    def find(self, sentence: str, *, after: int = 0) -> Place | None:
        """Find a sentence, at or after a place if it stands there, else anywhere.

        Parameters
        ----------
        sentence
            As a model quoted it.
        after
            Where the answer has got to, so that a sentence written twice is found twice.
        """
        if sum(map(str.isalpha, sentence)) < _MIN_LETTERS:
            return None
        for search in (self._exact, self._alike):
            found = search(sentence, after) or (search(sentence, 0) if after else None)
            if found is not None and self._is_whole(found):
                return found
        near = self._near(sentence)
        return near if near is not None and self._is_whole(near) else None

    def _is_whole(self, place: Place) -> bool:
        """Whether a place starts and ends between words, and behind no negation."""
        before, after = self._text[: place.start][-1:], self._text[place.end : place.end + 1]
        first, last = self._text[place.start], self._text[place.end - 1]
        if (before.isalnum() and first.isalnum()) or (last.isalnum() and after.isalnum()):
            return False
        clause = _BOUNDARY.split(self._text[max(place.start - _LOOK_BACK, 0) : place.start])[-1]
        return self._words.negations.isdisjoint(_words(clause)[-_WORDS_BACK:])

    def _exact(self, sentence: str, after: int) -> Place | None:
        for section in self._sections:
            at = self._text.find(sentence, max(section.start, after), section.end)
            if at >= 0:
                return Place(section.section, at, at + len(sentence))
        return None

    def _alike(self, sentence: str, after: int) -> Place | None:
        wanted, _ = _folded(sentence, 0)
        for section, (folded, offsets) in zip(self._sections, self._folded_sections, strict=True):
            at = folded.find(wanted)
            while at >= 0:
                if offsets[at] >= after:
                    return Place(section.section, offsets[at], offsets[at + len(wanted) - 1] + 1)
                at = folded.find(wanted, at + 1)
        return None

    def _near(self, sentence: str) -> Place | None:
        wanted, _ = _folded(sentence[:_MAX_FUZZY], 0)
        best: tuple[float, Place | None] = (FUZZY_THRESHOLD, None)
        for section, (folded, offsets) in zip(self._sections, self._folded_sections, strict=True):
            if len(folded) < len(wanted) // 2:
                continue
            match = fuzz.partial_ratio_alignment(wanted, folded, score_cutoff=best[0])
            if match is None or match.dest_end <= match.dest_start:
                continue
            first, last = _whole_words(folded, match.dest_start, match.dest_end)
            if self._agree(wanted, folded[first:last]):
                place = Place(section.section, offsets[first], offsets[last - 1] + 1)
                best = max(best, (match.score, place), key=lambda scored: scored[0])
        return best[1]

    def _agree(self, one: str, other: str) -> bool:
        """Whether two stretches are as near both ways, and share every word that decides."""
        if fuzz.ratio(one, other) < FUZZY_THRESHOLD:
            return False
        return self._deciding(one) == self._deciding(other)

    def _deciding(self, text: str) -> Counter[str]:
        return Counter(
            word for word in _words(text) if word in self._words.protected or not word.isalpha()
        )

    @cached_property
    def _folded_sections(self) -> list[tuple[str, list[int]]]:
        return [_folded(self._text[s.start : s.end], s.start) for s in self._sections]


def _folded(text: str, offset: int) -> tuple[str, list[int]]:
    """Fold case, spacing and marks; with the offset of every character that is left."""
    characters: list[str] = []
    offsets: list[int] = []
    for at, character in enumerate(text.translate(_ALIKE), start=offset):
        if not character.isspace():
            lower = character.lower()
            characters.append(lower if len(lower) == 1 else character)
        elif characters and characters[-1] != " ":
            characters.append(" ")
        else:
            continue
        offsets.append(at)
    if characters and characters[-1] == " ":
        del characters[-1], offsets[-1]
    return "".join(characters), offsets


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Widen a stretch to whole words."""
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end - 1].isspace() and not text[end].isspace():
        end += 1
    stretch = text[start:end]
    return start + len(stretch) - len(stretch.lstrip()), end - len(stretch) + len(stretch.rstrip())


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
