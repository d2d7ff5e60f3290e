"""Advice as a decision: suggest phrase l for phrase k where CT is probably nearer to what l means.

In a scope (one finding, or all), p is the rate at which CT bears the reader's phrase k out and M
are the meanings of the phrases. l is nearer than k exactly if p lies beyond their midpoint, so

    P(|p − M_l| < |p − M_k|) = E_M[Φ(± (logit p̂ − logit (M_k + M_l) / 2) / √(Var logit p))],

+ where M_l > M_k, over 512 draws of both meanings from the posterior of the survey's error, so that
a swap stands though few were asked what either word means; averaged over the fits with and without
a habit, and the smallest one with the meanings as surveyed and as the department corrects them,
with the rate as it is, less what the instrument may have done (`shared`), and with CT's own doubt
taken for what it leans to. Draws are taken where
the mean of M with its variance in the denominator reaches the threshold. Among substitutes that
reach `ProfileSettings.swap_probability`, and promise no less of an unlikely finding than CT shows
(`reassures`), the one with the largest expected gain
E[(p − M_k)² − (p − M_l)²] = (M_l − M_k)(2 E p − M_k − M_l) is taken. A swap in all findings is
tried first. Single findings are tried instead if the findings together support none, or one of
them is against each: its own data contradict it, or it carries it (by what all others show it is
not nearer with probability `_ELSEWHERE`). Of a reader of several sites a substitute has to be
nearer with probability `_AT_EACH` at the one where it is least so, averaged over sites that differ
and that do not, by the reader's line there and by the word's own exams (`sites`); where the first
is not, one that reaches less far may be. Nor is a word swapped that
has been mended since: that the line changed, and the substitute is nearer no longer, may have the
probability `PAST` at most (`lately`).

Swaps that are right one by one can be wrong together: "most likely" becomes "may represent" while
"likely", whose rate is no higher, stays. So a reader's swaps, all followed at once, may not reverse
the order of any two words (`turned`). They are chosen in order of their total gain: each takes its
best substitute that reverses nothing, given those chosen before (and moves the words it would pass
as well, if they have swaps that stand by themselves), else a substitute that reaches less far, else
it is held back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Literal

import numpy as np
from scipy.special import betainc, expit, logit, ndtri

from calibration.arrays import BoolArray, FloatArray
from calibration.profile.design import Counts
from calibration.profile.rates import Rate
from calibration.profile.results import Interval, Swap
from calibration.profile.settings import ProfileSettings
from calibration.profile.shared import EVENLY, PAST

_OWN = 10.0
_EVEN = 0.5
# P(nearer) that a swap in all findings needs without what any one of them showed.
_ELSEWHERE = 0.8
# The same at the site where it is least so, averaged over sites that differ and that do not: by the
# line, and by the word's own exams, of which less is asked because few tell.
_AT_EACH = (0.8, 0.7)
# Difference of two rates, or of what two words say, below which printed figures show no order.
_ALIKE = 0.02
LOW = 0.25
"""What a word that reassures says at most."""
# Standard normals (2, 512) for the two meanings of a swap, always the same.
_DRAWS = ndtri(EVENLY[:2])


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """What may be suggested: meanings (K,) as surveyed and less the survey's error.

    ``variance`` (K,) is that error's on the log-odds; ``shared`` (K,) is what the instrument may
    have done to the log-odds of each word's rate, ``lean`` (K,) how they move with CT's own doubt
    taken for what it leans to; ``allowed`` (K, K) says which word may stand for
    which; ``doubt`` (K,) is half of each meaning's 95 % interval by the survey's respondents.
    ``sites`` (K, 2, S, 2) and ``differ`` (K, 2) are those of `Sites.lower`, ``changed``
    and ``later`` (K, 2) those of `Later`.
    """

    names: tuple[str, ...]
    findings: tuple[str, ...]
    meaning: FloatArray
    corrected: FloatArray
    variance: FloatArray
    shared: FloatArray
    allowed: BoolArray
    doubt: FloatArray
    lean: FloatArray
    sites: FloatArray = field(default_factory=lambda: np.zeros((0, 2, 0, 2)))
    differ: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    changed: float = 0.0
    later: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))


@dataclass(frozen=True, slots=True, eq=False)
class Uses:
    """All readers' hedges and their label mass (R, F, K), effective counts of them, and rates.

    ``whole`` (R, K, 6), ``cells`` and ``others`` (R, F, K, 6) are those of `all_rates`.
    """

    n: FloatArray
    mass: FloatArray
    effective: Counts
    whole: FloatArray
    cells: FloatArray
    others: FloatArray

    def rate(self, r: int, k: int, finding: int | None) -> Rate:
        """Rate of a reader's phrase in one finding, or in all (None)."""
        of = self.whole[r, k] if finding is None else self.cells[r, finding, k]
        return Rate(*of.tolist())

    def seen(self, r: int, k: int, finding: int | None) -> tuple[float, float]:
        """Count a reader's uses of a phrase there, and the share of them that CT bore out."""
        scope = slice(None) if finding is None else finding
        n = float(self.n[r, scope, k].sum())
        return n, float(self.mass[r, scope, k].sum()) / n


@dataclass(frozen=True, slots=True)
class _Move:
    """One swap that is good enough taken alone: of word k, in one finding or in all (None)."""

    word: int
    finding: int | None
    target: int
    probability: float
    gain: float
    apart: Literal["", "sites", "later"] = ""


def choose_swaps(
    uses: Uses, r: int, *, choices: Choices, settings: ProfileSettings
) -> tuple[Swap, ...]:
    """Give at most three swaps of reader r, by what all uses cautiously gain."""
    words = range(len(choices.names))
    found = [each for k in words for each in _moves(uses, r, k, choices, settings) if each]
    found.sort(key=lambda moves: -_swap(uses, r, moves[0], choices)[0])
    whole = {moves[0].word: moves for moves in found if moves[0].finding is None}
    order, taken = _Order(uses, r, choices, settings, whole), list[_Move]()
    for moves in found:
        if not any(each.finding is None and each.word == moves[0].word for each in taken):
            taken = next(filter(None, (order.with_its_own(taken, m) for m in moves)), taken)
    swaps = [_swap(uses, r, move, choices) for move in taken]
    return tuple(swap for _, swap in sorted(swaps, key=lambda pair: -pair[0]))


def _moves(
    uses: Uses, r: int, k: int, choices: Choices, settings: ProfileSettings
) -> Iterator[list[_Move]]:
    """Give the substitutes of a word that stand by themselves, largest gain first, by scope.

    Those that do not at each site, or now, are left out; what stays is marked as ``apart``.
    """
    for moves in _in_scope(uses, r, k, choices, settings):
        held = [_apart(move, uses.rate(r, k, move.finding), choices) for move in moves]
        yield [replace(m, apart=held[0]) for m, off in zip(moves, held, strict=True) if not off]


def _in_scope(
    uses: Uses, r: int, k: int, choices: Choices, settings: ProfileSettings
) -> list[list[_Move]]:
    """Give the substitutes of a word in all findings, or else in single ones."""
    each, whole = uses.n[r, :, k], list[_Move]()
    if each.sum() >= settings.least_uses:
        whole = _substitutes(k, None, uses.rate(r, k, None), choices, settings)
    sound = [not _contradicted(uses, r, k, m.target, choices, settings) for m in whole]
    if any(sound):
        return [[*compress(whole, sound)]]
    places = np.flatnonzero(each >= settings.least_uses).tolist()
    found = [_substitutes(k, f, uses.rate(r, k, f), choices, settings) for f in places]
    return [moves for moves in found if moves]


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    """Which swaps of reader r can be followed together; ``whole`` are the moves in all findings."""

    uses: Uses
    r: int
    choices: Choices
    settings: ProfileSettings
    whole: Mapping[int, Sequence[_Move]]

    def with_its_own(self, taken: list[_Move], move: _Move) -> list[_Move] | None:
        """Add a move, and those of the words that it would pass where these stayed; None if not."""
        moves = [*taken, move]
        passed = self._passed(moves)
        if passed is None or len(moves) + len(passed) > self.settings.most_swaps:
            return None
        if not passed:
            return moves
        tried = (self.with_its_own(moves, each) for each in self.whole.get(min(passed), ()))
        return next(filter(None, tried), None)

    def _passed(self, moves: Sequence[_Move]) -> set[int] | None:
        """Give words that stay and that moves in all findings pass; None where moves disagree.

        Moves in one finding may pass no word there, with the others or without.
        """
        whole = [move for move in moves if move.finding is None]
        pairs, moved = self._turned(None, whole), {move.word for move in whole}
        for move in moves:
            if (f := move.finding) is not None:
                beside = [m for m in moves if m.finding in {None, f}]
                if self._turned(f, [move]) or self._turned(f, beside):
                    return None
        if any(moved >= pair for pair in pairs):
            return None
        return set[int]().union(*pairs) - moved

    def _turned(self, finding: int | None, moves: Sequence[_Move]) -> list[set[int]]:
        """Give the pairs of words that moves turn round, in one finding or in all.

        Words are those with enough uses in all, and in a finding some there.
        """
        uses, meaning, after = self.uses, self.choices.meaning, self.choices.meaning.copy()
        words = uses.n[self.r].sum(axis=0) >= self.settings.least_uses
        if finding is not None:
            words &= uses.n[self.r, finding] >= _OWN
        for move in sorted(moves, key=lambda m: m.finding is not None):
            after[move.word] = meaning[move.target]
        at = np.flatnonzero(words)
        rates = np.array([uses.rate(self.r, k, finding).value for k in at.tolist()])
        return [{*pair} for pair in at[np.argwhere(turned(rates, meaning[at], after[at]))].tolist()]


def turned(rates: FloatArray, before: FloatArray, after: FloatArray) -> BoolArray:
    """Say of each pair of words (K, K) whether swaps turn their order round.

    ``before`` and ``after`` (K,) are what the words say without and with the swaps. The difference
    of two words may not contradict that of their rates visibly more than it did before, and where
    the rates are alike not that of the words as they stand.
    """
    apart, was, now = (np.subtract.outer(each, each) for each in (rates, before, after))
    side = np.sign(np.where(np.abs(apart) < _ALIKE, was, apart))
    return np.asarray(np.maximum(-side * now, 0.0) > np.maximum(-side * was, 0.0) + _ALIKE)


def reassures(instead: FloatArray | float, meaning: float, rate: float) -> BoolArray:
    """Say whether a lower word for an unlikely finding would promise less than CT shows, (K,).

    Who reads "unlikely" looks no further: it is never advised past the rate, near as it may lie.
    """
    each = np.asarray(instead, dtype=np.float64)
    return np.asarray((each < meaning) & (each <= LOW) & (each < rate - _ALIKE))


def nearest_words(
    uses: Uses,
    r: int,
    *,
    cells: Iterable[tuple[str, str]],
    choices: Choices,
    settings: ProfileSettings,
) -> tuple[Swap, ...]:
    """Give the word nearest to each rate, where it is not the reader's own, whatever its chance.

    Of every word in all findings, and of ``cells`` (phrase, finding). Where the nearest is not
    surely nearer than the reader's own and another one is, that one is given.
    """
    places = [(k, None) for k in np.flatnonzero(uses.n[r].any(axis=0)).tolist()]
    named = ((choices.names.index(p), choices.findings.index(f)) for p, f in cells)
    found = []
    for k, finding in (*places, *named):
        rate = uses.rate(r, k, finding)
        safe = choices.allowed[k] & ~reassures(choices.meaning, choices.meaning[k], rate.value)
        away = np.where(safe, np.abs(choices.meaning - rate.value), np.inf)
        target = int(np.argmin(away))
        if away[target] < abs(choices.meaning[k] - rate.value):
            gain = float(away[target] ** 2 - (choices.meaning[k] - rate.value) ** 2)
            sure = _nearer_drawn(k, target, rate, choices)
            move = _Move(k, finding, target, sure, -gain)
            if sure < settings.swap_probability:
                move = next(iter(_substitutes(k, finding, rate, choices, settings)), move)
            apart = _apart(move, rate, choices)
            found.append(_swap(uses, r, replace(move, apart=apart), choices)[1])
    return tuple(found)


def _substitutes(
    k: int, finding: int | None, rate: Rate, choices: Choices, settings: ProfileSettings
) -> list[_Move]:
    """Give the substitutes that are probable enough, the largest expected gain first."""
    probability = nearer(k, rate, choices)
    here = choices.meaning[k]
    gain = (choices.meaning - here) * (2.0 * rate.value - here - choices.meaning)
    good = choices.allowed[k] & (probability >= settings.swap_probability)
    good &= (gain >= settings.least_gain) & ~reassures(choices.meaning, here, rate.value)
    found = []
    for target in sorted(np.flatnonzero(good).tolist(), key=lambda each: -gain[each]):
        sure = _nearer_drawn(k, target, rate, choices)
        if sure >= settings.swap_probability:
            found.append(_Move(k, finding, target, sure, float(gain[target])))
    return found


def nearer(k: int, rate: Rate, choices: Choices) -> FloatArray:
    """P(rate nearer to each meaning than to that of k), shape (K,).

    The smallest one of all readings: a word that a whole department uses in its own way may be the
    department's habit or the survey's error, a line that it shares the readers' or the CT's, and a
    swap has to be right either way.
    """
    found = [_nearer(k, each, meaning, choices) for each, meaning in _readings(k, rate, choices)]
    return np.asarray(np.min(found, axis=0))


def _readings(k: int, rate: Rate, choices: Choices) -> list[tuple[Rate, FloatArray]]:
    moves = (float(choices.shared[k]), -float(choices.lean[k]))
    rates = [rate, *(rate.less(move) for move in moves if move)]
    return [(each, meaning) for each in rates for meaning in (choices.meaning, choices.corrected)]


def _nearer(k: int, rate: Rate, meaning: FloatArray, choices: Choices) -> FloatArray:
    middle = np.clip((meaning + meaning[k]) / 2.0, 1e-9, 1.0 - 1e-9)
    own = choices.variance * (meaning * (1.0 - meaning)) ** 2
    doubt = (own + own[k]) / 4.0 / (middle * (1.0 - middle)) ** 2
    above = rate.above(np.asarray(logit(middle)), doubt)
    return np.asarray(0.5 + np.sign(meaning - meaning[k]) * (above - 0.5))


def _nearer_drawn(k: int, target: int, rate: Rate, choices: Choices) -> float:
    """P(rate nearer to the target's meaning than to that of k) over draws of both meanings."""
    error = np.sqrt(choices.variance[[k, target]])[:, None] * _DRAWS
    nothing, found = np.zeros(1), []
    for each, meaning in _readings(k, rate, choices):
        here, there = expit(logit(meaning[[k, target]])[:, None] + error)
        above = each.above(np.asarray(logit((here + there) / 2.0)), nothing)
        found.append(float(np.where(there > here, above, 1.0 - above).mean()))
    return min(found)


def _apart(move: _Move, rate: Rate, choices: Choices) -> Literal["", "sites", "later"]:
    """Say why a swap does not stand at each site, or now: P(nearer), averaged over alike ones."""
    word, target, sure = move.word, move.target, move.probability
    both = choices.differ[word].tolist(), choices.sites[word].tolist()
    for least, p, lower in zip(_AT_EACH, *both, strict=True):
        at = [_nearer_drawn(word, target, rate.less(*each), choices) for each in lower]
        if at and p * min(at) + (1.0 - p) * sure < least:
            return "sites"
    if not choices.changed:
        return ""
    now = _nearer_drawn(word, target, rate.less(*choices.later[word].tolist()), choices)
    return "later" if choices.changed * (1.0 - now) > PAST else ""


def _contradicted(
    uses: Uses, r: int, k: int, target: int, choices: Choices, settings: ProfileSettings
) -> bool:
    """Whether some finding puts its rate nearer to k than to the substitute, or all but one do.

    Either its posterior does, or its own data do and its posterior is not sure of the opposite. A
    swap of all has to be nearer with probability `_ELSEWHERE` in all findings but any one, by what
    those show: else that one alone carries it, and has its own.
    """
    middle = (choices.meaning[k] + choices.meaning[target]) / 2.0
    n = uses.effective.n[r, :, k]
    mass = np.clip(uses.effective.mass[r, :, k], 0.0, n)
    below = betainc(0.5 + mass, 0.5 + n - mass, middle)
    against = below if choices.meaning[target] > choices.meaning[k] else 1.0 - below
    model = np.array([nearer(k, uses.rate(r, k, f), choices)[target] for f in range(len(n))])
    own = (against >= settings.contradiction) & (model < settings.swap_probability)
    others = uses.others[r, uses.n[r, :, k] > 0, k]
    known = others[np.isfinite(others[:, 0])].tolist()
    sure = min((nearer(k, Rate(*each), choices)[target] for each in known), default=0.0)
    alone = len(n) > 1 and sure < _ELSEWHERE
    return bool(((n >= _OWN) & (own | (model < _EVEN))).any() or alone)


def _swap(uses: Uses, r: int, move: _Move, choices: Choices) -> tuple[float, Swap]:
    k, finding = move.word, move.finding
    n, observed = uses.seen(r, k, finding)
    rate = uses.rate(r, k, finding).interval()
    here, there = float(choices.meaning[k]), float(choices.meaning[move.target])
    ends = sorted((there - here) * (2.0 * end - here - there) for end in (rate.low, rate.high))
    where, gain = None if finding is None else choices.findings[finding], Interval(move.gain, *ends)
    swap = Swap(
        choices.names[k], where, choices.names[move.target], n, observed, rate, here, there,
        move.probability, gain, move.apart,
    )  # fmt: skip
    return n * (move.gain + ends[0]), swap
