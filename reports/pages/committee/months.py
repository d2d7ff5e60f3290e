"""The department month by month: run charts, what they show, coverage, advice, what came back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

import numpy as np

from calibration.run_chart import FIRM, LEAST
from reports.content import SuppressedCell
from reports.drawing.layout import Figure, Prose, Section, statement
from reports.drawing.marks import Box, Drawing
from reports.drawing.style import BODY, CAPTION, GUTTER
from reports.figures.series import met_by, printed, run_chart
from reports.numbers import count, percent, points
from reports.pages.radiologist.chart import uses
from reports.pages.radiologist.later import covered, swap_counts
from reports.review_content import CommitteeContent, RunChart
from reports.strings import Strings
from reports.swaps import kept_swaps

_CHART: Final = 118.0
_BETWEEN: Final = 5.0
_EXPECTED: Final = 5


def over_time(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Chart the months, and say what they show, what was advised and what came back.

    Months left for the next issue are named with how many statements each has.
    """
    title, later = words("run_chart.title"), _later(content, words)
    if not content.run_charts:
        return (Section(title, (statement(words("state.not_computed")), *map(Prose, later))),)
    figure = _charts(content.run_charts, words)
    below = [
        *(_shown(chart, content, words) for chart in content.run_charts),
        *_not_drawn(content.run_charts, words),
        *later,
    ]
    given = " ".join(filter(None, (_advised(content, words), _returned(content, words))))
    said = [text for text in (_coverage(content, words), given) if text]
    texts = [Prose(text, CAPTION, after=_BETWEEN) for text in below]
    texts += [Prose(text, BODY, after=_BETWEEN) for text in said]
    return (Section(title, (figure, *texts), room=_CHART + 60.0),)


def _charts(charts: Sequence[RunChart], words: Strings) -> Figure:
    """Draw the charts that have a month side by side; below is said what their signs mean."""
    drawn = [chart for chart in charts if chart.process.n] or charts

    def paint(drawing: Drawing, box: Box) -> None:
        for column, chart in zip(box.columns(2, gutter=GUTTER), drawn, strict=False):
            run_chart(drawing, column, chart=chart, words=words)

    caption = []
    if any(chart.process.n >= LEAST for chart in charts):
        caption.append(words("run_chart.note"))
    if any(chart.process.signals for chart in charts):
        caption.append(words("run_chart.diamond"))
    months = charts[0].process.n
    if LEAST <= months < FIRM:
        caption.append(words("run_chart.provisional", n=months, least=FIRM))
    return Figure(paint, _CHART, " ".join(caption))


def _later(content: CommitteeContent, words: Strings) -> list[str]:
    """Name the months that are left for the next issue."""
    each = [f"{words.month(month, 'long')} ({uses(n, words)})" for month, n in content.later]
    return [words("run_chart.later", months=", ".join(each))] if each else []


def _not_drawn(charts: Sequence[RunChart], words: Strings) -> list[str]:
    """Name months that a chart leaves out, each with its reason.

    A month of which neither has anything is told apart from one that is withheld.
    """
    first = charts[0]
    drawn = np.any([np.isfinite(chart.level) for chart in charts], axis=0)
    named = {*first.partial, *first.withheld}
    levels = zip(first.months, drawn, strict=True)
    empty = [month for month, shown in levels if not shown and month not in named]
    reasons = {"partial": first.partial, "withheld": first.withheld, "empty": empty}
    return [
        words(f"run_chart.{reason}", months=", ".join(words.month(m, "long") for m in months))
        for reason, months in reasons.items()
        if months
    ]


def _shown(chart: RunChart, content: CommitteeContent, words: Strings) -> str:
    """Say whether a measure has changed, and how it stands to its target and to all months."""
    parts = [_signal(chart, words)]
    if math.isfinite(chart.chance) and points(chart.chance) != points(0.0):
        parts.append(words("run_chart.by_chance", chance=printed(chart, chart.chance, words)))
    if chart.key == "distance" and not isinstance(content.department, SuppressedCell):
        whole = printed(chart, content.department.phrase_error.value, words)
        parts.append(words("run_chart.together", whole=whole))
    if math.isfinite(chart.target) and math.isfinite(chart.process.mean):
        parts.append(words("run_chart.aim", target=printed(chart, chart.target, words)))
    return " ".join(parts)


def _signal(chart: RunChart, words: Strings) -> str:
    """Say which signal a measure gives, or gave before; that it gives none, or cannot yet."""
    process, name = chart.process, words(f"run_chart.{chart.key}")
    if not process.n:
        return words("run_chart.nothing", name=name)
    if process.n < LEAST:
        return words("run_chart.few", name=name, n=process.n, least=LEAST)
    mean = printed(chart, process.mean, words)
    if not process.signals:
        return words("run_chart.steady", name=name, mean=mean)
    at = process.signals[-1].at
    last = next(signal for signal in process.signals if signal.at == at)
    ended = np.isfinite(chart.level[at + 1 :]).any()
    key = f"run_chart.{'up' if last.up else 'down'}{'_ended' if ended else ''}"
    when, rule = words.month(chart.months[at], "long"), met_by(last, words)
    return words(key, name=name, month=when, rule=rule, mean=mean)


def _coverage(content: CommitteeContent, words: Strings) -> str:
    cover = content.coverage
    if cover is None or not cover.xrays:
        return ""
    share = percent(cover.paired / cover.xrays)
    said = [words("run_chart.coverage", share=share, **covered(cover))]
    if cover.paired < cover.xrays:
        said.append(words("run_chart.uncovered"))
    return " ".join([*said, *_by_word(content, words)])


def _by_word(content: CommitteeContent, words: Strings) -> list[str]:
    """Name the hedges whose X-rays had a CT most and least often, if beyond chance.

    Beyond chance is where the 95 % limits of a share, divided among all hedges, leave out the share
    of all; where fewer than `_EXPECTED` exams are expected with or without one, nothing is beyond.
    """
    known = [
        (each.phrase, each.reports, each.paired)
        for each in content.written or ()
        if math.isfinite(each.paired) and not isinstance(each.reports, SuppressedCell)
    ]
    if len(known) < 2:
        return []
    whole = sum(reports * share for _, reports, share in known) / sum(n for _, n, _ in known)
    limit = NormalDist().inv_cdf(1.0 - 0.025 / len(known)) * math.sqrt(whole * (1.0 - whole))
    off = [
        (share, phrase)
        for phrase, reports, share in known
        if reports * min(whole, 1.0 - whole) >= _EXPECTED
        and abs(share - whole) > limit / math.sqrt(reports)
    ]
    said = []
    (most, first), (least, last) = max(off, default=(whole, "")), min(off, default=(whole, ""))
    if most > whole:
        said.append(words("run_chart.by_word_most", phrase=first, share=percent(most)))
    if least < whole:
        said.append(words("run_chart.by_word_least", phrase=last, share=percent(least)))
    return [words("run_chart.by_word", share=percent(whole), said=", ".join(said))] if said else []


def _advised(content: CommitteeContent, words: Strings) -> str:
    found = content.profiles
    if found is None:
        return ""
    swaps = {reader.reader: len(kept_swaps(reader)) for reader in found.readers}
    told = {reader for reader, given in swaps.items() if given}
    if not told:
        return words("run_chart.advised_nobody")
    apart = {r.reader for r in found.readers if r.pattern.verdict.state == "pattern"}
    return words(
        "run_chart.advised_all" if apart else "run_chart.advised_some",
        swaps=words.several("unit.swaps", sum(swaps.values())),
        told=len(told),
        readers=len(swaps),
        both=len(told & apart),
        apart=len(apart),
    )


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
