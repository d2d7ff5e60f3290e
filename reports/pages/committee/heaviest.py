"""Which words carry what hedges promise too much or too little, in whose hands, and why they stay.

A word carries its share of statements times how far its rate lies from its meaning. Those count
that the phrase chart marks, to each side by themselves: what all hedges lie to together is a net,
in which words that reassure falsely vanish behind others, though they mislead most. Where chance
explains the net, only those are named. What there is to gain where none is taught is what the cards
on readers' own pages move.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Final, get_args

import numpy as np

from calibration.arrays import FloatArray
from calibration.profile import DepartmentProfile, PhraseRate, ReaderProfile
from calibration.profile.rates import expected_distance
from calibration.profile.shown import Side, reaches
from calibration.profile.swaps import LOW
from calibration.result import GroupResult
from reports.figures.phrase_rows import PhraseRow, missed, phrase_rows
from reports.marked import hedges_in_parts
from reports.numbers import percent, points
from reports.out_of_order import is_read
from reports.pages.committee.tables import doubted, meanings, terms, upheld
from reports.review_content import CommitteeContent
from reports.strings import Strings
from reports.swaps import kept_swaps, side_of

_SIDES: Final[tuple[Side, ...]] = get_args(Side)
_NAMED: Final = 3
# Distance from each recommended word from which a rate lies in a gap.
_FAR: Final = 0.08
WORTH: Final = 0.05
"""Share of the department's distance from which a word is worth a committee's time."""
# Words whose swaps a discouraged one must hold back before it is put to the committee.
_HELD_BACK: Final = 3
_LEAST_READERS, _LEAST_SHARE = 2, 0.25
MUCH: Final = 1 / 3
"""Share of a word's uses up to which it is no one reader's."""


@dataclass(frozen=True, slots=True)
class Department:
    """A review's content where its figures may be shown and its readers were judged together."""

    content: CommitteeContent
    found: DepartmentProfile
    whole: GroupResult


def side_of_all(content: CommitteeContent) -> str:
    """Say to which side the hedges of all lie: "less" or "more", empty where chance explains it."""
    ratio = content.profiles.large.ratio if content.profiles else None
    if ratio is None or not (ratio.high < 1.0 or ratio.low > 1.0):
        return ""
    return "less" if ratio.high < 1.0 else "more"


def heaviest(of: Department, words: Strings, besides: Collection[str]) -> list[str]:
    """Name the words that carry most of it, on the side of the heaviest.

    Those ``besides`` have a proposal of their own: no word is counted in two.
    """
    weighs = {side: carrying(of, side, besides) for side in _SIDES}
    side = max(_SIDES, key=lambda lies: max(weighs[lies].values(), default=0.0))
    return [_of_side(tuple(weighs[side]), side, of, words)] if weighs[side] else []


def _of_side(named: Sequence[str], lies: Side, of: Department, words: Strings) -> str:
    """Say of words of a side what they weigh, in whose hands, and why they stay."""
    each = [_carried(phrase, lies, of, words) for phrase in named]
    said = [
        words(f"decisions.heaviest_{lies}", phrases=_named(named, words)),
        words("decisions.carry", gap=points(of.whole.phrase_error.value), each=_and(each, words)),
        *_kept(named, of.content, words),
        _choose(named, lies, of, words),
        words("decisions.owner"),
        on_own_pages(of.found, named, lies, words),
    ]
    return " ".join(said)


def on_own_pages(
    found: DepartmentProfile, phrases: Sequence[str], side: Side, words: Strings
) -> str:
    """Say how near to CT readers' own cards to a side bring statements; or that there is none.

    Expected distances are added up reader by reader: one who lies above CT makes up for none below,
    nor does what a rate may be above a word for what it may be below.
    """
    every = (swap for reader in found.readers for swap in kept_swaps(reader))
    lead = (swap for swap in every if side_of(swap.instead_meaning, swap.meaning) == side)
    swaps = [swap for swap in lead if swap.phrase in phrases]
    if not swaps:
        return words("decisions.no_effect")
    uses = sum(swap.n for swap in swaps)
    told = [(s.n / uses, s.rate, s.meaning, s.instead_meaning) for s in swaps]
    before = sum(share * expected_distance(rate, now) for share, rate, now, _ in told)
    after = sum(share * expected_distance(rate, then) for share, rate, _, then in told)
    return words.several(
        "decisions.own_cards",
        len(swaps),
        statements=words.several("unit.statements", round(uses)),
        before=points(before),
        after=points(after),
    )


def added(whole: GroupResult) -> FloatArray:
    """Give what each phrase adds to the department's distance from CT, (K,)."""
    table = whole.phrases
    return np.nan_to_num(table.n * np.abs(table.observed - table.expected)) / whole.n


def _carried(phrase: str, side: Side, of: Department, words: Strings) -> str:
    """Say what a word weighs, what it says, what CT shows, and in whose hands it is off."""
    table = of.whole.phrases
    at = table.phrases.index(phrase)
    return words(
        "decisions.carries",
        phrase=phrase,
        share=points(_adds(of.whole)[phrase]),
        meaning=percent(table.expected[at]),
        rate=percent(table.observed[at]),
        hands=_in_whose_hands(phrase, side, of, words),
    )


def _in_whose_hands(phrase: str, side: Side, of: Department, words: Strings) -> str:
    """Say in how many hands a word is off, of those that can be judged, and of how many in all.

    Those in whose hands it is off to the other side count as well: what is taught to all is wrong
    for them.
    """
    found, minimum = of.found, of.content.minimum_n
    enough, off = hands(found, phrase, side, minimum)
    if not enough:
        return words("decisions.hand_nobody")
    key = "decisions.hand" if len(enough) == len(found.readers) else "decisions.hand_some"
    said = words(key, n=len(off), readers=len(enough), all=len(found.readers))
    other: Side = "more" if side == "less" else "less"
    _, against = hands(found, phrase, other, minimum)
    return said + words("decisions.hand_other", n=len(against)) if against else said


def _choose(phrases: Sequence[str], side: Side, of: Department, words: Strings) -> str:
    """Lay out what can be decided of words for which none is taught: the scale's part too.

    A word that is advised, to a reader or by a map that held, is not to be taken off the scale, nor
    one that is right in most hands.
    """
    content, found = of.content, of.found
    kept = {swap.target for _, swap in upheld(content.maps or ())}
    kept |= {swap.instead for reader in found.readers for swap in kept_swaps(reader)}
    for phrase in phrases:
        enough, off = hands(found, phrase, side, content.minimum_n)
        if enough and 2 * len(off) <= len(enough):
            kept.add(phrase)
    free = [phrase for phrase in phrases if phrase not in kept]
    scale = [
        words(f"decisions.{step}", phrases=_named(named, words))
        for step, kind in (("unrecommend", "recommended"), ("discourage", "neither"))
        if (named := [phrase for phrase in free if phrase in terms(content, kind)])
    ]
    if not scale:
        return words("decisions.choose_two")
    return words("decisions.choose", scale=words("decisions.choices").join(scale))


def in_hands(found: DepartmentProfile, phrase: str, minimum: int) -> list[PhraseRate]:
    """Give a word's rates in the hands of those who wrote it often enough."""
    rates = (rate for reader in found.readers for rate in reader.phrases)
    return [rate for rate in rates if rate.phrase == phrase and rate.n >= minimum]


def hands(
    found: DepartmentProfile, phrase: str, side: Side, minimum: int
) -> tuple[list[ReaderProfile], list[ReaderProfile]]:
    """Give who wrote a word often enough, and in whose hands it is off as in the department's."""
    enough = [
        (reader, rate)
        for reader in filter(is_read, found.readers)
        for rate in reader.phrases
        if rate.phrase == phrase and rate.n >= minimum
    ]
    off = [reader for reader, rate in enough if off_with(reader, rate) == side]
    return [reader for reader, _ in enough], off


def several(readers: int) -> float:
    """Give how many of some readers are several."""
    return max(_LEAST_READERS, _LEAST_SHARE * readers)


def hands_tell(judged: int, readers: int, content: CommitteeContent) -> bool:
    """Say whether so many hands can be judged that they speak for all: several, or five.

    Five is how many a figure of the department takes; a quarter of sixty readers is not needed to
    see that a word is right in most hands.
    """
    return judged >= min(several(readers), content.minimum_readers)


def _of_several(of: Department, phrase: str, side: Side) -> bool:
    """Say whether a word is off in several hands; where too few can be judged, if it is no one's.

    Of one reader's word there is nothing to decide for all.
    """
    found, minimum, table = of.found, of.content.minimum_n, of.whole.phrases
    enough, off = hands(found, phrase, side, minimum)
    if hands_tell(len(enough), len(found.readers), of.content):
        return len(off) >= several(len(enough))
    most = max((rate.n for rate in in_hands(found, phrase, minimum)), default=0.0)
    return most <= MUCH * float(table.n[table.phrases.index(phrase)])


def in_few_hands(of: Department, words: Strings, *, full: bool) -> list[str]:
    """Say of the heaviest word off in all hands together, and in few by themselves, that it is.

    A ``full`` page names it only where it is one reader's.
    """
    content, found, whole = of.content, of.found, of.whole
    adds = _adds(whole)
    heavy = [
        (row, side)
        for row in phrase_rows(whole.phrases, minimum_n=content.minimum_n)
        if (side := missed(row)) and adds[row.phrase] >= WORTH * whole.phrase_error.value
        if not _of_several(of, row.phrase, side)
    ]
    if not heavy:
        return []
    row, side = max(heavy, key=lambda each: adds[each[0].phrase])
    enough, off = hands(found, row.phrase, side, content.minimum_n)
    shown = {"phrase": row.phrase, "meaning": percent(row.expected), "rate": percent(row.observed)}
    rest = _without(off, row) if len(off) == 1 else row
    if missed(rest) == side:
        few = words("decisions.few_hands", n=len(off), readers=len(enough), **shown)
        return [] if full else [few]
    others = ""
    if len(enough) > content.minimum_readers:
        others = words("decisions.one_hand_others", rate=percent(rest.observed))
    return [words("decisions.one_hand", others=others, **shown)]


def _without(off: Sequence[ReaderProfile], row: PhraseRow) -> PhraseRow:
    """Give a word's row in all other hands; its interval is as wide as that of all."""
    own = [rate for reader in off for rate in reader.phrases if rate.phrase == row.phrase]
    uses = max(row.n - sum(rate.n for rate in own), 1.0)
    left = row.n * row.observed - sum(rate.n * rate.observed for rate in own)
    share = min(max(left / uses, 0.0), 1.0)
    low, high = share - (row.observed - row.low), share + (row.high - row.observed)
    return replace(row, observed=share, low=max(low, 0.0), high=min(high, 1.0))


def off_with(reader: ReaderProfile, word: PhraseRate) -> Side | None:
    """Say on which side CT lies of a word that is off in a reader's hands.

    It is off where the reader's own chart marks every row of it alike, and the interval of its
    rate in all findings misses the meaning.
    """
    marked = {side for rate, side in hedges_in_parts(reader) if rate.phrase == word.phrase}
    return marked.pop() if len(marked) == 1 and not reaches(word) else None


def discouraged(of: Department, words: Strings) -> list[str]:
    """Put to the committee the word whose discouragement holds back most words' swaps, if several.

    A word counts once, whatever the findings, and only where it is off in several hands.
    """
    table, means = of.whole.phrases, meanings(of.whole)
    held: defaultdict[str, dict[str, None]] = defaultdict(dict)
    silent = (each for part in of.content.maps or () for each in part.advice.suppressed)
    for each in silent:
        source, target = each.source, each.target or ""
        if each.reason != "forbidden" or source not in means or target not in means:
            continue
        if _of_several(of, source, side_of(means[target], means[source])):
            held[target][source] = None
    word = max(held, key=lambda target: (len(held[target]), target), default=None)
    if word is None or len(held[word]) < _HELD_BACK:
        return []
    sources = _named(tuple(held[word]), words)
    said = [words("decisions.discouraged", phrase=word, n=len(held[word]), sources=sources)]
    rate = float(table.observed[table.phrases.index(word)])
    if not math.isnan(rate):
        shown = {"rate": percent(rate), "meaning": percent(means[word])}
        said.append(words("decisions.discouraged_rate", phrase=word, **shown))
    return [" ".join([*said, words("decisions.discouraged_effect")])]


def scale_gap(of: Department, words: Strings) -> list[str]:
    """Put to the committee the gap of its scale in which most readers' words lie without a swap.

    These are several readers, of all.
    """
    content, found = of.content, of.found
    scale = sorted(terms(content).items(), key=itemgetter(1))
    inside: defaultdict[int, set[str]] = defaultdict(set)
    for reader in found.readers:
        for rate in _off_without_swap(reader):
            above = bisect(scale, rate, key=itemgetter(1))
            nearest = min((abs(rate - says) for _, says in scale), default=0.0)
            if nearest >= _FAR and 0 < above < len(scale):
                inside[above].add(reader.reader)
    above = max(inside, key=lambda place: (len(inside[place]), place), default=0)
    if not above or len(inside[above]) < several(len(found.readers)):
        return []
    (low, least), (high, most) = scale[above - 1], scale[above]
    shown = {"low": low, "least": percent(least), "high": high, "most": percent(most)}
    said = words("decisions.gap", n=len(inside[above]), of=len(found.readers), **shown)
    discouraged = terms(content, "discouraged").items()
    between = [phrase for phrase, says in discouraged if least + _FAR <= says <= most - _FAR]
    fit = words("decisions.gap_fit", phrases=_named(between, words)) if between else ""
    return [f"{said}{fit} {words('decisions.gap_effect')}"]


def _off_without_swap(reader: ReaderProfile) -> list[float]:
    """Give the rates at which a reader's words come true that are off and have no swap."""
    swapped = {swap.phrase for swap in kept_swaps(reader)}
    words = (word for word in reader.phrases if word.phrase not in swapped)
    return [word.rate.value for word in words if off_with(reader, word)]


def _adds(whole: GroupResult) -> dict[str, float]:
    return dict(zip(whole.phrases.phrases, added(whole).tolist(), strict=True))


def carrying(of: Department, side: Side, besides: Collection[str]) -> dict[str, float]:
    """Give the heaviest words of a side and what they weigh by what each adds to the distance.

    Who reads "unlikely" looks no further: what reassures falsely weighs twice, and stays where
    chance explains to which side all hedges lie. A word that is off in few hands is no decision.
    """
    content, whole = of.content, of.whole
    adds, falsely = _adds(whole), LOW if side == "more" else 0.0
    most = 1.0 if side_of_all(content) else falsely
    weighs: dict[str, float] = {}
    for row in phrase_rows(whole.phrases, minimum_n=content.minimum_n):
        share = adds[row.phrase]
        heavy = share >= WORTH * whole.phrase_error.value and points(share) != points(0.0)
        named = heavy and row.expected <= most and row.phrase not in besides
        if named and missed(row) == side and _of_several(of, row.phrase, side):
            weighs[row.phrase] = 2.0 * share if row.expected <= falsely else share
    order = sorted(weighs, key=lambda phrase: (-weighs[phrase], phrase))
    return {phrase: weighs[phrase] for phrase in order[:_NAMED]}


def _kept(phrases: Sequence[str], content: CommitteeContent, words: Strings) -> list[str]:
    """Say of the words for which none is taught in all findings why not, each reason once."""
    whole = [part for part in content.maps or () if part.pathology is None]
    why: dict[str, str] = {}
    for part in whole:
        for each in part.advice.suppressed:
            why[each.source] = words(f"maps.why.{each.reason}", target=each.target)
    for part in whole:
        for swap, _ in doubted(part, words):
            why[swap.source] = words("decisions.uncertain", target=swap.target)
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for phrase in phrases:
        if phrase in why:
            alike[why[phrase]].append(phrase)
    said = [
        words("decisions.kept", phrases=_named(named, words), why=reason)
        for reason, named in alike.items()
    ]
    swapped = {swap.source for _, swap in upheld(whole)}
    own = [phrase for phrase in phrases if phrase in swapped]
    return [*said, words("decisions.own_pages", phrases=_named(own, words))] if own else said


def _named(phrases: Sequence[str], words: Strings) -> str:
    return _and([words("decisions.word", phrase=each) for each in phrases], words)


def _and(parts: Sequence[str], words: Strings) -> str:
    *before, last = parts
    return words("verdict.shared.and").join([", ".join(before), last] if before else [last])
