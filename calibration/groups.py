"""A group's rows → its results: overall, by finding, and quarter by quarter.

Rows are those of a tally table: ``phrase, label_value, count``, and ``pathology`` or ``month``
where a result is asked for each. A group below the minimum has no result: None, never 0. These
results are for pages: what is too few is decided by exact counts, and all that is computed, by
rounded ones (`calibration.rounding`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.analysis import Study, advice_shares
from calibration.estimate import Estimate
from calibration.result import GroupResult
from calibration.rounding import rounded
from calibration.substitution import Advice
from calibration.survey import PhraseTable
from calibration.tally import Tally, tally


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
    index = {phrase: k for k, phrase in enumerate(phrases.phrases)}
    return tally(
        cells["phrase"].map(index).to_numpy(dtype=np.int64),
        cells["label_value"].to_numpy(dtype=np.float64),
        n_phrases=len(phrases),
        weight=cells["count"].to_numpy(dtype=np.float64),
    )


def group_results(
    cells: pd.DataFrame,
    *,
    name: str,
    pathologies: Sequence[str],
    study: Study,
    minimum: int,
    advised: bool = False,
) -> GroupResults:
    """Calibrate a group overall and per pathology, and where asked look for maps and advice.

    The chance that a calibrated group is advised at all is shared out by `advice_shares`.

    Parameters
    ----------
    cells
        The group's rows of the tally table, one period.
    name
        The group's name; seeds its chance.
    pathologies
        Pathologies to report on, in page order.
    study
        What every result shares.
    minimum
        Fewest exams behind a result.
    """
    counted = {p: tally_of(cells[cells["pathology"] == p], study.phrases) for p in pathologies}
    overall = tally_of(cells, study.phrases)
    shown = {p: _shown(t, minimum) for p, t in counted.items()}
    whole = _shown(overall, minimum)
    return GroupResults(
        overall=None if whole is None else study.result(whole, name),
        by_pathology={
            p: None if t is None else study.result(t, f"{name}/{p}") for p, t in shown.items()
        },
        advice=_advice(whole, shown, name, study) if advised else {},
        sizes={p: t.total for p, t in counted.items()},
    )


def _shown(exact: Tally, minimum: int) -> Tally | None:
    """Round a tally for a page; None where it counts too few, exactly or once rounded."""
    found = rounded(exact)
    return None if min(exact.total, found.total) < minimum else found


def _advice(
    overall: Tally | None, each: Mapping[str, Tally | None], name: str, study: Study
) -> dict[str | None, Advice]:
    """Look for advice for every pathology with enough exams, then for all together."""
    enough = {p: t for p, t in each.items() if t is not None}
    together, single = advice_shares(len(enough))
    found: dict[str | None, Advice] = {
        p: study.advice(t, f"{name}/{p}", share=single) for p, t in enough.items()
    }
    if overall is not None:
        found[None] = study.advice(overall, name, share=together)
    return found


def quarters(months: Sequence[str]) -> dict[str, list[str]]:
    """Group months by calendar quarter, in order."""
    grouped: dict[str, list[str]] = {}
    for month in months:
        year, number = month.split("-")
        grouped.setdefault(f"{year} Q{(int(number) + 2) // 3}", []).append(month)
    return grouped


def trend(
    cells: pd.DataFrame, *, name: str, months: Sequence[str], study: Study, minimum: int
) -> list[tuple[str, int, Estimate | None]]:
    """Phrase calibration error per quarter: its name, exams, and the estimate if enough."""
    points: list[tuple[str, int, Estimate | None]] = []
    for quarter, inside in quarters(months).items():
        exact = tally_of(cells[cells["month"].isin(inside)], study.phrases)
        shown = _shown(exact, minimum)
        gap = None if shown is None else study.result(shown, f"{name}/{quarter}").phrase_error
        points.append((quarter, int((exact if shown is None else shown).total), gap))
    return points
