"""One radiologist's feedback: two core pages, then appendices with pathologies, numbers and cases.

Page 1: the sentence, at most three actions, the phrase chart. Page 2: curve, flow or trend, how to
read it, what it is not. With too few exams both become one page. Appendices are left out where
there is nothing to put into them.
"""

from __future__ import annotations

from calibration.curve import ReliabilityCurve
from calibration.phrase_calibration import PhraseCalibration
from reports.advice import Action, actions, headline
from reports.content import RadiologistContent, SuppressedCell
from reports.disclosure import guard_radiologist, state_of
from reports.figures.action_strip import ACTION_STRIP_HEIGHT, action_strip
from reports.figures.phrase_chart import phrase_chart, phrase_chart_height, phrase_key
from reports.figures.phrase_rows import PhraseRow, RowState, phrase_rows
from reports.figures.reliability import reliability
from reports.figures.swap_flow import swap_flow
from reports.figures.trend import trend
from reports.layout import Composer, Prose
from reports.marks import Bookmark, Box, Drawing, Line
from reports.paper import DocumentInfo, to_pdf
from reports.radiologist_appendix import appendices
from reports.radiologist_words import facts, how_to_read, what_it_is_not
from reports.streams import streams_of_actions
from reports.strings import Strings
from reports.style import (
    BODY,
    CAPTION,
    GUTTER,
    HEADING,
    LEAD,
    NOTE,
    SUBHEADING,
    TITLE,
    Style,
    palette,
)
from reports.typeset import fit, paragraph, paragraph_height, put

__all__ = ["build", "pages"]

_CURVE_HEIGHT = 252.0


def build(content: RadiologistContent, *, style: Style) -> bytes:
    """Make the PDF; the same content and style give the same bytes."""
    words = style.strings
    info = DocumentInfo(
        title=words("radiologist.title"),
        author=content.masthead.institution,
        subject=words("radiologist.subject"),
        language=content.masthead.language,
    )
    return to_pdf(pages(content, style=style), info=info)


def pages(content: RadiologistContent, *, style: Style) -> list[Drawing]:
    """Lay out all pages as drawings (what the geometry tests look at)."""
    content = guard_radiologist(content)
    composer = Composer(style, content.masthead)
    composer.new_page()
    _first_page(composer, content)
    if not isinstance(content.overall, SuppressedCell):
        composer.new_page()
    _second_page(composer, content)
    appendices(composer, content)
    return composer.finish()


def _first_page(composer: Composer, content: RadiologistContent) -> None:
    words = composer.style.strings
    _title(composer, content)
    composer.skip(6.0)
    composer.add(Prose(headline(content, words=words), LEAD), after=10.0)
    chosen = actions(content, words=words)
    _actions(composer, content, chosen)
    if not isinstance(content.overall, SuppressedCell):
        _phrases(composer, content)


def _title(composer: Composer, content: RadiologistContent) -> None:
    words, head = composer.style.strings, content.masthead
    box = composer.claim(48.0)
    page = composer.page
    page.bookmarks.append(Bookmark(words("radiologist.title"), 0, box.y))
    text, kind = fit(words("radiologist.title"), TITLE, box.width)
    put(page, box.x, box.y + 20.0, text, kind, id="title")
    subtitle = words("radiologist.subtitle", recipient=head.recipient, period=head.period)
    text, kind = fit(subtitle, BODY, box.width)
    put(page, box.x, box.y + 36.0, text, kind, colour=palette.muted)
    _facts(composer, content)


def _facts(composer: Composer, content: RadiologistContent) -> None:
    """Three plain numbers under the title."""
    shown = facts(content, words=composer.style.strings)
    if not shown:
        return
    box = composer.claim(30.0)
    page = composer.page
    for column, (value, label) in zip(box.columns(3, gutter=GUTTER), shown, strict=False):
        page.add(Line(column.x, column.y, column.right, column.y, palette.rule, 0.5))
        text, kind = fit(value, SUBHEADING, column.width)
        put(page, column.x, column.y + 12.0, text, kind)
        text, kind = fit(label, NOTE, column.width)
        put(page, column.x, column.y + 21.5, text, kind, colour=palette.muted)


def _actions(composer: Composer, content: RadiologistContent, chosen: tuple[Action, ...]) -> None:
    words = composer.style.strings
    if isinstance(content.overall, SuppressedCell):
        note = words("radiologist.action_few", minimum=content.overall.minimum)
        composer.add(Prose(note, BODY, palette.muted), after=8.0)
        return
    composer.heading(words("radiologist.actions"), level=1, room=40.0)
    if content.actions is None:
        composer.add(Prose(words("state.not_computed"), BODY.oblique, palette.muted), after=8.0)
    elif not chosen:
        composer.add(Prose(words("radiologist.action_none"), BODY, palette.muted), after=8.0)
    for number, action in enumerate(chosen, start=1):
        _action(composer, action, number)


def _action(composer: Composer, action: Action, number: int) -> None:
    """Set number, swap and evidence on the left, the picture on the right."""
    width = 0.60 * composer.body.width - 18.0
    title = paragraph_height(action.title, SUBHEADING, width)
    text = paragraph_height(action.evidence, CAPTION, width)
    height = max(5.0 + title + text, ACTION_STRIP_HEIGHT) + 8.0
    box = composer.claim(height)
    page = composer.page
    page.add(Line(box.x, box.y, box.right, box.y, palette.hairline, 0.5))
    put(page, box.x, box.y + 13.0, str(number), HEADING, colour=palette.own)
    left = Box(box.x + 18.0, box.y + 3.0, width, height)
    below = paragraph(page, left, action.title, SUBHEADING, id=f"action.{number}")
    paragraph(page, left.cut(top=below - left.y + 1.0), action.evidence, CAPTION)
    x = left.right + 24.0
    picture = Box(x, box.y + 3.0, box.right - x, ACTION_STRIP_HEIGHT)
    action_strip(page, picture, suggestion=action.suggestion)


def _phrases(composer: Composer, content: RadiologistContent) -> None:
    """Fill what is left of the page with the phrase chart; name unused phrases below it."""
    if isinstance(content.overall, SuppressedCell):
        return
    words, minimum = composer.style.strings, content.minimum_n
    department = None if isinstance(content.department, SuppressedCell) else content.department
    rows = phrase_rows(content.overall.phrases, minimum_n=minimum, department=department)
    used = tuple(row for row in rows if row.state is not RowState.NOT_USED)
    unused = _unused(rows, composer)
    note = words("radiologist.chart_note")
    if any(row.phrase in content.discouraged for row in used):
        note += words("radiologist.chart_note_dagger")
    composer.heading(words("radiologist.chart"), level=1, room=60.0, note=note)
    foot = 16.0 + unused.height(composer.body.width) + _department_note(content, composer)[1]
    wanted = phrase_chart_height(len(used))
    chart = composer.claim(min(wanted, composer.room - foot))
    phrase_chart(
        composer.page,
        chart,
        rows=used,
        minimum_n=minimum,
        words=words,
        discouraged=content.discouraged,
    )
    key = composer.claim(16.0)
    shrunk = any(row.shrunk == row.shrunk for row in used)
    phrase_key(composer.page, key, words=words, shrunk=shrunk, department=department is not None)
    composer.add(_department_note(content, composer)[0], after=0.0)
    composer.add(unused, after=0.0)


def _department_note(content: RadiologistContent, composer: Composer) -> tuple[Prose, float]:
    """Why there is no department line, where there is none."""
    words = composer.style.strings
    text = ""
    if content.department is None:
        text = f"{words('phrase_chart.key.department')}: {words('state.not_computed')}"
    elif isinstance(content.department, SuppressedCell):
        state = state_of(content.department, words)
        text = f"{words('phrase_chart.key.department')}: {state}"
    prose = Prose(text, NOTE, palette.muted)
    return prose, prose.height(composer.body.width)


def _unused(rows: tuple[PhraseRow, ...], composer: Composer) -> Prose:
    names = ", ".join(row.phrase for row in rows if row.state is RowState.NOT_USED)
    text = composer.style.strings("radiologist.unused", phrases=names) if names else ""
    return Prose(text, NOTE, palette.muted)


def _second_page(composer: Composer, content: RadiologistContent) -> None:
    """Curve beside the flow, or beside the trend where no change is advised."""
    words = composer.style.strings
    chosen = actions(content, words=words)
    if isinstance(content.overall, SuppressedCell):
        composer.skip(10.0)
        _trend(composer.page, composer.claim(190.0 if content.trend else 40.0), content, words)
    else:
        box = composer.claim(_CURVE_HEIGHT + 60.0)
        left, right = box.columns(2, gutter=2 * GUTTER)
        _curve(composer.page, left, content.overall.curve, words)
        if chosen:
            _flow(composer.page, right, content.overall.phrases, chosen, words)
            composer.skip(16.0)
            _trend(composer.page, composer.claim(170.0), content, words)
        else:
            _trend(composer.page, right, content, words)
    composer.skip(16.0)
    _reading(composer, content)


def _panel(page: Drawing, box: Box, title: str, caption: str, *, lines: int = 2) -> Box:
    """Set title and caption; return the frame left for the figure."""
    page.bookmarks.append(Bookmark(title, 1, box.y))
    put(page, box.x, box.y + 10.0, title, SUBHEADING)
    tall = max(paragraph_height(caption, CAPTION, box.width), lines * CAPTION.leading)
    foot = Box(box.x, box.bottom - tall, box.width, tall)
    paragraph(page, foot, caption, CAPTION, colour=palette.muted)
    return box.cut(top=18.0, bottom=tall + 6.0)


def _curve(page: Drawing, box: Box, curve: ReliabilityCurve, words: Strings) -> None:
    figure = _panel(page, box, words("radiologist.curve"), words("radiologist.curve_note"), lines=3)
    reliability(page, figure, curve=curve, words=words)


def _flow(
    page: Drawing,
    box: Box,
    phrases: PhraseCalibration,
    chosen: tuple[Action, ...],
    words: Strings,
) -> None:
    figure = _panel(page, box, words("radiologist.flow"), words("radiologist.flow_note"), lines=3)
    streams, order = streams_of_actions(phrases, chosen)
    swap_flow(page, figure, streams=streams, order=order, words=words)


def _trend(page: Drawing, box: Box, content: RadiologistContent, words: Strings) -> None:
    note = words("radiologist.trend_note") if content.trend else ""
    figure = _panel(page, box, words("radiologist.trend"), note)
    if content.trend:
        trend(page, figure, series=content.trend, words=words)
        return
    state = words("state.not_computed" if content.trend is None else "state.none")
    paragraph(page, figure, state, BODY.oblique, colour=palette.muted)


def _reading(composer: Composer, content: RadiologistContent) -> None:
    """Two columns: how to read it, what it is not; then whom to ask."""
    words, head = composer.style.strings, content.masthead
    sides = (
        (words("radiologist.how"), how_to_read(words)),
        (words("radiologist.not"), what_it_is_not(content, words=words)),
    )
    width = (composer.body.width - 2 * GUTTER) / 2
    tall = max(sum(paragraph_height(t, CAPTION, width) + 3.0 for t in texts) for _, texts in sides)
    box = composer.claim(tall + 18.0)
    for column, (title, texts) in zip(box.columns(2, gutter=2 * GUTTER), sides, strict=True):
        put(composer.page, column.x, column.y + 10.0, title, SUBHEADING)
        y = column.y + 16.0
        for text in texts:
            y = paragraph(composer.page, Box(column.x, y, width, 0.0), text, CAPTION) + 3.0
    composer.skip(4.0)
    line = words("radiologist.contact", contact=head.contact, next_issue=head.next_issue)
    composer.add(Prose(line, CAPTION.bold), after=0.0)
