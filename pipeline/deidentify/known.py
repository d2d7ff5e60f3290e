"""Known identifiers: what the record's own fields say, looked for in its text; then a last scan.

Names are matched word by word, capitalised or in capitals only, on token boundaries, with one
typing error allowed in words of six letters or more; words of one or two letters are left to the
other rules. A name that is also a word of reports (White, Long, Case) is taken only where it
stands as a name: beside another known part, after an initial, or capitalised inside a sentence
that is not itself in capitals. Numbers are matched whole, with or without their punctuation.

`LeakScan` holds the cleaned text against the identifiers of everyone in the batch. It fails closed,
so what counts as a hit is chosen to be certain, not merely suspicious:

- a **number** (patient id, accession, phone) of anyone, whole, with four digits or more;
- a **full name** of anyone: two of their name words side by side, in either order, capitalised;
- a **rare family name** of anyone: a capitalised word of four letters or more that is no word of
  reports, no clinical name and not part of an eponym (Parkinson disease).

Somebody's surname White, Long, May or Fields is therefore no hit in "White matter" or "lung
Fields", while "May White" side by side is one if a May White is in the batch.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from rapidfuzz.distance import DamerauLevenshtein

from pipeline.deidentify import locks
from pipeline.deidentify.rules.window import Word, Words, capital_forms, capital_words
from pipeline.deidentify.spans import Found
from pipeline.names import lexicon as lexicons
from pipeline.names.lexicon import Lexicon

_FIGURES: Final = re.compile(r"\d[A-Za-z0-9]{0,40}")
_LETTERS: Final = re.compile(r"(?:[A-Za-z]{1,8}|(?<![A-Za-z])[A-Z]{1,6}(?P<gap>[-_.#/ ]))$")
_JOINER: Final = re.compile(r"[-_./ #()]{1,2}")
_MAX_PARTS: Final = 5
_MAX_GAP: Final = 2
_NOT_ALNUM: Final = re.compile(r"[^a-z0-9]")
_NOT_CODE: Final = bytes(code for code in range(128) if not chr(code).isalnum())
_JOIN: Final = re.compile(r"[ \t]{0,3}[,^ \t-]?[ \t]{0,3}(?:[A-Za-z]\.?[ \t]{1,2})?")
_MIN_LETTERS: Final = 3
_MIN_FUZZY_LETTERS: Final = 6
_MIN_DIGITS: Final = 4
_SUFFIXES: Final = frozenset(
    {"jr", "sr", "iii", "md", "phd", "dr", "mrs", "miss", "prof", "the", "and"}
)


@dataclass(frozen=True, slots=True)
class KnownIdentifiers:
    """The names of people, and the numbers and codes, that a record's structured fields hold."""

    names: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()


def name_words(name: str) -> tuple[str, ...]:
    """Give the folded words of a name that are long enough to be looked for."""
    folded = Words(name).folded
    return tuple(word for word in folded if len(word) >= _MIN_LETTERS and word not in _SUFFIXES)


def normalised_number(number: str) -> str:
    """Fold a number or code to its letters and digits; '' if it is too short to look for."""
    folded = _NOT_ALNUM.sub("", number.casefold())
    return folded if sum(c.isdigit() for c in folded) >= _MIN_DIGITS else ""


def number_candidates(text: str) -> Iterator[str]:
    """Give every number and code of a text in normalised form, each part and each whole."""
    return (folded for _, _, folded in _candidates(text))


def find(
    text: str, found_words: Words, known: KnownIdentifiers, lexicon: Lexicon
) -> Iterator[Found]:
    """Find this record's own identifiers in its text."""
    yield from _numbers(text, known)
    names = {word for name in known.names for word in name_words(name)}
    hits = _hits(found_words, names, lexicon) if names else {}
    for at, word in hits.items():
        if _stands_as_name(text, found_words, hits, at, lexicon):
            yield Found(word.start, word.end, "NAME", "known-name", sure=False)


def _numbers(text: str, known: KnownIdentifiers) -> Iterator[Found]:
    wanted = {number for raw in known.numbers if (number := normalised_number(raw))}
    if not wanted:
        return
    folded_text = text.casefold().encode("ascii", "ignore").translate(None, _NOT_CODE)
    if not any(number.encode() in folded_text for number in wanted):
        return  # not even with everything between its figures left out
    for start, end, folded in _candidates(text):
        if folded in wanted:
            yield Found(start, end, "ID", "known-number")


def _candidates(text: str) -> Iterator[tuple[int, int, str]]:
    """Give runs of letter-digit parts joined by one separator: each part, and up to five joined."""
    parts = _parts(text)
    alone = len(parts) - 1
    for first, (start, end) in enumerate(parts):
        if end - start < _MIN_DIGITS and (first == alone or parts[first + 1][0] - end > _MAX_GAP):
            continue  # most figures: few, and nothing to join
        folded = text[start:end].casefold()
        if len(folded) >= _MIN_DIGITS and any(map(str.isdigit, folded)):
            yield start, end, folded
        for following, stop in parts[first + 1 : first + _MAX_PARTS]:
            if following - end > _MAX_GAP or _JOINER.fullmatch(text, end, following) is None:
                break
            end = stop
            folded += text[following:stop].casefold()
            yield start, end, folded


def _parts(text: str) -> list[tuple[int, int]]:
    """Find figures with the letters around them, and capitals a separator before them."""
    parts: list[tuple[int, int]] = []
    done = 0
    for match in _FIGURES.finditer(text):
        start, end = match.span()
        before = None
        if start and _may_belong(text, start):
            before = _LETTERS.search(text[max(done, start - 9) : start])
        if before and before.group("gap"):
            parts.append((start - len(before.group()), start - 1))
        elif before:
            start -= len(before.group())
        done = end
        parts.append((start, done))
    return parts


def _may_belong(text: str, start: int) -> bool:
    """Tell fast whether letters stand before a figure, or capitals and a separator."""
    before = text[start - 1]
    return before.isalpha() or (before in "-_.#/ " and text[start - 2 : start - 1].isupper())


def _hits(found_words: Words, names: set[str], lexicon: Lexicon) -> dict[int, Word]:
    """Give the capitalised words that are a name, with one typing error allowed in long ones."""
    long = [n for n in names if len(n) >= _MIN_FUZZY_LETTERS and not lexicon.is_word(n)]
    firsts = {name[0] for name in long}
    folded = found_words.folded
    return {
        at: found_words[at]
        for at in found_words.capitals
        if folded[at] in names
        or (folded[at][0] in firsts and _is_mistyped(folded[at], long, lexicon))
    }


def _is_mistyped(folded: str, names: list[str], lexicon: Lexicon) -> bool:
    if len(folded) < _MIN_FUZZY_LETTERS or lexicon.is_word(folded):
        return False
    return any(
        name[0] == folded[0] and DamerauLevenshtein.distance(name, folded, score_cutoff=1) <= 1
        for name in names
    )


def _stands_as_name(
    text: str, words: Words, hits: Mapping[int, Word], at: int, lexicon: Lexicon
) -> bool:
    if not lexicon.is_word(words.folded[at]) or _beside_another(text, hits, at):
        return True
    return not text.isupper() and _capital_inside_sentence(text, words, at)


def _beside_another(text: str, hits: Mapping[int, Word], at: int) -> bool:
    for other in (at - 1, at + 1, at - 2, at + 2):
        if other in hits and hits[other].folded != hits[at].folded:
            left, right = sorted((other, at))
            if _JOIN.fullmatch(text, hits[left].end, hits[right].start):
                return True
    return False


def _capital_inside_sentence(text: str, words: Words, at: int) -> bool:
    """Tell whether the words on both sides, on the same line, are in small letters."""
    if at == 0 or at + 1 == len(words):
        return False
    before, word, after = words[at - 1], words[at], words[at + 1]
    if before.capital or after.capital or text[before.end : word.start] not in (" ", "  "):
        return False
    return text[word.end : after.start] in (" ", "  ", ", ")


_MIN_RARE_LETTERS: Final = 4
_BESIDE: Final = re.compile(r"[ \t]{0,2}[,^\n-]?[ \t]{0,4}")
"""What may stand between two words of one name; a full stop parts them."""


@dataclass(frozen=True, slots=True)
class LeakScan:
    """Everything that must not stand in any cleaned text of a batch.

    Attributes
    ----------
    numbers
        Normalised numbers and codes.
    pairs
        Two different words of one person's name.
    rare
        Name words that no report uses as words.
    """

    numbers: frozenset[str]
    pairs: frozenset[frozenset[str]]
    rare: frozenset[str]
    lexicon: Lexicon
    words: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Collect every word that could make a hit."""
        object.__setattr__(self, "words", self.rare.union(*self.pairs))

    @classmethod
    def from_known(
        cls, known: Iterable[KnownIdentifiers], *, lexicon: Lexicon | None = None
    ) -> LeakScan:
        """Collect the identifiers of a batch."""
        lexicon = lexicon or lexicons.load()
        numbers: set[str] = set()
        names: set[str] = set()
        for record in known:
            numbers.update(map(normalised_number, record.numbers))
            names.update(record.names)
        words = [name_words(name) for name in names]
        pairs = {frozenset((a, b)) for each in words for a in each for b in each if a != b}
        long = (word for each in words for word in each if len(word) >= _MIN_RARE_LETTERS)
        rare = {word for word in long if not lexicon.is_word(word)}
        return cls(frozenset(numbers - {""}), frozenset(pairs), frozenset(rare), lexicon)

    def hits(self, text: str) -> int:
        """Count identifiers left in a cleaned text."""
        numbers = number_candidates(text) if self.numbers else ()
        found = sum(number in self.numbers for number in numbers)
        words = capital_words(text) if self._names_someone(text) else []
        suspects = [word for word in words if word.folded in self.rare]
        paired = sum(self._is_pair(text, a, b) for a, b in itertools.pairwise(words))
        return found + paired + (self._unguarded(text, suspects) if suspects else 0)

    def _names_someone(self, text: str) -> bool:
        """Tell fast whether any word of anyone's name stands in a text at all."""
        return bool(self.words) and not self.words.isdisjoint(capital_forms(text))

    def _is_pair(self, text: str, a: Word, b: Word) -> bool:
        if frozenset((a.folded, b.folded)) not in self.pairs:
            return False
        return _BESIDE.fullmatch(text, a.end, b.start) is not None

    def _unguarded(self, text: str, suspects: list[Word]) -> int:
        spans = list(locks.guarded(text, Words(text), self.lexicon))
        return sum(
            not any(start <= word.start and word.end <= end for start, end in spans)
            for word in suspects
        )
