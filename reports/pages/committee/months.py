"""The department month by month: run charts, what they show, coverage, advice, what came back."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

import numpy as np

from calibration.run_chart import FIRM, LEAST
from reports.content import SuppressedCell
from reports.drawing.layout import Figure, Prose, Section, statement
from reports.drawing.marks import PHONE, Box, Drawing
from reports.drawing.style import BODY, CAPTION, GUTTER
from reports.figures.series import printed, run_chart
from reports.numbers import count, percent
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
    charts = content.run_charts
    title = words("run_chart.title")
    after = ", ".join(f"{words.month(m, 'long')} ({uses(n, words)})" for m, n in content.later)
    left = [words("run_chart.later", months=after)] if after else []
    if not charts:
        return (Section(title, (statement(words("state.not_computed")), *map(Prose, left))),)

    def paint(drawing: Drawing, box: Box) -> None:
        for column, chart in zip(box.columns(2, gutter=GUTTER), charts, strict=False):
            run_chart(drawing, column, chart=chart, words=words)

    caption = [words("run_chart.note")] * any(math.isfinite(c.process.low) for c in charts)
    if any(chart.process.signals for chart in charts):
        caption.append(words("run_chart.diamond"))
    if LEAST <= (n := charts[0].process.n) < FIRM:
        caption.append(words("run_chart.provisional", n=n, least=FIRM))
    figure = Figure(paint, _CHART, " ".join(caption), screen=2 * PHONE + GUTTER)
    seen = [_shown(chart, content, words) for chart in charts]
    for name in ("partial", "withheld"):
        if months := [words.month(month, "long") for month in getattr(charts[0], name)]:
            seen.append(words(f"run_chart.{name}", months=", ".join(months)))
    given = f"{_advised(content, words)} {_returned(content, words)}".strip()
    said = [text for text in (_coverage(content, words), given) if text]
    below = [(text, CAPTION) for text in seen + left] + [(text, BODY) for text in said]
    texts = (Prose(text, kind, after=_BETWEEN) for text, kind in below)
    return (Section(title, (figure, *texts), room=_CHART + 60.0),)


def _shown(chart: RunChart, content: CommitteeContent, words: Strings) -> str:
    """Say whether a measure has changed, and how it stands to its target and to all months."""
    process, name = chart.process, words(f"run_chart.{chart.key}")
    mean = printed(chart, process.mean, words)
    if not math.isfinite(process.low):
        parts = [words("run_chart.few", name=name, n=process.n, least=LEAST)]
    elif not process.signals:
        parts = [words("run_chart.steady", name=name, mean=mean)]
    else:
        last = next(s for s in process.signals if s.at == process.signals[-1].at)
        ended = np.isfinite(chart.level[last.at + 1 :]).any()
        key = f"run_chart.{'up' if last.up else 'down'}{'_ended' if ended else ''}"
        when, rule = words.month(chart.months[last.at], "long"), f"run_chart.rule.{last.rule}"
        parts = [words(key, name=name, month=when, rule=words(rule), mean=mean)]
    if math.isfinite(chart.chance):
        parts.append(words("run_chart.by_chance", chance=printed(chart, chart.chance, words)))
    if chart.key == "distance" and not isinstance(content.department, SuppressedCell):
        whole = printed(chart, content.department.phrase_error.value, words)
        parts.append(words("run_chart.together", whole=whole))
    if math.isfinite(chart.target) and math.isfinite(process.mean):
        parts.append(words("run_chart.aim", target=printed(chart, chart.target, words)))
    return " ".join(parts)


def _coverage(content: CommitteeContent, words: Strings) -> str:
    cover = content.coverage
    if cover is None or not cover.xrays:
        return ""
    share = percent(cover.paired / cover.xrays)
    said = words("run_chart.coverage", share=share, **covered(cover))
    return " ".join([said, *_by_word(content, words)])


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
    whole = sum(n * share for _, n, share in known) / sum(n for _, n, _ in known)
    z = NormalDist().inv_cdf(1.0 - 0.025 / len(known))
    off = [
        (share, phrase)
        for phrase, n, share in known
        if n * min(whole, 1.0 - whole) >= _EXPECTED
        and abs(share - whole) > z * math.sqrt(whole * (1.0 - whole) / n)
    ]
    if not off:
        return []
    ends = {"most": max(off), "least": min(off)}
    said = [
        words(f"run_chart.by_word_{end}", phrase=phrase, share=percent(share))
        for end, (share, phrase) in ends.items()
        if (share > whole) == (end == "most")
    ]
    return [words("run_chart.by_word", share=percent(whole), said=", ".join(said))]


def _advised(content: CommitteeContent, words: Strings) -> str:
    found = content.judged
    if found is None:
        return ""
    swaps = {reader.reader: len(kept_swaps(reader)) for reader in found.readers}
    told = {reader for reader, n in swaps.items() if n}
    stand = {r.reader for r in found.readers if r.pattern.verdict.state == "pattern"}
    counts = {"told": told, "readers": swaps, "both": told & stand, "apart": stand}
    given = words.several("unit.swaps", sum(swaps.values()))
    key = ("advised_all" if stand else "advised_some") if told else "advised_nobody"
    return words(f"run_chart.{key}", swaps=given, **{k: len(v) for k, v in counts.items()})


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
