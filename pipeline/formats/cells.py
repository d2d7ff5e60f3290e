"""Cells of any type → text; of several cells or rows, one: a report of its parts or lines, a time.

Rows that hold one line of a report each and are alike in all but the line and its number are of one
report; their order does not matter, so a source is read to its end, and held in memory, before the
first report is given.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from itertools import chain
from typing import Final, TypeAlias

from pipeline.formats.attachments import text_in_cell, text_of_bytes
from pipeline.formats.exams import FeedRow, Note, Row, SetAside
from pipeline.formats.values import data, is_sentence, known_words
from pipeline.formats.whole import Whole, width_of

SEVERAL: Final = known_words("several")
"""Columns that may hold several, parted by semicolons."""
_PADDING: Final = " \t\r\n\x00\u00a0\ufeff"
"""What databases and fixed-width exports fill a cell up with."""
_MAX_DEPTH: Final = 8
MAX_WHOLE: Final = 10**15
"""Up to here a floating-point number holds every whole one."""
_HEADED: Final = re.compile(r"[ \t]{0,8}[A-Z][A-Z /&()-]{2,40}:")
_SPELT: Final = re.compile(r'\s*(?:\[\s*)?\{\s*"')
_LONGEST_TITLE: Final = 40
_LONGEST_CELL: Final = 64
_NOTHING: Final = known_words("nothing")
"""What databases and programs write for nothing."""


def written(value: object, joint: str = " ", depth: int = 0) -> str:
    """Write a cell as text, without what only fills it up; '' for nothing.

    Examples
    --------
    >>> written(100200.0), written(float("nan")), written({"family": "Doe", "given": ["Jane"]})
    ('100200', '', 'Doe Jane')
    """
    return _raw(value, joint, depth).strip(_PADDING)


def report(parts: Sequence[tuple[str, object]]) -> str:
    """Put a report's parts together, each under the heading that its column's name gives it.

    A part that begins with a heading keeps it. Of a single column that holds no object, the text
    is taken as it is. Parts that are documents (RTF, HTML) are read; where one cannot be, that one
    is given alone, so that whoever reads it says why, for half a report must not pass for a whole.
    """
    parts = [(name, _object(value)) for name, value in parts]
    if len(parts) == 1 and not (isinstance(parts[0][1], Mapping) or _titled(parts[0][1])):
        return _raw(parts[0][1], "\n", 0)
    sections = []
    for name, text in chain.from_iterable(_sections(*part, 0) for part in parts):
        found = text_in_cell(text)
        if isinstance(found, SetAside):
            return text
        plain = found[0].strip(_PADDING)
        heading = _heading(name)
        if plain:
            needs_one = heading and not _is_headed(plain, heading)
            sections.append(f"{heading}:\n{plain}" if needs_one else plain)
    return "\n\n".join(sections)


def _object(value: object) -> object:
    """Give the object that a text spells as JSON; anything else as it is."""
    if isinstance(value, str) and _SPELT.match(value):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def _raw(value: object, joint: str, depth: int) -> str:
    if isinstance(value, str):
        text = _unwrapped(value) if len(value) <= _LONGEST_CELL else value
    elif isinstance(value, Mapping | list | tuple):
        inner, joint = (value.values(), " ") if isinstance(value, Mapping) else (value, joint)
        within = inner if depth < _MAX_DEPTH else ()
        if joint == "\n":  # lines of a text: empty ones part its paragraphs
            return joint.join(_raw(item, joint, depth + 1) for item in within)
        return joint.join(filter(None, (written(item, joint, depth + 1) for item in within)))
    elif value is None or value != value:  # NaN and NaT are unlike themselves
        return ""
    elif isinstance(value, bytes | bytearray | memoryview):
        text = text_of_bytes(bytes(value))
    elif isinstance(value, float | Decimal) and -MAX_WHOLE < value < MAX_WHOLE:
        text = str(int(value) if value == int(value) else value)
    else:
        text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    # A lone surrogate, which JSON can write, is no character and cannot be stored.
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _unwrapped(cell: str) -> str:
    """Take off what exports put around a value: ``="00123"``, ``'00123``, a word for nothing."""
    bare = cell.strip(_PADDING)
    if bare in _NOTHING:
        return ""
    if bare.startswith('="') and bare.endswith('"') and len(bare) > len('="'):
        return bare[2:-1].replace('""', '"')
    if bare[:1] == "'" and bare[1:2].isdigit():
        return bare[1:].removesuffix("'")
    return cell


def _sections(name: str, value: object, depth: int) -> Iterator[tuple[str, str]]:
    """Give the named texts within a value: an object's by its keys, a list's items as lines.

    Of a list of objects that have a title each, that is the name of what else they say.
    """
    if isinstance(value, Mapping) and depth < _MAX_DEPTH:
        for key, inner in value.items():
            yield from _sections(str(key), inner, depth + 1)
    elif titled := _titled(value):
        yield from titled
    else:
        yield name, _raw(value, "\n", depth)


def _titled(value: object) -> list[tuple[str, str]]:
    """Give the title and the text of each part in a list of such; nothing for any other value.

    The text is the longest cell, by all parts; a cell beside it is a title if it is short in all
    parts, and names one of a report in some. Numbers and codes of parts are left out.
    """
    listed = value if isinstance(value, list | tuple) else ()
    rows = [
        {k: written(v, "\n") for k, v in row.items()} for row in listed if isinstance(row, Mapping)
    ]
    if not rows or len(rows) < len(listed):
        return []
    each = {key: [row.get(key, "") for row in rows] for row in rows for key in row}
    text = max(each, key=lambda key: sum(map(len, each[key])), default="")
    short = (k for k in each if k != text and max(map(len, each[k])) <= _LONGEST_TITLE)
    title = next((key for key in short if any(map(_heading, each[key]))), None)
    if title is None:
        return []
    told = []
    for row in rows:
        name = row.get(title, "")
        kept = [v for k, v in row.items() if k == text or (k != title and is_sentence(v))]
        told.append((name, "\n".join(kept if _heading(name) else [name, *kept])))
    return told


def _heading(name: str) -> str:
    known = data("words")["heading"].items()
    return next((heading for heading, said in known if re.search(said, name, re.IGNORECASE)), "")


def _is_headed(text: str, heading: str) -> bool:
    start = text[: len(heading) + 12].lstrip(" \t*#>").casefold()
    return _HEADED.match(text) is not None or start.startswith(heading.casefold())


LINE_NUMBER: Final = "text_line"
"""The name, among a row's cells, of the number of its line."""
_WHOLE: Final = re.compile(r"([0-9]{1,9})(?:\.0{1,6})?")
_APART: Final = (LINE_NUMBER, "text", "decoded_as")

_TIMED: Final = ("performed_at", "signed_at", "sent_at")
_ADDED: Final = re.compile(r"[\W_]{0,8}ADDEND", re.IGNORECASE)

_RARE, _SELDOM = 20, 5
"""One in twenty is an exception to a rule; of numbers, with gaps that are told, one in five."""
_FEWEST: Final = 5
_LOOSE: Final = SetAside("lines_unordered", "a line has no number")
_BARE: Final = SetAside("lines_unordered", "an empty line has no number")
_MISSING: Final = SetAside("lines_missing", "a line may be among the rows set aside, or lost")
_LACKING: Final = "report in lines of which a number is missing: is it whole?"

_Key: TypeAlias = tuple[tuple[str, str], ...]
_Report: TypeAlias = tuple[int, Mapping[str, str], dict[str, str]]


def whole_reports(rows: Iterable[Row]) -> Iterator[FeedRow]:
    """Put the lines of each report together, in the order of their numbers.

    A report is set aside if a line of it has no number, or two lines have the same; so is one with
    a gap in its numbers where rows were set aside that may belong there, or where the numbers of
    others have none. A report that is one row without a line or a number, as a join writes what was
    taken back or never written, has no text. Rows of differing times are versions, or of one report
    where their numbers go on from one to the next. Rows that all but the last are of one length are
    pieces of a text broken without regard to its words: between these there is no line's end.
    """
    reports: dict[_Key, _Report] = {}
    faulty: dict[_Key, SetAside] = {}
    is_damaged = False
    for number, row in rows:
        if isinstance(row, SetAside):
            is_damaged = True
            yield number, row
            continue
        key = tuple((name, cell) for name, cell in row.items() if name not in _APART)
        first, cells, lines = reports.setdefault(key, (number, dict(row), {}))
        at, text = _number(row[LINE_NUMBER]), row["text"]
        if not at:
            faulty[key] = _BARE if not text.strip() and faulty.get(key, _BARE) is _BARE else _LOOSE
        elif lines.setdefault(at, text) != text:
            faulty[key] = SetAside("lines_unordered", "two lines have the same number")
        if row.get("decoded_as"):
            reports[key] = (first, {**cells, "decoded_as": row["decoded_as"]}, lines)
    for key in [key for key, why in faulty.items() if why is _BARE and not reports[key][2]]:
        first, cells, _ = reports.pop(key)
        yield first, _without_number(cells)
    _join({key: report for key, report in reports.items() if key not in faulty}, reports)
    sound = {key: lines for key, (_, _, lines) in reports.items() if key not in faulty}
    torn = _torn(sound, is_damaged=is_damaged)
    if not is_damaged and len(torn) * _RARE > len(sound) and all(map(_is_filled, sound.values())):
        yield from ((0, Note(_LACKING)) for _ in torn)  # empty lines may have no rows
        torn = set()
    yield from _joined(reports, faulty | dict.fromkeys(torn, _MISSING), sound)


def _joined(
    reports: Mapping[_Key, _Report],
    faulty: Mapping[_Key, SetAside],
    sound: Mapping[_Key, Mapping[str, str]],
) -> Iterator[FeedRow]:
    """Give each report with its text, and what the texts tell of each other."""
    rows = {key: [lines[at] for at in sorted(lines, key=int)] for key, lines in sound.items()}
    width, whole = width_of([list(map(len, each)) for each in rows.values()]), Whole()
    texts = {key: _text(each, width) for key, each in rows.items() if key not in faulty}
    for text in texts.values():
        whole.add([("text", text)])
    for key, (first, cells, _) in reports.items():
        if key in faulty:
            yield first, faulty[key]
        else:
            cut = whole.fault([("text", texts[key])])
            yield first, {**_without_number(cells), "text": texts[key], "text_cut": cut}
    yield from ((0, note) for note in whole.notes)


def _text(rows: Sequence[str], width: int) -> str:
    if not width:
        return "\n".join(rows)
    return "".join(row.ljust(width) for row in rows[:-1]) + rows[-1]


def _torn(reports: Mapping[_Key, Mapping[str, str]], *, is_damaged: bool) -> set[_Key]:
    """Find the reports whose numbers have a gap, or begin late, where those of others do not."""
    spans = {key: sorted(map(int, lines)) for key, lines in reports.items()}
    torn = {key for key, at in spans.items() if at[-1] - at[0] >= len(at)}
    long = [key for key, at in spans.items() if len(at) > 1]
    begun = Counter(at[0] for at in spans.values()).most_common(1)
    if begun and (len(spans) - begun[0][1]) * _RARE <= len(spans):
        torn |= {key for key, at in spans.items() if at[0] > begun[0][0]}
    is_rule = len(long) >= _FEWEST + len(torn) and len(torn) * _SELDOM <= len(long)
    return torn if is_damaged or is_rule else set()


def _is_filled(lines: Mapping[str, str]) -> bool:
    return all(line.strip() for line in lines.values())


def _join(sound: Mapping[_Key, _Report], reports: dict[_Key, _Report]) -> None:
    """Make one of reports that differ in times alone, whose lines, no addendum's, go on in others.

    Each time is the last: by what sorts as it is written (2026-03-04), else that of the last line.
    """
    alike: defaultdict[_Key, list[_Key]] = defaultdict(list)
    for key in sound:
        alike[tuple(each for each in key if each[0] not in _TIMED)].append(key)
    for keys in (keys for keys in alike.values() if len(keys) > 1):
        parts = sorted((sound[key] for key in keys), key=lambda part: max(map(int, part[2])))
        numbers = [int(at) for *_, lines in parts for at in lines]
        whole = {at: line for *_, lines in parts for at, line in lines.items()}
        is_one = len(whole) == len(numbers) == max(numbers) - min(numbers) + 1
        if is_one and not any(map(_ADDED.match, whole.values())):
            told = {name: [cells[name] for _, cells, _ in parts] for name in parts[-1][1]}
            late = {
                n: max(told[n]) for n in _TIMED if all(t[:4].isdigit() for t in told.get(n, [""]))
            }
            late["decoded_as"] = max(told.get("decoded_as", [""]))
            reports[keys[0]] = (min(first for first, *_ in parts), {**parts[-1][1], **late}, whole)
            for key in keys[1:]:
                del reports[key]


def _without_number(cells: Mapping[str, str]) -> dict[str, str]:
    return {name: cell for name, cell in cells.items() if name != LINE_NUMBER}


def _number(cell: str) -> str:
    """Give a line's number without what only pads it; '' for what is none."""
    found = _WHOLE.fullmatch(cell.strip())
    return str(int(found.group(1))) if found else ""
