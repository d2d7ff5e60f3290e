"""The radiologist's second page: the chart if page 1 is full, curve, trend, how to read it."""

from __future__ import annotations

from typing import Final

from reports.content import Coverage, Instrument, RadiologistContent, SuppressedCell
from reports.drawing.layout import Composer, Prose
from reports.drawing.marks import Bookmark, Box, Drawing
from reports.drawing.style import BODY, CAPTION, GUTTER, SUBHEADING
from reports.drawing.typeset import heading, paragraph, paragraph_height, wrap
from reports.figures.reliability import reliability
from reports.figures.series import trend
from reports.numbers import count, percent, percent_interval
from reports.pages.radiologist.chart import phrases
from reports.strings import Strings

__all__ = ["second_page"]

_CURVE: Final = 252.0
_LOW_CURVE: Final = 150.0
_AROUND: Final = 30.0
"""White space between the parts of a full page."""
_WHOM_LINES: Final = 3


def second_page(composer: Composer, content: RadiologistContent, *, charted: bool) -> None:
    """Curve beside trend, below the phrase chart where page 1 had no room for it."""
    words = composer.style.strings
    if isinstance(content.overall, SuppressedCell):
        composer.skip(10.0)
        _trend(composer.page, composer.claim(190.0 if content.trend else 40.0), content, words)
    else:
        composer.new_page()
        note = words("radiologist.curve_note")
        width = (composer.body.width - 2 * GUTTER) / 2
        lines = len(wrap(note, CAPTION, width))
        tall = (_CURVE if charted else _LOW_CURVE) + 24.0 + lines * CAPTION.leading
        if not charted:
            rest = tall + _AROUND + _reading_height(composer, content)
            phrases(composer, content, below=rest)
            composer.skip(10.0)
        box = composer.claim(tall)
        left, right = box.columns(2, gutter=2 * GUTTER)
        figure = _panel(composer.page, left, words("radiologist.curve"), note)
        reliability(composer.page, figure, curve=content.overall.curve, words=words)
        _trend(composer.page, right, content, words, lines)
    composer.skip(16.0)
    _reading(composer, content)


def _panel(page: Drawing, box: Box, title: str, caption: str, *, lines: int = 2) -> Box:
    """Set title and caption; return the frame left for the figure."""
    page.bookmarks.append(Bookmark(title, 1, box.y))
    heading(page, box.x, box.y + 10.0, title, SUBHEADING, "H2")
    tall = max(paragraph_height(caption, CAPTION, box.width), lines * CAPTION.leading)
    foot = Box(box.x, box.bottom - tall, box.width, tall)
    paragraph(page, foot, caption, CAPTION.muted)
    return box.cut(top=18.0, bottom=tall + 6.0)


def _trend(
    page: Drawing, box: Box, content: RadiologistContent, words: Strings, lines: int = 2
) -> None:
    note = words("radiologist.trend_note") if content.trend else ""
    figure = _panel(page, box, words("radiologist.trend"), note, lines=lines)
    if content.trend:
        trend(page, figure, series=content.trend, words=words)
        return
    state = words("state.not_computed" if content.trend is None else "state.none")
    paragraph(page, figure, state, BODY.oblique.muted)


def _sides(content: RadiologistContent, words: Strings) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
        (words("radiologist.how"), how_to_read(content, words=words)),
        (words("radiologist.not"), what_it_is_not(content, words=words)),
    )


def _whom(content: RadiologistContent, words: Strings) -> str:
    """Say what became of answers, until when they count, whom to ask, when the next page comes."""
    head, returned = content.masthead, content.returned
    parts = []
    if returned is not None and returned.total:
        left_out = words.several("unit.cases", returned.left_out)
        answers = words.several("unit.cases", returned.total)
        parts.append(words("radiologist.returned", answers=answers, left_out=left_out))
    if head.returns_by and content.cases:
        parts.append(words("radiologist.returns_by", day=head.returns_by))
    parts.append(words("radiologist.contact", contact=head.contact, next_issue=head.next_issue))
    return " ".join(parts)


def _reading_height(composer: Composer, content: RadiologistContent) -> float:
    """Height of the two columns and the line below them."""
    width = (composer.body.width - 2 * GUTTER) / 2
    sides = _sides(content, composer.style.strings)
    tall = max(sum(paragraph_height(t, CAPTION, width) + 3.0 for t in texts) for _, texts in sides)
    return tall + 18.0 + 4.0 + _WHOM_LINES * CAPTION.leading


def _reading(composer: Composer, content: RadiologistContent) -> None:
    """Two columns: how to read it, what it is not; then whom to ask."""
    words = composer.style.strings
    sides = _sides(content, words)
    width = (composer.body.width - 2 * GUTTER) / 2
    box = composer.claim(_reading_height(composer, content) - 4.0 - _WHOM_LINES * CAPTION.leading)
    for column, (title, texts) in zip(box.columns(2, gutter=2 * GUTTER), sides, strict=True):
        heading(composer.page, column.x, column.y + 10.0, title, SUBHEADING, "H2")
        y = column.y + 16.0
        for text in texts:
            y = paragraph(composer.page, Box(column.x, y, width, 0.0), text, CAPTION) + 3.0
    composer.skip(4.0)
    composer.add(Prose(_whom(content, words), CAPTION.bold), after=0.0)


def how_to_read(content: RadiologistContent, *, words: Strings) -> tuple[str, ...]:
    """Explain the signs that are drawn, and no others."""
    shown = ["line", "tick"]
    if content.department is not None and not isinstance(content.department, SuppressedCell):
        shown.append("department")
    return tuple(words(f"how.{key}") for key in (*shown, "side"))


def what_it_is_not(content: RadiologistContent, *, words: Strings) -> tuple[str, ...]:
    """Paragraphs of the limits, with coverage and extraction accuracy as measured."""
    instrument = content.instrument
    engine = instrument.engine if instrument else words("state.not_computed")
    accuracy = _accuracy(instrument, words)
    return (
        _coverage(content.coverage, words),
        words("not.ct"),
        words("not.extraction", engine=engine, accuracy=accuracy),
        words("not.case_mix"),
    )


def _coverage(coverage: Coverage | None, words: Strings) -> str:
    if coverage is None:
        return words("not.coverage_unknown")
    text = words(
        "not.coverage",
        paired=count(coverage.paired),
        xrays=count(coverage.xrays),
        hours=f"{coverage.window_hours:g}",
    )
    return f"{text} {words('not.silence')}" if coverage.ct_silence_is_absent else text


def _accuracy(instrument: Instrument | None, words: Strings) -> str:
    if instrument is None or not instrument.figures:
        return words("state.not_audited")
    parts = []
    for figure in instrument.figures:
        if figure.estimate is None:
            parts.append(f"{figure.name}: {words('state.not_audited')}")
        else:
            estimate = figure.estimate
            span = percent_interval(estimate.low, estimate.high, estimate.value)
            value = percent(estimate.value)
            parts.append(words("not.accuracy", name=figure.name, value=value, interval=span))
    return "; ".join(parts)
