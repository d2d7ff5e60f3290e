"""The run report: one look tells whoever keeps the job running what happened and what to do."""

from __future__ import annotations

from dataclasses import dataclass

from reports.content import FlowStep, Gate, Masthead
from reports.drawing.document import note, statement
from reports.drawing.layout import Composer, Figure, Prose
from reports.drawing.marks import Drawing
from reports.drawing.pdf import DocumentInfo, to_pdf
from reports.drawing.style import BODY, LEAD, Style
from reports.drawing.tables import Column, Row, Table
from reports.figures.run import (
    RunStage,
    exam_flow,
    exam_flow_height,
    stage_times,
    stage_times_height,
)
from reports.numbers import count
from reports.pages.run_tables import gate_table, manifest_table
from reports.strings import Strings

__all__ = ["RunReportContent", "build", "pages"]


@dataclass(frozen=True, slots=True)
class RunReportContent:
    """One run, for whoever keeps it running.

    `outcome` is said in one sentence; `rows` tells what became of every row of the exports (name,
    count), and `warnings` what somebody should look at, none if empty.
    """

    masthead: Masthead
    outcome: str
    started: str
    seconds: float
    rows: tuple[tuple[str, int], ...]
    flow: tuple[FlowStep, ...]
    gates: tuple[Gate, ...]
    stages: tuple[RunStage, ...]
    warnings: tuple[str, ...]
    manifest: tuple[tuple[str, str], ...]


def build(content: RunReportContent, *, style: Style) -> bytes:
    """Make the PDF; the same content and style give the same bytes."""
    words = style.strings
    info = DocumentInfo(
        title=words("run_report.title"),
        author=content.masthead.institution,
        subject=words("run_report.subject"),
        language=content.masthead.language,
    )
    return to_pdf(pages(content, style=style), info=info)


def pages(content: RunReportContent, *, style: Style) -> list[Drawing]:
    """Lay out the outcome, what to look at, the gates, the time, the flow and the versions."""
    words = style.strings
    composer = Composer(style, content.masthead)
    subtitle = words(
        "run_report.subtitle", started=content.started, seconds=f"{content.seconds:,.0f}"
    )
    composer.title(words("run_report.title"), subtitle)
    composer.add(Prose(content.outcome, LEAD), after=10.0)
    composer.heading(words("run_report.warnings"), room=60.0)
    for warning in content.warnings:
        composer.add(Prose(warning, BODY), after=4.0)
    if not content.warnings:
        composer.add(statement(words("run_report.no_warnings")))
    composer.heading(words("committee.gates"), room=80.0)
    composer.flow(gate_table(content.gates, words=words))
    composer.heading(words("run_report.stages"), room=120.0)
    composer.add(_times(content, words))
    composer.add(note(words("run_report.stages_note")))
    composer.heading(words("run_report.rows"), room=80.0)
    composer.flow(_rows(content, words))
    if content.flow:
        steps = content.flow
        figure = Figure(lambda d, box: exam_flow(d, box, steps=steps), exam_flow_height(steps))
        composer.heading(words("run_report.flow"), room=exam_flow_height(steps))
        composer.add(figure)
    composer.heading(words("committee.manifest"), room=80.0)
    composer.flow(manifest_table(content.manifest, words=words))
    return composer.finish()


def _times(content: RunReportContent, words: Strings) -> Figure:
    stages = content.stages
    heads = (
        words("run_report.seconds"),
        words("run_report.made"),
        words("run_report.memory"),
        words("run_report.counted"),
    )
    return Figure(
        lambda d, box: stage_times(d, box, stages=stages, heads=heads), stage_times_height(stages)
    )


def _rows(content: RunReportContent, words: Strings) -> Table:
    columns = (
        Column(words("run_report.what"), 4.0, wraps=True),
        Column(words("instrument.count"), 1.0, "right"),
    )
    rows = tuple(Row((name, count(n))) for name, n in content.rows)
    return Table(columns, rows, empty=words("state.none"), id="rows")
