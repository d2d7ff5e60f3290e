"""The department over time: its distance from CT, and its use of the scale, as run charts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from calibration.arrays import FloatArray
from calibration.groups import quarters, tally_of
from calibration.phrase_calibration import drawn_errors, phrase_error
from calibration.rounding import counted, measured, rounded
from calibration.run_chart import process
from pipeline.pages.sensitivity import Evidence
from pipeline.pages.small_cells import complementary, few_users, of_few
from pipeline.tables.results import Scale, thin_months
from reports.content import SuppressedCell
from reports.review_content import RunChart, ScaleUse

if TYPE_CHECKING:
    from pipeline.config import Configuration
    from pipeline.config.sections import Phrases, Reports

_SAMPLES = 400
"""Samples behind the distance that chance alone gives a month."""


def run_charts(evidence: Evidence, *, months: Sequence[str], scale: Scale) -> tuple[RunChart, ...]:
    """Chart both measures; a month of too few statements or readers, or mostly one's, is withheld.

    So is the first or last one where an export began or ended inside it. Of few statements the
    distance is larger by chance alone, so every month's is given as at the months' mean chance:
    else a busier half-year would read as better words.
    """
    settings = scale.config.reports
    distances = _Monthly(evidence.cells, "month", "count")
    shares = _Monthly(evidence.words, "performed_month", "n")
    named = scale.config.phrases.recommended
    level = distances.values(months, lambda part: _distance(part, scale), settings)
    by_chance = distances.values(months, lambda part: _chance(part, scale), settings)
    use = shares.values(months, lambda part: _share(part, named), settings)
    partial = _partial(evidence.coverage, months)
    for values in (level, by_chance, use):
        values[np.isin(months, partial)] = np.nan
    known = by_chance[np.isfinite(by_chance)]
    chance = float(known.mean()) if known.size else float("nan")
    level = np.maximum(level - (by_chance - chance), 0.0)
    compared = np.isin(months, evidence.cells["month"])
    hedged = np.isin(months, evidence.words["performed_month"])
    gone = (compared & np.isnan(level)) | (hedged & np.isnan(use))
    gone &= ~np.isin(months, partial)
    withheld = tuple(month for month, hidden in zip(months, gone, strict=True) if hidden)
    at = months, partial, withheld
    return (
        _chart("distance", at, level, settings.target_distance, chance=chance),
        _chart("scale_use", at, use, settings.target_scale_use),
    )


def _partial(coverage: pd.DataFrame, months: Sequence[str]) -> tuple[str, ...]:
    """Name the first and last month read where either has less than half a middle month's X-rays.

    An export that begins or ends inside a month leaves it so.
    """
    seen = coverage.groupby("performed_month")["n"].sum()
    seen = seen[seen.index.isin(list(months))].sort_index()
    thin = thin_months(seen)
    return tuple(str(month) for month in seen.index[[0, -1]] if month in thin) if thin else ()


def incomplete_quarters(coverage: pd.DataFrame, months: Sequence[str]) -> frozenset[str]:
    """Name the quarters that an issue does not hold whole: some month is missing, or in part."""
    whole = {*coverage["performed_month"]}.difference(_partial(coverage, months))
    each = quarters(months).items()
    return frozenset(name for name, inside in each if len(whole.intersection(inside)) < 3)


def _chart(
    key: Literal["distance", "scale_use"],
    months: tuple[Sequence[str], tuple[str, ...], tuple[str, ...]],
    values: FloatArray,
    target: float | None,
    *,
    chance: float = float("nan"),
) -> RunChart:
    aim = float("nan") if target is None else target
    return RunChart(key, tuple(months[0]), values, process(values), aim, chance, *months[1:])


@dataclass(frozen=True, slots=True)
class _Monthly:
    """Rows with a month, a reader and a count."""

    rows: pd.DataFrame
    month: str
    count: str

    def values(
        self, months: Sequence[str], measure: Callable[[pd.DataFrame], float], settings: Reports
    ) -> FloatArray:
        """Measure every month (T,); NaN where it is withheld or nothing was written."""
        parts = {m: self.rows[self.rows[self.month] == m] for m in months}
        sizes = {m: float(part[self.count].sum()) for m, part in parts.items()}
        few = set(of_few(self.rows, self.month, minimum=settings.min_readers, count=self.count))
        few = {m for m in months if m in few or sizes[m] < settings.min_exams}
        hidden = few | complementary(sizes, few)
        return np.array([np.nan if m in hidden else measure(parts[m]) for m in months])


def _distance(part: pd.DataFrame, scale: Scale) -> float:
    exact, means = tally_of(part, scale.phrases), scale.phrases.means
    return float(measured(phrase_error(exact.n, exact.label_mass, means=means), exact.total))


def _chance(part: pd.DataFrame, scale: Scale) -> float:
    """Give the distance to expect of exactly right words, by what is printed of their counts."""
    shown, means = rounded(tally_of(part, scale.phrases)), scale.phrases.means
    rng = scale.study.chance("distance by chance")
    drawn = drawn_errors(shown, means, means=means, replicates=_SAMPLES, rng=rng)
    return float(drawn.mean())


def _share(part: pd.DataFrame, named: Collection[str]) -> float:
    inside = part.loc[part["phrase"].isin(list(named)), "n"].sum()
    return float(counted(inside) / counted(part["n"].sum()))


def scale_use(
    words: pd.DataFrame,
    *,
    months: Sequence[str],
    config: Configuration,
    withheld: Collection[str] = (),
) -> ScaleUse:
    """Share out the hedges of X-ray reports (`observations.words`); no period where there is none.

    Statements of 0 % and 100 % are no use of the scale and are not among them. A share of fewer
    than ``min_exams`` phrases is withheld, and so is the count of a term used less often, what
    few readers or mostly one wrote, and what `withheld` names by another table of the page.
    """
    phrases, settings = config.phrases, config.reports
    minimum, minimum_readers = settings.min_exams, settings.min_readers
    used = words[words["performed_month"].isin(list(months))]
    spans = {
        q: used[used["performed_month"].isin(inside)] for q, inside in quarters(months).items()
    }
    spans = {name: part for name, part in spans.items() if len(part)}
    sizes = {name: float(part["n"].sum()) for name, part in spans.items()}
    thin = {name for name, n in sizes.items() if n < minimum}
    one = {
        q for q in spans if q not in thin and of_few(spans[q], minimum=minimum_readers, count="n")
    }
    thin |= one | (complementary(sizes, thin | one) if one else set())
    terms = used.groupby("phrase")["n"].sum()
    terms = terms.sort_values(ascending=False, kind="stable")
    counts = {str(term): int(count) for term, count in terms.items()}
    hidden = of_few(used, "phrase", minimum=minimum_readers, count="n")
    told = {term: n for term, n in counts.items() if term not in withheld}
    few = few_users(told, hidden, least=minimum)
    cells = {term: SuppressedCell(minimum) for term, n in counts.items() if n < minimum}
    alone, beside = SuppressedCell(minimum_readers, "readers"), SuppressedCell(0, "complementary")
    for term in (*few, *(term for term in withheld if term in counts)):
        cells.setdefault(term, alone if term in hidden else beside)
    return ScaleUse(
        periods=tuple(spans),
        n=np.array(list(sizes.values()), dtype=np.int64),
        recommended=_shares(spans, phrases.recommended, thin),
        discouraged=_shares(spans, phrases.discouraged, thin),
        terms=tuple(
            (term, cells.get(term, count), _kind(term, phrases)) for term, count in counts.items()
        ),
    )


def _shares(
    spans: dict[str, pd.DataFrame], named: Collection[str], hidden: Collection[str]
) -> FloatArray:
    kept = [(q in hidden, part["n"], part["phrase"].isin(list(named))) for q, part in spans.items()]
    return np.array([np.nan if few else float(n[own].sum() / n.sum()) for few, n, own in kept])


def _kind(term: str, phrases: Phrases) -> Literal["recommended", "discouraged", "neither"]:
    if term in phrases.recommended:
        return "recommended"
    return "discouraged" if term in phrases.discouraged else "neither"
