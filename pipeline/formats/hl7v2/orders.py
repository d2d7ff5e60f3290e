"""Segments of one message → its orders, each with the segments that are its own; whose they are.

A result message may hold several patients, and each patient several orders. What stands before a
patient's first order (PID, NK1, PV1, ...) is common to the orders of that patient; an ``ORC``
belongs to the order that follows it; observations, notes and all else to the order before them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Final

from pipeline.formats.hl7v2.fields import SUB, Head, Place

__all__ = ["Order", "orders", "patient_id"]

_COMMON: Final = frozenset({"PID", "PD1", "NK1", "PV1", "PV2", "GT1", "TXA"})


@dataclass(slots=True)
class Order:
    """One order: its segments from the header to ``OBR``, its ``OBX``, and its patient's place."""

    segments: list[str]
    patient: int
    observed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def orders(lines: Sequence[str], wanted: Collection[str] = ("ZDS",)) -> list[Order]:
    """Split a message's segments into orders; of those that no rule places, keep the wanted."""
    found: list[Order] = []
    header, common, pending, early = lines[0], [], [], []  # type: ignore[var-annotated]
    patient = 0
    for line in lines[1:]:
        name = line[:3]
        if name == "PID" and any(each.startswith("PID") for each in common):
            patient, common, pending, early = patient + 1, [line], [], []
        elif name in _COMMON:
            common.append(line)
            _share(found, patient, line)
        elif name == "ORC":
            pending = [line]
        elif name == "OBR":
            found.append(Order([header, *common, *pending, line], patient, early))
            pending, early = [], []
        else:
            last = found[-1] if found and found[-1].patient == patient else None
            if name == "OBX":
                (last.observed if last else early).append(line)
            elif name in wanted:
                (last.segments if last else common).append(line)
            elif name == "NTE" and last and not pending:
                last.notes.append(line)
    if not found and any(line.startswith("TXA") for line in common):
        found.append(Order([header, *common, *pending], patient, early))
    return found


def _share(found: Sequence[Order], patient: int, line: str) -> None:
    """Give a segment that comes late to all of its patient's orders."""
    for order in found:
        if order.patient == patient:
            order.segments.append(line)


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
