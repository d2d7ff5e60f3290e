"""A confusion matrix as a grid of counts: agreement in blue, mistakes in ochre."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from reports.drawing.marks import Box, Drawing, Rect
from reports.drawing.style import NOTE, palette
from reports.drawing.typeset import fit, put
from reports.numbers import count

__all__ = ["confusion_grid"]

_LABELS: Final = 118.0
_MOST_ROW: Final = 17.0
_HEAVY: Final = 0.1
"""Share of a row from which a mistake is drawn in full ochre."""


def confusion_grid(
    drawing: Drawing, box: Box, *, states: Sequence[str], counts: np.ndarray
) -> float:
    """Draw counts (S, S), rows people and columns engine; returns the y below the grid.

    States that occur on neither side are left out. Columns carry the numbers of the rows; the
    first state ("not mentioned") agreeing with itself is printed without colour.
    """
    used = np.flatnonzero(counts.sum(axis=0) + counts.sum(axis=1)).tolist()
    if not used:
        return box.y
    step = min((box.width - _LABELS) / len(used), 34.0)
    tall = min((box.height - 12.0) / len(used), _MOST_ROW)
    left = box.x + _LABELS
    for column in range(len(used)):
        x = left + (column + 0.5) * step
        put(drawing, x, box.y + 7.0, str(column + 1), NOTE, colour=palette.muted, anchor="middle")
    for row, state in enumerate(used):
        y = box.y + 12.0 + row * tall
        line, kind = fit(f"{row + 1}  {states[state]}", NOTE, _LABELS - 6.0)
        put(drawing, box.x, y + tall / 2 + 2.4, line, kind)
        total = max(float(counts[state].sum()), 1.0)
        for column, other in enumerate(used):
            cell = Box(left + column * step, y, step, tall)
            plain = row == column and state == 0
            _cell(
                drawing, cell, float(counts[state, other]), total, agree=row == column, plain=plain
            )
    return box.y + 12.0 + len(used) * tall


def _cell(drawing: Drawing, box: Box, n: float, total: float, *, agree: bool, plain: bool) -> None:
    fill = palette.wash
    if n and not plain:
        heavy = n / total >= _HEAVY
        fill = palette.own_soft if agree else palette.department_soft
        fill = palette.department if heavy and not agree else fill
    drawing.add(
        Rect(box.x + 0.4, box.y + 0.4, box.width - 0.8, box.height - 0.8, fill, hint=count(n))
    )
    if n:
        ink = palette.paper if fill == palette.department else palette.ink
        y = box.y + box.height / 2 + 2.4
        put(drawing, box.x + box.width / 2, y, count(n), NOTE, colour=ink, anchor="middle")
