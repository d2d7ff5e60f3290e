"""Single phrases in a reader's profile: those that show a pattern, and those that stand off alone.

A phrase stands off alone if it is a habit, if it is "absent" or "present" and more often wrong than
others', or if it lies clearly off though nothing is said of all words. Where no
swap is offered, the word that is spoken of first is placed on the scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from typing import Final

from calibration.estimate import Z95
from calibration.profile import AtomJudgement, Habit, Pattern, PhraseRate, ReaderProfile, Swap
from calibration.profile.results import Cell
from calibration.profile.shown import LEAST_SHOWN, VISIBLE, Rated, Side, reaches, shows
from calibration.profile.swaps import LOW
from reports.held_back import between, tenths, where
from reports.numbers import count, decimal
from reports.out_of_order import is_read
from reports.strings import Strings
from reports.swaps import Scale, about, claimed, figures, kept_swaps, misled, side_of

# Uses from which a single word that stands off is named though nothing is said of all.
MANY_USES: Final = 40
# Difference of rate and meaning beyond which it is.
_CLEAR: Final = 0.1
_TENTH, _EVEN, _SURE = 0.1, 0.5, 0.9
# Meaning up to which a word says "rather not"; what a squared distance above such a one is worth.
_MISSED = 4.0
# Single words of a kind that help at once.
_MOST: Final = 3
_EDGE: Final = 1e-6
_UNJUDGED: Final = frozenset({"too few", "no comparison", "no standard"})


def told(profile: ReaderProfile) -> tuple[Habit, ...]:
    """Give the habits that are told, heaviest first.

    They can be seen, are likelier than not, and say surely more or less than CT shows.
    """
    seen = (h for h in profile.habits if h.visible and h.probability >= _EVEN and not reaches(h))
    return tuple(sorted(seen, key=weight, reverse=True)[:_MOST])


def foremost(profile: ReaderProfile, swaps: Sequence[Swap]) -> Rated | None:
    """Give the single word that is spoken of first, the heaviest, where no pattern is stated."""
    if profile.pattern.verdict.state == "pattern":
        return None
    said: tuple[Rated, ...] = (*told(profile), *unlike(profile, swaps), *swaps)
    return max(said, key=weight, default=None)


def alone(
    profile: ReaderProfile, swaps: Sequence[Swap], words: Strings, *, first: Rated | None
) -> tuple[str, ...]:
    """Say what single words but the first sentence's do, a sentence each, heaviest first."""
    found: tuple[Rated, ...] = (*told(profile), *unlike(profile, swaps))
    rest = sorted((each for each in found if each != first), key=weight, reverse=True)
    atoms = (_atom(name, atom, words) for name, atom in (*wrong(profile), *unmatched(profile)))
    said = (f"{claim(each, profile, words)} {basis(each, profile, words)}" for each in rest)
    return (*said, *atoms)


def claim(word: Rated, profile: ReaderProfile, words: Strings) -> str:
    """Say what a word says, and what CT shows; and which finding carries it, where one does."""
    others = _others(word, profile)
    above = words("verdict.single.above", finding=others.besides[0]) if others else ""
    return words(
        f"verdict.single.{side_of(word.rate.value, word.meaning)}",
        phrase=word.phrase,
        where=where(word, words),
        above=above,
        **figures(word, words),
    )


def basis(word: Rated, profile: ReaderProfile, words: Strings) -> str:
    """Say what such a sentence rests on; of a swap its card does."""
    others, said = _others(word, profile), list[str]()
    shown = figures(word, words)
    shown["statements"] = words.several("unit.statements", round(word.n))
    if isinstance(word, PhraseRate):
        said.append(words("verdict.single.word", **shown))
    elif isinstance(word, Habit):
        said.append(words("verdict.single.habit", stands=_stands(word.probability, words), **shown))
    if others:
        said.append(words("verdict.single.others", rate=about(others.rate.value, words)))
    return " ".join(said)


def _others(word: Rated, profile: ReaderProfile) -> PhraseRate | None:
    """Give a word in all findings but the one that its distance from CT comes from, if one does.

    That is the finding that carries what shows, where the others lie nearer to what the word says.
    """
    carried = profile.pattern.verdict.carried
    if word.finding or not (carried and carried.finding) or carried.phrase != word.phrase:
        return None
    apart = (each for each in profile.rest if each.besides == (carried.finding,))
    rest = next((each for each in apart if each.phrase == word.phrase), None)
    if rest is None:
        return None
    off, left = (abs(each.rate.value - each.meaning) for each in (word, rest))
    return rest if left < off - VISIBLE else None


def suspected(profile: ReaderProfile, side: Side | None = None) -> Habit | None:
    """Give the habit in one finding that is likeliest of those that are not told, if one may be.

    It surely lies to the side, where one is asked for.
    """
    doubtful = (
        h
        for h in profile.habits
        if h.visible and h.finding and _TENTH <= h.probability < _EVEN
        if (shows(h, side) if side else not reaches(h))
    )
    return max(doubtful, key=lambda habit: habit.probability, default=None)


def perhaps(profile: ReaderProfile, words: Strings) -> str:
    """Name beside a question the word in one finding that may be all there is to it, if one may.

    It is off to the side that is asked about; beside a slope that is stated, none is named.
    """
    strong, weak = claimed(profile)
    side = strong if strong == weak and profile.pattern.verdict.question else None
    one = suspected(profile, side) if side else None
    if one is None:
        return ""
    shown = {"phrase": one.phrase, "where": where(one, words), **figures(one, words)}
    return words("verdict.single.perhaps", **shown)


def named(word: Rated | Cell, words: Strings) -> str:
    """Print a word in quotation marks, with the finding that it is about, if one."""
    return f"{quoted([word.phrase], words)}{where(word, words)}"


def surveyed(word: PhraseRate, words: Strings) -> str:
    """Say what CT shows of a word in all findings, with what it rests on, and claim nothing."""
    return words("verdict.one_cell.whole", phrase=word.phrase, **figures(word, words))


def carriers(profile: ReaderProfile) -> tuple[PhraseRate, ...]:
    """Choose the phrases that show the pattern: one, or a strong and a weak one, heavier first."""
    strong, weak = claimed(profile)
    swapped = {swap.phrase for swap in kept_swaps(profile) if not swap.finding}
    often = [p for p in _off(profile) if not misled(p, profile)]
    if profile.pattern.verdict.question and strong == weak:
        often = [p for p in often if explained(p, profile.pattern)] or often
    shown = (
        _carrier([p for p in often if p.meaning > 0.5], strong, swapped),
        _carrier([p for p in often if p.meaning <= 0.5], weak, swapped),
    )
    found = [phrase for phrase in shown if phrase is not None]
    found.sort(key=lambda p: _shows(p, swapped), reverse=True)
    return tuple(found[:1] if strong == weak else found)


def _off(profile: ReaderProfile) -> list[PhraseRate]:
    """Give the words of some use that CT surely and visibly does not bear out, heaviest first.

    One that a card moves is among them.
    """
    moved = {swap.phrase for swap in kept_swaps(profile) if not swap.finding}
    words = (p for p in profile.phrases if off(p, moved=p.phrase in moved))
    return sorted(words, key=weight, reverse=True)


def off(word: PhraseRate, *, moved: bool = False) -> bool:
    """Whether CT surely and visibly does not bear out a word of some use, or a card moves it."""
    seen = word.n >= LEAST_SHOWN and abs(word.rate.value - word.meaning) >= VISIBLE
    return seen and (moved or not reaches(word))


def _carrier(
    phrases: Sequence[PhraseRate], side: Side | None, swapped: Set[str]
) -> PhraseRate | None:
    """Choose the phrase that surely shows a side: one with a swap, or else the heaviest."""
    on_side = (p for p in phrases if side_of(p.rate.value, p.meaning) == side)
    return max(on_side, key=lambda p: _shows(p, swapped), default=None)


def _shows(phrase: PhraseRate, swapped: Set[str]) -> float:
    """Rank a phrase as an example: the sentence, the picture and a card are best about one word.

    One without a card comes before it where it weighs more than twice as much.
    """
    return (2.0 if phrase.phrase in swapped else 1.0) * weight(phrase)


def explained(phrase: PhraseRate, pattern: Pattern) -> bool:
    """Whether the λ that explains the shift brings the phrase to its meaning as well."""
    rate = min(max(phrase.rate.value, _EDGE), 1.0 - _EDGE)
    ordering = math.log(pattern.tipping)
    margin = abs(pattern.shift.value - ordering)
    gap = math.log(rate / (1.0 - rate)) - math.log(phrase.meaning / (1.0 - phrase.meaning))
    return abs(gap - ordering) <= margin


def ordered(pattern: Pattern, shown: Sequence[PhraseRate], words: Strings) -> str:
    """Say which ordering of CTs would explain the shift, and of which quoted word it would not."""
    apart = [p.phrase for p in shown if not explained(p, pattern)]
    but = words("verdict.ordering.apart", phrases=quoted(apart, words)) if apart else ""
    all_ = words("verdict.ordering.all", times=decimal(pattern.tipping, 1))
    return f"{all_} {but}".strip()


def unlike(profile: ReaderProfile, swaps: Sequence[Swap]) -> tuple[PhraseRate, ...]:
    """Give words that stand clearly off though nothing is said of all, and nothing else names them.

    Where what holds of all may be the instrument's or is shared, a word has to stand off from the
    reader's own line as well; where that is open, only one on which it hangs is named. Beside a
    pattern they are those that do not show it.
    """
    verdict = profile.pattern.verdict
    if not is_read(profile):
        return ()
    common = bool(verdict.shared or verdict.explained)
    if verdict.state == "pattern":
        return _besides(profile)
    spoken_of = {each.phrase for each in told(profile)} | {s.phrase for s in swaps}
    unsettled = verdict.state == "too few" and not common
    found = (
        p
        for p in profile.phrases
        if p.n >= MANY_USES
        and p.phrase not in spoken_of
        and _misses(p, p.meaning)
        and not (common and not _misses(p, _on_line(p, profile.pattern)))
        and (not unsettled or verdict.carried == Cell(p.phrase, ""))
    )
    return tuple(sorted(found, key=weight, reverse=True)[:_MOST])


def _besides(profile: ReaderProfile) -> tuple[PhraseRate, ...]:
    """Give words that a pattern's sentence does not show: the heaviest, and others clearly off.

    Of these those that its rule misleads, or of whose side it says nothing. Of a question they are
    none that its other answer could explain.
    """
    off, pattern = _off(profile), profile.pattern
    said: tuple[Rated, ...] = (*carriers(profile), *told(profile))
    left = [p for p in off if p.phrase not in {each.phrase for each in said}]
    first = [p for p in left if p is off[0] and not pattern.verdict.question]
    clear = (p for p in left if p is off[0] or (p.n >= MANY_USES and _misses(p, p.meaning)))
    silent = [side is None for side in claimed(profile)]
    apart = (p for p in clear if misled(p, profile) or silent[p.meaning <= _EVEN])
    return (*first, *(p for p in apart if p not in first))[:_MOST]


def by_finding(profile: ReaderProfile) -> tuple[PhraseRate, ...]:
    """Give the findings whose hedges together stand clearly off, heaviest first."""
    findings = profile.findings if is_read(profile) else ()
    off = (p for p in findings if p.n >= MANY_USES and _misses(p, p.meaning))
    return tuple(sorted(off, key=weight, reverse=True)[:_MOST])


def one_finding(profile: ReaderProfile, finding: str, words: Strings) -> tuple[str, str]:
    """Say that a pattern would rest on one finding, and what CT shows of its hedges together."""
    lead = words("verdict.one_finding.lead", finding=finding, hedges=count(profile.hedges))
    here = (p for p in profile.findings if p.phrase == finding and p.n >= LEAST_SHOWN)
    each = (words("verdict.by_finding.each", finding=finding, **figures(p, words)) for p in here)
    return words("verdict.one_finding.first", finding=finding), " ".join([lead, *each])


def unmoved(profile: ReaderProfile) -> tuple[Rated, ...]:
    """Give the words that a page without a swap speaks of first: of these it says why."""
    first = foremost(profile, ())
    return (first,) if first else carriers(profile) or told(profile)[:1]


def stay(profile: ReaderProfile, words: Strings, scale: Scale, discouraged: Scale) -> str:
    """Say why no swap is offered, by the words that the page speaks of first.

    That nothing needs to change stands only where no other sentence says as much.
    """
    spoken_of, state = unmoved(profile), profile.pattern.verdict.state
    if spoken_of and scale:
        return " ".join(between(each, profile, words, scale, discouraged) for each in spoken_of)
    if spoken_of or state == "pattern":
        return words("verdict.stay.plain")
    none = wrong(profile) or not is_read(profile)
    none = none or profile.pattern.verdict.untold == "no hedge"
    return words("verdict.stay.few") if state == "too few" and not none else ""


def _misses(phrase: PhraseRate, value: float) -> bool:
    """Whether the rate lies clearly off a value, its interval and the survey's doubt too."""
    held = phrase.rate.low - phrase.doubt <= value <= phrase.rate.high + phrase.doubt
    return not held and abs(phrase.rate.value - value) > _CLEAR


def _on_line(phrase: PhraseRate, pattern: Pattern) -> float:
    """Give the rate that the reader's line leads to expect of a phrase."""
    log_odds = math.log(phrase.meaning / (1.0 - phrase.meaning))
    return 1.0 / (1.0 + math.exp(-pattern.shift.value - pattern.slope.value * log_odds))


def weight(phrase: Rated) -> float:
    """Weigh how far CT lies off a word by how often it is written, and by what follows from it.

    A low word that CT shows more often than it says is weighed as if it were twice as far off: who
    reads "unlikely" looks no further, while a "likely" too many is looked into.
    """
    low = phrase.meaning <= LOW and phrase.rate.value > phrase.meaning
    return (_MISSED if low else 1.0) * phrase.n * (phrase.rate.value - phrase.meaning) ** 2


def example(shown: Sequence[PhraseRate], profile: ReaderProfile, words: Strings) -> str:
    """Show the pattern in the phrases that carry it, or say that a side of it has none.

    Of that side it gives what its words show together.
    """
    values = [{"phrase": p.phrase, **figures(p, words)} for p in shown]
    said = [words("verdict.example", **values[0])] if values else []
    if len(values) > 1:
        second = {f"{key}2": value for key, value in values[1].items()}
        said = [words("verdict.examples", **values[0], **second)]
    for name, side in zip(("strong", "weak"), claimed(profile), strict=True):
        other = [p for p in shown if (p.meaning > _EVEN) == (name == "strong")]
        if side and not (other or (shown and len({*claimed(profile)}) == 1)):
            said.append(_together(name, side, profile, words))
    return " ".join(said)


def _together(name: str, side: Side, profile: ReaderProfile, words: Strings) -> str:
    """Say what the words of a side show together, of which none shows it by itself."""
    whole = next((each for each in profile.sides if each.phrase == name), None)
    if whole is None:
        return words(f"verdict.together.{name}_few")
    end = words(f"verdict.together.{'shown' if shows(whole, side) else 'open'}")
    return words(f"verdict.together.{name}", shown=end, **figures(whole, words))


def quoted(phrases: Sequence[str], words: Strings) -> str:
    """Print phrases in quotation marks."""
    return ", ".join(words("verdict.quoted", phrase=phrase) for phrase in phrases)


def _stands(probability: float, words: Strings) -> str:
    """Say how sure a habit is: a fact only from .9 on."""
    if probability >= _SURE:
        return words("verdict.habit.stands")
    return words("verdict.habit.probably", chance=tenths(probability))


def wrong(profile: ReaderProfile) -> tuple[tuple[str, AtomJudgement], ...]:
    """Give "absent" and "present" where they are wrong more often than others'."""
    each = (("absent", profile.absent), ("present", profile.present))
    return tuple((name, atom) for name, atom in each if atom.state == "more often")


def unmatched(profile: ReaderProfile) -> tuple[tuple[str, AtomJudgement], ...]:
    """Give "absent" and "present" that CT contradicts often, and nobody's rate can stand beside.

    Often is surely more than a tenth: as far off as any single word that is named.
    """
    each = (("absent", profile.absent), ("present", profile.present))
    return tuple(
        (name, atom)
        for name, atom in each
        if atom.state == "no comparison" and atom.n >= MANY_USES and _often(atom)
    )


def _often(atom: AtomJudgement) -> bool:
    share = atom.wrong / atom.n
    return share - Z95 * math.sqrt(share * (1.0 - share) / atom.n) > _CLEAR


def as_others(profile: ReaderProfile, words: Strings) -> tuple[str, ...]:
    """Say how "absent" and "present" stand of which nothing shows that they are off."""
    each, off = (("absent", profile.absent), ("present", profile.present)), wrong(profile)
    judged = (one for one in each if one[1].state not in _UNJUDGED)
    return tuple(_atom(*one, words, end="stands") for one in judged if one not in off)


def _atom(name: str, atom: AtomJudgement, words: Strings, *, end: str = "look") -> str:
    alone = atom.state == "no comparison"
    said = words(
        f"verdict.atom.{name}{'_alone' if alone else ''}",
        phrases=quoted(atom.phrases, words),
        wrong=_number(atom.wrong),
        n=count(atom.n),
        expected="" if alone else _number(atom.expected_wrong),
    )
    return f"{said} {words(f'verdict.atom.{end}')}"


def _number(mass: float) -> str:
    """Print label mass: whole, or with a decimal where rounding would hide the difference."""
    whole = round(mass, 1) == round(mass)
    return count(mass) if mass >= 10.0 or whole else decimal(mass, 1)
