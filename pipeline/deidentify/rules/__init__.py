"""Rules in, identifiers out: rows of tables and the few families that need code, in one order.

Rows are data (``*.toml``, see `rows`); a family of code is a module. `ORDER` is the only place that
says who comes first; within a table the order is that of its rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, compress, count
from operator import itemgetter
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.deidentify.rules import addresses, dates, figures, names, places
from pipeline.deidentify.rules.rows import Compiled, Finder, Row, read, shipped
from pipeline.deidentify.rules.window import Window, Word, Words, pairs_of
from pipeline.deidentify.spans import Found
from pipeline.errors import ConfigurationError
from pipeline.names.lexicon import RULES, Lexicon

__all__ = ["ORDER", "RULES", "SITE", "Rules", "load", "marked", "of_site", "takes_its_example"]

Family: TypeAlias = Callable[[Window], Iterator[Found]]
ORDER: Final[tuple[str | Family, ...]] = (
    "contacts", "encoded", "site", "telephones", "numbers", "dates", "spoken",
    "ages", figures.find, "phones", "names", "initials", "places",
    places.sites, addresses.listed,
)  # fmt: skip
"""Tables by name, families by function; ``site`` are the rows that a site lays over ours."""
SITE: Final = "site"
_FINDERS: Final[Mapping[str, Finder]] = {
    **names.FINDERS, **dates.FINDERS, **places.FINDERS, **addresses.FINDERS,
}  # fmt: skip
_HEAD: Final = 26
"""How far from its beginning a line that a row opens has its stroke or colon."""
_Ranked: TypeAlias = tuple[int, Compiled]


class _Called(dict[str, Sequence[_Ranked]]):
    """The rows that a word calls, by the character behind the blank behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[_Ranked] = []

    def __missing__(self, following: str) -> Sequence[_Ranked]:
        """Leave out the rows that ask for another; what is no sign of ASCII is any."""
        if not following.isascii():
            return self.rows
        rows = [e for e in self.rows if not e[1].followers or following in e[1].followers]
        self[following] = rows
        return rows


class _Anchored:
    """Rows with an anchor, of which few need what stands in a text."""

    def __init__(self, rows: Iterable[_Ranked]) -> None:
        self._always: list[_Ranked] = []
        self._others: list[_Ranked] = []
        pairs: list[NDArray[np.signedinteger]] = []
        needles, firsts = [0], [0]
        for each in rows:
            needs = each[1].needs
            if min(map(len, needs), default=0) < len("ab"):
                self._always.append(each)
                continue
            self._others.append(each)
            for need in needs:
                signs = np.frombuffer(need.encode("utf-32-le"), dtype="<u4")
                pairs.append(pairs_of(signs))
                needles.append(needles[-1] + len(pairs[-1]))
            firsts.append(len(needles) - 1)
        self._pairs = np.concatenate(pairs) if pairs else np.zeros(0, np.int64)
        self._needles, self._firsts = needles[:-1], firsts[:-1]

    def of(self, words: Words) -> Iterator[_Ranked]:
        """Give the rows of which one need at least may stand in a text."""
        yield from self._always
        if self._others:
            held = np.logical_and.reduceat(words.pairs[self._pairs], self._needles)
            may = np.logical_or.reduceat(held, self._firsts)
            yield from compress(self._others, may.tolist())


class Rules:
    """All rules, ready to be asked about any text."""

    def __init__(self, steps: Iterable[Sequence[Row] | Family]) -> None:
        """Compile rows and families of code, in their order."""
        self._words: dict[bool, dict[str, _Called]] = {True: {}, False: {}}
        self._anchors: dict[bool, list[_Ranked]] = {True: [], False: []}
        self._opens: list[_Ranked] = []
        self._families: list[tuple[int, Family]] = []
        ranks = count()
        for step in steps:
            if callable(step):
                self._families.append((next(ranks), step))
                continue
            for row in step:
                self._add(row, next(ranks))
        self._vocabulary = frozenset(self._words[True]) | frozenset(self._words[False])
        self._asked = {ascii_: _Anchored(rows) for ascii_, rows in self._anchors.items()}

    def find(self, window: Window) -> list[Found]:
        """Find what the rules take, each in its turn."""
        found = [*self._called(window), *self._anchored(window), *self._opening(window)]
        found += [(rank, each) for rank, family in self._families for each in family(window)]
        return [each for _, each in sorted(found, key=itemgetter(0))]

    def _add(self, row: Row, rank: int) -> None:
        compiled = (rank, Compiled(row, _FINDERS[row.finder] if row.finder else None))
        if row.opens:
            self._opens.append(compiled)
        elif row.anchor:
            self._anchors[False].append(compiled)
            self._anchors[True] += [] if row.abroad else [compiled]
        for word in row.called_by:
            for capital in (True, False) if row.capital is None else (row.capital,):
                self._words[capital].setdefault(word, _Called()).rows.append(compiled)

    def _called(self, window: Window) -> Iterator[tuple[int, Found]]:
        text, words = window.text, window.words
        capital, small = self._words[True], self._words[False]
        ends, folded, capitals = words.ends, words.folded, words.capital
        for at in words.among(self._vocabulary):
            called = (capital if capitals[at] else small).get(folded[at])
            if called is None:
                continue
            end = ends[at]
            for rank, row in called[text[end + 1 : end + 2]]:
                after = row.after.match(text, end) if row.after else None
                if after is None and row.after:
                    continue  # most rows give nothing
                for each in row.find(window, words[at], None, after):
                    yield rank, each

    def _anchored(self, window: Window) -> Iterator[tuple[int, Found]]:
        text = window.text
        holds, long = text.__contains__, len(text)
        for rank, row in self._asked[text.isascii()].of(window.words):
            if row.run > window.words.longest or (row.needs and not any(map(holds, row.needs))):
                continue
            for match in row.anchor.each(text, max(0, long - row.last) if row.last else 0):
                for each in row.find(window, Word(*match.span(), "", capital=False), match, None):
                    yield rank, each

    def _opening(self, window: Window) -> Iterator[tuple[int, Found]]:
        """Find what opens a line."""
        text, end = window.text, -1
        for line in text.split("\n") if self._opens else ():
            start, end = end + 1, end + 1 + len(line)
            head = line[:_HEAD]
            for rank, row in self._opens if ":" in head or "/" in head else ():
                match = row.anchor.match(text, start)
                if match is not None:
                    place = Word(match.start(), match.end(), "", capital=False)
                    for each in row.find(window, place, match, None):
                        yield rank, each


def load(lexicon: Lexicon) -> Rules:
    """Give our rules, with a site's own among them.

    Parameters
    ----------
    lexicon
        The word lists, with the site's own table as TOML (`Lexicon.rules`).

    Raises
    ------
    ConfigurationError
        If a row of the site's table is none, or does not take what its example marks.
    """
    site = of_site(lexicon)
    for at, row in enumerate(site, start=1):
        if not takes_its_example(row, lexicon):
            raise ConfigurationError(
                f"{RULES}, rule {at} ({row.name}): by itself it does not take exactly what its "
                "example marks with ⟦⟧. Correct the patterns or the example, blanks included."
            )
    return Rules(
        step if callable(step) else site if step == SITE else shipped(step) for step in ORDER
    )


def of_site(lexicon: Lexicon) -> list[Row]:
    """Give the rows that a site lays over ours."""
    return read(lexicon.rules, RULES)


def marked(row: Row) -> tuple[str, list[tuple[int, int]]]:
    """Give the text of a row's example, and what of it is marked."""
    pieces = re.split("[⟦⟧]", row.example)
    ends = list(accumulate(map(len, pieces)))
    return "".join(pieces), list(zip(ends[:-1:2], ends[1::2], strict=True))


def takes_its_example(row: Row, lexicon: Lexicon) -> bool:
    """Tell whether a row takes what its example marks, and nothing else of it."""
    text, spans = marked(row)
    window = Window(text, Words.of(text), lexicon)
    found = {(each.start, each.end) for each in Rules([[row]]).find(window)}
    return sorted(found) == spans
