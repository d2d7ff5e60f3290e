"""The radiologist's first page: the one sentence with its picture, then actions as cards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from calibration.profile import ReaderProfile
from reports.content import Case, RadiologistContent, SuppressedCell
from reports.disclosure import state_of
from reports.drawing.layout import Composer, Prose
from reports.drawing.marks import Bookmark, Box, Line
from reports.drawing.style import (
    BODY,
    CAPTION,
    GUTTER,
    HEADING,
    LEAD,
    NOTE,
    SUBHEADING,
    Type,
    palette,
)
from reports.drawing.typeset import balanced, fit, heading, paragraph, paragraph_height, put
from reports.figures.ladder import MOST_LINES, ladder
from reports.figures.phrase_rows import PhraseRow
from reports.numbers import count, hours
from reports.out_of_order import unordered
from reports.pages.radiologist.card import Card
from reports.pages.radiologist.chart import ROOMY, PhraseChart, picture_rows, scale_of
from reports.strings import Strings
from reports.verdict import Said, in_words

_LEAST_PICTURE: Final = 146.0
# The most where the chart stands below, above cards beside less text, above one, above none.
_MOST_PICTURE, _BESIDE_CARDS, _BESIDE_CARD, _TALLEST_PICTURE = 300.0, 170.0, 345.0, 460.0
# White space that a card may have more of where the page has it.
_AIRY: Final = 18.0
_LINE: Final = 40.0
# Height at which a picture of so many lines is legible: it comes before a roomy chart.
_CLEAR, _CLEAR_LINE = 85.0, 16.0
_HEADING, _TITLE = 30.0, 20.0
_FEW_CASES, _CLOSE, _CLOSEST = 3, 3.0, 1.0


@dataclass(frozen=True, slots=True)
class _Setting:
    """How text beside the picture is set: type, share of the width, type of the first sentence."""

    text: Type
    side: float
    first: Type = LEAD.bold


# From the roomiest to the closest; the last two set the cards' evidence smaller too.
_ROOMY: Final = _Setting(Type("Book", 9.0, 13.0), 0.55)
_CLOSER, _SMALL, _SMALLEST = (
    _Setting(CAPTION, 0.55),
    _Setting(NOTE, 0.63),
    _Setting(NOTE, 0.66, HEADING),
)


@dataclass(frozen=True, slots=True)
class Left:
    """Whether the phrase chart need not be drawn any more, and why marked words have no swap."""

    drawn: bool = True
    unswapped: tuple[str, ...] = ()


def first_page(composer: Composer, chart: PhraseChart) -> Left:
    """Lay out the page, and give what is left for later ones."""
    content, words = chart.content, composer.style.strings
    head = content.masthead
    subtitle = words("radiologist.subtitle", recipient=head.recipient, period=head.period)
    composer.title(words("radiologist.title"), subtitle)
    _facts(composer, content)
    composer.skip(8.0)
    profile = content.profile
    if isinstance(content.overall, SuppressedCell):
        composer.add(Prose(words("headline.too_few"), LEAD, "H2"), after=10.0)
        note = words("radiologist.action_few", minimum=content.minimum_n)
        composer.add(Prose(note, BODY.muted), after=8.0)
        return Left()
    left: tuple[str, ...] = ()
    if profile is None:
        composer.add(Prose(words("headline.not_judged"), LEAD, "H2"), after=10.0)
    else:
        scale, over = (scale_of(content, p) for p in (content.recommended, content.discouraged))
        ct = content.ct_readers
        said = in_words(profile, words=words, scale=scale, discouraged=over, ct=ct)
        cards, setting = _cards(composer, content, said)
        page = _Verdict(composer, profile, said, cards, setting, chart)
        page.lead()
        page.actions()
        left = page.unswapped()
    drawn = composer.room >= chart.height(composer.body.width)
    if drawn:
        chart.draw(composer)
    return Left(drawn, left)


def _cards(
    composer: Composer, content: RadiologistContent, said: Said
) -> tuple[list[Card], _Setting]:
    """Put each action beside the reader's own cases for it; say how the text above is set.

    Where all would not fit cards have fewer cases, and then the text is set smaller.
    """
    words, head, width = composer.style.strings, content.masthead, composer.body.width
    found = {(own.phrase, own.finding): own.cases for own in content.action_cases}
    cards = [
        Card(action, found.get((action.swap.phrase, action.swap.finding), ()), number,
             head.recipient, words, width)
        for number, action in enumerate(said.actions, start=1)
    ]  # fmt: skip
    close = [replace(card, cases=_few(card.cases), pad=_CLOSE) for card in cards]
    small = [replace(card, kind=NOTE) for card in close]
    tries = (cards, _ROOMY), (close, _ROOMY), (close, _CLOSER), (small, _SMALL)
    for each, setting in tries:
        if sum(card.height for card in each) <= composer.room - _above(said, setting, width):
            return each, setting
    return [replace(card, pad=_CLOSEST) for card in small], _SMALLEST


def _few(cases: tuple[Case, ...]) -> tuple[Case, ...]:
    """Take two cases for the swap and the first that speaks against it, where there is one."""
    first, rest = cases[: _FEW_CASES - 1], cases[_FEW_CASES - 1 :]
    others = [case for case in rest if case.showed != cases[0].showed]
    return (*first, *(others or rest)[:1])


def _above(said: Said, setting: _Setting, width: float) -> float:
    """Room for the sentence and what follows, the heading of the cards, and what stands below."""
    texts, width = (said.lead, *said.also, said.caveat, said.rule, said.stay), setting.side * width
    heights = (paragraph_height(text, setting.text, width) + 4.0 for text in texts if text)
    first = paragraph_height(said.first, setting.first, width) + 4.0
    return max(first + sum(heights), _LEAST_PICTURE) + _HEADING + 8.0


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What the page says of a reader who was judged."""

    composer: Composer
    profile: ReaderProfile
    said: Said
    cards: list[Card]
    setting: _Setting
    chart: PhraseChart

    def lead(self) -> None:
        """Set the sentence and what follows on the left, its picture on the right."""
        composer, said = self.composer, self.said
        kind, first = self.setting.text, self.setting.first
        rows = picture_rows(self.chart.rows, self.profile, composer.style.strings)
        width = (self.setting.side if rows else 1.0) * composer.body.width
        texts, beside = [t for t in (said.lead, *said.also, said.caveat) if t], self._tries
        every = [*texts, *beside]
        tall = paragraph_height(said.first, first, width) + 4.0
        tall += sum(paragraph_height(text, kind, width) + 4.0 for text in every)
        tall += _TITLE if beside else 0.0
        picture = self._picture_height(tall, lines=len(rows)) if rows else 0.0
        box = composer.claim(max(tall, picture))
        composer.page.bookmarks.append(Bookmark(said.first, 0, box.y))
        with composer.page.tag(composer.level(0)):
            frame = Box(box.x, box.y, balanced(said.first, first, width), 0.0)
            y = paragraph(composer.page, frame, said.first, first, id="headline") + 4.0
        for i, text in enumerate(every):
            if i == len(texts):
                y += _TITLE
                composer.page.bookmarks.append(Bookmark(self._heading, 1, y))
                heading(composer.page, box.x, y - 4.0, self._heading, SUBHEADING, composer.level(1))
            y = paragraph(composer.page, Box(box.x, y, width, 0.0), text, kind) + 4.0
        if rows:
            x = box.x + width + 2 * GUTTER
            words, lines = composer.style.strings, min(len(rows), MOST_LINES)
            some = picture_shows(rows, lines, words) if lines < len(rows) else ""
            note = words("ladder.note", some=some)
            right = Box(x, box.y, box.right - x, picture)
            foot = paragraph_height(note, NOTE, right.width) + 4.0
            ladder(composer.page, right.cut(bottom=foot), rows=rows, words=words)
            paragraph(composer.page, right.cut(top=picture - foot + 4.0), note, NOTE.muted)
        composer.skip(6.0)

    def _picture_height(self, tall: float, *, lines: int) -> float:
        """Give the picture the room that what to try and chart leave, and its lines can use."""
        width, below = self.composer.body.width, sum(card.height for card in self.cards)
        if self.cards and not self._tries:
            below += _HEADING
        least = max(_LEAST_PICTURE, min(tall, 200.0))
        most = _TALLEST_PICTURE if not self.cards else _BESIDE_CARD
        most = max(tall + 30.0, _BESIDE_CARDS) if len(self.cards) > 1 else most
        spare = self.composer.room - max(tall, _LEAST_PICTURE) - below - 12.0
        charted = spare - self.chart.height(width)
        if self._reasons <= (charted if charted >= 0.0 else spare):
            spare, charted = spare - self._reasons, charted - self._reasons
        if charted >= 0.0:
            clear = _CLEAR + min(lines, MOST_LINES) * _CLEAR_LINE
            roomy = spare - self.chart.height(width, ROOMY)
            spare = max(roomy, min(clear - least, charted))
            most = min(_MOST_PICTURE, _LEAST_PICTURE + lines * _LINE)
        else:
            spare += max(tall, _LEAST_PICTURE) - least
        return min(least + max(spare, 0.0), most)

    @property
    def _heading(self) -> str:
        key = "actions_question" if self.said.question else "actions"
        key = "actions_check" if unordered(self.profile) else key
        return self.composer.style.strings(f"radiologist.{key}")

    @property
    def _tries(self) -> list[str]:
        """Give the general rule, and why there is no swap or not one more, where there are such."""
        return [text for text in (self.said.rule, self.said.stay) if text]

    def unswapped(self) -> tuple[str, ...]:
        """Say below the cards why marked words have none, where there is room; give what is left.

        The phrase chart comes before it.
        """
        composer, texts = self.composer, self.said.left
        chart = self.chart.height(composer.body.width)
        room = composer.room - (chart if composer.room >= chart else 0.0)
        if not texts or room < self._reasons:
            return texts
        title = composer.style.strings("radiologist.unswapped")
        composer.heading(title, level=1, room=0.0, kind=SUBHEADING)
        for text in texts:
            composer.add(Prose(text, NOTE), after=2.0)
        return ()

    @property
    def _reasons(self) -> float:
        """Room that the reasons take under their heading; none where there are none."""
        width = self.composer.body.width
        title = self.composer.style.strings("radiologist.unswapped")
        heights = [paragraph_height(text, NOTE, width) + 2.0 for text in self.said.left]
        return paragraph_height(title, SUBHEADING, width) + 6.0 + sum(heights) if heights else 0.0

    def actions(self) -> None:
        """Set the cards, under their heading where no rule and no reason has it already."""
        composer = self.composer
        if self.cards and not self._tries:
            composer.heading(self._heading, level=1, room=self.cards[0].height)
        spare = composer.room - sum(card.height for card in self.cards)
        if spare >= self.chart.height(composer.body.width):
            spare = 0.0
        spare -= self._reasons if spare >= self._reasons else 0.0
        for card in self.cards:
            airy = replace(card, pad=card.pad + min(max(spare, 0.0) / len(self.cards), _AIRY))
            airy.draw(composer, composer.claim(airy.height))


def picture_shows(rows: Sequence[PhraseRow], lines: int, words: Strings) -> str:
    """Say which of a reader's words the picture shows: the most used, or others before them."""
    used = min(row.n for row in rows[:lines]) >= max(row.n for row in rows[lines:])
    return words("ladder.some_used" if used else "ladder.some", shown=lines, of=len(rows))


def _facts(composer: Composer, content: RadiologistContent) -> None:
    """Three plain numbers under the title."""
    shown = facts(content, words=composer.style.strings)
    box = composer.claim(30.0)
    page = composer.page
    for column, (value, label) in zip(box.columns(3, gutter=GUTTER), shown, strict=False):
        page.add(Line(column.x, column.y, column.right, column.y, palette.rule, 0.5))
        with page.text():
            for text, kind, down in ((value, SUBHEADING, 12.0), (label, NOTE.muted, 21.5)):
                line, face = fit(text, kind, column.width)
                put(page, (column.x, column.y + down), line, face)


def facts(content: RadiologistContent, *, words: Strings) -> tuple[tuple[str, str], ...]:
    """Up to three (value, label) pairs under the title; none judges, the first sentence does."""
    shown: list[tuple[str, str]] = []
    if content.coverage is not None:
        cover = content.coverage
        of = words("radiologist.facts.of", paired=count(cover.paired), xrays=count(cover.xrays))
        shown.append((of, words("radiologist.facts.paired", hours=hours(cover.window_hours))))
    overall = content.overall
    if isinstance(overall, SuppressedCell):
        return (*shown, (state_of(overall, words), words("radiologist.facts.statements")))
    shown.append((count(overall.n), words("radiologist.facts.statements")))
    if content.profile:
        shown.append((count(content.profile.hedges), words("radiologist.facts.hedges")))
    return tuple(shown)
