"""An action as a card: the swap, how to write it, its evidence and picture, and the own cases."""

from __future__ import annotations

from typing import Final

from reports.content import ActionCases, Case
from reports.drawing.layout import Composer
from reports.drawing.marks import Box, Drawing, Line
from reports.drawing.style import BODY, CAPTION, HEADING, NOTE, SUBHEADING, palette
from reports.drawing.typeset import fit, paragraph, paragraph_height, put
from reports.figures.action_strip import ACTION_STRIP_HEIGHT, action_strip
from reports.strings import Strings
from reports.swaps import Action

__all__ = ["card", "card_height"]

_NUMBER: Final = 18.0
_GUTTER: Final = 20.0
_LINE: Final = 9.5
_PAD: Final = 8.0


def card_height(composer: Composer, action: Action, own: ActionCases | None) -> float:
    """Height of one card on this page."""
    left, _ = _columns(composer.body)
    words = composer.style.strings
    text = paragraph_height(action.evidence, CAPTION, left.width)
    example = _example(action, own, words)
    written = paragraph_height(example, BODY, left.width) + 2.0 if example else 0.0
    title = paragraph_height(action.title, SUBHEADING, left.width)
    cases = len(own.cases) if own else 0
    right = ACTION_STRIP_HEIGHT - 6.0 + (_LINE * (cases + 1) if cases else 0.0)
    return max(title + written + text, right) + _PAD


def card(composer: Composer, action: Action, own: ActionCases | None, *, number: int) -> None:
    """Set number, swap, wording and evidence on the left; picture and cases on the right."""
    box = composer.claim(card_height(composer, action, own))
    page, words = composer.page, composer.style.strings
    page.add(Line(box.x, box.y, box.right, box.y, palette.hairline, 0.5))
    put(page, box.x, box.y + 13.0, str(number), HEADING, colour=palette.own)
    left, right = _columns(box)
    y = paragraph(page, left, action.title, SUBHEADING, id=f"action.{number}")
    example = _example(action, own, words)
    if example:
        y = paragraph(page, left.cut(top=y - left.y + 1.0), example, BODY) + 1.0
    paragraph(page, left.cut(top=y - left.y), action.evidence, CAPTION)
    picture = Box(right.x, right.y, right.width, ACTION_STRIP_HEIGHT)
    action_strip(page, picture, swap=action.swap)
    if own and own.cases:
        _cases(page, right.cut(top=ACTION_STRIP_HEIGHT - 6.0), own, words, number)


def _columns(box: Box) -> tuple[Box, Box]:
    width = 0.56 * box.width - _NUMBER
    left = Box(box.x + _NUMBER, box.y + 3.0, width, box.height)
    x = left.right + _GUTTER
    return left, Box(x, box.y + 3.0, box.right - x, box.height)


def _example(action: Action, own: ActionCases | None, words: Strings) -> str:
    """Compose the sentence before and after, for the finding that the cases are about."""
    finding = action.swap.finding or (own.cases[0].pathology if own and own.cases else "")
    both = [f"wording.{phrase}" for phrase in (action.swap.phrase, action.swap.instead)]
    if not finding or not all(key in words.sentences for key in both):
        return ""
    before, after = (_sentence(words(key, finding=finding)) for key in both)
    return words("card.example", before=before, after=after)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _cases(page: Drawing, box: Box, own: ActionCases, words: Strings, number: int) -> None:
    """List the cases, misses first, each with code, month, finding and what CT said."""
    put(page, box.x, box.y + 7.0, words("card.cases"), NOTE.bold, colour=palette.muted)
    for i, case in enumerate(own.cases):
        y = box.y + 7.0 + (i + 1) * _LINE
        line, kind = fit(_case(case, own, words), NOTE, box.width, smallest=5.0)
        put(page, box.x, y, line, kind, id=f"action.{number}.case.{i}")


def _case(case: Case, own: ActionCases, words: Strings) -> str:
    finding = "" if own.finding else words("card.finding", finding=case.pathology)
    calls = {True: "good", False: "miss", None: "open"}
    return words(
        f"card.{calls[case.agreed]}",
        code=case.xray_code,
        month=case.month,
        finding=finding,
        ct=case.ct_phrase,
    )
