"""The radiologist's first page: the one sentence with its picture, what to try, the chart."""

from __future__ import annotations

from typing import Final

from calibration.profile import ReaderProfile
from reports.content import RadiologistContent, SuppressedCell
from reports.drawing.layout import Composer, Prose
from reports.drawing.marks import Box, Line
from reports.drawing.style import BODY, GUTTER, LEAD, NOTE, SUBHEADING, Type, palette
from reports.drawing.typeset import fit, paragraph, paragraph_height, put
from reports.figures.ladder import ladder
from reports.pages.radiologist.cards import card, card_height
from reports.pages.radiologist.chart import chart_height, judged_rows, phrases
from reports.pages.radiologist.sentences import facts
from reports.verdict import Said, in_words

__all__ = ["first_page"]

_LEAST_PICTURE: Final = 138.0
_TEXT: Final = Type("Book", 9.0, 13.0)


def first_page(composer: Composer, content: RadiologistContent) -> bool:
    """Lay out the page; say whether the phrase chart found its place on it."""
    words, head = composer.style.strings, content.masthead
    subtitle = words("radiologist.subtitle", recipient=head.recipient, period=head.period)
    composer.title(words("radiologist.title"), subtitle)
    _facts(composer, content)
    composer.skip(8.0)
    profile = content.profile
    if isinstance(content.overall, SuppressedCell) or isinstance(profile, SuppressedCell):
        composer.add(Prose(words("headline.too_few"), LEAD), after=10.0)
        note = words("radiologist.action_few", minimum=content.minimum_n)
        composer.add(Prose(note, BODY, palette.muted), after=8.0)
        return True
    if profile is None:
        composer.add(Prose(words("headline.not_judged"), LEAD), after=10.0)
    else:
        said = in_words(profile, words=words)
        _lead(composer, content, profile, said)
        _actions(composer, content, said)
    if composer.room < chart_height(content):
        return False
    phrases(composer, content)
    return True


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


def _lead(
    composer: Composer, content: RadiologistContent, profile: ReaderProfile, said: Said
) -> None:
    """Set the sentence and what follows from it on the left, its picture on the right."""
    width = 0.55 * composer.body.width
    texts = [(said.first, LEAD.bold), (said.lead, _TEXT)]
    texts += [(sentence, _TEXT) for sentence in said.also]
    tall = sum(paragraph_height(text, kind, width) + 4.0 for text, kind in texts)
    height = max(tall, _LEAST_PICTURE)
    box = composer.claim(height)
    y = box.y
    for i, (text, kind) in enumerate(texts):
        name = "headline" if i == 0 else ""
        y = paragraph(composer.page, Box(box.x, y, width, 0.0), text, kind, id=name) + 4.0
    x = box.x + width + 2 * GUTTER
    words = composer.style.strings
    note = words("ladder.note")
    foot = paragraph_height(note, NOTE, box.right - x)
    frame = Box(x, box.y, box.right - x, min(height, 200.0) - foot - 4.0)
    rows = judged_rows(content, profile)
    ladder(composer.page, frame, rows=rows, words=words)
    below = Box(x, frame.bottom + 4.0, frame.width, foot)
    paragraph(composer.page, below, note, NOTE, colour=palette.muted)
    composer.skip(6.0)


def _actions(composer: Composer, content: RadiologistContent, said: Said) -> None:
    """Set the cards, or say that there are none."""
    words = composer.style.strings
    if not said.actions:
        return
    cases = {(own.phrase, own.finding): own for own in content.action_cases}
    own = [cases.get((a.swap.phrase, a.swap.finding)) for a in said.actions]
    room = card_height(composer, said.actions[0], own[0])
    composer.heading(words(_title(said)), level=1, room=room)
    for number, (action, mine) in enumerate(zip(said.actions, own, strict=True), start=1):
        card(composer, action, mine, number=number)


def _title(said: Said) -> str:
    return "radiologist.actions_question" if said.question else "radiologist.actions"
