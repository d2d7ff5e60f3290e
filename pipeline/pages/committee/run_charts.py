"""The department month by month: distance from CT, and use of the scale's terms, as run charts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from calibration.arrays import FloatArray
from calibration.groups import tally_of
from calibration.phrase_calibration import phrase_error
from calibration.rounding import counted, rounded
from calibration.run_chart import process
from pipeline.pages.small_cells import complementary
from pipeline.tables.results import Scale
from reports.review_content import RunChart

__all__ = ["run_charts"]


def run_charts(
    cells: pd.DataFrame, words: pd.DataFrame, *, months: Sequence[str], scale: Scale
) -> tuple[RunChart, ...]:
    """Chart both measures; a month of too few statements, or of too few readers, is withheld.

    Parameters
    ----------
    cells
        The department's tally table.
    words
        Hedges of paired X-ray reports by month, reader and phrase (`sums.words`).
    """
    settings = scale.config.reports
    distances, shares = _Monthly(cells, "month", "count"), _Monthly(words, "performed_month", "n")
    limits = {"minimum": settings.min_exams, "minimum_readers": settings.min_readers}
    named = scale.config.phrases.recommended
    level = distances.values(months, lambda part: _distance(part, scale), **limits)
    by_chance = distances.values(months, lambda part: _chance(part, scale), **limits)
    use = shares.values(months, lambda part: _share(part, named), **limits)
    known = by_chance[np.isfinite(by_chance)]
    chance = float(known.mean()) if known.size else float("nan")
    return (
        _chart("distance", months, level, settings.target_distance, chance=chance),
        _chart("scale_use", months, use, settings.target_scale_use),
    )


def _chart(
    key: Literal["distance", "scale_use"],
    months: Sequence[str],
    values: FloatArray,
    target: float | None,
    *,
    chance: float = float("nan"),
) -> RunChart:
    aim = float("nan") if target is None else target
    return RunChart(key, tuple(months), values, process(values), aim, chance)


@dataclass(frozen=True, slots=True)
class _Monthly:
    """Rows with a month, a reader and a count."""

    rows: pd.DataFrame
    month: str
    count: str

    def values(
        self,
        months: Sequence[str],
        measure: Callable[[pd.DataFrame], float],
        *,
        minimum: int,
        minimum_readers: int,
    ) -> FloatArray:
        """Measure every month (T,); NaN where it is withheld or nothing was written."""
        parts = {m: self.rows[self.rows[self.month] == m] for m in months}
        sizes = {m: float(part[self.count].sum()) for m, part in parts.items()}
        readers = {m: int(part["reader_code"].nunique()) for m, part in parts.items()}
        few = {m for m in months if sizes[m] < minimum or readers[m] < minimum_readers}
        hidden = few | complementary(sizes, few)
        return np.array([np.nan if m in hidden else measure(parts[m]) for m in months])


def _distance(part: pd.DataFrame, scale: Scale) -> float:
    shown = rounded(tally_of(part, scale.phrases))
    return float(phrase_error(shown.n, shown.label_mass, means=scale.phrases.means))


def _chance(part: pd.DataFrame, scale: Scale) -> float:
    """Give the distance to expect of exactly right words: E|rate − m| ≈ √(2 m (1 − m) / π n)."""
    n, m = rounded(tally_of(part, scale.phrases)).n, scale.phrases.means
    return float(np.sqrt(2.0 * m * (1.0 - m) * n / np.pi).sum() / n.sum())


def _share(part: pd.DataFrame, named: Collection[str]) -> float:
    inside = part.loc[part["phrase"].isin(list(named)), "n"].sum()
    return float(counted(inside) / counted(part["n"].sum()))
