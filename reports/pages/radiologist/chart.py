"""The radiologist's phrase chart: each phrase against one comparator, marked where it is off."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from calibration.profile import ReaderProfile
from reports.content import RadiologistContent, SuppressedCell, Unscored
from reports.disclosure import state_of
from reports.drawing.layout import Composer, Prose
from reports.drawing.style import NOTE
from reports.figures.phrase_chart import phrase_chart, phrase_chart_height, phrase_key
from reports.figures.phrase_rows import (
    PhraseRow,
    RowState,
    named,
    phrase_rows,
    profile_rows,
    rated_row,
)
from reports.numbers import count
from reports.single_words import carriers
from reports.strings import Strings
from reports.swaps import kept_swaps
from reports.verdict import sides, subjects

_AROUND: Final = 116.0
"""Heading, key and notes around the chart."""
_TIGHT, _ROOMY, _LOOSE = 13.0, 19.0, 40.0


def judged_rows(content: RadiologistContent, profile: ReaderProfile) -> tuple[PhraseRow, ...]:
    """Give the rows that the page may show, with the sides its sentences name."""
    department = None if isinstance(content.department, SuppressedCell) else content.department
    rows = profile_rows(
        profile,
        sides=sides(profile),
        minimum_n=content.minimum_n,
        department=department,
        table=None if isinstance(content.overall, SuppressedCell) else content.overall.phrases,
    )
    return tuple(replace(row, phrase=", ".join(_used(row, content))) for row in rows)


def picture_rows(content: RadiologistContent, profile: ReaderProfile) -> tuple[PhraseRow, ...]:
    """Give hedges in the order in which the picture needs them; the first sentence's have a side.

    Those that the page speaks of come first, then the most used. A habit in one finding has a row
    of its own, with the rate that the sentence gives.
    """
    spoken_of = {named(each): each for each in subjects(profile)}
    first = {named(p) for p in carriers(profile, kept_swaps(profile))} or {*[*spoken_of][:1]}
    hedges = {row.phrase: row for row in judged_rows(content, profile) if row.hedge}
    alone = {name: rated_row(name, spoken_of[name]) for name in first if name not in hedges}
    rows = [
        replace(row, side=row.side if row.phrase in first else None)
        for row in (*hedges.values(), *alone.values())
    ]

    def later(row: PhraseRow) -> tuple[bool, bool, int]:
        return row.phrase not in first, row.phrase not in spoken_of, -row.n

    return tuple(sorted(rows, key=later))


def _used(row: PhraseRow, content: RadiologistContent) -> tuple[str, ...]:
    """Name of a row's phrases those that were used; all of them where no counts are at hand."""
    if row.hedge or isinstance(content.overall, SuppressedCell):
        return row.phrases
    counted = content.overall.phrases
    used = {p for p, n in zip(counted.phrases, counted.n, strict=True) if n > 0}
    return tuple(p for p in row.phrases if p in used) or row.phrases


def chart_height(content: RadiologistContent, *, roomy: bool = False) -> float:
    """Room the chart needs with its heading and notes, or would like to have."""
    return _AROUND + phrase_chart_height(len(_rows(content)), row=_ROOMY if roomy else _TIGHT)


def _rows(content: RadiologistContent) -> tuple[PhraseRow, ...]:
    if isinstance(content.overall, SuppressedCell):
        return ()
    if isinstance(content.profile, SuppressedCell) or content.profile is None:
        rows = phrase_rows(content.overall.phrases, minimum_n=content.minimum_n)
        return tuple(row for row in rows if row.state is RowState.SHOWN)
    return judged_rows(content, content.profile)


def phrases(composer: Composer, content: RadiologistContent, *, below: float = 0.0) -> None:
    """Draw the chart, its key, and the phrases not in it, leaving ``below`` points free."""
    words, minimum = composer.style.strings, content.minimum_n
    rows = _rows(content)
    note = words("phrase_chart.note")
    if any(row.phrase in content.discouraged for row in rows):
        note += words("radiologist.chart_note_dagger")
    composer.heading(words("radiologist.chart"), room=60.0, note=note)
    left_out = [Prose(text, NOTE.muted) for text in _left_out(content, words)]
    foot = 16.0 + below + sum(prose.height(composer.body.width) for prose in left_out)
    wanted = phrase_chart_height(len(rows), row=_LOOSE)
    chart = composer.claim(min(wanted, composer.room - foot))
    marked = content.discouraged
    phrase_chart(
        composer.page, chart, rows=rows, minimum_n=minimum, words=words, discouraged=marked
    )
    department = any(row.department == row.department for row in rows)
    phrase_key(composer.page, composer.claim(16.0), words=words, own="own", department=department)
    for prose in left_out:
        composer.add(prose, after=0.0)


def _left_out(content: RadiologistContent, words: Strings) -> list[str]:
    """Name the phrases without a row, and why there is no department where there is none."""
    texts: list[str] = []
    if content.department is None:
        texts.append(words("radiologist.department", state=words("state.not_computed")))
    elif isinstance(content.department, SuppressedCell):
        texts.append(words("radiologist.department", state=state_of(content.department, words)))
    if isinstance(content.overall, SuppressedCell):
        return texts
    if content.unscored:
        texts.append(words("radiologist.unscored", phrases=unscored_words(content.unscored, words)))
    rows = phrase_rows(content.overall.phrases, minimum_n=content.minimum_n)
    shown = {phrase for row in _rows(content) for phrase in row.phrases}
    few = ", ".join(
        row.phrase for row in rows if row.state is RowState.TOO_FEW and row.phrase not in shown
    )
    unused = ", ".join(row.phrase for row in rows if row.state is RowState.NOT_USED)
    if few:
        state = words("state.too_few", minimum=content.minimum_n)
        texts.append(words("radiologist.few_phrases", state=_capital(state), phrases=few))
    if unused:
        texts.append(words("radiologist.unused", phrases=unused))
    return texts


def unscored_words(unscored: tuple[Unscored, ...], words: Strings) -> str:
    """List hedges without a meaning, each with its count or why there is none."""
    return ", ".join(
        words(
            "radiologist.unscored_phrase",
            phrase=each.phrase,
            n=state_of(each.n, words) if isinstance(each.n, SuppressedCell) else count(each.n),
        )
        for each in unscored
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
