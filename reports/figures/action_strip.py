"""A swap as a picture: own rate and interval between what the two phrases promise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reports.drawing.marks import Anchor, Box, Disc, Drawing, Line
from reports.drawing.style import NOTE, palette
from reports.drawing.typeset import fit, put, width_of
from reports.figures.axes import Scale
from reports.numbers import percent

if TYPE_CHECKING:
    from calibration.profile import Swap

__all__ = ["ACTION_STRIP_HEIGHT", "action_strip"]

ACTION_STRIP_HEIGHT: Final = 56.0


def action_strip(drawing: Drawing, frame: Box, *, swap: Swap) -> None:
    """Old phrase above the line, new phrase below it, own rate on it."""
    scale = Scale(0.0, 1.0, frame.x + 6.0, frame.right - 6.0)
    y = frame.y + 20.0
    drawing.add(Line(scale(0), y, scale(1), y, palette.rule, 0.6))
    for end, anchor in ((0.0, "start"), (1.0, "end")):
        drawing.add(Line(scale(end), y - 2, scale(end), y + 2, palette.rule, 0.6))
        side: Anchor = "start" if anchor == "start" else "end"
        put(drawing, scale(end), y + 26.0, percent(end), NOTE, colour=palette.muted, anchor=side)
    _flag(drawing, frame, scale(swap.meaning), y, -1, swap.phrase, swap.meaning)
    _flag(
        drawing,
        frame,
        scale(swap.instead_meaning),
        y,
        1,
        swap.instead,
        swap.instead_meaning,
    )
    drawing.add(Line(scale(swap.rate.low), y, scale(swap.rate.high), y, palette.own, 1.6))
    name = f"action.{swap.phrase}"
    drawing.add(Disc(scale(swap.rate.value), y, 3.2, "circle", palette.own, id=name))


def _flag(
    drawing: Drawing, frame: Box, x: float, y: float, side: int, phrase: str, expected: float
) -> None:
    """Set a tick with phrase and expectation, above (-1) or below (+1) the line."""
    drawing.add(Line(x, y, x, y + 7.0 * side, palette.muted, 0.9))
    label, kind = fit(f"“{phrase}” {percent(expected)}", NOTE, frame.width)
    half = width_of(label, kind) / 2
    middle = min(max(x, frame.x + half), frame.right - half)
    baseline = y - 10.0 if side < 0 else y + 15.5
    put(drawing, middle, baseline, label, kind, colour=palette.muted, anchor="middle")
