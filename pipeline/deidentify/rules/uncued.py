"""Names that stand alone, without a cue or a partner: paged Okonkwo · thanks, Bob.

Two kinds of word are a name by themselves. A **rare** one is a name of the lists that is no word of
English or medicine; it is a name also in capitals. A listed name that is a word as well (Bob, Beck)
is one only where its capital has no other reason: inside a sentence of small letters. An eponym
before its noun (the Riedel lobe), a saint's valve and a few capitals (KUB) stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Word, Words
from pipeline.names.grammar import LOWER, NAME_WORD, UPPER, name_end
from pipeline.names.lexicon import Lexicon, unaccented

__all__ = ["find", "is_eponym"]

_ACRONYM: Final = 4
"""Up to how many capitals may be an acronym."""
_LETTER: Final = rf"[{UPPER}{LOWER}]"
_COMPOUND: Final = re.compile(rf"{_LETTER}{{2,30}}-$")
_NOUN: Final = re.compile(
    rf"(?:-{_LETTER}{{2,30}})*(?:['’]s)?(?:[ \t](?:{_LETTER}|[IV]{{1,3}}|\d))?"
    rf"(?:[ \t]|[ \t]?\n[ \t]{{0,8}}(?=[{LOWER}]))({_LETTER}{{3,20}})"
)
_POSSESSIVE: Final = re.compile(r"['’][sS](?![\w])")
_ARTICLE: Final = re.compile(r"\b(?:an?|the)[ \t]$", re.IGNORECASE)
_SMALL_BEFORE: Final = re.compile(rf"[{LOWER}][,;]?[ \t]$|\([ \t]?$")
_BEFORE: Final = re.compile(
    rf"(?:(?<=\s)|(?<=[(,:;/])|^)((?:{NAME_WORD}|[{UPPER}]\.?)[ \t]{{1,2}})$"
)
_SAINT: Final = re.compile(r"\b(?:st|saint)\.?[ \t]$", re.IGNORECASE)
_COMMA: Final = re.compile(rf",[ \t]?({NAME_WORD})(?:[ \t][{UPPER}]\b\.?)?")
_FAMILY: Final = re.compile(rf"(?:^|[:|/][ \t]{{0,8}})({NAME_WORD}),[ \t]{{1,2}}$", re.M)
_NEXT: Final = re.compile(rf"[ \t-]{{0,2}}([{UPPER}{LOWER}'’-]+\.?)")
_BLANKS: Final = frozenset(" \t")
_REACH: Final = 24


def find(
    text: str, found_words: Words, lexicon: Lexicon, is_taken: Callable[[int], bool]
) -> Iterator[Found]:
    """Find names that nothing announces."""
    for at in found_words.named(lexicon.all_names, is_taken):
        is_rare = found_words.plain[at] in lexicon.rare_names
        if not is_rare and found_words.plain[at] in lexicon.words:
            continue
        word = found_words[at]
        stands = not _is_acronym(text, word) if is_rare else _stands_out(text, word)
        if not stands or text[word.end : word.end + 1].isdigit():
            continue  # SaO2
        pair = f"{found_words.plain[at - 1]} {found_words.plain[at]}" if at else ""
        if pair not in lexicon.eponyms and not is_eponym(text, word, lexicon):  # Bence Jones
            yield Found(*_whole(text, word, lexicon), "NAME", "name-uncued", sure=False)


def _is_acronym(text: str, word: Word) -> bool:
    """Tell KUB the view from Kub the name."""
    return word.end - word.start <= _ACRONYM and text[word.start : word.end].isupper()


def _stands_out(text: str, word: Word) -> bool:
    """Tell whether a listed word's capital has no reason but a name."""
    if _SMALL_BEFORE.search(text, max(0, word.start - 3), word.start) is None:
        return False
    return not text[word.start : word.end].isupper()


def is_eponym(text: str, word: Word, lexicon: Lexicon) -> bool:
    """Tell whether a name stands as that of a thing: before its noun, or with an article."""
    noun = _NOUN.match(text, word.end)
    follows = noun.group(1).casefold() if noun else ""
    if lexicon.is_eponym_noun(follows) or f"{word.folded} {follows}" in lexicon.eponyms:
        return True
    start = word.start
    before = text[max(0, start - 7) : start]
    if before[-1:] in _BLANKS and _SAINT.search(before):
        return True
    if _POSSESSIVE.match(text, word.end - 2) or _POSSESSIVE.match(text, word.end):
        return follows not in lexicon.person_words
    if before[-1:] == "-":
        compound = _COMPOUND.search(text, max(0, start - _REACH), start)
        if compound and _is_clinical(compound.group()[:-1], lexicon):
            return True  # Carpentier-Edwards
        start = compound.start() if compound else start
        before = text[max(0, start - 7) : start]
    if follows == "" or follows in lexicon.person_words or before[-1:] not in _BLANKS:
        return False
    return _ARTICLE.search(before) is not None


def _is_clinical(first: str, lexicon: Lexicon) -> bool:
    """Tell whether the first part of a compound is an eponym and no frequent name."""
    folded = first.casefold()
    return folded in lexicon.eponyms and folded not in lexicon.frequent_surnames


def _whole(text: str, word: Word, lexicon: Lexicon) -> tuple[int, int]:
    """Join the names on both sides."""
    start = word.start
    before = _BEFORE.search(text, max(0, start - _REACH), start)
    if before:
        first = unaccented(before.group(1).strip(" \t."))
        if len(first) == 1 or first in lexicon.given_names:
            start = before.start(1)
    end = max(word.end, name_end(text, word.start, lexicon, comma=False))
    if text[word.start : word.end].isupper():
        end = _listed_end(text, word.end, end, lexicon)
    comma = _COMMA.match(text, end)
    given = unaccented(comma.group(1)).split("-")[0] if comma else ""
    if comma and given in lexicon.given_names and not lexicon.is_word(given):
        end = comma.end()
    return _with_family(text, start, lexicon), end


def _with_family(text: str, start: int, lexicon: Lexicon) -> int:
    """Begin at the family name where LAST, FIRST opens a line or stands behind a label."""
    if text[max(0, start - 3) : start].rstrip(" \t")[-1:] != ",":
        return start
    family = _FAMILY.search(text, max(0, start - 2 * _REACH), start)
    known = family and unaccented(family.group(1)).split("-")[0] in lexicon.names
    return family.start(1) if family and known else start


def _listed_end(text: str, start: int, stop: int, lexicon: Lexicon) -> int:
    """End a name in capitals behind the last listed name: what follows may be the sentence."""
    end = start
    for match in _NEXT.finditer(text, start, stop):
        name = unaccented(match.group(1).strip(".'’")).split("-")[0]
        listed = name in lexicon.names or name in lexicon.rare_names
        if len(name) > 1 and (not listed or lexicon.is_ordinary(name)):
            break
        end = match.end()
    return end
