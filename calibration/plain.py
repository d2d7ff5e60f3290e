"""Any result as plain data for JSON: its fields by name, with None for what does not exist.

JSON has no NaN and no infinity. A statistic without a value, an empty bin, a phrase never used and
a forbidden cell are all ``None``; the field beside it (``n``, ``counts``, ``suppressed``) says
which. Arrays become nested lists by rows, their numbers settled (see ``calibration.arrays``).

A dataclass is written as its fields, in their order. What differs is said where the field is
defined: ``field(metadata=named("held_out"))`` writes it under another name, ``INLINE`` puts its own
entries among its parent's, ``LEFT_OUT`` does not write it. A class whose data are not its fields
has a method ``to_plain``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from calibration.arrays import FloatArray, settled

Plain: TypeAlias = "bool | float | str | list[Plain] | dict[str, Plain] | None"

_KEY: Final = "plain"
_BESIDE: Final = ""

INLINE: Final = {_KEY: _BESIDE}
"""Metadata of a field whose entries stand among those of its parent."""
LEFT_OUT: Final = {_KEY: None}
"""Metadata of a field that is not written."""


def named(name: str) -> dict[str, str]:
    """Metadata of a field that is written under this name."""
    return {_KEY: name}


def plain(value: object) -> Plain:
    """Return any result as plain data.

    Raises
    ------
    TypeError
        If it holds something that has no plain form.

    Examples
    --------
    >>> from calibration.estimate import Estimate
    >>> plain(Estimate(0.25, float("nan"), 0.5, 8.0, "counted"))["low"] is None
    True
    """
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return float(settled(np.array([value]))[0]) if math.isfinite(value) else None
    if isinstance(value, np.ndarray):
        return _nested(settled(value))
    if isinstance(value, Mapping) or is_dataclass(value) or hasattr(value, "to_plain"):
        return plain_fields(value)
    if isinstance(value, Iterable):
        return [plain(each) for each in value]
    raise TypeError(
        f"{type(value).__name__} has no plain form: give it fields, or a method to_plain."
    )


def plain_fields(value: Any, *, own: bool = False) -> dict[str, Plain]:
    """Return a dataclass or a mapping as its entries; `own` passes its ``to_plain`` over."""
    if hasattr(value, "to_plain") and not own:
        value = value.to_plain()
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    entries: dict[str, Plain] = {}
    for each in fields(value):
        key, held = each.metadata.get(_KEY, each.name), getattr(value, each.name)
        if key == _BESIDE:
            entries |= plain_fields(held)
        elif key is not None:
            entries[key] = plain(held)
    return entries


def _nested(kept: FloatArray) -> Plain:
    if kept.ndim > 1:
        return [_nested(row) for row in kept]
    if np.isfinite(kept).all():
        listed: list[Plain] = kept.tolist()
        return listed
    return [each if math.isfinite(each) else None for each in kept.tolist()]
