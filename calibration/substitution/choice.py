"""Whether a phrase is wrong at all, and which permitted phrase is the best bet instead.

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

import numpy as np
from scipy.special import betainc

from calibration.arrays import BoolArray, FloatArray
from calibration.bins import BinTables, phrase_bins
from calibration.substitution.guardrails import (
    GuardRails,
    allowed_cells,
    statements_of_certainty,
)
from calibration.survey import PhraseTable

__all__ = ["Setting", "best_target", "evident_phrases", "gains", "keeps"]

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
    """

    table: PhraseTable
    tables: BinTables
    means: FloatArray
    variances: FloatArray
    rails: GuardRails
    allowed: BoolArray

    @classmethod
    def of(cls, phrase_table: PhraseTable, guard_rails: GuardRails) -> Setting:
        """Prepare a phrase table under guard-rails."""
        return cls(
            table=phrase_table,
            tables=phrase_bins(phrase_table.distributions),
            means=phrase_table.means,
            variances=phrase_table.variances,
            rails=guard_rails,
            allowed=allowed_cells(phrase_table, guard_rails=guard_rails),
        )

    @property
    def sources(self) -> BoolArray:
        """Phrases that may be replaced at all, (K,): not certain, expectation inside (0, 1)."""
        inside: BoolArray = (self.means > 0.0) & (self.means < 1.0)
        certain = statements_of_certainty(self.table)
        return inside & ~certain if self.rails.protect_atoms else inside


def evident_phrases(n: FloatArray, label_mass: FloatArray, *, setting: Setting) -> BoolArray:
    """Phrases that are evidently not right as often as readers expect, (K,)."""
    rails = setting.rails
    tested = np.flatnonzero((n >= rails.min_n) & setting.sources)
    uses, mass, mean = n[tested], label_mass[tested], setting.means[tested]
    p = _binomial_p(uses, mass, mean)
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
    uses, nothing = n[..., source], np.full(n.shape[:-1], np.nan)
    rate = np.divide(label_mass[..., source], uses, out=nothing, where=uses > 0)
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
