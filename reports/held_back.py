"""Why a word that is off has no swap: what holds back the recommended word that lies nearest.

Of the words that the page speaks of first it is a sentence each (`between`); of all others that are
marked, one for every reason with the words that it holds of (`grouped`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from calibration.profile import PhraseRate, ReaderProfile, Swap
from calibration.profile.results import Cell
from calibration.profile.settings import ProfileSettings
from calibration.profile.shown import VISIBLE, Rated
from calibration.profile.swaps import reassures
from reports.numbers import count, percent
from reports.strings import Strings
from reports.swaps import LEAST_USES, Scale, about, kept_swaps, passed, side_of, spoiled

_RULES: Final = ProfileSettings()
_TENTH, _EVEN = 0.1, 0.5
_HALFWAY: Final = 0.02
_EDGE: Final = 1e-6
NO_SCALE: Final[Scale] = MappingProxyType({})
# Reasons that are one where several words are listed, in the order in which they are said.
_GROUPS: Final = MappingProxyType({
    "unsure": "unsure", "doubted": "doubted", "few_uses": "few_uses", "most": "most",
    "otherwise": "otherwise", "half": "half", "open": "open", "sites": "sites",
    "later": "later",
    "open_finding": "order", "order_less": "order", "order_more": "order",
    "spoils": "spoils", "reassures": "reassures", "nearest": "nearest",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Reason:
    """What holds a swap back, the nearest word with what it means, and what else is printed."""

    key: str
    word: str = ""
    other: float = float("nan")
    more: tuple[tuple[str, str], ...] = ()


def between(
    word: Rated, profile: ReaderProfile, words: Strings, scale: Scale, discouraged: Scale
) -> str:
    """Say what holds back the word that lies nearest, or that no recommended one is nearer.

    Where a ``discouraged`` word lies nearer still, the page says that it is passed over.
    """
    reason = _reason(word, profile, words, scale)
    said = words(f"verdict.stay.{reason.key}", **_shown(word, reason, words))
    shown = _passed_over(word, reason, discouraged)
    return f"{said} {words('verdict.stay.discouraged', **shown)}" if shown else said


def grouped(
    found: Sequence[Rated], profile: ReaderProfile, words: Strings, scale: Scale, discouraged: Scale
) -> tuple[str, ...]:
    """Say of several words why they have no swap: a sentence a reason, with the words it is of."""
    of: dict[str, list[str]] = {name: [] for name in (*_GROUPS.values(), "discouraged")}
    for each in found:
        reason = _reason(each, profile, words, scale)
        if group := _GROUPS.get(reason.key):
            key = group if group in {"unsure", "doubted", "nearest"} else "word"
            shown = _shown(each, reason, words)
            of[group].append(words(f"verdict.held.each.{key}", **shown))
        if over := _passed_over(each, reason, discouraged):
            shown = over | {"phrase": each.phrase, "where": where(each, words)}
            of["discouraged"].append(words("verdict.held.each.discouraged", **shown))
    needed, least = tenths(_RULES.swap_probability), count(LEAST_USES)
    return tuple(
        words(f"verdict.held.{group}", words="; ".join(each), needed=needed, least=least)
        for group, each in of.items()
        if each
    )


def _shown(word: Rated, reason: _Reason, words: Strings) -> dict[str, str]:
    """Print a word with its rate, and what holds its swap back."""
    return {
        "phrase": word.phrase,
        "where": where(word, words),
        "rate": about(word.rate.value, words),
        "statements": words.several("unit.statements", round(word.n)),
        "word": reason.word,
        "other": percent(reason.other),
        **dict(reason.more),
    }


def _passed_over(word: Rated, reason: _Reason, discouraged: Scale) -> dict[str, str]:
    """Print a discouraged word that lies visibly nearer to the rate than this and the one named."""
    rate, says = word.rate.value, word.meaning
    own = min(abs(says - rate), abs(reason.other - rate))  # the first where no other is named
    away = {abs(discouraged[w] - rate): w for w in discouraged}
    safe = (gap for gap in away if not reassures(discouraged[away[gap]], says, rate))
    least = min(safe, default=own)
    if least > own - VISIBLE:
        return {}
    return {"word": away[least], "meaning": percent(discouraged[away[least]])}


def where(word: Rated | Cell, words: Strings) -> str:
    """Name the finding that a word is of, if one."""
    return words("verdict.stay.finding", finding=word.finding) if word.finding else ""


def all_share(found: Sequence[Rated], profile: ReaderProfile, words: Strings, scale: Scale) -> bool:
    """Whether what keeps these words' swaps back is that all readers share the difference.

    A word to which no recommended one lies nearer says nothing of it.
    """
    keys = {_reason(each, profile, words, scale).key for each in found} - {"nearest", "half"}
    return keys == {"otherwise"}


def tenths(probability: float) -> str:
    """Print a chance in tenths, rounded down so that none seems to reach what it does not."""
    return count(math.floor(10.0 * probability + _EDGE))


def _reason(word: Rated, profile: ReaderProfile, words: Strings, scale: Scale) -> _Reason:
    """Find what holds a swap back.

    The word named is one on the side that CT shows. Where the printed rate or interval speaks for
    it and its chance does not, another reading holds it back (the department's use of words, what
    it shares with CT), and the page says so, beside the chance or instead of it. One that may not
    be nearer at each of the reader's sites, or of late, is held back by that, one that would be
    turned round with another word of the reader's by it.
    """
    if not scale:
        return _Reason("plain")
    key = (word.phrase, word.finding)
    near = next((s for s in profile.considered if (s.phrase, s.finding) == key), None)
    if near and near.probability < _RULES.swap_probability:
        return _unsure(word, near, words)
    if near and near.apart:
        return _Reason(near.apart, near.instead, near.instead_meaning)
    swaps = kept_swaps(profile)
    if near and (own := passed(near, swaps, profile)):
        return _out_of_order(near, own, words)
    if near and (left := spoiled([*swaps, near], profile)):
        more = (("own_rate", about(left[0].rate.value, words)), ("after", about(left[1], words)))
        return _Reason("spoils", near.instead, near.instead_meaning, more)
    parted = not word.finding and any(swap.phrase == word.phrase for swap in swaps)
    full = near is not None and len(swaps) >= _RULES.most_swaps
    return _by_scale(word, scale, held="open" if parted else "most" if full else "")


def _unsure(word: Rated, near: Swap, words: Strings) -> _Reason:
    chance = words("verdict.stay.least") if near.probability < _TENTH else tenths(near.probability)
    more = (("chance", chance), ("needed", tenths(_RULES.swap_probability)))
    gap = abs(word.meaning - word.rate.value) - abs(near.instead_meaning - word.rate.value)
    improbable = "otherwise" if gap > 0.0 else "nearest"
    halved = near.rate.low <= (near.meaning + near.instead_meaning) / 2.0 <= near.rate.high
    least = _TENTH if halved and gap > 0.0 else _EVEN
    shown = gap > 0.0 and (near.probability < _EVEN or not halved)
    key = improbable if near.probability < least else "doubted" if shown else "unsure"
    key = "half" if abs(gap) < _HALFWAY else key
    return _Reason(key, near.instead, near.instead_meaning, more)


def _out_of_order(near: Swap, own: PhraseRate, words: Strings) -> _Reason:
    more = (("own", own.phrase), ("own_rate", about(own.rate.value, words)))
    key = f"order_{side_of(near.instead_meaning, near.meaning)}"
    return _Reason(key, near.instead, near.instead_meaning, more)


def _by_scale(word: Rated, scale: Scale, *, held: str) -> _Reason:
    """Give the nearest word of the scale, whether nearer or not; ``held`` back is a nearer one.

    It lies on the side that CT shows, where one does.
    """
    rate, meaning = word.rate.value, word.meaning
    others = [other for other in scale if other != word.phrase]
    beside = [other for other in others if (scale[other] > meaning) == (rate > meaning)] or others
    if not beside:
        return _Reason("plain")

    own, away = abs(meaning - rate), {other: abs(scale[other] - rate) for other in beside}
    first = min(beside, key=away.__getitem__)
    free = [other for other in beside if not reassures(scale[other], meaning, rate)]
    nearest = min(free, key=away.__getitem__, default="")
    if nearest and abs(own - away[nearest]) < _HALFWAY:
        return _Reason("half", nearest, scale[nearest])
    if nearest and away[nearest] < own:
        held = held or ("open_finding" if word.finding else "open")
        held = "few_uses" if word.n < LEAST_USES else held
        return _Reason(held, nearest, scale[nearest], (("least", count(LEAST_USES)),))
    key = "reassures" if first != nearest and away[first] < own + _HALFWAY else "nearest"
    return _Reason(key, first, scale[first])
