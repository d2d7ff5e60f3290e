"""Single phrases in a reader's profile: those that show a pattern, and those that stand off alone.

A phrase stands off alone if it is a habit, if it is "absent" or "present" and more often wrong than
others', or if it lies clearly off though nothing is said of all words. Where no
swap is offered, the word that is spoken of first is placed on the scale.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Sequence
from typing import Final

from calibration.profile import AtomJudgement, Habit, Pattern, PhraseRate, ReaderProfile, Swap
from reports.numbers import count, decimal, percent, percent_interval, percent_limits
from reports.strings import Strings
from reports.swaps import VISIBLE, Rated, Scale, Side, about, claimed, reaches, side_of

# Uses below which a phrase is no example.
_LEAST_USES: Final = 20
# Uses from which a single word that stands off is named though nothing is said of all.
_MANY_USES: Final = 40
# Difference of rate and meaning beyond which it is.
_CLEAR: Final = 0.1
_EVEN, _SURE = 0.5, 0.9
_EDGE: Final = 1e-6


def told(profile: ReaderProfile) -> tuple[Habit, ...]:
    """Give the habits that are told: those that can be seen, and are likelier than not."""
    return tuple(h for h in profile.habits if h.visible and h.probability >= _EVEN)


def besides(profile: ReaderProfile, swaps: Sequence[Swap]) -> bool:
    """Whether single words are spoken of."""
    return bool(told(profile) or swaps or unlike(profile, swaps) or _wrong(profile))


def alone(profile: ReaderProfile, swaps: Sequence[Swap], words: Strings) -> tuple[str, ...]:
    """Say what single words do by themselves, a sentence each."""
    habits = (_habit(each, words) for each in told(profile))
    off = (_word(each, words) for each in unlike(profile, swaps))
    return (*habits, *off, *(_atom(name, atom, words) for name, atom in _wrong(profile)))


def carriers(profile: ReaderProfile, swaps: Sequence[Swap]) -> tuple[PhraseRate, ...]:
    """Choose the phrases that show the pattern: one, or a strong and a weak one on two sides."""
    strong, weak = claimed(profile.pattern)
    often = [p for p in profile.phrases if p.n >= _LEAST_USES]
    if profile.pattern.verdict.question and strong == weak:
        often = [p for p in often if explained(p, profile.pattern)] or often
    shown = (
        _carrier([p for p in often if p.meaning > 0.5], strong, swaps),
        _carrier([p for p in often if p.meaning <= 0.5], weak, swaps),
    )
    found = [phrase for phrase in shown if phrase is not None]
    if strong == weak:
        advised = {swap.phrase for swap in swaps if not swap.finding}
        found = sorted(found, key=lambda p: (p.phrase not in advised, -_weight(p)))[:1]
    return tuple(found)


def _carrier(
    phrases: Sequence[PhraseRate], side: Side | None, swaps: Sequence[Swap]
) -> PhraseRate | None:
    """Choose the phrase that surely shows a side, best; one with a swap comes first."""
    on_side = [
        p
        for p in phrases
        if side_of(p.rate.value, p.meaning) == side
        and abs(p.rate.value - p.meaning) >= VISIBLE
        and not reaches(p)
    ]
    advised = {swap.phrase for swap in swaps if not swap.finding}
    return max(on_side, key=lambda p: (p.phrase in advised, _weight(p)), default=None)


def explained(phrase: PhraseRate, pattern: Pattern) -> bool:
    """Whether the λ that explains the shift brings the phrase to its meaning as well."""
    rate = min(max(phrase.rate.value, _EDGE), 1.0 - _EDGE)
    ordering = math.log(pattern.tipping)
    margin = abs(pattern.shift.value - ordering)
    gap = math.log(rate / (1.0 - rate)) - math.log(phrase.meaning / (1.0 - phrase.meaning))
    return abs(gap - ordering) <= margin


def unlike(profile: ReaderProfile, swaps: Sequence[Swap]) -> tuple[PhraseRate, ...]:
    """Give words that stand clearly off though nothing is said of all, and nothing else names them.

    Where what holds of all may be the instrument's or is shared, a word has to stand off from the
    reader's own line as well.
    """
    verdict = profile.pattern.verdict
    common = bool(verdict.shared or verdict.explained)
    if verdict.state == "pattern" or (verdict.state == "too few" and not common):
        return ()
    named = {each.phrase for each in told(profile)} | {s.phrase for s in swaps}
    return tuple(
        p
        for p in profile.phrases
        if p.n >= _MANY_USES
        and p.phrase not in named
        and _misses(p, p.meaning)
        and not (common and not _misses(p, _on_line(p, profile.pattern)))
    )


def stay(profile: ReaderProfile, words: Strings, scale: Scale) -> str:
    """Say why no swap is offered, by the word that the page speaks of first.

    A sentence that nothing needs to change stands only where no other says as much: words wrong as
    "absent" or "present" have their own remedy.
    """
    spoken_of: list[PhraseRate | Habit] = [*carriers(profile, ()), *told(profile)]
    spoken_of += unlike(profile, ())
    state = profile.pattern.verdict.state
    if spoken_of and scale:
        return between(spoken_of[0], words, scale)
    if spoken_of or state == "pattern":
        return words("verdict.stay.plain")
    few = state == "too few" and not besides(profile, ())
    return words("verdict.stay.few") if few else ""


def weightier(
    swaps: Sequence[Swap], marked: Container[str], profile: ReaderProfile
) -> PhraseRate | None:
    """Give the marked word without a swap that weighs more than each one with a swap, or none."""
    named = {word for swap in swaps for word in (swap.phrase, swap.instead)}
    rest = [p for p in profile.phrases if p.phrase in marked and p.phrase not in named]
    heaviest = max(rest, key=_weight, default=None)
    return heaviest if heaviest and _weight(heaviest) > max(map(_weight, swaps)) else None


def held(swaps: Iterable[Swap], words: Strings) -> str:
    """Say of swaps that are not offered that the word's interval holds what it means."""
    return " ".join(
        words(
            "verdict.stay.held",
            phrase=swap.phrase,
            where=words("verdict.stay.finding", finding=swap.finding) if swap.finding else "",
            interval=percent_interval(swap.rate.low, swap.rate.high, swap.rate.value),
            meaning=percent(swap.meaning),
        )
        for swap in swaps
    )


def between(word: PhraseRate | Habit, words: Strings, scale: Scale) -> str:
    """Say what holds back the recommended word that lies nearest, or that none is nearer."""
    rate = word.rate
    away = {other: abs(scale[other] - rate.value) for other in scale if other != word.phrase}
    nearest = min(away, key=away.__getitem__, default="")
    if not nearest:
        return words("verdict.stay.plain")
    other = scale[nearest]
    shown = {
        "phrase": word.phrase,
        "where": words("verdict.stay.finding", finding=word.finding) if word.finding else "",
        "word": nearest,
        "other": percent(other),
        "rate": about(rate.value, words),
    }
    if abs(word.meaning - rate.value) <= away[nearest]:
        return words("verdict.stay.nearest", **shown)
    middle, limits = (other + word.meaning) / 2.0, percent_limits(rate.low, rate.high, rate.value)
    if not limits[0] <= round(100 * middle) <= limits[1]:
        return words("verdict.stay.open", **shown)
    interval = percent_interval(rate.low, rate.high, rate.value)
    return words("verdict.stay.reaches", **shown, interval=interval, middle=percent(middle))


def _misses(phrase: PhraseRate, value: float) -> bool:
    """Whether the rate lies clearly off a value, its interval too."""
    held = phrase.rate.low <= value <= phrase.rate.high
    return not held and abs(phrase.rate.value - value) > _CLEAR


def _on_line(phrase: PhraseRate, pattern: Pattern) -> float:
    """Give the rate that the reader's line leads to expect of a phrase."""
    log_odds = math.log(phrase.meaning / (1.0 - phrase.meaning))
    return 1.0 / (1.0 + math.exp(-pattern.shift.value - pattern.slope.value * log_odds))


def _weight(phrase: Rated) -> float:
    return phrase.n * (phrase.rate.value - phrase.meaning) ** 2


def example(shown: Sequence[PhraseRate], pattern: Pattern, words: Strings) -> str:
    """Show the pattern in the phrases that carry it, or say that a side of it has none."""
    values = [
        {"phrase": p.phrase, "rate": about(p.rate.value, words), "meaning": percent(p.meaning)}
        for p in shown
    ]
    said = [words("verdict.example", **values[0])] if values else []
    if len(values) > 1:
        second = {f"{key}2": value for key, value in values[1].items()}
        said = [words("verdict.examples", **values[0], **second)]
    if len(values) < len({*claimed(pattern)} - {None}):
        said.append(words(f"verdict.together.{'one' if shown else 'none'}"))
    return " ".join(said)


def quoted(phrases: Sequence[str], words: Strings) -> str:
    """Print phrases in quotation marks."""
    return ", ".join(words("verdict.quoted", phrase=phrase) for phrase in phrases)


def _word(phrase: PhraseRate, words: Strings) -> str:
    return words(
        "verdict.word",
        phrase=phrase.phrase,
        rate=about(phrase.rate.value, words),
        interval=percent_interval(phrase.rate.low, phrase.rate.high),
        statements=words.several("unit.statements", round(phrase.n)),
        meaning=percent(phrase.meaning),
    )


def _habit(habit: Habit, words: Strings) -> str:
    return words(
        "verdict.habit.finding" if habit.finding else "verdict.habit.all",
        stands=_stands(habit.probability, words),
        phrase=habit.phrase,
        finding=habit.finding,
        rate=about(habit.rate.value, words),
        interval=percent_interval(habit.rate.low, habit.rate.high, habit.rate.value),
        statements=words.several("unit.statements", round(habit.n)),
        expected=about(habit.expected, words),
    )


def _stands(probability: float, words: Strings) -> str:
    """Say how sure a habit is: a fact only from .9 on."""
    if probability >= _SURE:
        return words("verdict.habit.stands")
    return words("verdict.habit.probably", chance=count(math.floor(10.0 * probability)))


def _wrong(profile: ReaderProfile) -> tuple[tuple[str, AtomJudgement], ...]:
    """Give "absent" and "present" where they are wrong more often than others'."""
    each = (("absent", profile.absent), ("present", profile.present))
    return tuple((name, atom) for name, atom in each if atom.state == "more often")


def _atom(name: str, atom: AtomJudgement, words: Strings) -> str:
    return words(
        f"verdict.atom.{name}",
        phrases=quoted(atom.phrases, words),
        wrong=_number(atom.wrong),
        n=count(atom.n),
        expected=_number(atom.expected_wrong),
    )


def _number(mass: float) -> str:
    """Print label mass: whole, or with a decimal where rounding would hide the difference."""
    return count(mass) if mass >= 10.0 or mass == round(mass) else decimal(mass, 1)
