"""How well an engine read labelled reports: pages of figures, confusions and breakdowns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from calibration.profile import Interval
from reports.drawing.layout import Composer, Figure, Piece, Section, compose, note
from reports.drawing.marks import Drawing
from reports.drawing.style import Style
from reports.drawing.tables import Column, Row, Span, Table, heads
from reports.figures.counts import confusion_grid, confusion_height
from reports.numbers import BLANK, count, decimal, interval
from reports.strings import Strings

_MOST_MISTAKES: Final = 12
_STEP: Final = 0.1


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
        Headline shares by name; NaN where nothing could be counted.
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
    figures: Mapping[str, Interval]
    pathologies: tuple[AuditScore, ...]
    phrases: tuple[AuditScore, ...]
    sections: tuple[AuditScore, ...]
    states: tuple[str, ...]
    confusion: np.ndarray
    mistakes: tuple[tuple[str, str, int], ...]


def audit_pages(content: AuditPages, *, style: Style) -> list[Drawing]:
    """Draw the figures with the confusion matrix, then the breakdowns."""
    say, composer = style.strings, Composer(style, None)
    subtitle = say(
        "audit.subtitle",
        engine=content.engine,
        reports=count(content.reports),
        failed=count(content.failed),
        unmapped=count(content.unmapped),
    )
    composer.title(say("audit.title"), subtitle)
    title, states, counts = say("audit.matrix"), content.states, content.confusion
    matrix = partial(confusion_grid, title=title, states=states, counts=counts)
    grid = Figure(matrix, confusion_height(counts), say("audit.matrix_note"))
    parts: tuple[tuple[str, tuple[Piece, ...]], ...] = (
        ("figures", (_figures(content, say), note(say("audit.note")))),
        ("sections", (_scores(content.sections, "section", "sections", say),)),
        ("matrix", (grid,)),
        ("pathologies", (_scores(content.pathologies, "pathology", "pathologies", say),)),
        ("phrases", (_scores(content.phrases, "phrase", "phrases", say),)),
        ("mistakes", (_mistakes(content, say),)),
    )
    compose(composer, tuple(Section(say(f"audit.{key}"), pieces) for key, pieces in parts))
    return composer.finish()


def _figures(content: AuditPages, say: Strings) -> Table:
    shown = content.figures.values()
    lowest = min((v for f in shown for v in (f.low, f.value) if v == v), default=0.0)
    start = max(0.0, min(np.floor(lowest / _STEP) * _STEP, 1.0 - _STEP))
    columns = (
        *heads(
            say, "audit", ("figure", 0.42), ("value", 0.1, "right"), ("interval", 0.18, "right")
        ),
        Column(say("audit.graph", low=decimal(start, 1)), 0.3),
    )
    rows = []
    for name, f in content.figures.items():
        drawn = Span(f.value, f.low, f.high, (start, 1.0)) if f.value == f.value else BLANK
        rows.append(Row((name, decimal(f.value), interval(f.low, f.high), drawn)))
    return Table(columns, tuple(rows), id="figures")


def _scores(scores: tuple[AuditScore, ...], by: str, table: str, say: Strings) -> Table:
    numbers = ("gold", "read", "precision", "recall", "f1")
    columns = heads(say, "audit", (by, 0.35), *((key, 0.13, "right") for key in numbers))
    rows = []
    for s in scores:
        shares = map(decimal, (s.precision, s.recall, s.f1))
        rows.append(Row((s.name, count(s.gold), count(s.read), *shares)))
    return Table(columns, tuple(rows), id=table)


def _mistakes(content: AuditPages, say: Strings) -> Table:
    columns = heads(say, "audit", ("people", 0.42), ("engine", 0.42), ("cells", 0.16, "right"))
    ordered = sorted(content.mistakes, key=lambda mistake: (-mistake[2], mistake[:2]))
    rows = tuple(Row((a, b, count(n))) for a, b, n in ordered[:_MOST_MISTAKES])
    return Table(columns, rows, empty=say("audit.none"), id="mistakes")
