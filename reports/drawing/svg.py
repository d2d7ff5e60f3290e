"""Marks to inline SVG: the figures of the PDF, with the hovered value as each mark's title.

Every line of text carries the length it has in the shipped font, so that a browser with another
font neither overflows a frame nor lets two labels meet.
"""

from __future__ import annotations

import base64
from functools import singledispatch
from html import escape

from reports.drawing.marks import Disc, Line, Mark, Picture, Polygon, Rect, Ribbon, Text
from reports.drawing.structure import Drawing
from reports.drawing.typeset import width_of_font

__all__ = ["to_svg"]

_ENLARGED = 1.5
"""Pixels a point, where a screen has room."""


def to_svg(drawing: Drawing, *, label: str, at: tuple[float, float] = (0.0, 0.0)) -> str:
    """Make one ``<svg>`` element that scales to its container's width; ``at``: its upper left."""
    size = f"{_n(at[0])} {_n(at[1])} {_n(drawing.width)} {_n(drawing.height)}"
    body = "".join(_draw(mark) for mark in drawing.marks)
    name = escape(label, quote=True)
    wide = _n(_ENLARGED * drawing.width)
    return f'<svg viewBox="{size}" width="{wide}" role="img" aria-label="{name}">{body}</svg>'


def _n(value: float) -> str:
    """Write a coordinate with two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _element(name: str, geometry: str, paint: str, mark: Mark) -> str:
    """Write one element, with id for tests and title for hovering."""
    key = f' data-id="{escape(mark.id, quote=True)}"' if mark.id else ""
    hint = getattr(mark, "hint", "")
    if not hint:
        return f"<{name} {geometry}{paint}{key}/>"
    return f"<{name} {geometry}{paint}{key}><title>{escape(hint)}</title></{name}>"


def _paint(fill: str | None, stroke: str | None, width: float, dash: tuple[float, ...] = ()) -> str:
    parts = [f' fill="{fill or "none"}"']
    if stroke:
        parts.append(f' stroke="{stroke}" stroke-width="{_n(width)}"')
    if dash:
        parts.append(f' stroke-dasharray="{" ".join(_n(d) for d in dash)}"')
    return "".join(parts)


@singledispatch
def _draw(mark: Mark) -> str:
    message = f"Marks of type {type(mark).__name__} cannot become SVG; register a writer."
    raise TypeError(message)


@_draw.register
def _(mark: Text) -> str:
    weight = {"Bold": ' font-weight="700"', "Oblique": ' font-style="italic"'}.get(mark.font, "")
    anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
    length = _n(width_of_font(mark.string, mark.font, mark.size))
    key = f' data-id="{escape(mark.id, quote=True)}"' if mark.id else ""
    return (
        f'<text x="{_n(mark.x)}" y="{_n(mark.y)}" font-size="{_n(mark.size)}" fill="{mark.colour}"'
        f' textLength="{length}" lengthAdjust="spacingAndGlyphs"{weight}{anchor}{key}>'
        f"{escape(mark.string)}</text>"
    )


@_draw.register
def _(mark: Line) -> str:
    geometry = f'x1="{_n(mark.x1)}" y1="{_n(mark.y1)}" x2="{_n(mark.x2)}" y2="{_n(mark.y2)}"'
    return _element("line", geometry, _paint(None, mark.colour, mark.width, mark.dash), mark)


@_draw.register
def _(mark: Rect) -> str:
    corner = f' rx="{_n(mark.radius)}"' if mark.radius else ""
    geometry = (
        f'x="{_n(mark.x)}" y="{_n(mark.y)}" width="{_n(mark.width)}" height="{_n(mark.height)}"'
    )
    paint = _paint(mark.fill, mark.stroke, mark.stroke_width)
    return _element("rect", geometry + corner, paint, mark)


@_draw.register
def _(mark: Polygon) -> str:
    points = " ".join(f"{_n(x)},{_n(y)}" for x, y in mark.points)
    name = "polygon" if mark.fill is not None else "polyline"
    paint = _paint(mark.fill, mark.stroke, mark.stroke_width, mark.dash)
    return _element(name, f'points="{points}"', paint, mark)


@_draw.register
def _(mark: Ribbon) -> str:
    middle = _n((mark.x1 + mark.x2) / 2)
    x1, x2, y1, y2 = _n(mark.x1), _n(mark.x2), _n(mark.y1), _n(mark.y2)
    low1, low2 = _n(mark.y1 + mark.width1), _n(mark.y2 + mark.width2)
    path = (
        f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}"
        f"V{low2}C{middle} {low2} {middle} {low1} {x1} {low1}Z"
    )
    return _element("path", f'd="{path}"', _paint(mark.fill, None, 0.0), mark)


@_draw.register
def _(mark: Picture) -> str:
    data = base64.b64encode(mark.png).decode("ascii")
    geometry = (
        f'x="{_n(mark.x)}" y="{_n(mark.y)}" width="{_n(mark.width)}" height="{_n(mark.height)}"'
    )
    return _element("image", f'{geometry} href="data:image/png;base64,{data}"', "", mark)


@_draw.register
def _(mark: Disc) -> str:
    paint = _paint(mark.fill, mark.stroke, mark.stroke_width)
    if mark.shape in ("circle", "ring"):
        geometry = f'cx="{_n(mark.x)}" cy="{_n(mark.y)}" r="{_n(mark.r)}"'
        return _element("circle", geometry, paint, mark)
    points = " ".join(f"{_n(x)},{_n(y)}" for x, y in mark.corners)
    return _element("polygon", f'points="{points}"', paint, mark)
