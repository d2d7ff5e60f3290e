"""Each phrase passes five tests in turn: a suggestion, or the reason why there is none.

1. enough uses, and not a statement of 0 % or 100 %; 2. evidence that the phrase is not right as
often as readers expect, and by enough to matter; 3. a permitted phrase that gains enough to matter
(``guardrails.best_target``), leaving the words informative; 4. stability: most bootstrap replicates
keep the recommendation; 5. held out: 5-fold cross-fitted, the Brier score falls.

Tests 1 and 2 bound how often a calibrated reader is advised; 3 to 5 choose the replacement, and the
interval of the held-out effect goes with it to the page, whether or not it excludes 0.

The Brier score here is that of the phrases' means: what a listener who knows the phrase's average
meaning would score. ``benchmarks/calibration_advice.py`` measures how often a calibrated reader
gets advice and how often a planted fault is found.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from calibration.arrays import BoolArray, FloatArray
from calibration.estimate import multinomial_moments
from calibration.phrase_calibration import wilson
from calibration.plain import LEFT_OUT, named
from calibration.substitution.effect import HeldOutEffect, Scores, held_out_effect
from calibration.substitution.guardrails import (
    Setting,
    SuppressionReason,
    best_target,
    evident_phrases,
    gains,
    keeps,
    resolution,
)
from calibration.tally import Tally

_STABLE = 200
"""Replicates for stability."""
SPLITS = 5
"""Random splits for the cross-fitted effects, each used in every fold."""


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
        Share of bootstrap replicates that keep this target.
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
    effect: HeldOutEffect | None = field(metadata=named("held_out"))


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A phrase in use that got no advice, and why; ``detail`` says it for a log.

    ``shares`` are the share that was found and the one needed; none where no share decided.
    """

    source: str
    target: str | None
    reason: SuppressionReason
    detail: str
    shares: tuple[float, ...] = field(default=(), metadata=LEFT_OUT)


def suggest(
    tally: Tally, *, setting: Setting, rng: np.random.Generator
) -> tuple[tuple[Suggestion, ...], tuple[Suppressed, ...]]:
    """Judge every phrase in use; suggestions come best first, silences in table order."""
    n, mass = tally.n, tally.label_mass
    evident = evident_phrases(n, mass, setting=setting)
    boot_n, boot_mass = multinomial_moments(
        tally, replicates=_STABLE, rng=rng, effect=setting.effect
    )
    outcomes: list[Suggestion | Suppressed] = []
    for source in map(int, np.flatnonzero(n > 0)):
        silence = _early_silence(source, n, evident, setting)
        if silence is not None:
            outcomes.append(silence)
            continue
        replicated = gains(boot_n, boot_mass, source=source, setting=setting)
        outcomes.append(_judge(_Case(tally, setting, source), replicated, rng))
    suggestions = [o for o in outcomes if isinstance(o, Suggestion)]
    silences = tuple(o for o in outcomes if isinstance(o, Suppressed))
    return tuple(sorted(suggestions, key=_benefit)), silences


def _benefit(suggestion: Suggestion) -> float:
    return 0.0 if suggestion.effect is None else suggestion.effect.brier_difference.value


def _early_silence(
    source: int, n: FloatArray, evident: BoolArray, setting: Setting
) -> Suppressed | None:
    name = setting.table.phrases[source]
    if not setting.sources[source]:
        return Suppressed(name, None, "protected", "a statement of 0 % or 100 %")
    if n[source] < setting.rails.min_n:
        detail = f"{n[source]:g} uses, {setting.rails.min_n:g} needed"
        return Suppressed(name, None, "too few uses", detail)
    if not evident[source]:
        return Suppressed(name, None, "matches expectation", f"{n[source]:g} uses")
    return None


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """One phrase of one group, evidently off."""

    tally: Tally
    setting: Setting
    source: int

    def target(self, part: Tally) -> int:
        return best_target(part.n, part.label_mass, source=self.source, setting=self.setting)

    def swap(self, part: Tally) -> FloatArray:
        """Map that replaces the phrase by the target a part of the data would choose."""
        weights = np.eye(part.n_phrases)
        weights[self.source] = 0.0
        weights[self.source, self.target(part)] = 1.0
        return weights

    def silence(
        self, target: int, reason: SuppressionReason, detail: str, *shares: float
    ) -> Suppressed:
        names = self.setting.table.phrases
        return Suppressed(names[self.source], names[target], reason, detail, shares)


def _judge(
    case: _Case, replicated: FloatArray, rng: np.random.Generator
) -> Suggestion | Suppressed:
    rails, target = case.setting.rails, case.target(case.tally)
    if target == case.source:
        return _no_target(case)
    stability = float(np.mean(keeps(replicated, target=target)))
    if stability < rails.min_stability:
        detail = f"kept in {stability:.0%} of replicates, {rails.min_stability:.0%} needed"
        return case.silence(target, "unstable", detail, stability, rails.min_stability)
    kept = _resolution_kept(case.tally, case.source, target)
    if kept < rails.informativeness_floor:
        detail = f"{kept:.0%} of the resolution is left, {rails.informativeness_floor:.0%} needed"
        shares = kept, rails.informativeness_floor
        return case.silence(target, "less informative", detail, *shares)
    effect = _swap_effect(case, rng)
    if not effect.brier_difference.value < 0.0:
        detail = f"held-out Brier difference {effect.brier_difference.summary()}"
        return case.silence(target, "no clear improvement", detail)
    return _suggestion(case, target, stability, effect)


def _no_target(case: _Case) -> Suppressed:
    """Name the guard-rail if a better phrase exists behind one."""
    setting = case.setting
    free = replace(setting, allowed=np.ones_like(setting.allowed))
    target = replace(case, setting=free).target(case.tally)
    if target == case.source:
        name = setting.table.phrases[case.source]
        return Suppressed(name, None, "no better phrase", "no phrase of the table is closer to CT")
    reason = cell_reason(case.source, target, setting=setting)
    return case.silence(target, reason, "the best phrase is not permitted")


def _resolution_kept(tally: Tally, source: int, target: int) -> float:
    n, mass = tally.n, tally.label_mass
    before = resolution(n, mass)
    after_n, after_mass = n.copy(), mass.copy()
    after_n[target] += after_n[source]
    after_mass[target] += after_mass[source]
    after_n[source] = after_mass[source] = 0.0
    return resolution(after_n, after_mass) / before if before > 0 else 1.0


def _swap_effect(case: _Case, rng: np.random.Generator) -> HeldOutEffect:
    setting = case.setting
    return held_out_effect(
        case.tally,
        fit=case.swap,
        scores=Scores(
            setting.tables, setting.means, np.zeros_like(setting.variances), setting.effect
        ),
        folds=5,
        splits=SPLITS,
        rng=rng,
    )


def _suggestion(case: _Case, target: int, stability: float, effect: HeldOutEffect) -> Suggestion:
    tally, setting, source = case.tally, case.setting, case.source
    n, mass = tally.n, tally.label_mass
    low, high = wilson(mass / setting.effect, n / setting.effect)
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


def cell_reason(source: int, target: int, *, setting: Setting) -> SuppressionReason:
    """Why a forbidden cell is forbidden."""
    names, means, rails = setting.table.phrases, setting.means, setting.rails
    if (names[source], names[target]) in rails.forbidden:
        return "forbidden"
    if abs(float(means[source] - means[target])) > rails.max_step:
        return "step too large"
    if setting.table.certain[[source, target]].any():
        return "protected"
    return "target little surveyed"
