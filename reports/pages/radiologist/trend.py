"""The reader's own trend in words: every quarter's distance from CT, and which of them differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from calibration.estimate import Estimate
from reports.content import RadiologistContent, SuppressedCell, TrendPoint
from reports.disclosure import short_state_of
from reports.numbers import points
from reports.strings import Strings

# How much wider an interval is where many quarters are compared.
_MANY: Final = 1.25


def trend(content: RadiologistContent, words: Strings) -> tuple[str, ...]:
    """Say whether a reader's distance from CT changed by more than chance, and every quarter's.

    It did where the intervals of two quarters that the exports cover whole do not meet, each
    `_MANY` times as wide: simulated, one steady reader in sixty seems to change in five quarters.
    """
    if not content.trend:
        return (words("state.not_computed" if content.trend is None else "state.none"),)
    quarters = [
        replace(point, gap=point.gap.without_chance()) if isinstance(point.gap, Estimate) else point
        for point in content.trend
    ]
    whole = [
        (words.month(point.period), _wider(point.gap)) for point in quarters
        if not point.partial and isinstance(point.gap, Estimate) and point.gap.low == point.gap.low
    ]  # fmt: skip
    turns = [words(f"trend.{side}", first=a, last=b) for side, a, b in _changes(whole)]
    said = " ".join(turns) or _unshown(whole, words)
    if not any(isinstance(point.gap, Estimate) for point in quarters):
        return (said,)
    values = "; ".join(_quarter(point, words) for point in quarters)
    notes = [words("radiologist.trend_note")]
    zero, gaps = points(0.0), [p.gap for p in quarters if isinstance(p.gap, Estimate)]
    if any(points(gap.low) == zero for gap in gaps):
        notes.append(words("trend.from_zero", zero=zero))
    if any(point.partial for point in quarters):
        notes.append(words("trend.partial_note"))
    return said, " ".join([f"{values}.", *notes])


def _unshown(whole: Sequence[tuple[str, Estimate]], words: Strings) -> str:
    """Say that no change is shown, and how large one between the two surest quarters had to be.

    Where no distance is as large, a fall would mostly go unseen, even one to 0.
    """
    if len(whole) < 2:
        return words("trend.short")
    surest = sorted((gap for _, gap in whole), key=lambda gap: gap.high - gap.low)[:2]
    least = sum(gap.high - gap.low for gap in surest) / 2.0
    key = "steady" if least < max(gap.value for _, gap in whole) else "no_fall"
    return words(f"trend.{key}", points=points(least))


def _wider(gap: Estimate) -> Estimate:
    """Give an estimate with an interval as wide as comparing many quarters asks for."""
    low, high = (gap.value + _MANY * (end - gap.value) for end in (gap.low, gap.high))
    return replace(gap, low=low, high=high)


def _changes(whole: Sequence[tuple[str, Estimate]]) -> list[tuple[str, str, str]]:
    """Give every change in its order: its side, from which quarter, to which.

    Each begins where the one before ended, or goes on with it where their sides are the same.
    """
    found, start = list[tuple[str, str, str]](), 0
    for i, (last, after) in enumerate(whole):
        apart = [k for k in whole[start:i] if k[1].high < after.low or after.high < k[1].low]
        if not apart:
            continue
        first, was = max(apart, key=lambda each: abs(each[1].value - after.value))
        side, start = "more" if was.high < after.low else "less", i
        on = bool(found) and found[-1][0] == side
        found = [*found[:-1], (side, found[-1][1], last)] if on else [*found, (side, first, last)]
    return found


def _quarter(point: TrendPoint, words: Strings) -> str:
    """Say a quarter's distance, or why it has none."""
    gap = point.gap
    period = words.month(point.period).replace(" ", "\u00a0")
    period += f" ({words('trend.partial')})" if point.partial else ""
    if isinstance(gap, SuppressedCell):
        few = gap.of == "exams" and point.partial
        return period if few else f"{period}: {short_state_of(gap, words)}"
    named = {name: points(getattr(gap, name)) for name in ("value", "low", "high")}
    return words("trend.quarter", period=period, **named)
