"""Segments of one message → its orders, each with the administrative segments that are its own.

A result message may hold several patients, and each patient several orders. What stands before a
patient's first order (PID, NK1, PV1, ...) is common to the orders of that patient; an ``ORC``
belongs to the order that follows it; observations, notes and all else to the order before them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Order", "orders"]

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
    return found


def _share(found: Sequence[Order], patient: int, line: str) -> None:
    """Give a segment that comes late to all of its patient's orders."""
    for order in found:
        if order.patient == patient:
            order.segments.append(line)
