"""The committee's tables of scores, pathologies, sensitivity, swaps and terms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from calibration.estimate import Estimate
from reports.content import PathologyAdvice, SuppressedCell
from reports.disclosure import short_state_of, state_of
from reports.drawing.tables import Cell, Column, Row, Span, Table, heads
from reports.numbers import BLANK, count, decimal, interval, percent, signed
from reports.review_content import CommitteeContent, ScaleUse, SensitivityTable, Written
from reports.strings import Strings
from reports.swaps import Scale

if TYPE_CHECKING:
    from calibration.profile import Interval, Large
    from calibration.result import GroupResult
    from calibration.substitution import Suggestion, Suppressed

# Decimals of a gain in Brier score.
_PLACES: Final = 4
SAME: Final = "≈\u00a0"
"""Before a level of chance that rounding does not tell from the error."""
_DOUBT: Final = "maps.why.uncertain gain"

Value: TypeAlias = Estimate | SuppressedCell | None


def number(value: Value, words: Strings, places: int = 3) -> str:
    """Print an estimate's value, or its state in words."""
    if value is None:
        return words("state.not_computed_short")
    if isinstance(value, SuppressedCell):
        return short_state_of(value, words)
    return decimal(value.value, places)


def span(value: Value, domain: tuple[float, float]) -> Cell:
    """Draw an estimate on a scale that all rows share; with its sign where that holds 0 inside."""
    if not isinstance(value, Estimate):
        return BLANK
    zero = 0.0 if domain[0] < 0.0 else None
    middle = decimal(value.value) if zero is None else signed(value.value)
    hint = f"{middle} ({interval(value.low, value.high)})"
    return Span(value.value, value.low, value.high, domain, zero, hint)


def drawn(key: str, share: float, domain: tuple[float, float], words: Strings) -> Column:
    """Head a column of drawn intervals, with the values at the ends of its axis."""
    return Column(words(key, ends=interval(*domain, 2)), share)


def score_table(result: GroupResult, hedges: Large | None, *, words: Strings) -> Table:
    """One row per score, with its interval and the level that exact calibration would show.

    What hedges come to in the large, counted as in the score of hedges alone, is left out where
    readers have no profiles.
    """
    whole = result.phrase_error
    counted = replace(whole, low=math.nan, high=math.nan)
    true = replace(whole.without_chance(), reference_level=math.nan, null_high=math.nan)
    scores: list[tuple[str, Estimate | Interval, float]] = [
        *((key, of := getattr(result, key), of.n) for key in ("ece", "ece_star")),
        ("phrase_error", counted, whole.n),
        ("phrase_error_true", true, whole.n),
        *((key, of := getattr(result, key), of.n) for key in ("brier", "accuracy")),
    ]
    if hedges is not None:
        bare = replace(hedges.ratio, low=math.nan, high=math.nan)
        far = (replace(bare, value=each) for each in (hedges.e50, hedges.e90))
        each = zip(("ratio", "e50", "e90"), (hedges.ratio, *far), strict=True)
        scores += [(key, of, result.ece_star.n) for key, of in each]
    columns = heads(
        words, "scores",
        ("measure", 2.4), ("value", 0.9, "right"), ("interval", 1.6, "right"),
        ("reference", 1.2, "right"), ("null_high", 1.3, "right"), ("n", 0.9, "right"),
    )  # fmt: skip
    rows = []
    for key, of, n in scores:
        measured = words(f"scores.{key}"), decimal(of.value), interval(of.low, of.high)
        levels = (getattr(of, level, math.nan) for level in ("reference_level", "null_high"))
        rows.append(Row((*measured, *map(decimal, levels), count(n))))
    return Table(columns, tuple(rows), id="scores")


def pathology_table(content: CommitteeContent, *, words: Strings) -> Table:
    """Scores by pathology; withheld ones in words."""
    columns = heads(
        words, "scores",
        ("pathology", 2.2, "wraps"), ("n", 1.3, "right"), ("phrase_error", 1.0, "right"),
        ("null_high", 1.1, "right"), ("without_chance", 2.2, "right"), ("ece", 0.8, "right"),
        ("reference", 1.1, "right"), ("brier", 1.0, "right"),
    )  # fmt: skip
    rows = []
    for part in content.by_pathology:
        if isinstance(part.result, SuppressedCell):
            few = state_of(part.result, words)
            rows.append(Row((part.pathology, few, *(BLANK,) * 6), quiet=True))
            continue
        r = part.result
        true, seen = r.phrase_error.without_chance(), decimal(r.phrase_error.value)
        chance = decimal(r.phrase_error.null_high)
        by_chance = f"{SAME}{chance}" if chance == seen else chance
        error = f"{decimal(true.value)} ({interval(true.low, true.high)})"
        rest = map(decimal, (r.ece.value, r.ece.reference_level, r.brier.value))
        rows.append(Row((part.pathology, count(r.n), seen, by_chance, error, *rest)))
    return Table(columns, tuple(rows), empty=words("state.none"), id="pathologies")


def sensitivity_table(
    table: SensitivityTable, every: Sequence[SensitivityTable], *, words: Strings
) -> Table:
    """One row per choice, the phrase error drawn on one axis for all; the choice made is bold."""
    errors = (row.phrase_error for each in every for row in each.rows)
    ends = [v for e in errors if isinstance(e, Estimate) for v in (e.high, e.value) if v == v]
    domain = (0.0, max(math.ceil(100 * max(ends, default=0.1)), 1) / 100)
    columns = (
        *heads(words, "sensitivity", ("choice", 3.0, "wraps"), ("n", 0.9, "right"),
               ("ece", 0.9, "right"), ("slope", 0.9, "right"), ("phrase_error", 0.9, "right")),
        drawn("sensitivity.graph", 2.4, domain, words),
    )  # fmt: skip
    rows = []
    for r in table.rows:
        error, few = r.phrase_error, isinstance(r.phrase_error, SuppressedCell)
        graph = span(error.without_chance() if isinstance(error, Estimate) else error, domain)
        size = words("state.few_short") if few else count(r.n)
        numbers = (number(r.ece, words), number(r.slope, words, 2), number(r.phrase_error, words))
        rows.append(Row((r.name, size, *numbers, graph), strong=r.reference, quiet=few))
    return Table(columns, tuple(rows), empty=words("state.none"), id="sensitivity")


def upheld(maps: Sequence[PathologyAdvice]) -> tuple[tuple[str | None, Suggestion], ...]:
    """Give the swaps, by finding, whose gain on exams held out exceeds 0 with all its interval.

    What is printed as 0 does not exceed it.
    """
    return tuple((part.pathology, s) for part in maps for s in part.advice.suggestions if _gains(s))


def _gains(swap: Suggestion) -> bool:
    return swap.effect is not None and round(swap.effect.brier_difference.high, _PLACES) < 0.0


def distances(swap: Suggestion) -> tuple[float, float]:
    """How far its statements lie from CT as they are, and written as the other word."""
    return abs(swap.observed - swap.expected), abs(swap.observed - swap.target_expected)


def nearer(swap: Suggestion) -> float:
    """Give how much nearer to CT a swap brings all statements of it together."""
    before, after = distances(swap)
    return float(swap.n * (before - after))


def suggestion_table(maps: tuple[PathologyAdvice, ...], *, words: Strings) -> Table:
    """List the swaps that passed every guard-rail and were upheld on exams held out."""
    columns = heads(
        words, "maps",
        ("finding", 1.8, "wraps"), ("source", 1.6), ("target", 1.6), ("n", 0.7, "right"),
        ("observed", 0.9, "right"), ("expected", 0.9, "right"), ("target_expected", 0.9, "right"),
        ("stability", 0.9, "right"), ("held_out", 1.9, "wraps"),
    )  # fmt: skip
    rows = []
    for finding, s in upheld(maps):
        swap = finding or words("maps.all_findings"), s.source, s.target, count(s.n)
        shares = map(percent, (s.observed, s.expected, s.target_expected, s.stability))
        rows.append(Row((*swap, *shares, _gain(s))))
    return Table(columns, tuple(rows), empty=words("state.none"), id="suggestions")


def _gain(suggestion: Suggestion) -> str:
    """Give the held-out gain in Brier score, above 0 for better; its interval stays on one line."""
    if suggestion.effect is None:
        return BLANK
    e = suggestion.effect.brier_difference
    ends = interval(-e.high, -e.low, _PLACES).replace(" ", "\u00a0")
    return f"{signed(-e.value, _PLACES)} ({ends})"


def suppressed_table(maps: tuple[PathologyAdvice, ...], *, words: Strings) -> Table:
    """List swaps held back; counts below the minimum are not given away."""
    columns = heads(
        words, "maps", ("finding", 1.8), ("source", 1.6), ("target", 1.6), ("reason", 4.6, "wraps")
    )
    quiet = {"protected", "matches expectation", "too few uses"}
    held = ((p.pathology, s) for p in maps for s in p.advice.suppressed if s.reason not in quiet)
    rows = [(finding, s.source, s.target or BLANK, _why(s, words)) for finding, s in held]
    rows += [(p.pathology, s.source, s.target, why) for p in maps for s, why in doubted(p, words)]
    named = tuple(Row((finding or words("maps.all_findings"), *why)) for finding, *why in rows)
    return Table(columns, named, empty=words("state.none"), id="suppressed")


def doubted(part: PathologyAdvice, words: Strings) -> list[tuple[Suggestion, str]]:
    """Give the swaps whose gain on exams held out may be nothing, and say so."""
    held = (s for s in part.advice.suggestions if not _gains(s))
    return [(s, words(_DOUBT, target=s.target, gain=_gain(s))) for s in held]


def _why(silence: Suppressed, words: Strings) -> str:
    """Say in words why a swap was held back, and what share was found and needed, if any was."""
    said = words(f"maps.why.{silence.reason}", target=silence.target)
    if not silence.shares:
        return said
    found, needed = map(percent, silence.shares)
    return f"{said} {words('maps.needed', found=found, needed=needed)}"


def _uses(uses: int | SuppressedCell, words: Strings) -> str:
    return short_state_of(uses, words) if isinstance(uses, SuppressedCell) else count(uses)


def _paired(found: Written, words: Strings) -> str:
    few = math.isnan(found.paired) and not isinstance(found.reports, SuppressedCell)
    return words("state.few_short") if few else percent(found.paired)


def term_table(use: ScaleUse, written: Sequence[Written], *, words: Strings) -> Table:
    """Count the uses of each hedge, and say how many X-ray reports hold it and had a CT."""
    columns = heads(
        words, "scale",
        ("term", 2.4), ("kind", 1.6), ("count", 1.0, "right"), ("reports", 1.4, "right"),
        ("paired", 1.4, "right"),
    )  # fmt: skip
    uses = {term: (kind, n) for term, n, kind in use.terms}
    held = {each.phrase: each for each in written}
    rows = []
    for term in [*uses, *(phrase for phrase in held if phrase not in uses)]:
        kind, n = uses.get(term, ("neither", 0))
        each = held.get(term)
        reports = (_uses(each.reports, words), _paired(each, words)) if each else (BLANK, BLANK)
        rows.append(Row((term, words(f"scale.{kind}_kind"), _uses(n, words), *reports)))
    return Table(columns, tuple(rows), empty=words("state.none"), id="terms")


def terms(content: CommitteeContent, kind: str = "recommended") -> Scale:
    """Give the phrases that the institution recommends, or discourages, with what they mean."""
    whole, use = content.department, content.scale_use
    if isinstance(whole, SuppressedCell) or use is None:
        return {}
    named = {phrase for phrase, _, of in use.terms if of == kind}
    return {phrase: says for phrase, says in meanings(whole).items() if phrase in named}


def meanings(whole: GroupResult) -> Scale:
    """Give what each phrase means to those surveyed."""
    return dict(zip(whole.phrases.phrases, whole.phrases.expected.tolist(), strict=True))


def use_table(use: ScaleUse, *, words: Strings) -> Table:
    """Share of hedges that are recommended terms, and discouraged ones, by quarter.

    A first or last quarter of which an issue may show nothing is left out.
    """
    columns = heads(
        words, "scale",
        ("quarter", 2.0), ("hedges", 1.0, "right"), ("recommended", 1.4, "right"),
        ("discouraged", 1.4, "right"),
    )  # fmt: skip
    shares = zip(use.recommended.tolist(), use.discouraged.tolist(), strict=True)
    rows = tuple(
        Row((words.month(period), count(n), percent(named), percent(unwanted)))
        if math.isfinite(named)
        else Row((words.month(period), words("state.withheld_short"), BLANK, BLANK), quiet=True)
        for period, n, (named, unwanted) in zip(use.periods, use.n, shares, strict=True)
        if math.isfinite(named) or period not in (use.periods[0], use.periods[-1])
    )
    return Table(columns, rows, empty=words("state.withheld_short"), id="use")
