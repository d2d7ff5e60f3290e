"""Tallies → results: one reader's and the department's calibration and advice for a period.

The department is every reader of the period together. Numbers come from the one road that
``radcal calibrate`` takes too (``calibration.analysis.Study``), under the same names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from calibration.analysis import Settings, Study, advice_shares
from calibration.estimate import Estimate
from calibration.result import GroupResult
from calibration.substitution import Advice, GuardRails
from calibration.survey import PhraseTable
from calibration.tally import Tally, tally
from pipeline.errors import ConfigurationError

if TYPE_CHECKING:
    from pipeline.config import Configuration

__all__ = [
    "GroupResults",
    "Period",
    "Scale",
    "choose_period",
    "group_results",
    "quarters",
    "tally_of",
    "trend",
]


@dataclass(frozen=True, slots=True)
class Period:
    """An issue of the feedback: its name, and the calendar months behind it."""

    name: str
    months: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.months[0]} to {self.months[-1]}"


@dataclass(frozen=True)
class Scale:
    """The phrases and the settings every result of a run shares."""

    phrases: PhraseTable
    config: Configuration

    @cached_property
    def study(self) -> Study:
        """The configured phrases, settings and seed, as every result takes them."""
        how, advice = self.config.calibration, self.config.advice
        settings = Settings(
            bins=how.bins,
            bin_rule=how.bin_rule,
            bootstrap=how.bootstrap,
            interval=how.interval,
            epsilon=advice.epsilon,
            tau=advice.tau,
            regulariser=advice.regulariser,
            guard_rails=self.guard_rails,
        )
        return Study(self.phrases, settings, how.seed)

    @property
    def guard_rails(self) -> GuardRails:
        """The configured limits of advice."""
        settings, scale = self.config.advice, self.config.phrases
        never = {*scale.discouraged, *scale.reserved} & set(self.phrases.phrases)
        return GuardRails(
            min_n=settings.min_exams,
            max_step=settings.max_step,
            min_stability=settings.min_stability,
            keep_order=settings.keep_order,
            forbidden=frozenset(
                (source, target)
                for source in self.phrases.phrases
                for target in never
                if source != target
            ),
        )


@dataclass(frozen=True, slots=True)
class GroupResults:
    """A reader's or the department's results.

    ``by_pathology`` holds None where fewer exams than the minimum stand behind a pathology;
    ``advice`` is keyed by pathology, None for all of them together, and empty where none was looked
    for; ``sizes`` are the exams
    behind every pathology.
    """

    overall: GroupResult | None
    by_pathology: Mapping[str, GroupResult | None]
    advice: Mapping[str | None, Advice]
    sizes: Mapping[str, float]


def choose_period(available: Sequence[str], asked: str | None, *, window_months: int) -> Period:
    """Give the months behind an issue: the window that ends with the month asked for.

    Parameters
    ----------
    available
        Months with observations, ``YYYY-MM``.
    asked
        The last month of the issue; the newest available if None.

    Raises
    ------
    ConfigurationError
        If `asked` is not a month, or no month of its window has observations.
    """
    if not available:
        msg = "no observations at all: nothing can be calibrated."
        raise ConfigurationError(msg)
    try:
        end = pd.Period(asked or max(available), freq="M")
    except ValueError:
        msg = f"--period {asked!r}: not a month; write it as 2026-09."
        raise ConfigurationError(msg) from None
    months = tuple(str(end - back) for back in reversed(range(window_months)))
    if not set(months) & set(available):
        msg = (
            f"--period {end}: no observations in {months[0]} to {months[-1]}; "
            f"there are some from {min(available)} to {max(available)}."
        )
        raise ConfigurationError(msg)
    return Period(str(end), months)


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
    scale: Scale,
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
    """
    counted = {p: tally_of(cells[cells["pathology"] == p], scale.phrases) for p in pathologies}
    overall = tally_of(cells, scale.phrases)
    minimum, study = scale.config.reports.min_exams, scale.study
    enough = {p: t for p, t in counted.items() if t.total >= minimum}
    return GroupResults(
        overall=study.result(overall, name) if overall.total >= minimum else None,
        by_pathology={
            p: study.result(t, f"{name}/{p}") if p in enough else None for p, t in counted.items()
        },
        advice=_advice(overall, enough, name, scale) if advised else {},
        sizes={p: t.total for p, t in counted.items()},
    )


def _advice(
    overall: Tally, enough: Mapping[str, Tally], name: str, scale: Scale
) -> dict[str | None, Advice]:
    """Look for advice for every pathology with enough exams, then for all together."""
    study = scale.study
    together, each = advice_shares(len(enough))
    found: dict[str | None, Advice] = {
        p: study.advice(t, f"{name}/{p}", share=each) for p, t in enough.items()
    }
    if overall.total >= scale.config.reports.min_exams:
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
    cells: pd.DataFrame, *, name: str, months: Sequence[str], scale: Scale
) -> list[tuple[str, int, Estimate | None]]:
    """Phrase calibration error per quarter: its name, exams, and the estimate if enough."""
    points: list[tuple[str, int, Estimate | None]] = []
    for quarter, inside in quarters(months).items():
        counted = tally_of(cells[cells["month"].isin(inside)], scale.phrases)
        enough = counted.total >= scale.config.reports.min_exams
        result = scale.study.result(counted, f"{name}/{quarter}") if enough else None
        points.append((quarter, int(counted.total), result.phrase_error if result else None))
    return points
