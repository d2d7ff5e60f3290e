"""Tables about the run, and the pages that are little more: a stopped issue, a model's check."""

from __future__ import annotations

from collections.abc import Sequence

from reports.content import Gate, GateFailureContent, Instrument
from reports.drawing.layout import Composer, Prose
from reports.drawing.marks import Box
from reports.drawing.pdf import DocumentInfo, to_pdf
from reports.drawing.structure import Drawing
from reports.drawing.style import BODY, CAPTION, LEAD, TITLE, Style, in_language
from reports.drawing.tables import Column, Row, Table
from reports.drawing.typeset import fit, heading, paragraph, put
from reports.numbers import BLANK, count, percent, percent_interval
from reports.strings import Strings

__all__ = [
    "build",
    "count_table",
    "gate_table",
    "instrument_table",
    "manifest_table",
    "pages",
    "to_document",
]


def instrument_table(instrument: Instrument, *, words: Strings) -> Table:
    """Audited shares with their intervals; what is not audited says so."""
    columns = (
        Column(words("instrument.what"), 2.4, wraps=True),
        Column(words("instrument.value"), 1.3, "right"),
        Column(words("instrument.interval"), 1.2, "right"),
        Column(words("instrument.n"), 0.8, "right"),
        Column(words("instrument.note"), 2.6, wraps=True),
    )
    rows = []
    for f in instrument.figures:
        if f.estimate is None:
            cells = (f.name, words("state.not_audited"), BLANK, BLANK, f.note)
            rows.append(Row(cells, quiet=True))
            continue
        e = f.estimate
        size = count(e.n)
        rows.append(
            Row((f.name, percent(e.value), percent_interval(e.low, e.high, e.value), size, f.note))
        )
    return Table(columns, tuple(rows), empty=words("state.not_audited"), id="instrument")


def count_table(instrument: Instrument, *, words: Strings) -> Table:
    """Plain counts of what could not be used."""
    columns = (
        Column(words("instrument.counts"), 4.0, wraps=True),
        Column(words("instrument.count"), 1.0, "right"),
    )
    rows = tuple(Row((name, count(n))) for name, n in instrument.counts)
    return Table(columns, rows, empty=words("state.none"), id="counts")


def gate_table(gates: tuple[Gate, ...], *, words: Strings) -> Table:
    """Every check; those that did not pass are bold and in capitals."""
    columns = (
        Column(words("gates.name"), 2.2, wraps=True),
        Column(words("gates.state"), 1.4, wraps=True),
        Column(words("gates.required"), 1.5, wraps=True),
        Column(words("gates.found"), 1.5, wraps=True),
        Column(words("gates.note"), 2.4, wraps=True),
    )
    states = {True: "passed", False: "failed", None: "unknown"}
    rows = tuple(
        Row(
            (g.name, words(f"gates.{states[g.passed]}"), g.required, g.found, g.note),
            strong=g.passed is not True,
        )
        for g in gates
    )
    return Table(columns, rows, empty=words("state.none"), id="gates")


def manifest_table(manifest: tuple[tuple[str, str], ...], *, words: Strings) -> Table:
    """Key and value."""
    columns = (
        Column(words("manifest.key"), 1.0, wraps=True),
        Column(words("manifest.value"), 2.6, wraps=True),
    )
    return Table(columns, tuple(Row((k, v)) for k, v in manifest), id="manifest")


def build(content: GateFailureContent, *, style: Style) -> bytes:
    """Make the PDF; the same content and style give the same bytes."""
    words = style.strings
    info = DocumentInfo(
        title=words("gate_failure.title"),
        author=content.masthead.institution,
        subject=words("gate_failure.subject"),
        language=content.masthead.language,
    )
    return to_pdf(pages(content, style=style), info=info)


@in_language
def pages(content: GateFailureContent, *, style: Style) -> list[Drawing]:
    """Lay out what failed first, then all checks, then the manifest."""
    words, head = style.strings, content.masthead
    composer = Composer(style, head)
    subtitle = words("gate_failure.subtitle", recipient=head.recipient, period=head.period)
    composer.title(words("gate_failure.title"), subtitle)
    stopped = tuple(gate for gate in content.gates if gate.passed is not True)
    passed = tuple(gate for gate in content.gates if gate.passed is True)
    lead = words("gate_failure.lead", failed=len(stopped), total=len(content.gates))
    composer.add(Prose(lead, LEAD), after=10.0)
    composer.add(Prose(words("gate_failure.next"), BODY))
    composer.heading(words("committee.gates"), room=80.0)
    composer.flow(gate_table(stopped + passed, words=words))
    composer.heading(words("committee.manifest"), room=80.0)
    composer.flow(manifest_table(content.manifest, words=words))
    return composer.finish()


def to_document(model: str, gates: Sequence[Gate], *, style: Style | None = None) -> bytes:
    """Make the page a PDF.

    Parameters
    ----------
    model
        Engine, model and version as one line.
    gates
        What was tried; only one that failed stands against the model, one that could not be tried
        is shown.
    """
    style = style or Style()
    drawing, body, words = Drawing(*style.size), style.body, style.strings
    failed = sum(gate.passed is False for gate in gates)
    verdict = (
        words("model_check.no_go", failed=str(failed), total=str(len(gates)))
        if failed
        else words("model_check.go")
    )
    heading(drawing, body.x, body.y + 18.0, words("model_check.title"), TITLE, "H1")
    line, kind = fit(model, CAPTION, body.width)
    with drawing.text():
        put(drawing, (body.x, body.y + 34.0), line, kind.muted)
    y = paragraph(drawing, Box(body.x, body.y + 48.0, body.width, 40.0), verdict, LEAD)
    table = gate_table(tuple(gates), words=words)
    table.draw(drawing, Box(body.x, y + 14.0, body.width, table.height(body.width)))
    return to_pdf([drawing], info=DocumentInfo(words("model_check.title"), "radcal", model))
