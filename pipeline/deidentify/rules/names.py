"""How a row's name goes on from where its patterns say that it begins, or begins before its cue.

`grammar.name_end` follows one name; names joined to it go with it (Drs. Doe, Roe and Poe).

Names that nothing announces are found by the lists (`pairs`): two words together are a name where
one of them is listed, and neither, or only one, also a word of English or medicine; in capitals
both must be listed. An eponym before its noun (the Riedel lobe, Ivor Lewis esophagectomy) stays. A
word by itself is left to the judge.
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
_TITLES: Final = word_list("titles")
_BEFORE_FAMILY: Final = frozenset(" \t-")
_BEFORE: Final = 16
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
    rest = text[name.end() : name.end() + 2] if name else ""
    closes = rest[:1] in ("", ".", ";", ")", "\n") or rest[1:].isdigit()  # or an edition's year
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


def pairs(window: Window) -> Iterator[Found]:
    """Find names of two words or a word and an initial."""
    text, words, lexicon = window.text, window.words, window.lexicon
    for at in words.named(lexicon.names, window.is_taken):
        folded = words.plain[at]
        start, end = words.span(at)
        follows = text[end : end + 1]
        if follows in _BEFORE_FAMILY and folded in lexicon.given_names:
            yield from _pair_given(text, words[at], folded, lexicon)
        if folded in lexicon.surnames:
            if follows == ",":
                yield from _pair_inverted(text, words[at], folded, lexicon)
            dot = text.rfind(".", max(0, start - _BEFORE), start)
            if dot > 0 and text[dot - 1].isupper():
                yield from _pair_initialled(text, words[at], folded, lexicon)


def _pair_given(text: str, word: Word, folded: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find a given name and the family name behind it."""
    match = None if folded in _TITLES else _P["partner"].match(text, word.end)
    if match is None or text[word.start - 1 : word.start] in ("-", "^"):
        return
    family, end = match[2], match.end()
    thing = f"{word.folded} {family.casefold()}"
    if _are_name(word.folded, folded, family, lexicon) and not _is_thing(text, end, lexicon, thing):
        whole = name_end(text, word.start, lexicon, comma=False)
        sure = family.casefold() in lexicon.eponyms
        yield Found(word.start, max(end, whole), "NAME", "name-listed", sure=sure)


def _are_name(shown: str, given: str, family: str, lexicon: Lexicon) -> bool:
    """Tell whether two words together are a name."""
    surname = unaccented(family)
    halves = surname.split("-")
    if min(map(len, halves)) == 1:
        return False
    word_given = lexicon.is_word(shown) or given in lexicon.ordinary
    ordinary = all(map(lexicon.is_ordinary, halves))
    if not word_given and surname in lexicon.eponyms and not ordinary:
        return True
    word_family = lexicon.is_word(surname) or ordinary
    if lexicon.ends_name(family):
        return False
    listed = any(half in lexicon.surnames for half in halves)
    if word_given:
        return listed and not word_family
    known = not word_family or surname in lexicon.frequent_surnames
    return known and (listed or not family.isupper())


def _pair_inverted(text: str, word: Word, folded: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find LAST, FIRST M."""
    match = _P["comma_given"].match(text, word.end)
    given = unaccented(match[1]) if match else ""
    if match is None or given not in lexicon.given_names or given in _TITLES:
        return
    before = _P["pair_joined"].search(text[max(0, word.start - _BEFORE) : word.start])
    start = word.start - (len(before.group()) if before else 0)
    is_word = lexicon.is_word(given) or lexicon.is_ordinary(given)
    opens = text[max(0, start - 2) : start] in ("", "\n", "- ", ": ", "| ")
    opens = opens or text[start - 1 : start] == "\n" or match[2] is not None
    if (opens or not is_word) and lexicon.reads_as_name(folded):
        yield Found(start, match.end(), "NAME", "name-listed", sure=folded in lexicon.eponyms)


def _pair_initialled(text: str, word: Word, folded: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find an initial before a family name (J. Graves), not before a word (A. Small effusion)."""
    line = text[max(0, word.start - _BEFORE) : word.start]
    match = _P["pair_initials"].search(line) if line[-1:] in (" ", ".", "-") else None
    if match is None or lexicon.ends_name(folded):
        return
    start = word.start - len(line) + match.start()
    opens = text[max(0, start - 1) : start] in ("", "\n")
    if not opens and text[max(0, start - 2) : start - 1].isdigit():
        return
    is_word = lexicon.is_word(folded) or lexicon.is_ordinary(folded)
    if is_word and (opens or _P["goes_on"].match(text, word.end)):
        return
    is_sex = text[max(0, start - 5) : start].casefold() == "sex: "
    if not is_sex and not _is_thing(text, word.end, lexicon, folded):
        end = name_end(text, start, lexicon, comma=False)
        yield Found(start, max(word.end, end), "NAME", "name-listed", sure=False)


def _is_thing(text: str, end: int, lexicon: Lexicon, name: str) -> bool:
    noun = _P["pair_noun"].match(text, end)
    return name in lexicon.eponyms or (
        noun is not None and lexicon.is_eponym_noun(noun[1].casefold())
    )
