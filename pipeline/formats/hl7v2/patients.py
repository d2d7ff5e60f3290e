"""A patient's numbers in a message → the one that stands for the patient."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Final

from pipeline.formats.hl7v2.fields import SUB, Head, Place

__all__ = ["patient_id"]

_RECORD: Final = ("MR", "MRN")
_PERSON: Final = ("PN", "NI", "NH", "SS", "DL", "PPN")
_LAST: Final = 2
_FILLER: Final = 4
_NOBODY: Final = frozenset(
    {"unused", "unknown", "unk", "none", "n/a", "na", "null", "undefined", "unassigned"}
)
_NOT_A_PATIENT: Final = ("AN", "VN")
"""Types of a PID-3 repetition: medical record, person's own or national number, account, visit."""


def patient_id(head: Head, places: Sequence[Place | str], authority: str) -> tuple[str, str]:
    """Choose among the patient's numbers: the authority's, else a medical record number.

    Gives the number and its own assigning authority, each '' where there is none.

    A repetition's fifth component says what it is. After those of record come numbers of no type or
    another one, then a person's own (national, social security), which is all that some systems
    send; numbers of accounts and visits are no patient's.
    """
    candidates = [
        (components, place)
        for place in places
        if isinstance(place, Place)
        for components in head.repetitions(place)
        if components and components[0].strip()
    ]
    if authority:
        for components, _ in candidates:
            if _issuer(components) == authority:
                return components[0].strip(), authority
    ranked = [
        ((rank == _LAST, places.index(place), rank), (number, _issuer(components)))
        for components, place in candidates
        if (number := "".join(components[_at(place)]).strip())
        and (rank := _rank("".join(components[4:5]).strip().upper(), number)) is not None
    ]
    return min(ranked, key=itemgetter(0))[1] if ranked else ("", "")


def _issuer(components: Sequence[str]) -> str:
    """Give a number's assigning authority: the name of its space."""
    return "".join(components[3:4]).split(SUB)[0].strip()


def _at(place: Place) -> slice:
    return slice(max(place.component, 1) - 1, max(place.component, 1))


def _rank(kind: str, number: str) -> int | None:
    """Order a patient's numbers by their type; None is no patient's. A word is no number.

    Placeholders (UNKNOWN, 000-00-0000) would make one patient of many.
    """
    digits = [c for c in number if c.isdigit()]
    is_filler = len(digits) > _FILLER and len(set(digits)) == 1
    if kind in _NOT_A_PATIENT or is_filler or number.casefold() in _NOBODY:
        return None
    if kind in _PERSON or not digits:
        return _LAST
    return 0 if kind in _RECORD else 1
