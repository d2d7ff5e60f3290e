"""Small cells: what must be withheld, and what with it so that nothing follows by subtraction.

Where a total is printed and exactly one of its parts is withheld, that part is the total less the
others. One more part, the smallest of those shown, is then withheld with it. Two or more withheld
parts hide each other. A department of many readers can hold a phrase that only two of them use, or
that one of them writes nearly alone; its rate would be theirs, so it is taken out of what others
see. That one holds more than three quarters is the dominance rule (1, 75) of Hundepool et al.,
*Statistical Disclosure Control*, 2012, chapter 4.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from calibration.groups import GroupResults
from calibration.phrase_calibration import PhraseCalibration
from calibration.result import GroupResult
from calibration.rounding import MOST
from calibration.substitution import Advice

if TYPE_CHECKING:
    from pipeline.config.sections import Reports

Name = TypeVar("Name")


def complementary(sizes: Mapping[Name, float], withheld: Collection[Name]) -> frozenset[Name]:
    """Name the part to withhold besides those withheld already; ties go to the first.

    Parameters
    ----------
    sizes
        Observations behind every part of a printed total; a part of size 0 hides nothing.
    withheld
        Parts withheld for reasons of their own.

    Examples
    --------
    >>> sorted(complementary({"a": 7, "b": 40, "c": 90}, {"a"}))
    ['b']
    >>> sorted(complementary({"a": 7, "b": 12, "c": 90}, {"a", "b"}))
    []
    """
    hidden = [name for name in withheld if sizes[name] > 0]
    shown = {name: n for name, n in sizes.items() if n > 0 and name not in withheld}
    if len(hidden) != 1 or not shown:
        return frozenset()
    return frozenset({min(shown, key=lambda name: shown[name])})


def of_few(
    rows: pd.DataFrame, by: str = "", *, minimum: int, count: str = "count"
) -> frozenset[str]:
    """Name what fewer than `minimum` readers wrote, or one of them wrote most of.

    Without a column to part rows `by`, all of them are one part, named ''.

    Examples
    --------
    >>> uses = {"may": [9, 8, 9], "likely": [30, 1, 2], "probably": [5, 5, 0]}
    >>> rows = [(p, f"R{i}", n) for p, each in uses.items() for i, n in enumerate(each) if n]
    >>> rows = pd.DataFrame(rows, columns=["phrase", "reader_code", "count"])
    >>> sorted(of_few(rows, "phrase", minimum=3))
    ['likely', 'probably']
    """
    parts = rows[by] if by else pd.Series("", index=rows.index)
    each = rows.groupby([parts, "reader_code"], observed=True)[count].sum().groupby(level=0)
    few = (each.size() < minimum) | (each.max() > MOST * each.sum())
    return frozenset(map(str, few.index[few]))


def few_users(sizes: Mapping[str, float], few: Collection[str], *, least: int) -> frozenset[str]:
    """Name the phrases to withhold: those of too few readers, and what would give one away.

    Parameters
    ----------
    sizes
        Uses of every phrase; their total is printed.
    few
        Phrases that are `of_few`.
    least
        A phrase used less often is printed as too few whoever used it, so it hides another one.

    Examples
    --------
    >>> sorted(few_users({"a": 30, "b": 40, "c": 90}, {"a"}, least=20))
    ['a', 'b']
    """
    rare = {phrase for phrase, n in sizes.items() if 0 < n < least}
    used = {phrase for phrase in few if sizes.get(phrase, 0) > 0}
    return frozenset(used | complementary(sizes, used | rare))


def without(phrases: PhraseCalibration, names: Collection[str]) -> PhraseCalibration:
    """Blank some phrases' numbers; a count that is NaN is withheld, which is not 0."""
    hidden = np.array([phrase in names for phrase in phrases.phrases])
    numbers = ("n", "observed", "low", "high")
    kept: Any = {name: np.where(hidden, np.nan, getattr(phrases, name)) for name in numbers}
    return replace(phrases, **kept)


def withheld_phrases(cells: pd.DataFrame, settings: Reports) -> dict[str | None, frozenset[str]]:
    """Name each finding's phrases of too few readers; those of all findings under None."""
    groups = {str(name): part for name, part in cells.groupby("pathology")}
    return {name: _few_users(part, settings) for name, part in (*groups.items(), (None, cells))}


def _few_users(cells: pd.DataFrame, settings: Reports) -> frozenset[str]:
    sizes = {str(p): float(n) for p, n in cells.groupby("phrase")["count"].sum().items()}
    hidden = of_few(cells, "phrase", minimum=settings.min_readers)
    return few_users(sizes, hidden, least=settings.min_exams)


def results_without(
    results: GroupResults, withheld: Mapping[str | None, frozenset[str]]
) -> GroupResults:
    """Take withheld phrases out of the phrase tables and the advice."""

    def cut(result: GroupResult | None, name: str | None) -> GroupResult | None:
        hidden = withheld.get(name)
        if result is None or not hidden:
            return result
        return replace(result, phrases=without(result.phrases, hidden))

    def hushed(advice: Advice, name: str | None) -> Advice:
        hidden = withheld.get(name, frozenset())
        return replace(
            advice,
            suggestions=tuple(s for s in advice.suggestions if s.source not in hidden),
            suppressed=tuple(s for s in advice.suppressed if s.source not in hidden),
        )

    return replace(
        results,
        overall=cut(results.overall, None),
        by_pathology={name: cut(result, name) for name, result in results.by_pathology.items()},
        advice={name: hushed(advice, name) for name, advice in results.advice.items()},
    )
