"""Numbers and codes that name a person, a study or an account.

A label (MRN, accession, NPI, order) makes whatever follows an identifier if it holds a digit.
Without a label only shapes that no measurement has are taken: social-security numbers, runs of
seven or more digits, letter-and-digit accessions, UIDs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found

__all__ = ["find"]

_LABEL: Final = (
    r"(?:(?:EP?|EMPI|UP|U)?MRN|M\.R\.N\.?|MR[ \t]?(?:#|no\b)|med(?:ical)?\.?[ \t]?rec(?:ord)?s?"
    r"|(?:patient|pt|hospital|unit|chart|visit|encounter|enc|account|acct|acc|accession|a/n|order"
    r"|ord|req(?:uisition)?|exam|study|case|film|report|document|doc|reference|ref|image|specimen"
    r"|member|policy|group|beneficiary|insurance|ins|medicare|medicaid|license|licence|lic"
    r"|certificate|cert|device|serial|lot|episode|contact|registration|reg|health[ \t]?card"
    r"|placer|filler|procedure|job|dictation|transcription|confirmation|dict)\.?[ \t]?"
    r"(?:id(?:entifier)?\b|#|no\b\.?|nos\b\.?|num\b\.?|numbers?\b|nbr\b\.?|code\b)"
    r"|accession|acc(?=[:#])|acc\#|NPI|DEA|CSN|FIN|HAR|PID|EMPI|SSN|SS\#|NHS|OHIP|PHN|HCN|UPIN|UID"
    r"|social[ \t]security|s/n|(?:order|visit|encounter|account|acct|requisition)(?=[ \t]?[:#=]))"
)
_LINK: Final = (
    r"[ \t]?(?:\([A-Za-z]{1,8}\)[ \t]?)?(?:id\b|#|no\b\.?|num(?:ber)?s?\b\.?|nbr\b)?[ \t]{0,3}"
    r"(?:is\b|was\b|of\b|[:#=.–-])?[ \t]{0,3}[#:]?[ \t]{0,8}"
)
_VALUE: Final = (
    r"((?=[A-Za-z._/-]{0,12}\d)[A-Za-z0-9](?:[A-Za-z0-9]|[-._/](?=[A-Za-z0-9])){1,40}"
    r"(?:[ ]\d{2,5}(?![\d./:-])){0,4})"
)
_LABELLED: Final = re.compile(rf"(?<![A-Za-z]){_LABEL}{_LINK}{_VALUE}", re.IGNORECASE)
_MORE: Final = re.compile(rf"[ \t]?(?:,|/|&|and|or)[ \t]{{0,2}}{_VALUE}", re.IGNORECASE)
_BARE: Final = re.compile(
    r"(?<![\w.^-])(?:"
    r"\d{3}-\d{2}-\d{4}"
    r"|\d{7,18}"
    r"|\d(?:\.\d{1,40}){5,24}"
    r"|\d{1,5}(?:\.\d{1,40}){6,24}"
    r"|[A-Z]{1,5}-?\d{5,14}(?:-\d{1,6})?"
    r"|[A-Z]{2,5}-\d{2,4}-\d{3,10}"
    r"|(?:19|20)?\d{2}-?[A-Z]{1,4}-?\d{4,10}"
    r"|[A-Z]{1,3}\d{2,4}-\d{3,8}(?:-\d{1,6})?"
    r"|\d{2,4}-\d{2,4}-\d{4,8}"
    r"|\d{2,4}-\d{4,8}(?=[ \t]*(?:$|[,;.)]))(?<!\d-\d{4})"
    r"|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
    r")(?![\w^]|-\d|\.\d)"
)
_ADDRESS: Final = re.compile(
    r"(?<![\d.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\d.])"
)


def find(text: str) -> Iterator[Found]:
    """Find labelled identifiers first, then the shapes that need no label."""
    for match in _LABELLED.finditer(text):
        start, end = match.span(1)
        if _is_value(match.group(1)):
            yield Found(start, end, "ID", "id-labelled")
            following = _MORE.match(text, end)
            if following and _is_value(following.group(1)):
                yield Found(*following.span(1), "ID", "id-labelled")


def find_bare(text: str) -> Iterator[Found]:
    """Find identifiers by shape; dates and phones must have been taken before."""
    for match in _BARE.finditer(text):
        yield Found(match.start(), match.end(), "ID", "id-shape")
    for match in _ADDRESS.finditer(text):
        yield Found(match.start(), match.end(), "ID", "network-address")


def _is_value(value: str) -> bool:
    """Accept what a record system would print: a digit, and three characters or more."""
    return len(value) >= 3 and sum(c.isdigit() for c in value) >= 2
