"""At most three proposals to decide on, and the months behind them; nobody is named.

A phrase is proposed where several readers' pages say of it that CT shows more, or less, than the
word, and the department's own rate says so too, by five points or more: what some readers do and
others undo is nothing to teach all. "Absent" and "present" where several readers' are contradicted
by CT more often than others'.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

from calibration.phrase_calibration import PhraseCalibration
from calibration.profile import DepartmentProfile, ReaderProfile
from calibration.run_chart import LEAST
from reports.content import SuppressedCell
from reports.drawing.layout import Figure, Prose, Section, statement
from reports.drawing.marks import PHONE, Box, Drawing
from reports.drawing.style import BODY, GUTTER
from reports.figures.series import printed, run_chart
from reports.numbers import count, percent, percent_interval, points
from reports.pages.radiologist.later import swap_counts
from reports.review_content import CommitteeContent, RunChart
from reports.strings import Strings
from reports.swaps import Side, kept_swaps, side_of
from reports.verdict import sides

_MOST: Final = 3
_LEAST_READERS: Final = 2
_LEAST_SHARE: Final = 0.25
_CHART: Final = 118.0
_WORTH_TEACHING: Final = 0.05
"""Distance of the department's rate from a word's promise below which nobody need be taught."""
_WORTH_SAYING: Final = 0.01
"""Gain below which an effect is not printed."""


def decisions(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Lay out the proposals; nothing where readers were not judged together."""
    found = content.profiles
    if found is None or isinstance(found, SuppressedCell):
        return ()
    proposed = _proposed(found, content, words)
    pieces = tuple(Prose(text, BODY) for text in proposed[:_MOST])
    none = (statement(words("decisions.none")),)
    return (Section(words("decisions.title"), pieces or none, room=60.0),)


def _proposed(found: DepartmentProfile, content: CommitteeContent, words: Strings) -> list[str]:
    """Give all proposals, those of most readers first."""
    readers = found.readers
    enough = max(_LEAST_READERS, _LEAST_SHARE * len(readers))
    judged = [_judged(reader, content.minimum_n) for reader in readers]
    able = Counter(phrase for each in judged for phrase in each)
    marked = Counter((p, side) for each in judged for p, side in each.items() if side)
    department = content.department
    table = None if isinstance(department, SuppressedCell) else department.phrases
    parts = []
    for (phrase, side), n in marked.items():
        if table and not _stands(phrase, side, table):
            continue
        off = [r for r, each in zip(readers, judged, strict=True) if each.get(phrase) == side]
        instead, advised = _instead(phrase, side, off)
        said = [words(f"decisions.{side}", phrase=phrase, n=n, readers=able[phrase])]
        said += [words("decisions.instead", instead=instead, n=advised)] if instead else []
        said += _effect(phrase, instead, table, words) if table else []
        parts.append((n, " ".join(said)))
    for name in ("absent", "present"):
        n = sum(getattr(reader, name).state == "more often" for reader in readers)
        text = words(f"decisions.{name}", n=n, readers=len(readers))
        parts.append((n, text))
    kept = [(n, text) for n, text in parts if n >= enough]
    return [text for _, text in sorted(kept, key=lambda part: (-part[0], part[1]))]


def _judged(reader: ReaderProfile, minimum: int) -> dict[str, Side | None]:
    """Say of each phrase that a reader wrote often enough on which side CT surely lies, if any.

    A side counts where the reader's page names it and the rate's 95 % interval misses the meaning.
    """
    named = sides(reader)
    return {
        p.phrase: named.get(p.phrase)
        if not p.rate.low <= p.meaning <= p.rate.high
        and named.get(p.phrase) == side_of(p.rate.value, p.meaning)
        else None
        for p in reader.phrases
        if p.n >= minimum
    }


def _stands(phrase: str, side: Side, table: PhraseCalibration) -> bool:
    """Say whether the department misses what the word promises, surely and by enough to matter."""
    if phrase not in table.phrases:
        return False
    k = table.phrases.index(phrase)
    low, high, meaning = (float(x[k]) for x in (table.low, table.high, table.expected))
    misses = meaning < low if side == "more" else high < meaning
    return misses and abs(float(table.observed[k]) - meaning) >= _WORTH_TEACHING


def _instead(phrase: str, side: Side, readers: Sequence[ReaderProfile]) -> tuple[str, int]:
    """Give the word that most of these readers are advised instead; none where few are."""
    instead = Counter(
        swap.instead
        for reader in readers
        for swap in kept_swaps(reader)
        if swap.phrase == phrase
        and not swap.finding
        and side_of(swap.instead_meaning, swap.meaning) == side
    )
    word, n = min(instead.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
    return (word, n) if n >= _LEAST_READERS else ("", 0)


def _effect(phrase: str, instead: str, table: PhraseCalibration, words: Strings) -> list[str]:
    """Give the department's rate of the phrase, and what writing the other word would change."""
    place = {name: k for k, name in enumerate(table.phrases)}
    k, j = place.get(phrase), place.get(instead)
    if k is None or not math.isfinite(float(table.observed[k])):
        return []
    rate, meaning = float(table.observed[k]), float(table.expected[k])
    said = [
        words(
            "decisions.evidence",
            rate=percent(rate),
            interval=percent_interval(float(table.low[k]), float(table.high[k]), rate),
            statements=words.several("unit.statements", round(float(table.n[k]))),
            meaning=percent(meaning),
        )
    ]
    if j is None:
        return said
    before, after = abs(rate - meaning), abs(rate - float(table.expected[j]))
    if after < before - _WORTH_SAYING:
        effect = words("decisions.effect", before=points(before), after=points(after))
        said.append(effect)
    return said


def over_time(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Chart the months, and say what they show, what was advised and what came back."""
    charts = content.run_charts
    title = words("run_chart.title")
    if not charts:
        return (Section(title, (statement(words("state.not_computed")),)),)

    def paint(drawing: Drawing, box: Box) -> None:
        for column, chart in zip(box.columns(2, gutter=GUTTER), charts, strict=False):
            run_chart(drawing, column, chart=chart, words=words)

    figure = Figure(paint, _CHART, words("run_chart.note"), screen=2 * PHONE + GUTTER)
    said = [_shown(chart, words) for chart in charts]
    beside = (_coverage(content, words), _advised(content, words), _returned(content, words))
    said += [text for text in beside if text]
    return (Section(title, (figure, *(Prose(text, BODY) for text in said)), room=_CHART + 60.0),)


def _shown(chart: RunChart, words: Strings) -> str:
    """Say whether a measure has changed, and how it stands to its target."""
    process, name = chart.process, words(f"run_chart.{chart.key}")
    if not math.isfinite(process.low):
        parts = [words("run_chart.few", name=name, n=process.n, least=LEAST)]
    elif not process.signals:
        parts = [words("run_chart.steady", name=name, mean=printed(chart, process.mean, words))]
    else:
        last = next(s for s in process.signals if s.at == process.signals[-1].at)
        rule = words(f"run_chart.rule.{last.rule}")
        month = chart.months[last.at]
        key = "up" if last.up else "down"
        mean = printed(chart, process.mean, words)
        parts = [words(f"run_chart.{key}", name=name, month=month, rule=rule, mean=mean)]
    if math.isfinite(chart.chance):
        chance = printed(chart, chart.chance, words)
        parts.append(words("run_chart.by_chance", chance=chance))
    if math.isfinite(chart.target) and math.isfinite(process.mean):
        parts.append(
            words(
                "run_chart.aim",
                target=printed(chart, chart.target, words),
                mean=printed(chart, process.mean, words),
            )
        )
    return " ".join(parts)


def _coverage(content: CommitteeContent, words: Strings) -> str:
    cover = content.coverage
    if cover is None or not cover.xrays:
        return ""
    said = words(
        "run_chart.coverage",
        hours=f"{cover.window_hours:g}",
        paired=count(cover.paired),
        xrays=count(cover.xrays),
        share=percent(cover.paired / cover.xrays),
    )
    return " ".join([said, *_by_word(content, words)])


def _by_word(content: CommitteeContent, words: Strings) -> list[str]:
    """Name the hedges whose X-rays were followed by a CT most and least often."""
    known = [each for each in content.written or () if math.isfinite(each.paired)]
    least = min(known, key=lambda each: each.paired, default=None)
    most = max(known, key=lambda each: each.paired, default=None)
    if least is None or most is None or percent(least.paired) == percent(most.paired):
        return []
    return [
        words(
            "run_chart.by_word",
            most=most.phrase,
            often=percent(most.paired),
            least=least.phrase,
            seldom=percent(least.paired),
        )
    ]


def _advised(content: CommitteeContent, words: Strings) -> str:
    found = content.profiles
    if found is None or isinstance(found, SuppressedCell):
        return ""
    swaps = [len(kept_swaps(reader)) for reader in found.readers]
    told = sum(n > 0 for n in swaps)
    return words("run_chart.advised", swaps=sum(swaps), told=told, readers=len(swaps))


def _returned(content: CommitteeContent, words: Strings) -> str:
    back = content.returned
    if back is None:
        return ""
    if not back.total and not back.swaps:
        return words("run_chart.returned_none")
    answers = words.several("unit.cases", back.total)
    said = words("run_chart.returned", answers=answers, left_out=count(back.left_out))
    if not back.swaps:
        return said
    return f"{said} {words('run_chart.returned_swaps', **swap_counts(back))}"
