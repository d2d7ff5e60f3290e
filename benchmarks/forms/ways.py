"""A labelled report, and the register of the ways to write one anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np


@dataclass(frozen=True, slots=True)
class Report:
    """A labelled report's text, and the sentences of its findings and of its impression."""

    text: str
    findings: tuple[str, ...]
    impression: tuple[str, ...]
    rng: np.random.Generator

    def pick(self, options: Sequence[str]) -> str:
        """One of some options, by the report's own chance."""
        return options[int(self.rng.integers(len(options)))]

    def sections(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each section that says something, behind its header."""
        if self.findings:
            yield "FINDINGS:", self.findings
        if self.impression:
            yield "IMPRESSION:", self.impression


Variant = Callable[[Report], str | None]


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


def simple(name: str, write: Callable[[str], str]) -> None:
    """Register a form of the text as a whole."""
    FORMS.append(Form(name, lambda report: write(report.text)))


def in_sections(report: Report, headers: tuple[str, str], between: str = "\n") -> str:
    """Give the findings and the impression, each behind its header."""
    parts = (headers[0] + " ".join(report.findings), headers[1] + " ".join(report.impression))
    said = [p for p, has in zip(parts, (report.findings, report.impression), strict=True) if has]
    return between.join(said)
