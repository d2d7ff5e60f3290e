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

from reports.content import SuppressedCell
from reports.disclosure import guard_committee
from reports.drawing.layout import Figure, Piece, Prose, Section, Subheading, footer
from reports.drawing.marks import Box, Drawing
from reports.drawing.style import CAPTION, NOTE, Style, check, in_language
from reports.drawing.tables import Column, Row, Span, Table, draw_span
from reports.drawing.web import asset, figure, filled, policy, to_svg
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
    content = guard_committee(content)
    words, head = style.strings, content.masthead
    parts = committee.sections(content, words=words)
    width = style.body.width
    body = "\n".join(_section(s, i, width, words) for i, s in enumerate(parts))
    links = "".join(
        f'<li><a href="#s{i}">{escape(s.title)}</a></li>'
        for i, s in enumerate(parts)
        if s.level == 0
    )
    look, script = asset("page.css"), asset("page.js")
    slots = {
        "lang": escape(head.language, quote=True),
        "title": escape(words("committee.title")),
        "policy": policy(style=look, script=script),
        "style": look,
        "script": script,
        "choices": _choices(content, words),
        "filter": escape(words("html.filter")),
        "rows": escape(words("html.rows"), quote=True),
        "skip": escape(words("html.skip")),
        "banner": escape(head.banner),
        "stamp": escape(words("page.demonstration")) if head.demonstration else "",
        "subtitle": escape(
            words("committee.subtitle", recipient=head.recipient, period=head.period)
        ),
        "headline": _rich(headline(content, words=words)),
        "reading": "".join(f"<p>{_rich(text)}</p>" for text in words.series("reading")),
        "hint": escape(words("html.hint")),
        "contents": escape(words("html.contents")),
        "links": links,
        "body": body,
        "logo": _logo(content),
        "institution": escape(head.institution),
        "footer": escape(footer(head, words)),
        "contact": escape(
            words("committee.contact", contact=head.contact, next_issue=head.next_issue)
        ),
    }
    return filled(asset("review.html"), slots)


def _choices(content: CommitteeContent, words: Strings) -> str:
    """Offer the findings, phrases and months to choose rows and values by."""
    if len(content.readers) < content.minimum_readers:
        return ""
    department = content.department
    phrases = () if isinstance(department, SuppressedCell) else department.phrases.phrases
    offered = {
        "finding": [words.name(part.pathology) for part in content.by_pathology],
        "phrase": list(phrases),
        "period": [month for chart in (content.run_charts or ())[:1] for month in chart.months],
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


def _section(section: Section, index: int, width: float, words: Strings) -> str:
    level = 2 + section.level
    note = f'<p class="note">{_rich(section.note)}</p>' if section.note else ""
    pieces = "\n".join(_piece(piece, section, width, words) for piece in section.pieces)
    title = escape(section.title)
    return f'<section id="s{index}"><h{level}>{title}</h{level}>{note}{pieces}</section>'


def _piece(piece: Piece, section: Section, width: float, words: Strings) -> str:
    if isinstance(piece, Subheading):
        level = 3 + section.level
        return f"<h{level}>{escape(piece.title)}</h{level}>"
    if isinstance(piece, Table):
        return _table(piece)
    if isinstance(piece, Figure):
        return _figure(piece, section.title, width, words)
    return _prose(piece)


def _prose(piece: Prose) -> str:
    quiet = ' class="note"' if piece.kind in (CAPTION, NOTE) else ""
    state = ' class="state"' if piece.kind.font == "Oblique" else quiet
    return f"<p{state}>{_rich(piece.text)}</p>"


def _figure(piece: Figure, title: str, width: float, words: Strings) -> str:
    drawing = Drawing(width, piece.tall)
    piece.paint(drawing, Box(0.0, 0.0, width, piece.tall))
    return figure(drawing, label=title, words=words, caption=_rich(piece.caption))


def _table(table: Table) -> str:
    by_code = table.id in _BY_CODE
    head = "".join(
        _header(column, sorts=not by_code or j == 0) for j, column in enumerate(table.columns)
    )
    rows = "".join(_row(row, table.columns) for row in table.rows)
    if not rows:
        rows = (
            f'<tr><td colspan="{len(table.columns)}" class="state">{escape(table.empty)}</td></tr>'
        )
    inside = f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody>"
    return f'<div class="scroll" tabindex="0"><table data-id="{table.id}">{inside}</table></div>'


def _header(column: Column, *, sorts: bool) -> str:
    title = escape(column.title.replace("- ", ""))
    kind = ' class="number"' if column.align == "right" else ""
    if not sorts:
        return f'<th scope="col"{kind}>{title}</th>'
    return f'<th scope="col"{kind} aria-sort="none"><button type="button">{title}</button></th>'


def _row(row: Row, columns: tuple[Column, ...]) -> str:
    cells = []
    for cell, column in zip(row.cells, columns, strict=True):
        name = "number" if column.align == "right" else "wraps" if column.wraps else ""
        kind = f' class="{name}"' if name else ""
        if isinstance(cell, Span):
            drawing = Drawing(*_SPAN)
            draw_span(drawing, drawing.frame.inset(3.0, 0.0), cell, quiet=row.quiet)
            picture = to_svg(drawing, label=cell.hint)
            cells.append(f'<td class="span" data-value="{cell.value:.12g}">{picture}</td>')
        else:
            text = escape(cell) if isinstance(cell, str) else ""
            cells.append(f"<td{kind}>{text}</td>")
    names = [name for name, on in (("strong", row.strong), ("quiet", row.quiet)) if on]
    mark = f' class="{" ".join(names)}"' if names else ""
    return f"<tr{mark}>{''.join(cells)}</tr>"
