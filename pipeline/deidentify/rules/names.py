"""How a row's name goes on from where its patterns say that it begins, or begins before its cue.

`grammar.name_end` follows one name; names joined to it go with it (Drs. Doe, Roe and Poe).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pipeline.deidentify.rules.checks import parts, patterns, reads, word_list
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
_VIEWS: Final = frozenset({"pa", "do", "rt", "np"})
"""Credentials that are words or views as well (CHEST PA, DO NOT); they need a comma before them."""
_BEHIND_NAMES: Final = frozenset({"pa", "rn", "np", "rt", "aprn", "crnp", "arnp", "sho", "spr"})
_NOBODY: Final = frozenset({"patient", "pt", "he", "she", "this", "there", "man", "woman"})
_WEAK_TITLES: Final = word_list("weak_titles")
_SPELT_TITLES: Final = word_list("titles_in_small_letters")
_NOT_FIRST: Final = word_list("titles") | {"patient", "child", "infant", "pt"}
"""Words before a name that are not part of it."""
_STRONG_PARTICLES: Final = frozenset({"van", "von", "af"})
_SMALL_PARTICLES: Final = frozenset({"in", "op", "aan", "av", "al"})
"""Words that are more often no particle."""
_DISEASES: Final = word_list("named_diseases")
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
    if end == start or (shouted and not reads(text[start:end], window)):
        return
    if not _names_a_thing(text, start, end, lexicon):
        yield row.found(start, end)
        yield from _joined(row, window, end, many=cue.folded in _PLURAL)


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
    return " " in name or (noun is not None and lexicon.is_eponym_noun(noun[1].casefold()))


def _is_listed(name: str, lexicon: Lexicon) -> bool:
    """Tell whether the first word that a comma or a stroke joins to a name can be one itself."""
    first = unaccented(name.split()[0].split("-")[0]).replace("'", "").strip(".")
    if len(first) == 1 or lexicon.is_report_word(first) or first in lexicon.eponyms:
        return len(first) == 1
    shouted = name.isupper() and len(first) <= _ACRONYM
    return first in lexicon.all_names or (not shouted and lexicon.is_stranger(first))


def _name(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    """Follow one name; what must stand behind it may be asked."""
    start = _begin(hit)
    end = name_end(window.text, start, window.lexicon, comma=row.row.comma)
    goes_on = row.behind is None or row.behind.match(window.text, end) is not None
    if end > start and goes_on and row.allows(window, start, end, hit):
        yield row.found(start, end)


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


def _informed(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    """Follow the name of who was told; in mixed letters, a verb must open its sentence."""
    text, cue, start = window.text, hit.place, _begin(hit)
    if cue.folded == "per" and _names_rule(text, start, window.lexicon):
        return
    if cue.capital and not text[cue.start : cue.end].isupper():
        end = name_end(text, start, window.lexicon, comma=False)
        before = text[max(0, cue.start - 2) : cue.start].strip(" \t")
        if before[-1:] not in ("", "\n", ".", ";", ":", "(") or not reads(text[start:end], window):
            return
    yield from _followed(row, window, cue, start, weak=True)


def _names_rule(text: str, start: int, lexicon: Lexicon) -> bool:
    """Tell whether an eponym that is no family name says by what rule (per Fleischner)."""
    name = _P["next_word"].match(text, start - 1)
    noun = _P["next_word"].match(text, name.end()) if name else None
    closes = name is not None and text[name.end() : name.end() + 1] in ("", ".", ";", ")", "\n")
    if name is None or not (closes or (noun and lexicon.is_eponym_noun(noun[1].casefold()))):
        return False
    folded = name[1].casefold()
    if folded in lexicon.acronyms and name[1].isupper():
        return True
    return folded in lexicon.eponyms and folded not in lexicon.frequent_surnames


def _credential(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    """Find the name before a credential (Jane Doe, MD)."""
    text, word = window.text, hit.place
    if _P["credential"].match(text, word.start) is None or text[word.end : word.end + 1] == ":":
        return
    if _P["projection"].match(text, word.end):
        return
    comma = text[max(0, word.start - 4) : word.start].rstrip(" \t(").endswith(",")
    if comma or word.folded not in _VIEWS or text[word.end : word.end + 2] == "-C":
        yield from _behind(row, window, hit)


def _behind(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    """Find the name that a cue stands behind, unless it is a town, nobody or a thing."""
    if hit.before is None:
        return
    name, lexicon = hit.before[1].casefold(), window.lexicon
    is_thing = name in lexicon.eponyms and name not in lexicon.surnames
    if name in lexicon.cities or name in _NOBODY:
        return
    if not (is_thing and row.row.name == "name-opening"):
        yield from _trimmed(row, window, hit)


def _trimmed(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    """Accept what a shape calls a name from its last word that cannot be in one."""
    match, base = (hit.before, hit.base) if hit.before else (hit.anchor, 0)
    text, lexicon = window.text, window.lexicon
    begin, stop = (base + at for at in match.span(1)) if match else (0, 0)
    while begin < stop:
        space = text.find(" ", begin, stop)
        word = text[begin:space] if space > 0 else ""
        if word.strip(".").casefold() in _NOT_FIRST or lexicon.ends_capitals(word.strip(".,:;")):
            begin = space + 1 if word else stop
            continue
        end = name_end(text, begin, lexicon, comma=True)
        if end >= stop:
            weak = row.row.weak and text[begin:stop].isupper()
            holds = row.allows(window, begin, stop, hit)
            if holds and (not weak or reads(text[begin:stop], window)):
                yield row.found(begin, stop)
            return
        space = text.find(" ", max(begin, end), stop)
        begin = space + 1 if space >= 0 else stop


def _particle(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    """Find a family name by its particle (Van 't Hoff, S.P. de Vries)."""
    text, lexicon, word = window.text, window.lexicon, hit.place
    tail = _P["particle_tail"].match(text, word.end)
    folded = unaccented(tail[1]).replace("'", "").replace("’", "") if tail else ""
    if tail is None or folded in _DISEASES or lexicon.is_report_word(folded):
        return
    head = _P["particle_head"].search(text, max(0, word.start - 32), word.start)
    given = head[1] if head else ""
    cued = _P["particle_role"].search(text, max(0, word.start - 24), word.start) is not None
    shouted = tail[1].isupper()
    if shouted or word.folded not in _STRONG_PARTICLES:
        is_name = folded in lexicon.all_names or lexicon.is_stranger(folded)
        strong = cued or "." in given or _P["particle_pair"].match(text, word.start) is not None
        if not strong and word.folded not in _SMALL_PARTICLES:
            strong = bool(given) and unaccented(given.split()[0]) in lexicon.given_names
            strong = strong or _P["particle_told"].match(text, tail.end()) is not None
        if not is_name or not strong or (shouted and lexicon.is_ordinary(folded)):
            return
    elif lexicon.is_word(folded) and not (cued or head):
        return
    first = unaccented(given.split()[0].strip(".")) if given else ""
    is_given = len(first) == 1 or "." in given or first in lexicon.all_names
    yield row.found(head.start(1) if head and is_given else word.start, tail.end())


def _inverted(row: Compiled, window: Window, hit: Hit) -> Iterator[Found]:
    """Find LAST, FIRST M in a field: one of them listed, the last word no word of reports."""
    match, lexicon = hit.anchor, window.lexicon
    line = window.text[max(0, match.start() - 44) : match.start()] if match else ""
    family = _P["family"].search(line)
    if family is None or match is None or len(given := unaccented(match["given"])) <= len("Al"):
        return
    words = parts(family[1])
    listed = all(word in lexicon.all_names or lexicon.is_stranger(word) for word in words)
    is_given = given in lexicon.given_names or given in lexicon.unreported
    if not words or not (is_given or (listed and lexicon.is_stranger(given))):
        return
    if listed or not any(map(lexicon.is_report_word, words)):
        start = match.start() - len(line) + family.start(1)
        yield row.found(start, match.end() - len(match["end"]))


FINDERS: Final[Mapping[str, Finder]] = {
    "behind": _behind,
    "credential": _credential,
    "informed": _informed,
    "inverted": _inverted,
    "label": _label,
    "name": _name,
    "particle": _particle,
    "series": _series,
    "titled": _titled,
    "trimmed": _trimmed,
}
