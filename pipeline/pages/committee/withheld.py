"""Phrases of too few readers: taken out of everything the committee sees, with what tells of them.

A department of many readers can hold a phrase that only two of them use; its rate would be theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from calibration.result import GroupResult
from calibration.substitution import Advice
from pipeline.pages.small_cells import few_users, without
from pipeline.tables.results import GroupResults

if TYPE_CHECKING:
    from pipeline.config import Reports

__all__ = ["results_without", "withheld_phrases"]


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
