"""How a row's name goes on from where its patterns say that it begins.

`grammar.name_end` follows one name; names joined to it go with it (Drs. Doe, Roe and Poe). An
eponym before its noun (per Fleischner guidelines) stays. Names that nothing announces, or only what
stands behind them, are left to the judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pipeline.deidentify.rules.checks import patterns, reads, word_list
from pipeline.deidentify.rules.rows import Compiled, Finder, Hit
from pipeline.deidentify.rules.window import Window, Word
from pipeline.deidentify.spans import Found
from pipeline.names.grammar import name_end
from pipeline.names.lexicon import Lexicon, unaccented

_P: Final = patterns("names")
_PLURAL: Final = frozenset({"drs", "doctors", "messrs"})
_COPIES: Final = frozenset({"cc", "copy", "to"})
_ALSO_THINGS: Final = frozenset({"tech", "technologist", "technician", "record"})
"""Labels that something else may follow (TECH: axial)."""
_BEHIND_NAMES: Final = frozenset({"pa", "rn", "np", "rt", "aprn", "crnp", "arnp", "sho", "spr"})
_WEAK_TITLES: Final = word_list("weak_titles")
_SPELT_TITLES: Final = word_list("titles_in_small_letters")
_STAFF: Final = word_list("staff_and_wards")
"""Who is told without a name, where nothing but capitals would show one (told ward)."""
_ACRONYM: Final = 4
_JOINED: Final = 4


def _series(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    """Follow a name and those joined to it; in capitals, behind a weak cue, if it reads as one."""
    yield from _followed(row, window, hit.place, _begin(hit), weak=row.row.weak)


def _begin(hit: Hit) -> int:
    return hit.after.end() if hit.after else hit.place.end


def _followed(
    row: Compiled, window: Window, cue: Word, start: int, *, weak: bool
) -> Iterator[Found]:
    text, lexicon = window.text, window.lexicon
    end = name_end(text, start, lexicon, comma=row.row.comma)
    shouted = weak and text[cue.start : cue.end].isupper()
    if end == start or (shouted and _is_nobody(row, text[start:end], window)):
        return
    if not _names_a_thing(text, start, end, lexicon):
        yield row.found(start, end)
        yield from _joined(row, window, end, many=cue.folded in _PLURAL)


def _is_nobody(row: Compiled, name: str, window: Window) -> bool:
    staff = row.row.weak and name.split()[0].casefold() in _STAFF
    return staff or not reads(name, window)


def _joined(
    row: Compiled, window: Window, end: int, *, comma: bool = False, many: bool = False
) -> Iterator[Found]:
    """Follow the names joined to one; by a comma, without a plural, only what is known as one."""
    text, lexicon = window.text, window.lexicon
    for _ in range(_JOINED):
        match = _P["and"].match(text, end)
        stop = name_end(text, match.end(), lexicon, comma=comma) if match else 0
        if match is None or stop == match.end() or text[stop : stop + 1] == ":":
            return
        name, mark = text[match.end() : stop], match.group().strip()
        if (name.isupper() or ";" in mark) and not reads(name, window):
            return
        signs = mark == "/" and name.isupper() and text[stop : stop + 1] in ("", "\n")
        if mark in (",", "/") and not (many or signs or _is_listed(name, lexicon)):
            return
        yield row.found(match.end(), stop)
        end = stop


def _names_a_thing(text: str, start: int, end: int, lexicon: Lexicon) -> bool:
    """Tell whether an eponym stands before its noun (per Fleischner guidelines) or is a brand."""
    name, noun = text[start:end].casefold(), _P["next_word"].match(text, end)
    if name not in lexicon.eponyms:
        return False
    return " " in name or (noun is not None and noun[1].casefold() in lexicon.eponym_nouns)


def _is_listed(name: str, lexicon: Lexicon) -> bool:
    """Tell whether the first word that a comma or a stroke joins to a name can be one itself."""
    first = unaccented(name.split()[0].split("-")[0]).replace("'", "").strip(".")
    if len(first) == 1 or first in lexicon.not_names or first in lexicon.eponyms:
        return len(first) == 1
    shouted = name.isupper() and len(first) <= _ACRONYM
    return first in lexicon.all_names or (not shouted and lexicon.is_stranger(first))


def _label(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    """Follow a name behind the label of a role (Attending: Jane Doe)."""
    text, start = window.text, _begin(hit)
    end = name_end(text, start, window.lexicon, comma=True)
    label, name = text[hit.place.end : start], text[start:end]
    if end == start or (("\n" in label or "|" in label) and not reads(name, window)):
        return
    if hit.place.folded not in _ALSO_THINGS or _is_listed(name, window.lexicon):
        yield row.found(start, end)
        yield from _joined(row, window, end, comma=hit.place.folded in _COPIES)


def _titled(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    """Follow a name behind a title; behind one that is a word too, if it reads as one."""
    text, title = window.text, hit.place
    if not title.capital and title.folded not in _SPELT_TITLES:
        return
    if title.folded in _BEHIND_NAMES and text[max(0, title.start - 2) : title.start] == ", ":
        return  # J. Doe, RN. Prior studies
    is_scan = title.folded == "mr" and text[title.end] != "."  # MR BRAIN
    weak = is_scan or title.folded in _WEAK_TITLES or title.folded in _SPELT_TITLES
    yield from _followed(row, window, title, _begin(hit), weak=weak)


FINDERS: Final[Mapping[str, Finder]] = {"label": _label, "series": _series, "titled": _titled}
