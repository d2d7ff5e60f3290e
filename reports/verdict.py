"""A reader's profile → every sentence about the reader, on every page and in every file.

The pattern comes first, with the phrases that show it and what to do; then single words
(``single_words.py``), then swaps (``swaps.py``). "Nothing to change" is said only where the
posterior says "none" and nothing else is claimed; a shift that a plausible ordering of CTs explains
is a question. Where words may not be read at all it is said why instead (``out_of_order.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from calibration.profile import Part, ReaderProfile, Swap
from calibration.profile.shared import PARTS
from calibration.profile.shown import VISIBLE, Rated, stated
from reports import out_of_order
from reports.content import CtReaders
from reports.held_back import NO_SCALE, all_share, between, grouped, tenths, where
from reports.marked import heavier, hedges_in_parts, swaps_in_order
from reports.numbers import count, percent, percent_limits
from reports.single_words import (
    alone,
    as_others,
    basis,
    by_finding,
    carriers,
    claim,
    example,
    foremost,
    named,
    one_finding,
    ordered,
    perhaps,
    quoted,
    stay,
    surveyed,
    suspected,
    unmatched,
    unmoved,
    weight,
    wrong,
)
from reports.strings import Strings
from reports.swaps import (
    LEAST_USES,
    Action,
    Scale,
    about,
    action,
    figures,
    kept_swaps,
    misled,
    right_already,
    side_of,
)

# Points within which the whole interval of a word lies of what it says, where it is known well.
_NEAR: Final = 10
# Chance of being clearly off from which a pattern is stated without a word of its degree.
_CLEARLY: Final = 0.8


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
        What it rests on.
    rule
        The general rule of a pattern: the first thing to try, also where no swap passes. Where the
        words do not rise with CT, what to check.
    also
        Habits, words that do not show the pattern, "absent" and "present", a sentence each.
    caveat
        What all this is of, wherever words are said to be off and no other sentence says it.
    actions
        At most three swaps.
    stay
        Why there is no swap, where there is none and nothing else says so, or not one more.
    left
        Why words that are marked have no swap, where neither a card nor ``stay`` says so.
    behind
        What explains these sentences and can wait for the next page.
    """

    question: bool
    first: str
    lead: str
    rule: str
    also: tuple[str, ...]
    caveat: str
    actions: tuple[Action, ...]
    stay: str
    left: tuple[str, ...]
    behind: tuple[str, ...]


def in_words(
    profile: ReaderProfile,
    *,
    words: Strings,
    scale: Scale = NO_SCALE,
    discouraged: Scale = NO_SCALE,
    ct: CtReaders = "unstated",
) -> Said:
    """Say what the profile holds; ``scale`` gives the words that an institution recommends.

    ``ct`` is what is known of CT's readers: those who know the X-ray's report may lean to it.
    """
    if whole := out_of_order.unordered(profile):
        claim_, lead = out_of_order.claim(whole, words), out_of_order.basis(whole, words)
        check, stays = words("verdict.no_rise.check"), words("verdict.no_rise.stay")
        return Said(
            question=False, first=claim_, lead=lead, rule=check, also=(), caveat="", actions=(),
            stay=stays, left=(), behind=(),
        )  # fmt: skip
    swaps = swaps_in_order(profile)
    cards = tuple(action(swap, swaps, profile, words, scale) for swap in swaps)
    first, lead, rule = _pattern(profile, swaps, words)
    question = profile.pattern.verdict.question
    also = (
        *out_of_order.in_findings(profile, words),
        *alone(profile, swaps, words, first=foremost(profile, swaps)),
    )
    ordering = (ordered(profile.pattern, carriers(profile), words),) * question
    behind = (*ordering, *_how_far(profile, words), *_beside(profile, words))
    behind += out_of_order.parted(profile, words)
    why = "" if swaps else stay(profile, words, scale, discouraged)
    if swaps and (heaviest := heavier(profile)):
        why = between(heaviest, profile, words, scale, discouraged)
    caveat = _joined(_caveat(profile, swaps, words), out_of_order.leaning(profile, ct, words))
    marked = [each for each, side in hedges_in_parts(profile) if side]
    if not swaps and all_share(marked, profile, words, scale):
        rule = words("verdict.do_shared")
    left = grouped(_left(profile, swaps), profile, words, scale, discouraged)
    return Said(question, first, lead, rule, also, caveat, cards, why, left, behind)


def _left(profile: ReaderProfile, swaps: Sequence[Swap]) -> list[Rated]:
    """Give the marked words that no swap moves, but those that `stay` speaks of, by weight."""
    said = [heavier(profile)] if swaps else unmoved(profile)
    whole = {swap.phrase for swap in swaps if not swap.finding}
    gone = {(each.phrase, each.finding) for each in (*swaps, *said) if each}
    marked = (each for each, side in hedges_in_parts(profile) if side)
    rest = (w for w in marked if w.phrase not in whole and (w.phrase, w.finding) not in gone)
    return sorted(rest, key=weight, reverse=True)


def of_all(profile: ReaderProfile) -> str:
    """Name what is said of all hedges: the reader's first sentence and the committee's few words.

    Both are looked up by this name (``verdict.…`` and ``verdict.short.…``), so they say the same.
    """
    verdict = profile.pattern.verdict
    if whole := out_of_order.unordered(profile):
        return f"no_rise_{whole.way}"
    if verdict.state == "pattern":
        kind = "_".join(map(_key, stated(profile)))
        return f"question.{kind}" if verdict.question else f"stated.{kind}"
    if verdict.state == "none":
        none = "by_finding" if by_finding(profile) else "none"
        part = f"slight.{_key(verdict.slight)}" if verdict.slight else none
        return "shared" if verdict.shared else part
    if verdict.untold in {"one label", "no standard", "no hedge", "sites", "mended", "moved"}:
        return _key(verdict.untold)
    if verdict.carried:
        return "one_cell" if verdict.carried.phrase else "one_finding"
    return "instrument" if verdict.untold == "instrument" else "too_few"


def single_words(profile: ReaderProfile) -> bool:
    """Say whether single words are said to be off of whom no pattern is stated."""
    told_of = foremost(profile, kept_swaps(profile)) is not None or bool(wrong(profile))
    return profile.pattern.verdict.state != "pattern" and told_of


def short(profile: ReaderProfile, words: Strings) -> str:
    """Give the reader's first sentence in a few words, of a single word also what holds of all.

    Findings that were set aside are named after it.
    """
    names = ", ".join(words.name(each.finding) for each in profile.aside if each.finding)
    text = _short(profile, words)
    return words("verdict.short.aside", verdict=text, findings=names) if names else text


def _short(profile: ReaderProfile, words: Strings) -> str:
    whole, single = of_all(profile), single_words(profile)
    degree = _degree(profile, words) if whole.startswith("stated") else {}
    text = words(f"verdict.short.{'none_but' if single and whole == 'none' else whole}", **degree)
    word = foremost(profile, kept_swaps(profile))
    if word is None:
        certain = ", ".join(quoted(atom.phrases, words) for _, atom in wrong(profile))
        return words("verdict.short.but", phrases=certain, verdict=text) if single else text
    side = side_of(word.rate.value, word.meaning)
    shown = {"phrase": word.phrase, "where": where(word, words), "verdict": text}
    return words(f"verdict.short.word_{side}", **shown)


def message(profile: ReaderProfile, *, words: Strings) -> str:
    """Say it in one plain paragraph, swaps included."""
    said = in_words(profile, words=words)
    swaps = [words("verdict.swap_line", title=a.title, evidence=a.evidence) for a in said.actions]
    text = _joined(said.first, said.lead, *said.also, said.caveat, said.rule, *swaps, *said.behind)
    return text.replace("**", "").replace("\u00a0", " ")


def _pattern(profile: ReaderProfile, swaps: Sequence[Swap], words: Strings) -> tuple[str, str, str]:
    """Give the first sentence, the lead, and of a pattern its general rule."""
    verdict, word = profile.pattern.verdict, foremost(profile, swaps)
    if verdict.state != "pattern":
        first, lead = (_none if verdict.state == "none" else _too_few)(profile, words, word)
        if word is None:
            return first, lead, ""
        return claim(word, profile, words), _joined(basis(word, profile, words), first, lead), ""
    how, _, kind = of_all(profile).partition(".")
    said = _joined(example(carriers(profile), profile, words), perhaps(profile, words))
    rule = words(f"verdict.do_{how}", do=words(f"verdict.do.{kind}"))
    first = words(f"verdict.{how}.{kind}", **_degree(profile, words))
    return first, said, _joined(rule, _not_ruled(profile, words))


def _slight(profile: ReaderProfile) -> bool:
    """Whether a stated pattern may well be slight: being clearly off is not likely enough."""
    verdict = profile.pattern.verdict
    stated = verdict.state == "pattern" and not verdict.question
    return stated and profile.pattern.clearly_off < _CLEARLY


def _degree(profile: ReaderProfile, words: Strings) -> dict[str, str]:
    """Weaken what is stated of a pattern that may well be slight; a question weakens itself."""
    if profile.pattern.verdict.question:
        return {}
    return {"degree": words("verdict.degree.some") if _slight(profile) else ""}


def _how_far(profile: ReaderProfile, words: Strings) -> tuple[str, ...]:
    """Give the chance that a pattern is clear, where it may well be slight."""
    if not _slight(profile):
        return ()
    return (words("verdict.degree.chance", chance=tenths(profile.pattern.clearly_off)),)


def _not_ruled(profile: ReaderProfile, words: Strings) -> str:
    """Except from the general rule, by name, words that it would lead away from CT or are right."""
    parts = hedges_in_parts(profile)
    away = [each for each, side in parts if misled(each, profile, marked=bool(side))]
    right = [
        each for each, side in parts
        if not side and each not in away and right_already(each, profile)
    ]  # fmt: skip
    but = words("verdict.but", words=", ".join(_with_figures(away, words))) if away else ""
    stays = ", ".join(named(each, words) for each in right)
    return _joined(but, words("verdict.right", words=stays) if right else "")


def _with_figures(found: Sequence[Rated], words: Strings) -> Iterator[str]:
    for each in found:
        rate, meaning = about(each.rate.value, words), percent(each.meaning)
        yield words("verdict.but_word", word=named(each, words), rate=rate, meaning=meaning)


def _caveat(profile: ReaderProfile, swaps: Sequence[Swap], words: Strings) -> str:
    """Say what all this is of, where words are said to be off.

    A question asks it, and what is shared or the instrument's says it itself, where it is said. Of
    "absent" and "present" it names the patients too: of sicker ones CT contradicts more "absent".
    """
    verdict = profile.pattern.verdict
    shared = verdict.shared and verdict.state == "none"
    said = verdict.question or shared or verdict.untold == "instrument"
    off = verdict.state == "pattern" or foremost(profile, swaps)
    certain = wrong(profile) or unmatched(profile)
    of_all = words("verdict.choice") if (off or certain) and not said else ""
    return _joined(of_all, words("verdict.atom.mix") if wrong(profile) else "")


def _none(profile: ReaderProfile, words: Strings, word: Rated | None) -> tuple[str, str]:
    """Say that nothing is off as a whole; beside a single word in one sentence."""
    verdict, hedges = profile.pattern.verdict, count(profile.hedges)
    more = bool(word or wrong(profile) or unmatched(profile))
    if verdict.shared:
        lead = _what("verdict.shared.lead", "committee.common", verdict.shared, words)
        first = words(f"verdict.shared.{'first_but' if more else 'first'}")
        return "" if word else first, lead
    if verdict.slight:
        lead = words("verdict.slight.lead", hedges=hedges)
        return words(f"verdict.{of_all(profile)}", chance=tenths(verdict.chance)), lead
    if apart := by_finding(profile):
        each = (
            words("verdict.by_finding.each", finding=p.phrase, **figures(p, words)) for p in apart
        )
        first = "" if word else words("verdict.by_finding.first")
        return first, _joined(*each, words("verdict.by_finding.whose"))
    if more:
        first = "" if word else words("verdict.none_but.first")
        return first, words("verdict.none_but.lead", hedges=hedges)
    lead = words("verdict.none.lead", hedges=hedges)
    return words("verdict.none.first"), _joined(lead, *_known(profile, words))


def _known(profile: ReaderProfile, words: Strings) -> tuple[str, str]:
    """Say of how many single words as much is known, which lies furthest off, and of one finding.

    Near is a word whose interval and count are. What lies no further off than can be seen is not
    named.
    """
    limits = ((p, percent_limits(p.rate.low, p.rate.high, p.rate.value)) for p in profile.phrases)
    near = [
        max(abs(end - round(100 * p.meaning)) for end in (*ends, 100 * p.observed))
        for p, ends in limits
    ]
    shown = {"n": count(sum(each <= _NEAR for each in near)), "of": count(len(near))}
    off = max(profile.phrases, key=lambda p: abs(p.rate.value - p.meaning), default=None)
    furthest = ""
    if off is not None and abs(off.rate.value - off.meaning) >= VISIBLE:
        furthest = words("verdict.none.furthest", phrase=off.phrase, **figures(off, words))
    close = words("verdict.none.close", points=count(_NEAR), furthest=furthest, **shown)
    close = close if near else ""
    judged = {"least": count(LEAST_USES), "n": count(profile.judged)}
    if (habit := suspected(profile)) and profile.judged:
        judged |= {"phrase": habit.phrase, "where": where(habit, words), **figures(habit, words)}
        chance = tenths(habit.probability)
        return close, words("verdict.none.judged_but", chance=chance, **judged)
    return close, words(f"verdict.none.judged{'' if profile.judged else '_none'}", **judged)


def _too_few(profile: ReaderProfile, words: Strings, word: Rated | None) -> tuple[str, str]:
    """Say why nothing can be said of the whole, what it would take, and what can be said."""
    verdict, hedges = profile.pattern.verdict, count(profile.hedges)
    kind, alone = of_all(profile), verdict.untold == "one phrase"
    if kind == "one_label":
        return words("verdict.one_label.first"), words("verdict.one_label.lead")
    certain = ", ".join(quoted(atom.phrases, words) for _, atom in wrong(profile))
    if out_of_order.unread(profile):
        first = words(f"verdict.{kind}.first", month=words.month(profile.since, "long"))
        return first, out_of_order.unreadable(profile, words)
    if kind == "no_hedge":
        lead = _joined(words("verdict.no_hedge.lead"), *as_others(profile, words))
        return words(f"verdict.no_hedge.first{'_but' * bool(certain)}", phrases=certain), lead
    but = words("verdict.too_few.first_but", phrases=certain) if certain else ""
    whole = _joined(words("verdict.too_few.lead", hedges=hedges), _further(profile, words))
    if (cell := verdict.carried) and not cell.phrase:
        first, lead = one_finding(profile, cell.finding, words)
        return but or first, lead
    if cell:
        said = named(cell, words)
        lead = whole if alone else words("verdict.one_cell.lead", hedges=hedges, cell=said)
        if word is None:
            each = [surveyed(p, words) for p in profile.phrases if p.phrase == cell.phrase]
            each += [words("verdict.one_cell.look", cell=said)] * bool(cell.finding)
            return but or words("verdict.too_few.first"), _joined(lead, *each)
        same = word.phrase == cell.phrase and cell.finding in {"", word.finding}
        return "" if same else but or words("verdict.one_cell.first_but", cell=said), lead
    if kind == "instrument":
        lead = _what("verdict.instrument.lead", "verdict.shared", verdict.explained, words)
        return but or words("verdict.instrument.first"), lead
    return "" if word else but or words("verdict.too_few.first"), whole


def _joined(*sentences: str) -> str:
    return " ".join(each for each in sentences if each)


def _key(name: str) -> str:
    """Name of a part or state in the strings."""
    return name.replace(" ", "_")


def _beside(profile: ReaderProfile, words: Strings) -> tuple[str, ...]:
    """Say what colleagues' hedges do as well, of what the page states and does not ask."""
    verdict = profile.pattern.verdict
    open_ = PARTS[:2] if verdict.question else ()
    parts = [part for part in stated(profile) if part in verdict.beside and part not in open_]
    return tuple(filter(None, [_what("verdict.beside", "verdict.shared", parts, words)]))


def _what(key: str, each: str, parts: Sequence[Part], words: Strings) -> str:
    """Say of parts that are not the reader's alone whose question they are; nothing of none."""
    what = [words(f"{each}.{_key(part)}") for part in parts]
    return words(key, what=words("verdict.shared.and").join(what)) if what else ""


def _further(profile: ReaderProfile, words: Strings) -> str:
    exams = profile.pattern.verdict.more_exams
    if profile.pattern.verdict.untold == "one phrase":
        most = max(profile.phrases, key=lambda each: each.n)
        return words("verdict.too_few.one_phrase", phrase=most.phrase)
    if exams is None:
        return words("verdict.too_few.long")
    return words.several("verdict.too_few.more", exams)
