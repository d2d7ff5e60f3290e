"""Counts and shares of a page as they may be printed (`calibration.rounding`), carrier by carrier.

Counts become the middle of their five, shares and means multiples of three statements, rates that
a model estimates multiples of what three statements move them by. The side
on which a rate lies of what its phrase means is said in words, and stays as it was.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from calibration.estimate import Estimate
from calibration.profile.shown import doubt_of, stated
from calibration.rounding import STEP, counted, estimate, estimated, measured, part, share_of
from reports.content import Coverage, FlowStep, Instrument, SuppressedCell, Unscored
from reports.numbers import percent_limits
from reports.review_content import (
    CaseHistogram,
    CaseMix,
    Disagreement,
    MixRow,
    ReaderRow,
    ScaleUse,
    Written,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibration.profile import (
        Aside,
        AtomJudgement,
        Habit,
        Interval,
        Large,
        PhraseRate,
        ReaderProfile,
        Swap,
    )

Rated = TypeVar("Rated", bound="Habit | PhraseRate | Swap")
Value = TypeVar("Value", bound="Estimate | SuppressedCell | None")


def _whole(n: float) -> int:
    return round(float(counted(n)))


def statements(n: int | SuppressedCell) -> int | SuppressedCell:
    """Round a count; a withheld one stays what it is."""
    return n if isinstance(n, SuppressedCell) else _whole(n)


def _estimate(value: Value, n: float) -> Value:
    """Round an estimate of n statements; a withheld or missing one stays what it is."""
    return estimate(value, n) if isinstance(value, Estimate) else value


def coverage(found: Coverage | None) -> Coverage | None:
    """Round how many X-rays there were and how many had a CT."""
    return found and replace(found, xrays=_whole(found.xrays), paired=_whole(found.paired))


def flow(steps: tuple[FlowStep, ...]) -> tuple[FlowStep, ...]:
    """Round what each step of the pairing left, and who left at it."""
    return tuple(
        replace(
            step,
            count=_whole(step.count),
            excluded=tuple(replace(each, count=_whole(each.count)) for each in step.excluded),
        )
        for step in steps
    )


def instrument(found: Instrument | None) -> Instrument | None:
    """Round how many rows, reports and statements could not be used."""
    return found and replace(found, counts=tuple((name, _whole(n)) for name, n in found.counts))


def unscored(hedges: tuple[Unscored, ...] | None) -> tuple[Unscored, ...] | None:
    """Round how often hedges without a meaning were written."""
    return hedges and tuple(replace(each, n=statements(each.n)) for each in hedges)


def written(hedges: tuple[Written, ...] | None) -> tuple[Written, ...] | None:
    """Round how many X-ray reports hold a hedge; the shares come of rounded counts."""
    return hedges and tuple(replace(each, reports=statements(each.reports)) for each in hedges)


def profile(found: ReaderProfile) -> ReaderProfile:
    """Round the statements and rates of a reader's profile.

    The hedges are the sum of their words, each rounded, as the statements are of all phrases. A
    swap in all findings has the rate of its word. What a pattern is stated of is said by the exact
    rates.
    """
    more = sum(float(counted(each.n)) - each.n for each in found.phrases)
    pattern, phrases = found.pattern, tuple(_rated(phrase) for phrase in found.phrases)
    rates: dict[tuple[str, str | None], Interval] = {(p.phrase, None): p.rate for p in phrases}

    def swaps(given: tuple[Swap, ...]) -> tuple[Swap, ...]:
        return tuple(_rated(each, rates.get((each.phrase, each.finding))) for each in given)

    return replace(
        found,
        n=float(counted(found.n)),
        pattern=replace(pattern, verdict=replace(pattern.verdict, stated=stated(found))),
        hedges=found.hedges + more,
        exams=_whole(found.exams),
        habits=tuple(replace(_rated(h), expected=round(h.expected, 2)) for h in found.habits),
        absent=_atom(found.absent),
        present=_atom(found.present),
        advice=swaps(found.advice),
        considered=swaps(found.considered),
        phrases=phrases,
        rest=tuple(_rated(phrase) for phrase in found.rest),
        sides=tuple(_side(side, found) for side in found.sides),
        findings=tuple(_rated(each) for each in found.findings),
        sites=found.sites and tuple(_rated(each) for each in found.sites),
        lately=tuple(_rated(each) for each in found.lately),
        aside=tuple(_aside(each) for each in found.aside),
        plain=float(counted(found.plain)),
    )


def large(found: Large) -> Large:
    """Round what hedges come to in the large."""
    of = found.ratio
    middle, low, high = (share_of(each, found.expected) for each in (of.value, of.low, of.high))
    return replace(
        found,
        n=float(counted(found.n)),
        ratio=replace(of, value=middle, low=low, high=high),
        e50=share_of(found.e50, found.n),
        e90=share_of(found.e90, found.n),
    )


def _aside(found: Aside) -> Aside:
    sides = tuple(_rated(side) for side in found.sides)
    return replace(found, n=float(counted(found.n)), sides=sides)


def _rated(found: Rated, rate: Interval | None = None) -> Rated:
    rate = rate or _interval(found.rate, found.n, beside=(_edge(found), found.meaning))
    observed = share_of(found.observed, found.n)
    return replace(found, n=float(counted(found.n)), observed=observed, rate=rate)


def _edge(found: Rated) -> float:
    """Give the end, on a rate's side, of what its survey leaves open of a meaning."""
    off, doubt = found.rate.value - found.meaning, doubt_of(found)
    return found.meaning + math.copysign(doubt, off) if abs(off) > doubt else found.meaning


def _side(side: PhraseRate, found: ReaderProfile) -> PhraseRate:
    """Round words taken together; their count and meaning are of theirs, each rounded."""
    of = [p for p in found.phrases if (p.meaning > 0.5) == (side.phrase == "strong")]
    more = [(float(counted(p.n)) - p.n, p.meaning) for p in of]
    n = side.n + sum(by for by, _ in more)
    promised = side.n * side.meaning + sum(by * meaning for by, meaning in more)
    return replace(_rated(replace(side, n=n, meaning=promised / n)), n=n)


def _interval(found: Interval, n: float, *, beside: Sequence[float]) -> Interval:
    limits = found.low, found.high
    if found.value != found.value:
        return found
    value, low, high = estimated(found.value, limits, n, beside=beside)
    return replace(found, value=value, low=low, high=high)


def _atom(found: AtomJudgement) -> AtomJudgement:
    """Round own cases in steps of three, what others' rates lead to expect in steps of theirs.

    These are whole cases, and no fewer than three of the others' statements come to. More often
    wrong is only who is so by the interval as it is printed.
    """
    n = max(found.n, 1.0)
    whole = float(counted(found.n))
    step = max(1.0, math.ceil(STEP * whole / max(found.others, 1.0)))
    expected = found.expected_wrong / n * whole
    if expected == expected:
        expected = min(max(round(expected / step) * step, step / 2.0), whole)
    same, rest = found.expected - found.expected_wrong, found.expected + found.expected_wrong - n
    even = expected / max(whole, 1.0)
    rate = _interval(found.rate, found.n, beside=(even,))
    held = found.state == "more often" and (
        percent_limits(rate.low, rate.high, rate.value)[0] <= 100 * even + 0.5
    )

    def mass(of: float) -> float:
        return float(measured(of / n, found.n) * whole)

    return replace(
        found,
        n=whole,
        positive=mass(found.positive),
        expected=whole - expected if abs(same) > abs(rest) else expected,
        wrong=mass(found.wrong),
        expected_wrong=expected,
        rate=rate,
        state="as others" if held else found.state,
    )


def reader_row(row: ReaderRow) -> ReaderRow:
    """Round one reader's gaps; the statements are a sum of rounded counts, as the reader's own."""
    return replace(
        row,
        gap=_estimate(row.gap, row.n),
        adjusted=_estimate(row.adjusted, row.n),
        shrunk=_estimate(row.shrunk, row.n),
    )


def scale_use(found: ScaleUse | None) -> ScaleUse | None:
    """Round terms, and take shares from rounded counts: a share of all can tell of one term."""
    return found and replace(
        found,
        n=counted(found.n).astype(np.int64),
        recommended=part(found.recommended, found.n),
        discouraged=part(found.discouraged, found.n),
        terms=tuple((term, statements(n), kind) for term, n, kind in found.terms),
    )


def case_mix(found: CaseMix | None) -> CaseMix | None:
    """Round kinds of cases; their shares are taken from rounded counts."""
    return found and replace(found, rows=tuple(_mix_row(row) for row in found.rows))


def _mix_row(row: MixRow) -> MixRow:
    share = row.share if not row.n else float(counted(row.n) / counted(row.n / row.share))
    gap, adjusted = _estimate(row.gap, row.n), _estimate(row.adjusted, row.n)
    return replace(row, n=_whole(row.n), share=share, gap=gap, adjusted=adjusted)


def disagreement(found: Disagreement | None) -> Disagreement | None:
    """Round the cases of every histogram."""
    return found and Disagreement(*map(_histogram, (found.plain, found.hedged)))


def _histogram(found: CaseHistogram | SuppressedCell) -> CaseHistogram | SuppressedCell:
    if isinstance(found, SuppressedCell):
        return found
    return replace(
        found,
        share=part(found.share, found.n),
        expected=None if found.expected is None else measured(found.expected, found.n),
        mean=share_of(found.mean, found.n),
        n=_whole(found.n),
    )
