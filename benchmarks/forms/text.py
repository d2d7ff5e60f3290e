"""The text as a whole, and lines before and behind it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import Final

from forms.ways import WORDS, Report, family, form

Step = str | list[str]


def _wrapped(text: str, width: int, indent: str = "") -> str:
    lines = [
        textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False) or [""]
        for line in text.split("\n")
    ]
    return "\n".join(piece for line in lines for piece in line)


def _hyphenated(text: str) -> str:
    """Wrap at 60, long words parted."""
    lines = []
    for whole in text.split("\n"):
        line = whole
        while len(line) > 60:
            cut = line.rfind(" ", 0, 61)
            word = re.match(r"[a-z]{9,}", line[cut + 1 :])
            room = 60 - cut - 2
            if cut < 0:
                break
            if word and 3 <= room <= len(word[0]) - 3:
                lines.append(line[: cut + 1 + room] + "-")
                line = line[cut + 1 + room :]
            else:
                lines.append(line[:cut])
                line = line[cut + 1 :]
        lines.append(line)
    return "\n".join(lines)


def _spelt(name: str, *, back: bool = False) -> Callable[[str], str]:
    pairs = [pair[::-1] if back else pair for pair in WORDS["spelling"][name]]

    def write(text: str) -> str:
        for here, there in pairs:
            text = re.sub(rf"\b{here}\b", there, text)
            text = re.sub(rf"\b{here.capitalize()}\b", there.capitalize(), text)
        return text

    return write


STEPS: Final[dict[str, Callable[[str], str]]] = {
    "lower": str.lower,
    "upper": str.upper,
    "title": lambda text: re.sub(r"\b[a-z]", lambda match: match[0].upper(), text),
    "hang 60": lambda text: _wrapped(text, 60, "    "),
    "hyphenate": _hyphenated,
    "British": _spelt("British"),
    "American": _spelt("British", back=True),
    "short": _spelt("short"),
}


def stepped(report: Report, row: list[Step]) -> str:
    """Take a report's text through steps: the name of one, or an expression and what follows."""
    text = report.text
    for step in row:
        if isinstance(step, list):
            text = re.sub(*step, text)
        elif step.startswith("wrap "):
            text = _wrapped(text, int(step.removeprefix("wrap ")))
        else:
            text = STEPS[step](text)
    return text


family("text", "")(stepped)


@family("closing", "closing: ")
def _closed(report: Report, row: str) -> str:
    return report.text.rstrip() + row


_READ: Final = re.compile(r"^(?:FINDINGS|Findings|REPORT|Report)[:\n]")


@family("opening", "opening: ")
def _opened(report: Report, row: str) -> str:
    """Put before findings that have their header, or have a line of their own."""
    has_header = _READ.match(report.text)
    return row + (report.text if has_header else report.headed("FINDINGS:\n", "IMPRESSION:\n"))


for _name in WORDS["before"]["bare"]:

    @form(f"opening, findings without header: {_name}")
    def _opened_bare(report: Report, name: str = _name) -> str | None:
        return (
            WORDS["opening"][name] + report.headed("", "Impression: ") if report.findings else None
        )
