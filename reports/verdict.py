"""A reader's profile → every sentence about the reader, on every page and in every file.

The pattern comes first, with the phrases that show it and what to do; then habits, "absent" and
"present", then swaps (``swaps.py``). "Nothing to change" is said only where the posterior says
"none" and nothing else is claimed; a shift that a plausible ordering of CTs explains is a question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from calibration.profile import (
    AtomJudgement,
    Habit,
    Part,
    Pattern,
    PhraseRate,
    ReaderProfile,
    Swap,
)
from reports.numbers import count, decimal, percent, percent_interval
from reports.strings import Strings
from reports.swaps import Action, Side, about, action_of, claimed, kept_swaps, side_of

__all__ = ["Said", "in_words", "message", "sides"]

_LEAST_USES: Final = 20
"""Uses below which a phrase is no example."""
_MANY_USES: Final = 40
"""Uses from which a single word that stands off is named beside "nothing to change"."""
_CLEAR: Final = 0.1
"""Difference of rate and meaning beyond which it is."""
_EVEN, _SURE = 0.5, 0.9
_EDGE: Final = 1e-6
_VISIBLE: Final = 0.02
"""Difference of rate and meaning below which the printed figures would not show it."""


@dataclass(frozen=True, slots=True)
class Said:
    """All that is said of one reader.

    Attributes
    ----------
    question
        Whether the first sentence asks instead of stating.
    first
        The one sentence that matters most.
    lead
        What it rests on and what to do about it.
    also
        Habits, "absent" and "present", a sentence each.
    actions
        At most three swaps.
    """

    question: bool
    first: str
    lead: str
    also: tuple[str, ...]
    actions: tuple[Action, ...]


def in_words(profile: ReaderProfile, *, words: Strings) -> Said:
    """Say what the profile holds."""
    swaps = kept_swaps(profile)
    told = tuple(habit for habit in profile.habits if habit.visible)
    off = tuple(_word(p, words) for p in _unlike(profile, swaps))
    also = (*(_habit(h, words) for h in told), *off, *_atoms(profile, words))
    actions = tuple(action_of(swap, profile, words) for swap in swaps)
    doubted = len(told) == len(also) and all(h.probability < _EVEN for h in told)
    more = "none" if not (also or actions) else "perhaps" if doubted and not actions else "but"
    first, lead = _pattern(profile, swaps, words, more=more)
    question = profile.pattern.verdict.question
    return Said(question, first, lead, also, actions)


def sides(profile: ReaderProfile) -> dict[str, Side]:
    """Say on which side CT lies of the phrases that the sentences speak of in all findings.

    A pattern speaks of every phrase on its side whose interval misses the meaning; a swap or a
    habit in one finding, of its phrase if that is off as a whole too.
    """
    swaps = kept_swaps(profile)
    found = {p.phrase: side_of(p.rate.value, p.meaning) for p in _carriers(profile, swaps)}
    strong, weak = claimed(profile.pattern)
    habits = [habit for habit in profile.habits if habit.visible]
    found |= {p.phrase: side_of(p.rate.value, p.meaning) for p in _unlike(profile, swaps)}
    alone = {(h.phrase, side_of(h.rate.value, h.meaning)) for h in habits}
    alone |= {(s.phrase, side_of(s.instead_meaning, s.meaning)) for s in swaps}
    for p in profile.phrases:
        side = side_of(p.rate.value, p.meaning)
        named = side == (strong if p.meaning > 0.5 else weak) or (p.phrase, side) in alone
        if named and not _reaches(p):
            found[p.phrase] = side
    found |= {s.phrase: side_of(s.instead_meaning, s.meaning) for s in swaps if not s.finding}
    for habit in habits:
        if not habit.finding:
            found.setdefault(habit.phrase, side_of(habit.rate.value, habit.meaning))
    return found


def message(profile: ReaderProfile, *, words: Strings) -> str:
    """Say it in one plain paragraph, swaps included."""
    said = in_words(profile, words=words)
    swaps = [words("verdict.swap_line", title=a.title, evidence=a.evidence) for a in said.actions]
    parts = (said.first, said.lead, *said.also, *swaps)
    return " ".join(part for part in parts if part).replace("**", "").replace("\u00a0", " ")


def _quoted(phrases: Sequence[str], words: Strings) -> str:
    return ", ".join(words("verdict.quoted", phrase=phrase) for phrase in phrases)


def _pattern(
    profile: ReaderProfile, swaps: Sequence[Swap], words: Strings, *, more: str
) -> tuple[str, str]:
    """Give the first sentence and the lead."""
    verdict, hedges = profile.pattern.verdict, count(profile.hedges)
    common = [_shared(verdict.shared, words)] if verdict.shared else []
    if verdict.state == "none":
        if common:
            return words("verdict.shared.first"), common[0]
        if verdict.slight:
            slight = f"verdict.slight.{verdict.slight.replace(' ', '_')}"
            return words(slight), words("verdict.slight.lead", hedges=hedges)
        key = "none" if more == "none" else f"none_{more}"
        return words(f"verdict.{key}.first"), words(f"verdict.{key}.lead", hedges=hedges)
    if verdict.state == "too few":
        if verdict.untold == "one label":
            return words("verdict.one_label.first"), words("verdict.one_label.lead")
        lead = [words("verdict.too_few.lead", hedges=hedges), _further(profile, words)]
        lead += [words("verdict.too_few.but")] if more != "none" else []
        return words("verdict.too_few.first"), " ".join([*lead, *common])
    kind = "_".join(part.replace(" ", "_") for part in verdict.parts)
    stated = "question" if verdict.question else "stated"
    carriers = _carriers(profile, swaps)
    lead = [_example(carriers, words)]
    lead += [_ordering(profile.pattern, carriers, words)] if verdict.question else []
    lead.append(words(f"verdict.do_{stated}", do=_what_to_do(kind, carriers, swaps, words)))
    return words(f"verdict.{stated}.{kind}"), " ".join(part for part in [*lead, *common] if part)


def _shared(parts: Sequence[Part], words: Strings) -> str:
    """Say what the reader has in common with most, and whose question that is."""
    what = [words(f"verdict.shared.{part.replace(' ', '_')}") for part in parts]
    return words("verdict.shared.lead", what=words("verdict.shared.and").join(what))


def _what_to_do(
    kind: str, carriers: Sequence[PhraseRate], swaps: Sequence[Swap], words: Strings
) -> str:
    """Say which way to go, and where a swap shows it, with which word."""
    shown = {carrier.phrase for carrier in carriers}
    swap = next((s for s in swaps if not s.finding and s.phrase in shown), None)
    general = words(f"verdict.do.{kind}")
    if swap is None:
        return general
    return words("verdict.do_swap", phrase=swap.phrase, instead=swap.instead, general=general)


def _further(profile: ReaderProfile, words: Strings) -> str:
    exams = profile.pattern.verdict.more_exams
    if profile.pattern.verdict.untold == "one phrase":
        most = max(profile.phrases, key=lambda each: each.n)
        return words("verdict.too_few.one_phrase", phrase=most.phrase)
    if exams is None:
        return words("verdict.too_few.long")
    return words.several("verdict.too_few.more", exams)


def _ordering(pattern: Pattern, carriers: Sequence[PhraseRate], words: Strings) -> str:
    """Say which ordering of CTs would explain the shift, and of which quoted word it would not."""
    key = "more" if pattern.tipping >= 1.0 else "less"
    said = [words(f"verdict.ordering.{key}", times=decimal(pattern.tipping, 1))]
    apart = [p.phrase for p in carriers if not _explained(p, pattern)]
    said += [words("verdict.ordering.apart", phrases=_quoted(apart, words))] if apart else []
    return " ".join(said)


def _explained(phrase: PhraseRate, pattern: Pattern) -> bool:
    """Whether the λ that explains the shift brings the phrase to its meaning as well."""
    rate = min(max(phrase.rate.value, _EDGE), 1.0 - _EDGE)
    ordering = math.log(pattern.tipping)
    margin = abs(pattern.shift.value - ordering)
    gap = math.log(rate / (1.0 - rate)) - math.log(phrase.meaning / (1.0 - phrase.meaning))
    return abs(gap - ordering) <= margin


def _unlike(profile: ReaderProfile, swaps: Sequence[Swap]) -> tuple[PhraseRate, ...]:
    """Words that stand clearly off though nothing is said of all, and nothing else names them."""
    verdict = profile.pattern.verdict
    if verdict.state != "none" or verdict.shared:
        return ()
    named = {h.phrase for h in profile.habits if h.visible} | {s.phrase for s in swaps}
    return tuple(
        p
        for p in profile.phrases
        if p.n >= _MANY_USES
        and p.phrase not in named
        and not _reaches(p)
        and abs(p.rate.value - p.meaning) > _CLEAR
    )


def _word(phrase: PhraseRate, words: Strings) -> str:
    return words(
        "verdict.word",
        phrase=phrase.phrase,
        rate=about(phrase.rate.value, words),
        interval=percent_interval(phrase.rate.low, phrase.rate.high),
        statements=words.several("unit.statements", round(phrase.n)),
        meaning=percent(phrase.meaning),
    )


def _carriers(profile: ReaderProfile, swaps: Sequence[Swap]) -> tuple[PhraseRate, ...]:
    """Choose the phrases that show the pattern: one, or a strong and a weak one on two sides."""
    strong, weak = claimed(profile.pattern)
    often = [p for p in profile.phrases if p.n >= _LEAST_USES]
    if profile.pattern.verdict.question:
        often = [p for p in often if _explained(p, profile.pattern)] or often
    shown = (
        _carrier([p for p in often if p.meaning > 0.5], strong, swaps),
        _carrier([p for p in often if p.meaning <= 0.5], weak, swaps),
    )
    found = [phrase for phrase in shown if phrase is not None]
    if strong == weak:
        found = sorted(found, key=lambda p: -_weight(p))[:1]
    return tuple(found)


def _example(carriers: Sequence[PhraseRate], words: Strings) -> str:
    """Show the pattern in the phrases that carry it."""
    values = [
        {"phrase": p.phrase, "rate": about(p.rate.value, words), "meaning": percent(p.meaning)}
        for p in carriers
    ]
    if not values:
        return ""
    if len(values) == 1:
        return words("verdict.example", **values[0])
    second = {f"{key}2": value for key, value in values[1].items()}
    return words("verdict.examples", **values[0], **second)


def _carrier(
    phrases: Sequence[PhraseRate], side: Side | None, swaps: Sequence[Swap]
) -> PhraseRate | None:
    """Choose the phrase that shows a side best; one with a swap comes first."""
    on_side = [
        p
        for p in phrases
        if side_of(p.rate.value, p.meaning) == side and abs(p.rate.value - p.meaning) >= _VISIBLE
    ]
    advised = {swap.phrase for swap in swaps if not swap.finding}
    return max(on_side, key=lambda p: (p.phrase in advised, _weight(p)), default=None)


def _reaches(phrase: PhraseRate) -> bool:
    return phrase.rate.low <= phrase.meaning <= phrase.rate.high


def _weight(phrase: PhraseRate) -> float:
    return phrase.n * (phrase.rate.value - phrase.meaning) ** 2


def _habit(habit: Habit, words: Strings) -> str:
    return words(
        "verdict.habit.finding" if habit.finding else "verdict.habit.all",
        stands=_stands(habit.probability, words),
        phrase=habit.phrase,
        finding=habit.finding,
        rate=about(habit.rate.value, words),
        interval=percent_interval(habit.rate.low, habit.rate.high, habit.rate.value),
        statements=words.several("unit.statements", round(habit.n)),
        expected=percent(habit.expected),
    )


def _stands(probability: float, words: Strings) -> str:
    """Say how sure a habit is: a fact only from .9 on."""
    if probability >= _SURE:
        return words("verdict.habit.stands")
    key = "may" if probability < _EVEN else "probably"
    return words(f"verdict.habit.{key}", chance=count(max(math.floor(10.0 * probability), 1)))


def _atoms(profile: ReaderProfile, words: Strings) -> tuple[str, ...]:
    each = (("absent", profile.absent), ("present", profile.present))
    return tuple(_atom(name, atom, words) for name, atom in each if atom.state == "more often")


def _atom(name: str, atom: AtomJudgement, words: Strings) -> str:
    return words(
        f"verdict.atom.{name}",
        phrases=_quoted(atom.phrases, words),
        wrong=_number(atom.wrong),
        n=count(atom.n),
        expected=_number(atom.expected_wrong),
    )


def _number(mass: float) -> str:
    """Print label mass: whole, or with a decimal where rounding would hide the difference."""
    return count(mass) if mass >= 10.0 or mass == round(mass) else decimal(mass, 1)
