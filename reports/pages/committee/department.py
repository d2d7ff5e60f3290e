"""The department as a whole: which exams, what its phrases meant, curve, scores, pathologies."""

from __future__ import annotations

from calibration.result import GroupResult
from reports.content import CommitteeContent, SuppressedCell
from reports.drawing.document import Piece, Section, note, statement
from reports.drawing.layout import Figure, Prose
from reports.drawing.marks import Box, Drawing
from reports.drawing.style import CAPTION, NOTE, palette
from reports.drawing.typeset import paragraph
from reports.figures.phrase_chart import phrase_chart, phrase_chart_height, phrase_key
from reports.figures.phrase_rows import PhraseRow, RowState, phrase_rows
from reports.figures.reliability import reliability
from reports.figures.run import exam_flow, exam_flow_height
from reports.figures.small_multiples import panel_pieces
from reports.numbers import count, percent
from reports.pages.committee.tables import pathology_table, score_table
from reports.pages.radiologist.chart import unscored_words
from reports.strings import Strings

__all__ = ["department", "exams", "pathologies"]

_ROW = 15.0
_KEY = 16.0


def exams(content: CommitteeContent, words: Strings) -> Section:
    """Draw the pairing flow, and the share of X-rays that had a CT."""
    title, heading_note = words("committee.flow"), words("committee.flow_note")
    if not content.flow:
        return Section(title, (statement(words("state.not_computed")),), heading_note)
    caption = ""
    if content.coverage is not None and content.coverage.xrays:
        cover = content.coverage
        caption = words(
            "committee.flow_shares",
            hours=f"{cover.window_hours:g}",
            paired=count(cover.paired),
            xrays=count(cover.xrays),
            share=percent(cover.paired / cover.xrays),
        )
    steps = content.flow
    figure = Figure(lambda d, box: exam_flow(d, box, steps=steps), exam_flow_height(steps), caption)
    room = exam_flow_height(steps) + 60.0
    if not content.unscored:
        return Section(title, (figure,), heading_note, room=room)
    phrases = unscored_words(content.unscored, words)
    left_out = note(words("committee.unscored", phrases=phrases))
    return Section(title, (figure, left_out), heading_note, room=room)


def department(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Phrase chart, curve and scores, or why they are withheld."""
    title, heading_note = words("committee.phrases"), words("committee.phrases_note")
    result = content.department
    if isinstance(result, SuppressedCell):
        return (Section(title, (statement(withheld(result, words)),), heading_note),)
    curve = Figure(lambda d, box: _curve(d, box, result, words), 262.0)
    return (
        Section(title, _phrases(result, content.minimum_n, words), heading_note, room=320.0),
        Section(words("committee.curve"), (curve,), level=1, room=290.0),
        Section(
            words("committee.scores"),
            (score_table(result, words=words), note(words("committee.scores_note"))),
            level=1,
            room=150.0,
        ),
    )


def withheld(cell: SuppressedCell, words: Strings) -> str:
    """Say why a figure is withheld."""
    keys = {
        "exams": "committee.headline_too_few",
        "readers": "committee.headline_few_readers",
        "complementary": "state.complementary",
    }
    return words(keys[cell.of], minimum=cell.minimum)


def _phrases(result: GroupResult, minimum_n: int, words: Strings) -> tuple[Piece, ...]:
    rows = phrase_rows(result.phrases, minimum_n=minimum_n)
    used = tuple(row for row in rows if row.state is not RowState.NOT_USED)
    unused = ", ".join(row.phrase for row in rows if row.state is RowState.NOT_USED)

    def paint(drawing: Drawing, box: Box) -> None:
        _chart(drawing, box, used, minimum_n, words)

    chart = Figure(paint, phrase_chart_height(len(used), row=_ROW) + _KEY)
    if not unused:
        return (chart,)
    return (chart, Prose(words("radiologist.unused", phrases=unused), NOTE, palette.muted))


def _chart(
    drawing: Drawing, box: Box, rows: tuple[PhraseRow, ...], minimum_n: int, words: Strings
) -> None:
    phrase_chart(drawing, box.cut(bottom=_KEY), rows=rows, minimum_n=minimum_n, words=words)
    key = box.cut(top=box.height - _KEY)
    phrase_key(drawing, key, words=words, department=False, own="department_own")


def _curve(drawing: Drawing, box: Box, result: GroupResult, words: Strings) -> None:
    """Draw the curve on the left, with what to see in it on the right."""
    square = Box(box.x, box.y, 0.6 * box.width, box.height)
    reliability(drawing, square, curve=result.curve, words=words)
    beside = Box(square.right + 24.0, box.y + 12.0, box.right - square.right - 24.0, box.height)
    paragraph(drawing, beside, words("committee.curve_note"), CAPTION, colour=palette.muted)


def pathologies(content: CommitteeContent, words: Strings) -> Section:
    """Small multiples and their numbers."""
    heading_note = words("committee.pathologies_note", minimum=content.minimum_n)
    pieces = (
        *panel_pieces(content.by_pathology, minimum_n=content.minimum_n, words=words),
        pathology_table(content, words=words),
    )
    return Section(words("committee.pathologies"), pieces, heading_note, room=220.0)
