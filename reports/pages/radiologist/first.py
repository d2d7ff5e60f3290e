"""The radiologist's first page: the one sentence with its picture, what to try, the chart."""

from __future__ import annotations

from typing import Final, TypeAlias

from calibration.profile import ReaderProfile
from reports.content import ActionCases, RadiologistContent, SuppressedCell
from reports.drawing.layout import Composer, Prose
from reports.drawing.marks import Box, Line
from reports.drawing.style import BODY, GUTTER, LEAD, NOTE, SUBHEADING, Type, palette
from reports.drawing.typeset import fit, paragraph, paragraph_height, put
from reports.figures.ladder import ladder
from reports.pages.radiologist.cards import card, card_height
from reports.pages.radiologist.chart import chart_height, judged_rows, phrases
from reports.pages.radiologist.sentences import facts
from reports.swaps import Action
from reports.verdict import Said, in_words

__all__ = ["first_page"]

_LEAST_PICTURE: Final = 138.0
_MOST_PICTURE: Final = 250.0
_HEADING: Final = 30.0
Card: TypeAlias = tuple[Action, ActionCases | None]
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
        cards = _cards(content, said)
        _lead(composer, content, profile, said, cards)
        _actions(composer, said, cards)
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


def _cards(content: RadiologistContent, said: Said) -> list[Card]:
    """Put each action beside the reader's own cases for it."""
    cases = {(own.phrase, own.finding): own for own in content.action_cases}
    return [(action, cases.get((action.swap.phrase, action.swap.finding)))
            for action in said.actions]  # fmt: skip


def _lead(
    composer: Composer,
    content: RadiologistContent,
    profile: ReaderProfile,
    said: Said,
    cards: list[Card],
) -> None:
    """Set the sentence and what follows from it on the left, its picture on the right."""
    width = 0.55 * composer.body.width
    texts = [(said.first, LEAD.bold), (said.lead, _TEXT)]
    texts += [(sentence, _TEXT) for sentence in said.also]
    tall = sum(paragraph_height(text, kind, width) + 4.0 for text, kind in texts)
    picture = _picture_height(composer, content, cards, tall)
    box = composer.claim(max(tall, picture))
    y = box.y
    for i, (text, kind) in enumerate(texts):
        name = "headline" if i == 0 else ""
        y = paragraph(composer.page, Box(box.x, y, width, 0.0), text, kind, id=name) + 4.0
    x = box.x + width + 2 * GUTTER
    _picture(composer, content, profile, Box(x, box.y, box.right - x, picture))
    composer.skip(6.0)


def _picture_height(
    composer: Composer, content: RadiologistContent, cards: list[Card], tall: float
) -> float:
    """Give the picture the room that cards and chart leave on the page, within reason."""
    below = sum(card_height(composer, action, own) for action, own in cards)
    below += _HEADING if cards else 0.0
    spare = composer.room - max(tall, _LEAST_PICTURE) - below - 12.0
    if spare >= chart_height(content):
        spare -= chart_height(content, roomy=True)
    return min(max(_LEAST_PICTURE, min(tall, 200.0)) + max(spare, 0.0), _MOST_PICTURE)


def _picture(
    composer: Composer, content: RadiologistContent, profile: ReaderProfile, box: Box
) -> None:
    """Draw the picture with its one line of explanation."""
    words = composer.style.strings
    note = words("ladder.note")
    foot = paragraph_height(note, NOTE, box.width)
    frame = box.cut(bottom=foot + 4.0)
    ladder(composer.page, frame, rows=judged_rows(content, profile), words=words)
    below = Box(box.x, frame.bottom + 4.0, box.width, foot)
    paragraph(composer.page, below, note, NOTE, colour=palette.muted)


def _actions(composer: Composer, said: Said, cards: list[Card]) -> None:
    """Set the cards under their heading, where there are any."""
    if not cards:
        return
    key = "radiologist.actions_question" if said.question else "radiologist.actions"
    room = card_height(composer, *cards[0])
    composer.heading(composer.style.strings(key), level=1, room=room)
    for number, (action, own) in enumerate(cards, start=1):
        card(composer, action, own, number=number)
