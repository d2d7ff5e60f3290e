"""Pages as one self-contained HTML file, figures inline as SVG, from what a screen reader meets.

Every line of text carries the length it has in the shipped font, so that a browser with another
font neither overflows a frame nor lets two labels meet.

What is tagged in the PDF becomes headings, paragraphs, lists, tables and figures here, so the two
cannot say different things. Nothing is loaded from anywhere: a content-security policy in the file
forbids it, and names the style and the script it allows by their hashes. Below every figure its
values stand as a list, for fingers, keys and screen readers.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, singledispatch
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import Final

from reports.content import Masthead
from reports.drawing.marks import (
    Disc,
    Drawing,
    Element,
    Line,
    Mark,
    Picture,
    Polygon,
    Rect,
    Ribbon,
    Text,
)
from reports.drawing.style import LEAD, NOTE
from reports.drawing.typeset import adjoins, width_of_font
from reports.strings import Strings

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


_WIDE: Final = 300.0
"""Figures wider than this keep their size on a phone and scroll."""
_INLINE: Final = {"LBody": "{}", "Form": "☐"}
_BLOCKS: Final = {"Document": "{}", "L": "<ul>{}</ul>", "LI": "<li>{}</li>"}


@cache
def asset(name: str) -> str:
    """Read a template, style or script."""
    return (Path(__file__).parent / "assets" / name).read_text(encoding="utf-8")


def policy(*, style: str, script: str) -> str:
    """Allow this style and this script, and nothing else."""
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (style, script)
    ]
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{hashes[0]}'; "
        f"script-src 'sha256-{hashes[1]}'; base-uri 'none'; form-action 'none'"
    )


def filled(template: str, slots: Mapping[str, str]) -> bytes:
    """Fill a template's slots; what is filled in is not looked at again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda m: slots[m[1]], template).encode("utf-8")


def figure(picture: Drawing, *, label: str, words: Strings, caption: str = "") -> str:
    """Give a figure with its values as a list; ``label`` where the drawing says nothing itself."""
    alts = [each.alt for each in picture.root.inside if each.role == "Figure"]
    svg = to_svg(picture, label=" ".join(alts) or label)
    return _figure(svg, picture.width, " ".join(alts), words, caption)


def _figure(svg: str, width: float, alt: str, words: Strings, caption: str = "") -> str:
    values = "".join(f"<li>{escape(part)}</li>" for part in alt.split("; "))
    summary = escape(words("html.values"))
    more = f"<details><summary>{summary}</summary><ul>{values}</ul></details>"
    wide = ' class="wide" tabindex="0"' if width > _WIDE else ""
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f"<figure><div{wide}>{svg}</div>{below}{more if alt else ''}</figure>"


def to_html(pages: Sequence[Drawing], *, title: str, head: Masthead, words: Strings) -> bytes:
    """Turn tagged pages into one file; equal pages give equal bytes."""
    style, script = asset("page.css"), asset("page.js")
    stamp = escape(words("page.demonstration")) if head.demonstration else ""
    slots = {
        "lang": escape(head.language, quote=True),
        "policy": policy(style=style, script=script),
        "title": escape(title),
        "style": style,
        "script": script,
        "skip": escape(words("html.skip")),
        "banner": escape(head.banner),
        "stamp": stamp,
        "body": _Body(pages, words).render(),
    }
    return filled(asset("page.html"), slots)


@dataclass(frozen=True, slots=True)
class _Piece:
    """The marks of one element on one page."""

    page: Drawing
    marks: list[Mark]


class _Body:
    """The elements of some pages, each with the marks it owns."""

    def __init__(self, pages: Sequence[Drawing], words: Strings) -> None:
        self.words, self.root = words, pages[0].root
        self.owned: dict[int, _Piece] = {}
        for page in pages:
            for owner, mark in zip(page.owners, page.marks, strict=True):
                if owner is not None:
                    self.owned.setdefault(id(owner), _Piece(page, [])).marks.append(mark)

    def render(self) -> str:
        """Give the body, without the banner, which the page's head says already."""
        return "".join(self._element(part) for part in _joined(self.root.inside[1:], self._heads))

    def _heads(self, table: Element) -> tuple[str, ...]:
        return tuple(self._text(cell) for cell in table.inside[0].inside)

    def _element(self, element: Element) -> str:
        role = element.role
        inside = "".join(self._element(part) for part in element.inside)
        if role == "Figure":
            return self._picture(element)
        if role == "Table":
            return self._table(element)
        if role == "Form" and element.box:  # nothing is written into the file
            return ""
        if role in _BLOCKS or role in _INLINE:
            return (_BLOCKS | _INLINE)[role].format(self._text(element) + inside)
        name = {"TR": "tr", "TH": "th", "TD": "td"}.get(role, role.lower())
        scope = f' scope="{"col" if element.scope == "Column" else "row"}"' if element.scope else ""
        return f"<{name}{scope}{self._kind(element)}>{self._text(element)}{inside}</{name}>"

    def _table(self, element: Element) -> str:
        head, *body = (self._element(row) for row in element.inside)
        rows = f"<thead>{head}</thead><tbody>{''.join(body)}</tbody>"
        return f'<div class="scroll" tabindex="0"><table>{rows}</table></div>'

    def _picture(self, element: Element) -> str:
        piece, box = self.owned.get(id(element)), element.box
        if piece is None or box is None:
            return ""
        drawing = Drawing(box.width, box.height, piece.marks)
        svg = to_svg(drawing, label=element.alt, at=(box.x, box.y))
        return _figure(svg, box.width, element.alt, self.words)

    def _texts(self, element: Element) -> list[Text]:
        piece = self.owned.get(id(element))
        return [mark for mark in piece.marks if isinstance(mark, Text)] if piece else []

    def _kind(self, element: Element) -> str:
        texts = self._texts(element)
        small = element.role == "P" and texts and all(t.size <= NOTE.size for t in texts)
        if element.role == "P" and texts and all(t.size >= LEAD.size for t in texts):
            return ' class="lead"'
        right = element.role in ("TD", "TH") and texts and all(t.anchor == "end" for t in texts)
        return ' class="note"' if small else ' class="number"' if right else ""

    def _text(self, element: Element) -> str:
        """Join an element's lines; bold stands out where not all of it is bold."""
        texts = self._texts(element)
        mixed = len({text.font for text in texts}) > 1
        said = ""
        for text, after in zip_longest(texts, texts[1:]):
            part = escape(text.string)
            said += f"<strong>{part}</strong>" if mixed and text.font == "Bold" else part
            said += "" if after is None or adjoins(text, after) else " "
        return re.sub(r"\s+", " ", said).strip()


def _joined(parts: Sequence[Element], heads: Callable[[Element], tuple[str, ...]]) -> list[Element]:
    """Put the parts of a table that was cut at a page's end together again."""
    joined: list[Element] = []
    for part in parts:
        last = joined[-1] if joined else None
        if last and last.role == part.role == "Table" and heads(last) == heads(part):
            both = Element("Table", inside=[*last.inside, *part.inside[1:]])
            joined[-1] = both
        else:
            joined.append(part)
    return joined
