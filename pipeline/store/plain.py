"""Frozen dataclasses ↔ plain JSON values: the one place where one becomes the other.

Counts of shards, the books of a run, its manifest and its summary are typed wherever they are used
and plain only in files.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

from pydantic import TypeAdapter

__all__ = ["plain", "typed", "typed_json"]

T = TypeVar("T")
_ADAPTERS: Final[dict[type[object], TypeAdapter[Any]]] = {}


def plain(value: object) -> Any:
    """Give a dataclass, or anything made of them, as JSON values."""
    return _adapter(type(value)).dump_python(value, mode="json")


def typed(kind: type[T], value: object) -> T:
    """Give plain values back as what they were.

    Raises
    ------
    pydantic.ValidationError
        A ValueError: if they are not of this kind.
    """
    found: T = _adapter(kind).validate_python(value)
    return found


def typed_json(kind: type[T], content: bytes) -> T:
    """Read JSON as a value of this kind; raises what `typed` raises."""
    found: T = _adapter(kind).validate_json(content)
    return found


def _adapter(kind: type[object]) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]
