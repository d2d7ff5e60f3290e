"""What advice may never do, and which substitutions that leaves.

A map that turns every "present" into "maybe" is well calibrated and useless, so: statements of
0 % and 100 % are protected, a step in mean probability is limited, some pairs are forbidden
outright, and the words must stay as informative as they were, up to a set share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibration.arrays import BoolArray, FloatArray
from calibration.errors import CalibrationError
from calibration.survey import PhraseTable

__all__ = [
    "GuardRails",
    "SuppressionReason",
    "allowed_cells",
    "cell_reason",
    "resolution",
    "statements_of_certainty",
]

_NEARLY = 0.005

SuppressionReason = Literal[
    "too few uses",
    "protected",
    "matches expectation",
    "no better phrase",
    "step too large",
    "forbidden",
    "target little surveyed",
    "less informative",
    "unstable",
    "no clear improvement",
    "out of order",
    "not converged",
]
"""Why a phrase in use got no advice; a closed set."""


@dataclass(frozen=True, slots=True)
class GuardRails:
    """Limits on advice.

    Attributes
    ----------
    min_n
        A phrase used less often gets no advice.
    max_step
        Largest change in mean probability, in probability units.
    min_gap
        Smallest difference between observed and expected rate worth a person's attention; a swap
        gains at least as much, ``min_gap ** 2`` of Brier score per use.
    family_error
        Chance that a calibrated group gets any phrase past the test; share it out among the
        groups that are advised at once.
    min_stability
        Share of bootstrap replicates that must keep the recommendation.
    informativeness_floor
        Share of the resolution Σ n_k (rate_k − rate)² that must be left after the swap.
    min_respondents
        A phrase surveyed with fewer people is not advised as a target; phrases without a survey
        (assigned or borrowed) are not held to it.
    protect_atoms
        Whether statements of 0 % and 100 % (also "diagnostic of", whose mean is nearly 1) are
        neither sources nor targets.
    forbidden
        (source, target) pairs never to be advised.
    keep_order
        Whether advice, taken together, must leave the phrases in use in the order of their
        means. Off by default: it forbids every swap past another phrase in use.
    """

    min_n: float = 20
    max_step: float = 0.5
    min_gap: float = 0.05
    family_error: float = 0.05
    min_stability: float = 0.7
    informativeness_floor: float = 0.8
    min_respondents: int = 10
    protect_atoms: bool = True
    forbidden: frozenset[tuple[str, str]] = frozenset()
    keep_order: bool = False

    def __post_init__(self) -> None:
        shares = (
            self.min_stability,
            self.informativeness_floor,
            self.max_step,
            self.min_gap,
            self.family_error,
        )
        if self.min_n < 1 or not all(0.0 <= share <= 1.0 for share in shares):
            msg = (
                "GuardRails: min_n must be at least 1; max_step, min_gap, family_error, "
                "min_stability and informativeness_floor lie between 0 and 1."
            )
            raise CalibrationError(msg)


def allowed_cells(phrase_table: PhraseTable, *, guard_rails: GuardRails) -> BoolArray:
    """Which substitutions are permitted, keeping a phrase always among them, shape (K, K)."""
    means = phrase_table.means
    allowed: BoolArray = np.abs(means[:, None] - means) <= guard_rails.max_step + 1e-12
    if guard_rails.protect_atoms:
        certain = statements_of_certainty(phrase_table)
        allowed &= ~(certain[:, None] | certain)
    allowed &= ~_little_surveyed(phrase_table, guard_rails)
    for source, target in guard_rails.forbidden:
        if source in phrase_table.phrases and target in phrase_table.phrases:
            allowed[phrase_table.index(source), phrase_table.index(target)] = False
    np.fill_diagonal(allowed, val=True)
    return allowed


def statements_of_certainty(phrase_table: PhraseTable) -> BoolArray:
    """Phrases that state 0 % or 100 %: atoms there, and means within .005 of them, (K,)."""
    means = phrase_table.means
    near: BoolArray = (means < _NEARLY) | (means > 1.0 - _NEARLY)
    return near | phrase_table.certain


def _little_surveyed(phrase_table: PhraseTable, guard_rails: GuardRails) -> BoolArray:
    asked = [n is not None and n < guard_rails.min_respondents for n in phrase_table.respondents]
    return np.array(asked, dtype=np.bool_)


def cell_reason(
    source: int, target: int, *, phrase_table: PhraseTable, guard_rails: GuardRails
) -> SuppressionReason:
    """Why a forbidden cell is forbidden."""
    names, means = phrase_table.phrases, phrase_table.means
    if (names[source], names[target]) in guard_rails.forbidden:
        return "forbidden"
    if abs(float(means[source] - means[target])) > guard_rails.max_step:
        return "step too large"
    if guard_rails.protect_atoms and statements_of_certainty(phrase_table)[[source, target]].any():
        return "protected"
    return "target little surveyed"


def resolution(n: FloatArray, label_mass: FloatArray) -> float:
    """Σ_k n_k (y_k / n_k − y / N)² / N: how far the words tell cases apart."""
    used = n > 0
    total = float(n.sum())
    if total <= 0:
        return float("nan")
    rates = label_mass[used] / n[used]
    base = float(label_mass.sum()) / total
    return float(n[used] @ (rates - base) ** 2 / total)
