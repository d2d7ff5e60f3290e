"""The radiologist's second page: curve, flow or trend, how to read it, what it is not."""

from __future__ import annotations

from typing import Final

from calibration.phrase_calibration import PhraseCalibration
from reports.advice import Action, actions
from reports.content import RadiologistContent, SuppressedCell
from reports.drawing.layout import Composer, Prose
from reports.drawing.marks import Bookmark, Box, Drawing
from reports.drawing.style import BODY, CAPTION, GUTTER, SUBHEADING, palette
from reports.drawing.typeset import paragraph, paragraph_height, put, wrap
from reports.figures.reliability import reliability
from reports.figures.series import trend
from reports.figures.swap_flow import streams_of_actions, swap_flow
from reports.pages.radiologist.sentences import how_to_read, tendency, what_it_is_not
from reports.strings import Strings

__all__ = ["second_page"]

_CURVE_HEIGHT: Final = 252.0


def second_page(composer: Composer, content: RadiologistContent) -> None:
    """Curve beside the flow, or beside the trend where no change is advised."""
    words = composer.style.strings
    chosen = actions(content, words=words)
    if isinstance(content.overall, SuppressedCell):
        composer.skip(10.0)
        _trend(composer.page, composer.claim(190.0 if content.trend else 40.0), content, words)
    else:
        box = composer.claim(_CURVE_HEIGHT + 60.0)
        left, right = box.columns(2, gutter=2 * GUTTER)
        note = f"{words('radiologist.curve_note')} {tendency(content, words=words)}"
        lines = len(wrap(note, CAPTION, left.width))
        figure = _panel(composer.page, left, words("radiologist.curve"), note)
        reliability(composer.page, figure, curve=content.overall.curve, words=words)
        if chosen:
            _flow(composer.page, right, content.overall.phrases, chosen, words, lines)
            composer.skip(16.0)
            _trend(composer.page, composer.claim(170.0), content, words)
        else:
            _trend(composer.page, right, content, words, lines)
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


def _flow(
    page: Drawing,
    box: Box,
    phrases: PhraseCalibration,
    chosen: tuple[Action, ...],
    words: Strings,
    lines: int,
) -> None:
    figure = _panel(
        page, box, words("radiologist.flow"), words("radiologist.flow_note"), lines=lines
    )
    streams, order = streams_of_actions(phrases, chosen)
    swap_flow(page, figure, streams=streams, order=order, words=words)


def _trend(
    page: Drawing, box: Box, content: RadiologistContent, words: Strings, lines: int = 2
) -> None:
    note = words("radiologist.trend_note") if content.trend else ""
    figure = _panel(page, box, words("radiologist.trend"), note, lines=lines)
    if content.trend:
        trend(page, figure, series=content.trend, words=words)
        return
    state = words("state.not_computed" if content.trend is None else "state.none")
    paragraph(page, figure, state, BODY.oblique, colour=palette.muted)


def _reading(composer: Composer, content: RadiologistContent) -> None:
    """Two columns: how to read it, what it is not; then whom to ask."""
    words, head = composer.style.strings, content.masthead
    sides = (
        (words("radiologist.how"), how_to_read(content, words=words)),
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
