"""The leak scan: the cleaned text against the identifiers of everyone in the batch.

It fails closed, so what counts as a hit is chosen to be certain, not merely suspicious:

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
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from pipeline.deidentify import locks
from pipeline.deidentify.known import (
    KnownIdentifiers,
    name_words,
    normalised_number,
    number_candidates,
)
from pipeline.deidentify.rules.window import Word, Words, capital_forms, capital_words
from pipeline.names import lexicon as lexicons
from pipeline.names.lexicon import Lexicon

__all__ = ["LeakScan"]

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
        words = self.rare.union(*self.pairs)
        object.__setattr__(self, "words", words)

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
        rare = {
            word
            for each in words
            for word in each
            if len(word) >= _MIN_RARE_LETTERS and not lexicon.is_word(word)
        }
        return cls(frozenset(numbers - {""}), frozenset(pairs), frozenset(rare), lexicon)

    def hits(self, text: str) -> int:
        """Count identifiers left in a cleaned text."""
        found = (
            sum(number in self.numbers for number in number_candidates(text)) if self.numbers else 0
        )
        words = capital_words(text) if self._names_someone(text) else []
        suspects = [word for word in words if word.folded in self.rare]
        paired = sum(self._is_pair(text, a, b) for a, b in itertools.pairwise(words))
        return found + paired + (self._unguarded(text, suspects) if suspects else 0)

    def _names_someone(self, text: str) -> bool:
        """Tell fast whether any word of anyone's name stands in a text at all."""
        return not self.words.isdisjoint(capital_forms(text))

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
