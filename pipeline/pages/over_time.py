"""The department over time: its distance from CT, and its use of the scale, as run charts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from calibration.arrays import FloatArray, divided
from calibration.groups import quarters, tally_of
from calibration.phrase_calibration import drawn_errors, phrase_error
from calibration.rounding import counted, measured, rounded
from calibration.run_chart import process
from calibration.tally import Tally
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

    So is the first or last one where an export began or ended inside it. Few statements lie further
    from CT by chance, the less so the further words are off: what chance adds to each month, at the
    rates of all months together, is taken out.
    """
    settings = scale.config.reports
    partial = _partial(evidence.coverage, months)
    charted = [month for month in months if month not in partial]
    cells, words = evidence.cells, evidence.words
    compared = _Monthly(cells, "month", "count").shown(charted, settings)
    hedged = _Monthly(words, "performed_month", "n").shown(charted, settings)
    written = ((cells["month"], compared), (words["performed_month"], hedged))
    gone = {m for found, shown in written for m in {*found} - {*shown}}
    at = tuple(months), partial, tuple(month for month in charted if month in gone)
    return (
        _chart("distance", at, _distances(compared, scale), settings.target_distance),
        _chart("scale_use", at, _shares_of(hedged, scale), settings.target_scale_use),
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


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """A measure of months, chance taken out, and what chance may make of each.

    ``level`` (T,) are those of ``months``, ``noise`` (S, T) draws of steady months with mean 0,
    and ``chance`` what it adds on average.
    """

    months: tuple[str, ...]
    level: FloatArray
    noise: FloatArray
    chance: float = float("nan")


def _chart(
    key: Literal["distance", "scale_use"],
    months: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]],
    found: _Measured,
    target: float | None,
) -> RunChart:
    places = [months[0].index(month) for month in found.months]
    level, noise = np.full(len(months[0]), np.nan), np.zeros((_SAMPLES, len(months[0])))
    level[places], noise[:, places] = found.level, found.noise
    aim = float("nan") if target is None else target
    judged = process(level, noise)
    return RunChart(key, months[0], np.maximum(level, 0.0), judged, aim, found.chance, *months[1:])


@dataclass(frozen=True, slots=True)
class _Monthly:
    """Rows with a month, a reader and a count."""

    rows: pd.DataFrame
    month: str
    count: str

    def shown(self, months: Sequence[str], settings: Reports) -> dict[str, pd.DataFrame]:
        """Give the rows of every month of which something was written that may be shown."""
        parts = {m: self.rows[self.rows[self.month] == m] for m in months}
        sizes = {m: float(part[self.count].sum()) for m, part in parts.items()}
        few = set(of_few(self.rows, self.month, minimum=settings.min_readers, count=self.count))
        few = {m for m in months if m in few or sizes[m] < settings.min_exams}
        hidden = few | complementary(sizes, few)
        return {m: part for m, part in parts.items() if m not in hidden and len(part)}


def _distances(parts: Mapping[str, pd.DataFrame], scale: Scale) -> _Measured:
    """Measure months from CT; chance is reckoned from what is printed of their counts."""
    means, rng = scale.phrases.means, scale.study.chance("distance by chance")
    exact = [tally_of(part, scale.phrases) for part in parts.values()]
    seen = [measured(phrase_error(t.n, t.label_mass, means=means), t.total) for t in exact]
    known = [rounded(tally) for tally in exact]
    whole = sum(known, start=Tally.from_moments(0.0 * means, 0.0 * means))
    rates = divided(whole.label_mass, whole.n, nothing=0.0)
    drawn = [
        measured(drawn_errors(each, rates, means=means, replicates=_SAMPLES, rng=rng), each.total)
        - phrase_error(each.n, each.n * rates, means=means)
        for each in known
    ]
    added = np.reshape(drawn, (len(known), _SAMPLES)).T
    mean = added.mean(axis=0)
    chance = float(mean.mean()) if known else float("nan")
    return _Measured((*parts,), np.array(seen) - mean, added - mean, chance)


def _shares_of(parts: Mapping[str, pd.DataFrame], scale: Scale) -> _Measured:
    """Measure months' shares of recommended terms."""
    named = list(scale.config.phrases.recommended)
    n = counted([part["n"].sum() for part in parts.values()])
    inside = counted([p.loc[p["phrase"].isin(named), "n"].sum() for p in parts.values()])
    rng = scale.study.chance("scale use by chance")
    share = float(np.minimum(divided(inside.sum(), n.sum(), nothing=0.0), 1.0))
    drawn = rng.binomial(n.astype(np.int64), share, size=(_SAMPLES, len(n))) / n
    return _Measured((*parts,), inside / n, drawn - drawn.mean(axis=0))


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
