"""The transport map under the guard-rails, and what of it is worth telling a person.

The map (what the paper proposes) is always computed and shown with its held-out effect, but its
cost is noisy bin by bin and a person cannot act on twelve fractional flows; advice is therefore
decided phrase by phrase, in ``suggestion``.

The order rail, if asked for: after advice, a phrase that meant more still means at least as much.
Swaps are taken best first; one that would leave two phrases in use in reversed order, given the
swaps already taken, is held back. Phrases without a swap keep their meaning. The whole monotone map
is another thing (``programs.monotone_map``); this holds advice on single phrases to the same rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from calibration.arrays import FloatArray
from calibration.estimate import Likeness
from calibration.plain import LEFT_OUT, named
from calibration.substitution.cost import SubstitutionMap
from calibration.substitution.effect import HeldOutEffect, Scores, held_out_effect
from calibration.substitution.guardrails import GuardRails, Setting
from calibration.substitution.suggestion import SPLITS, Suggestion, Suppressed, suggest
from calibration.substitution.transport import STANDARD, Regularisation, fitted_map
from calibration.survey import PhraseTable
from calibration.tally import Tally

_ALONE = Likeness()
"""Statements that tell each by itself."""


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

    map: SubstitutionMap = field(metadata=LEFT_OUT)
    effect: HeldOutEffect | None = field(metadata=LEFT_OUT)
    suggestions: tuple[Suggestion, ...] = field(metadata=named("advice"))
    suppressed: tuple[Suppressed, ...]


def advise(
    tally: Tally,
    *,
    phrase_table: PhraseTable,
    guard_rails: GuardRails,
    regularisation: Regularisation = STANDARD,
    alike: Likeness = _ALONE,
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
    regularisation
        Of the transport problem.
    alike
        How alike a patient's statements turn out; independent if not given.
    rng
        Source of chance.
    """
    setting = Setting.of(phrase_table, guard_rails, alike.phrase)
    mapped = partial(fitted_map, phrases=phrase_table.phrases, regularisation=regularisation)
    fit = partial(mapped, tables=setting.tables, allowed=setting.allowed)
    chosen = fit(tally)
    effect = None
    if chosen.converged and tally.total >= 2 * guard_rails.min_n:
        effect = held_out_effect(
            tally,
            fit=lambda part: fit(part).weights_or_identity(),
            scores=Scores(setting.tables, setting.means, setting.variances, alike.whole),
            splits=SPLITS,
            rng=rng,
        )
    found, silent = suggest(tally, setting=setting, rng=rng)
    if guard_rails.keep_order:
        found, held = hold_order(found, n=tally.n, phrase_table=phrase_table)
        silent = tuple(sorted((*silent, *held), key=lambda each: phrase_table.index(each.source)))
    return Advice(map=chosen, effect=effect, suggestions=found, suppressed=silent)


def hold_order(
    suggestions: Sequence[Suggestion], *, n: FloatArray, phrase_table: PhraseTable
) -> tuple[tuple[Suggestion, ...], tuple[Suppressed, ...]]:
    """Keep the suggestions, best first, that together preserve the phrases' order.

    Parameters
    ----------
    suggestions
        Best first.
    n
        Uses of each phrase, shape (K,); a phrase nobody used cannot be out of order.
    phrase_table
        Gives the means.
    """
    means = phrase_table.means
    used = np.flatnonzero(n > 0)
    after = means.copy()
    kept: list[Suggestion] = []
    held: list[Suppressed] = []
    for suggestion in suggestions:
        tried = after.copy()
        tried[phrase_table.index(suggestion.source)] = suggestion.target_expected
        if _in_order(means[used], tried[used]):
            after = tried
            kept.append(suggestion)
        else:
            detail = "another phrase in use would then mean more than one it meant less than"
            held.append(Suppressed(suggestion.source, suggestion.target, "out of order", detail))
    return tuple(kept), tuple(held)


def _in_order(before: FloatArray, after: FloatArray) -> bool:
    """Whether no pair that differed before is reversed after."""
    order = np.argsort(before, kind="stable")
    return bool(np.all(np.diff(after[order]) >= -1e-12))
