"""What rows of rules are made of: patterns and word lists as data, and what taken words must be."""

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
_NOBODY: Final = word_list("nobodys_names")
_NEVER: Final = word_list("sexes").union(*map(triggers, ("words_that_open_a_history", "telling")))
"""Words at the place of a name that begin the history or tell someone (via pager 4471)."""
_NEVER_SIGNS: Final = _NOBODY.union(*map(word_list, ("common_words", "never_signs", "zones")))
"""Short words and shortened ones that are nobody's initials."""
KINDS: Final = triggers("kinds_of_hospital")
"""Words that make the capitalised words before them the name of a hospital."""


def check(name: str) -> Check:
    """Give the check of a name.

    Raises
    ------
    KeyError
        If there is none of that name.
    """
    return _NAMED[name]


def parts(shown: str) -> list[str]:
    """Give the words of two letters or more, folded as the name lists are written."""
    return [unaccented(word) for word in _WORDS.findall(shown)]


def is_listed(word: str, lexicon: Lexicon) -> bool:
    """Tell whether a word stands on a list of names."""
    return word in lexicon.names or word in lexicon.rare_names


def reads(shown: str, window: Window) -> bool:
    """Tell whether words behind a weak cue can be a name, none of them one of a sentence."""
    return reads_as_name(shown, 0, len(shown), window.lexicon)


def _has_figures(shown: str, least: int) -> bool:
    return len(shown) > len("Dr") and sum(map(str.isdigit, shown)) >= least


def _is_acronym(shown: str, words: Sequence[str], lexicon: Lexicon) -> bool:
    return shown.isupper() and len(words) == 1 and words[0] in lexicon.acronyms


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


_NAMED: Final[Mapping[str, Check]] = {
    "four figures": lambda shown, _: _has_figures(shown, 4),
    "listed": _are_listed,
    "mixed": lambda shown, _: not shown.isupper(),
    "no date": lambda shown, _: _DATE_LIKE.match(shown) is None,
    "no label": lambda shown, window: shown.casefold() not in window.lexicon.not_names,
    "no plain word": lambda shown, window: (
        shown.casefold() not in window.lexicon.acronyms
        and shown.casefold() not in window.lexicon.ordinary
    ),
    "no short date": lambda shown, _: _SHORT_DATE.match(shown) is None,
    "signs": _are_signs,
    "two figures": lambda shown, _: _has_figures(shown, 2),
}
