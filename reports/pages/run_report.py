"""The run report and a model's check: pages for whoever keeps the job running."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from reports.content import FlowStep, Gate, Instrument, Masthead
from reports.drawing.layout import Composer, Figure, Prose, composed, note, statement
from reports.drawing.marks import Drawing
from reports.drawing.pdf import DocumentInfo, published, to_pdf
from reports.drawing.style import BODY, LEAD, Style, in_language
from reports.drawing.tables import Column, Row, Span, Table, heads
from reports.figures.counts import exam_flow, exam_flow_height
from reports.numbers import BLANK, count, decimal, percent, percent_interval
from reports.strings import Strings, translated


def instrument_table(instrument: Instrument, *, words: Strings) -> Table:
    """Audited shares with their intervals; what is not audited says so."""
    columns = heads(
        words, "instrument",
        ("what", 2.4, "wraps"), ("value", 1.3, "right"), ("interval", 1.2, "right"),
        ("n", 0.8, "right"), ("note", 2.6, "wraps"),
    )  # fmt: skip
    rows = []
    for f in instrument.figures:
        cells, e = (words("state.not_audited"), BLANK, BLANK), f.estimate
        if e is not None:
            cells = percent(e.value), percent_interval(e.low, e.high, e.value), count(e.n)
        rows.append(Row((f.name, *cells, f.note), quiet=e is None))
    return Table(columns, tuple(rows), empty=words("state.not_audited"), id="instrument")


def count_table(instrument: Instrument, *, words: Strings) -> Table:
    """Plain counts of what could not be used."""
    columns = heads(words, "instrument", ("counts", 4.0, "wraps"), ("count", 1.0, "right"))
    rows = tuple(Row((name, count(n))) for name, n in instrument.counts)
    return Table(columns, rows, empty=words("state.none"), id="counts")


def gate_table(gates: tuple[Gate, ...], *, words: Strings) -> Table:
    """Every check with what it counted; those not passed are bold and in capitals."""
    columns = heads(
        words, "gates",
        ("name", 2.2, "wraps"), ("state", 1.4, "wraps"),
        ("required", 1.5, "wraps"), ("found", 1.5, "wraps"), ("note", 2.4, "wraps"),
    )  # fmt: skip
    states = {True: "passed", False: "failed", None: "unknown"}
    rows = (
        Row((g.name, words(f"gates.{states[g.passed]}"), g.required, g.found, g.note),
            strong=g.passed is not True)
        for g in gates
    )  # fmt: skip
    return Table(columns, tuple(rows), empty=words("state.none"), id="gates")


def manifest_table(manifest: tuple[tuple[str, str], ...], *, words: Strings) -> Table:
    """Key and value."""
    columns = heads(words, "manifest", ("key", 1.0, "wraps"), ("value", 2.6, "wraps"))
    return Table(columns, tuple(Row((k, v)) for k, v in manifest), id="manifest")


def to_document(model: str, gates: Sequence[Gate]) -> bytes:
    """Make the page a PDF.

    Parameters
    ----------
    model
        Engine, model and version as one line.
    gates
        What was tried; only one that failed stands against the model, one that could not be tried
        is shown.
    """
    composer = Composer(Style(), None)
    words, failed = composer.style.strings, sum(gate.passed is False for gate in gates)
    verdict = (
        words("model_check.no_go", failed=str(failed), total=str(len(gates)))
        if failed
        else words("model_check.go")
    )
    composer.title(words("model_check.title"), model)
    composer.add(Prose(verdict, LEAD))
    composer.flow(gate_table(tuple(gates), words=words))
    return to_pdf(composer.finish(), info=DocumentInfo(words("model_check.title"), "radcal", model))


_REMEDY: Final = "run_report.remedy"
_CUES: Final = 5
"""So many unmapped cues are named."""


Counts = tuple[tuple[str, int], ...]
"""Names and how many of each, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class RunStage:
    """One stage: wall seconds, largest process in MiB, and how many of its shards were new."""

    name: str
    seconds: float
    peak_mib: float
    items: int
    made: int
    counted: str


@dataclass(frozen=True, slots=True)
class RunCounts:
    """What became of every row of the exports, and of what was made of them.

    ``set_aside`` is by reason, ``noted`` by how a row was written that was kept all the same,
    ``left_out`` by why a forecast is no observation, ``unmapped`` by cue, most frequent first.
    """

    exports: int
    rows_read: int
    set_aside: Counts
    noted: Counts
    cleaned: int
    withheld: int
    on_request: int
    reports_read: int
    reports_failed: int
    left_out: Counts
    unmapped: Counts
    pairs: int
    observations: int
    pages_delivered: int
    pages_unchanged: int
    damaged: int


@dataclass(frozen=True, slots=True)
class RunReportContent:
    """One run, for whoever keeps it running; `outcome` is how it ended.

    ``short`` is (what, month, per cent of the usual) of what the newest whole month lacks.
    """

    masthead: Masthead
    outcome: Literal["delivered", "gathered", "refused"]
    started: str
    seconds: float
    counts: RunCounts
    flow: tuple[FlowStep, ...]
    gates: tuple[Gate, ...]
    stages: tuple[RunStage, ...]
    manifest: tuple[tuple[str, str], ...]
    short: tuple[tuple[str, str, int], ...] = ()


def build(content: RunReportContent, *, style: Style) -> bytes:
    """Make the PDF; the same content and style give the same bytes."""
    return published("run_report", pages(content, style=style), content.masthead, style.strings)


@in_language
def pages(content: RunReportContent, *, style: Style) -> list[Drawing]:
    """Lay out the outcome, what to look at, the gates, the time, the flow and the versions."""
    return composed(partial(_lay_out, content=content), style=style, masthead=content.masthead)


def _lay_out(composer: Composer, content: RunReportContent) -> None:
    words = composer.style.strings
    named = translated(content, words, keep=(Masthead, RunStage))
    subtitle = words("run_report.subtitle", started=content.started, seconds=count(content.seconds))
    composer.title(words("run_report.title"), subtitle)
    composer.add(Prose(_outcome(content, words), LEAD), after=10.0)
    composer.heading(words("run_report.warnings"), room=60.0)
    warnings = _warnings(content, words)
    for warning in warnings:
        composer.add(Prose(warning, BODY), after=4.0)
    if not warnings:
        composer.add(statement(words("run_report.no_warnings")))
    composer.heading(words("committee.gates"), room=80.0)
    stopped_first = sorted(content.gates, key=lambda gate: gate.passed is True)
    composer.flow(gate_table(tuple(stopped_first), words=words))
    composer.heading(words("run_report.stages"), room=120.0)
    composer.flow(_times(content.stages, words), after=4.0)
    composer.add(note(words("run_report.stages_note")))
    composer.heading(words("run_report.rows"), room=80.0)
    composer.flow(_rows(named, words))
    if steps := named.flow:
        tall = exam_flow_height(steps)
        composer.heading(words("run_report.flow"), room=tall)
        composer.add(Figure(partial(exam_flow, steps=steps, words=words), tall))
    composer.heading(words("committee.manifest"), room=80.0)
    composer.flow(manifest_table(content.manifest, words=words))


def _times(stages: Sequence[RunStage], words: Strings) -> Table:
    """List the stages in the order they ran, their times also drawn on one scale from 0."""
    columns = heads(
        words, "run_report",
        ("stages", 1.4), ("seconds", 0.8, "right"), ("graph", 2.0), ("made", 1.0, "right"),
        ("memory", 1.0, "right"), ("counted", 3.0, "wraps"),
    )  # fmt: skip
    scale = 0.0, max((stage.seconds for stage in stages), default=0.0) or 1.0
    rows = []
    for stage in stages:
        time, made = f"{decimal(stage.seconds, 1)} s", f"{count(stage.made)} / {count(stage.items)}"
        bar = Span(stage.seconds, 0.0, stage.seconds, scale, hint=time)
        name, memory = words.name(stage.name, of="stage: "), f"{stage.peak_mib:.0f} MiB"
        rows.append(Row((name, time, bar, made, memory, stage.counted), quiet=not stage.made))
    return Table(columns, tuple(rows), empty=words("state.none"), id="stages")


def _outcome(content: RunReportContent, words: Strings) -> str:
    c = content.counts
    return words(
        f"run_report.{content.outcome}",
        delivered=count(c.pages_delivered),
        unchanged=count(c.pages_unchanged),
        observations=count(c.observations),
        pairs=count(c.pairs),
    )


def _warnings(content: RunReportContent, words: Strings) -> list[str]:
    """Say what somebody should look at, most pressing first."""
    c = content.counts
    failed = "; ".join(gate.name for gate in content.gates if gate.passed is not True)
    cues = ", ".join(f"{cue!r} {count(n)}" for cue, n in c.unmapped[:_CUES])
    set_aside = sum(n for _, n in c.set_aside)
    short = "; ".join(
        words("run_report.short", what=words.name(what), month=words.month(month), share=count(n))
        for what, month, n in content.short
    )
    unpaired = [(e.reason, e.count) for step in content.flow for e in step.excluded]
    unpaired = [(why, n) for why, n in unpaired if remedy(why) and why not in dict(c.left_out)]
    lost, alone = (
        "; ".join(f"{words.name(why)} {count(n)}{remedy(why, words)}" for why, n in each)
        for each in (c.left_out, unpaired)
    )
    idle = not any(stage.made for stage in content.stages if stage.name == "ingest")
    told: list[tuple[bool, str, str]] = [
        (bool(failed), "gates_failed", failed),
        (c.damaged > 0, "damaged", count(c.damaged)),
        (bool(short), "short", short),
        (set_aside > 0, "rows_set_aside", count(set_aside)),
        (c.withheld > 0, "reports_withheld", count(c.withheld)),
        (c.reports_failed > 0, "reports_failed", count(c.reports_failed)),
        (bool(alone), "unpaired", alone),
        (bool(lost), "left_out", lost),
        (bool(cues), "unmapped", cues),
        (idle, "nothing_new", ""),
    ]
    return [words(f"run_report.warn.{name}", what=what) for holds, name, what in told if holds]


def remedy(why: str, words: Strings | None = None) -> str:
    """Say in brackets what would keep a forecast that is left out, if anything would.

    >>> remedy("the X-ray finding was not evaluable")
    ''
    """
    said = (words or Strings.load()).sentences.get(f"{_REMEDY}.{why}")
    return f" ({said})" if said else ""


def _rows(content: RunReportContent, words: Strings) -> Table:
    columns = (
        Column(words("run_report.what"), 4.0, wraps=True),
        Column(words("instrument.count"), 1.0, "right"),
    )
    rows = tuple(Row((name, count(n))) for name, n in _counted(content.counts, words))
    return Table(columns, rows, empty=words("state.none"), id="rows")


def _counted(c: RunCounts, words: Strings) -> Iterator[tuple[str, int]]:
    yield words("run_report.row.exports"), c.exports
    yield words("run_report.row.read"), c.rows_read
    for reason, n in c.set_aside:
        yield words("run_report.row.set_aside", what=reason.replace("_", " ")), n
    for how, n in c.noted:
        yield words("run_report.row.noted", what=how), n
    yield words("run_report.row.cleaned"), c.cleaned
    yield words("run_report.row.withheld"), c.withheld
    if c.on_request:
        yield words("run_report.row.on_request"), c.on_request
    yield words("run_report.row.reports_read"), c.reports_read
    yield words("run_report.row.reports_failed"), c.reports_failed
    for reason, n in c.left_out:
        yield words("run_report.row.left_out", what=reason), n
