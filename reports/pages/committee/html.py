"""The committee's review as one self-contained HTML file: the PDF's sections, sortable, hoverable.

A pure function of ``CommitteeContent``: the same sections, tables and figures as the PDF, so the
numbers cannot differ. Nothing is loaded from anywhere; a content-security policy in the file
forbids it. Sorting puts cells without a number ("too few", "–") last in either direction: they
are not zeros.
"""

from __future__ import annotations

import base64
import re
from html import escape

import numpy as np

from reports.content import SuppressedCell
from reports.disclosure import guard_committee
from reports.drawing.layout import Figure, Piece, Prose, Section, Subheading, footer
from reports.drawing.marks import Box, Drawing
from reports.drawing.style import Style, check, in_language, palette
from reports.drawing.tables import Column, Row, Span, Table, draw_span
from reports.drawing.web import Tables, figures, to_svg, whole
from reports.pages import committee
from reports.pages.committee import headline
from reports.review_content import CommitteeContent
from reports.strings import Strings

_SPAN = (120.0, 14.0)
_BY_CODE = frozenset({"readers", "profiles"})
"""Tables of readers: they sort by code only, so that no order of readers can be made of them."""


@in_language
def build(content: CommitteeContent, *, style: Style) -> bytes:
    """Make the file; the same content and style give the same bytes."""
    content = guard_committee(content)  # once: `sections` rounds nothing again
    words, head = style.strings, content.masthead
    parts = committee.sections(content, words=words)
    width = style.body.width
    tables = Tables()
    body = "\n".join(_section(s, i, (width, words, tables)) for i, s in enumerate(parts))
    links = "".join(
        f'<li><a href="#s{i}">{escape(s.title)}</a></li>'
        for i, s in enumerate(parts)
        if s.level == 0
    )
    plain = {
        **{name: words(f"html.{name}") for name in ("filter", "rows", "whole", "hint", "contents")},
        "title": words("committee.title"),
        "subtitle": words("committee.subtitle", recipient=head.recipient, period=head.period),
        "institution": head.institution,
        "footer": footer(head, words),
        "contact": words("committee.contact", contact=head.contact, next_issue=head.next_issue),
    }
    slots = {name: escape(text) for name, text in plain.items()} | {
        "choices": _choices(content, words),
        "headline": _rich(headline(content, words=words)),
        "links": links,
        "body": body,
        "logo": _logo(content),
    }
    return whole("review.html", slots, head=head, words=words)


def _choices(content: CommitteeContent, words: Strings) -> str:
    """Offer findings, phrases from most to least certain, sites and months, to choose rows by.

    What a choice does not split says so beside it.
    """
    if content.few_readers:
        return ""
    department = content.department
    table = None if isinstance(department, SuppressedCell) else department.phrases
    mix = content.case_mix.rows if content.case_mix else ()
    offered = {
        "finding": [words.name(part.pathology) for part in content.by_pathology],
        "phrase": [table.phrases[k] for k in np.argsort(-table.expected)] if table else [],
        "site": [row.level for row in mix if row.factor == "Site"],
        "period": [words.month(m) for each in (content.run_charts or ())[:1] for m in each.months],
    }
    everything = f'<option value="">{escape(words("html.all"))}</option>'
    return "".join(
        f"<label>{escape(words(f'html.{kind}'))} <select>{everything}"
        f"{''.join(f'<option>{escape(name)}</option>' for name in names)}</select></label> "
        for kind, names in offered.items()
        if names
    )


def _logo(content: CommitteeContent) -> str:
    head = content.masthead
    if head.logo is None:
        return ""
    width, height = check(head.logo)
    data = base64.b64encode(head.logo).decode("ascii")
    size = f'width="{width}" height="{height}"'
    name = escape(head.institution, quote=True)
    return f'<img class="logo" {size} alt="{name}" src="data:image/png;base64,{data}">'


def _rich(text: str) -> str:
    """Escape a text and turn its ``**bold**`` into markup."""
    return re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(text))


_Around = tuple[float, Strings, Tables]
"""What pieces are made with: the PDF's width, its words, and the names of tables so far."""


def _section(section: Section, index: int, around: _Around) -> str:
    level = 2 + section.level
    note = f'<p class="note">{_rich(section.note)}</p>' if section.note else ""
    around[2].heading = section.title
    pieces = "\n".join(_piece(piece, section, around) for piece in section.pieces)
    title = escape(section.title)
    return f'<section id="s{index}"><h{level}>{title}</h{level}>{note}{pieces}</section>'


def _piece(piece: Piece, section: Section, around: _Around) -> str:
    width, words, tables = around
    if isinstance(piece, Subheading):
        level, tables.heading = 3 + section.level, piece.title
        return f"<h{level}>{escape(piece.title)}</h{level}>"
    if isinstance(piece, Table):
        return _table(piece, tables)
    if isinstance(piece, Figure):
        return _figure(piece, width, words)
    return _prose(piece)


def _prose(piece: Prose) -> str:
    quiet = ' class="note"' if piece.kind.colour == palette.muted else ""
    state = ' class="state"' if piece.kind.font == "Oblique" else quiet
    return f"<p{state}>{_rich(piece.text)}</p>"


def _figure(piece: Figure, width: float, words: Strings) -> str:
    frame = Box(0.0, 0.0, piece.screen or width, piece.tall)
    drawing = Drawing(frame.width, frame.height)
    piece.paint(drawing, frame)
    return figures(drawing, words=words, caption=_rich(piece.caption))


def _table(table: Table, tables: Tables) -> str:
    by_code = table.id in _BY_CODE
    head = "".join(
        _header(column, sorts=not by_code or j == 0) for j, column in enumerate(table.columns)
    )
    rows = "".join(map(_row, table.rows))
    if not rows:
        rows = (
            f'<tr><td colspan="{len(table.columns)}" class="state">{escape(table.empty)}</td></tr>'
        )
    inside = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    look = f' data-id="{table.id}" class="{_columns(table.columns)}"'
    return tables.table(inside, look)


def _columns(columns: tuple[Column, ...]) -> str:
    """Name the columns of numbers and those that wrap, once for all their cells."""
    right = [f"r{j}" for j, column in enumerate(columns, start=1) if column.align == "right"]
    return " ".join([*right, *(f"w{j}" for j, c in enumerate(columns, start=1) if c.wraps)])


def _header(column: Column, *, sorts: bool) -> str:
    title = escape(column.title.replace("- ", ""))
    if not sorts:
        return f'<th scope="col">{title}</th>'
    return f'<th scope="col" aria-sort="none"><button type="button">{title}</button></th>'


def _row(row: Row) -> str:
    cells = []
    for cell in row.cells:
        if isinstance(cell, Span):
            drawing = Drawing(*_SPAN)
            draw_span(drawing, drawing.frame.inset(3.0, 0.0), cell, quiet=row.quiet)
            picture = to_svg(drawing, label=cell.hint, values="whole")
            cells.append(f'<td class="span" data-value="{cell.value:.6g}">{picture}</td>')
        else:
            text = escape(cell) if isinstance(cell, str) else ""
            cells.append(f"<td>{text}</td>" if cells else f'<th scope="row">{text}</th>')
    names = [name for name, on in (("strong", row.strong), ("quiet", row.quiet)) if on]
    mark = f' class="{" ".join(names)}"' if names else ""
    return f"<tr{mark}>{''.join(cells)}</tr>"
