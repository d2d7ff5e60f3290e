"""Dates and clocks behind an identifier, which alone announces them (Dr Thomas 4/9; Ruby, 1526).

A figure that is a fraction or a score elsewhere is a date where it stands directly behind the name
of a person or a place, and no noun follows that it could count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found

__all__ = ["find"]

_DAY: Final = r"(?:3[01]|[12]\d|0?[1-9])"
_MONTH: Final = r"(?:1[0-2]|0?[1-9])"
_BESIDE: Final = re.compile(
    rf"(?<=[^\W\d_.]),?[ ](?:(?P<date>{_MONTH}/{_DAY}|{_DAY}/{_MONTH}"
    rf"|{_DAY}\.{_MONTH}\.?)|(?P<time>(?:[01]\d|2[0-3])[0-5]\d))"
    r"(?=[.,;:)\]]*(?:[ ](?:note|and|on|at|reviewed|dictated|signed)\b|[ ]\d|[ ]{2}|[ ]?\n|\Z)"
    r"|[,;:)\]])(?![.,]\d)",
    re.IGNORECASE,
)
_DOTS: Final = re.compile(
    r"\.(?<=[\s(]\d\d\.)(?:0[1-9]|1[0-2])\.(?=[,;)])(?<=(?:0[1-9]|[12]\d|3[01])\.\d\d\.)"
)
"""A day and a month of two figures each, with two dots and before a comma (03.03., 04.11.)."""
_YEAR: Final = ("19", "20")


def find(text: str, is_taken: Callable[[int], bool]) -> Iterator[Found]:
    """Find the dates and clocks behind letters that `is_taken` says belong to an identifier."""
    for match in _DOTS.finditer(text):
        yield Found(match.start() - len("03"), match.end(), "DATE", "date-dots")
    for match in _BESIDE.finditer(text):
        if not is_taken(match.start() - 1):
            continue
        if match["date"]:
            yield Found(*match.span("date"), "DATE", "date-beside")
        elif not match["time"].startswith(_YEAR):
            yield Found(*match.span("time"), "TIME", "time-beside")
