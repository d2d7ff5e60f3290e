"""Invented people, numbers and dates, spelled as radiologists and their systems spell them.

Numbers that must not repeat come from a counter scrambled by a multiplication modulo a prime, so
that chunks of a long simulation never collide and neighbouring patients do not look alike.
"""

from __future__ import annotations

from calendar import day_name, month_name
from collections.abc import Sequence
from datetime import datetime
from random import Random
from typing import Final, NamedTuple

import numpy as np

from pipeline.simulate.lexicon import load, spellings

_PRIME: Final = 99_999_989
_STEP: Final = 61_803_397


class Person(NamedTuple):
    """An invented person."""

    given: str
    middle: str
    family: str

    @property
    def full(self) -> str:
        """Given and family name."""
        return f"{self.given} {self.family}"

    @property
    def formal(self) -> str:
        """Given name, middle initial and family name."""
        return f"{self.given} {self.middle}. {self.family}"

    @property
    def comma(self) -> str:
        """LAST, FIRST M in capitals."""
        return f"{self.family}, {self.given} {self.middle}".upper()

    @property
    def initials(self) -> str:
        """Initials as in a signature block."""
        return f"{self.given[0]}{self.middle}{self.family[0]}"


def draw_people(count: int, rng: np.random.Generator) -> list[Person]:
    """Draw people; full names repeat only after every combination is used."""
    given, family = load("names")["given"], load("names")["family"]
    combinations = len(given) * len(family)
    chosen = rng.permutation(combinations)[np.arange(count) % combinations]
    middles = rng.integers(26, size=count)
    return [
        Person(given[c // len(family)], chr(65 + m), family[c % len(family)])
        for c, m in zip(chosen.tolist(), middles.tolist(), strict=True)
    ]


def record_name(person: Person, style: str) -> str:
    """Return the name as the site's information system stores it."""
    if style == "caret":
        return f"{person.family}^{person.given}^{person.middle}".upper()
    return f"{person.family}, {person.given} {person.middle}"


def _scrambled(counter: int) -> int:
    return (counter + 1) * _STEP % _PRIME


def patient_number(counter: int, style: str) -> str:
    """Return a medical record number in the site's style; distinct for distinct counters."""
    digits = f"{_scrambled(counter):08d}"
    if style == "letters":
        return f"MR{digits}"
    if style == "dashes":
        return f"{digits[:2]}-{digits[2:5]}-{digits[5:]}"
    return digits


def accession(counter: int, short: str, year: int) -> str:
    """Return an accession number of a site; distinct for distinct counters."""
    digits = f"{_scrambled(counter + 31_000_000):08d}"
    return f"{short}{year % 100:02d}{digits}" if counter % 3 else f"{year}{short}{digits}"


def phone(rng: Random) -> str:
    """Return a ten-digit number with the exchange 555, in one of four spellings."""
    area, last = rng.randrange(201, 990), rng.randrange(10_000)
    spelling = ("({}) 555-{:04d}", "{}-555-{:04d}", "{}.555.{:04d}", "{} 555 {:04d}")
    return spelling[rng.randrange(4)].format(area, last)


_FULL_DATES: Final = 12
"""Spellings of a date, from the first, that say day, month and year."""


def _ordinal(day: int) -> str:
    if day in (11, 12, 13):
        return f"{day}th"
    return f"{day}{({1: 'st', 2: 'nd', 3: 'rd'}).get(day % 10, 'th')}"


def _twelve(d: datetime) -> str:
    return f"{d.hour % 12 or 12}:{d.minute:02d} {'AM' if d.hour < 12 else 'PM'}"


def _spelt(d: datetime, ways: Sequence[tuple[str, str]], rng: Random) -> tuple[str, str]:
    """Fill one of some patterns of ``spellings.toml``; return the name of it too."""
    name, pattern = ways[int(rng.random() * len(ways))]
    month = month_name[d.month]
    said = pattern.format(
        d=d, month=month, short=month[:3], capitals=month[:3].upper(),
        weekday=day_name[d.weekday()], th=_ordinal(d.day), clock=_twelve(d),
    )  # fmt: skip
    return said, name


def exam_date(d: datetime, *, rng: Random, partial: bool = True) -> tuple[str, str]:
    """Spell a date, partly (month only) on request; return it and the name of the spelling."""
    return _spelt(d, spellings("date")[: None if partial else _FULL_DATES], rng)


def exam_moment(d: datetime, *, rng: Random) -> tuple[str, str]:
    """Spell a date with its time of day; return it and the name of the spelling."""
    return _spelt(d, spellings("moment"), rng)


def clock_time(d: datetime, *, rng: Random) -> tuple[str, str]:
    """Spell a time of day alone."""
    return (_twelve(d), "time") if rng.random() < 0.5 else (f"{d.hour:02d}:{d.minute:02d}", "time")
