"""The word lists and rates of the simulated hospital, read once from the files in ``data/``."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple, TypeAlias

Frame: TypeAlias = tuple[tuple[str, bool], ...]
"""A line with identifier slots: pieces of (text or slot name, is it a slot)."""

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
    sided: bool
    airspace: bool
    nouns: tuple[Noun, ...]
    detailed: tuple[tuple[Noun, ...], tuple[Noun, ...]]
    signs: tuple[tuple[str, ...], tuple[str, ...]]
    rivals: tuple[str, ...]
    present: tuple[str, ...]
    absent: tuple[str, ...]
    clear: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """Pathologies in order, canonical phrases in order, and their templates per kind of report."""

    pathologies: tuple[Pathology, ...]
    phrases: tuple[str, ...]
    single: Mapping[str, tuple[tuple[str, ...], ...]]
    pair: Mapping[str, tuple[tuple[str, ...], ...]]
    triple: Mapping[str, tuple[tuple[str, ...], ...]]
    mixed: Mapping[tuple[int, int], tuple[str, ...]]


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / "data" / name).read_text(encoding="utf-8"))


@cache
def hospital() -> dict[str, Any]:
    """Return rates, sites and exam codes."""
    return _load("hospital.toml")


@cache
def names() -> dict[str, list[str]]:
    """Return the invented given and family names."""
    return _load("names.toml")


def _noun(text: str, side: str) -> Noun:
    article, words = text.replace("{side}", side).split("|")
    return Noun(article, words)


def _pathology(entry: Mapping[str, Any]) -> Pathology:
    def both_sides(items: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        left, right = (tuple(i.replace("{side}", s) for i in items) for s in ("left", "right"))
        return left, right

    left, right = (tuple(_noun(n, s) for n in entry["detailed"]) for s in ("left", "right"))
    return Pathology(
        name=entry["name"],
        compartment=entry["compartment"],
        sided=entry.get("sided", False),
        airspace=entry.get("airspace", False),
        nouns=tuple(_noun(n, "") for n in entry["nouns"]),
        detailed=(left, right),
        signs=both_sides(entry["signs"]),
        rivals=tuple(entry["rivals"]),
        present=tuple(entry.get("present", ())),
        absent=tuple(entry.get("absent", ())),
        clear=tuple(entry.get("clear", ())),
    )


def _templates(
    entries: Mapping[str, Mapping[str, list[str]]], phrases: tuple[str, ...], *, keys: list[str]
) -> tuple[tuple[str, ...], ...]:
    """Return the templates of every phrase, in phrase order, joined over the named lists."""
    return tuple(tuple(t for key in keys for t in entries[p].get(key, ())) for p in phrases)


@cache
def wording() -> Wording:
    """Return pathologies, phrases and templates; translated reports fall back to plain ones."""
    raw = _load("phrases.toml")
    mixed_rows = raw.pop("mixed")["descending"]
    phrases = tuple(raw)
    mixed: dict[tuple[int, int], tuple[str, ...]] = {}
    for first, second, template in mixed_rows:
        key = (phrases.index(first), phrases.index(second))
        mixed[key] = (*mixed.get(key, ()), template)
    plain = {
        key: _templates(raw, phrases, keys=keys)
        for key, keys in {
            "xray": ["both", "xray"],
            "ct": ["both", "ct"],
            "pair": ["pair"],
            "triple": ["triple"],
        }.items()
    }
    return Wording(
        pathologies=tuple(_pathology(e) for e in _load("pathologies.toml")["pathology"]),
        phrases=phrases,
        single={
            "xray": plain["xray"],
            "ct": plain["ct"],
            "translated": _preferring(raw, phrases, "translated", plain["ct"]),
        },
        pair=_by_mode(raw, phrases, "pair", plain["pair"]),
        triple=_by_mode(raw, phrases, "triple", plain["triple"]),
        mixed=mixed,
    )


def _preferring(
    entries: Mapping[str, Mapping[str, list[str]]],
    phrases: tuple[str, ...],
    key: str,
    otherwise: tuple[tuple[str, ...], ...],
) -> tuple[tuple[str, ...], ...]:
    own = _templates(entries, phrases, keys=[key])
    return tuple(mine or other for mine, other in zip(own, otherwise, strict=True))


def _by_mode(
    entries: Mapping[str, Mapping[str, list[str]]],
    phrases: tuple[str, ...],
    key: str,
    plain: tuple[tuple[str, ...], ...],
) -> dict[str, tuple[tuple[str, ...], ...]]:
    translated = _preferring(entries, phrases, f"{key}_translated", plain)
    return {"xray": plain, "ct": plain, "translated": translated}


def _frame(line: str) -> Frame:
    parts = _SLOT.split(line)
    return tuple((part, bool(i % 2)) for i, part in enumerate(parts) if part)


def _framed(value: object) -> Any:
    if isinstance(value, str):
        return _frame(value)
    if isinstance(value, list):
        return tuple(_framed(v) for v in value)
    if isinstance(value, dict):
        return {key: _framed(v) for key, v in value.items()}
    message = f"frames.toml: {type(value).__name__} is not a line, a list or a table."
    raise TypeError(message)


@cache
def frames() -> dict[str, Any]:
    """Return the lines that state no pathology, split at their identifier slots.

    Words, headings and complaints have no slots and stay plain strings.
    """
    raw = _load("frames.toml")
    plain = {"headings", "distractors", "others"}
    out: dict[str, Any] = {k: v if k in plain else _framed(v) for k, v in raw.items()}
    for word_list in ("complaint", "request"):
        out["indication"][word_list] = raw["indication"][word_list]
    return out
