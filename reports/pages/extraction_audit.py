"""How well an engine read labelled reports: two pages of figures, confusions and breakdowns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from reports.drawing.marks import Box, Drawing
from reports.drawing.style import CAPTION, GUTTER, SUBHEADING, TITLE, Style
from reports.drawing.tables import Column, Row, Span, Table
from reports.drawing.typeset import fit, heading, paragraph, put
from reports.figures.counts import confusion_grid
from reports.numbers import BLANK, count, decimal, interval
from reports.strings import Strings

_MOST_MISTAKES: Final = 12
_STEP: Final = 0.1


@dataclass(frozen=True, slots=True)
class AuditFigure:
    """A share with its interval; NaN where nothing could be counted."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class AuditScore:
    """Findings of people and of the engine under one name, and how they agree (NaN: none)."""

    name: str
    gold: int
    read: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True, eq=False)
class AuditPages:
    """What the pages show.

    Attributes
    ----------
    engine
        Name and version.
    reports, failed, unmapped
        Labelled reports, those that failed, and cells with unlisted words.
    figures
        Headline shares.
    pathologies, phrases, sections
        Scores by each.
    states, confusion
        Names of the states, and cells (S, S): rows people, columns engine. The first state is
        "not mentioned".
    mistakes
        (people's name, engine's name, cells), any order.
    """

    engine: str
    reports: int
    failed: int
    unmapped: int
    figures: tuple[AuditFigure, ...]
    pathologies: tuple[AuditScore, ...]
    phrases: tuple[AuditScore, ...]
    sections: tuple[AuditScore, ...]
    states: tuple[str, ...]
    confusion: np.ndarray
    mistakes: tuple[tuple[str, str, int], ...]


def audit_pages(content: AuditPages, *, style: Style | None = None) -> list[Drawing]:
    """Draw the figures with the confusion matrix, then the breakdowns."""
    style = style or Style()
    say = style.strings
    return [_first(content, style, say), *_breakdowns(content, style, say)]


def _first(content: AuditPages, style: Style, say: Strings) -> Drawing:
    drawing, body = Drawing(*style.size), style.body
    subtitle = say(
        "audit.subtitle",
        engine=content.engine,
        reports=count(content.reports),
        failed=count(content.failed),
        unmapped=count(content.unmapped),
    )
    heading(drawing, body.x, body.y + 18.0, say("audit.title"), TITLE, "H1")
    line, kind = fit(subtitle, CAPTION, body.width)
    with drawing.text():
        put(drawing, (body.x, body.y + 34.0), line, kind.muted)
    y = _titled(drawing, body, body.y + 48.0, say("audit.figures"), _figures(content, say))
    y = paragraph(drawing, Box(body.x, y, body.width, 40.0), say("audit.note"), CAPTION.muted)
    y = _titled(
        drawing, body, y + 10.0, say("audit.sections"),
        _scores(content.sections, say("audit.section"), "sections", say),
    )  # fmt: skip
    heading(drawing, body.x, y + 18.0, say("audit.matrix"), SUBHEADING, "H2")
    grid = Box(body.x, y + 26.0, body.width, body.bottom - y - 66.0)
    y = confusion_grid(
        drawing, grid, title=say("audit.matrix"), states=content.states, counts=content.confusion
    )
    below = Box(body.x, y + 6.0, body.width, 40.0)
    paragraph(drawing, below, say("audit.matrix_note"), CAPTION.muted)
    return drawing


def _breakdowns(content: AuditPages, style: Style, say: Strings) -> list[Drawing]:
    """Draw pathologies, on as many pages as a long vocabulary needs, and certainties below."""
    body, pages = style.body, [Drawing(*style.size)]
    rest: Table | None = _scores(content.pathologies, say("audit.pathology"), "pathologies", say)
    phrases = _scores(content.phrases, say("audit.phrase"), "phrases", say)
    y = body.y
    while rest is not None:
        head, rest = rest.split(body.width, body.height - 14.0)
        if head is not None:
            y = _titled(pages[-1], body, body.y, say("audit.pathologies"), head)
        if rest is not None:
            pages.append(Drawing(*style.size))
    if y + phrases.height(body.width / 2.0) + 40.0 > body.bottom:
        pages.append(Drawing(*style.size))
        y = body.y
    _certainties(pages[-1], body, y, content, say)
    return pages


def _certainties(drawing: Drawing, body: Box, y: float, content: AuditPages, say: Strings) -> None:
    """Draw the scores by certainty, and the most frequent mistakes beside them."""
    half = (body.width - GUTTER) / 2.0
    left = Box(body.x, y, half, 0.0)
    right = Box(body.x + half + GUTTER, y, half, 0.0)
    phrases = _scores(content.phrases, say("audit.phrase"), "phrases", say)
    _titled(drawing, left, y + 12.0, say("audit.phrases"), phrases)
    _titled(drawing, right, y + 12.0, say("audit.mistakes"), _mistakes(content, say))


def _titled(drawing: Drawing, box: Box, y: float, title: str, table: Table) -> float:
    """Set a heading and its table below; returns the y behind them."""
    heading(drawing, box.x, y + 8.0, title, SUBHEADING, "H2")
    tall = table.height(box.width)
    table.draw(drawing, Box(box.x, y + 14.0, box.width, tall))
    return y + 14.0 + tall


def _figures(content: AuditPages, say: Strings) -> Table:
    lowest = min((v for f in content.figures for v in (f.low, f.value) if v == v), default=0.0)
    start = max(0.0, min(np.floor(lowest / _STEP) * _STEP, 1.0 - _STEP))
    columns = (
        Column(say("audit.figure"), 0.42),
        Column(say("audit.value"), 0.1, "right"),
        Column(say("audit.interval"), 0.18, "right"),
        Column(say("audit.graph", low=decimal(start, 1)), 0.3),
    )
    rows = tuple(
        Row((
            f.name, decimal(f.value), interval(f.low, f.high),
            Span(f.value, f.low, f.high, (start, 1.0)) if f.value == f.value else BLANK,
        ))
        for f in content.figures
    )  # fmt: skip
    return Table(columns, rows, id="figures")


def _scores(scores: tuple[AuditScore, ...], name: str, table: str, say: Strings) -> Table:
    columns = (
        Column(name, 0.35),
        *(
            Column(say(f"audit.{key}"), 0.13, "right")
            for key in ("gold", "read", "precision", "recall", "f1")
        ),
    )
    rows = tuple(
        Row((
            s.name, count(s.gold), count(s.read), decimal(s.precision), decimal(s.recall),
            decimal(s.f1),
        ))
        for s in scores
    )  # fmt: skip
    return Table(columns, rows, id=table)


def _mistakes(content: AuditPages, say: Strings) -> Table:
    columns = (
        Column(say("audit.people"), 0.42),
        Column(say("audit.engine"), 0.42),
        Column(say("audit.cells"), 0.16, "right"),
    )
    ordered = sorted(content.mistakes, key=lambda mistake: (-mistake[2], mistake[:2]))
    rows = tuple(Row((a, b, count(n))) for a, b, n in ordered[:_MOST_MISTAKES])
    return Table(columns, rows, empty=say("audit.none"), id="mistakes")
