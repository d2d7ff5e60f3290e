"""The catalogue of every fixed sentence, one a language.

``en.toml`` and ``de.toml`` beside this file hold the English and the German catalogue. A missing
key is an error when it is asked for, never an empty string.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from reports.numbers import MANNERS
from reports.numbers import count as printed

__all__ = ["Strings", "StringsError", "translated"]


class StringsError(KeyError):
    """The catalogue lacks a key, or a sentence lacks a value for its slot."""


_NAME: Final = "name."
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Names:
    """Names in another language; those with slots as what they match and what is said instead."""

    exact: Mapping[str, str]
    patterns: tuple[tuple[re.Pattern[str], str], ...]
    keep: tuple[type, ...]

    @classmethod
    def of(cls, words: Strings, keep: tuple[type, ...]) -> _Names:
        exact = {
            key.removeprefix(_NAME): said
            for key, said in words.sentences.items()
            if key.startswith(_NAME)
        }
        slotted = tuple(
            (re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.*)", re.escape(name)), re.DOTALL), said)
            for name, said in exact.items()
            if "{" in name
        )
        return cls(exact, slotted, keep)

    def said(self, value: object) -> object:
        """Put every name inside a value into the language; what holds none stays the same."""
        if isinstance(value, str):
            return self._name(value)
        if isinstance(value, tuple) and type(value) is tuple:
            parts = tuple(self.said(part) for part in value)
            same = all(a is b for a, b in zip(parts, value, strict=True))
            return value if same else parts
        if isinstance(value, (type, *self.keep)) or not is_dataclass(value):
            return value
        given = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        said = {name: self.said(part) for name, part in given.items()}
        changed = {name: part for name, part in said.items() if part is not given[name]}
        return replace(cast("Any", value), **changed) if changed else value

    def _name(self, text: str) -> str:
        if text in self.exact or not text:
            return self.exact.get(text, text)
        for pattern, said in self.patterns:
            found = pattern.fullmatch(text)
            if found:
                slots = {key: self._name(part) for key, part in found.groupdict().items()}
                return said.format(**slots)
        return text


def translated(content: T, words: Strings, *, keep: tuple[type, ...] = ()) -> T:
    """Put every name that a page's content carries into the words' language.

    Parameters
    ----------
    keep
        Types that are not looked into: what is read back from a page stays as it was.

    Examples
    --------
    >>> german = Strings({"name.CT within {n} h": "CT in {n} Std."})
    >>> translated(("CT within 12 h", "likely"), german)
    ('CT in 12 Std.', 'likely')
    """
    names = _Names.of(words, keep)
    return cast("T", names.said(content)) if names.exact else content


def _flatten(table: Mapping[str, object], prefix: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            flat.update(_flatten(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = str(value)
    return flat


@cache
def _read(path: Path) -> dict[str, str]:
    return _flatten(tomllib.loads(path.read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class Strings:
    """Sentences by dotted key.

    >>> Strings({"count": "{n} exams"})("count", n=3)
    '3 exams'
    """

    sentences: Mapping[str, str]
    language: str = "en"

    @classmethod
    def load(cls, *, language: str = "en") -> Strings:
        """Load a shipped catalogue."""
        return cls(_read(Path(__file__).with_name(f"{language}.toml")), language)

    @property
    def tag(self) -> str:
        """What a file says of its language."""
        return MANNERS[self.language].tag

    def __call__(self, key: str, **values: object) -> str:
        """Look up a sentence and fill its slots.

        Raises
        ------
        StringsError
            When the key is not in the catalogue, or a slot has no value.
        """
        try:
            return self.sentences[key].format(**values)
        except KeyError as missing:
            raise StringsError(
                f"strings: {key!r} lacks {missing}. Add it to the catalogue or its caller."
            ) from None

    def name(self, text: str, *, of: str = "") -> str:
        """Give a name that results carry in this language; as it is where there is none.

        >>> words = Strings({"name.CT: absent": "kein Nachweis"})
        >>> words.name("absent", of="CT: "), words.name("absent")
        ('kein Nachweis', 'absent')
        """
        plain = self.sentences.get(f"{_NAME}{text}", text)
        return self.sentences.get(f"{_NAME}{of}{text}", plain)

    def month(self, text: str, form: str = "short") -> str:
        """Print a month ("2026-06"): "short" in tables, "long" in sentences; a quarter alike.

        >>> words = Strings.load(language="de")
        >>> words.month("2026-06"), words.month("2026-06", "long"), words.month("2026 Q2")
        ('06/2026', 'Juni 2026', 'Q2 2026')
        """
        if not (found := re.fullmatch(r"(\d{4})(?:-(\d\d)| (Q\d))", text)):
            return text
        year, month, quarter = found.groups()
        name = quarter or self("month.names").split()[int(month) - 1]
        return self(f"month.{'long' if quarter else form}", name=name, month=month, year=year)

    def day(self, text: str) -> str:
        """Print a day or month that stands as in 2026-12-15; any other text as it is.

        >>> Strings.load(language="de").day("2026-12-15"), Strings.load().day("mid-January")
        ('15. Dezember 2026', 'mid-January')
        """
        with suppress(ValueError):
            on = date.fromisoformat(f"{text}-01" if len(text) == len("2026-12") else text)
            month = self.month(f"{on:%Y-%m}", "long")
            named = {str(on): self("month.day", day=on.day, month=month), f"{on:%Y-%m}": month}
            return named.get(text, text)
        return text

    def several(self, key: str, count: int, **values: object) -> str:
        """Singular (``key.one``) or plural (``key.many``) by count; the slot is ``{n}``."""
        form = "one" if count == 1 else "many"
        return self(f"{key}.{form}", n=printed(count), **values)

    def series(self, prefix: str) -> tuple[str, ...]:
        """All sentences below a prefix, in catalogue order.

        >>> Strings({"how.a": "First.", "how.b": "Second.", "other": "x"}).series("how")
        ('First.', 'Second.')
        """
        return tuple(s for key, s in self.sentences.items() if key.startswith(f"{prefix}."))
