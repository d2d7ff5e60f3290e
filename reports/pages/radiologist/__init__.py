"""One radiologist's feedback: two core pages, then appendices with pathologies, numbers and cases.

Page 1: the sentence, at most three actions, the phrase chart. Page 2: curve, flow or trend, how to
read it, what it is not. With too few exams both become one page. Appendices are left out where
there is nothing to put into them.
"""

from __future__ import annotations

from reports.advice import Action, actions, headline
from reports.content import RadiologistContent, SuppressedCell
from reports.disclosure import guard_radiologist, state_of
from reports.drawing.layout import Composer, Prose
from reports.drawing.marks import Box, Drawing, Line
from reports.drawing.pdf import DocumentInfo, to_pdf
from reports.drawing.style import (
    BODY,
    CAPTION,
    GUTTER,
    HEADING,
    LEAD,
    NOTE,
    SUBHEADING,
    Style,
    palette,
)
from reports.drawing.typeset import fit, paragraph, paragraph_height, put
from reports.figures.action_strip import ACTION_STRIP_HEIGHT, action_strip
from reports.figures.phrase_chart import phrase_chart, phrase_chart_height, phrase_key
from reports.figures.phrase_rows import PhraseRow, RowState, phrase_rows
from reports.pages.radiologist.appendix import appendices
from reports.pages.radiologist.second import second_page
from reports.pages.radiologist.sentences import facts

__all__ = ["build", "pages"]


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
    second_page(composer, content)
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
    subtitle = words("radiologist.subtitle", recipient=head.recipient, period=head.period)
    composer.title(words("radiologist.title"), subtitle)
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
        text = words("radiologist.department", state=words("state.not_computed"))
    elif isinstance(content.department, SuppressedCell):
        text = words("radiologist.department", state=state_of(content.department, words))
    prose = Prose(text, NOTE, palette.muted)
    return prose, prose.height(composer.body.width)


def _unused(rows: tuple[PhraseRow, ...], composer: Composer) -> Prose:
    names = ", ".join(row.phrase for row in rows if row.state is RowState.NOT_USED)
    text = composer.style.strings("radiologist.unused", phrases=names) if names else ""
    return Prose(text, NOTE, palette.muted)
