"""The radiologist's first page: the one sentence with its picture, then actions as cards."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, TypeAlias, get_args

from calibration.profile import ReaderProfile
from reports.content import ActionCases, Case, RadiologistContent, SuppressedCell
from reports.disclosure import state_of
from reports.drawing.layout import Composer, Prose
from reports.drawing.marks import Box, Drawing, Field, Line, Rect
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
from reports.drawing.tables import Column, Row, Table
from reports.drawing.typeset import fit, heading, paragraph, paragraph_height, put, width_of
from reports.figures.ladder import ACTION_STRIP_HEIGHT, action_strip, ladder
from reports.figures.phrase_rows import PhraseRow
from reports.numbers import count, points
from reports.pages import return_sheet
from reports.pages.radiologist.chart import chart_height, judged_rows, phrases
from reports.strings import Strings
from reports.swaps import Action, Scale
from reports.verdict import Said, in_words

_NUMBER: Final = 18.0
_GUTTER: Final = 20.0
_LINE: Final = 9.5
_PAD: Final = 10.0
_ANSWER: Final = 13.0


def card_height(composer: Composer, action: Action, own: ActionCases | None) -> float:
    """Height of one card on this page."""
    left, right = _sides(composer, action, own)
    return min(max(left + 2 * _ANSWER, right), max(left, right) + _ANSWER) + _PAD


def _sides(composer: Composer, action: Action, own: ActionCases | None) -> tuple[float, float]:
    """Heights of a card's text, and of its picture with the cases."""
    left, _ = _columns(composer.body)
    words = composer.style.strings
    text = paragraph_height(action.evidence, CAPTION, left.width)
    example = _example(action, own, words)
    written = paragraph_height(example, BODY, left.width) + 2.0 if example else 0.0
    title = paragraph_height(action.title, SUBHEADING, left.width)
    cases = len(own.cases) if own else 0
    right = ACTION_STRIP_HEIGHT - 6.0 + (_LINE * (cases + 1) if cases else 0.0)
    return title + written + text, right


def card(composer: Composer, action: Action, own: ActionCases | None, *, number: int) -> None:
    """Set number, swap, wording and evidence on the left; picture and cases on the right."""
    box = composer.claim(card_height(composer, action, own))
    page, words = composer.page, composer.style.strings
    page.add(Line(box.x, box.y, box.right, box.y, palette.hairline, 0.5))
    left, right = _columns(box)
    with page.tag(composer.level(2)):
        put(page, (box.x, box.y + 13.0), str(number), HEADING.in_ink(palette.own))
        y = paragraph(page, left, action.title, SUBHEADING, id=f"action.{number}")
    example = _example(action, own, words)
    if example:
        below = left.cut(top=y - left.y + 1.0)
        y = paragraph(page, below, example, BODY, id=f"example.{number}") + 1.0
    paragraph(page, left.cut(top=y - left.y), action.evidence, CAPTION)
    picture = Box(right.x, right.y, right.width, ACTION_STRIP_HEIGHT)
    action_strip(page, picture, swap=action.swap, words=words)
    if own and own.cases:
        _cases(page, right.cut(top=ACTION_STRIP_HEIGHT - 6.0), own, words, number)
    beside = _sides(composer, action, own)[0] + 2 * _ANSWER <= box.height - _PAD
    rows = 2 if beside else 1
    foot = (left if beside else box).cut(left=left.x - (left if beside else box).x)
    y = box.bottom - _PAD / 2 - rows * _ANSWER
    _answer(composer, action, Box(foot.x, y, foot.width, rows * _ANSWER), number)


def _answer(composer: Composer, action: Action, box: Box, number: int) -> None:
    """Ask what the reader says of the swap: three boxes to tick, and a field for words.

    The field stands beside the boxes, or below them in a box of two rows.
    """
    page, words = composer.page, composer.style.strings
    name = f"swap{number}"
    about = return_sheet.about_swap(composer.masthead.recipient, action.swap)
    x, line = box.x, box.y + 8.5
    with page.tag("L"):
        for choice in get_args(return_sheet.Opinion):
            label = words(f"card.{choice.replace(' ', '_')}")
            frame = Box(x, box.y + 2.0, 7.4, 7.4)
            said = words("card.box", answer=label, title=action.title)
            with page.tag("LI"), page.tag("LBody"):
                page.ask(Field(name, choice, about, said, frame))
                put(page, (x + 11.0, line), label, NOTE)
            page.add(Rect(frame.x, frame.y, frame.width, frame.height, stroke=palette.ink))
            x += 11.0 + width_of(label, NOTE) + 14.0
    label = words("card.words")
    if box.height > _ANSWER:
        x, line = box.x, line + _ANSWER
    with page.text():
        put(page, (x, line), label, NOTE.muted)
    x += width_of(label, NOTE) + 5.0
    field = Box(x, box.bottom - _ANSWER, box.right - x, _ANSWER - 1.0)
    asked = words("card.words_box", title=action.title)
    page.ask(Field(f"{name}.words", "", about, asked, field))
    page.add(Line(field.x, field.bottom, field.right, field.bottom, palette.rule, 0.5))


def _columns(box: Box) -> tuple[Box, Box]:
    width = 0.56 * box.width - _NUMBER
    left = Box(box.x + _NUMBER, box.y + 3.0, width, box.height)
    x = left.right + _GUTTER
    return left, Box(x, box.y + 3.0, box.right - x, box.height)


def _example(action: Action, own: ActionCases | None, words: Strings) -> str:
    """Compose the sentence before and after, for the finding that the cases are about."""
    finding = own.cases[0].pathology if own and own.cases else action.swap.finding
    both = [f"wording.{phrase}" for phrase in (action.swap.phrase, action.swap.instead)]
    if not finding or not all(key in words.sentences for key in both):
        return ""
    before, after = (_sentence(words(key, finding=finding)) for key in both)
    return words("card.example", before=before, after=after)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cases(page: Drawing, box: Box, own: ActionCases, words: Strings, number: int) -> None:
    """List the cases in their order, each with code, month, finding and what CT said."""
    with page.text():
        put(page, (box.x, box.y + 7.0), words("card.cases"), NOTE.bold.muted)
    with page.tag("L"):
        for i, case in enumerate(own.cases):
            y = box.y + 7.0 + (i + 1) * _LINE
            line, kind = fit(_case(case, own, words), NOTE, box.width, smallest=5.0)
            with page.tag("LI"), page.tag("LBody"):
                put(page, (box.x, y), line, kind, id=f"action.{number}.case.{i}")


def _case(case: Case, own: ActionCases, words: Strings) -> str:
    finding = "" if own.finding else words("card.finding", finding=words.name(case.pathology))
    calls = {True: "good", False: "miss", None: "open"}
    return words(
        f"card.{calls[case.agreed]}",
        code=case.xray_code,
        month=case.month,
        finding=finding,
        ct=words.name(case.ct_phrase),
    )


_LEAST_PICTURE: Final = 138.0
_MOST_PICTURE: Final = 300.0
_HEADING: Final = 30.0
_ASIDE: Final = 60.0
_CASE: Final = 13.5
_APART: Final = 12.0
_ABOVE: Final = 38.0
"""Room for the heading of a list of cases and the heads of its columns."""
_LEAST_CASES, _MOST_CASES = 3, 14
_FEW_CASES: Final = 3
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
        composer.add(Prose(note, BODY.muted), after=8.0)
        return True
    listed = False
    if profile is None:
        composer.add(Prose(words("headline.not_judged"), LEAD), after=10.0)
    else:
        said = in_words(profile, words=words, scale=_scale(content))
        cards = _fitting(composer, _cards(content, said))
        listed = _lead(composer, content, profile, said, cards) or bool(cards)
        _actions(composer, said, cards)
    if composer.room < chart_height(content):
        return False
    phrases(composer, content)
    if not listed:
        _second_look(composer, content)
    return True


def _scale(content: RadiologistContent) -> Scale:
    """Give the recommended phrases of the table with what they mean."""
    if isinstance(content.overall, SuppressedCell):
        return {}
    table = content.overall.phrases
    means = zip(table.phrases, table.expected.tolist(), strict=True)
    return {phrase: mean for phrase, mean in means if phrase in content.recommended}


def _second_look(composer: Composer, content: RadiologistContent) -> None:
    """List some of the reader's own cases where the page has room for them."""
    words = composer.style.strings
    table = _own_cases(content, words, room=composer.room - _ASIDE)
    if table is not None:
        composer.skip(12.0)
        composer.heading(words("radiologist.second_look"), level=1, room=0.0)
        composer.flow(table, after=0.0)


def _own_cases(
    content: RadiologistContent,
    words: Strings,
    *,
    room: float,
    spoken_of: Collection[str] = (),
    shown: Collection[Case] = (),
) -> Table | None:
    """Give cases not shown yet, as there is room: of phrases spoken of first, then misses first."""
    order = (False, True, None)
    found = sorted(
        (case for case in content.cases or () if case not in shown),
        key=lambda case: (case.phrase not in spoken_of, order.index(case.agreed)),
    )
    chosen = found[: max(min(int(room / _CASE), _MOST_CASES), 0)]
    if len(chosen) < _LEAST_CASES:
        return None
    keys = ("call", "xray", "pathology", "phrase", "ct_phrase")
    columns = tuple(Column(words(f"cases.{key}"), 1.0) for key in keys)
    calls = {True: "call_good", False: "call_apart", None: "call_open"}
    rows = tuple(
        Row((words(f"cases.{calls[case.agreed]}"), case.xray_code,
             words.name(case.pathology), case.phrase, words.name(case.ct_phrase)))
        for case in chosen
    )  # fmt: skip
    return Table(columns, rows, id="look")


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
        with page.text():
            put(page, (column.x, column.y + 12.0), text, kind)
            text, kind = fit(label, NOTE, column.width)
            put(page, (column.x, column.y + 21.5), text, kind.muted)


def _cards(content: RadiologistContent, said: Said) -> list[Card]:
    """Put each action beside the reader's own cases for it."""
    cases = {(own.phrase, own.finding): own for own in content.action_cases}
    return [(action, cases.get((action.swap.phrase, action.swap.finding)))
            for action in said.actions]  # fmt: skip


def _fitting(composer: Composer, cards: list[Card]) -> list[Card]:
    """Show fewer cases of each swap where all cards would not stand on the page."""
    least = composer.room - _LEAST_PICTURE - _HEADING
    if sum(card_height(composer, *card) for card in cards) <= least:
        return cards
    return [(action, own and replace(own, cases=own.cases[:_FEW_CASES])) for action, own in cards]


def _lead(
    composer: Composer,
    content: RadiologistContent,
    profile: ReaderProfile,
    said: Said,
    cards: list[Card],
) -> bool:
    """Set the sentence and what follows on the left, its picture on the right.

    Cases that no card shows fill the room beside the picture; says whether they do.
    """
    rows = tuple(row for row in judged_rows(content, profile) if row.hedge)
    width = (0.55 if rows else 1.0) * composer.body.width
    texts = [(said.first, LEAD.bold), (said.lead, _TEXT)]
    texts += [(sentence, _TEXT) for sentence in said.also]
    tall = sum(paragraph_height(text, kind, width) + 4.0 for text, kind in texts)
    below = _actions_height(composer, said, cards)
    picture = _picture_height(composer, content, below, tall) if rows else 0.0
    box = composer.claim(max(tall, picture))
    y = box.y
    for i, (text, kind) in enumerate(texts):
        name = "headline" if i == 0 else ""
        frame = Box(box.x, y, width, 0.0)
        y = paragraph(composer.page, frame, text, kind, id=name) + 4.0
    if rows:
        x = box.x + width + 2 * GUTTER
        _picture(composer, rows, Box(x, box.y, box.right - x, picture))
    beside = Box(box.x, y + _APART, width, box.bottom - y - _APART)
    shown = [case for _, own in cards if own for case in own.cases]
    listed = _beside(composer, content, rows, beside, shown)
    composer.skip(6.0)
    return listed


def _beside(
    composer: Composer,
    content: RadiologistContent,
    rows: tuple[PhraseRow, ...],
    box: Box,
    shown: Sequence[Case],
) -> bool:
    """List cases that no card shows under the sentence, where there is room for some."""
    words, page = composer.style.strings, composer.page
    spoken_of = frozenset(row.phrase for row in rows if row.side)
    table = _own_cases(content, words, room=box.height - _ABOVE, spoken_of=spoken_of, shown=shown)
    if table is None:
        return False
    title = words("radiologist.second_look")
    heading(page, box.x, box.y + 10.0, title, SUBHEADING, composer.level(1))
    table.draw(page, box.cut(top=16.0))
    return True


def _picture_height(
    composer: Composer, content: RadiologistContent, below: float, tall: float
) -> float:
    """Give the picture the room that what to try and chart leave on the page, within reason."""
    spare = composer.room - max(tall, _LEAST_PICTURE) - below - 12.0
    if spare >= chart_height(content):
        spare -= chart_height(content, roomy=True)
    return min(max(_LEAST_PICTURE, min(tall, 200.0)) + max(spare, 0.0), _MOST_PICTURE)


def _actions_height(composer: Composer, said: Said, cards: list[Card]) -> float:
    """Room that the cards, or why there are none, take with their heading."""
    below = sum(card_height(composer, action, own) for action, own in cards)
    below += paragraph_height(said.stay, _TEXT, composer.body.width) if said.stay else 0.0
    return below + _HEADING if below else 0.0


def _picture(composer: Composer, rows: tuple[PhraseRow, ...], box: Box) -> None:
    """Draw the picture with its one line of explanation."""
    words = composer.style.strings
    note = words("ladder.note")
    foot = paragraph_height(note, NOTE, box.width)
    frame = box.cut(bottom=foot + 4.0)
    ladder(composer.page, frame, rows=rows, words=words)
    below = Box(box.x, frame.bottom + 4.0, box.width, foot)
    paragraph(composer.page, below, note, NOTE.muted)


def _actions(composer: Composer, said: Said, cards: list[Card]) -> None:
    """Set the cards under their heading, or why there are none."""
    words = composer.style.strings
    if not cards:
        if said.stay:
            composer.heading(words("radiologist.actions"), level=1, room=0.0)
            composer.add(Prose(said.stay, _TEXT), after=4.0)
        return
    key = "radiologist.actions_question" if said.question else "radiologist.actions"
    composer.heading(words(key), level=1, room=card_height(composer, *cards[0]))
    for number, (action, own) in enumerate(cards, start=1):
        card(composer, action, own, number=number)


def facts(content: RadiologistContent, *, words: Strings) -> tuple[tuple[str, str], ...]:
    """Up to three (value, label) pairs under the title."""
    shown: list[tuple[str, str]] = []
    if content.coverage is not None:
        cover = content.coverage
        of = words("radiologist.facts.of", paired=count(cover.paired), xrays=count(cover.xrays))
        label = words("radiologist.facts.paired", hours=f"{cover.window_hours:g}")
        shown.append((of, label))
    overall = content.overall
    if isinstance(overall, SuppressedCell):
        few = state_of(overall, words)
        shown.append((few, words("radiologist.facts.statements")))
        return tuple(shown)
    shown.append((count(overall.n), words("radiologist.facts.statements")))
    gap = overall.phrase_error
    if gap.value == gap.value:
        value = words("radiologist.facts.gap_points", value=points(gap.value))
        shown.append((value, words("radiologist.facts.gap", chance=points(gap.null_high))))
    return tuple(shown)
