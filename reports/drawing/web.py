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
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, singledispatch
from html import escape
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Final

from reports.content import Masthead
from reports.drawing.marks import (
    PHONE,
    Box,
    Disc,
    Drawing,
    Element,
    Field,
    Line,
    Mark,
    Picture,
    Polygon,
    Rect,
    Ribbon,
    Text,
)
from reports.drawing.style import LEAD, NOTE, palette
from reports.drawing.typeset import adjoins, ends, width_of_font
from reports.strings import Strings

_ENLARGED = 1.75
"""Pixels a point, where a screen has room."""
_SHORT: Final = 8
"""Letters up to which a line is squeezed by its spaces alone: a code, a number."""


def to_svg(
    drawing: Drawing, *, label: str, at: tuple[float, float] = (0.0, 0.0), hovers: bool = True
) -> str:
    """Make one ``<svg>`` element that scales to its container's width; ``at``: its upper left.

    On hovering each mark shows its value, or none does. It is wide enough for every line of text.
    """
    far = [x for mark in drawing.marks if isinstance(mark, Text) for x in ends(mark)]
    start, width = min([at[0], *far]), max([at[0] + drawing.width, *far]) - min([at[0], *far])
    size = f"{_n(start)} {_n(at[1])} {_n(width)} {_n(drawing.height)}"
    body = "".join(map(_draw, _once(drawing.marks, hovers=hovers)))
    wide = f' width="{_n(_ENLARGED * width)}"' if hovers else ""
    said = f'role="img" aria-label="{escape(label, quote=True)}"'
    return f'<svg viewBox="{size}"{wide} {said}>{body}</svg>'


def _once(marks: Sequence[Mark], *, hovers: bool) -> Iterator[Mark]:
    """Let a value be said once, by the topmost of its marks; or by none."""
    for mark, after in zip_longest(marks, marks[1:]):
        said = mark.hint and (not hovers or (after is not None and mark.hint == after.hint))
        yield replace(mark, hint="") if said else mark


def _n(value: float, places: int = 1) -> str:
    """Write a coordinate, without zeros that say nothing."""
    return f"{value:.{places}f}".rstrip("0").rstrip(".")


def _element(name: str, geometry: str, paint: str, mark: Mark) -> str:
    """Write one element, with a title for hovering."""
    if not mark.hint:
        return f"<{name} {geometry}{paint}/>"
    return f"<{name} {geometry}{paint}><title>{escape(mark.hint)}</title></{name}>"


def _paint(fill: str | None, stroke: str | None, width: float, dash: tuple[float, ...] = ()) -> str:
    parts = [f' fill="{fill or "none"}"']
    if stroke:
        parts.append(f' stroke="{stroke}" stroke-width="{_n(width)}"')
    if dash:
        parts.append(f' stroke-dasharray="{" ".join(_n(d) for d in dash)}"')
    return "".join(parts)


@singledispatch
def _draw(mark: Mark) -> str:
    raise TypeError(f"Marks of type {type(mark).__name__} cannot become SVG; register a writer.")


@_draw.register
def _(mark: Text) -> str:
    weight = {"Bold": ' font-weight="700"', "Oblique": ' font-style="italic"'}.get(mark.font, "")
    anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
    length = _n(width_of_font(mark.string, mark.font, mark.size), 2)
    squeezed = "" if len(mark.string) <= _SHORT else ' lengthAdjust="spacingAndGlyphs"'
    return (
        f'<text x="{_n(mark.x)}" y="{_n(mark.y)}"'
        f' font-size="{_n(mark.size, 2)}" fill="{mark.colour}"{weight}{anchor}'
        f' textLength="{length}"{squeezed}>'
        f"{escape(mark.string)}</text>"
    )


@_draw.register
def _(mark: Line) -> str:
    geometry = f'x1="{_n(mark.x1)}" y1="{_n(mark.y1)}" x2="{_n(mark.x2)}" y2="{_n(mark.y2)}"'
    return _element("line", geometry, _paint(None, mark.colour, mark.width, mark.dash), mark)


@_draw.register
def _(mark: Rect) -> str:
    paint = _paint(mark.fill, mark.stroke, mark.stroke_width)
    return _element("rect", _frame(mark), paint, mark)


def _frame(mark: Rect | Picture) -> str:
    return f'x="{_n(mark.x)}" y="{_n(mark.y)}" width="{_n(mark.width)}" height="{_n(mark.height)}"'


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
    return _element("image", f'{_frame(mark)} href="data:image/png;base64,{data}"', "", mark)


@_draw.register
def _(mark: Disc) -> str:
    paint = _paint(mark.fill, mark.stroke, mark.stroke_width)
    geometry = f'cx="{_n(mark.x)}" cy="{_n(mark.y)}" r="{_n(mark.r)}"'
    return _element("circle", geometry, paint, mark)


_BLOCKS: Final = {"Document": "{}", "L": "<ul>{}</ul>", "LI": "<li>{}</li>", "LBody": "{}"}


@cache
def asset(name: str) -> str:
    """Read a template, style or script."""
    return (Path(__file__).parent / "assets" / name).read_text(encoding="utf-8")


_LOOK: Final = re.compile(
    r"(?: (?:fill|stroke(?:-width|-dasharray|-linecap)?|font-(?:size|weight|style)|text-anchor)"
    r'="[^"]*")+'
)
_COLOURS: Final = {
    value: f"var(--{name.replace('_', '-')})"
    for name, value in vars(palette).items()
    if not name.startswith("_")
}


def _classed(body: str) -> tuple[str, str]:
    """Put what marks look like into classes, which are shorter and follow the dark scheme."""
    names: dict[str, str] = {}
    body = _LOOK.sub(lambda m: f' class="{names.setdefault(m[0], f"m{len(names)}")}"', body)
    return body, "".join(f".{name}{{{_rule(look)}}}\n" for look, name in names.items())


def _rule(look: str) -> str:
    """Write attributes as declarations."""
    parts = re.findall(r'([a-z-]+)="([^"]*)"', look)
    return ";".join(f"{k}:{_COLOURS.get(v, v)}{'px' if k == 'font-size' else ''}" for k, v in parts)


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


def _again(element: Element, frame: Box) -> str:
    """Draw a figure anew for a phone, unless it is that narrow already or cannot be."""
    if element.again is None or frame.width <= PHONE:
        return ""
    narrow = Drawing(PHONE, min(frame.height, PHONE))
    element.again(narrow, narrow.frame)
    return f'<div class="narrow">{to_svg(narrow, label=element.lead, hovers=False)}</div>'


def to_html(
    pages: Sequence[Drawing], *, title: str, head: Masthead, words: Strings, sheet: str = ""
) -> bytes:
    """Turn tagged pages into one file; equal pages give equal bytes.

    Parameters
    ----------
    sheet
        The file that the page saves answers into, as JSON (`reports.pages.return_sheet.Sheet`).
    """
    made = _Body(pages, words)
    body, looks = _classed(made.render(pages[0].root.inside[1:]))  # the head has the banner
    style, script = asset("page.css") + looks, asset("page.js")
    slots = {
        "title": escape(title),
        "contents": _contents(made.titles, words),
        "body": body,
        "save": _save(words, sheet) * any(page.fields for page in pages),
        "lang": words.tag,
        "policy": policy(style=style, script=script),
        "style": style,
        "script": script,
        "skip": escape(words("html.skip")),
        "banner": escape(head.banner),
        "stamp": escape(words("page.demonstration")) if head.demonstration else "",
    }  # what is filled in is not looked at again
    return re.sub(r"\{\{(\w+)\}\}", lambda m: slots[m[1]], asset("page.html")).encode("utf-8")


def _contents(titles: Sequence[str], words: Strings) -> str:
    """List the main headings, each leading to its place."""
    links = "".join(f'<li><a href="#s{i}">{title}</a></li>' for i, title in enumerate(titles))
    name = escape(words("html.contents"))
    listed = f"<details><summary>{name}</summary><ol>{links}</ol></details>"
    return f'<nav aria-label="{name}">{listed}</nav>'


def _save(words: Strings, sheet: str) -> str:
    """Offer to save the answers; hidden where no script can do it."""
    said = {"sheet": sheet, "done": words("html.saved"), "none": words("html.none")}
    data = "".join(f' data-{key}="{escape(text, quote=True)}"' for key, text in said.items())
    button, note = escape(words("html.save")), escape(words("html.save_note"))
    return (
        f'<div class="save" hidden{data}><button type="button">{button}</button>'
        f' <output></output><p class="note">{note}</p></div>'
    )


class _Body:
    """The elements of some pages, each with the marks it owns."""

    def __init__(self, pages: Sequence[Drawing], words: Strings) -> None:
        self.words, self.titles = words, list[str]()
        self.heading, self.tables = "", Counter[str]()
        self.owned: dict[int, list[Mark]] = {}
        self.asked = {id(element): each for page in pages for each, _, element in page.fields}
        for page in pages:
            for owner, mark in zip(page.owners, page.marks, strict=True):
                if owner is not None:
                    self.owned.setdefault(id(owner), []).append(mark)

    def render(self, parts: Sequence[Element]) -> str:
        """Give some elements of the body; figures one after the other stand side by side."""
        said = ""
        for drawn, run in groupby(_joined(parts, self._heads), lambda part: part.role == "Figure"):
            each = [self._element(part) for part in run]
            beside = '<div class="beside">{}</div>' if drawn and len(each) > 1 else "{}"
            said += beside.format("".join(each))
        return said

    def _heads(self, table: Element) -> tuple[str, ...]:
        return tuple(self._text(cell) for cell in table.inside[0].inside)

    def _element(self, element: Element) -> str:
        role = element.role
        if role in ("H1", "H2", "H3"):
            self.heading = re.sub("<[^>]*>", "", self._text(element))
            self.titles += [self.heading] * (role == "H2")
        inside = "".join(self._element(part) for part in element.inside)
        if role == "Figure":
            return self._picture(element)
        if role == "Table":
            return self._table(element)
        if role == "Form":
            return _input(self.asked[id(element)])
        if role == "L" and _asks(element):
            return f'<ul class="ask">{inside}</ul>'
        if role in _BLOCKS:
            said = _BLOCKS[role].format(f"{inside} {self._text(element)}".strip())
            return f"<label>{said}</label>" if role == "LBody" and _asks(element) else said
        name = {"TR": "tr", "TH": "th", "TD": "td"}.get(role, role.lower())
        scope = f' scope="{"col" if element.scope == "Column" else "row"}"' if element.scope else ""
        place = f' id="s{len(self.titles) - 1}"' if role == "H2" else ""
        more = f"{scope}{place}{self._kind(element)}"
        return f"<{name}{more}>{self._text(element)}{inside}</{name}>"

    def _table(self, element: Element) -> str:
        """Name a table by the heading above it, and by its number there if not the first.

        It has a caption, for those who go from table to table by ear.
        """
        made = self.tables[self.heading] = self.tables[self.heading] + 1
        name = self.heading if made == 1 else f"{self.heading} ({made})"
        head, *body = (self._element(row) for row in element.inside)
        whole = f'<tr><td colspan="{len(element.inside[0].inside)}"'  # of a table without rows
        rows = "".join(body).replace("<tr><td", whole)
        area = f'class="scroll" role="region" aria-label="{name}" tabindex="0"'
        caption = f'<caption><span class="unseen">{name}</span></caption>'
        inside = f"{caption}<thead>{head}</thead><tbody>{rows}</tbody>"
        return f"<div {area}><table>{inside}</table></div>"

    def _picture(self, element: Element) -> str:
        marks, box = self.owned.get(id(element)), element.box
        if marks is None or box is None:
            return ""
        drawing = Drawing(box.width, box.height, marks)
        svg = to_svg(drawing, label=element.lead or element.alt, at=(box.x, box.y))
        narrow = _again(element, box)
        values = "".join(f"<li>{escape(value)}</li>" for value in element.values)
        more = f"<details><summary>{self.words('html.values')}</summary><ul>{values}</ul></details>"
        logo = ' class="logo"' if any(isinstance(mark, Picture) for mark in marks) else ""
        broad = ' class="broad"' if narrow else ""
        return f"<figure{logo}><div{broad}>{svg}</div>{narrow}{more * bool(values)}</figure>"

    def _texts(self, element: Element) -> list[Text]:
        return [mark for mark in self.owned.get(id(element), ()) if isinstance(mark, Text)]

    def _kind(self, element: Element) -> str:
        """Name how an element is set: large, grey, slanted, bold, flush right, on several lines."""
        texts, role = self._texts(element), element.role
        if not texts or role not in ("P", "H2", "TH", "TD"):
            return ""
        cell, head = role in ("TH", "TD"), element.scope == "Column"
        large = not cell and all(t.size >= LEAD.size for t in texts)
        slanted = not head and all(t.font == "Oblique" for t in texts)
        grey = all(t.colour == palette.muted for t in texts)
        kinds = {
            "lead": large,
            "note": role == "P" and (grey or texts[0].size <= NOTE.size) and not (large or slanted),
            "state": slanted,
            "quiet": cell and grey and not (head or slanted),
            "strong": cell and not head and all(t.font == "Bold" for t in texts),
            "n": cell and all(t.anchor == "end" for t in texts),
            "wraps": cell and not head and len({t.y for t in texts}) > 1,
        }
        named = " ".join(name for name, on in kinds.items() if on)
        return f' class="{named}"' if named else ""

    def _text(self, element: Element) -> str:
        """Join an element's lines; bold stands out where not all of it is bold."""
        texts = self._texts(element)
        mixed = len({text.font for text in texts}) > 1
        said = ""
        for text, after in zip_longest(texts, texts[1:]):
            part = escape(text.string)
            said += f"<strong>{part}</strong>" if mixed and text.font == "Bold" else part
            said += "" if after is None or adjoins(text, after) else " "
        return re.sub(r"[ \t\n]+", " ", said).strip()


def _asks(element: Element) -> bool:
    """Tell whether a box to tick stands in an element."""
    return element.role == "Form" or any(map(_asks, element.inside))


def _input(asked: Field) -> str:
    """Make a box to tick, or a field to write into."""
    kind = f'"radio" value="{asked.choice}"' if asked.choice else '"text" maxlength="1000"'
    about, says = escape(asked.about, quote=True), escape(asked.says, quote=True)
    return f'<input type={kind} name="{asked.name}" data-about="{about}" aria-label="{says}">'


def _joined(parts: Sequence[Element], heads: Callable[[Element], tuple[str, ...]]) -> list[Element]:
    """Put the parts of a table that was cut at a page's end together again."""
    joined: list[Element] = []
    for part in parts:
        last = joined[-1] if joined else None
        if last and last.role == part.role == "Table" and heads(last) == heads(part):
            joined[-1] = Element("Table", inside=[*last.inside, *part.inside[1:]])
        else:
            joined.append(part)
    return joined
