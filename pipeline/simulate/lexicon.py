"""The word lists and rates of the simulated hospital, read once from the files in ``data/``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Frame: TypeAlias = tuple[tuple[str, bool], ...]
"""A line with identifier slots: pieces of (text or slot name, is it a slot)."""

Templates: TypeAlias = tuple[tuple[str, ...], ...]
"""Templates of every phrase, in phrase order."""

_SIDES: Final = ("left", "right")
_SLOT: Final = re.compile(r"<(\w+)>")


class Noun(NamedTuple):
    """A noun phrase for a pathology: its article ("", "a", "an") and its words."""

    article: str
    words: str

    @property
    def with_article(self) -> str:
        """The words behind their article."""
        return f"{self.article} {self.words}" if self.article else self.words


@dataclass(frozen=True, slots=True)
class Pathology:
    """How one pathology is worded; nouns and signs are given for (left, right)."""

    name: str
    compartment: str
    nouns: tuple[Noun, ...]
    detailed: tuple[tuple[Noun, ...], tuple[Noun, ...]]
    signs: tuple[tuple[str, ...], tuple[str, ...]]
    rivals: tuple[str, ...]
    sided: bool = False
    airspace: bool = False
    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    clear: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wording:
    """Pathologies in order, canonical phrases in order, and their templates per kind of report."""

    pathologies: tuple[Pathology, ...]
    phrases: tuple[str, ...]
    single: Mapping[str, Templates]
    pair: Mapping[str, Templates]
    triple: Mapping[str, Templates]
    mixed: Mapping[tuple[int, int], tuple[str, ...]]


@cache
def load(name: str) -> dict[str, Any]:
    """Read one of the files in ``data/``."""
    place = files(__package__) / "data" / f"{name}.toml"
    return tomllib.loads(place.read_text(encoding="utf-8"))


def hospital() -> dict[str, Any]:
    """Return rates, sites and exam codes."""
    return load("hospital")


class Spelling(NamedTuple):
    """One way to write an identifier, taken where a uniform number lies ``below``."""

    text: str
    category: str
    kind: str
    below: float = 1.0
    capitals: bool = False


@cache
def spellings(of: Literal["date", "moment"]) -> tuple[tuple[str, str], ...]:
    """Return the ways to write a date (day, month and year first) or one with its time."""
    return tuple(load("spellings")[of].items())


@cache
def slot_spellings() -> dict[str, tuple[Spelling, ...]]:
    """Return the ways to write each identifier that a slot may name."""
    slots = load("spellings")["slot"].items()
    return {slot: tuple(Spelling(**each) for each in ways) for slot, ways in slots}


def _on(text: str, side: str) -> str:
    return text.replace("{side}", side)


def _noun(text: str, side: str) -> Noun:
    article, words = _on(text, side).split("|")
    return Noun(article, words)


def _pathology(entry: Mapping[str, Any]) -> Pathology:
    of_sides = {
        "detailed": tuple(tuple(_noun(n, side) for n in entry["detailed"]) for side in _SIDES),
        "signs": tuple(tuple(_on(s, side) for s in entry["signs"]) for side in _SIDES),
    }
    nouns = tuple(_noun(n, "") for n in entry["nouns"])
    plain: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()}
    return Pathology(**plain | of_sides | {"nouns": nouns})


@cache
def wording() -> Wording:
    """Return pathologies, phrases and templates; translated reports fall back to plain ones."""
    raw = load("phrases")
    mixed_rows = raw["mixed"]["descending"]
    phrases = tuple(name for name in raw if name != "mixed")
    mixed: dict[tuple[int, int], tuple[str, ...]] = {}
    for first, second, template in mixed_rows:
        key = (phrases.index(first), phrases.index(second))
        mixed[key] = (*mixed.get(key, ()), template)

    def templates(*keys: str, otherwise: Templates = ()) -> Templates:
        """Join each phrase's named lists; a phrase without any takes what stands for it else."""
        own = [tuple(t for key in keys for t in raw[phrase].get(key, ())) for phrase in phrases]
        return tuple(each or other for each, other in zip_longest(own, otherwise, fillvalue=()))

    def by_mode(key: str) -> dict[str, Templates]:
        plain = templates(key)
        translated = templates(f"{key}_translated", otherwise=plain)
        return {"xray": plain, "ct": plain, "translated": translated}

    ct = templates("both", "ct")
    return Wording(
        pathologies=tuple(_pathology(e) for e in load("pathologies")["pathology"]),
        phrases=phrases,
        single={
            "xray": templates("both", "xray"),
            "ct": ct,
            "translated": templates("translated", otherwise=ct),
        },
        pair=by_mode("pair"),
        triple=by_mode("triple"),
        mixed=mixed,
    )


def _frame(line: str) -> Frame:
    parts = _SLOT.split(line)
    return tuple((part, bool(i % 2)) for i, part in enumerate(parts) if part)


def _framed(value: str | list[Any] | dict[str, Any]) -> Any:
    if isinstance(value, str):
        return _frame(value)
    if isinstance(value, list):
        return tuple(map(_framed, value))
    return {key: _framed(v) for key, v in value.items()}


@cache
def frames() -> dict[str, Any]:
    """Return the lines that state no pathology, split at their identifier slots.

    Words, headings and complaints have no slots and stay plain strings.
    """
    raw = load("frames")
    plain = {"headings", "distractors", "others"}
    out: dict[str, Any] = {k: v if k in plain else _framed(v) for k, v in raw.items()}
    for word_list in ("complaint", "request"):
        out["indication"][word_list] = raw["indication"][word_list]
    return out
