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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, singledispatch
from html import escape, unescape
from itertools import zip_longest
from pathlib import Path
from typing import Final, Literal

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
    drawing: Drawing,
    *,
    label: str,
    at: tuple[float, float] = (0.0, 0.0),
    values: Literal["shown", "whole", "none"] = "shown",
) -> str:
    """Make one ``<svg>`` element that scales to its container's width; ``at``: its upper left.

    On hovering each mark shows its value, or the whole picture its label, or nothing. It is wide
    enough for every line of text.
    """
    far = [x for mark in drawing.marks if isinstance(mark, Text) for x in ends(mark)]
    start, width = min([at[0], *far]), max([at[0] + drawing.width, *far]) - min([at[0], *far])
    size = f"{_n(start)} {_n(at[1])} {_n(width)} {_n(drawing.height)}"
    body = "".join(map(_draw, _once(drawing.marks, hovers=values == "shown")))
    name = escape(label, quote=True)
    said, title = (f' aria-label="{name}"', "") if values != "whole" else ("", _title(label))
    wide = f' width="{_n(_ENLARGED * width)}"' if values == "shown" else ""
    return f'<svg viewBox="{size}"{wide} role="img"{said}>{title}{body}</svg>'


def _once(marks: Sequence[Mark], *, hovers: bool) -> Iterator[Mark]:
    """Let a value be said once, by the topmost of its marks; or by none."""
    for mark, after in zip_longest(marks, marks[1:]):
        said = mark.hint and (not hovers or (after is not None and mark.hint == after.hint))
        yield replace(mark, hint="") if said else mark


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>"


def _n(value: float, places: int = 1) -> str:
    """Write a coordinate, without zeros that say nothing."""
    return f"{value:.{places}f}".rstrip("0").rstrip(".")


def _element(name: str, geometry: str, paint: str, mark: Mark) -> str:
    """Write one element, with a title for hovering."""
    if not mark.hint:
        return f"<{name} {geometry}{paint}/>"
    return f"<{name} {geometry}{paint}>{_title(mark.hint)}</{name}>"


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


def figures(picture: Drawing, *, words: Strings, caption: str = "") -> str:
    """Give what a drawing holds, side by side where there is room, with the values as lists."""
    below = f'<p class="note">{caption}</p>' if caption else ""
    return f'<div class="beside">{_Body([picture], words).render(picture.root.inside)}</div>{below}'


def _again(element: Element, frame: Box) -> str:
    """Draw a figure anew for a phone, unless it is that narrow already or cannot be."""
    if element.again is None or frame.width <= PHONE:
        return ""
    narrow = Drawing(PHONE, min(frame.height, PHONE))
    element.again(narrow, narrow.frame)
    return f'<div class="narrow">{to_svg(narrow, label=element.lead, values="none")}</div>'


def to_html(
    pages: Sequence[Drawing], *, title: str, head: Masthead, words: Strings, sheet: str
) -> bytes:
    """Turn tagged pages into one file; equal pages give equal bytes.

    Parameters
    ----------
    sheet
        The file that the page saves answers into, as JSON (`reports.pages.return_sheet.Sheet`).
    """
    body = _Body(pages, words).render(pages[0].root.inside[1:])  # the head has the banner
    asks = any(page.fields for page in pages)
    slots = {"title": escape(title), "body": body, "save": _save(words, sheet) * asks}
    return whole("page.html", slots, head=head, words=words)


def _save(words: Strings, sheet: str) -> str:
    """Offer to save the answers; hidden where no script can do it."""
    said = {"sheet": sheet, "done": words("html.saved"), "none": words("html.none")}
    data = "".join(f' data-{key}="{escape(text, quote=True)}"' for key, text in said.items())
    button, note = escape(words("html.save")), escape(words("html.save_note"))
    return (
        f'<div class="save" hidden{data}><button type="button">{button}</button>'
        f' <output></output><p class="note">{note}</p></div>'
    )


def whole(template: str, slots: Mapping[str, str], *, head: Masthead, words: Strings) -> bytes:
    """Fill a template with its own slots, and with what every file says of itself."""
    body, looks = _classed(slots["body"])
    style, script = asset("page.css") + looks, asset("page.js")
    common = {
        "body": body,
        "lang": words.tag,
        "policy": policy(style=style, script=script),
        "style": style,
        "script": script,
        "skip": escape(words("html.skip")),
        "banner": escape(head.banner),
        "stamp": escape(words("page.demonstration")) if head.demonstration else "",
    }
    slots = {**slots, **common}  # what is filled in is not looked at again
    return re.sub(r"\{\{(\w+)\}\}", lambda m: slots[m[1]], asset(template)).encode("utf-8")


class Tables:
    """Tables, each named by the heading above it, and by its number there if not the first."""

    def __init__(self) -> None:
        self.heading, self._made = "", Counter[str]()

    def table(self, inside: str, look: str = "") -> str:
        """Put rows into a table with a caption, for those who go from table to table by ear."""
        self._made[self.heading] += 1
        made = self._made[self.heading]
        name = escape(self.heading if made == 1 else f"{self.heading} ({made})", quote=True)
        area = f'class="scroll" role="region" aria-label="{name}" tabindex="0"'
        caption = f'<caption><span class="unseen">{name}</span></caption>'
        return f"<div {area}><table{look}>{caption}{inside}</table></div>"


class _Body:
    """The elements of some pages, each with the marks it owns."""

    def __init__(self, pages: Sequence[Drawing], words: Strings) -> None:
        self.words, self.root, self.tables = words, pages[0].root, Tables()
        self.owned: dict[int, list[Mark]] = {}
        self.asked = {id(element): each for page in pages for each, _, element in page.fields}
        for page in pages:
            for owner, mark in zip(page.owners, page.marks, strict=True):
                if owner is not None:
                    self.owned.setdefault(id(owner), []).append(mark)

    def render(self, parts: Sequence[Element]) -> str:
        """Give some elements of the body."""
        return "".join(self._element(part) for part in _joined(parts, self._heads))

    def _heads(self, table: Element) -> tuple[str, ...]:
        return tuple(self._text(cell) for cell in table.inside[0].inside)

    def _element(self, element: Element) -> str:
        role = element.role
        if role in ("H1", "H2", "H3"):
            self.tables.heading = unescape(re.sub("<[^>]*>", "", self._text(element)))
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
        return f"<{name}{scope}{self._kind(element)}>{self._text(element)}{inside}</{name}>"

    def _table(self, element: Element) -> str:
        head, *body = (self._element(row) for row in element.inside)
        return self.tables.table(f"<thead>{head}</thead><tbody>{''.join(body)}</tbody>")

    def _picture(self, element: Element) -> str:
        marks, box = self.owned.get(id(element)), element.box
        if marks is None or box is None:
            return ""
        drawing = Drawing(box.width, box.height, marks)
        svg = to_svg(drawing, label=element.lead or element.alt, at=(box.x, box.y))
        narrow = _again(element, box)
        values = "".join(f"<li>{escape(value)}</li>" for value in element.values)
        more = f"<details><summary>{self.words('html.values')}</summary><ul>{values}</ul></details>"
        broad = ' class="broad"' if narrow else ""
        return f"<figure><div{broad}>{svg}</div>{narrow}{more * bool(values)}</figure>"

    def _texts(self, element: Element) -> list[Text]:
        return [mark for mark in self.owned.get(id(element), ()) if isinstance(mark, Text)]

    def _kind(self, element: Element) -> str:
        texts = self._texts(element)
        small = element.role == "P" and texts and all(t.size <= NOTE.size for t in texts)
        if element.role in ("P", "H2") and texts and all(t.size >= LEAD.size for t in texts):
            return ' class="lead"'
        right = element.role in ("TD", "TH") and texts and all(t.anchor == "end" for t in texts)
        return ' class="note"' if small else ' class="n"' if right else ""

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
