"""The radiologist's phrase chart: each phrase against one comparator, marked where it is off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from calibration.profile import ReaderProfile
from reports.content import RadiologistContent, SuppressedCell, Unscored
from reports.disclosure import state_of
from reports.drawing.layout import Composer, Prose
from reports.drawing.style import CAPTION, HEADING, NOTE
from reports.drawing.typeset import paragraph_height
from reports.figures.phrase_chart import Sign, phrase_chart, phrase_chart_height, phrase_key
from reports.figures.phrase_rows import PhraseRow, RowState, phrase_rows, profile_rows, rated_row
from reports.marked import subjects
from reports.numbers import count
from reports.out_of_order import unread
from reports.single_words import carriers
from reports.strings import Strings
from reports.swaps import Scale

# White space about heading and note; height of the key.
_APART, _KEY = 20.0, 16.0
_EVEN: Final = 0.5
# Heights of a row: the least whose type is legible, of a chart set close, of one with room.
LEAST, _TIGHT, ROOMY, _LOOSE = 9.0, 13.0, 19.0, 44.0


def picture_rows(
    rows: Sequence[PhraseRow], profile: ReaderProfile, words: Strings
) -> tuple[PhraseRow, ...]:
    """Give hedges in the order in which the picture needs them; the first sentence's have a side.

    Those that are marked or spoken of come first, then the most used. A word in one finding that
    the first sentence is about has a row of its own, with the rate that the sentence gives; it is
    the only one of a word that was written of nothing else.
    """
    spoken_of = {row.name: row for row in (rated_row(each, words) for each in subjects(profile))}
    first = {p.phrase for p in carriers(profile)} or {*[*spoken_of][:1]}
    hedges = {row.name: row for row in rows if row.hedge}
    alone = [spoken_of[name] for name in first if name not in hedges]
    whole = {(row.phrase, row.n) for row in alone}
    others = (row for row in hedges.values() if (row.phrase, row.n) not in whole)
    drawn = [
        replace(row, side=row.side if row.name in first else None) for row in (*others, *alone)
    ]

    marked = {row.name for row in hedges.values() if row.side}

    def later(row: PhraseRow) -> tuple[bool, bool, bool, int]:
        return row.name not in first, row.name not in spoken_of, row.name not in marked, -row.n

    return tuple(sorted(drawn, key=later))


def scale_of(content: RadiologistContent, phrases: frozenset[str]) -> Scale:
    """Give these phrases, the recommended or the discouraged, with what they mean."""
    if isinstance(content.overall, SuppressedCell):
        return {}
    table = content.overall.phrases
    means = zip(table.phrases, table.expected.tolist(), strict=True)
    return {phrase: mean for phrase, mean in means if phrase in phrases}


@dataclass(frozen=True, slots=True)
class PhraseChart:
    """The chart with its heading and key, and the phrases that are not in it."""

    rows: tuple[PhraseRow, ...]
    content: RadiologistContent
    words: Strings
    left_out: tuple[Prose, ...]

    @classmethod
    def of(cls, content: RadiologistContent, words: Strings) -> PhraseChart:
        """Choose the rows that the page may show."""
        rows = _rows(content, words)
        left_out = (Prose(text, NOTE.muted) for text in _left_out(content, rows, words))
        return cls(rows, content, words, tuple(left_out))

    @property
    def certain(self) -> list[PhraseRow]:
        """Give the rows of "present" and "absent", which have their own ticks."""
        return [row for row in self.rows if row.certain]

    @property
    def _note(self) -> str:
        marked = any(row.phrase in self.content.discouraged for row in self.rows)
        dagger = self.words("radiologist.chart_note_dagger") if marked else ""
        off = "note" if any(row.side for row in self.rows) else "none"
        off = off if self._hedged else "certain"
        note = self.words(f"phrase_chart.{unread(self.content.profile) or off}") + dagger
        return note if self.rows else ""

    @property
    def _hedged(self) -> bool:
        """Whether a row is a hedge's, which has a meaning and a band; certainties have neither."""
        return any(not row.certain for row in self.rows)

    def height(self, width: float, row: float = _TIGHT) -> float:
        """Room that it takes with rows of a height."""
        head = paragraph_height(self.words("radiologist.chart"), HEADING, width)
        note = paragraph_height(self._note, CAPTION, width)
        chart = phrase_chart_height(len(self.rows), row=row) if self.rows else 0.0
        return head + note + _APART + chart + self._foot(width)

    def _foot(self, width: float) -> float:
        return _KEY * bool(self.rows) + sum(prose.height(width) for prose in self.left_out)

    def draw(self, composer: Composer, *, below: float = 0.0) -> None:
        """Fill the page, but for ``below`` points."""
        words, rows, content = self.words, self.rows, self.content
        composer.heading(words("radiologist.chart"), room=60.0, note=self._note)
        if rows:
            room = composer.room - below - self._foot(composer.body.width)
            chart = composer.claim(min(phrase_chart_height(len(rows), row=_LOOSE), room))
            paint = partial(phrase_chart, rows=rows, minimum_n=content.minimum_n, words=words)
            paint(composer.page, chart, discouraged=content.discouraged)
            shown = any(row.department == row.department for row in rows)
            against: tuple[Sign, ...] = ("band", "mean") if self._hedged else ("rates",)
            signs: tuple[Sign, ...] = (*against, "own", *(("department",) if shown else ()))
            phrase_key(composer.page, composer.claim(_KEY), words=words, signs=signs)
        for prose in self.left_out:
            composer.add(prose, after=0.0)


def _rows(content: RadiologistContent, words: Strings) -> tuple[PhraseRow, ...]:
    overall, profile = content.overall, content.profile
    if isinstance(overall, SuppressedCell):
        return ()
    minimum = content.minimum_n
    if profile is None:
        rows = phrase_rows(overall.phrases, minimum_n=minimum)
        return tuple(row for row in rows if row.state is RowState.SHOWN)
    department = None if isinstance(content.department, SuppressedCell) else content.department
    return profile_rows(
        profile, table=overall.phrases, words=words, minimum_n=minimum, department=department
    )


def _left_out(content: RadiologistContent, shown: Sequence[PhraseRow], words: Strings) -> list[str]:
    """Name the phrases without a row, and why there is no department where there is none."""
    texts, department = list[str](), content.department
    if isinstance(department, SuppressedCell):
        texts.append(words("radiologist.department", state=state_of(department, words)))
    if isinstance(content.overall, SuppressedCell):
        return texts
    if content.unscored:
        texts.append(words("radiologist.unscored", phrases=unscored_words(content.unscored, words)))
    rows = phrase_rows(content.overall.phrases, minimum_n=content.minimum_n)
    drawn = {phrase for row in shown for phrase in row.certain or (row.phrase,)}
    beside = [row for row in rows if row.phrase not in drawn]
    few = ", ".join(row.phrase for row in beside if row.state is RowState.TOO_FEW)
    ends = {row.expected > _EVEN for row in shown if row.certain}
    left = [row for row in beside if not row.hedge and (row.expected > _EVEN) not in ends]
    sure = ", ".join(row.phrase for row in left if row.state is RowState.SHOWN)
    unused = ", ".join(row.phrase for row in rows if row.state is RowState.NOT_USED)
    if sure:
        texts.append(words("radiologist.undrawn", phrases=sure))
    if few:
        state = words("state.too_few", minimum=content.minimum_n)
        texts.append(words("radiologist.few_phrases", state=state.capitalize(), phrases=few))
    if unused:
        texts.append(words("radiologist.unused", phrases=unused))
    return texts


def uses(n: int | SuppressedCell, words: Strings) -> str:
    """Print a count, or why there is none."""
    if not isinstance(n, SuppressedCell):
        return count(n)
    few = n.of == "exams"
    return words("radiologist.unscored_few", minimum=n.minimum) if few else state_of(n, words)


def unscored_words(unscored: tuple[Unscored, ...], words: Strings) -> str:
    """List hedges without a meaning, each with its count or why there is none."""
    return ", ".join(
        words("radiologist.unscored_phrase", phrase=each.phrase, n=uses(each.n, words))
        for each in unscored
    )
