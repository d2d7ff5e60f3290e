"""The names of what a source's rows hold, each once, and which of them somebody means.

Tables have a key for each column; rows that hold objects have one for whatever stands within.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["STEP", "Keys", "keys_of", "nested_keys", "numbers_of"]

STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(\d{1,6})\]")
"""A step of a path: a name, or a place in a list."""
_NUMBERED: Final = re.compile(r"#[1-9]\d{0,3}")
_MAX_DEPTH: Final = 8
_MAX_KEYS: Final = 10_000
"""Objects with more names than these have data for names."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of a source, in their order, as a set, and by their spelling without case."""

    ordered: Sequence[str]
    known: frozenset[str]
    alike: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, keys: Sequence[str]) -> Keys:
        """Arrange keys for being asked for."""
        alike: defaultdict[str, list[str]] = defaultdict(list)
        for key in keys:
            alike[_folded(key)].append(key)
        return cls(keys, frozenset(keys), alike)

    def meant(self, name: str) -> str:
        """Give the key that a name means; '' where there is none, or no telling which."""
        if name in self.known:
            return name
        if _NUMBERED.fullmatch(name):
            at = int(name[1:]) - 1
            return self.ordered[at] if at < len(self.ordered) else ""
        if name.endswith("#1") and name[:-2] in self.known:
            return name[:-2]
        alike = self.alike.get(_folded(name), ())
        if len(alike) == 1:
            return alike[0]
        return name if self._leads_within(name) else ""

    def _leads_within(self, name: str) -> bool:
        """Tell whether a path can be followed: to its end, or into what nobody has looked at."""
        path = re.sub(r"\[\d+\]", "[0]", name)
        ends = [match.end() for match in STEP.finditer(path)]
        known = next((path[:end] for end in reversed(ends) if path[:end] in self.known), "")
        within = (f"{known}.", f"{known}[")
        is_open = known and not any(key.startswith(within) for key in self.ordered)
        return known == path or bool(is_open)


def keys_of(names: Sequence[str]) -> list[str]:
    """Give each column of a header a key of its own: its name, or NAME#2 where it stands twice.

    Examples
    --------
    >>> keys_of(["ID", "Name", "ID"])
    ['ID#1', 'Name', 'ID#2']
    """
    total, so_far = Counter(names), Counter[str]()
    keys = []
    for name in names:
        so_far[name] += 1
        keys.append(f"{name}#{so_far[name]}" if total[name] > 1 else name)
    return keys


def numbers_of(names: Sequence[str]) -> list[str]:
    """Give the columns of a table without a header their numbers for keys."""
    return [f"#{at}" for at in range(1, len(names) + 1)]


def nested_keys(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """List the names of all that stands in some rows, objects and lists within them included.

    Examples
    --------
    >>> nested_keys([{"id": 1, "by": [{"name": "x"}]}])
    ['id', 'by', 'by[0]', 'by[0].name']
    """
    keys: dict[str, None] = {}

    def gather(value: object, name: str, depth: int) -> None:
        if name:
            keys[name] = None
        if depth == _MAX_DEPTH or len(keys) > _MAX_KEYS:
            return
        if isinstance(value, Mapping):
            for key, inner in value.items():
                gather(inner, f"{name}.{key}" if name else str(key), depth + 1)
        elif isinstance(value, list) and value:
            gather(value[0], f"{name}[0]", depth + 1)

    for row in rows:
        gather(row, "", 0)
    return list(keys)


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()
