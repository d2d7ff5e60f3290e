"""Names that no cue announces, by the name lists: Padma Jeffries · Kirkpatrick, Hope M · J. Graves.

Two words together make the name: one of them on a list, and neither, or only one, also a word of
English or medicine. In capitals both must be listed. An eponym before its noun (Ivor Lewis
esophagectomy) is no name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.titles import TITLES
from pipeline.deidentify.rules.words import Word, Words
from pipeline.names.grammar import LOWER, NAME_WORD, UPPER, name_end
from pipeline.names.lexicon import Lexicon, unaccented

__all__ = ["find"]

_NEXT: Final = re.compile(
    rf"(?:-{NAME_WORD})?[ \t]{{1,2}}(?:[{UPPER}]\.?[ \t]{{1,2}})?"
    rf"((?:(?:van|von|der|de|del|la|los|al|el|bin|ter|St\.?|ST\.?)[ \t-]){{0,3}})({NAME_WORD})"
)
_COMMA_GIVEN: Final = re.compile(rf",[ \t]{{0,2}}({NAME_WORD})([ \t][{UPPER}]\b\.?)?")
_JOINED: Final = re.compile(rf"(?<![\w.])(?:(?:{NAME_WORD}-)|(?:St|ST)\.?[ \t])$")
_INITIALS: Final = re.compile(
    rf"(?<![\w.'’-])(?:[{UPPER}]\.[ \t-]?){{1,2}}"
    rf"(?:(?:van|von|der|de|del|la|los|al|el|bin|ter)[ \t-]){{0,3}}$"
)
_GOES_ON: Final = re.compile(rf"[ \t](?!(?:and|at|on|by|from|who|was|has|is|via|in)\b)[{LOWER}]")
_NOUN: Final = re.compile(r"(?:['’]s)?[ \t]([A-Za-z]{3,20})")
_BEFORE: Final = 16
_BEFORE_FAMILY: Final = frozenset(" \t-")


def find(
    text: str, found_words: Words, lexicon: Lexicon, is_taken: Callable[[int], bool]
) -> Iterator[Found]:
    """Find names by the lists."""
    given_names, surnames = lexicon.given_names, lexicon.surnames
    for at in found_words.named(lexicon.names, is_taken):
        folded = found_words.plain[at]
        start, end = found_words.span(at)
        follows = text[end : end + 1]
        if follows in _BEFORE_FAMILY and folded in given_names:
            yield from _given(text, found_words[at], folded, lexicon)
        if folded in surnames:
            if follows == ",":
                yield from _inverted(text, found_words[at], folded, lexicon)
            dot = text.rfind(".", max(0, start - _BEFORE), start)
            if dot > 0 and text[dot - 1].isupper():
                yield from _initialled(text, found_words[at], folded, lexicon)


def _given(text: str, word: Word, folded: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find a given name and the family name behind it."""
    match = None if folded in TITLES else _NEXT.match(text, word.end)
    if match is None or text[word.start - 1 : word.start] in ("-", "^"):
        return
    family = match.group(2)
    if not _pairs(word.folded, folded, family, lexicon, caps=family.isupper()):
        return
    end = match.end()
    sure = family.casefold() in lexicon.eponyms
    if not _is_thing(text, end, lexicon, f"{word.folded} {family.casefold()}"):
        whole = name_end(text, word.start, lexicon, comma=False)
        yield Found(word.start, max(end, whole), "NAME", "name-listed", sure=sure)


def _pairs(shown: str, given: str, family: str, lexicon: Lexicon, *, caps: bool) -> bool:
    """Tell whether two words together are a name."""
    surname = unaccented(family)
    parts = surname.split("-")
    if min(map(len, parts)) == 1:
        return False
    word_given = lexicon.is_word(shown) or given in lexicon.ordinary
    ordinary = all(map(lexicon.is_ordinary, parts))
    if not word_given and surname in lexicon.eponyms and not ordinary:
        return True
    word_family = lexicon.is_word(surname) or ordinary
    if lexicon.ends_name(family):
        return False
    listed = any(part in lexicon.surnames for part in parts)
    if word_given:
        return listed and not word_family
    if caps:
        return listed and (not word_family or surname in lexicon.frequent_surnames)
    return not word_family or surname in lexicon.frequent_surnames


def _inverted(text: str, word: Word, folded: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find LAST, FIRST M."""
    match = _COMMA_GIVEN.match(text, word.end)
    if match is None:
        return
    given = unaccented(match.group(1))
    if given not in lexicon.given_names or not lexicon.reads_as_name(folded) or given in TITLES:
        return
    before = _JOINED.search(text[max(0, word.start - _BEFORE) : word.start])
    start = word.start - (len(before.group()) if before else 0)
    is_word = lexicon.is_word(given) or lexicon.is_ordinary(given)
    opens = text[max(0, start - 2) : start][-2:] in ("", "\n", "- ", ": ", "| ")
    opens = opens or text[start - 1 : start] == "\n" or match.group(2) is not None
    if opens or not is_word:
        sure = folded in lexicon.eponyms
        yield Found(start, match.end(), "NAME", "name-listed", sure=sure)


def _initialled(text: str, word: Word, folded: str, lexicon: Lexicon) -> Iterator[Found]:
    """Find an initial before a family name (J. Graves), not before a word (A. Small effusion)."""
    if text[word.start - 1 : word.start] not in (" ", ".", "-"):
        return
    line = text[max(0, word.start - _BEFORE) : word.start]
    match = _INITIALS.search(line)
    if match is None or lexicon.ends_name(folded):
        return
    start = word.start - len(line) + match.start()
    if text[start - 1 : start] != "\n" and text[max(0, start - 2) : start - 1].isdigit():
        return
    if text[max(0, start - 5) : start].casefold() == "sex: ":
        return
    is_word = lexicon.is_word(folded) or lexicon.is_ordinary(folded)
    opens = text[max(0, start - 1) : start] in ("", "\n")
    if is_word and (opens or _GOES_ON.match(text, word.end)):
        return
    if not _is_thing(text, word.end, lexicon, folded):
        end = name_end(text, start, lexicon, comma=False)
        yield Found(start, max(word.end, end), "NAME", "name-listed", sure=False)


def _is_thing(text: str, end: int, lexicon: Lexicon, name: str) -> bool:
    noun = _NOUN.match(text, end)
    return name in lexicon.eponyms or (
        noun is not None and lexicon.is_eponym_noun(noun.group(1).casefold())
    )
