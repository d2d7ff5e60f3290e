"""Do a reader's words rise with what CT shows? Asked of the reader's own counts, before any fit.

Words that run against CT, or have nothing to do with it, are no line about which a department's
readers scatter. Most often they are no reader's doing: X-rays paired with other patients' CTs, a
label column turned round, a template misread. So this is asked first, and what does not rise is
set aside (`Aside`): it moves no other figure, and nothing else is told of it.

For one reader, or one reader's statements in one finding, n_fk uses of phrase k in finding f,

    logit P(CT positive) = a + b_f + s · x_k + q_k,      x_k = logit(meaning of k),

with independent normal priors of mean 0: a and b_f (how common a finding is) of deviations
`_LEVEL` and `_FINDING`, s of `_SLOPE`, and q_k of `_QUIRK`, so that no slope rests on one word. The
posterior of s is taken as normal at its mode (Laplace). Words

    fall       if P(s < 0) ≥ `ProfileSettings.falls_probability`;
    are flat   if they do not fall, and P(s < `flat_slope`) ≥ `flat_probability`, or ≥ ½ where
               "absent" and "present" fail as well;
    are mixed  if they do neither, and "absent", "present" and they are all drawn toward the rate
               of their finding as other patients' CTs in a share of the exams would draw them.

The thresholds are chosen by simulation (`benchmarks/profile_order.py`). In one finding only a fall
is looked for, because in some findings words may tell little. Where one finding's words fall and
the others' surely rise, that finding alone is set aside; else all of the reader's hedges are.

"Absent" and "present" take no part in the slope, which they would decide by where they are
clipped. With the rates of CT-positive statements p of "present" and a of "absent", normal with the
moments of Beta(½ + y, ½ + n − y) each, they hold if P(p − a > `_APART`) ≥ `_SURE`, and fail if
P(p − a < `_APART`) ≥ `_VERY_SURE`, both with `_LEAST_CERTAIN` effective statements or more. Whose
fail is asked however few hedges there are; whether they hold says where to look for the fault.

Where a share π of a reader's CTs are other patients', a word true at the rate c is so in
(1 − π) c + π ρ_f, with ρ_f the rate of all the reader's statements in the finding. A reader who is
too sure is so of hedges; this is of "absent" and "present" too. Let e be the rate of being wrong at
the other readers' rates, in the same findings, w that of other patients' CTs (ρ_f of "absent",
1 − ρ_f of "present"), and u the reader's. Each kind alone says π = (u − e) / (w − e), with the
variance of u (Beta as above) and of e (the others' own, and `_APART_BY` on the log-odds, as readers
differ); both together say it with weights 1 / variance. It is mixed if P(π > `_MIXED`) ≥
`_VERY_SURE` of both, P(π > `_EACH`) ≥ `_EACH_SURE` of each (of fewer than `_LEAST_MIXED` effective
statements none), or, of both, P(π > `_EACH`) ≥ `_EACH_SURE` where words that would be drawn
opposite ways go wrong in the same exams, beyond what colleagues' do, by `_TOGETHER` deviations and
π (1 − π) / 2 or more (`tables.opposed`; who mistakes findings for one another more than they do
looks alike, so this tells only beside the first), and
s < 1 − π of `least_statements` hedges or more, for hedges that rise as they
should are no other patients'; and only if the first two hold with CT's hedges taken for what they
lean to as well: a CT that says "probably" is less sure than "present", and this patient's. From
π = `_NEARLY` on words are flat where s says so with P ≥ ½.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TypeAlias

import numpy as np
from scipy.special import betaincinv, expit, ndtr

from calibration.arrays import BoolArray, FloatArray
from calibration.profile.atoms import AtomCounts, others, uncompared
from calibration.profile.results import (
    NOTHING,
    Aside,
    Certain,
    Coordinate,
    Interval,
    Large,
    Pattern,
    PhraseRate,
    ReaderProfile,
    Verdict,
    Way,
)
from calibration.profile.settings import ProfileSettings

_LEVEL, _FINDING, _SLOPE, _QUIRK = 2.0, 0.7, 1.0, 0.3
_STEPS, _TOLERANCE, _LONGEST = 60, 1e-9, 2.0
_APART, _SURE, _VERY_SURE, _LEAST_CERTAIN = 0.3, 0.95, 0.99, 20.0
_MIXED, _EACH, _EACH_SURE, _LEAST_MIXED, _APART_BY, _NEARLY = 0.2, 0.1, 0.9, 10.0, 0.4, 0.75
_EVEN, _WORTH, _TINY, _TOGETHER = 0.5, 20.0, 1e-9, 3.0
_ENDS = np.array([0.5, 0.025, 0.975])
NOWHERE = Coordinate(*[float("nan")] * 4)
"""A coordinate of a line that there is not."""
_NO_RISE = Verdict(state="no rise", parts=(), question=False, more_exams=None)


Certainties: TypeAlias = tuple[AtomCounts, AtomCounts]
"""Statements of "absent" and of "present"."""


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """Posterior mean and deviation of the slope s of every row of counts, shape (R,)."""

    mean: FloatArray
    sd: FloatArray

    def below(self, value: float) -> FloatArray:
        """P(s < value), shape (R,)."""
        return np.asarray(ndtr((value - self.mean) / self.sd))


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """What is set aside.

    ``out`` (R, F) are the findings of each reader whose words do not rise, ``whole`` (R,) the
    readers of whom that is all; ``every`` are the slopes of all their hedges, ``single`` (R·F,) of
    those in each finding; ``certain`` is what each reader's "absent" and "present" do, ``mixed``
    (R,) whose CTs may in part be other patients', ``share`` (R,) in what share and its ``doubt``.
    """

    out: BoolArray
    whole: BoolArray
    every: Slopes
    single: Slopes
    certain: tuple[Certain, ...]
    mixed: BoolArray
    share: FloatArray
    doubt: FloatArray

    def way(self, r: int, settings: ProfileSettings) -> Way:
        """Say how the words of a reader of whom all is set aside do not rise."""
        if self.every.below(0.0)[r] >= settings.falls_probability:
            return "falls"
        flat = self.every.below(settings.flat_slope)[r]
        even = settings.flat_probability if self.share[r] < _NEARLY else _EVEN
        return "mixed" if self.mixed[r] and flat < even else "flat"


@dataclass(frozen=True, slots=True, eq=False)
class Own:
    """Readers' own counts of hedges, as written and effective, and what the hedges mean.

    ``n``, ``mass`` and the effective ``worth`` and ``borne`` are (R, F, K); ``meaning`` and
    ``doubt`` (K,) probabilities, the latter half of each meaning's 95 % interval by its survey.
    """

    n: FloatArray
    mass: FloatArray
    worth: FloatArray
    borne: FloatArray
    names: tuple[str, ...]
    findings: tuple[str, ...]
    meaning: FloatArray
    doubt: FloatArray

    def of(self, kept: BoolArray) -> Own:
        """Keep some findings of some readers (R, F)."""
        n, mass, worth, borne = (
            each * kept[:, :, None] for each in (self.n, self.mass, self.worth, self.borne)
        )
        return replace(self, n=n, mass=mass, worth=worth, borne=borne)

    def large(self, r: int) -> Large:
        """Give what a reader's hedges come to together, by their counts alone."""
        n, mass = float(self.n[r].sum()), float(self.mass[r].sum())
        return Large(n, mass, float((self.n[r] @ self.meaning).sum()), NOTHING, np.nan, np.nan)

    def rate(self, name: str, r: int, cells: BoolArray) -> PhraseRate | None:
        """Give the rate of a reader's ``cells`` (F, K) taken together, by their counts alone."""
        n, mass, worth, borne = (
            float(each[r][cells].sum()) for each in (self.n, self.mass, self.worth, self.borne)
        )
        if n <= 0.0:
            return None
        share = (self.n[r] * cells).sum(axis=0) / n
        ends = betaincinv(_EVEN + borne, _EVEN + worth - borne, _ENDS)
        means, doubt = float(share @ self.meaning), float(np.linalg.norm(share * self.doubt))
        return PhraseRate(name, n, mass / n, Interval(*ends.tolist()), means, doubt=doubt)

    def sides(self, r: int, where: BoolArray) -> tuple[PhraseRate, ...]:
        """Give the rates of words above even odds, and of all others, in some findings (F,)."""
        strong = self.meaning > _EVEN
        named = (("strong", where[:, None] & strong), ("weak", where[:, None] & ~strong))
        return tuple(each for side in named if (each := self.rate(side[0], r, side[1])))

    def phrases(self, r: int) -> tuple[PhraseRate, ...]:
        """Give the rate of every word that a reader wrote."""
        alone = np.tile(np.eye(len(self.names), dtype=bool)[:, None], (1, len(self.findings), 1))
        each = (self.rate(*named) for named in zip(self.names, repeat(r), alone, strict=False))
        return tuple(rate for rate in each if rate)


def own_slopes(n: FloatArray, mass: FloatArray, meaning: FloatArray) -> Slopes:
    """Fit each row of counts (R, F, K) alone, by Newton's method."""
    readers, findings, phrases = n.shape
    # Columns of a cell's design: the level, the slope, its finding and its phrase.
    finding = np.repeat(np.eye(findings), phrases, axis=0)
    phrase = np.tile(np.eye(phrases), (findings, 1))
    x = np.tile(meaning, findings)[:, None]
    design = np.concatenate([np.ones_like(x), x, finding, phrase], axis=1)
    spread = np.repeat([_LEVEL, _SLOPE, _FINDING, _QUIRK], [1, 1, findings, phrases])
    n, mass = n.reshape(readers, -1), mass.reshape(readers, -1)
    at = np.zeros((readers, len(spread)))
    prior, products = np.diag(spread**-2.0), design[:, :, None] * design[:, None, :]
    held = np.broadcast_to(prior, (readers, *prior.shape))
    for _ in range(_STEPS):
        chance = expit(at @ design.T)
        weight = n * chance * (1.0 - chance)
        held = (weight @ products.reshape(len(x), len(spread) ** 2)).reshape(held.shape) + prior
        up = (mass - n * chance) @ design - at / spread**2
        step = np.linalg.solve(held, up[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True, initial=0.0)
        at = at + step / np.maximum(longest / _LONGEST, 1.0)
        if longest.max(initial=0.0) < _TOLERANCE:
            break
    return Slopes(at[:, 1], np.sqrt(np.linalg.inv(held)[:, 1, 1]))


def order(
    own: Own,
    atoms: Certainties,
    leaned: Certainties,
    together: Slopes,
    *,
    meaning: FloatArray,
    settings: ProfileSettings,
) -> Order:
    """Find what does not rise with what CT shows.

    Parameters
    ----------
    own
        Every reader's hedges; who wrote fewer than ``least_statements`` of them, in all or in a
        finding, is not judged by them there.
    atoms
        Statements of "absent" and of "present".
    leaned
        The same with CT's hedges taken for what they lean to.
    together
        π / (1 − π) by what goes wrong in the same exams, beyond colleagues' (`tables.opposed`).
    meaning
        Log-odds of what each phrase means, shape (K,).
    """
    readers, findings, phrases = own.n.shape
    uses, least = own.n.sum(axis=2), settings.least_statements

    def slopes(kept: BoolArray) -> Slopes:
        return own_slopes(own.worth * kept[:, :, None], own.borne * kept[:, :, None], meaning)

    apart = readers * findings, 1, phrases
    single = own_slopes(own.worth.reshape(apart), own.borne.reshape(apart), meaning)
    falls = single.below(0.0).reshape(readers, findings) >= settings.falls_probability
    out = falls & (uses >= least) & (findings > 1)
    every, rest = slopes(np.ones_like(out)), slopes(~out)
    left = (uses * ~out).sum(axis=1) >= least
    rises = left & (rest.below(settings.flat_slope) <= 1.0 - settings.rest_probability)
    whole = (uses.sum(axis=1) >= least) & _unordered(every, settings) & ~(out.any(axis=1) & rises)
    whole |= left & _unordered(rest, settings)
    certain = certainties(*atoms)
    fail = np.array([each == "fail" for each in certain], dtype=bool)
    whole |= fail & (every.below(settings.flat_slope) >= _EVEN)
    mixed, share, doubt = _mixed(own, atoms, ~out, together)
    mixed &= _mixed(own, leaned, ~out, together)[0]
    mixed &= left & (rest.mean < 1.0 - np.minimum(share, _NEARLY))
    whole |= mixed
    return Order(out | whole[:, None], whole, every, single, certain, mixed, share, doubt)


def _unordered(found: Slopes, settings: ProfileSettings) -> BoolArray:
    """Say whose words fall or are flat, shape (R,)."""
    falls = found.below(0.0) >= settings.falls_probability
    return np.asarray(falls | (found.below(settings.flat_slope) >= settings.flat_probability))


def certainties(absent: AtomCounts, present: AtomCounts) -> tuple[Certain, ...]:
    """Say of every reader whether "present" and "absent" rise with what CT shows."""
    wrong, right = absent.effective_wrong.sum(axis=1), present.effective_wrong.sum(axis=1)
    low, high = absent.effective.sum(axis=1), present.effective.sum(axis=1)
    ends = ((wrong, low - wrong), (high - right, right))
    mean, variance = zip(*(_beta(y + _EVEN, n + _EVEN) for y, n in ends), strict=True)
    apart, sd = mean[1] - mean[0], np.sqrt(variance[0] + variance[1])
    z = (apart - _APART) / sd
    holds, fails = ndtr(z) >= _SURE, ndtr(-z) >= _VERY_SURE
    few = np.minimum(low, high) < _LEAST_CERTAIN
    kinds: list[Certain] = np.select([few, holds, fails], ["open", "hold", "fail"], "open").tolist()
    return tuple(kinds)


def _mixed(
    own: Own, every: Certainties, kept: BoolArray, together: Slopes
) -> tuple[BoolArray, FloatArray, FloatArray]:
    """Say whose "absent" and "present" are mixed, with π and its deviation, shape (R,) each.

    Of each reader's findings only those ``kept`` (R, F) are asked.
    """
    absent, present = atoms = [
        replace(one, n=one.n * kept, wrong=one.wrong * kept, effective=one.effective * kept)
        for one in every
    ]
    n = own.n.sum(axis=2) * kept + absent.n + present.n
    mass = own.mass.sum(axis=2) * kept + absent.wrong + present.n - present.wrong
    rate = _drawn(mass, n)
    each = [_moved(one, w) for one, w in zip(atoms, (rate, 1.0 - rate), strict=True)]
    off, room, variance = (np.array(part) for part in zip(*each, strict=True))
    worth = (room**2 / variance).sum(axis=0)
    known = (room > 0.0).all(axis=0)
    share = np.where(known, (off * room / variance).sum(axis=0) / np.maximum(worth, _TINY), 0.0)
    doubt = 1.0 / np.sqrt(np.maximum(worth, _TINY))
    alone = (ndtr((off - _EACH * room) / np.sqrt(variance)) >= _EACH_SURE).all(axis=0)
    sure = alone & (ndtr((share - _MIXED) / doubt) >= _VERY_SURE)
    at_once = together.mean >= np.maximum(_EVEN * share * (1.0 - share), together.sd * _TOGETHER)
    sure |= at_once & (ndtr((share - _EACH) / doubt) >= _EACH_SURE)
    enough = np.min([one.effective.sum(axis=1) for one in atoms], axis=0) >= _LEAST_MIXED
    return np.asarray(known & enough & sure), share, doubt


def _drawn(mass: FloatArray, n: FloatArray) -> FloatArray:
    """Rates of findings (R, F), drawn toward the reader's of all."""
    every = (mass.sum(axis=1, keepdims=True) + _EVEN) / (n.sum(axis=1, keepdims=True) + 1.0)
    return np.asarray((mass + _WORTH * every) / (n + _WORTH))


def _moved(counts: AtomCounts, other: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give u − e, w − e and the variance of the first, shape (R,) each; ``other`` (R, F) is w."""
    n = counts.effective
    total = n.sum(axis=1)
    if np.count_nonzero(total) < 2:
        return np.zeros(len(n)), np.zeros(len(n)), np.ones(len(n))
    odds, doubt = others(counts)
    share = n / np.maximum(total, _TINY)[:, None]
    expected = (share * expit(odds)).sum(axis=1)
    wrong = counts.effective_wrong.sum(axis=1)
    seen, variance = _beta(wrong + _EVEN, total - wrong + _EVEN)
    spread = (expected * (1.0 - expected)) ** 2 * (doubt + _APART_BY**2)
    return seen - expected, (share * other).sum(axis=1) - expected, variance + spread


def _beta(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of Beta(a, b)."""
    mean = a / (a + b)
    return mean, mean * (1.0 - mean) / (a + b + 1.0)


def with_aside(
    readers: Sequence[ReaderProfile],
    found: Order,
    own: Own,
    atoms: Certainties,
    *,
    settings: ProfileSettings,
) -> tuple[ReaderProfile, ...]:
    """Say of every reader's profile what was set aside; of all hedges, in place of a verdict.

    ``atoms`` are all statements of "absent" and of "present".
    """
    told = list[ReaderProfile]()
    for r, reader in enumerate(readers):
        places = [None] if found.whole[r] else np.flatnonzero(found.out[r]).tolist()
        aside = tuple(_aside(r, f, found, own, settings) for f in places)
        if found.whole[r]:
            hold = found.mixed[r] and found.certain[r] == "hold"
            aside = (replace(aside[0], certain="open" if hold else found.certain[r]),)
            pattern = replace(lineless(reader.pattern, aside[0].slope), verdict=_NO_RISE)
            reader = counted(replace(reader, pattern=pattern), r, own, atoms)
        told.append(replace(reader, aside=aside))
    return tuple(told)


def counted(reader: ReaderProfile, r: int, own: Own, atoms: Certainties) -> ReaderProfile:
    """Give reader r's profile with the counts alone of hedges and certainties."""
    absent, present = (uncompared(each, r) for each in atoms)
    every = np.ones(len(own.findings), dtype=bool)
    return replace(
        reader, hedges=float(own.n[r].sum()), absent=absent, present=present,
        phrases=own.phrases(r), sides=own.sides(r, every),
    )  # fmt: skip


def lineless(pattern: Pattern, slope: Coordinate) -> Pattern:
    """Give the pattern of a reader of whom there is no line, only the slope of the words alone."""
    none = float("nan")
    return replace(
        pattern, shift=NOWHERE, slope=slope, correlation=none, within=none, clearly_off=none,
        tipping=none,
    )  # fmt: skip


def _aside(r: int, f: int | None, found: Order, own: Own, rules: ProfileSettings) -> Aside:
    """Describe a reader's hedges in one finding, or all (None), that do not rise."""
    slopes, row = (found.every, r) if f is None else (found.single, r * len(own.findings) + f)
    way = "falls" if f is not None else found.way(r, rules)
    chance = float(slopes.below(0.0 if way == "falls" else rules.flat_slope)[row])
    share = Interval.normal(found.share[r], found.doubt[r]) if way == "mixed" else NOTHING
    where = np.array([f is None or f == each for each in range(len(own.findings))])
    return Aside(
        finding=None if f is None else own.findings[f],
        way=way,
        n=float(own.n[r][where].sum()),
        slope=Coordinate.normal(slopes.mean[row], slopes.sd[row], chance),
        sides=own.sides(r, where),
        certain="open",
        share=share,
    )
