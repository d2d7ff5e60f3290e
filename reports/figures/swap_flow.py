"""Before → after: which share of statements each phrase carries, and where it would go.

Left: phrases as used; right: after the swaps. Ribbons that keep their phrase are pale, ribbons that
change it are dark. Certain statements ("absent", "present") never change and are left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from calibration.phrase_calibration import PhraseCalibration
from reports.drawing.marks import Anchor, Box, Drawing, Rect, Ribbon, reflows
from reports.drawing.style import FIGURE, NOTE, Type, palette
from reports.drawing.typeset import fit, put, width_of
from reports.numbers import percent
from reports.strings import Strings

if TYPE_CHECKING:
    from calibration.substitution import SubstitutionMap


def _order(table: PhraseCalibration) -> list[str]:
    return [table.phrases[k] for k in np.argsort(-np.nan_to_num(table.expected), kind="stable")]


def streams_of_map(
    fitted: SubstitutionMap, table: PhraseCalibration, words: Strings
) -> tuple[list[Stream], list[str]]:
    """List a fitted plan's cells above a thousandth of its mass; withheld phrases go as one."""
    withheld = words("maps.withheld")
    plan = np.nan_to_num(fitted.plan)
    cells = np.argwhere(plan > 1e-3 * max(float(plan.sum()), 1e-300))
    hidden = {p for p, n in zip(table.phrases, table.n, strict=True) if math.isnan(n)}
    names = [withheld if phrase in hidden else phrase for phrase in fitted.phrases]
    merged: dict[tuple[str, str], float] = {}
    for k, j in cells:
        pair = names[k], names[j]
        merged[pair] = merged.get(pair, 0.0) + float(plan[k, j])
    return [Stream(a, b, share) for (a, b), share in merged.items()], [*_order(table), withheld]


_LEFT_OUT: Final = frozenset({"absent", "present"})
_BAR: Final = 7.0
_LEAST_GAP: Final = 3.0
_WIDEST_LABEL: Final = 150.0
# Share of the figure's width that the labels of one side may take.
_MOST: Final = 0.48
_BESIDE: Final = 5.0
# Type of the labels on a phone, where it is drawn nearly twice as large.
_SMALL: Final = 6.17


@dataclass(frozen=True, slots=True)
class Stream:
    """A share of statements that goes from one phrase to another (or stays)."""

    source: str
    target: str
    share: float


@dataclass(frozen=True, slots=True)
class _Slot:
    share: float
    top: float
    tall: float


def _stack(
    shares: dict[str, float], order: Sequence[str], box: Box, unit: float
) -> dict[str, _Slot]:
    slots, y = {}, box.y
    for phrase in order:
        share = shares.get(phrase, 0.0)
        if share > 0:
            tall = share * unit
            gap = max(_LEAST_GAP, 9.5 - tall)
            slots[phrase] = _Slot(share, y + (gap - _LEAST_GAP) / 2, tall)
            y += tall + gap
    return slots


def _fit_unit(sides: Sequence[dict[str, float]], height: float) -> float:
    """Points per share such that the taller side, with room for every label, fills the height."""
    low, high = 0.0, height
    for _ in range(40):
        unit = (low + high) / 2
        need = max(
            sum(s * unit + max(_LEAST_GAP, 9.5 - s * unit) for s in side.values()) for side in sides
        )
        low, high = (unit, high) if need <= height else (low, unit)
    return low


@reflows
def swap_flow(
    drawing: Drawing, frame: Box, *, streams: Sequence[Stream], order: Sequence[str], words: Strings
) -> None:
    """Draw the flow; ``order`` lists phrases from the surest down."""
    kept = [s for s in streams if s.source not in _LEFT_OUT and s.share > 1e-4]
    total = sum(s.share for s in kept)
    moved = sum(s.share for s in kept if s.source != s.target) / total if total > 0 else 0.0
    with drawing.figure(words("alt.swap_flow", moved=percent(moved)), frame):
        if not total > 0:
            return
        kept = [replace(s, share=s.share / total) for s in kept]
        before: dict[str, float] = {}
        after: dict[str, float] = {}
        for s in kept:
            before[s.source] = before.get(s.source, 0.0) + s.share
            after[s.target] = after.get(s.target, 0.0) + s.share
        kind = replace(FIGURE, size=_SMALL) if frame.narrow else FIGURE
        start, end = (_label(shares, kind, frame.width) for shares in (before, after))
        area = frame.cut(left=start, right=end, top=14.0)
        unit = _fit_unit((before, after), area.height)
        left = _stack(before, order, area, unit)
        right = _stack(after, order, area, unit)
        _ribbons(drawing, area, kept, unit, left, right)
        top, before_, after_ = frame.y + 8.0, words("maps.before"), words("maps.after")
        source = _Side(before_, area.x, area.x - _BESIDE, "end", start - _BESIDE, kind)
        _bars(drawing, source, top, left, right)
        bars, beside = area.right - _BAR, area.right + _BESIDE
        target = _Side(after_, bars, beside, "start", end - _BESIDE, kind)
        _bars(drawing, target, top, right, left)


def _label(shares: Mapping[str, float], kind: Type, width: float) -> float:
    """Give the room that the longest label of a side needs, in bold, of what a side may have."""
    needs = [width_of(f"{phrase} {percent(s)}", kind.bold) for phrase, s in shares.items()]
    return min(max(needs) + _BESIDE + 0.5, _WIDEST_LABEL, _MOST * width)


def _ribbons(
    drawing: Drawing,
    area: Box,
    streams: Sequence[Stream],
    unit: float,
    left: dict[str, _Slot],
    right: dict[str, _Slot],
) -> None:
    """Draw each stream from its place on the left to that on the right, the kept ones first."""
    out = {p: slot.top for p, slot in left.items()}
    into = {p: slot.top for p, slot in right.items()}
    ends = {s: (left[s.source].top, right[s.target].top) for s in streams}
    ribbons = []
    for s in sorted(streams, key=lambda s: ends[s]):
        ribbons.append((s, out[s.source]))
        out[s.source] += s.share * unit
    arrivals = {}
    for s in sorted(streams, key=lambda s: ends[s][::-1]):
        arrivals[s.source, s.target] = into[s.target]
        into[s.target] += s.share * unit
    for s, y1 in sorted(ribbons, key=lambda item: item[0].source != item[0].target):
        width = s.share * unit
        ink = palette.own_soft if s.source != s.target else palette.band
        hint = f"{s.source} → {s.target}: {percent(s.share)}"
        y2 = arrivals[s.source, s.target]
        name = f"stream.{s.source}.{s.target}"
        drawing.add(
            Ribbon(area.x + _BAR, y1, width, area.right - _BAR, y2, width, ink, id=name, hint=hint)
        )


@dataclass(frozen=True, slots=True)
class _Side:
    """A side's title, where its bars begin, and edge, direction and room of the words beside."""

    title: str
    bars: float
    words: float
    anchor: Anchor
    room: float
    kind: Type


def _bars(
    drawing: Drawing, side: _Side, top: float, own: dict[str, _Slot], other: dict[str, _Slot]
) -> None:
    """Title, and bars with phrase and share; bold where it differs from the other side's."""
    anchor = side.anchor
    put(drawing, (side.words, top), side.title, NOTE.bold.muted, anchor=anchor)
    for phrase, slot in own.items():
        drawing.add(Rect(side.bars, slot.top, _BAR, max(slot.tall, 0.4), palette.own))
        opposite = other[phrase].share if phrase in other else 0.0
        kind = side.kind.bold if percent(slot.share) != percent(opposite) else side.kind
        share = f" {percent(slot.share)}"
        text, face = fit(phrase, kind, side.room - width_of(share, kind))
        y = slot.top + slot.tall / 2 + 2.6
        put(drawing, (side.words, y), text + share, face, anchor=anchor)
