"""A rule as a row of a table: where it looks, what must stand there, what it takes.

A row is called at a **place**: one of its `words` (or of its word `lists`), or each match of its
`anchor`; `opens` is an anchor at a line's beginning. There `after` must match behind
the place and `before` must match up to it, on its line unless `across`. What is taken is the first
group of `before` or `after` (from the one to the other where both have a group); without a group,
the anchor's own first group, or the place with what `after` matched. `checks` then ask what the
taken words are (see `checks`); ``c: check`` asks it of the group named c. What a row `needs` must
stand in the text for an anchor, and in small letters before a word: it spares the search, and so
does ``abroad`` where no character lies beyond ASCII, and `run` where nowhere so many letters,
figures, + - / _ and signs beyond ASCII stand in one. A row with a `finder` leaves the taking to a
function of a family. Patterns name their parts: ``{Name}`` stands for the fragment of that name in
`fragments.toml`; line breaks and the blanks behind them are left out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from pipeline.deidentify.rules.checks import Check, check, source, spelt, word_list
from pipeline.deidentify.rules.window import Window, Word, folded_words, line_before
from pipeline.deidentify.spans import Category, Found
from pipeline.errors import ConfigurationError

_SHARED: Final = "patterns"
"""What else stands in our own tables: patterns of a family's code."""


def _one_word(written: str) -> str:
    if folded_words(written) != [written]:
        raise ValueError(
            "a row is called by single words in small letters, without digits or 's: put what "
            "stands around the word into `before` or `after`"
        )
    return written


class Row(BaseModel):
    """One rule, as it is written."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str = Field(pattern=r"^[a-z][a-z-]+$")
    category: Category
    example: str = Field(pattern=r"⟦[^⟧]+⟧")
    words: tuple[Annotated[str, AfterValidator(_one_word)], ...] = ()
    lists: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    anchor: str = ""
    opens: str = ""
    needs: tuple[str, ...] = ()
    abroad: bool = False
    run: int = Field(default=0, ge=0, le=200)
    capital: bool | None = None
    then: str = ""
    before: str = ""
    after: str = ""
    reach: int = Field(default=40, ge=1, le=200)
    across: bool = False
    last: int = Field(default=0, ge=0, le=200)
    more: str = ""
    checks: tuple[str, ...] = ()
    sure: bool = True
    finder: str = ""
    comma: bool = False
    weak: bool = False

    @cached_property
    def called_by(self) -> frozenset[str]:
        """The folded words that call it."""
        called = frozenset(self.words).union(*map(word_list, self.lists))
        return called.difference(*map(word_list, self.without))

    @cached_property
    def followers(self) -> frozenset[str]:
        """The characters one of which stands behind the blank behind the word; none for any."""
        among = re.compile(f"[{self.then}]").match if self.then else None
        return frozenset(filter(among, map(chr, range(128)))) if among else frozenset()


class Hit(NamedTuple):
    """What a row's patterns matched at a place; ``base`` is where the text of `before` begins."""

    place: Word
    anchor: re.Match[str] | None
    before: re.Match[str] | None
    base: int
    after: re.Match[str] | None

    def group(self, name: str) -> str:
        """Give the text of a named group of any of the patterns."""
        for match in (self.anchor, self.before, self.after):
            if match is not None and name in match.re.groupindex:
                return match[name] or ""
        return ""


Finder: TypeAlias = Callable[["Compiled", Window, Hit], Iterator[Found]]


class _Pattern:
    """A compiled pattern and its groups without a name."""

    __slots__ = ("each", "groups", "match", "search")

    def __init__(self, text: str) -> None:
        regex = re.compile(spelt(text))
        self.each, self.match, self.search = regex.finditer, regex.match, regex.search
        named = set(regex.groupindex.values())
        self.groups = tuple(at for at in range(1, regex.groups + 1) if at not in named)


class Compiled:
    """A row with its patterns compiled."""

    def __init__(self, row: Row, finder: Finder | None) -> None:
        self.row = row
        self.before, self.after, self.more = (
            _Pattern(text) if text else None for text in (row.before, row.after, row.more)
        )
        self.anchor = _Pattern(row.anchor or row.opens)
        self._finder = finder
        self.followers, self.needs = row.followers, row.needs
        self.run, self.last = row.run, row.last
        self._near = () if row.anchor else row.needs
        named = [each.rpartition(": ") for each in row.checks]
        self._checks: list[tuple[str, Check]] = [(group, check(name)) for group, _, name in named]

    def find(
        self, window: Window, place: Word, anchor: re.Match[str] | None, after: re.Match[str] | None
    ) -> Iterator[Found]:
        """Find what the row takes at a place; what matched behind it may be known."""
        text = window.text
        if after is None and self.after:
            after = self.after.match(text, place[1])
            if after is None:
                return
        base, before = self._look_back(text, place[0]) if self.before else (0, None)
        if before is None and self.before:
            return
        hit = Hit(place, anchor, before, base, after)
        if self._finder is not None:
            yield from self._finder(self, window, hit)
            return
        yield from self._repeated(window, hit, *self._span(hit))

    def found(self, start: int, end: int) -> Found:
        """Give a span as the row's."""
        return Found(start, end, self.row.category, self.row.name, self.row.sure)

    def allows(self, window: Window, start: int, end: int, hit: Hit) -> bool:
        """Tell whether every check holds of the taken words, or of the group that it names."""
        for group, holds in self._checks:
            if not holds(hit.group(group) if group else window.text[start:end], window):
                return False
        return True

    def _repeated(self, window: Window, hit: Hit, start: int, end: int) -> Iterator[Found]:
        while self.allows(window, start, end, hit):
            yield self.found(start, end)
            again = self.more.match(window.text, end) if self.more else None
            if again is None:
                return
            start, end = again.span(1)

    def _look_back(self, text: str, at: int) -> tuple[int, re.Match[str] | None]:
        search = self.before.search  # type: ignore[union-attr]
        near = text[max(0, at - self.row.reach) : at].casefold() if self._near else ""
        if self._near and not any(map(near.__contains__, self._near)):
            return 0, None
        if self.row.across:
            return 0, search(text, max(0, at - self.row.reach), at)
        line = line_before(text, at, self.row.reach)
        return at - len(line), search(line)

    def _span(self, hit: Hit) -> tuple[int, int]:
        """Give what the row takes: its group, what lies between two, or the place."""
        place, anchor, before, base, after = hit
        heads = _taken(self.before, before, base)
        tails = _taken(self.after, after, 0)
        if heads and tails:
            return heads[0][0], tails[-1][1]
        own = _taken(self.anchor, anchor, 0)
        whole = (place.start, after.end() if after else place.end)
        return (*heads, *tails, *own, whole)[0]


def _taken(
    pattern: _Pattern | None, match: re.Match[str] | None, base: int
) -> list[tuple[int, int]]:
    if pattern is None or match is None:
        return []
    spans = (match.span(at) for at in pattern.groups)
    return [(base + start, base + end) for start, end in spans if start >= 0]


def read(text: str, source: str) -> list[Row]:
    """Read the rows of a table.

    Raises
    ------
    ConfigurationError
        If a row is none: the message says which of them and what is wrong with it.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(
            f"{source}: no TOML: {error}. Patterns stand between single quotes."
        ) from None
    rows: Sequence[Any] = table.get("rule", [])
    if not isinstance(rows, list) or not {*table} <= {"rule", _SHARED}:
        raise ConfigurationError(
            f"{source}: something in it is no rule, and would have been left unread. Every rule "
            "begins with a line [[rule]]."
        )
    return [_row(each, f"{source}, rule {at}") for at, each in enumerate(rows, start=1)]


def _row(each: object, where: str) -> Row:
    try:
        row = Row.model_validate(each)
        Compiled(row, None)
        if not (row.called_by or row.anchor or row.opens):
            raise ConfigurationError(
                f"{where}: neither words nor lists nor an anchor say where it looks."
            )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        named, told = ".".join(map(str, first["loc"])), first["msg"]
        if named == "example":
            told = "an expression with ⟦ ⟧ around what goes, by which the rule is tried"
        raise ConfigurationError(f"{where}: {named}: {told}.") from None
    except (re.error, KeyError) as error:
        raise ConfigurationError(
            f"{where}: {error}. Patterns are Python's; fragments, lists and checks must exist."
        ) from None
    return row


@cache
def shipped(family: str) -> tuple[Row, ...]:
    """Give our own rows of a family."""
    return tuple(read(source(family), f"{family}.toml"))
