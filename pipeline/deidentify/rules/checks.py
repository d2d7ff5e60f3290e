"""What rows of rules are made of: patterns and word lists as data, and what taken words must be.

Most questions are put together from a number and a property, as in ``none report`` or ``first
given``: *all*, *any*, *none*, *first*, *last* or *not* (the first) of the words, folded as the name
lists are written. The others have names of their own. No word at all fails every check that is put
together.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final, TypeAlias

from pipeline.deidentify.rules.window import Window
from pipeline.names.grammar import LOWER, NAME_WORD, UPPER, reads_as_name
from pipeline.names.lexicon import Lexicon, triggers, unaccented

_FRAGMENT: Final = re.compile(r"\{([A-Za-z]\w*)\}")
_BREAK: Final = re.compile(r"\n[ ]*")
_LETTERS: Final = {"Name": NAME_WORD, "upper": UPPER, "lower": LOWER, "Capital": f"[{UPPER}]"}


@cache
def patterns(family: str) -> Mapping[str, re.Pattern[str]]:
    """Give the named patterns that a family's code uses."""
    written: Mapping[str, str] = tomllib.loads(source(family))["patterns"]
    return {name: re.compile(spelt(text)) for name, text in written.items()}


@cache
def word_list(name: str) -> frozenset[str]:
    """Give a list of words, of the rules' own or of those that call them."""
    own: Mapping[str, list[str]] = tomllib.loads(source("fragments"))["lists"]
    return frozenset(own[name]) if name in own else triggers(name)


def spelt(pattern: str) -> str:
    """Write a pattern out: fragments for their names, nothing for line breaks."""
    joined = _BREAK.sub("", pattern)
    while True:
        written = _FRAGMENT.sub(lambda match: _fragments()[match[1]], joined)
        if written == joined:
            return written
        joined = written


@cache
def _fragments() -> Mapping[str, str]:
    written: Mapping[str, str] = tomllib.loads(source("fragments"))["fragments"]
    return {**_LETTERS, **{name: _BREAK.sub("", text) for name, text in written.items()}}


def source(family: str) -> str:
    """Give the text of a family's table."""
    path = resources.files("pipeline.deidentify.rules").joinpath(f"{family}.toml")
    return path.read_text(encoding="utf-8")


Check: TypeAlias = Callable[[str, Window], bool]
_WORDS: Final = re.compile(r"[^\W\d_]{2,}")
_DATE_LIKE: Final = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}$|\d{1,2}/\d{2,4}$")
_SHORT_DATE: Final = re.compile(r"\d{1,2}/\d{1,2}/(?:19|20)?\d\d$")
"""When somebody was told (on the telephone on 3/4/2021)."""
_TAKERS: Final[Mapping[str, Callable[[Sequence[bool]], bool]]] = {
    "all": all,
    "any": any,
    "none": lambda holds: not any(holds),
    "first": lambda holds: holds[0],
    "last": lambda holds: holds[-1],
    "not": lambda holds: not holds[0],
}
_PROPERTIES: Final[Mapping[str, Callable[[str, Lexicon], bool]]] = {
    "eponym": lambda word, lexicon: word in lexicon.eponyms,
    "family": lambda word, lexicon: word in lexicon.frequent_surnames,
    "familiar": lambda word, lexicon: word in lexicon.familiar or word in lexicon.acronyms,
    "filler": lambda word, lexicon: word in lexicon.fillers,
    "given": lambda word, lexicon: word in lexicon.given_names,
    "listed": lambda word, lexicon: is_listed(word, lexicon),
    "name": lambda word, lexicon: word in lexicon.all_names,
    "noun": lambda word, lexicon: word in lexicon.eponym_nouns,
    "opener": lambda word, lexicon: word.casefold() in lexicon.openers,
    "person": lambda word, lexicon: word in lexicon.all_names or lexicon.is_stranger(word),
    "report": lambda word, lexicon: word.casefold() in lexicon.not_names,
    "stranger": lambda word, lexicon: lexicon.is_stranger(word),
    "unit": lambda word, _: word in _UNITS,
    "zone": lambda word, _: word in word_list("zones"),
}
_NOBODY: Final = word_list("nobodys_names")
_ROLES: Final = word_list("households").union(
    *map(triggers, ("roles", "titles", "roles_of_people", "relatives", "telling"))
)
_NEVER: Final = word_list("sexes").union(*map(triggers, ("words_that_open_a_history", "telling")))
"""Words at the place of a name that begin the history or tell someone (via pager 4471)."""
_NEVER_SIGNS: Final = _NOBODY.union(*map(word_list, ("common_words", "never_signs", "zones")))
"""Short words and shortened ones that are nobody's initials."""
_UNITS: Final[frozenset[str]] = word_list("units_of_place") | triggers("titles")
"""What else has a capital behind "at" in the headings of some templates."""
_COMMON: Final = word_list("common_words")
KINDS: Final = triggers("kinds_of_hospital")
"""Words that make the capitalised words before them the name of a hospital."""


def check(name: str) -> Check:
    """Give the check of a name.

    Raises
    ------
    KeyError
        If there is none of that name.
    """
    if name in _NAMED:
        return _NAMED[name]
    number, _, what = name.partition(" ")
    takes, holds = _TAKERS[number], _PROPERTIES[what]

    def checked(shown: str, window: Window) -> bool:
        words = parts(shown)
        return bool(words) and takes([holds(word, window.lexicon) for word in words])

    return checked


def parts(shown: str) -> list[str]:
    """Give the words of two letters or more, folded as the name lists are written."""
    return [unaccented(word) for word in _WORDS.findall(shown)]


def is_listed(word: str, lexicon: Lexicon) -> bool:
    """Tell whether a word stands on a list of names."""
    return word in lexicon.names or word in lexicon.rare_names


def reads(shown: str, window: Window) -> bool:
    """Tell whether words behind a weak cue can be a name, none of them one of a sentence."""
    return reads_as_name(shown, 0, len(shown), window.lexicon)


def is_shouted_sentence(place: str, lexicon: Lexicon) -> bool:
    """Tell whether words in capitals are a sentence of a report in capitals, not a place."""
    if not place.isupper():
        return False
    words = re.findall(r"[^\W\d_]{3,}", place)
    return KINDS.isdisjoint(map(str.casefold, words)) and all(map(lexicon.is_ordinary, words))


def _has_figures(shown: str, least: int) -> bool:
    return len(shown) > len("Dr") and sum(map(str.isdigit, shown)) >= least


def _is_somebody(shown: str, _: Window) -> bool:
    return shown.casefold().split()[0] not in _NOBODY


def _is_acronym(shown: str, words: Sequence[str], lexicon: Lexicon) -> bool:
    return shown.isupper() and len(words) == 1 and words[0] in lexicon.acronyms


def _fills(shown: str, window: Window) -> bool:
    """Tell whether words at the place of a name are no role, heading or body part."""
    words = parts(shown)
    if not words or not _is_somebody(shown, window) or _is_acronym(shown, words, window.lexicon):
        return False
    return words[0] not in _ROLES and words[0] not in window.lexicon.openers


def _are_initials(shown: str, window: Window) -> bool:
    """Tell whether a short value is no view, department or credential (PA, ED, MD)."""
    folded, lexicon = shown.casefold(), window.lexicon
    return not any(folded in words for words in (lexicon.not_names, lexicon.acronyms, _NOBODY))


def _are_nobodys(shown: str, window: Window) -> bool:
    """Tell whether initials are a word; in a report in capitals most are."""
    folded, lexicon = shown.casefold(), window.lexicon
    familiar = folded in lexicon.familiar or folded in lexicon.acronyms
    return folded in _COMMON or (familiar and window.text.isupper())


def _are_signs(shown: str, window: Window) -> bool:
    """Tell whether letters can be somebody's initials: none a word, not all abbreviations."""
    folded, lexicon = [each.casefold() for each in _WORDS.findall(shown)], window.lexicon
    if any(each in _NEVER_SIGNS or each in lexicon.words for each in folded):
        return False
    shortened = shown.isupper() or window.text.islower()
    return not (shortened and lexicon.acronyms.issuperset(folded))


def _are_listed(shown: str, window: Window) -> bool:
    """Tell whether each word is listed as a name or is no word, and none opens a history."""
    words, lexicon = parts(shown), window.lexicon
    if not words or _is_acronym(shown, words, lexicon):
        return False
    named = all(is_listed(each, lexicon) or not lexicon.is_ordinary(each) for each in words)
    return named and _NEVER.isdisjoint(words)


def _acts(shown: str, window: Window) -> bool:
    """Tell whether a word can be a name before a verb of persons."""
    word, lexicon = unaccented(shown), window.lexicon
    if word in lexicon.fillers or word in lexicon.rare_names:
        return True
    return word in lexicon.names and not lexicon.is_word(word)


def _is_town(shown: str, window: Window) -> bool:
    """Tell whether a place before a state is listed as a town, or is no word."""
    place, lexicon = unaccented(shown), window.lexicon
    return place in lexicon.cities or place in lexicon.towns or lexicon.is_stranger(place)


_NAMED: Final[Mapping[str, Check]] = {
    "acts": _acts,
    "a listed town": lambda shown, window: (
        unaccented(shown).replace("-", " ") in window.lexicon.towns
    ),
    "a town": _is_town,
    "figure": lambda shown, _: any(map(str.isdigit, shown)),
    "fills": _fills,
    "four figures": lambda shown, _: _has_figures(shown, 4),
    "initials": _are_initials,
    "listed": _are_listed,
    "mixed": lambda shown, _: not shown.isupper(),
    "no date": lambda shown, _: _DATE_LIKE.match(shown) is None,
    "no label": lambda shown, window: shown.casefold() not in window.lexicon.not_names,
    "no plain word": lambda shown, window: (
        shown.casefold() not in window.lexicon.acronyms
        and shown.casefold() not in window.lexicon.ordinary
    ),
    "no sentence": lambda shown, window: not is_shouted_sentence(shown, window.lexicon),
    "no short date": lambda shown, _: _SHORT_DATE.match(shown) is None,
    "no words": lambda shown, window: not _are_nobodys(shown, window),
    "one word": lambda shown, _: " " not in shown,
    "rare in capitals": lambda shown, window: (
        not (window.text.isupper() and window.lexicon.is_ordinary(shown.split()[0]))
    ),
    "reads": reads,
    "signs": _are_signs,
    "somebody": _is_somebody,
    "two figures": lambda shown, _: _has_figures(shown, 2),
    "two or rare": lambda shown, window: (
        " " in shown or not window.lexicon.is_ordinary(shown.split()[0])
    ),
    "two words": lambda shown, _: " " in shown,
}
