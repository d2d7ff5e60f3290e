"""Where each of our columns stands in a source: the names its rows hold, and the map that picks.

Tables have a key for each column; rows that hold objects have one for whatever stands within.

====================  ==========================================================================
``"REPORT"``          the column of that name, or the one whose name differs in case and blanks
``"exam.ids[0].no"``  what stands within a cell that holds an object or a list
``"ID#2"``, ``"#5"``  the second column called ID; the fifth column, whatever its name
``"DATE + TIME"``     several, joined: parts of a report under their headings, a date and its time,
                      anything else by a blank
``["A", "B + C"]``    the first that is filled; with ``""`` at the end, the source may lack them
``"LINE by NUMBER"``  of the text: a line a row, in the order of their numbers
====================  ==========================================================================

A name that the source has is that name, whatever signs are in it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from pipeline.config.basis import EXAM_COLUMNS, OPTIONAL_COLUMNS
from pipeline.errors import InputError
from pipeline.formats.cells import LINE_NUMBER, SEVERAL, report, written
from pipeline.formats.tables import shown_names
from pipeline.formats.values import data

STEP: Final = re.compile(r"\.?([^.\[\]]+)|\[(\d{1,6})\]")
"""A step of a path: a name, or a place in a list."""
_PATH: Final = re.compile(r"[^.\[\]]+(?:\.[^.\[\]]+|\[\d{1,6}\])*")
_NUMBERED: Final = re.compile(r"#[1-9]\d{0,3}")
_MAX_DEPTH: Final = 8
_MAX_KEYS: Final = 10_000
"""Objects with more names than these have data for names."""
_MIDNIGHT: Final = re.compile(r"[ T](?:0?0:00(?::00(?:\.0+)?)?|12:00(?::00)? ?AM)$", re.IGNORECASE)
_NO_DAY: Final = re.compile(r"^(?:1899-12-3[01]|1900-01-0[01]|1970-01-01)[ T](?=\d)")
"""The day that databases write before a time that has none."""


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
        if not _PATH.fullmatch(name):
            return False
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


Spec: TypeAlias = str | Sequence[str]

NEEDED: Final[Mapping[str, str]] = data("remedies")["needed"]
"""Columns without which no exam can be used, and what they hold."""
_STAND_INS: Final = {"reader_id": ("reader_name",), "modality": ("exam_code", "exam_name")}
"""Needed column → columns of which any can stand in for it."""
_OURS: Final = (*EXAM_COLUMNS, *OPTIONAL_COLUMNS)
TIMES: Final = frozenset({"performed_at", "signed_at", "patient_birth_date", "sent_at"})
_JOIN: Final = " + "
_BY: Final = " by "


@dataclass(frozen=True, slots=True)
class _Part:
    """A value's name in a row, and the steps to it where no cell of the row has that name."""

    name: str
    steps: tuple[str | int, ...]

    def of(self, row: Mapping[str, object]) -> object:
        """Give the value; None where the row has none."""
        if self.name in row:
            return row[self.name]
        found: object = row
        for step in self.steps:
            if isinstance(found, Mapping):
                found = found.get(str(step))
            elif isinstance(found, list) and isinstance(step, int) and step < len(found):
                found = found[step]
            else:
                return None
        return found


_Places: TypeAlias = tuple[tuple[_Part, ...], ...]
"""Places of one of our columns: the most trusted first, each of one part or more."""


@dataclass(frozen=True, slots=True)
class Columns:
    """A source's columns by our names; ``missing``: what it lacks, and why that is needed."""

    places: Mapping[str, _Places]
    missing: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The source's own names of what is read of a row."""
        parts = [part for places in self.places.values() for place in places for part in place]
        return tuple({name for part in parts for name in (part.name, str(part.steps[0]))})

    def texts(self, row: Mapping[str, object]) -> list[tuple[str, str]]:
        """Give the texts of a row's report as they stand there, each with its name."""
        for place in self.places["text"]:
            found = ((part.name, part.of(row)) for part in place)
            if texts := [(name, v) for name, v in found if isinstance(v, str) and v.strip()]:
                return texts
        return []

    def cells(self, row: Mapping[str, object]) -> dict[str, str]:
        """Give a row's cells by our names; '' where there is nothing."""
        return {ours: _first(ours, places, row) for ours, places in self.places.items()}


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """Our column → where it stands, as configured; columns that are not named go by our names."""

    columns: Mapping[str, Spec]

    def within(self, keys: Sequence[str], *, is_open: bool = False) -> Columns:
        """Find the places in a source that has these keys.

        Parameters
        ----------
        keys
            As `pipeline.formats.columns` gives them.
        is_open
            Whether rows may have more keys than these.
        """
        places: dict[str, _Places] = {}
        has: set[str] = set()
        names = Keys.of(keys)
        specs = self._specs(names)
        for ours in specs:
            terms = [_parts(each, names) for each in _alternatives(specs[ours])]
            known = tuple(parts for parts, is_there in terms if is_there or is_open)
            if any(is_there for _, is_there in terms):
                has.add(ours)
            if known:
                places[ours] = known
        if is_open and "reader_id" not in has:
            places.pop("reader_id", None)
        return Columns(places, self._missing(has, specs))

    def _specs(self, names: Keys) -> dict[str, Spec]:
        """Say where each of our columns stands, and the number of a line of text, if it has one."""
        specs: dict[str, Spec] = {ours: self.columns.get(ours, ours) for ours in _OURS}
        text = specs["text"]
        if isinstance(text, str) and _BY in text and not names.meant(text):
            specs["text"], _, specs[LINE_NUMBER] = (part.strip() for part in text.rpartition(_BY))
        return specs

    def _missing(self, has: set[str], specs: Mapping[str, Spec]) -> dict[str, str]:
        """Give the columns that a source lacks: what is needed, and what the map names."""
        missing = {}
        if LINE_NUMBER in specs and LINE_NUMBER not in has:
            missing["text"] = f"the number of each line; no {specs[LINE_NUMBER]}"
        for ours in _OURS:
            spec = specs[ours] if ours in self.columns else ()
            named = _alternatives(spec)
            if ours in NEEDED and not has & {ours, *_STAND_INS.get(ours, ())}:
                missing[ours] = NEEDED[ours] + (f"; no {' nor '.join(named)}" if named else "")
            elif named and ours not in has and (isinstance(spec, str) or "" not in spec):
                missing[ours] = (
                    f'no {" nor ".join(named)}; write ["{named[0]}", ""] if it may be absent'
                )
        return missing

    def twice(self, names: Sequence[str]) -> list[str]:
        """List the columns that are named without saying which of several is meant."""
        several = {name for name, count in Counter(names).items() if count > 1}
        specs = [self.columns.get(ours, ours) for ours in _OURS]
        each = [a for spec in specs for a in _alternatives(spec)]
        terms = {t.strip() for a in each for by in a.split(_BY) for t in (a, by, *by.split(_JOIN))}
        return sorted(several & terms)


def _alternatives(spec: Spec) -> Sequence[str]:
    return (spec,) if isinstance(spec, str) else [each for each in spec if each]


def _parts(term: str, keys: Keys) -> tuple[tuple[_Part, ...], bool]:
    """Give the parts of a term, and whether the source has them all."""
    whole = keys.meant(term)
    if whole or _JOIN not in term:
        return (_part(whole or term),), bool(whole)
    each = [part.strip() for part in term.split(_JOIN)]
    found = [keys.meant(part) for part in each]
    return tuple(_part(k or name) for k, name in zip(found, each, strict=True)), all(found)


def _part(name: str) -> _Part:
    steps = [int(index) if index else word for word, index in STEP.findall(name)]
    return _Part(name, tuple(steps) or (name,))


def _first(ours: str, places: _Places, row: Mapping[str, object]) -> str:
    for place in places:
        values = [part.of(row) for part in place]
        if ours == "text":
            text = report([(part.name, value) for part, value in zip(place, values, strict=True)])
        elif ours in TIMES:
            text = date_and_time([written(value) for value in values])
        else:
            joint = "; " if ours in SEVERAL else " "
            text = " ".join(filter(None, (written(value, joint) for value in values)))
        if text.strip():
            return text
    return ""


def date_and_time(cells: Sequence[str]) -> str:
    """Join a date and a time of day; what databases add to either is left out.

    Examples
    --------
    >>> date_and_time(["2026-03-04 00:00:00", "1900-01-01 09:30:00"])
    '2026-03-04 09:30:00'
    >>> date_and_time(["20260304", "930"])
    '20260304 0930'
    """
    date, *times = cells
    if not date or not times:
        return date
    filled = [_NO_DAY.sub("", time) for time in times if time]
    if filled and filled[0].isdigit() and len(filled[0]) in (3, 5):
        filled[0] = f"0{filled[0]}"
    if filled and filled[0][1:2] == ":":
        filled[0] = f"0{filled[0]}"
    return " ".join([_MIDNIGHT.sub("", date) if filled else date, *filled])


def require(source: str, names: Sequence[str], columns: Columns, twice: Sequence[str] = ()) -> None:
    """Refuse a source that lacks a needed column, or has one twice that is asked for by name."""
    if twice:
        raise InputError(
            f"{source}: {len(twice)} column(s) stand in the header more than once: "
            f"{', '.join(twice)}. Say which under [input.columns]: "
            f'"{twice[0]}#1" is the first, "{twice[0]}#2" the second.'
        )
    if columns.missing:
        wanted = "; ".join(f"{c!r} ({why})" for c, why in columns.missing.items())
        raise InputError(
            f"{source}: {len(columns.missing)} needed column(s) missing: {wanted}. It has "
            f"{shown_names(names)}. Map yours under [input.columns]."
        )
