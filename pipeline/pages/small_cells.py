"""Small cells: what must be withheld, and what with it so that nothing follows by subtraction.

Where a total is printed and exactly one of its parts is withheld, that part is the total less the
others. One more part, the smallest of those shown, is then withheld with it. Two or more withheld
parts hide each other. A department of many readers can hold a phrase that only two of them use; its
rate would be theirs, so it is taken out of everything the committee sees.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pandas as pd

from calibration.arrays import FloatArray
from calibration.groups import GroupResults
from calibration.phrase_calibration import PhraseCalibration
from calibration.result import GroupResult
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


def few_users(
    sizes: Mapping[str, float], users: Mapping[str, int], *, minimum_n: int, minimum_readers: int
) -> frozenset[str]:
    """Name the phrases to withhold: those of too few readers, and what would give one away.

    Parameters
    ----------
    sizes
        Uses of every phrase; their total is printed.
    users
        Readers who used each phrase.
    minimum_n
        A phrase used less often is printed as too few whoever used it, so it hides another one.

    Examples
    --------
    >>> uses, users = {"a": 30, "b": 40, "c": 90}, {"a": 2, "b": 9, "c": 9}
    >>> sorted(few_users(uses, users, minimum_n=20, minimum_readers=5))
    ['a', 'b']
    """
    used = {phrase: n for phrase, n in sizes.items() if n > 0}
    of_few = {phrase for phrase in used if users.get(phrase, 0) < minimum_readers}
    rare = {phrase for phrase, n in used.items() if n < minimum_n}
    return frozenset(of_few | complementary(used, of_few | rare))


def of_enough_readers(
    phrases: PhraseCalibration, readers: Mapping[str, int], *, minimum: int
) -> PhraseCalibration:
    """Withhold the department's rates of phrases that fewer than `minimum` readers used."""
    used = zip(phrases.phrases, phrases.n, strict=True)
    return without(phrases, {p for p, n in used if n > 0 and readers.get(p, 0) < minimum})


def without(phrases: PhraseCalibration, names: Collection[str]) -> PhraseCalibration:
    """Blank some phrases' numbers; a count that is NaN is withheld, which is not 0."""
    hidden = np.array([phrase in names for phrase in phrases.phrases])

    def kept(values: FloatArray) -> FloatArray:
        return np.where(hidden, np.nan, values)

    return replace(
        phrases,
        n=kept(phrases.n),
        label_mass=kept(phrases.label_mass),
        observed=kept(phrases.observed),
        low=kept(phrases.low),
        high=kept(phrases.high),
    )


def withheld_phrases(cells: pd.DataFrame, settings: Reports) -> dict[str | None, frozenset[str]]:
    """Name each finding's phrases of too few readers; those of all findings under None."""
    groups = {str(name): part for name, part in cells.groupby("pathology")}
    return {name: _few_users(part, settings) for name, part in (*groups.items(), (None, cells))}


def _few_users(cells: pd.DataFrame, settings: Reports) -> frozenset[str]:
    by_phrase = cells.groupby("phrase")
    return few_users(
        {str(p): float(n) for p, n in by_phrase["count"].sum().items()},
        {str(p): int(n) for p, n in by_phrase["reader_code"].nunique().items()},
        minimum_n=settings.min_exams,
        minimum_readers=settings.min_readers,
    )


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
