"""Invented values instead of tokens, the same for the same identifier within a patient.

A surrogate is chosen by a keyed hash of the identifier, its category and the patient's key, so it
cannot be turned back, and a name that returns in a patient's next report gets the same surrogate.
Dates are shifted by the patient's own offset, so intervals survive; a date that cannot be read as
one day stays a token, and so does one of ninety years ago, for a birth then tells an age over 89. A
year in two figures is the last that has begun. Ages over 89 become ``90+ years``. Everything else
keeps the shape of the original, letter for letter and figure for figure; initials too are others.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib import resources
from typing import Final

from pipeline.deidentify.spans import Category

_MONTHS: Final = "jan feb mar apr may jun jul aug sep oct nov dec"
_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_WORD: Final = re.compile(r"[^\W\d_]+")
_OLDEST: Final = 89
"""An age that a date of birth may tell, in years."""
_FORMS: Final = r"""
(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)
(?P<month>\d{1,2})([-/])(?P<day>\d{1,2})\2(?P<year>\d{4}|\d\d)(?!\d)
(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4}|\d\d)(?!\d)
(?P<month>[A-Za-z]{3,9})\.?[ /-]{1,2}(?P<day>\d{1,2})TH,?[ /-]{1,2}(?P<year>\d{4})
(?P<day>\d{1,2})TH(?: of)?[ /.-]{0,2}(?P<month>[A-Za-z]{3,9})\.?,?[ /-]{0,2}(?P<year>\d{4})
(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)"""
_DATES: Final = tuple(map(re.compile, _FORMS.replace("TH", "(?:st|nd|rd|th)?").split("\n")[1:]))
"""The forms of a date that are tried, in this order."""


@dataclass(frozen=True, slots=True)
class Surrogates:
    """Makes surrogates for one patient.

    Attributes
    ----------
    key
        Secret of the run or the vault; never stored with the texts.
    patient
        Anything that is the same in all of one patient's reports (the patient's code).
    shift_days
        The patient's date offset from the vault; without one dates stay tokens.
    today
        Tells which century a year in two figures is of, and which dates of birth an age over 89.
    """

    key: bytes = field(repr=False)
    patient: str = field(default="", repr=False)
    shift_days: int | None = field(default=None, repr=False)
    today: date = field(default_factory=lambda: datetime.now(tz=UTC).date(), repr=False)

    def replace(self, original: str, category: Category) -> str:
        """Give the surrogate of one identifier as it stood in the text."""
        maker = _MAKERS.get(category)
        return maker(self, original) if maker else f"[{category}]"

    def name(self, original: str) -> str:
        """Replace each word of a name, and each initial; punctuation keeps its place."""
        return _WORD.sub(lambda match: self._word(match.group()), original)

    def _word(self, word: str) -> str:
        choices = _names() if len(word) > 1 else _LETTERS
        name = self._pick("NAME", word, choices)
        return name.upper() if word.isupper() else name

    def shaped(self, original: str) -> str:
        """Replace figures by figures and letters by letters, as large."""
        made = self._shape(original, "SHAPE")
        return made if made != original else self._shape(original, "SHAPE AGAIN")

    def _shape(self, original: str, kind: str) -> str:
        digest = self._digest(kind, original)
        keys = (digest[at % len(digest)] ^ (at & 0xFF) for at in range(len(original)))
        return "".join(map(_alike, original, keys))

    def date(self, original: str) -> str:
        """Shift a date that names one day; keep any other a token."""
        match = next(filter(None, (pattern.search(original) for pattern in _DATES)), None)
        if match is None or self.shift_days is None:
            return "[DATE]"
        try:
            day = _day(self.today, **match.groupdict())
            moved = (day + timedelta(days=self.shift_days)).isoformat()
        except (ValueError, OverflowError):
            return "[DATE]"
        return "[DATE]" if self.today.year - day.year > _OLDEST else moved

    def _pick(self, kind: str, original: str, choices: Sequence[str]) -> str:
        digest = self._digest(kind, original.casefold())
        at = int.from_bytes(digest[:4]) % len(choices)
        is_same = choices[at].casefold() == original.casefold()
        return choices[(at + is_same) % len(choices)]

    def _digest(self, kind: str, original: str) -> bytes:
        message = "\x1f".join((kind, self.patient, original)).encode()
        return hmac.digest(self.key, message, hashlib.sha256)


_MAKERS: Final[dict[Category, Callable[[Surrogates, str], str]]] = {
    "NAME": Surrogates.name,
    "ID": Surrogates.shaped,
    "PHONE": Surrogates.shaped,
    "DATE": Surrogates.date,
    "AGE": lambda _, __: "90+ years",
}


def _alike(letter: str, key: int) -> str:
    """Give a figure for a figure and a letter for a letter, as large; else what stands there."""
    if not letter.isalpha():
        return str(key % 10) if letter.isdigit() else letter
    other = _LETTERS[key % len(_LETTERS)]
    return other if letter.isupper() else other.lower()


def _day(today: date, *, year: str, month: str, day: str) -> date:
    number = int(month) if month.isdigit() else _MONTHS.index(month[:3].casefold()) // 4 + 1
    if len(year) != 2:
        return date(int(year), number, int(day))
    in_future = (2000 + int(year), number, int(day)) > (today.year, today.month, today.day)
    return date((1900 if in_future else 2000) + int(year), number, int(day))


@cache
def _names() -> tuple[str, ...]:
    words = resources.files("pipeline.names").joinpath("words", "surrogate_names.txt")
    lines = (line.split("#")[0].strip() for line in words.read_text(encoding="utf-8").splitlines())
    return tuple(line for line in lines if line)
