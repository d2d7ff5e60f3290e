"""Ages over 89, in figures and in words, with their unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found

__all__ = ["find"]

_AGE: Final = r"(?:9\d|1[0-3]\d)"
_UNIT: Final = r"(?:years?|yrs?\.?|y\.?)(?:[ \t-]{0,2}(?:of[ \t]age|(?:and[ \t])?olds?\b|o\b\.?)|[ \t]?/[ \t]?o\b)?"
_ONES: Final = r"(?:one|two|three|four|five|six|seven|eight|nine)"
_WORDS: Final = (
    rf"(?:ninety(?:[ \t-]{_ONES})?|(?:one|a)[ \t-]hundred(?:[ \t-](?:and[ \t-])?"
    rf"(?:{_ONES}|ten|eleven|twelve))?)"
)
_FIGURES: Final = re.compile(
    rf"(?<![\d./-])(?:{_AGE}[ \t-]{{0,2}}{_UNIT}(?![a-z])"
    rf"|(?:aged?|age[ \t]?[:=]|patient[ \t]age[ \t]?:?)[ \t]{{0,3}}{_AGE}(?![\d/.]|[ \t]?(?:mm|cm|%|days|months|weeks))"
    rf"|{_AGE}[ \t]?[MF](?=[,;.]?[ \t](?:with|who|presents|presenting|h/o|s/p|p/w|here|for|status|c/o|hx|history|and)\b)"
    rf"|{_AGE}(?=[ \t-](?:male|female|man|woman|gentleman|lady|m\b|f\b)))",
    re.IGNORECASE,
)
_SPELT: Final = re.compile(
    rf"\b{_WORDS}[ \t-](?:years?|yrs?)(?:[ \t-](?:old|of[ \t]age))?\b"
    r"|\b(?:nonagenarian|centenarian)s?\b|\b(?:in[ \t](?:his|her|their)[ \t](?:early[ \t]|mid[ \t-]|late[ \t])?)(?:90['’]?s|nineties)\b",
    re.IGNORECASE,
)


def find(text: str) -> Iterator[Found]:
    """Find every mention of an age of 90 or more."""
    for pattern, rule in ((_FIGURES, "age-figures"), (_SPELT, "age-words")):
        for match in pattern.finditer(text):
            yield Found(match.start(), match.end(), "AGE", rule)
