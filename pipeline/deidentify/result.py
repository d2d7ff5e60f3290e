"""What de-identification returns: a clean text with what was removed, or a withheld one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

__all__ = [
    "CATEGORIES", "Category", "Clean", "Found", "Outcome", "Quarantined", "Reason", "Removed",
]  # fmt: skip

Category = Literal[
    "NAME", "DATE", "TIME", "ID", "PHONE", "EMAIL", "URL", "AGE", "HOSPITAL", "LOCATION"
]
CATEGORIES: Final[tuple[Category, ...]] = (
    "NAME", "DATE", "TIME", "ID", "PHONE", "EMAIL", "URL", "AGE", "HOSPITAL", "LOCATION",
)  # fmt: skip

Reason = Literal["leak", "phrases-changed", "text-too-long", "not-text"]
"""Why a report is withheld; a closed set, safe to print."""


class Found(NamedTuple):
    """A candidate; ``sure`` when a label or title says what it is (see `spans`)."""

    start: int
    end: int
    category: Category
    rule: str
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Removed:
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
