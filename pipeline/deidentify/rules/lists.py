"""Names that no cue announces: by the name lists, and by the vocabulary turned round.

Two words together make a name: one of them on a list, and neither, or only one, also a word of
English or medicine; in capitals both must be listed. Two kinds of word are a name alone. A **rare**
one is a name of the lists that is no word of English or medicine; it is a name also in capitals. A
listed name that is a word as well (Bob, Beck) is one only where its capital has no other reason:
inside a sentence of small letters. An eponym before its noun (the Riedel lobe, Ivor Lewis
esophagectomy), a saint's valve and a few capitals (KUB) stay.

The lists know names; the other rule of this file knows words. A **stranger** is a word that neither
English nor medicine has (`Lexicon.is_stranger`), or a name that is a word of English but hardly
ever of a report (Grace, Fox). A stranger's capital is a name's where it stands between two
separators, alone or among other names and initials (Cons: FOX · Precious Pipe⏎ · (Grace, 10 Sept)),
and inside a sentence of small letters (and HCA Blessing aware), there only in mixed case: in
capitals it needs a word of telling before it. An eponym before its noun, an acronym and a device's
inner capitals stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.checks import is_listed, patterns, word_list
from pipeline.deidentify.rules.window import Window, Word, Words
from pipeline.deidentify.spans import Found
from pipeline.names.grammar import name_end
from pipeline.names.lexicon import Lexicon, unaccented

_P: Final = patterns("lists")
_TITLES: Final = word_list("titles")
_BEFORE_FAMILY: Final = frozenset(" \t-")
_BLANKS: Final = frozenset(" \t")
_BEFORE: Final = 16
_REACH: Final = 24
_ACRONYM: Final = 4
"""Up to how many capitals may be an acronym."""


def pairs(window: Window) -> Iterator[Found]:
    """Find names of two words or a word and an initial."""
    text, words, lexicon = window.text, window.words, window.lexicon
    for at in words.named(lexicon.names, window.is_taken):
        folded = words.plain[at]
        start, end = words.span(at)
        follows = text[end : end + 1]
        if follows in _BEFORE_FAMILY and folded in lexicon.given_names:
            yield from _given(text, words[at], folded, lexicon)
        if folded in lexicon.surnames:
            if follows == ",":
                yield from _inverted(text, words[at], folded, lexicon)
            dot = text.rfind(".", max(0, start - _BEFORE), start)
            if dot > 0 and text[dot - 1].isupper():
                yield from _initialled(text, words[at], folded, lexicon)


def _given(text: str, word: Word, folded: str, lexicon: Lexicon) -> Iterator[Found]:
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


def _inverted(text: str, word: Word, folded: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find LAST, FIRST M."""
    match = _P["comma_given"].match(text, word.end)
    given = unaccented(match[1]) if match else ""
    if match is None or given not in lexicon.given_names or given in _TITLES:
        return
    before = _P["joined"].search(text[max(0, word.start - _BEFORE) : word.start])
    start = word.start - (len(before.group()) if before else 0)
    is_word = lexicon.is_word(given) or lexicon.is_ordinary(given)
    opens = text[max(0, start - 2) : start] in ("", "\n", "- ", ": ", "| ")
    opens = opens or text[start - 1 : start] == "\n" or match[2] is not None
    if (opens or not is_word) and lexicon.reads_as_name(folded):
        yield Found(start, match.end(), "NAME", "name-listed", sure=folded in lexicon.eponyms)


def _initialled(text: str, word: Word, folded: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find an initial before a family name (J. Graves), not before a word (A. Small effusion)."""
    line = text[max(0, word.start - _BEFORE) : word.start]
    match = _P["initials"].search(line) if line[-1:] in (" ", ".", "-") else None
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
    noun = _P["noun"].match(text, end)
    return name in lexicon.eponyms or (
        noun is not None and lexicon.is_eponym_noun(noun[1].casefold())
    )


def alone(window: Window) -> Iterator[Found]:
    """Find names that nothing announces."""
    text, words, lexicon = window.text, window.words, window.lexicon
    for at in words.named(lexicon.all_names, window.is_taken):
        is_rare = words.plain[at] in lexicon.rare_names
        if not is_rare and words.plain[at] in lexicon.words:
            continue
        word = words[at]
        stands = not _is_acronym(text, word) if is_rare else _stands_out(text, word)
        if not stands or text[word.end : word.end + 1].isdigit():
            continue  # SaO2
        pair = f"{words.plain[at - 1]} {words.plain[at]}" if at else ""
        if pair not in lexicon.eponyms and not is_eponym(text, word, lexicon):  # Bence Jones
            yield Found(*_whole(text, word, lexicon), "NAME", "name-uncued", sure=False)


def _is_acronym(text: str, word: Word) -> bool:
    """Tell KUB the view from Kub the name."""
    return word.end - word.start <= _ACRONYM and text[word.start : word.end].isupper()


def _stands_out(text: str, word: Word) -> bool:
    """Tell whether a listed word's capital has no reason but a name."""
    if _P["small_before"].search(text, max(0, word.start - 3), word.start) is None:
        return False
    return not text[word.start : word.end].isupper()


def is_eponym(text: str, word: Word, lexicon: Lexicon) -> bool:
    """Tell whether a name stands as that of a thing: before its noun, or with an article."""
    noun = _P["eponym_noun"].match(text, word.end)
    follows = noun[1].casefold() if noun else ""
    if lexicon.is_eponym_noun(follows) or f"{word.folded} {follows}" in lexicon.eponyms:
        return True
    start = word.start
    before = text[max(0, start - 7) : start]
    if before[-1:] in _BLANKS and _P["saint"].search(before):
        return True
    possessive = _P["possessive"].match
    if possessive(text, word.end - 2) or possessive(text, word.end):
        return follows not in lexicon.person_words
    if before[-1:] == "-":
        compound = _P["compound"].search(text, max(0, start - _REACH), start)
        if compound and _is_clinical(compound.group()[:-1], lexicon):
            return True  # Carpentier-Edwards
        start = compound.start() if compound else start
        before = text[max(0, start - 7) : start]
    if follows == "" or follows in lexicon.person_words or before[-1:] not in _BLANKS:
        return False
    return _P["article"].search(before) is not None


def _is_clinical(first: str, lexicon: Lexicon) -> bool:
    """Tell whether the first part of a compound is an eponym and no frequent name."""
    folded = first.casefold()
    return folded in lexicon.eponyms and folded not in lexicon.frequent_surnames


def _whole(text: str, word: Word, lexicon: Lexicon) -> tuple[int, int]:
    """Join the names on both sides."""
    start = word.start
    before = _P["given_before"].search(text, max(0, start - _REACH), start)
    first = unaccented(before[1].strip(" \t.")) if before else ""
    if before and (len(first) == 1 or first in lexicon.given_names):
        start = before.start(1)
    end = max(word.end, name_end(text, word.start, lexicon, comma=False))
    if text[word.start : word.end].isupper():
        end = _listed_end(text, word.end, end, lexicon)
    comma = _P["comma"].match(text, end)
    given = unaccented(comma[1]).split("-")[0] if comma else ""
    if comma and given in lexicon.given_names and not lexicon.is_word(given):
        end = comma.end()
    return _with_family(text, start, lexicon), end


def _with_family(text: str, start: int, lexicon: Lexicon) -> int:
    """Begin at the family name where LAST, FIRST opens a line or stands behind a label."""
    if text[max(0, start - 3) : start].rstrip(" \t")[-1:] != ",":
        return start
    family = _P["family"].search(text, max(0, start - 2 * _REACH), start)
    known = family and unaccented(family[1]).split("-")[0] in lexicon.names
    return family.start(1) if family and known else start


def _listed_end(text: str, start: int, stop: int, lexicon: Lexicon) -> int:
    """End a name in capitals behind the last listed name: what follows may be the sentence."""
    end = start
    for match in _P["next"].finditer(text, start, stop):
        name = unaccented(match[1].strip(".'’")).split("-")[0]
        if len(name) > 1 and (not is_listed(name, lexicon) or lexicon.is_ordinary(name)):
            break
        end = match.end()
    return end


_STRANGERS: Final = patterns("strangers")
_STREETS: Final = (
    "strasse", "gasse", "straat", "gracht", "platz", "gatan", "vagen", "gade", "veien", "laan",
    "allee", "dstr", "fstr", "gstr", "lstr", "nstr", "rstr", "tstr",
)  # fmt: skip
_JOINS: Final = (" ", "-", ". ", ".")
_STRANGER_REACH: Final = 32
_MAX: Final = 4


def strangers(window: Window) -> Iterator[Found]:
    """Find the names among the words that are none of a report's and that no rule has taken."""
    text, words, lexicon = window.text, window.words, window.lexicon
    done = -1
    for at in words.strangers(lexicon.familiar):
        word = words.plain[at]
        if at <= done or not words.capital[at]:
            continue
        if words.is_settled(at, window.is_taken) and not word.endswith(_STREETS):
            continue
        if not lexicon.is_stranger(word) or _is_short_for(text, words[at], lexicon):
            continue
        kind = _STRANGERS["kind"].search(word)
        if kind:
            yield _named_by_ending(text, words[at], street=kind.lastgroup == "street")
            continue
        first, last = _run(words, at, lexicon)
        start, end = words.start(first), words.span(last)[1]
        if word not in lexicon.all_names and text[end : end + 1] == ":":
            continue  # a label that we do not know
        if _is_name(text, start, end) and not is_eponym(text, words[last], lexicon):
            done = last
            place = _STRANGERS["in_place"].search(text, max(0, start - 12), start)
            yield Found(start, end, "LOCATION" if place else "NAME", "name-stranger", sure=False)


def _named_by_ending(text: str, word: Word, *, street: bool) -> Found:
    """Give the hospital or street that a compound names (Inselspital, Hauptstrasse 12)."""
    if not street:
        return Found(word.start, word.end, "HOSPITAL", "hospital-kind", sure=False)
    number = _STRANGERS["house"].match(text, word.end)
    return Found(word.start, number.end() if number else word.end, "LOCATION", "street", sure=False)


def _is_short_for(text: str, word: Word, lexicon: Lexicon) -> bool:
    """Tell whether a few capitals that no name list has are short for something (CRF, MNG)."""
    short = word.end - word.start <= _ACRONYM and text[word.start : word.end].isupper()
    return short and word.folded not in lexicon.surnames and word.folded not in lexicon.unreported


def _run(words: Words, at: int, lexicon: Lexicon) -> tuple[int, int]:
    """Follow the names and initials on both sides of a stranger."""
    first = last = at
    while first > 0 and at - first < _MAX and _joins(words, first, lexicon, first - 1):
        first -= 1
    while last + 1 < len(words) and last - at < _MAX:
        if not _joins(words, last + 1, lexicon, last + 1):
            break
        last += 1
    return first, last


def _joins(words: Words, right: int, lexicon: Lexicon, new: int) -> bool:
    """Tell whether a word stands directly beside its neighbour and can be part of its name."""
    gap, name = words.gap(right), words.plain[new]
    if gap not in _JOINS or not words.capital[new]:
        return False
    if len(name) == 1:
        return "/" not in words.gap(new)
    if name in lexicon.eponym_nouns or (gap == ". " and len(words.plain[right - 1]) > 1):
        return False
    named = name in lexicon.names and name not in lexicon.not_names and lexicon.reads_as_name(name)
    return named or lexicon.is_stranger(name)


def _is_name(text: str, start: int, end: int) -> bool:
    """Tell whether nothing but a name explains the capitals here."""
    name = text[start:end]
    before = text[max(0, start - _STRANGER_REACH) : start]
    shouted = name.isupper()
    inner = _STRANGERS["inner"].fullmatch
    if not shouted and not all(map(inner, re.findall(r"[^\W\d_]{2}[\w'’]*", name))):
        return False
    closes = _STRANGERS["right"].match(text, end) is not None
    if closes and _STRANGERS["left"].search(before):
        return True
    if not shouted:
        return _STRANGERS["inside"].search(before) is not None
    told = _STRANGERS["telling"].search(before) is not None
    return told and (closes or _STRANGERS["after_told"].match(text, end) is not None)
