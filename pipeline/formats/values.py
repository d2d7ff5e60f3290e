"""What sources say in their own words → ours: a report's status, an exam's modality, an age."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

RETRACTED: Final = "retracted"
"""The status of a row or message that takes the report back and says nothing in its place."""

_WORD: Final = re.compile(
    r"\b(XR|CR|DX|CT|CTA|CTPA|CTAP|HRCT|LDCT|MRI?|MRA|US|NM|PET|MG|FL|IR|P?CXR)\b"
    r"|\b(CT|XR|DX)(?=CHEST|THORAX)"
)
_TOMOGRAM: Final = re.compile(r"\bcomputed tomogra|\bCAT scan", re.IGNORECASE)
_FILM: Final = re.compile(
    r"\b(?:\d view|x[- ]?rays?|radiographs?|radiography|views?|cxr|portable chest)\b"
    r"|\bchest\b.{0,20}\b(?:pa|ap|lat|lateral|port|portable|[12]v)\b"
    r"|\b(?:portable|pa|ap)\b.{0,12}\bchest\b|\bthorax p\.?[ ]?a\b",
    re.IGNORECASE,
)


@cache
def data(name: str) -> Mapping[str, Any]:
    """Read one of the TOML files beside this code, by its name."""
    return tomllib.loads((Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def known_words(of: str) -> Mapping[str, str]:
    """Give what sources' words mean: each word of a table of words.toml → ours."""
    return {word: ours for ours, said in data("words")[of].items() for word in said}


_NO_NUMBER: Final = re.compile(r"[\W_0]*")


def is_no_number(written: str) -> bool:
    """Tell whether a patient's or an exam's number is missing, or what stands for it is no one's.

    Examples
    --------
    >>> is_no_number(""), is_no_number("N/A"), is_no_number("0000"), is_no_number("0001")
    (True, True, True, False)
    """
    folded = written.strip().casefold()
    return _NO_NUMBER.fullmatch(folded) is not None or folded in known_words("no_number")


_NONE_OWN: Final[Mapping[str, str]] = {}


def status_of(raw: str, own: Mapping[str, str] = _NONE_OWN) -> str:
    """Give our status for a source's word, by the site's own words or ours; '' where none knows it.

    Where the site has mapped a longer word that ours would call final, another that no list has is
    none: what stands behind *final* says there who signed, and it may be a draft.

    Examples
    --------
    >>> own = {"Final Resident": "prelim"}
    >>> status_of("FINAL  resident", own), status_of("Final", own), status_of("Final MD", own)
    ('prelim', 'final', '')
    """
    word = _folded(raw)
    listed = {**known_words("status"), **{_folded(name): ours for name, ours in own.items()}}
    if word in listed:
        return listed[word]
    ours = _by_pattern(word)
    is_unsaid = ours == "final" and _is_long(word)
    is_parted = any(_is_long(name) and _by_pattern(name) == "final" for name in map(_folded, own))
    return "" if is_unsaid and is_parted else ours


def _folded(word: str) -> str:
    return " ".join(word.casefold().split())


def _is_long(word: str) -> bool:
    return re.search(r"\W", word) is not None


def _by_pattern(word: str) -> str:
    patterns = data("words")["status_pattern"]
    return next((each["means"] for each in patterns if re.search(each["pattern"], word)), "")


def takes_back(raw: str, own: Mapping[str, str]) -> bool:
    """Tell a status that takes a report back, by the site's own words or ours."""
    return status_of(raw, own) == RETRACTED


def section_of(names: Iterable[str]) -> str:
    """Give the heading of a report's part by the first of its codes or names that is known."""
    known = known_words("section")
    return next((known[name] for each in names if (name := each.strip().upper()) in known), "")


REPORTED: Final = frozenset({"FINDINGS:", "IMPRESSION:"})
PARTS: Final = [name for name, of in known_words("section").items() if of in REPORTED]
"""Codes and names of findings and impressions."""
_TITLES: Final = "|".join(name for name in PARTS if name.isalpha() and name not in ("GDT", "IMP"))
PART: Final = re.compile(rf"(?im)^[ \t]{{0,8}}({_TITLES})[ \t]{{0,4}}:")
"""A line that opens findings or an impression."""
_CONCLUDING: Final = [n for n in PARTS if n.isalpha() and section_of([n]) == "IMPRESSION:"]
CONCLUDING: Final = "|".join(_CONCLUDING)
"""Names of an impression alone, for an expression."""
_IMPRESSED: Final = re.compile(
    rf"\b(?:{CONCLUDING})S?\s{{0,4}}:|^[ \t*#]{{0,8}}(?:{CONCLUDING})S?[ \t]{{0,4}}$", re.I | re.M
)


def is_impressed(text: str) -> bool:
    """Tell a text in which an impression has its heading, wherever that stands.

    Examples
    --------
    >>> is_impressed("Clear. Impression: normal."), is_impressed("My impression is that")
    (True, False)
    """
    upper = text.upper()  # looked through faster than by an expression that is blind to case
    first = min((at for name in _CONCLUDING if (at := upper.find(name)) >= 0), default=-1)
    start = max(0, first - 16) if len(upper) == len(text) else 0
    return first >= 0 and _IMPRESSED.search(text, start) is not None


_NONE: Final = r"(?![\s*=_#<-]*(?i:(?:none|n/a|keiner|entfällt)\b|\Z))"
ADDED: Final = re.compile(
    r"(?m)^[ \t*=_#>-]{0,20}(?:(?i:addendum|nachtrag)\b[^\n:]{0,40}:"
    r"|(?:ADDENDUM|Addendum|NACHTRAG)[ \t]*#?[ \t]*\d{0,2}"
    r"(?:[ \t]+(?i:by|begins?|starts?|dated|on|from)\b[^\n]{0,60}(?<!\.))?[ \t*=_#<-]{0,20}$)"
    + _NONE
)
"""A line that opens an addendum: up to a colon, or nothing else stands in it; not a form's empty
one."""

_SENTENCE: Final = re.compile(r"\w\W+(?<![.\w])\w{2,}[.!?]\s*$|[^\W\d_]{4}\.\s+[A-Z]")


def is_sentence(said: str) -> bool:
    """Tell what somebody wrote from the name of a code, which ends in no full stop of its own.

    Examples
    --------
    >>> is_sentence("Small effusion."), is_sentence("Pneumonia, unspecified organism")
    (True, False)
    >>> is_sentence("Pneumonie, o.n.A.")
    False
    """
    return _SENTENCE.search(said) is not None


def modality_of(exam_name: str) -> str:
    """Read an exam's modality off its name; '' where it does not say.

    Examples
    --------
    >>> modality_of("CTA CHEST W CONTRAST"), modality_of("Chest X-ray 2 views"), modality_of("BONE")
    ('CT', 'XR', '')
    >>> modality_of("CHEST PA/LAT"), modality_of("CT CHEST PORTABLE"), modality_of("CHEST TUBE")
    ('XR', 'CT', '')
    """
    word = _WORD.search(exam_name.upper().replace("-", " ").replace("_", " "))
    if word:
        return known_words("modality_word").get(found := word.group(1) or word.group(2), found)
    if _TOMOGRAM.search(exam_name):
        return "CT"
    return "XR" if _FILM.search(exam_name) else ""


_AGE_PART: Final = re.compile(r"(\d{1,9}(?:[.,]\d{1,9})?)(\D*)")
_SIGNS: Final = re.compile(r"[\s.,;:+/()'-]")
_OF_A_YEAR: Final = {"years": 1.0, "months": 1 / 12, "weeks": 7 / 365.25, "days": 1 / 365.25}
OLDEST: Final = 130
"""Nobody has been older."""


@cache
def _age_units() -> Mapping[str, float]:
    """Read which part of a year each unit of an age is."""
    return {word: _OF_A_YEAR[unit] for word, unit in known_words("age").items()}


def age_in_years(written: str) -> float:
    """Read an age; NaN where there is none, or its unit is none we know, or nobody is that old.

    Examples
    --------
    >>> age_in_years("071Y"), age_in_years("71岁"), age_in_years("6 Monate"), age_in_years("1Y6M")
    (71.0, 71.0, 0.5, 1.5)
    >>> age_in_years("71 sols")
    nan
    """
    folded = unicodedata.normalize("NFKC", written).casefold().strip()
    parts = [(number, _SIGNS.sub("", unit)) for number, unit in _AGE_PART.findall(folded)]
    units = _age_units() if len(parts) > 1 else {"": 1.0, **_age_units()}
    if not folded[:1].isdecimal() or not all(unit in units for _, unit in parts):
        return float("nan")
    years = sum(float(number.replace(",", ".")) * units[unit] for number, unit in parts)
    return years if years <= OLDEST else float("nan")
