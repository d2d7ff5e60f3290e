"""A labelled report, and the register of the ways to write one anew."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np

WORDS: Final = tomllib.loads(Path(__file__).with_name("forms.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Report:
    """A labelled report's text, and the sentences of its findings and of its impression."""

    text: str
    findings: tuple[str, ...]
    impression: tuple[str, ...]
    rng: np.random.Generator

    def sections(self, *headers: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each section that says something, behind its header."""
        said = self.findings, self.impression
        pairs = zip(headers or ("FINDINGS:", "IMPRESSION:"), said, strict=True)
        return ((header, each) for header, each in pairs if each)

    def headed(self, *headers: str, between: str = "\n") -> str:
        """Give the findings and the impression, each behind its header."""
        return between.join(f"{header}{' '.join(said)}" for header, said in self.sections(*headers))


Variant = Callable[[Report], str | None]
RowVariant = Callable[..., str | None]


@dataclass(slots=True)
class Form:
    """A way to write a report anew; `flat` if no section can be told in it."""

    name: str
    write: Variant
    flat: bool = False


FORMS: Final[list[Form]] = []


def form(name: str, *, flat: bool = False) -> Callable[[Variant], Variant]:
    """Register a form."""

    def keep(write: Variant) -> Variant:
        FORMS.append(Form(name, write, flat))
        return write

    return keep


def family(table: str, prefix: str) -> Callable[[RowVariant], RowVariant]:
    """Register a form for every row of a table of `forms.toml`, which its writer is given."""

    def keep(write: RowVariant) -> RowVariant:
        for name, row in WORDS[table].items():
            FORMS.append(Form(f"{prefix}{name}", partial(write, row=row)))
        return write

    return keep
