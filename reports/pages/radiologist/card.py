"""One action as a card: the swap and its wording, evidence, picture, own cases, and answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, groupby
from typing import Final, get_args

from reports.content import Case
from reports.drawing.layout import Composer
from reports.drawing.marks import Box, Drawing, Field, Line, Rect
from reports.drawing.style import BODY, CAPTION, HEADING, NOTE, SUBHEADING, Type, palette
from reports.drawing.typeset import paragraph, paragraph_height, put, width_of
from reports.figures.ladder import ACTION_STRIP_HEIGHT, action_strip
from reports.numbers import count as printed
from reports.pages import return_sheet
from reports.strings import Strings
from reports.swaps import Action

_NUMBER: Final = 18.0
_GUTTER: Final = 16.0
# Width of the picture and of a usual case's line, with its finding and where the swap names it.
_CASES, _NAMED = 234.0, 186.0
# Height of a row of answers; width of the labels at both ends of the picture's axis.
_ANSWER, _ENDS = 13.0, 64.0


@dataclass(frozen=True, slots=True)
class Card:
    """A swap with the reader's own cases of it, to be set across a page of some width."""

    action: Action
    cases: tuple[Case, ...]
    number: int
    recipient: str
    words: Strings
    across: float
    pad: float = 10.0
    """White space below."""
    kind: Type = CAPTION

    @property
    def height(self) -> float:
        """Height on the page: answers stand below the text, or below both sides in one line."""
        left, right = self._left, self._right
        return min(max(left + 2 * _ANSWER, right), max(left, right) + _ANSWER) + self.pad

    @property
    def _beside(self) -> float:
        if not self.action.swap.finding:
            return _CASES
        titles = [width_of(title, NOTE.bold) + 0.1 for title, _ in self._groups()]
        titles.append(width_of(self._picked, NOTE) + _ENDS)
        return min(max(_NAMED, *titles), _CASES)

    @property
    def _room(self) -> float:
        return self.across - _NUMBER - _GUTTER - self._beside

    @property
    def _texts(self) -> tuple[tuple[str, Type], ...]:
        """What stands below the title: the sentence before and after, and the evidence."""
        return (self._example, BODY), (self.action.evidence, self.kind)

    @property
    def _left(self) -> float:
        titled = ((self.action.title, SUBHEADING), *self._texts)
        return sum(paragraph_height(text, kind, self._room) + 1.0 for text, kind in titled if text)

    @property
    def _right(self) -> float:
        lines = [
            paragraph_height(text, kind, self._beside)
            for title, cases in self._groups()
            for text, kind in ((title, NOTE.bold), *((case, NOTE) for case in cases))
        ]
        return ACTION_STRIP_HEIGHT + sum(lines)

    @property
    def _example(self) -> str:
        """Compose the sentence before and after, for the cases' finding, of one advised word."""
        swap, words = self.action.swap, self.words
        finding = self._finding
        both = [f"wording.{phrase}" for phrase in (swap.phrase, swap.instead)]
        promised = self.action.instead == swap.instead
        if not (finding and promised and all(key in words.sentences for key in both)):
            return ""
        before, after = (words(key, finding=finding) for key in both)
        capital = [text[:1].upper() + text[1:] for text in (before, after)]
        return words("card.example", before=capital[0], after=capital[1])

    @property
    def _finding(self) -> str | None:
        """Choose the finding of the example: that of most cases for the swap and of none against.

        A swap in one finding has that one; its cases name it in the language of the reports.
        """
        swap, named = self.action.swap, [case.pathology for case in self.cases]
        if swap.finding:
            return named[0] if named else swap.finding
        up = swap.instead_meaning > swap.meaning
        against = {case.pathology for case in self.cases if case.showed is not up}
        against |= {name for name in named if self.words.name(name) in self.action.apart}
        return max((name for name in named if name not in against), key=named.count, default=None)

    @property
    def _picked(self) -> str:
        """Say how many of how many cases these are; on the first card how they were picked."""
        key = "card.picked_first" if self.number == 1 else "card.picked"
        return self.words(key, k=len(self.cases), n=printed(self.action.swap.n))

    def _groups(self) -> Iterator[tuple[str, list[str]]]:
        """Give the cases in their order, a line each, under what their CTs speak for."""
        swap, words = self.action.swap, self.words
        up = swap.instead_meaning > swap.meaning
        for found, cases in groupby(self.cases, key=lambda case: case.showed):
            speaks = f"{'found' if found else 'not_found'}_{'for' if found == up else 'against'}"
            key = "open" if found is None else speaks
            yield words(f"card.{key}"), [self._case(case) for case in cases]

    def _case(self, case: Case) -> str:
        name, whole = self.words.name, not self.action.swap.finding
        month = self.words.month(case.month)
        finding = self.words("card.finding", finding=name(case.pathology)) if whole else ""
        shown = {"code": case.xray_code, "month": month, "ct": name(case.ct_phrase, of="CT: ")}
        return self.words("card.case", finding=finding, **shown)

    def draw(self, composer: Composer, box: Box) -> None:
        """Set number, swap, wording and evidence on the left; picture and cases on the right."""
        page = composer.page
        page.add(Line(box.x, box.y, box.right, box.y, palette.hairline, 0.5))
        left = Box(box.x + _NUMBER, box.y + 3.0, self._room, box.height)
        right = Box(box.right - self._beside, box.y + 3.0, self._beside, box.height)
        with page.tag(composer.level(2)):
            put(page, (box.x, box.y + 13.0), str(self.number), HEADING.in_ink(palette.own))
            name = f"action.{self.number}"
            y = paragraph(page, left, self.action.title, SUBHEADING, id=name) + 1.0
        for text, kind in self._texts:
            if text:
                name = f"example.{self.number}" if kind is BODY else ""
                y = paragraph(page, left.cut(top=y - left.y), text, kind, id=name) + 1.0
        strip = Box(right.x, right.y, right.width, ACTION_STRIP_HEIGHT - 6.0)
        action_strip(page, strip, swap=self.action.swap, words=self.words)
        self._list(page, right.cut(top=strip.height))
        beside = self._left + 2 * _ANSWER <= box.height - self.pad
        rows, width = (2, left.width) if beside else (1, box.right - left.x)
        foot = box.bottom - self.pad / 2 - rows * _ANSWER
        self._answer(page, Box(left.x, foot, width, rows * _ANSWER))

    def _list(self, page: Drawing, box: Box) -> None:
        y, names = box.y, (f"action.{self.number}.case.{i}" for i in count())
        if self.cases:
            with page.tag("P"):
                put(page, (box.x + box.width / 2, box.y - 4.0), self._picked, NOTE, anchor="middle")
        for title, cases in self._groups():
            y = paragraph(page, Box(box.x, y, box.width, 0.0), title, NOTE.bold.muted)
            with page.tag("L"):
                for text in cases:
                    frame = Box(box.x, y, box.width, 0.0)
                    with page.tag("LI"), page.tag("LBody"):
                        y = paragraph(page, frame, text, NOTE, id=next(names))

    def _answer(self, page: Drawing, box: Box) -> None:
        """Ask what the reader says of the swap: three boxes to tick, and a field for words.

        The field stands beside the boxes, or below them in a box of two rows.
        """
        words, name, title = self.words, f"swap{self.number}", self.action.title
        about = return_sheet.about_swap(self.recipient, self.action.swap)
        x, line = box.x, box.y + 8.5
        with page.tag("L"):
            for choice in get_args(return_sheet.Opinion):
                key = choice.replace(" ", "_")
                label = words(f"card.{key}")
                frame = Box(x, box.y + 2.0, 7.4, 7.4)
                said = words("card.box", answer=label, title=title)
                with page.tag("LI"), page.tag("LBody"):
                    page.ask(Field(name, choice, about, said), frame)
                    put(page, (x + 11.0, line), label, NOTE)
                page.add(Rect(frame.x, frame.y, frame.width, frame.height, stroke=palette.ink))
                x += 11.0 + width_of(label, NOTE) + 14.0
        label = words("card.words")
        if box.height > _ANSWER:
            x, line = box.x, line + _ANSWER
        start = x + width_of(label, NOTE) + 5.0
        field = Box(start, box.bottom - _ANSWER, box.right - start, _ANSWER - 1.0)
        asked = words("card.words_box", title=title)
        with page.tag("P"):
            put(page, (x, line), label, NOTE.muted)
            page.ask(Field(f"{name}.words", "", about, asked), field)
        page.add(Line(field.x, field.bottom, field.right, field.bottom, palette.rule, 0.5))
