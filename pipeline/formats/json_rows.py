"""Text → JSON objects: one a line, in lists, or in an object's only list.

A broken line costs itself. Behind the place where a list is broken nothing can be told apart, so
that one is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Final, TypeGuard

from pipeline.errors import InputError

_LIST: Final = re.compile(r'\s*(\{\s*"[^"\\]{1,64}"\s*:\s*)?\[(?=\s*(?:\{|\n|\r|\Z))')
"""How a list begins, or an object whose first value is one."""
_HEAD: Final = 3
"""So many lines are looked at for it."""
_BETWEEN: Final = re.compile(r"[\s,]*")
_LONGEST_VALUE: Final = 64 * 2**20


def objects(lines: Iterable[str], source: str) -> Iterator[Mapping[str, object] | None]:
    """Give each object; None for what is none.

    Raises
    ------
    InputError
        If a list breaks off or is no JSON.
    """
    filled = (line for line in lines if line.strip())
    first = list(islice(filled, 1))
    alone = _object(first[0]) if first else None
    if alone is None and not "".join(first).lstrip().startswith("["):
        first += islice(filled, _HEAD - 1)
    head = "".join(first)
    start = _LIST.match(head) if alone is None else None
    if start:
        rows = chain([head[start.end() :]], filled)
        yield from _listed(rows, source, is_within=start.group(1) is not None)
    elif alone is not None and len(alone) == 1 and _is_list(within := next(iter(alone.values()))):
        yield from (row if isinstance(row, dict) else None for row in within)
    else:
        yield from map(_object, chain(first, filled))


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _object(line: str) -> Mapping[str, object] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _listed(
    pieces: Iterable[str], source: str, *, is_within: bool
) -> Iterator[Mapping[str, object] | None]:
    """Read a list as it comes, and lists behind it; of an object, its first list alone."""
    text, count, enough, is_over = "", 0, 0, False
    for piece in chain(pieces, ("",)):
        text += piece
        if piece and len(text) < enough:
            continue
        rows, at, is_over = _elements(text, is_over=is_over)
        yield from rows
        count += len(rows)
        if is_over and is_within:
            return
        if at < 0 or len(text) - at > _LONGEST_VALUE:
            raise _broken(source, count)
        text = text[at:]
        enough = len(text) * 2  # an object of many lines is not tried again at each of them
    if not is_over:
        raise _broken(source, count)


def _elements(text: str, *, is_over: bool) -> tuple[list[Mapping[str, object] | None], int, bool]:
    """Read what is whole; gives the rows, where reading ended (-1: broken), and if a list did."""
    decode = json.JSONDecoder().raw_decode
    rows: list[Mapping[str, object] | None] = []
    at = 0
    while (at := _between(text, at)) < len(text):
        if text[at] == ("[" if is_over else "]"):
            is_over, at = not is_over, at + 1
            continue
        if is_over:
            return rows, -1, is_over
        try:
            row, at = decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            return rows, at if _breaks_off(error, text) else -1, is_over
        rows.append(row if isinstance(row, dict) else None)
    return rows, at, is_over


def _between(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def _breaks_off(error: json.JSONDecodeError | RecursionError, text: str) -> bool:
    """Tell an object that has not ended yet from one that is broken."""
    if isinstance(error, RecursionError):
        return False
    return error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated")


def _broken(source: str, count: int) -> InputError:
    return InputError(
        f"{source}: the list breaks off or is no JSON behind its row {count}; export it again."
    )
