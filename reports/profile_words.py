"""A reader's profile → every sentence said of it, on pages, in JSON and to the committee.

One object in, so no two sentences can contradict each other: the headline is the verdict's, an
action never points against it, and "Nothing to change" is said only where the posterior says so and
no habit, swap or certainty stands out.
"""

from __future__ import annotations

from dataclasses import dataclass

from calibration.profile import AtomJudgement, Habit, PhraseRate, ReaderProfile, Swap
from reports.numbers import count, decimal, percent, percent_interval
from reports.strings import Strings

__all__ = ["ProfileWords", "profile_words"]

_MOSTLY = 0.5
_FEW = 20.0


@dataclass(frozen=True, slots=True)
class ProfileWords:
    """Sentences about one reader, in the order they are read.

    Attributes
    ----------
    headline
        What matters most, always one sentence.
    actions
        What to do about it; empty where nothing is to be done.
    habits, atoms
        Single words that stand apart and have no action of their own; certainties unlike others'.
    """

    headline: str
    actions: tuple[str, ...]
    habits: tuple[str, ...]
    atoms: tuple[str, ...]

    @property
    def message(self) -> str:
        """All of it as one paragraph."""
        return " ".join((self.headline, *self.actions, *self.habits, *self.atoms))


def profile_words(reader: ReaderProfile, *, words: Strings) -> ProfileWords:
    """Say everything that is said of a reader."""
    asked = {(swap.phrase, swap.finding) for swap in reader.advice}
    habits = tuple(
        _habit(habit, words)
        for habit in reader.habits
        if (habit.phrase, habit.finding) not in asked and (habit.phrase, None) not in asked
    )
    atoms = tuple(
        _atom(kind, judged, words)
        for kind, judged in (("absent", reader.absent), ("present", reader.present))
        if judged.state in {"more often", "less often"}
    )
    actions = tuple(_actions(reader, words))
    worse = any(each.state == "more often" for each in (reader.absent, reader.present))
    silent = not (actions or habits or worse)
    if silent and reader.pattern.verdict.state == "none" and reader.pattern.within >= _MOSTLY:
        actions = (words("profile.nothing"),)
    return ProfileWords(_headline(reader, words), actions, habits, atoms)


def _headline(reader: ReaderProfile, words: Strings) -> str:
    pattern, verdict = reader.pattern, reader.pattern.verdict
    if verdict.state == "none":
        return words("profile.none_within" if pattern.within >= _MOSTLY else "profile.none_open")
    if verdict.state == "too few":
        if verdict.more_exams is None:
            return words("profile.few", n=count(reader.hedges))
        return words("profile.few_more", more=count(verdict.more_exams))
    key = "_".join(part.replace(" ", "_") for part in verdict.parts)
    stated = words(f"profile.pattern.{key}")
    if not verdict.question:
        return stated
    rises = pattern.tipping > 1.0
    slots = {
        "factor": decimal(pattern.tipping if rises else 1.0 / pattern.tipping, 1),
        "where": words(f"profile.question_{'disease' if rises else 'none'}"),
    }
    if len(verdict.parts) > 1:
        return f"{stated} {words('profile.question_also', **slots)}"
    verb, sense = ("undercall", "more") if rises else ("overcall", "less")
    return words("profile.question", verb=verb, sense=sense, **slots)


def _actions(reader: ReaderProfile, words: Strings) -> list[str]:
    """Give the swaps, or where a pattern has none the word that shows it best."""
    if reader.advice:
        return [_swap(swap, words) for swap in reader.advice]
    example = _example(reader) if reader.pattern.verdict.state == "pattern" else None
    if example is None:
        return []
    up = example.rate.value > example.meaning
    key = "profile.example_up" if up else "profile.example_down"
    return [words(key, phrase=example.phrase, meaning=percent(example.meaning), **_seen(example))]


def _example(reader: ReaderProfile) -> PhraseRate | None:
    """Find the often used word that lies furthest off on the side the pattern says."""
    able = [
        (abs(each.rate.value - each.meaning) * each.n, each)
        for each in reader.phrases
        if each.n >= _FEW
        and reader.pattern.wants(each.meaning) * (each.rate.value - each.meaning) > 0
    ]
    return max(able, key=lambda pair: pair[0])[1] if able else None


def _swap(swap: Swap, words: Strings) -> str:
    return words(
        "profile.swap",
        phrase=swap.phrase,
        where=_where(swap.finding, words),
        meaning=percent(swap.meaning),
        instead=swap.instead,
        instead_meaning=percent(swap.instead_meaning),
        **_seen(swap),
    )


def _habit(habit: Habit, words: Strings) -> str:
    return words(
        "profile.habit",
        phrase=habit.phrase,
        where=_where(habit.finding, words),
        expected=percent(habit.expected),
        **_seen(habit),
    )


def _atom(kind: str, judged: AtomJudgement, words: Strings) -> str:
    side = "more" if judged.state == "more often" else "less"
    return words(
        f"profile.atoms.{kind}_{side}",
        phrase="”, “".join(judged.phrases),
        wrong=count(judged.wrong),
        n=count(judged.n),
        expected=count(judged.expected_wrong),
    )


def _where(finding: str | None, words: Strings) -> str:
    return words("profile.where", finding=finding) if finding else ""


def _seen(each: Swap | Habit | PhraseRate) -> dict[str, str]:
    """Rate, interval and count of whatever was seen."""
    return {
        "rate": percent(each.rate.value),
        "interval": percent_interval(each.rate.low, each.rate.high),
        "n": count(each.n),
    }
