"""What advice may never do, which substitutions that leaves, and which of them is the best bet.

A map that turns every "present" into "maybe" is well calibrated and useless, so: statements of
0 % and 100 % (also "diagnostic of", whose mean is nearly 1) are neither sources nor targets, a step
in mean probability is limited, some pairs are forbidden outright, and the words must stay as
informative as they were, up to a set share.

Evidence: the exact binomial test of "this phrase is right as often as readers expect", two-sided,
with Holm's correction over the phrases tested (labels may be fractions, the incomplete beta
function then interpolates), and a gap worth a person's attention.

Choice: the gain in Brier score per use of saying l for k, where the phrase is right at rate p, is
(m_k − p)² − (m_l − p)² = (m_k − m_l)(m_k + m_l − 2p), linear in p, so that the observed rate gives
the expected gain. The target is the smallest step that has most (.8) of the largest permitted gain,
if that gain is at least what closing the smallest gap worth a person's attention would bring. That
the reader's own word is off has been proved at this point; which word to say instead is a decision,
not a second proof, and a second proof costs more exams than a reader has: on a scale of five terms
the halfway point to the next word is often closer to the truth than one standard error.

Neighbouring phrases of a scale differ by less than sampling noise, so a recommendation, once
made, is kept while it gains and no other phrase gains three times as much; stability is the
share of bootstrap replicates that keep it. Asking each replicate for the same best phrase instead
would withhold most correct advice, because replicates alternate between two equally good words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import betainc

from calibration.arrays import BoolArray, FloatArray, divided
from calibration.bins import BinTables, phrase_bins
from calibration.errors import CalibrationError, number, whole
from calibration.survey import PhraseTable

SuppressionReason = Literal[
    "too few uses", "protected", "matches expectation", "no better phrase", "step too large",
    "forbidden", "target little surveyed", "less informative", "unstable", "no clear improvement",
    "out of order", "not converged",
]  # fmt: skip
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
    forbidden: frozenset[tuple[str, str]] = frozenset()
    keep_order: bool = False

    def __post_init__(self) -> None:
        names = ("min_stability", "informativeness_floor", "max_step", "min_gap", "family_error")
        whole("min_respondents", self.min_respondents, least=0)
        for name in ("min_n", *names):
            number(name, getattr(self, name))
        if not self.min_n >= 1 or not all(0.0 <= getattr(self, name) <= 1.0 for name in names):
            raise CalibrationError(
                "GuardRails: min_n must be at least 1; max_step, min_gap, family_error, "
                "min_stability and informativeness_floor lie between 0 and 1."
            )


def allowed_cells(phrase_table: PhraseTable, *, guard_rails: GuardRails) -> BoolArray:
    """Which substitutions are permitted, keeping a phrase always among them, shape (K, K)."""
    means = phrase_table.means
    allowed: BoolArray = np.abs(means[:, None] - means) <= guard_rails.max_step + 1e-12
    certain = phrase_table.certain
    allowed &= ~(certain[:, None] | certain)
    allowed &= ~_little_surveyed(phrase_table, guard_rails)
    for source, target in guard_rails.forbidden:
        if source in phrase_table.phrases and target in phrase_table.phrases:
            allowed[phrase_table.index(source), phrase_table.index(target)] = False
    np.fill_diagonal(allowed, val=True)
    return allowed


def _little_surveyed(phrase_table: PhraseTable, guard_rails: GuardRails) -> BoolArray:
    asked = [n is not None and n < guard_rails.min_respondents for n in phrase_table.respondents]
    return np.array(asked, dtype=np.bool_)


def resolution(n: FloatArray, label_mass: FloatArray) -> float:
    """Σ_k n_k (y_k / n_k − y / N)² / N: how far the words tell cases apart."""
    used = n > 0
    total = float(n.sum())
    if total <= 0:
        return float("nan")
    rates = label_mass[used] / n[used]
    base = float(label_mass.sum()) / total
    return float(n[used] @ (rates - base) ** 2 / total)


_NEARLY_BEST = 0.8
"""Among targets with this share of the largest gain the smallest step is taken."""
_LOYALTY = 1.0 / 3.0
"""A recommendation is kept while it has this share of the best attainable gain."""


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What stays the same for every phrase of one group.

    Attributes
    ----------
    table, tables, means, variances
        The phrases, their bin tables (K, M) and moments (K,).
    rails, allowed
        The guard-rails and the substitutions they leave, (K, K).
    effect
        Design effect φ of one phrase's uses: n of them tell as much as n / φ independent ones.
    """

    table: PhraseTable
    tables: BinTables
    means: FloatArray
    variances: FloatArray
    rails: GuardRails
    allowed: BoolArray
    effect: float = 1.0

    @classmethod
    def of(cls, phrase_table: PhraseTable, guard_rails: GuardRails, effect: float = 1.0) -> Setting:
        """Prepare a phrase table under guard-rails."""
        return cls(
            table=phrase_table,
            tables=phrase_bins(phrase_table.distributions),
            means=phrase_table.means,
            variances=phrase_table.variances,
            rails=guard_rails,
            allowed=allowed_cells(phrase_table, guard_rails=guard_rails),
            effect=effect,
        )

    @property
    def sources(self) -> BoolArray:
        """Phrases that may be replaced at all, (K,): not certain, expectation inside (0, 1)."""
        inside: BoolArray = (self.means > 0.0) & (self.means < 1.0)
        return inside & ~self.table.certain


def evident_phrases(n: FloatArray, label_mass: FloatArray, *, setting: Setting) -> BoolArray:
    """Phrases that are evidently not right as often as readers expect, (K,)."""
    rails = setting.rails
    tested = np.flatnonzero((n >= rails.min_n) & setting.sources)
    uses, mass, mean = n[tested], label_mass[tested], setting.means[tested]
    p = _binomial_p(uses / setting.effect, mass / setting.effect, mean)
    order = np.argsort(p)
    adjusted = np.maximum.accumulate(p[order] * (len(tested) - np.arange(len(tested))))
    evident = np.zeros(len(n), dtype=np.bool_)
    evident[tested[order[adjusted <= rails.family_error]]] = True
    evident[tested] &= np.abs(mass / uses - mean) >= rails.min_gap
    return evident


def _binomial_p(n: FloatArray, y: FloatArray, rate: FloatArray) -> FloatArray:
    """Twice the smaller tail of Binomial(n, rate) at y, at most 1."""
    at_least = np.where(y > 0, betainc(np.maximum(y, 1e-300), n - y + 1.0, rate), 1.0)
    above = np.where(y < n, betainc(y + 1.0, np.maximum(n - y, 1e-300), rate), 0.0)
    return np.asarray(np.minimum(1.0, 2.0 * np.minimum(at_least, 1.0 - above)))


def gains(n: FloatArray, label_mass: FloatArray, *, source: int, setting: Setting) -> FloatArray:
    """Gain of every target per use of one source, −inf where not permitted.

    n and label mass are (..., K); so is the answer, 0 for keeping the phrase.
    """
    rate = divided(label_mass[..., source], n[..., source])
    own, means = setting.means[source], setting.means
    gain = (own - means) * (own + means - 2.0 * rate[..., None])
    gain = np.where(setting.allowed[source] & np.isfinite(gain), gain, -np.inf)
    gain[..., source] = 0.0
    return np.asarray(gain)


def best_target(n: FloatArray, label_mass: FloatArray, *, source: int, setting: Setting) -> int:
    """Find the nearest target of nearly the largest gain, the source if none gains enough."""
    gain = gains(n, label_mass, source=source, setting=setting)
    largest = float(gain.max())
    if not largest >= max(setting.rails.min_gap**2, 1e-12):
        return source
    step = np.abs(setting.means - setting.means[source])
    return int(np.argmin(np.where(gain >= _NEARLY_BEST * largest, step, np.inf)))


def keeps(gain: FloatArray, *, target: int) -> BoolArray:
    """Which replicates (B, K) of the gains keep a recommendation, (B,)."""
    own = gain[:, target]
    kept: BoolArray = (own > 0.0) & (own >= _LOYALTY * gain.max(axis=1))
    return kept
