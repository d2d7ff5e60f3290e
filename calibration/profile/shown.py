"""Limit a stated pattern to what the printed rates of words show.

A pattern (`pattern`) is judged on a line through all words, but what a reader sees on the page are
single words and their rates. For the words above even odds ("strong") and for the others ("weak") a
pattern claims a side: ``more`` (CT shows the finding more often than the words say) or ``less``. A
claim is shown if the interval of one of these words, or of all of them together, lies on that side
by a visible amount; what the survey leaves open of a meaning counts for neither side. A slope
claims opposite sides; if only one is shown, only that one is stated. If none is shown, the page's
own figures would leave the pattern open, so the verdict becomes "too few".

Nor can figures show more than CT says. Where CT itself hedges of more than half of a reader's
hedges, what it shows is mostly a chance that another word gives: X-ray words and CT words then lie
apart, and which of the two are off is not known. Nothing is stated, advised or called a habit, and
such a reader is left out of the fit: of colleagues it tells as little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal, TypeAlias

import numpy as np
from scipy.special import logit

from calibration.arrays import BoolArray, FloatArray
from calibration.profile.order import NOWHERE, Certainties, Own, counted, lineless
from calibration.profile.pattern import rounded_up
from calibration.profile.results import Habit, Part, PhraseRate, ReaderProfile, Swap, Verdict

Rated: TypeAlias = PhraseRate | Habit | Swap
"""Anything with a phrase, its rate and its meaning."""
Side: TypeAlias = Literal["more", "less"]
Sides: TypeAlias = tuple[Side | None, Side | None]
"""Sides claimed for words above even odds and for those below."""
VISIBLE: Final = 0.02
"""Difference of rates and meanings below which the printed figures would not show it."""
LEAST_SHOWN: Final = 20
"""Uses below which no word shows a pattern: no page prints fewer."""
_CLAIMED: Final[dict[frozenset[str], Sides]] = {
    frozenset({"undercalls"}): ("more", "more"),
    frozenset({"overcalls"}): ("less", "less"),
    frozenset({"too sure"}): ("less", "more"),
    frozenset({"too cautious"}): ("more", "less"),
    frozenset({"undercalls", "too cautious"}): ("more", None),
    frozenset({"undercalls", "too sure"}): (None, "more"),
    frozenset({"overcalls", "too sure"}): ("less", None),
    frozenset({"overcalls", "too cautious"}): (None, "less"),
}
_WHOLE = 0.005
_MOST, _EDGE = 64.0, 1e-4


def claims(parts: tuple[Part, ...]) -> Sides:
    """Give the sides that parts claim for strong words and for weak; None where they pull apart."""
    return _CLAIMED.get(frozenset(parts), (None, None))


def reaches(word: Rated) -> bool:
    """Whether the interval of a rate holds what the phrase means, as far as its survey knows it."""
    doubt = doubt_of(word)
    return word.rate.low - doubt <= word.meaning <= word.rate.high + doubt


def doubt_of(word: Rated) -> float:
    """Give how far the survey leaves a meaning open; of a habit or swap it counts elsewhere."""
    return word.doubt if isinstance(word, PhraseRate) else 0.0


def along(word: Rated, side: Side | None) -> float:
    """Give how far CT lies off a word to a side."""
    off = word.rate.value - word.meaning
    return off if side == "more" else -off


def shows(word: Rated, side: Side) -> bool:
    """Whether CT surely and visibly lies on a side of a word, or of several taken together.

    The interval misses the meaning, and what its survey leaves open, by what whole per cents can
    show.
    """
    clear = word.rate.low - word.meaning if side == "more" else word.meaning - word.rate.high
    return clear - doubt_of(word) >= _WHOLE and along(word, side) >= VISIBLE


def stated(reader: ReaderProfile) -> tuple[Part, ...]:
    """Give the parts of a pattern as far as the words show them.

    A slope is said of one side or of both. Where a shift and a slope claim one side, and all words
    of the other taken together lie as the shift says, the shift alone holds of every word.
    """
    verdict = reader.pattern.verdict
    if verdict.stated is not None:
        return verdict.stated
    strong, weak = claims(verdict.parts)
    if strong == weak:
        return verdict.parts
    if None in {strong, weak}:
        others = ((strong, "weak"), (weak, "strong"))
        sides = [
            (side, each) for side, name in others for each in reader.sides if each.phrase == name
        ]
        both = any(side and shows(each, side) for side, each in sides)
        return verdict.parts[:1] if both and not verdict.question else verdict.parts
    shown = [side for side, words in _claimed_words(reader) if any(shows(w, side) for w in words)]
    if len(shown) != 1:
        return verdict.parts
    return ("undercalls" if shown[0] == "more" else "overcalls", *verdict.parts)


def as_shown(reader: ReaderProfile) -> ReaderProfile:
    """Take back a pattern of which no side is shown: it is too early to tell."""
    pattern, claimed = reader.pattern, [*_claimed_words(reader)]
    if not claimed or any(shows(word, side) for side, words in claimed for word in words):
        return reader
    verdict = replace(_taken_back(pattern.verdict), more_exams=_more(reader))
    return replace(reader, pattern=replace(pattern, verdict=verdict))


def with_doubted(
    readers: Sequence[ReaderProfile], doubted: BoolArray, own: Own, atoms: Certainties
) -> tuple[ReaderProfile, ...]:
    """Give readers of whose hedges CT mostly hedges (R,) their counts alone, and no line.

    Which of the words of both is right nobody knows, so they stand in nobody else's figures.
    """
    told = list(readers)
    for r in np.flatnonzero(doubted).tolist():
        pattern = lineless(readers[r].pattern, NOWHERE)
        lone = replace(readers[r], pattern=pattern, large=own.large(r))
        told[r] = counted(lone, r, own, atoms)
    return tuple(told)


def as_standard(readers: Sequence[ReaderProfile], plain: FloatArray) -> tuple[ReaderProfile, ...]:
    """Take back what needs a sure standard of readers of whose hedges CT mostly hedges.

    ``plain`` (R,) are the hedges of which CT says plainly what is there.
    """
    told = [replace(each, plain=n) for each, n in zip(readers, plain.tolist(), strict=True)]
    return tuple(map(_sure, told))


def _sure(reader: ReaderProfile) -> ReaderProfile:
    """Leave a reader as he is where CT is plain, or all labels are one, of which more is said."""
    pattern = reader.pattern
    if 2.0 * reader.plain >= reader.hedges or pattern.verdict.untold == "one label":
        return reader
    verdict = replace(_taken_back(pattern.verdict), shared=(), explained=(), untold="no standard")
    return replace(
        reader, pattern=replace(pattern, verdict=verdict), habits=(), advice=(), considered=(),
        rest=(), absent=replace(reader.absent, state="no standard"),
        present=replace(reader.present, state="no standard"),
    )  # fmt: skip


def _taken_back(verdict: Verdict) -> Verdict:
    return replace(
        verdict, state="too few", parts=(), question=False, slight=None, chance=float("nan"),
        sound=float("nan"), carried=None, more_exams=None, stated=None, beside=(), sites=None,
        lately=None,
    )  # fmt: skip


def _claimed_words(reader: ReaderProfile) -> Iterator[tuple[Side, list[PhraseRate]]]:
    """Give each side that a pattern claims with its words of some use, and all of them together."""
    for side, name in zip(claims(reader.pattern.verdict.parts), ("strong", "weak"), strict=True):
        used = (p for p in reader.phrases if p.n >= LEAST_SHOWN)
        words = [p for p in used if (p.meaning > 0.5) == (name == "strong")]
        if side:
            yield side, [*words, *(each for each in reader.sides if each.phrase == name)]


def _more(reader: ReaderProfile) -> int | None:
    """Exams needed until the words of a side show it, if their rate stays where it is."""
    factors = []
    for side, words in _claimed_words(reader):
        for whole in words[-1:]:
            edge = whole.meaning + (whole.doubt if side == "more" else -whole.doubt)
            each = whole.rate.low, whole.rate.value, whole.rate.high, edge
            low, rate, high, meaning = logit(np.clip(each, _EDGE, 1.0 - _EDGE))
            if along(whole, side) >= VISIBLE + whole.doubt:
                half = rate - low if side == "more" else high - rate
                factors.append((half / abs(rate - meaning)) ** 2)
    factor = min(factors, default=_MOST)
    return rounded_up((factor - 1.0) * reader.exams) if factor < _MOST else None
