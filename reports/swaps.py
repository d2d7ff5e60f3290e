"""Swaps in words: which are said, how, and what each claims.

A claim says on which side of its words CT lies: ``more`` (CT shows the finding more often than the
word says, so a higher word fits) or ``less``. A stated pattern claims a side for strong words
(meaning above even odds) and for weak ones. A swap against the pattern is printed as an exception;
of two that undo each other the one with less behind it is left out; and a swap in all findings
names those it does not speak for. Where the advised word is itself off in the reader's hands, every
swap says so; where another recommended word lies nearer to the rate, the swap promises neither. A
word whose printed interval holds what it means needs no other: its swap is not said, nor is one
that, with those before it, would leave the advised word well off in the reader's hands, nor one
that would turn a word round with another (`calibration.profile.swaps`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np

from calibration.profile import Habit, PhraseRate, ReaderProfile, Swap
from calibration.profile.settings import ProfileSettings
from calibration.profile.shown import VISIBLE, Rated, Side, claims, reaches, stated
from calibration.profile.swaps import reassures, turned
from reports.numbers import FINE, count, percent, percent_interval, percent_limits
from reports.strings import Strings

# Distance from even odds up to which a word stands in the middle of the scale.
_MIDDLE: Final = 0.1
# How far from its meaning the ends of an interval may lie where a word is known to be right.
_NEAR: Final = 0.1
# How much further off all that is sent to a word may leave it: far less than that was off itself.
_HARMLESS: Final = 0.05
# Rates that lie no further apart are about one degree of certainty.
_DEGREE: Final = 0.1
LEAST_USES: Final = ProfileSettings().least_uses
Scale: TypeAlias = Mapping[str, float]
"""The words that an institution recommends, and what they mean."""


@dataclass(frozen=True, slots=True)
class Action:
    """One swap in words: title, and the evidence below it.

    ``instead`` is the advised word, or that and the one that may lie nearer; ``apart`` are the
    findings that a swap in all findings does not speak for.
    """

    swap: Swap
    instead: str
    apart: tuple[str, ...]
    title: str
    evidence: str


def claimed(profile: ReaderProfile) -> tuple[Side | None, Side | None]:
    """Sides that a stated pattern claims for strong and for weak words.

    Of a slope with a shift that is put as a question, the slope alone is claimed.
    """
    parts = stated(profile)
    parts = parts[-1:] if profile.pattern.verdict.question else parts
    return claims(parts)


def kept_swaps(profile: ReaderProfile) -> tuple[Swap, ...]:
    """Give the swaps in their order that are needed, and bear being followed all at once."""
    advice = profile.advice
    while True:
        kept: list[Swap] = []
        for swap in advice:
            undone = any(_undoes(swap, earlier) for earlier in kept)
            if not (needless(swap) or undone or spoiled([*kept, swap], profile)):
                kept.append(swap)
        against = next((s for s in reversed(kept) if passed(s, kept, profile)), None)
        if against is None:
            return tuple(kept)
        advice = tuple(swap for swap in advice if swap is not against)


def passed(swap: Swap, swaps: Sequence[Swap], profile: ReaderProfile) -> PhraseRate | None:
    """Give a word that a swap in all findings would turn round with its own, beside these swaps."""
    words = [p for p in profile.phrases if p.n >= LEAST_USES]
    own = next((i for i, word in enumerate(words) if word.phrase == swap.phrase), None)
    if swap.finding or own is None:
        return None
    moved = {each.phrase: each.instead_meaning for each in (*swaps, swap) if not each.finding}
    after = np.array([moved.get(word.phrase, word.meaning) for word in words])
    rates, before = np.array([(word.rate.value, word.meaning) for word in words]).T
    found = np.flatnonzero(turned(rates, before, after)[own])
    return min((words[i] for i in found), key=lambda word: -word.n, default=None)


def spoiled(swaps: Sequence[Swap], profile: ReaderProfile) -> tuple[PhraseRate, float] | None:
    """Give an advised word that all of these at once leave further off than they are worth.

    With it stands its rate once they are followed.
    """
    gone = {swap.phrase for swap in swaps if not swap.finding}
    for own in profile.phrases:
        moved: list[Rated] = [swap for swap in swaps if swap.instead == own.phrase]
        after = _pooled(moved if own.phrase in gone else [own, *moved]) if moved else own.rate.value
        if abs(after - own.meaning) > abs(own.rate.value - own.meaning) + _HARMLESS:
            return own, after
    return None


def _pooled(rated: Sequence[Rated]) -> float:
    """Give the rate of several uses taken together."""
    return sum(each.n * each.rate.value for each in rated) / sum(each.n for each in rated)


def needless(swap: Swap) -> bool:
    """Whether the interval holds, as printed, what the word means.

    What the survey leaves open counts in the chance that the advised word is nearer.
    """
    low, high = percent_limits(swap.rate.low, swap.rate.high, swap.rate.value)
    return low <= round(100 * swap.meaning) <= high


def _undoes(swap: Swap, earlier: Swap) -> bool:
    """Whether two swaps meet in a finding, and one's target is the other's source, both ways."""
    apart = bool(swap.finding and earlier.finding) and swap.finding != earlier.finding
    back = (swap.phrase, swap.instead) == (earlier.instead, earlier.phrase)
    return not apart and (back or swap.phrase == earlier.phrase)


def _exception(profile: ReaderProfile, phrase_meaning: float, side: Side) -> bool:
    strong, weak = claimed(profile)
    rest = strong if phrase_meaning > 0.5 else weak
    return rest is not None and rest != side


def misled(word: Rated, profile: ReaderProfile, *, marked: bool = True) -> bool:
    """Whether the general rule of a pattern would lead a word away from what CT shows.

    Who is too sure is sent to the middle of the scale, no help for a marked word that stands there.
    One that is not marked is led away where its rate, as printed, already lies on the other side.
    """
    parts, off = frozenset(stated(profile)), word.rate.value - word.meaning
    ruled = _ruled(word, profile)
    there = marked and parts == {"too sure"} and abs(word.meaning - 0.5) < _MIDDLE
    away = ruled != side_of(word.rate.value, word.meaning) and (marked or abs(off) >= VISIBLE)
    return ruled is not None and (there or away)


def right_already(word: Rated, profile: ReaderProfile) -> bool:
    """Whether the general rule of a pattern would move a word that CT is known to bear out.

    An end of the scale has less room: seven in a hundred is no three.
    """
    near = min(_NEAR, VISIBLE + min(word.meaning, 1.0 - word.meaning) / 2.0)
    known = max(word.rate.high - word.meaning, word.meaning - word.rate.low) <= near
    right = known and abs(word.rate.value - word.meaning) < VISIBLE and word.n >= LEAST_USES
    return right and _ruled(word, profile) is not None


def _ruled(word: Rated, profile: ReaderProfile) -> Side | None:
    """Give the side to which the general rule of a pattern moves a word."""
    return claims(stated(profile))[0 if word.meaning > 0.5 else 1]


def side_of(rate: float, meaning: float) -> Side:
    """Say on which side of a meaning a rate lies."""
    return "more" if rate > meaning else "less"


def about(rate: float, words: Strings) -> str:
    """Print an estimated rate in a sentence."""
    if round(100 * rate) in {0, 100}:
        return words("verdict.under" if rate < 0.5 else "verdict.over")
    return words("verdict.about", rate=percent(rate))


def statements(word: Rated, words: Strings) -> str:
    """Count a word's statements, with those that CT bore out where their share may be printed.

    A share that lies visibly off the rate beside it shows that this is an estimate, and says so.
    """
    n = round(word.n)
    if word.finding or n < FINE:
        return words.several("unit.statements", n)
    apart = abs(word.observed - word.rate.value) >= VISIBLE
    key = "unit.borne_out_apart" if apart else "unit.borne_out"
    return words(key, part=count(round(word.observed * n)), n=count(n))


def figures(word: Rated, words: Strings) -> dict[str, str]:
    """Print a word's rate, interval, statements and meaning."""
    rate = word.rate
    return {
        "rate": about(rate.value, words),
        "interval": percent_interval(rate.low, rate.high, rate.value),
        "statements": statements(word, words),
        "meaning": percent(word.meaning),
    }


def action(
    swap: Swap, swaps: Sequence[Swap], profile: ReaderProfile, words: Strings, scale: Scale
) -> Action:
    """Put one of the swaps that are said into words; ``swaps`` are all, in their cards' order."""
    side = side_of(swap.instead_meaning, swap.meaning)
    exception = _exception(profile, swap.meaning, side)
    instead = advised(swap, profile, words, scale)
    title = titled(swap.phrase, instead, swap.finding, words)
    apart = _not_for(swap, profile)
    evidence = _evidence(swap, apart, words, exception=exception)
    alike = [each for each in swaps if each.instead == swap.instead]
    here = [_in_its_finding(each, swaps, profile) for each in alike]
    first = here.index(False) if False in here else 0
    told = here[alike.index(swap)] or swap is alike[first]
    own = _own(swap, profile, words) if told else ""
    joined = _joined(alike, swaps, profile, words) if swap is alike[0] else ""
    beyond = _without(swap, profile, words), _open(swap, profile, words, scale), joined
    parts = own, evidence, *beyond
    return Action(swap, instead, apart, title, " ".join(part for part in parts if part))


def _in_its_finding(swap: Swap, swaps: Sequence[Swap], profile: ReaderProfile) -> bool:
    """Whether what a card says of the advised word holds in its finding alone."""
    moved = {(each.phrase, each.finding) for each in swaps if each.finding}
    return (swap.instead, swap.finding) in moved or isinstance(off_itself(swap, profile), Habit)


def _joined(
    alike: Sequence[Swap], swaps: Sequence[Swap], profile: ReaderProfile, words: Strings
) -> str:
    """Say of words that become one whether degrees between them are lost.

    The advised word is one of them where the reader writes it and no swap replaces it.
    """
    gone = {swap.phrase for swap in swaps if not swap.finding}
    own = [p for p in profile.phrases if p.phrase == alike[0].instead and p.phrase not in gone]
    joined: list[Rated] = [*alike, *(p for p in own if p.n >= LEAST_USES)]
    if len({each.phrase for each in alike}) < 2:
        return ""
    numbers = ", ".join(count(i) for i, swap in enumerate(swaps, start=1) if swap in alike)
    low, high = (of(each.rate.value for each in joined) for of in (min, max))
    shown = {"n": count(len({each.phrase for each in joined})), "low": percent(low)}
    key = "alike" if high - low <= _DEGREE else "apart"
    return words(f"verdict.swap.together_{key}", numbers=numbers, high=percent(high), **shown)


def titled(phrase: str, instead: str, finding: str | None, words: Strings) -> str:
    """Name a swap: the word, where if not in all findings, and the advised one."""
    where = words("verdict.stay.finding", finding=finding) if finding else ""
    return words("verdict.swap.title", phrase=phrase, where=where, instead=instead)


def off_itself(swap: Swap, profile: ReaderProfile) -> PhraseRate | Habit | None:
    """Give an advised word that is off in the reader's own hands, or nothing.

    A habit in the swap's finding comes before the rate in all findings.
    """
    here = [h for h in profile.habits if h.finding and h.finding == swap.finding]
    rated: list[PhraseRate | Habit] = [*here, *profile.phrases]
    own = next((each for each in rated if each.phrase == swap.instead), None)
    if own is None or reaches(own) or abs(own.rate.value - own.meaning) < VISIBLE:
        return None
    return own


def _own(swap: Swap, profile: ReaderProfile, words: Strings) -> str:
    """Say of an advised word what becomes of it, or that it is off itself, in all findings or here.

    One that a swap replaces as well is free for the new uses; one that these bring nearer to what
    it says is not a word to be careful with.
    """
    moved = (s for s in kept_swaps(profile) if s.phrase == swap.instead)
    replaced = (s for s in moved if s.finding in {None, swap.finding})
    if after := next(replaced, None):
        return words("verdict.swap.own_moved", instead=swap.instead, after=after.instead)
    own = off_itself(swap, profile)
    if own is None:
        return ""
    where = "" if isinstance(own, Habit) or not swap.finding else words("verdict.swap.everywhere")
    alike = [each for each in kept_swaps(profile) if each.instead == swap.instead]
    then = _pooled([own, *([swap] if isinstance(own, Habit) else alike)])
    nearer = abs(then - own.meaning) < abs(own.rate.value - own.meaning)
    seen = nearer and percent(then) != percent(own.rate.value)
    key = side_of(own.rate.value, own.meaning) + ("_nearer" if seen else "")
    shown = {"rate": about(own.rate.value, words), "after": about(then, words), "where": where}
    shown |= {"instead": swap.instead, "meaning": percent(own.meaning)}
    return words(f"verdict.swap.own_{key}", **shown)


def _nearest(swap: Swap, scale: Scale, *, within: float = VISIBLE) -> str:
    """Give the recommended word, but the advised one, that lies nearest to the rate, or nothing.

    It lies further off than that one by less than ``within``: nearer, or visibly no further.
    """
    away = {
        word: abs(meaning - swap.rate.value)
        for word, meaning in scale.items()
        if word not in {swap.phrase, swap.instead}
        and not reassures(meaning, swap.meaning, swap.rate.value)
    }
    nearest = min(away, key=away.__getitem__, default="")
    limit = abs(swap.instead_meaning - swap.rate.value) + within
    return nearest if nearest and away[nearest] < limit else ""


def _beyond(swap: Swap, profile: ReaderProfile, scale: Scale) -> PhraseRate | None:
    """Give the word that the nearest recommended one would be turned round with, if any."""
    word = _nearest(swap, scale)
    further = replace(swap, instead=word, instead_meaning=scale[word]) if word else swap
    return passed(further, kept_swaps(profile), profile)


def advised(swap: Swap, profile: ReaderProfile, words: Strings, scale: Scale) -> str:
    """Print the advised word, with the one that may lie nearer; stands in quotation marks."""
    other = _nearest(swap, scale)
    if not other or swap.apart or _beyond(swap, profile, scale):
        return swap.instead
    return words("verdict.swap.either", one=swap.instead, other=other)


def _open(swap: Swap, profile: ReaderProfile, words: Strings, scale: Scale) -> str:
    """Say that two words are left where another than the advised one may lie nearer.

    Where that one would be turned round with a word of the reader's, or may not be nearer at each
    of the reader's sites or of late, or none lies nearer though the interval visibly misses the
    advised one, it is only a step, or goes too far.
    """
    other, side = _nearest(swap, scale), side_of(swap.instead_meaning, swap.meaning)
    passes, nearer = _beyond(swap, profile, scale), _nearest(swap, scale, within=-VISIBLE)
    if nearer and swap.apart:
        return words(f"verdict.swap.step_{swap.apart}", word=nearer, meaning=percent(scale[nearer]))
    if other and not swap.apart and (not passes or nearer):
        shown = {"phrase": swap.phrase, "instead": swap.instead, "word": other}
        shown["meaning"] = percent(scale[other])
        if not passes:
            return words(f"verdict.swap.open_{side}", **shown)
        shown |= {"beside": passes.phrase, "rate": about(passes.rate.value, words)}
        return words(f"verdict.swap.step_{side}", **shown)
    if swap.rate.low - VISIBLE <= swap.instead_meaning <= swap.rate.high + VISIBLE:
        return ""
    short = side_of(swap.rate.value, swap.instead_meaning) == side
    return words(f"verdict.swap.{'short' if short else 'past'}")


def _without(swap: Swap, profile: ReaderProfile, words: Strings) -> str:
    """Give the rate in all findings but those of habits, of a swap in all: page 1 names these."""
    own = {h.finding for h in profile.habits if h.phrase == swap.phrase}
    left = (each for each in profile.rest if each.phrase == swap.phrase and not swap.finding)
    rest = next((each for each in left if own >= {*each.besides} and each.n >= LEAST_USES), None)
    if rest is None:
        return ""
    findings, rate = ", ".join(rest.besides), about(rest.rate.value, words)
    return words("verdict.swap.without", findings=findings, rate=rate)


def _not_for(swap: Swap, profile: ReaderProfile) -> tuple[str, ...]:
    """Name findings that a swap in all findings does not speak for, those of habits included."""
    if swap.finding:
        return ()
    middle = (swap.meaning + swap.instead_meaning) / 2.0
    up = swap.instead_meaning > swap.meaning
    apart = {
        habit.finding
        for habit in profile.habits
        if habit.finding and habit.phrase == swap.phrase and (habit.rate.value > middle) != up
    }
    return tuple(sorted(apart))


def _evidence(swap: Swap, not_for: Sequence[str], words: Strings, *, exception: bool) -> str:
    finding = swap.finding
    scope = words(f"verdict.swap.{'there' if finding else 'all'}")
    start = "verdict.swap.scope_exception" if exception else "verdict.swap.scope"
    parts = [
        words(start, scope=scope),
        words(
            "verdict.swap.evidence",
            phrase=swap.phrase,
            instead=swap.instead,
            instead_meaning=percent(swap.instead_meaning),
            probability=percent(swap.probability),
            **figures(swap, words),
        ),
    ]
    if not_for:
        parts.append(words("verdict.swap.but", findings=", ".join(not_for)))
    if swap.instead == "consistent with":
        parts.append(words("verdict.swap.consistent_with"))
    return " ".join(part for part in parts if part)
