"""Patterns as data: tables of them, the fragments that they share, the word lists of the rules."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Final

from pipeline.names.grammar import LOWER, NAME_WORD, UPPER
from pipeline.names.lexicon import triggers

__all__ = ["patterns", "source", "spelt", "word_list"]

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
