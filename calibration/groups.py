"""A group's rows → its results for pages: overall, by finding, and quarter by quarter.

Rows are those of a tally table: ``phrase, label_value, count``, and ``pathology`` or ``month``
where results are asked for by finding or quarter. A group below the minimum has no result: None,
never 0. Everything is computed from rounded counts (`calibration.rounding`), except two things: a
group is too small if either its exact or its rounded count is below the minimum, and the phrase
error is that of exact counts, rounded afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from calibration.analysis import Study, advice_shares
from calibration.arrays import IntArray
from calibration.estimate import Estimate, Likeness, likeness
from calibration.result import GroupResult
from calibration.rounding import rounded
from calibration.substitution import Advice
from calibration.survey import PhraseTable
from calibration.tally import Tally, tally, tally_groups

Likenesses: TypeAlias = Mapping[str | None, Likeness]
"""By pathology, and under None for all together; what is not named is independent."""


class QuarterError(NamedTuple):
    """A quarter's exams and phrase calibration error; ``error`` is None where they are too few."""

    quarter: str
    exams: int
    error: Estimate | None


_STEP = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A reader or the department: a name, which seeds its chance, and what is counted of it.

    Attributes
    ----------
    cells
        The group's rows of the tally table, one period.
    alike
        Its `likenesses`; statements are independent where they are not given.
    """

    name: str
    cells: pd.DataFrame
    alike: Likenesses = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupResults:
    """A reader's or the department's results.

    ``by_pathology`` holds None where fewer exams than the minimum stand behind a pathology;
    ``advice`` is keyed by pathology, None for all of them together, and empty where none was looked
    for; ``sizes`` are the exams behind every pathology.
    """

    overall: GroupResult | None
    by_pathology: Mapping[str, GroupResult | None]
    advice: Mapping[str | None, Advice]
    sizes: Mapping[str, float]


def tally_of(cells: pd.DataFrame, phrases: PhraseTable) -> Tally:
    """Turn rows of the tally table into a `Tally` against a phrase table."""
    return tally(
        _codes(cells, phrases),
        cells["label_value"].to_numpy(dtype=np.float64),
        n_phrases=len(phrases),
        weight=cells["count"].to_numpy(dtype=np.float64),
    )


def _codes(rows: pd.DataFrame, phrases: PhraseTable) -> IntArray:
    index = {phrase: k for k, phrase in enumerate(phrases.phrases)}
    return np.asarray(rows["phrase"].astype(object).map(index), dtype=np.int64)


def likenesses(rows: pd.DataFrame, phrases: PhraseTable) -> dict[str | None, Likeness]:
    """How alike a patient's statements turn out in a group, by pathology and in all of them.

    Parameters
    ----------
    rows
        The group's statements, ``patient, pathology, phrase, label, count``.
    """
    found: dict[str | None, Likeness] = {None: likeness_of(rows, phrases)}
    for pathology, part in rows.groupby("pathology", observed=True):
        found[str(pathology)] = likeness_of(part, phrases)
    return found


def likeness_of(rows: pd.DataFrame, phrases: PhraseTable) -> Likeness:
    """How alike a patient's statements turn out, in steps of a twentieth: it is for pages.

    It is found on exact counts, and the steps keep a single patient out of it.
    """
    patient, people = pd.factorize(rows["patient"])
    each = tally_groups(
        patient,
        _codes(rows, phrases),
        rows["label"].to_numpy(dtype=np.float64),
        n_groups=len(people),
        n_phrases=len(phrases),
        weight=rows["count"].to_numpy(dtype=np.float64),
    )
    found = likeness(each)
    return Likeness(*(_STEP * round(effect / _STEP) for effect in (found.phrase, found.whole)))


def group_results(
    group: Group, *, pathologies: Sequence[str], study: Study, minimum: int, advised: bool = False
) -> GroupResults:
    """Calibrate a group overall and per pathology, and where asked look for maps and advice.

    The chance that a calibrated group is advised at all is shared out by `advice_shares`.

    Parameters
    ----------
    pathologies
        Pathologies to report on, in page order.
    study
        What every result shares.
    minimum
        Fewest exams behind a result.
    """
    name, cells, known = group.name, group.cells, group.alike
    counted = {p: tally_of(cells[cells["pathology"] == p], study.phrases) for p in pathologies}
    overall = tally_of(cells, study.phrases)
    shown = {p: _shown(t, minimum) for p, t in counted.items()}
    whole = _shown(overall, minimum)
    advice: dict[str | None, Advice] = {}
    if advised:
        enough = {p: t for p, t in shown.items() if t is not None}
        together, single = advice_shares(len(enough))
        for p, t in enough.items():
            advice[p] = study.advice(t, f"{name}/{p}", share=single, alike=known.get(p))
        if whole is not None:
            advice[None] = study.advice(whole, name, share=together, alike=known.get(None))
    return GroupResults(
        overall=None if whole is None else study.printed(overall, name, alike=known.get(None)),
        by_pathology={
            p: None if t is None else study.printed(counted[p], f"{name}/{p}", alike=known.get(p))
            for p, t in shown.items()
        },
        advice=advice,
        sizes={p: t.total for p, t in counted.items()},
    )


def _shown(exact: Tally, minimum: int) -> Tally | None:
    """Round a tally for a page; None where it counts too few, exactly or once rounded."""
    found = rounded(exact)
    return None if min(exact.total, found.total) < minimum else found


def quarters(months: Sequence[str]) -> dict[str, list[str]]:
    """Group months by calendar quarter, in order."""
    grouped: dict[str, list[str]] = {}
    for month in months:
        year, number = month.split("-")
        grouped.setdefault(f"{year} Q{(int(number) + 2) // 3}", []).append(month)
    return grouped


def trend(group: Group, *, months: Sequence[str], study: Study, minimum: int) -> list[QuarterError]:
    """Phrase calibration error quarter by quarter."""
    points: list[QuarterError] = []
    cells, alike = group.cells, group.alike.get(None)
    for quarter, inside in quarters(months).items():
        exact = tally_of(cells[cells["month"].isin(inside)], study.phrases)
        named = f"{group.name}/{quarter}"
        shown = _shown(exact, minimum)
        found = None if shown is None else study.printed(exact, named, alike=alike)
        error = None if found is None else found.phrase_error
        points.append(QuarterError(quarter, int((shown or exact).total), error))
    return points
