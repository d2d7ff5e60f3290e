"""An issue of the feedback: its months, and the phrases and settings that its results share.

Numbers come from the one road that ``radcal calibrate`` takes too (``calibration.analysis.Study``),
under the same names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from calibration.analysis import Settings, Study
from calibration.substitution import GuardRails
from calibration.survey import PhraseTable
from pipeline.errors import ConfigurationError

if TYPE_CHECKING:
    from pipeline.config import Configuration

__all__ = [
    "Period",
    "Scale",
    "choose_period",
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
