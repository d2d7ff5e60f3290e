"""Which words carry what hedges promise too much or too little, in whose hands, and why they stay.

A word carries its share of statements times how far its rate lies from its meaning. Those count
that the phrase chart marks, to each side by themselves: what all hedges lie to together is a net,
in which words that reassure falsely vanish behind others, though they mislead most. Where chance
explains the net, only those are named. What there is to gain where none is taught is what the cards
on readers' own pages move.
"""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Collection, Sequence
from operator import itemgetter
from typing import Final, get_args

import numpy as np

from calibration.arrays import FloatArray
from calibration.profile import DepartmentProfile, PhraseRate, ReaderProfile
from calibration.profile.shown import Side, reaches
from calibration.profile.swaps import LOW
from calibration.result import GroupResult
from calibration.substitution import Suggestion
from reports.content import SuppressedCell
from reports.figures.phrase_rows import missed, phrase_rows
from reports.marked import hedges_in_parts
from reports.numbers import percent, points
from reports.pages.committee.tables import doubted, upheld
from reports.review_content import CommitteeContent
from reports.strings import Strings
from reports.swaps import Scale, kept_swaps, side_of

_NAMED: Final = 3
# Distance from each recommended word from which a rate lies in a gap; readers whose words do.
_FAR, _FEW = 0.08, 2
# Share of the department's distance from which a word is worth a committee's time.
_WORTH: Final = 0.05
# Words whose swaps a discouraged one must hold back before it is put to the committee.
_HELD_BACK: Final = 3
_LEAST_READERS, _LEAST_SHARE = 2, 0.25
MUCH: Final = 1 / 3
"""Share of a word's uses up to which it is no one reader's."""


def side_of_all(content: CommitteeContent) -> str:
    """Say to which side the hedges of all lie: "less" or "more", empty where chance explains it."""
    ratio = content.judged.large.ratio if content.judged else None
    if ratio is None or not (ratio.high < 1.0 or ratio.low > 1.0):
        return ""
    return "less" if ratio.high < 1.0 else "more"


def heaviest(content: CommitteeContent, words: Strings, besides: Collection[str]) -> list[str]:
    """Name the words that carry most of it, on the side of the heaviest.

    Those ``besides`` have a proposal of their own: no word is counted in two.
    """
    whole, sides = content.department, get_args(Side)
    if isinstance(whole, SuppressedCell):
        return []
    found = {side: carrying(content, whole, side, besides) for side in sides}
    order = sorted((s for s in sides if found[s]), key=lambda s: -max(found[s].values()))
    return [_of_side(tuple(found[side]), side, content, whole, words) for side in order[:1]]


def _of_side(
    named: Sequence[str], lies: Side, content: CommitteeContent, whole: GroupResult, words: Strings
) -> str:
    """Say of words of a side what they weigh, in whose hands, and why they stay."""
    each = [_carried(phrase, lies, content, whole, words) for phrase in named]
    said = [
        words(f"decisions.heaviest_{lies}", phrases=_named(named, words)),
        words("decisions.carry", gap=points(whole.phrase_error.value), each=_and(each, words)),
        *_kept(named, content, words),
        _choose(named, lies, content, words),
        words("decisions.owner"),
        on_own_pages(content.judged, named, lies, words) if content.judged else "",
    ]
    return " ".join(each for each in said if each)


def beside(content: CommitteeContent, whole: GroupResult, words: Strings) -> str:
    """Say what words as sure as "present" weigh, and the heaviest that its survey leaves open."""
    table, adds, gap = whole.phrases, added(whole), whole.phrase_error.value
    rows = phrase_rows(table, minimum_n=content.minimum_n)
    right = [row.phrase for row in rows if row.hedge and not missed(row)]
    weighs = np.where(table.hedges & np.isin(table.phrases, right), adds, 0.0)
    k, sure = int(np.argmax(weighs)), points(adds[~table.hedges].sum())
    said = words("committee.sure", gap=points(gap), sure=sure)
    heavy = {"phrase": table.phrases[k], "share": points(weighs[k])}
    return f"{said} {words('committee.open', **heavy)}" if weighs[k] >= _WORTH * gap else said


def on_own_pages(
    found: DepartmentProfile, phrases: Sequence[str], side: Side, words: Strings
) -> str:
    """Say how near to CT readers' own cards to a side bring statements; or that there is none.

    Distances are added up reader by reader: one who lies above CT makes up for none below.
    """
    every = (swap for reader in found.readers for swap in kept_swaps(reader))
    lead = (swap for swap in every if side_of(swap.instead_meaning, swap.meaning) == side)
    swaps = [swap for swap in lead if swap.phrase in phrases]
    if not swaps:
        return words("decisions.no_effect")
    n, rate, before, after = np.array(
        [(s.n, s.rate.value, s.meaning, s.instead_meaning) for s in swaps]
    ).T
    gaps = (points(float(n @ abs(rate - says) / n.sum())) for says in (before, after))
    shown = dict(zip(("before", "after"), gaps, strict=True))
    moved = words.several("unit.statements", round(float(n.sum())))
    return words.several("decisions.own_cards", len(swaps), statements=moved, **shown)


def added(whole: GroupResult) -> FloatArray:
    """Give what each phrase adds to the department's distance from CT, (K,)."""
    table = whole.phrases
    return np.nan_to_num(table.n * np.abs(table.observed - table.expected)) / whole.n


def _carried(
    phrase: str, side: Side, content: CommitteeContent, whole: GroupResult, words: Strings
) -> str:
    """Say what a word weighs, and in how many readers' hands it is off, of those judged.

    Those in whose hands it is off to the other side count as well: what is taught to all is wrong
    for them.
    """
    table, found, held = whole.phrases, content.judged, ""
    k = table.phrases.index(phrase)
    shown = {"meaning": percent(table.expected[k]), "rate": percent(table.observed[k])}
    enough, off = hands(found, phrase, side, content.minimum_n) if found else ([], [])
    if found and enough:
        other: Side = "more" if side == "less" else "less"
        against = len(hands(found, phrase, other, content.minimum_n)[1])
        held = words("decisions.hand", n=len(off), readers=len(enough))
        held += words("decisions.hand_other", n=against) if against else ""
    share = points(_adds(whole)[phrase])
    return words("decisions.carries", phrase=phrase, share=share, hands=held, **shown)


def _choose(phrases: Sequence[str], side: Side, content: CommitteeContent, words: Strings) -> str:
    """Lay out what can be decided of words for which none is taught: the scale's part too.

    A word that is advised, to a reader or by a map that held, is not to be taken off the scale, nor
    one that is right in most hands.
    """
    steps, found = (("unrecommend", "recommended"), ("discourage", "neither")), content.judged
    kept = {swap.target for _, swap in upheld(content.maps or ())}
    if found is not None:
        kept |= {swap.instead for reader in found.readers for swap in kept_swaps(reader)}
        for phrase in phrases:
            enough, off = hands(found, phrase, side, content.minimum_n)
            if enough and 2 * len(off) <= len(enough):
                kept.add(phrase)
    free = [phrase for phrase in phrases if phrase not in kept]
    scale = [
        words(f"decisions.{step}", phrases=_named(of, words))
        for step, kind in steps
        if (of := [phrase for phrase in free if phrase in terms(content, kind)])
    ]
    if not scale:
        return words("decisions.choose_two")
    return words("decisions.choose", scale=words("decisions.choices").join(scale))


def distances(swap: Suggestion) -> tuple[float, float]:
    """How far its statements lie from CT as they are, and written as the other word."""
    return abs(swap.observed - swap.expected), abs(swap.observed - swap.target_expected)


def nearer(swap: Suggestion) -> float:
    """Give how much nearer to CT a swap brings all statements of it together."""
    return float(swap.n * np.subtract(*distances(swap)))


def in_hands(found: DepartmentProfile, phrase: str, minimum: int) -> list[PhraseRate]:
    """Give a word's rates in the hands of those who wrote it often enough."""
    rates = (rate for reader in found.readers for rate in reader.phrases)
    return [rate for rate in rates if rate.phrase == phrase and rate.n >= minimum]


def hands(
    found: DepartmentProfile, phrase: str, side: Side, minimum: int
) -> tuple[list[ReaderProfile], list[ReaderProfile]]:
    """Give who wrote a word often enough, and in whose hands it is off as in the department's."""
    wrote = ((r, p) for r in found.readers for p in r.phrases if p.phrase == phrase)
    enough = [(reader, rate) for reader, rate in wrote if rate.n >= minimum]
    return [r for r, _ in enough], [r for r, rate in enough if off_with(r, rate) == side]


def several(readers: int) -> float:
    """Give how many of some readers are several."""
    return max(_LEAST_READERS, _LEAST_SHARE * readers)


def _of_several(content: CommitteeContent, whole: GroupResult, phrase: str, side: Side) -> bool:
    """Say whether a word is off in several hands; where too few can be judged, if it is no one's.

    Of one reader's word there is nothing to decide for all.
    """
    if content.judged is None:
        return True
    enough, off = hands(content.judged, phrase, side, content.minimum_n)
    if len(enough) >= several(len(content.judged.readers)):
        return len(off) >= several(len(enough))
    most = max((p.n for p in in_hands(content.judged, phrase, content.minimum_n)), default=0.0)
    return most <= MUCH * float(whole.phrases.n[whole.phrases.phrases.index(phrase)])


def one_hand(content: CommitteeContent, words: Strings) -> list[str]:
    """Say of the heaviest word off in all hands together by one reader that it lies there."""
    whole, found, said = content.department, content.judged, dict[float, str]()
    if isinstance(whole, SuppressedCell) or found is None:
        return []
    adds, least = _adds(whole), _WORTH * whole.phrase_error.value
    for row in phrase_rows(whole.phrases, minimum_n=content.minimum_n):
        side = missed(row) if adds[row.phrase] >= least else None
        enough, off = hands(found, row.phrase, side, content.minimum_n) if side else ([], [])
        if side is None or len(off) != 1 or _of_several(content, whole, row.phrase, side):
            continue
        (own,) = (rate for rate in off[0].phrases if rate.phrase == row.phrase)
        shown, others = {"meaning": percent(row.expected), "rate": percent(row.observed)}, ""
        if len(enough) > content.minimum_readers:
            rest = (row.n * row.observed - own.n * own.observed) / max(row.n - own.n, 1.0)
            others = words("decisions.one_hand_others", rate=percent(min(max(rest, 0.0), 1.0)))
        text = words("decisions.one_hand", phrase=row.phrase, others=others, **shown)
        said[adds[row.phrase]] = text
    return [said[max(said)]] if said else []


def off_with(reader: ReaderProfile, word: PhraseRate) -> Side | None:
    """Say on which side CT lies of a word that is off in a reader's hands.

    It is off where the reader's own chart marks every row of it alike, and the interval of its
    rate in all findings misses the meaning.
    """
    marked = {side for rate, side in hedges_in_parts(reader) if rate.phrase == word.phrase}
    return marked.pop() if len(marked) == 1 and not reaches(word) else None


def discouraged(content: CommitteeContent, words: Strings) -> list[str]:
    """Put to the committee the word whose discouragement holds back most words' swaps, if several.

    A word counts once, whatever the findings, and only where it is off in several hands.
    """
    whole = content.department
    if isinstance(whole, SuppressedCell):
        return []
    means = dict(zip(whole.phrases.phrases, whole.phrases.expected.tolist(), strict=True))
    held: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for each in (each for part in content.maps or () for each in part.advice.suppressed):
        if each.reason == "forbidden" and each.target in means and each.source in means:
            side = side_of(means[each.target], means[each.source])
            if _of_several(content, whole, each.source, side):
                held[each.target][each.source] = None
    word = max(held, key=lambda target: (len(held[target]), target), default=None)
    if word is None or len(held[word]) < _HELD_BACK:
        return []
    sources = _named(tuple(held[word]), words)
    said = [words("decisions.discouraged", phrase=word, n=len(held[word]), sources=sources)]
    if (rate := float(whole.phrases.observed[whole.phrases.phrases.index(word)])) == rate:
        shown = {"rate": percent(rate), "meaning": percent(means[word])}
        said.append(words("decisions.discouraged_rate", phrase=word, **shown))
    return [" ".join([*said, words("decisions.discouraged_effect")])]


def terms(content: CommitteeContent, kind: str = "recommended") -> Scale:
    """Give the phrases that the institution recommends, or discourages, with what they mean."""
    whole, use = content.department, content.scale_use
    if isinstance(whole, SuppressedCell) or use is None:
        return {}
    means = dict(zip(whole.phrases.phrases, whole.phrases.expected.tolist(), strict=True))
    named = {phrase for phrase, _, of in use.terms if of == kind}
    return {phrase: means[phrase] for phrase in means if phrase in named}


def scale_gap(content: CommitteeContent, words: Strings) -> list[str]:
    """Put to the committee the gap of its scale in which most readers' words lie without a swap."""
    scale, found = sorted(terms(content).items(), key=itemgetter(1)), content.judged
    held: defaultdict[int, set[str]] = defaultdict(set)
    for reader in found.readers if found else ():
        swapped = {swap.phrase for swap in kept_swaps(reader)}
        for word in (w for w in reader.phrases if w.phrase not in swapped and off_with(reader, w)):
            near = min((abs(word.rate.value - says) for _, says in scale), default=0.0)
            k = bisect(scale, word.rate.value, key=itemgetter(1))
            if near >= _FAR and 0 < k < len(scale):
                held[k].add(reader.reader)
    k = max(held, key=lambda at: (len(held[at]), at), default=0)
    if len(held[k]) < _FEW or found is None:
        return []
    (low, least), (high, most) = scale[k - 1 : k + 1]
    shown = {"low": low, "least": percent(least), "high": high, "most": percent(most)}
    said = words("decisions.gap", n=len(held[k]), of=len(found.readers), **shown)
    others = terms(content, "discouraged").items()
    between = [phrase for phrase, says in others if least + _FAR <= says <= most - _FAR]
    fit = words("decisions.gap_fit", phrases=_named(between, words)) if between else ""
    return [f"{said}{fit} {words('decisions.gap_effect')}"]


def _adds(whole: GroupResult) -> dict[str, float]:
    return dict(zip(whole.phrases.phrases, added(whole).tolist(), strict=True))


def carrying(
    content: CommitteeContent, whole: GroupResult, side: Side, besides: Collection[str]
) -> dict[str, float]:
    """Give the heaviest words of a side and what they weigh by what each adds to the distance.

    Who reads "unlikely" looks no further: what reassures falsely weighs twice, and stays where
    chance explains to which side all hedges lie. A word that is off in few hands is no decision.
    """
    adds, falsely = _adds(whole), LOW if side == "more" else 0.0
    least, most = _WORTH * whole.phrase_error.value, 1.0 if side_of_all(content) else falsely
    off = {
        row.phrase: adds[row.phrase] * (1.0 + (row.expected <= falsely))
        for row in phrase_rows(whole.phrases, minimum_n=content.minimum_n)
        if missed(row) == side and row.expected <= most and row.phrase not in besides
        if _of_several(content, whole, row.phrase, side)
        if adds[row.phrase] >= least and points(adds[row.phrase]) != points(0.0)
    }
    return {p: off[p] for p in sorted(off, key=lambda p: (-off[p], p))[:_NAMED]}


def _kept(phrases: Sequence[str], content: CommitteeContent, words: Strings) -> list[str]:
    """Say of the words for which none is taught in all findings why not, each reason once."""
    whole = [part for part in content.maps or () if part.pathology is None]
    silent = {
        each.source: words(f"maps.why.{each.reason}", target=each.target)
        for part in whole
        for each in part.advice.suppressed
    }
    held_out = (swap for part in whole for swap, _ in doubted(part, words))
    silent |= {each.source: words("decisions.uncertain", target=each.target) for each in held_out}
    swapped = {swap.source for _, swap in upheld(whole)}
    own = [phrase for phrase in phrases if phrase in swapped]
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for phrase in phrases:
        if phrase in silent:
            alike[silent[phrase]].append(phrase)
    kept = [
        words("decisions.kept", phrases=_named(of, words), why=why) for why, of in alike.items()
    ]
    return [*kept, words("decisions.own_pages", phrases=_named(own, words))] if own else kept


def _named(phrases: Sequence[str], words: Strings) -> str:
    return _and([words("decisions.word", phrase=each) for each in phrases], words)


def _and(parts: Sequence[str], words: Strings) -> str:
    *before, last = parts
    return words("verdict.shared.and").join([", ".join(before), last] if before else [last])
