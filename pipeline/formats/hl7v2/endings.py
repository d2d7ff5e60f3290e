"""Which reports of a sender are cut: the tail is lost, and the sender's other messages tell.

So the files of a source are read once before their messages are. `Endings.cut` says of a report
whether it is cut, by where that happened:

* within a row. Where nearly all rows of a kind go on to a status, a last one that does not was cut,
  unless the sender ends messages so (in a signature, the time of signing): not one in many, several
  in a row that begins alike and not as findings or an impression do, hardly any row with a status
  begins so, and they are not all of one length, as those are that a store cuts;
* at a length, or by its own words: as texts of every source (`pipeline.formats.whole`);
* between two rows it is whole by itself: those that end otherwise than nearly all of their
  sender's, or lack the impression that these have, are kept and counted (`Endings.notes`).
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Final, TypeAlias

from pipeline.formats.exams import Note, SetAside
from pipeline.formats.hl7v2 import framing
from pipeline.formats.values import PARTS, is_impressed, known_words, section_of, status_of
from pipeline.formats.whole import OTHERWISE, TRIMMED, Whole, width_of

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
_NAMES: Final = "|".join(name for name in PARTS if section_of([name]) == "IMPRESSION:")
_IMPRESSION: Final = re.compile(rf"[|&^](?:{_NAMES})[|^&]", re.I)
_HEAD: Final = 200
"""On so many characters of a row it says of which part it is."""

_Kind: TypeAlias = tuple[str, str]
"""Type and part of a row, by which rows are alike."""
_CODE: Final = re.compile(r"[\w.&-]{1,20}")
_NO_TEXT: Final = known_words("no_text")
_CUT_IN_ROW: Final = SetAside(
    "damaged_segment", "it ends before the status that its sender's rows have"
)
_ANY: Final[_Kind] = ("\r", "")
"""All kinds together; no row has this one."""


@dataclass
class _Sender:
    """The rows of one sender: with a status, without one before the last, and last without one.

    Of the last it is kept how long their messages are, in characters and in bytes; of all rows of
    text how long these are, by message.
    """

    messages: int = 0
    stated: Counter[_Kind] = field(default_factory=Counter)
    opened: Counter[str] = field(default_factory=Counter)
    unstated: Counter[tuple[_Kind, str]] = field(default_factory=Counter)
    last: defaultdict[str, tuple[Counter[int], Counter[int]]] = field(
        default_factory=lambda: defaultdict(lambda: (Counter(), Counter()))
    )
    lengths: list[array[int]] = field(default_factory=list)
    whole: Whole = field(default_factory=Whole)

    def add(self, lines: Sequence[str]) -> None:
        """Take in a message."""
        self.messages += 1
        self.lengths.append(_lengths(lines))
        for texts in _texts(lines):
            self.whole.add(texts)
        bar = lines[0][3]
        for line in lines:
            if not line.startswith("OBX"):
                continue
            row = line.split(bar)
            kind, opening = _kind(row), _opening(row)
            if len(row) > _STATUS:
                self.stated[kind] += 1
                self.opened[opening] += 1
            elif line is lines[-1]:
                whole = "\r".join(lines)
                characters, octets = self.last[opening]
                characters[len(whole)] += 1
                octets[len(whole.encode())] += 1
            else:
                self.unstated[kind, opening] += 1

    def is_cut(self, row: Sequence[str], *, alone: bool) -> bool:
        """Tell a last row that was cut; of one that stands alone any rows of the sender tell."""
        kind = _kind(row)
        is_any = alone and kind not in self.stated and self.stated.total() >= _MOSTLY
        return (_ANY if is_any else kind) in self._ruled and _opening(row) not in self._habits

    @cached_property
    def width(self) -> int:
        """The length at which texts are broken into rows; 0 for none."""
        lengths, self.lengths = self.lengths, []
        return width_of(lengths)

    @cached_property
    def _ruled(self) -> set[_Kind]:
        """Kinds of which nearly all rows go on to a status."""
        stated, unstated = Counter({_ANY: self.stated.total()}), Counter[_Kind]()
        stated.update(self.stated)
        for (kind, opening), number in self.unstated.items():
            if opening not in self._habits:
                unstated.update({kind: number, _ANY: number})
        return {kind for kind, number in stated.items() if unstated[kind] * _MOSTLY <= number > 0}

    @cached_property
    def _habits(self) -> set[str]:
        """How rows begin in which the sender ends messages."""
        number = {opening: found[0].total() for opening, found in self.last.items()}
        if sum(number.values()) * _MOSTLY < self.messages:
            return set()
        return {
            opening for opening, found in self.last.items()
            if number[opening] >= max(_FEWEST, self.opened[opening] * _FEWEST)
            and all(max(each.values()) * 2 <= number[opening] for each in found)
            and not _begins_a_part(opening)
        }  # fmt: skip


def _begins_a_part(opening: str) -> bool:
    """Tell a row, or what is left of it, that begins as findings or an impression do."""
    return len(opening) > _FEWEST and any(name.startswith(opening.upper()) for name in PARTS)


class Endings:
    """How the messages of a source's files end, by sender."""

    def __init__(self, files: Sequence[Path], encoding: str) -> None:
        self._files, self._encoding = files, encoding
        self._ends: defaultdict[tuple[str, ...], Counter[tuple[str, ...]]] = defaultdict(Counter)
        self._concluded: defaultdict[tuple[str, ...], Counter[bool]] = defaultdict(Counter)

    def cut(self, lines: Sequence[str]) -> SetAside | str:
        """Tell a message that is cut, or say why a text of it counts as cut; '' where none does."""
        if self._is_cut_in_row(lines):
            return _CUT_IN_ROW
        known = self._senders.get(_sender(lines))
        return next(filter(None, map(known.whole.fault, _texts(lines))), "") if known else ""

    def _is_cut_in_row(self, lines: Sequence[str]) -> bool:
        if not lines[-1].startswith("OBX"):
            return False
        bar = lines[0][3]
        *before, last = (line.split(bar) for line in lines if line.startswith("OBX"))
        if len(last) > _STATUS:
            return False
        if before and all(len(row) <= _STATUS for row in before):  # whose rows have none
            return False
        known = self._senders.get(_sender(lines))
        if known is None:
            known = _Sender()
            known.add(lines)
        return known.is_cut(last, alone=not before)

    def add(self, lines: Sequence[str]) -> None:
        """Take in how a message ends that is read."""
        bar = lines[0][3]
        last = lines[-1].split(bar)
        of_order = next((line for line in reversed(lines) if line.startswith("OBR")), "")
        whose = *_sender(lines), status_of("".join(of_order.split(bar)[25:26]))
        row = (len(last) > _STATUS, *_kind(last), _opening(last)) if last[0] == "OBX" else ("",)
        self._ends[whose][last[0], *map(str, row)] += 1
        concluded = (_IMPRESSION.search(line, 0, _HEAD) or is_impressed(line) for line in lines[1:])
        self._concluded[whose][any(concluded)] += 1

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
        told = (note for sender in self._senders.values() for note in sender.whole.notes)
        yield from (note for note in told if note.told == OTHERWISE)

    @cached_property
    def _senders(self) -> dict[tuple[str, ...], _Sender]:
        found: defaultdict[tuple[str, ...], _Sender] = defaultdict(_Sender)
        for path in self._files:
            for message in framing.messages(path, framing.Batches()):
                lines = framing.segments(framing.decoded(message, self._encoding)[0])
                if framing.is_headed(lines):
                    found[_sender(lines)].add(lines)
        return dict(found)

    def width(self, lines: Sequence[str]) -> int:
        """Give the length at which a message's sender breaks texts into rows; 0 for none."""
        known = self._senders.get(_sender(lines))
        return known.width if known else 0


def _lengths(lines: Sequence[str]) -> array[int]:
    """Give how long the texts of a message's rows are."""
    separators = framing.Separators.of(lines[0])
    rows = (line.split(separators.field) for line in lines if line.startswith("OBX"))
    texts = ("".join(row[_VALUE : _VALUE + 1]) for row in rows if _kind(row)[0] not in _NO_TEXT)
    return array("l", (len(framing.unescaped(text, separators)) for text in texts))


def whole_words(texts: list[tuple[list[str], str]], width: int) -> list[tuple[list[str], str]]:
    """Put pieces of a text together, a blank that was lost at the end of one included."""
    whole: list[tuple[list[str], str]] = []
    is_open = False
    for row, text in texts:
        piece = text.ljust(width) if width - TRIMMED <= len(text) else text
        if is_open and whole[-1][0][3:4] == row[3:4]:
            whole[-1] = whole[-1][0], whole[-1][1] + piece
        else:
            whole.append((row, piece))
        is_open = len(piece) == width
    return [(row, text.rstrip()) for row, text in whole]


def _texts(lines: Sequence[str]) -> Iterator[list[tuple[str, str]]]:
    """Give the texts of each order, in what they are called: of rows that go on the last alone.

    A store may have cut a text before it was written with escapes, or as it stands.
    """
    separators = framing.Separators.of(lines[0])
    rows = [line.split(separators.field) for line in lines if line.startswith(("OBR", "OBX"))]
    for is_order, of_order in groupby(rows, lambda row: row[0] == "OBR"):
        texts = []
        for kind, run in groupby(() if is_order else of_order, _kind):
            written = "".join(deque(run, maxlen=1)[0][_VALUE : _VALUE + 1])
            if kind[0] not in _NO_TEXT:
                place = f"OBX-5 {kind[1]}" if _CODE.fullmatch(kind[1]) else "OBX-5"
                texts.append((place, framing.unescaped(written, separators)))
                if texts[-1][1] != written:
                    texts.insert(0, (f"{place} with its escapes", written))
        if texts:
            yield texts


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
