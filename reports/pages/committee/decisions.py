"""At most three proposals to decide on, each with the readers it rests on; nobody is named.

A phrase is proposed where several readers' pages say of it that CT shows more, or less, than the
word; "absent" and "present" where several readers' are contradicted by CT more often than others'.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from calibration.profile import DepartmentProfile, ReaderProfile
from reports.content import SuppressedCell
from reports.drawing.document import Section, statement
from reports.drawing.layout import Prose
from reports.drawing.style import BODY
from reports.review_content import CommitteeContent
from reports.strings import Strings
from reports.swaps import Side, kept_swaps, side_of
from reports.verdict import sides

__all__ = ["decisions"]

_MOST: Final = 3
_LEAST_READERS: Final = 2
_LEAST_SHARE: Final = 0.25


def decisions(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Lay out the proposals; nothing where readers were not judged together."""
    found = content.profiles
    if found is None or isinstance(found, SuppressedCell):
        return ()
    proposed = _proposed(found, words)
    pieces = tuple(Prose(text, BODY) for text in proposed[:_MOST])
    none = (statement(words("decisions.none")),)
    return (Section(words("decisions.title"), pieces or none, room=60.0),)


def _proposed(found: DepartmentProfile, words: Strings) -> list[str]:
    """Give all proposals, those of most readers first."""
    readers = found.readers
    enough = max(_LEAST_READERS, _LEAST_SHARE * len(readers))
    marked = Counter(item for reader in readers for item in sides(reader).items())
    parts = [(n, _phrase(phrase, side, n, readers, words)) for (phrase, side), n in marked.items()]
    for name in ("absent", "present"):
        n = sum(getattr(reader, name).state == "more often" for reader in readers)
        text = words(f"decisions.{name}", n=n, readers=len(readers))
        parts.append((n, text))
    kept = [(n, text) for n, text in parts if n >= enough]
    return [text for _, text in sorted(kept, key=lambda part: (-part[0], part[1]))]


def _phrase(
    phrase: str, side: Side, n: int, readers: tuple[ReaderProfile, ...], words: Strings
) -> str:
    """Say how many readers use a phrase too low or too high, and which word most are advised."""
    text = words(f"decisions.{side}", phrase=phrase, n=n, readers=len(readers))
    instead = Counter(
        swap.instead
        for reader in readers
        for swap in kept_swaps(reader)
        if swap.phrase == phrase
        and not swap.finding
        and side_of(swap.instead_meaning, swap.meaning) == side
    )
    word, advised = min(instead.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
    if advised < _LEAST_READERS:
        return text
    return f"{text} {words('decisions.instead', instead=word, n=advised)}"
