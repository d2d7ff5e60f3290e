"""Tallies → results: one reader's and the department's calibration and advice for a period.

The department is every reader of the period together. Chance is drawn from a generator seeded by
the configured seed and the group's name, so that a result depends on its own data alone, not on
the order of the work.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.estimate import Estimate
from calibration.readers import LogisticCalibration, logistic_calibration
from calibration.result import GroupResult, calibrate
from calibration.substitution import Advice, GuardRails, advise
from calibration.survey import PhraseTable
from calibration.tally import Tally, tally
from pipeline.config import Configuration
from pipeline.errors import ConfigurationError

__all__ = [
    "GroupResults",
    "Period",
    "Scale",
    "calibrated",
    "chance",
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


@dataclass(frozen=True, slots=True)
class Scale:
    """The phrases and the settings every result of a run shares."""

    phrases: PhraseTable
    config: Configuration

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
    ``advice`` is keyed by pathology, None for all of them together; ``sizes`` are the exams
    behind every pathology.
    """

    overall: GroupResult | None
    by_pathology: Mapping[str, GroupResult | None]
    advice: Mapping[str | None, Advice]
    logistic: LogisticCalibration | None
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
    cells: pd.DataFrame, *, name: str, pathologies: Sequence[str], scale: Scale
) -> GroupResults:
    """Calibrate a group overall and per pathology, and look for advice.

    The chance that a calibrated group is advised at all is half spent on all findings together,
    half shared evenly by the single ones (Bonferroni, weighted).

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
    minimum = scale.config.reports.min_exams
    enough = {p: t for p, t in counted.items() if t.total >= minimum}
    share = 1.0 if not enough else 0.5
    return GroupResults(
        overall=calibrated(overall, name, scale) if overall.total >= minimum else None,
        by_pathology={
            p: calibrated(t, f"{name}/{p}", scale) if p in enough else None
            for p, t in counted.items()
        },
        advice={
            p: _advised(t, f"{name}/{p}", scale, share=0.5 / len(enough)) for p, t in enough.items()
        }
        | ({None: _advised(overall, name, scale, share=share)} if overall.total >= minimum else {}),
        logistic=logistic_calibration(overall, phrase_table=scale.phrases)
        if overall.total >= minimum
        else None,
        sizes={p: t.total for p, t in counted.items()},
    )


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
        result = calibrated(counted, f"{name}/{quarter}", scale) if enough else None
        points.append((quarter, int(counted.total), result.phrase_error if result else None))
    return points


def calibrated(
    counted: Tally, name: str, scale: Scale, *, bootstrap: int | None = None
) -> GroupResult:
    """Calibrate one group under the run's settings; `bootstrap` replicates where given."""
    settings = scale.config.calibration
    return calibrate(
        counted,
        phrase_table=scale.phrases,
        bins=settings.bins,
        bin_rule=settings.bin_rule,
        bootstrap=bootstrap or settings.bootstrap,
        interval=settings.interval,
        rng=chance(settings.seed, name),
    )


def _advised(counted: Tally, name: str, scale: Scale, *, share: float) -> Advice:
    """Look for advice with a share of the chance of false advice that one page may take."""
    settings, rails = scale.config.advice, scale.guard_rails
    return advise(
        counted,
        phrase_table=scale.phrases,
        guard_rails=replace(rails, family_error=rails.family_error * share),
        epsilon=settings.epsilon,
        tau=settings.tau,
        regulariser=settings.regulariser,
        rng=chance(scale.config.calibration.seed, f"advice/{name}"),
    )


def chance(seed: int, name: str) -> np.random.Generator:
    """Give the generator of one group's chance, whatever else runs before it."""
    entropy = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
    return np.random.default_rng([seed, entropy])
