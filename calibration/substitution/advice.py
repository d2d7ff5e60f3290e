"""Which swap to suggest to a person, and why every other one is withheld.

The transport map (what the paper proposes) is always computed and shown with its held-out effect,
but its cost is noisy bin by bin, and a person cannot act on twelve fractional flows. Advice
therefore passes five doors, one phrase at a time:

1. enough uses (``min_n``), and not a statement of 0 % or 100 %;
2. evidence: the score test of "this phrase means what readers expect" rejects after Holm's
   correction over the phrases tested, that is, a Wilson interval excludes the expectation;
3. a target: among permitted phrases the one whose gain in Brier score per use of the phrase's
   mean, (m_k − p)² − (m_l − p)² at the observed rate p, has the largest lower confidence bound,
   so that a modest sure step beats a bold doubtful one;
4. stability: at least ``min_stability`` of bootstrap replicates keep that target. Neighbouring
   phrases differ by less than sampling noise, so a replicate keeps it while it gains and no other
   phrase gains twice as much, which is also when advice would be kept from month to month;
5. held out: 5-fold cross-fitted, the interval of the Brier difference lies below 0.

``benchmarks/calibration_advice.py`` measures how often a calibrated reader gets advice and how
often a planted fault is found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from calibration.arrays import BoolArray, FloatArray
from calibration.bins import BinTables, phrase_bins
from calibration.phrase_calibration import wilson
from calibration.resample import multinomial_moments
from calibration.substitution.cost import substitution_cost
from calibration.substitution.effect import HeldOutEffect, MapFitter, held_out_effect
from calibration.substitution.guardrails import (
    GuardRails,
    SuppressionReason,
    allowed_cells,
    cell_reason,
    resolution,
)
from calibration.substitution.transport import Regulariser, SubstitutionMap, transport_map
from calibration.survey import PhraseTable
from calibration.tally import Tally

__all__ = ["Advice", "Suggestion", "Suppressed", "advise"]

_FAMILY_ERROR = 0.05
_CAUTION = 1.2816
"""Standard errors taken off a gain before targets are compared: a one-sided 90 % bound."""
_LOYALTY = 0.5
"""A recommendation is kept while it has this share of the best attainable gain."""


@dataclass(frozen=True, slots=True, eq=False)
class Suggestion:
    """Say ``target`` where you say ``source``.

    Attributes
    ----------
    source, target
        Phrases.
    n
        Uses of the source phrase.
    observed, low, high
        How often it was right, with its 95 % Wilson interval.
    expected, target_expected
        Mean confidence readers take from the source and from the target.
    share
        Share of the group's observations that used the source phrase.
    stability
        Share of bootstrap replicates that choose this target.
    effect
        Held-out effect of this one swap.
    """

    source: str
    target: str
    n: float
    observed: float
    low: float
    high: float
    expected: float
    target_expected: float
    share: float
    stability: float
    effect: HeldOutEffect | None


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A phrase in use that got no advice, and why; ``detail`` carries the numbers."""

    source: str
    target: str | None
    reason: SuppressionReason
    detail: str


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """The transport map with its held-out effect, and what is worth telling a person.

    Attributes
    ----------
    map
        The optimal-transport map under the guard-rails; check ``map.converged``.
    effect
        Its cross-fitted effect; None if there was too little to split or no convergence.
    suggestions
        Best first.
    suppressed
        One entry per phrase in use without a suggestion, in table order.
    """

    map: SubstitutionMap
    effect: HeldOutEffect | None
    suggestions: tuple[Suggestion, ...]
    suppressed: tuple[Suppressed, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Setting:
    """What stays the same for every phrase of one group."""

    table: PhraseTable
    tables: BinTables
    means: FloatArray
    variances: FloatArray
    allowed: BoolArray
    rails: GuardRails


def advise(
    tally: Tally,
    *,
    phrase_table: PhraseTable,
    guard_rails: GuardRails,
    epsilon: float = 1e-3,
    tau: float = 1e-3,
    regulariser: Regulariser = "kl",
    bootstrap: int = 200,
    splits: int = 5,
    rng: np.random.Generator,
) -> Advice:
    """Map, held-out effect, suggestions and the reasons for silence.

    Parameters
    ----------
    tally
        One group's counts.
    phrase_table
        What the phrases mean; sources and targets alike.
    guard_rails
        Limits on advice.
    epsilon, tau, regulariser
        Of the transport problem.
    bootstrap
        Replicates for stability.
    splits
        Random splits for the cross-fitted effects, each used both ways.
    rng
        Source of chance.
    """
    setting = _Setting(
        table=phrase_table,
        tables=phrase_bins(phrase_table.distributions),
        means=phrase_table.means,
        variances=phrase_table.variances,
        allowed=allowed_cells(phrase_table, guard_rails=guard_rails),
        rails=guard_rails,
    )

    def fit(part: Tally) -> SubstitutionMap:
        return _transport(part, setting, epsilon=epsilon, tau=tau, regulariser=regulariser)

    chosen = fit(tally)
    effect = None
    if chosen.converged and tally.total >= 2 * guard_rails.min_n:
        effect = _effect(tally, setting, lambda part: _weights_or_stay(fit(part)), splits, rng)
    suggestions, suppressed = _suggest(tally, setting, bootstrap, splits, rng)
    return Advice(map=chosen, effect=effect, suggestions=suggestions, suppressed=suppressed)


def _transport(
    tally: Tally, setting: _Setting, *, epsilon: float, tau: float, regulariser: Regulariser
) -> SubstitutionMap:
    n, total = tally.n, tally.total
    share = n / total if total > 0 else np.zeros_like(n)
    cost = substitution_cost(n, tally.label_mass, source=setting.tables, target=setting.tables)
    cost[~setting.allowed] = np.inf
    cost[n == 0] = np.nan
    return transport_map(
        cost,
        phrases=setting.table.phrases,
        source_weights=share,
        epsilon=epsilon,
        tau=tau,
        regulariser=regulariser,
    )


def _weights_or_stay(fitted: SubstitutionMap) -> FloatArray:
    return fitted.weights() if fitted.converged else np.eye(len(fitted.phrases))


def _suggest(
    tally: Tally,
    setting: _Setting,
    bootstrap: int,
    splits: int,
    rng: np.random.Generator,
) -> tuple[tuple[Suggestion, ...], tuple[Suppressed, ...]]:
    n, mass = tally.n, tally.label_mass
    evident = _evidence(n, mass, setting)
    boot_n, boot_mass = multinomial_moments(tally, replicates=bootstrap, rng=rng)
    suggestions: list[Suggestion] = []
    suppressed: list[Suppressed] = []
    for source in np.flatnonzero(n > 0):
        early = _early_reason(int(source), n, evident, setting)
        if early is not None:
            suppressed.append(early)
            continue
        target = _target(n, mass, int(source), setting)
        kept = _kept(_bounds(boot_n, boot_mass, int(source), setting), target)
        stability = float(np.mean(kept)) if bootstrap else float("nan")
        outcome = _judge(tally, setting, int(source), target, stability, splits, rng)
        if isinstance(outcome, Suggestion):
            suggestions.append(outcome)
        else:
            suppressed.append(outcome)
    return tuple(sorted(suggestions, key=_benefit)), tuple(suppressed)


def _benefit(suggestion: Suggestion) -> float:
    if suggestion.effect is None:
        return 0.0
    return suggestion.effect.brier_difference.value


def _evidence(n: FloatArray, mass: FloatArray, setting: _Setting) -> BoolArray:
    """Phrases whose rate differs from the expectation, score test with Holm's correction, (K,)."""
    tested = np.flatnonzero((n >= setting.rails.min_n) & _open(setting))
    m = setting.means[tested]
    z = np.abs(mass[tested] - n[tested] * m) / np.sqrt(n[tested] * m * (1.0 - m))
    p = 2.0 * ndtr(-z)
    order = np.argsort(p)
    adjusted = np.maximum.accumulate(p[order] * (len(tested) - np.arange(len(tested))))
    evident = np.zeros(len(n), dtype=np.bool_)
    evident[tested[order[adjusted <= _FAMILY_ERROR]]] = True
    return evident


def _open(setting: _Setting) -> BoolArray:
    """Phrases that may be sources at all: not certain, and with an expectation inside (0, 1)."""
    inside: BoolArray = (setting.means > 0) & (setting.means < 1)
    return inside & ~setting.table.certain if setting.rails.protect_atoms else inside


def _early_reason(
    source: int, n: FloatArray, evident: BoolArray, setting: _Setting
) -> Suppressed | None:
    name = setting.table.phrases[source]
    if not _open(setting)[source]:
        return Suppressed(name, None, "protected", "a statement of 0 % or 100 %")
    if n[source] < setting.rails.min_n:
        detail = f"{n[source]:g} uses, {setting.rails.min_n:g} needed"
        return Suppressed(name, None, "too few uses", detail)
    if not evident[source]:
        return Suppressed(name, None, "matches expectation", f"{n[source]:g} uses")
    return None


def _bounds(n: FloatArray, mass: FloatArray, source: int, setting: _Setting) -> FloatArray:
    """Lower confidence bound of every target's gain per use, −inf where not permitted.

    n and mass are (..., K); the answer is (..., K), 0 for keeping the phrase. The gain of saying
    l for k at rate p is (m_k − p)² − (m_l − p)² = (m_k − m_l)(m_k + m_l − 2p).
    """
    uses = n[..., source]
    rate = np.divide(mass[..., source], uses, out=np.full(uses.shape, np.nan), where=uses > 0)
    error = np.sqrt(np.clip(rate * (1.0 - rate), 0.0, None) / np.maximum(uses, 1.0))
    own, means = setting.means[source], setting.means
    step = own - means
    bound = step * (own + means - 2.0 * rate[..., None])
    bound = bound - 2.0 * _CAUTION * np.abs(step) * error[..., None]
    bound = np.where(setting.allowed[source] & np.isfinite(bound), bound, -np.inf)
    bound[..., source] = 0.0
    return np.asarray(bound)


def _target(n: FloatArray, mass: FloatArray, source: int, setting: _Setting) -> int:
    """Find the surest target of one source, itself if none gains."""
    return int(np.argmax(_bounds(n, mass, source, setting)))


def _kept(bounds: FloatArray, target: int) -> FloatArray:
    """Whether replicates (B, K) keep a recommendation: it gains, and none gains twice as much."""
    own = bounds[:, target]
    return np.asarray((own > 0.0) & (own >= _LOYALTY * bounds.max(axis=1)))


def _judge(
    tally: Tally,
    setting: _Setting,
    source: int,
    target: int,
    stability: float,
    splits: int,
    rng: np.random.Generator,
) -> Suggestion | Suppressed:
    names, rails = setting.table.phrases, setting.rails
    if target == source:
        return _no_target(tally, setting, source)
    if not stability >= rails.min_stability:
        detail = f"chosen in {stability:.0%} of replicates, {rails.min_stability:.0%} needed"
        return Suppressed(names[source], names[target], "unstable", detail)
    kept = _resolution_kept(tally, source, target)
    if kept < rails.informativeness_floor:
        detail = f"{kept:.0%} of the resolution is left, {rails.informativeness_floor:.0%} needed"
        return Suppressed(names[source], names[target], "less informative", detail)

    def swap(part: Tally) -> FloatArray:
        weights = np.eye(len(names))
        weights[source] = 0.0
        weights[source, _target(part.n, part.label_mass, source, setting)] = 1.0
        return weights

    effect = _effect(tally, setting, swap, splits, rng, swap_only=True)
    difference = effect.brier_difference
    if not difference.high < 0.0:
        detail = f"held-out Brier difference {difference.summary()}"
        return Suppressed(names[source], names[target], "no clear improvement", detail)
    return _suggestion(tally, setting, source, target, stability, effect)


def _no_target(tally: Tally, setting: _Setting, source: int) -> Suppressed:
    """Name the guard-rail if a better phrase exists behind one."""
    free = _Setting(
        setting.table,
        setting.tables,
        setting.means,
        setting.variances,
        np.ones_like(setting.allowed),
        setting.rails,
    )
    target = _target(tally.n, tally.label_mass, source, free)
    names = setting.table.phrases
    if target == source:
        return Suppressed(names[source], None, "no better phrase", "none of the table is closer")
    reason = cell_reason(source, target, phrase_table=setting.table, guard_rails=setting.rails)
    return Suppressed(names[source], names[target], reason, "the best phrase is not permitted")


def _resolution_kept(tally: Tally, source: int, target: int) -> float:
    n, mass = tally.n, tally.label_mass
    before = resolution(n, mass)
    after_n, after_mass = n.copy(), mass.copy()
    after_n[target] += after_n[source]
    after_mass[target] += after_mass[source]
    after_n[source] = after_mass[source] = 0.0
    return resolution(after_n, after_mass) / before if before > 0 else 1.0


def _effect(
    tally: Tally,
    setting: _Setting,
    fit: MapFitter,
    splits: int,
    rng: np.random.Generator,
    *,
    swap_only: bool = False,
) -> HeldOutEffect:
    return held_out_effect(
        tally,
        fit=fit,
        tables=setting.tables,
        means=setting.means,
        variances=np.zeros_like(setting.variances) if swap_only else setting.variances,
        folds=5 if swap_only else 2,
        splits=splits,
        rng=rng,
    )


def _suggestion(
    tally: Tally,
    setting: _Setting,
    source: int,
    target: int,
    stability: float,
    effect: HeldOutEffect,
) -> Suggestion:
    n, mass = tally.n, tally.label_mass
    low, high = wilson(mass, n)
    return Suggestion(
        source=setting.table.phrases[source],
        target=setting.table.phrases[target],
        n=float(n[source]),
        observed=float(mass[source] / n[source]),
        low=float(low[source]),
        high=float(high[source]),
        expected=float(setting.means[source]),
        target_expected=float(setting.means[target]),
        share=float(n[source] / tally.total),
        stability=stability,
        effect=effect,
    )
