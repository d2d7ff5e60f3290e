"""A phrase table → its hedges with their meaning on the log-odds scale, and its certain phrases.

The meaning of a hedge is the mean of its distribution; its standard error comes from the spread of
the survey's answers and the number of respondents, by the delta method, at most 1 on the log-odds
scale, and is 0 for a meaning that was assigned and not surveyed. A borrowed phrase has its lender's
respondents. Phrases that mean less than `ProfileSettings.certain` or more than 1 minus it are no
hedges: clipped into the line they would decide its slope by the clip.

Choice by doubt. Let a word stand for beliefs S of its distribution, and a CT be ρ times as likely
where the writer is in doubt, S in (.2, .8], whatever is there. Every belief be right, E(label | S)
= S. With P = P(S in doubt) and E = E[S · 1(S in doubt)] of the word, its rate with CT is

    (mean + (ρ − 1) E) / (1 + (ρ − 1) P),

drawn toward one half, and 1 + (ρ − 1) P is how much more of its uses then have a CT. The line of
these rates over the meanings is what such a choice makes of a line (0, 1).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from calibration.arrays import BoolArray, FloatArray, IntArray
from calibration.estimate import Z95
from calibration.profile.settings import ProfileSettings
from calibration.profile.swaps import Choices
from calibration.regression import expected_line
from calibration.survey import PhraseTable

_WIDEST = 1.0
_DOUBT = np.array([0.0, 0.2, 0.8, 1.0])


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """Which phrases of a table are what.

    ``place`` (table length) is a phrase's number among the hedges, −1 for certain phrases;
    ``certain`` is −1 for phrases that mean absent, 1 for present, 0 for hedges. ``unsure`` (2, K)
    are P and E of the module.
    """

    phrases: tuple[str, ...]
    place: IntArray
    certain: IntArray
    hedges: tuple[str, ...]
    meaning: FloatArray
    survey: FloatArray
    respondents: FloatArray
    unsure: FloatArray

    @property
    def log_odds(self) -> FloatArray:
        """Logit of the hedges' meanings, shape (K,)."""
        return np.asarray(logit(self.meaning))

    @property
    def doubt(self) -> FloatArray:
        """Half of each meaning's 95 % interval by the survey's respondents, shape (K,)."""
        return Z95 * self.survey * self.meaning * (1.0 - self.meaning)

    def chosen_by_doubt(self, n: FloatArray, *, ratio: float) -> FloatArray:
        """Say what a choice by doubt makes of a line (0, 0), (2,); ``n`` (K,) are the uses."""
        chance, part = (ratio - 1.0) * self.unsure
        used = n > 0
        rate = ((self.meaning + part) / (1.0 + chance))[used]
        return expected_line(self.log_odds[used], n=n[used], rate=rate) - [0.0, 1.0]

    def choices(
        self,
        findings: tuple[str, ...],
        error: tuple[FloatArray, FloatArray],
        offset: FloatArray,
        never: Collection[str],
        settings: ProfileSettings,
    ) -> Choices:
        """Say what may be suggested.

        ``error`` is the survey's error as the department shows it and its variance, (K,) each on
        the log-odds scale; ``offset`` the shift and slope − 1 that may be the instrument's.
        """
        step = np.abs(self.meaning - self.meaning[:, None])
        known = np.isnan(self.respondents) | (self.respondents >= settings.least_respondents)
        wanted = np.array([name not in never for name in self.hedges], dtype=bool)
        allowed: BoolArray = (step >= settings.least_step) & (step <= settings.largest_step)
        allowed &= known & wanted
        return Choices(
            names=self.hedges,
            findings=findings,
            meaning=self.meaning,
            corrected=np.asarray(expit(self.log_odds + error[0])),
            variance=error[1],
            shared=offset[0] + offset[1] * self.log_odds,
            allowed=allowed,
            doubt=self.doubt,
            lean=np.zeros(len(self.hedges)),
        )


def vocabulary(table: PhraseTable, *, settings: ProfileSettings) -> Vocabulary:
    """Sort a table's phrases into hedges and certain ones."""
    means = table.means
    low, high = means < settings.certain, means > 1.0 - settings.certain
    hedge = ~(low | high)
    meaning = means[hedge]
    error = table.errors[hedge] / (meaning * (1.0 - meaning))
    tables = [d.interval_tables(_DOUBT) for d in table.distributions]
    unsure = np.array([[mass[1], part[1]] for mass, part in tables]).reshape(-1, 2).T
    place = np.where(hedge, np.cumsum(hedge) - 1, -1)
    return Vocabulary(
        phrases=table.phrases,
        place=place.astype(np.int64),
        certain=high.astype(np.int64) - low.astype(np.int64),
        hedges=tuple(p for p, held in zip(table.phrases, hedge, strict=True) if held),
        meaning=meaning,
        survey=np.minimum(error, _WIDEST),
        respondents=table.asked[hedge],
        unsure=unsure[:, hedge],
    )
