"""What a source's texts tell of each other: which of them a store has cut.

A store that cuts at a limit says so nowhere, and a report that lost its impression reads as one
that says nothing. But its texts then end at one length, where others of the export hardly ever do,
and not as others end. So the texts of each place (a column, OBX-5, `conclusion`) are measured once
before they are judged: in characters and in UTF-8 bytes, a line's end counted as one and as two,
for nobody knows in which a store counts. A length is a limit where it would hardly ever come about
by chance that so many different texts have it, or so many that end as few others do. What counts as
chance is told by the lengths around it; round lengths are suspected sooner. Texts that end alike
are a form's and count once.

A text that begins with a heading, ends as few others do, and lacks the impression that nearly all
have, was cut too. One of which only either of the last two is so is kept and counted: some write a
line without heading and full stop.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from pipeline.formats.exams import Note
from pipeline.formats.values import data, is_impressed

OTHERWISE: Final = "report that ends otherwise than nearly all of its export's: is it whole?"
NO_IMPRESSION: Final = "report without an impression, which most of its export's have: is it whole?"
_MEASURES: Final = (
    "characters", "bytes", "characters, line ends as two", "bytes, line ends as two",
)  # fmt: skip
_SHORTEST: Final = 100
"""No store has a lower limit."""
TRIMMED: Final = 3
"""So much shorter a cut text may be: a blank at its end is trimmed, half a character dropped."""
_ENDING: Final = 12
_CHANCE: Final = 0.01
"""Of a hundred exports that cut nothing one may have such a length."""
_FEW: Final = 0.05
"""A way to end of fewer texts is one of few; an impression that no more lack is the rule."""
_SOME: Final = 0.2
"""Where no more lack an impression, these are counted."""
_LEAST: Final = 5
_NARROWEST: Final = 40
"""No piece of a text is shorter."""
_ENOUGH: Final = 20
"""Of fewer reports nothing is said of how most of them are."""
_ROUND: Final = frozenset(
    {n for base in (100, 250, 256) for n in range(base, 4001, base)}
    | {n * k + d for k in (1000, 1024) for n in (5, 6, 8, 10, 16, 20, 30, 32, 64) for d in (-1, 0)}
    | {254, 255, 511, 512, 1023, 2047, 4095, 32767, 65535}
)
_FILLING: Final = " \t\r\n\x00\u00a0\ufffd"
_SAYS_SO: Final = re.compile(data("words")["cut"]["pattern"])
_SUSPECTS: Final = 20
"""A store's limit is one of so many, where it is a round number."""
_BESIDE: Final = ("INDICATION", "COMPARISON", "TECHNIQUE")
"""Parts of which no statement is read: nothing is lost that counts where one is cut."""
_OTHERS: Final = 10
"""A length that is none must be so many times clearer."""
_MOST: Final = 0.5
_TRAILING: Final = ord("~")
_OPEN: Final = ",;:-/&(<[+'"
"""Signs at which a text is not over."""
_TITLE: Final = re.compile(r"\s*[A-Z][A-Za-z /&()-]{2,40}:")
_TRAILS: Final = ("...", "\u2026")
_FIGURES: Final = str.maketrans("012345678", "9" * 9)


def says_so(text: str) -> bool:
    """Tell a text that says at its end that it goes on elsewhere.

    Examples
    --------
    >>> says_so("The left lower lo [truncated]"), says_so("Findings continued to improve.")
    (True, False)
    """
    return _SAYS_SO.search(text[-80:].rstrip(_FILLING)) is not None


def width_of(texts: Sequence[Sequence[int]]) -> int:
    """Give the length at which texts were broken into rows without regard to words; 0 for none.

    Parameters
    ----------
    texts
        The lengths of the rows of each text.
    """
    widest = max((length for rows in texts for length in rows), default=0)
    inner = Counter(length for rows in texts for length in rows[:-1])
    full = sum(number for length, number in inner.items() if widest - length <= TRIMMED)
    is_rule = inner.total() >= _LEAST and full >= inner.total() * (1 - _FEW)
    return widest if is_rule and widest >= _NARROWEST else 0


class _Place:
    """The texts of one place by their lengths and how they end."""

    def __init__(self) -> None:
        self._lengths = tuple(array("l") for _ in _MEASURES)
        self._endings = array("L")
        self._shapes = array("B")

    def add(self, text: str) -> None:
        """Take in a text."""
        for lengths, length in zip(self._lengths, _lengths(text), strict=True):
            lengths.append(length)
        self._endings.append(crc32(text[-_ENDING:].translate(_FIGURES).encode("utf-8", "replace")))
        self._shapes.append(_shape(text))

    def __len__(self) -> int:
        return len(self._shapes)

    def is_odd(self, text: str) -> bool:
        """Tell a text that ends as few do; one that trails off does unless most do."""
        shape = _shape(text)
        if shape == _TRAILING:
            return bool(self._shares[shape] < _MOST)
        is_few = len(self) >= _ENOUGH and self._shares[shape] <= _FEW
        return bool(is_few and (text[-1].isalnum() or text[-1] in _OPEN))

    def limit(self, text: str) -> tuple[str, int]:
        """Give the limit at which a text was cut, and in what it is counted; 0 for none."""
        lengths = _lengths(text) if self._limits else ()
        for measure, limit in self._limits:
            if 0 <= limit - lengths[measure] <= TRIMMED:
                return _MEASURES[measure], limit
        return "", 0

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        return np.bincount(self._shapes, minlength=256) / len(self)

    @cached_property
    def _limits(self) -> list[tuple[int, int]]:
        """Find limits, each with its measure, the clearest first.

        Texts that one explains tell of no other: what is cut at so many characters has not many
        different numbers of bytes.
        """
        measured = [np.asarray(each) for each in self._lengths]
        endings, shapes = np.asarray(self._endings), np.asarray(self._shapes)
        found: list[tuple[int, int]] = []
        while True:
            each = [_clearest(lengths, endings, shapes) for lengths in measured]
            chance, measure = min((one[0], at) for at, one in enumerate(each))
            if chance >= _CHANCE:
                return found
            limit = each[measure][1]
            found.append((measure, limit))
            short = limit - measured[measure]
            left = (short < 0) | (short > TRIMMED)
            measured = [lengths[left] for lengths in measured]
            endings, shapes = endings[left], shapes[left]


def _clearest(
    lengths: NDArray[np.int64], endings: NDArray[np.uint64], shapes: NDArray[np.uint8]
) -> tuple[float, int]:
    """Find the length that is the least likely one by chance, and how likely it is."""
    _, first = np.unique(np.stack([lengths, endings.astype(np.int64)]), axis=1, return_index=True)
    lengths, shapes = lengths[first], shapes[first]
    values, counts = np.unique(lengths, return_counts=True)
    best = 1.0, 0
    for at in np.flatnonzero(values >= _SHORTEST):
        length, count = int(values[at]), int(counts[at])
        rate = _rate(values, counts, length)
        if length not in _ROUND and count <= max(2.0, 2 * rate):
            continue
        others = np.bincount(shapes[abs(lengths - length) > TRIMMED], minlength=256)
        number = int(others.sum())
        odd = others <= max(1.0, _FEW * number)
        few = int(odd[shapes[lengths == length]].sum())
        share = (int(others[odd].sum()) + 1) / (number + 2)
        chance = min(_tail(few, rate * share), _tail(count, rate) if count > _ENOUGH else 1.0)
        chance *= _SUSPECTS if length in _ROUND else _OTHERS * len(values)
        best = min(best, (chance, length))
    return best


def _rate(values: NDArray[np.int64], counts: NDArray[np.int64], length: int) -> float:
    """Give how many different texts a length near this one has: the more of both sides."""
    width = max(_ENOUGH, length // 10)
    below = (values >= length - width) & (values < length - TRIMMED)
    above = (values > length) & (values <= length + width)
    return max(1.0, float(counts[below].sum()), float(counts[above].sum())) / width


def _tail(count: int, rate: float) -> float:
    """Bound how likely so many are, where so many are to be expected (Poisson)."""
    if count <= rate:
        return 1.0
    power = count * math.log(rate)
    whole = power - rate + count * (1 - math.log(count))
    return math.exp(min(power - math.lgamma(count + 1), whole))


def _lengths(text: str) -> tuple[int, int, int, int]:
    breaks = text.count("\n") - text.count("\r\n")
    octets = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
    return len(text), octets, len(text) + breaks, octets + breaks


def _shape(text: str) -> int:
    """Give the kind of a text's last character: a letter, a figure, or the sign itself."""
    last = text[-1:]
    if text.endswith(_TRAILS):
        return _TRAILING
    if last.isdigit():
        return ord("9")
    if last.isalpha():
        return ord("A") if last.isupper() else ord("a")
    return ord("." if last in "!?\u3002" else last) % 256 if last else 0


class Whole:
    """The reports of a source, each by its texts and the place that each stands in."""

    def __init__(self) -> None:
        self._places: defaultdict[str, _Place] = defaultdict(_Place)
        self._impressed: Counter[bool] = Counter()
        self._told: Counter[str] = Counter()

    def add(self, texts: Iterable[tuple[str, str]]) -> None:
        """Take in a report."""
        filled = _filled(texts)
        for place, text in filled:
            self._places[place].add(text)
        if filled:
            self._impressed[_is_impressed(filled)] += 1

    def fault(self, texts: Iterable[tuple[str, str]]) -> str:
        """Say why a report of those that were taken in is not whole; '' where it may be."""
        filled = _filled(texts)
        if any(says_so(text) for _, text in filled):
            return "it says at its end that it goes on"
        for place, text in filled:
            measure, limit = self._places[place].limit(text)
            if limit:
                return f"{place} ends at {limit:,} {measure}, where texts of this export are cut"
        is_odd = bool(filled and self._places[place].is_odd(text))
        lacks = bool(filled and self._lacking <= _SOME and not _is_impressed(filled))
        if is_odd and lacks and self._lacking <= _FEW and _TITLE.match(filled[0][1]):
            return "it ends as few do, and lacks the impression that nearly all have"
        self._told.update([OTHERWISE] * is_odd + [NO_IMPRESSION] * lacks)
        return ""

    @property
    def notes(self) -> Iterator[Note]:
        """Count the reports of which one of both is so."""
        for told in self._told.elements():
            yield Note(told)

    @property
    def _lacking(self) -> float:
        """Give the share of reports without an impression; all, where they are too few to tell."""
        number = self._impressed.total()
        return self._impressed[False] / number if number >= _ENOUGH else 1.0


def _filled(texts: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Give the texts without what only fills them up; those of which nothing is read are none."""
    stripped = ((place, text.rstrip(_FILLING)) for place, text in texts if not _is_beside(place))
    return [(place, text) for place, text in stripped if text]


@cache
def _is_beside(place: str) -> bool:
    patterns = (data("words")["heading"][name] for name in _BESIDE)
    return re.search("|".join(patterns), place, re.IGNORECASE) is not None


def _is_impressed(texts: Iterable[tuple[str, str]]) -> bool:
    return any(_concludes(place) or is_impressed(text) for place, text in texts)


@cache
def _concludes(place: str) -> bool:
    return re.search(data("words")["heading"]["IMPRESSION"], place, re.IGNORECASE) is not None
