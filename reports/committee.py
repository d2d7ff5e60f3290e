"""The quality committee's review: exams, department, readers, sensitivity, maps, instrument, gates.

Readers appear by code, in code order; figures by reader and for the department appear only from
``minimum_readers`` readers on.
"""

from __future__ import annotations

from calibration.result import GroupResult
from reports.committee_readers import missing_measures, reader_table
from reports.committee_sections import (
    gates_and_manifest,
    governance,
    instrument,
    maps,
    scale_use,
    sensitivity,
)
from reports.committee_tables import pathology_table, score_table
from reports.committee_words import headline
from reports.content import CommitteeContent, SuppressedCell
from reports.figures.exam_flow import exam_flow, exam_flow_height
from reports.figures.funnel import funnel_plot
from reports.figures.phrase_chart import phrase_chart, phrase_chart_height, phrase_key
from reports.figures.phrase_rows import RowState, phrase_rows
from reports.figures.reliability import reliability
from reports.layout import Composer, Figure, Prose
from reports.marks import Bookmark, Box, Drawing
from reports.numbers import count, decimal, percent
from reports.panels import add_panels
from reports.paper import DocumentInfo, to_pdf
from reports.strings import Strings
from reports.style import BODY, CAPTION, LEAD, NOTE, TITLE, Style, palette
from reports.typeset import fit, paragraph, put

__all__ = ["build", "pages"]


def build(content: CommitteeContent, *, style: Style) -> bytes:
    """Make the PDF; the same content and style give the same bytes."""
    words = style.strings
    info = DocumentInfo(
        title=words("committee.title"),
        author=content.masthead.institution,
        subject=words("committee.subject"),
        language=content.masthead.language,
    )
    return to_pdf(pages(content, style=style), info=info)


def pages(content: CommitteeContent, *, style: Style) -> list[Drawing]:
    """Lay out all pages as drawings (what the geometry tests look at)."""
    composer = Composer(style, content.masthead)
    composer.new_page()
    _opening(composer, content)
    _department(composer, content)
    _pathologies(composer, content)
    _readers(composer, content)
    sensitivity(composer, content)
    scale_use(composer, content)
    maps(composer, content)
    instrument(composer, content)
    gates_and_manifest(composer, content)
    governance(composer, content)
    return composer.finish()


def _opening(composer: Composer, content: CommitteeContent) -> None:
    """Title, the sentence, how to read it, and the exams it rests on."""
    words, head = composer.style.strings, content.masthead
    box = composer.claim(46.0)
    composer.page.bookmarks.append(Bookmark(words("committee.title"), 0, box.y))
    text, kind = fit(words("committee.title"), TITLE, box.width)
    put(composer.page, box.x, box.y + 20.0, text, kind, id="title")
    subtitle = words("committee.subtitle", recipient=head.recipient, period=head.period)
    text, kind = fit(subtitle, BODY, box.width)
    put(composer.page, box.x, box.y + 36.0, text, kind, colour=palette.muted)
    composer.skip(6.0)
    composer.add(Prose(headline(content, words=words), LEAD), after=12.0)
    for text in words.series("reading"):
        composer.add(Prose(text, BODY), after=4.0)
    contact = words("committee.contact", contact=head.contact, next_issue=head.next_issue)
    composer.add(Prose(contact, CAPTION, palette.muted), after=8.0)
    _exams(composer, content)


def _exams(composer: Composer, content: CommitteeContent) -> None:
    words = composer.style.strings
    composer.heading(words("committee.flow"), note=words("committee.flow_note"))
    if not content.flow:
        composer.add(Prose(words("state.not_computed"), BODY.oblique, palette.muted))
        return
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
    tall = exam_flow_height(content.flow)
    composer.add(Figure(lambda d, box: exam_flow(d, box, steps=content.flow), tall, caption))


def _department(composer: Composer, content: CommitteeContent) -> None:
    """Phrase chart, curve and scores of the department as a whole."""
    words = composer.style.strings
    composer.heading(words("committee.phrases"), room=320.0, note=words("committee.phrases_note"))
    department = content.department
    if isinstance(department, SuppressedCell):
        composer.add(Prose(_withheld(department, composer), BODY.oblique, palette.muted))
        return
    rows = phrase_rows(department.phrases, minimum_n=content.minimum_n)
    used = tuple(row for row in rows if row.state is not RowState.NOT_USED)
    tall = phrase_chart_height(len(used), row=15.0)
    chart = composer.claim(tall)
    phrase_chart(composer.page, chart, rows=used, minimum_n=content.minimum_n, words=words)
    key = composer.claim(16.0)
    phrase_key(
        composer.page, key, words=words, shrunk=False, department=False, own="department_own"
    )
    unused = ", ".join(row.phrase for row in rows if row.state is RowState.NOT_USED)
    if unused:
        composer.add(Prose(words("radiologist.unused", phrases=unused), NOTE, palette.muted))
    composer.heading(words("committee.curve"), level=1, room=300.0)

    composer.add(Figure(lambda d, box: _curve(d, box, department, words), 262.0))
    composer.heading(words("committee.scores"), level=1, room=150.0)
    composer.flow(score_table(department, words=words), after=4.0)
    composer.add(Prose(words("committee.scores_note"), CAPTION, palette.muted))


def _curve(drawing: Drawing, box: Box, department: GroupResult, words: Strings) -> None:
    """Draw the curve on the left, with what to see in it on the right."""
    square = Box(box.x, box.y, 0.6 * box.width, box.height)
    reliability(drawing, square, curve=department.curve, words=words)
    beside = Box(square.right + 24.0, box.y + 12.0, box.right - square.right - 24.0, box.height)
    paragraph(drawing, beside, words("committee.curve_note"), CAPTION, colour=palette.muted)


def _withheld(cell: SuppressedCell, composer: Composer) -> str:
    key = {
        "exams": "committee.headline_too_few",
        "readers": "committee.headline_few_readers",
        "complementary": "state.complementary",
    }[cell.of]
    return composer.style.strings(key, minimum=cell.minimum)


def _pathologies(composer: Composer, content: CommitteeContent) -> None:
    if not content.by_pathology:
        return
    words = composer.style.strings
    note = words("committee.pathologies_note", minimum=content.minimum_n)
    composer.heading(words("committee.pathologies"), room=220.0, note=note)
    add_panels(composer, content.by_pathology, minimum_n=content.minimum_n)
    composer.flow(pathology_table(content, words=words))


def _readers(composer: Composer, content: CommitteeContent) -> None:
    """Funnel and table; nothing by reader from fewer than the minimum of readers."""
    words = composer.style.strings
    composer.heading(words("committee.readers"), room=320.0)
    if len(content.readers) < content.minimum_readers:
        few = words("committee.few_readers", minimum=content.minimum_readers)
        composer.add(Prose(few, BODY.oblique, palette.muted))
        return
    if content.funnel is None:
        composer.add(Prose(words("state.not_computed_funnel"), BODY.oblique, palette.muted))
    else:
        funnel = content.funnel
        note = words(
            "committee.funnel_note",
            overdispersion=decimal(funnel.overdispersion, 2),
            hypotheses=count(funnel.hypotheses),
            fdr=percent(funnel.false_discovery_rate),
        )
        paint = Figure(lambda d, box: funnel_plot(d, box, funnel=funnel, words=words), 260.0, note)
        composer.add(paint)
    composer.heading(words("committee.readers_table"), level=1, room=160.0)
    composer.flow(reader_table(content, words=words), after=6.0)
    composer.add(Prose(_readers_note(content, composer), CAPTION, palette.muted))


def _readers_note(content: CommitteeContent, composer: Composer) -> str:
    words = composer.style.strings
    note = words(
        "committee.readers_note", minimum=f"{content.minimum_reliability:g}", few=content.minimum_n
    )
    missing = missing_measures(content, words=words)
    return f"{note} {words('committee.absent_columns', names=missing)}" if missing else note
