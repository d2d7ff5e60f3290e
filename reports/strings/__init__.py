"""The catalogue of every fixed sentence, so that an institution can print its own language.

``en.toml`` and ``de.toml`` beside this file hold the English and the German catalogue; another file
of the same shape may replace any part of one. A missing key is an error when it is asked for, never
an empty string.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reports.numbers import count as printed

__all__ = ["Strings", "StringsError"]


class StringsError(KeyError):
    """The catalogue lacks a key, or a sentence lacks a value for its slot."""


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
    def load(cls, path: Path | None = None, *, language: str = "en") -> Strings:
        """Load a shipped catalogue, with the sentences of ``path`` in place of its own."""
        sentences = _read(Path(__file__).with_name(f"{language}.toml"))
        return cls(sentences | _read(path) if path else sentences, language)

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
            message = f"strings: {key!r} lacks {missing}. Add it to the catalogue or its caller."
            raise StringsError(message) from None

    def under(self, prefix: str) -> Strings:
        """Look below a prefix first; what is not there is looked up as it is.

        >>> Strings({"axis": "share", "stated.axis": "answers"}).under("stated")("axis")
        'answers'
        """
        start = f"{prefix}."
        own = {key[len(start) :]: s for key, s in self.sentences.items() if key.startswith(start)}
        return Strings({**self.sentences, **own}, self.language)

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
