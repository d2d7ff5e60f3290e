"""How a sender's messages end: what tells one that breaks off from one that always ends so.

A message that is cut within a row, and one whose last row (a signature, the time of signing) never
has a status, look alike; the other messages of the sender tell them apart. Where nearly all rows of
a kind go on to a status, a last one that does not was cut, unless the sender ends messages so:
several end in a row that begins alike, hardly any row with a status begins so, and they are not all
of one length, as those are that a store cuts. So the files of a source are read once more, but only
where a message ends in such a row.

A message cut between two rows is whole by itself. Those that end otherwise than nearly all of their
sender's, or lack the impression that these have, are counted.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias

from pipeline.formats.exams import Note
from pipeline.formats.hl7v2 import framing
from pipeline.formats.values import known_words, status_of

_VALUE, _STATUS = 5, 11
_SENDER: Final = slice(2, 4)
_WORD: Final = re.compile(r"\s{0,40}([^\W\d_]{1,40}|\S{1,20})")
_DIGIT: Final = re.compile(r"\d")
_FEWEST: Final = 3
"""So many messages make a habit."""
_MOSTLY: Final = 20
"""One in so many is an exception; of fewer messages nothing is said of how most of them end."""
_OTHERWISE: Final = "HL7 report that ends otherwise than nearly all of its sender's: is it whole?"
_NO_IMPRESSION: Final = (
    "HL7 report without an impression, which nearly all of its sender's have: is it whole?"
)
_ENDING: Final = "IMPRESSION:"
_NAMES: Final = [name for name, heading in known_words("section").items() if heading == _ENDING]
_IMPRESSION: Final = re.compile(
    rf"[|&^](?:{'|'.join(_NAMES)})[|^&]|\b(?:{'|'.join(_NAMES)})\s?:", re.I
)

_Kind: TypeAlias = tuple[str, str]
"""Type and part of a row, by which rows are alike."""
_Opening: TypeAlias = tuple[_Kind, str]


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of one sender: with a status, without one before the last, and last without one.

    Of the last it is kept how long their messages are, in characters and in bytes.
    """

    stated: Counter[_Kind] = field(default_factory=Counter)
    unstated: Counter[_Opening] = field(default_factory=Counter)
    opened: Counter[_Opening] = field(default_factory=Counter)
    last: defaultdict[_Opening, list[Counter[int]]] = field(
        default_factory=lambda: defaultdict(lambda: [Counter(), Counter()])
    )

    def add(self, lines: Sequence[str]) -> None:
        """Take in a message."""
        bar = lines[0][3]
        for line in lines:
            if not line.startswith("OBX"):
                continue
            row = line.split(bar)
            kind, opening = _kind(row), _opening(row)
            if len(row) > _STATUS:
                self.stated[kind] += 1
                self.opened[kind, opening] += 1
            elif line is lines[-1]:
                whole = "\r".join(lines)
                for lengths, length in zip(
                    self.last[kind, opening], (len(whole), len(whole.encode())), strict=True
                ):
                    lengths[length] += 1
            else:
                self.unstated[kind, opening] += 1

    def is_cut(self, row: Sequence[str], *, alone: bool) -> bool:
        """Tell a last row that was cut; of one that stands alone any rows of the sender tell."""
        kind, stated = _kind(row), self.stated[_kind(row)]
        is_any = alone and not stated and self.stated.total() >= _MOSTLY
        if is_any:
            stated = self.stated.total()
        unstated = sum(
            number for opening, number in self.unstated.items()
            if (is_any or opening[0] == kind) and not self._is_habit(opening)
        )  # fmt: skip
        is_rule = stated > 0 and unstated * _MOSTLY <= stated
        return is_rule and not self._is_habit((kind, _opening(row)))

    def _is_habit(self, opening: _Opening) -> bool:
        found = self.last.get(opening, ())
        number = found[0].total() if found else 0
        is_of_ends = number >= _FEWEST and self.opened[opening] * _FEWEST <= number
        return is_of_ends and all(max(each.values()) * 2 <= number for each in found)


class Endings:
    """How the messages of a source's files end, by sender."""

    def __init__(self, files: Sequence[Path], encoding: str) -> None:
        self._files, self._encoding = files, encoding
        self._ends: defaultdict[tuple[str, ...], Counter[tuple[str, ...]]] = defaultdict(Counter)
        self._concluded: defaultdict[tuple[str, ...], Counter[bool]] = defaultdict(Counter)

    def breaks_off(self, lines: Sequence[str]) -> bool:
        """Tell a message that ends within a row."""
        if not lines[-1].startswith("OBX"):
            return False
        bar = lines[0][3]
        *before, last = (line.split(bar) for line in lines if line.startswith("OBX"))
        if len(last) > _STATUS:
            return False
        if before and all(len(row) <= _STATUS for row in before):  # whose rows have none
            return False
        known = self._rows.get(_sender(lines))
        if known is None:
            known = _Rows()
            known.add(lines)
        return known.is_cut(last, alone=not before)

    def add(self, lines: Sequence[str]) -> None:
        """Take in how a message ends that is read."""
        bar = lines[0][3]
        last = lines[-1].split(bar)
        of_order = next((line for line in reversed(lines) if line.startswith("OBR")), "")
        whose = *_sender(lines), status_of("".join(of_order.split(bar)[25:26]))
        end = last[0], "", ""
        if last[0] == "OBX":
            end = (f"{last[0]} {len(last) > _STATUS}", *_kind(last))
        self._ends[whose][*end, _opening(last) if last[0] == "OBX" else ""] += 1
        self._concluded[whose][any(map(_IMPRESSION.search, lines[1:]))] += 1

    @property
    def notes(self) -> Iterator[Note]:
        """Count the messages that end otherwise than nearly all of their sender's."""
        for whose, ends in self._ends.items():
            coarse: Counter[tuple[str, ...]] = Counter()
            for end, number in ends.items():
                coarse[end[:-1]] += number
            tops = [max(each.values()) for each in (ends, coarse)]
            yield from [Note(_OTHERWISE)] * _others(ends.total(), *tops)
            concluded = self._concluded[whose]
            yield from [Note(_NO_IMPRESSION)] * _others(concluded.total(), concluded[True])

    @cached_property
    def _rows(self) -> dict[tuple[str, ...], _Rows]:
        found: defaultdict[tuple[str, ...], _Rows] = defaultdict(_Rows)
        for path in self._files:
            for message in framing.messages(path, framing.Batches()):
                lines = framing.segments(framing.decoded(message, self._encoding)[0])
                if framing.is_headed(lines):
                    found[_sender(lines)].add(lines)
        return dict(found)


def _others(number: int, *alike: int) -> int:
    """Count those that are none of nearly all that are alike; 0 where no such rule is seen."""
    found = (number - each for each in alike if (number - each) * _MOSTLY <= each)
    return next(found, 0) if number >= _MOSTLY else 0


def _sender(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(lines[0].split(lines[0][3])[_SENDER])


def _kind(row: Sequence[str]) -> _Kind:
    """Give a row's type, and its part by the suffix of its code, or by the code."""
    kind, name = (*row[2:4], "", "")[:2]
    code = name.split("^")[0]
    return kind, code.rpartition("&")[2] if "&" in code else name


def _opening(row: Sequence[str]) -> str:
    """Give the first word of a row's value, or the shape of what stands there."""
    found = _WORD.match("".join(row[_VALUE : _VALUE + 1]))
    return _DIGIT.sub("9", found[1]).casefold() if found else ""
