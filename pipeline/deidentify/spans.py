"""Who owns which characters of a report, and what is left of it: identifiers, claims, outcomes.

Locks come first, then identifiers in the order of the rules. A **lock** is a certainty phrase;
nothing takes it. A **guard** is a clinical expression that looks like a name or a number (Kerley B,
T7-T8, Foley catheter); only a rule that has seen a title or a label (a *sure* rule) may take it.
What overlaps an earlier owner keeps its free part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

Category = Literal[
    "NAME", "DATE", "TIME", "ID", "PHONE", "EMAIL", "URL", "AGE", "HOSPITAL", "LOCATION"
]
CATEGORIES: Final[tuple[Category, ...]] = get_args(Category)

Reason = Literal["leak", "phrases-changed", "text-too-long", "not-text"]
"""Why a report is withheld; a closed set, safe to print."""


class Found(NamedTuple):
    """A candidate; ``sure`` when a label or title says what it is (see `spans`)."""

    start: int
    end: int
    category: Category
    rule: str
    sure: bool = True


class Removed(NamedTuple):
    """One identifier taken out: where it stood in the original text, and which rule found it."""

    start: int
    end: int
    category: Category
    rule: str


@dataclass(frozen=True, slots=True)
class Clean:
    """A text without identifiers.

    Attributes
    ----------
    text
        The text with every identifier replaced.
    removed
        Spans in the original text, in order, not overlapping.
    phrases_locked
        Certainty phrases found before anything was removed; as many stand in ``text``.
    """

    text: str
    removed: tuple[Removed, ...]
    phrases_locked: int


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A report withheld from every later stage."""

    reason: Reason


Outcome: TypeAlias = Clean | Quarantined


_LEADING: Final = re.compile(r"(?:[\s,;:.()-]*\b(?:of|at|the|and|in|for|from|to|with)\b)*", re.I)
"""Small words that stay where an earlier owner left only them and what follows."""
LOCK: Final = 1
GUARD: Final = 2
_TAKEN: Final = 3
_GUARDED: Final = bytes((GUARD, *range(1, 256)))
_FREE: Final = {False: re.compile(rb"\x00+"), True: re.compile(rb"[\x00\x02]+")}
"""Stretches that a rule may take, a sure one guarded ones too."""
_WHOLE: Final = frozenset({"DATE", "TIME", "AGE"})
"""What overlaps a certainty phrase is no such thing: the number before "May represent"."""

_SHREDS: Final = frozenset({"M.D", "D.O", "MD", "DO", "S", "N", "O", "M", "F", "FY", "GP", "ON"})
"""What is left of a name that an earlier owner took is no name by itself."""


class Claims:
    """The ledger of one text.

    Attributes
    ----------
    text
        The text itself.
    locks
        The certainty phrases that nothing takes.
    marks
        Who owns each character: nobody (0), `LOCK`, `GUARD`, or an identifier.
    told
        What its neighbours tell to be no identifier (``rules/stays.toml``).
    """

    __slots__ = ("_doubtful", "_removed", "_sorted", "locks", "marks", "text", "told")

    def __init__(self, text: str, locks: Iterable[tuple[int, int]]) -> None:
        self.text = text
        self.marks = bytearray(len(text) + 1)  # the last for what lies outside on either side
        self._removed: dict[int, Removed] = {}  # by where they begin
        self._sorted: tuple[Removed, ...] | None = None
        self._doubtful: set[int] = set()
        self.locks = tuple(locks)
        self.told: Sequence[tuple[int, int]] = ()
        for start, end in self.locks:
            self._mark(start, end, LOCK)

    def guard(self, start: int, end: int) -> None:
        """Protect a clinical expression from the rules that go by looks alone."""
        self.marks[start:end] = self.marks[start:end].translate(_GUARDED)

    def take(self, start: int, end: int, category: Category, rule: str, *, sure: bool) -> None:
        """Take the free part of a span as an identifier."""
        marks = self.marks
        if not sure:
            self._doubtful.add(start)
        if marks.count(0, start, end) == end - start:
            self._record(start, end, category, rule)
            return
        if category in _WHOLE and LOCK in marks[start:end]:
            return
        for free in list(_FREE[sure].finditer(marks, start, end)):
            self._record_part(*free.span(), category, rule)

    def has_taken(self, start: int, end: int) -> bool:
        """Tell whether every letter and figure of a span is some identifier's."""
        marks, text = self.marks, self.text
        return all(marks[at] == _TAKEN for at in range(start, end) if text[at].isalnum())

    def is_beside(self, start: int, end: int) -> bool:
        """Tell whether something taken stands before or behind a span, with blanks or & between."""
        behind = self.text[end : end + 4]
        left = len(self.text[:start].rstrip(" &"))
        right = end + len(behind) - len(behind.lstrip(" &"))
        return _TAKEN in (self.marks[left - 1], self.marks[right])

    def doubtful(self) -> tuple[Removed, ...]:
        """Give the identifiers that were taken whole and by their looks alone."""
        return tuple(each for each in self.removed() if each.start in self._doubtful)

    def give_back(self, spans: Iterable[Removed]) -> None:
        """Let spans stay in the text after all."""
        for each in spans:
            self._removed.pop(each.start, None)
            self._mark(each.start, each.end, 0)

    def join(self, start: int, end: int, category: Category, rule: str) -> None:
        """Take a stretch as one identifier, with those that begin in it, up to a locked phrase."""
        inside = [self._removed[at] for at in range(start, end) if at in self._removed]
        end = max((end, *(each.end for each in inside)))
        if len(inside) == 1 and (inside[0].start, inside[0].end) == (start, end):
            return
        taken = sum(each.end - each.start for each in inside)
        if LOCK in self.marks[start:end] or self.marks.count(_TAKEN, start, end) > taken:
            return
        for each in inside:
            del self._removed[each.start]
        self._record(start, end, category, rule)

    def removed(self) -> tuple[Removed, ...]:
        """Give all identifiers in the order of the text."""
        self._sorted = self._sorted or tuple(map(self._removed.__getitem__, sorted(self._removed)))
        return self._sorted

    def _record_part(self, start: int, end: int, category: Category, rule: str) -> None:
        start += len(_LEADING.match(self.text, start, end).group())  # type: ignore[union-attr]
        part = self.text[start:end]
        left = len(part) - len(part.lstrip(" \t\r\n,;:.()-"))
        right = len(part.rstrip(" \t\r\n,;:()-"))
        if any(map(str.isalnum, part)) and part not in _SHREDS:
            self._record(start + left, start + right, category, rule)

    def _record(self, start: int, end: int, category: Category, rule: str) -> None:
        self._removed[start] = Removed(start, end, category, rule)
        self._mark(start, end, _TAKEN)

    def _mark(self, start: int, end: int, mark: int) -> None:
        self._sorted = None
        self.marks[start:end] = bytes((mark,)) * (end - start)
