"""What a language model said about its own certainty: one page per form of statement.

Reliability diagram of the stated numbers, the methods of restating them as they did on answers they
were not fitted on; the curve of the statements as distributions; for phrases the map between them;
and the values stated most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration.curve import ReliabilityCurve
from calibration.neighbours.stated_confidence import MethodScore
from reports.drawing.marks import Box, Drawing
from reports.drawing.pdf import DocumentInfo, to_pdf
from reports.drawing.style import CAPTION, HEADING, SUBHEADING, TITLE, Style
from reports.drawing.tables import Column, Row, Table
from reports.drawing.typeset import heading, paragraph, put
from reports.figures.counts import Binned, reliability_bars
from reports.figures.reliability import reliability
from reports.figures.swap_flow import Stream, swap_flow
from reports.numbers import BLANK, count, decimal, percent
from reports.strings import Strings

_MOST_VALUES: Final = 14
_DIAGRAM: Final = (230.0, 178.0)
_CURVE_TALL: Final = 218.0


@dataclass(frozen=True, slots=True)
class StatedValue:
    """A stated value: its name, the number it counts as, answers and right ones."""

    name: str
    number: float
    n: float
    right: float


@dataclass(frozen=True, slots=True, eq=False)
class StatedForm:
    """One form of statement.

    Attributes
    ----------
    form
        ``probability``, ``phrase``, ``beta`` or ``own_phrase``.
    n, accuracy, set_aside
        Answers counted, share right, and answers that could not be.
    edges, count, right
        Bins of the diagram, (M + 1,), (M,) and (M,), NaN where empty.
    ece
        Error of the statements as they are, on all answers.
    methods, values
        How restating them did, and what was stated.
    curve
        Reliability curve of the statements as distributions (Wang et al. 2025, Eq. 6); not drawn
        for probabilities, which are points.
    spread_ece, reference_level
        Its error with interval (value, low, high), and the error of right statements.
    swaps
        The transport map between phrases; empty for forms without phrases.
    """

    form: str
    n: float
    accuracy: float
    set_aside: int
    edges: np.ndarray
    count: np.ndarray
    right: np.ndarray
    ece: float
    methods: tuple[MethodScore, ...]
    values: tuple[StatedValue, ...]
    curve: ReliabilityCurve
    spread_ece: tuple[float, float, float]
    reference_level: float
    swaps: tuple[Stream, ...] = ()


def to_document(forms: tuple[StatedForm, ...]) -> bytes:
    """Make the pages a PDF; the same results give the same bytes."""
    title = Style().strings.under("stated")("stated.title")
    return to_pdf(stated_confidence_pages(forms), info=DocumentInfo(title, "radcal", title))


def stated_confidence_pages(
    forms: tuple[StatedForm, ...], *, style: Style | None = None
) -> list[Drawing]:
    """Draw one page per form."""
    style = style or Style()
    say = style.strings.under("stated")
    return [_page(form, style, say) for form in forms]


def _page(form: StatedForm, style: Style, say: Strings) -> Drawing:
    drawing, body = Drawing(*style.size), style.body
    heading(drawing, body.x, body.y + 18.0, say("stated.title"), TITLE, "H1")
    heading(drawing, body.x, body.y + 42.0, say(f"stated.{form.form}"), HEADING, "H2")
    size = say(
        "stated.size", n=count(form.n), right=percent(form.accuracy), aside=count(form.set_aside)
    )
    with drawing.text():
        put(drawing, (body.x, body.y + 56.0), size, CAPTION.muted)
    top = body.cut(top=72.0)
    wide, tall = _DIAGRAM
    binned = Binned(form.edges, form.count, form.right)
    title = say("stated.diagram", value=decimal(form.ece))
    reliability_bars(drawing, Box(top.x, top.y, wide, tall), binned, title=title, name="stated")
    side = top.cut(left=wide + 24.0)
    heading(drawing, side.x, side.y + 8.0, say("stated.methods"), SUBHEADING, "H3")
    _place(drawing, side.cut(top=14.0), _methods(form, say))
    below = top.cut(top=tall + 14.0)
    y = paragraph(drawing, below, say("stated.note"), CAPTION.muted)
    if form.form != "probability":
        y = _spread_row(drawing, Box(body.x, y + 18.0, body.width, _CURVE_TALL), form, say)
    heading(drawing, body.x, y + 18.0, _uses(form, say), SUBHEADING, "H3")
    _place(drawing, Box(body.x, y + 24.0, body.width, 0.0), _values(form, say))
    return drawing


def _spread_row(drawing: Drawing, box: Box, form: StatedForm, say: Strings) -> float:
    """Draw the curve of the distributions and the map beside it; give where they end."""
    wide, _ = _DIAGRAM
    value, low, high = (decimal(number) for number in form.spread_ece)
    words = say("stated.curve", value=value, low=low, high=high)
    heading(drawing, box.x, box.y + 8.0, words, SUBHEADING, "H3")
    reference = say("stated.reference", value=decimal(form.reference_level))
    with drawing.text():
        put(drawing, (box.x, box.y + 20.0), reference, CAPTION.muted)
    drawn = box.cut(top=28.0)
    reliability(drawing, Box(drawn.x, drawn.y, wide, drawn.height), curve=form.curve, words=say)
    if form.swaps:
        side = box.cut(left=wide + 24.0)
        heading(drawing, side.x, side.y + 8.0, say("stated.map"), SUBHEADING, "H3")
        with drawing.text():
            note = say("stated.map_note")
            put(drawing, (side.x, side.y + 20.0), note, CAPTION.muted)
        order = [v.name for v in sorted(form.values, key=lambda v: -v.number)]
        swap_flow(drawing, side.cut(top=28.0), streams=form.swaps, order=order, words=say)
    return box.bottom


def _uses(form: StatedForm, say: Strings) -> str:
    used = sum(v.n > 0 for v in form.values)
    if used <= _MOST_VALUES:
        return say("stated.uses")
    return say("stated.uses_most", shown=count(_MOST_VALUES), all=count(used))


def _place(drawing: Drawing, box: Box, table: Table) -> None:
    table.draw(drawing, Box(box.x, box.y, box.width, table.height(box.width)))


def _methods(form: StatedForm, say: Strings) -> Table:
    columns = (
        Column(say("stated.method"), 0.36),
        Column(say("stated.ece"), 0.32, "right"),
        Column(say("stated.brier"), 0.32, "right"),
    )
    rows = [
        Row((m.method, say("stated.failed"), BLANK), quiet=True)
        if m.failure
        else Row((m.method, _spread(m.ece, m.ece_sd), _spread(m.brier, m.brier_sd)))
        for m in form.methods
    ]
    return Table(columns, tuple(rows), id="methods")


def _spread(value: float, sd: float) -> str:
    return f"{decimal(value)} ± {decimal(sd)}"


def _values(form: StatedForm, say: Strings) -> Table:
    columns = (
        Column(say("stated.value"), 0.4),
        Column(say("stated.number"), 0.2, "right"),
        Column(say("stated.n"), 0.2, "right"),
        Column(say("stated.right"), 0.2, "right"),
    )
    used = sorted((v for v in form.values if v.n > 0), key=lambda v: -v.n)[:_MOST_VALUES]
    rows = [
        Row((v.name, percent(v.number), count(v.n), percent(v.right / v.n)))
        for v in sorted(used, key=lambda v: -v.number)
    ]
    return Table(columns, tuple(rows), id="values")
