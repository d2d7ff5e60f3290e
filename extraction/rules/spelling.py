"""How words are read that are spelled otherwise, or that slipped in the typing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

# Words as short may have two letters swapped or one too many; as long, any slip before the ending.
_SWAPPED, _SLIPPED, _ENDING = 7, 8, 2
_VOWELS: Final = frozenset("aeiouy")
_REMEMBERED: Final = 100_000


class Spelling(dict[str, str]):
    """Every word met, as it is read: by a table, or as the known word that it is one slip from.

    A slip leaves the first letter and the ending: two letters swapped, one left out, one too many,
    a vowel for another. "Injection" is no infection, so consonants are never exchanged.

    Examples
    --------
    >>> spelling = Spelling({"oedema": "edema"}, ["pneumonia", "infection"])
    >>> [spelling[word] for word in ("oedema", "pnuemonia", "injection")]
    ['edema', 'pneumonia', 'injection']
    """

    def __init__(self, table: Mapping[str, str], known: Iterable[str]) -> None:
        super().__init__((word, word) for word in known)
        self.update(table)
        self._known = frozenset(word for word in self if len(word) >= _SWAPPED and word.isalpha())
        self._shorter: dict[str, list[tuple[int, str]]] = {}
        for word in self._known:
            if len(word) >= _SLIPPED:
                for k in range(1, len(word) - 1):
                    self._shorter.setdefault(word[:k] + word[k + 1 :], []).append((k, word))

    def __missing__(self, word: str) -> str:
        meant = self._meant(word) if len(word) >= _SWAPPED and word.isalpha() else word
        if len(self) < _REMEMBERED:
            self[word] = meant
        return meant

    def _meant(self, word: str) -> str:
        """Give the only known word that is one slip away; the word itself where none is."""
        inner = range(1, len(word) - 1)
        swapped = (f"{word[:k]}{word[k + 1]}{word[k]}{word[k + 2 :]}" for k in inner)
        cut = [f"{word[:k]}{word[k + 1 :]}" for k in inner]
        found = {other for other in (*swapped, *cut) if other in self._known}
        found.update(other for _, other in self._shorter.get(word, ()))
        for k, shorter in enumerate(cut[:-_ENDING], start=1):
            same = (other for at, other in self._shorter.get(shorter, ()) if at == k)
            found.update(other for other in same if {word[k], other[k]} <= _VOWELS)
        found = {self.get(other, other) for other in found}
        return found.pop() if len(found) == 1 else word
