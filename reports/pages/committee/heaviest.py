"""Which words carry what hedges promise too much or too little, and why they stay.

A word carries its share of statements times how far its rate lies from its meaning. Only those
count that lie to the side to which all hedges lie together, beyond what their interval and the
survey's error leave open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np

from reports.content import SuppressedCell
from reports.numbers import percent, points
from reports.review_content import CommitteeContent
from reports.strings import Strings

_NAMED: Final = 3
_CERTAIN: Final = ("absent", "present")
_HELD_BACK: Final = 3
"""Swaps that a discouraged word must hold back before it is put to the committee."""


def side_of_all(content: CommitteeContent) -> str:
    """Say to which side the hedges of all lie: "less" or "more", empty where chance explains it."""
    ratio = content.judged.large.ratio if content.judged else None
    if ratio is None or not (ratio.high < 1.0 or ratio.low > 1.0):
        return ""
    return "less" if ratio.high < 1.0 else "more"


def heaviest(content: CommitteeContent, words: Strings) -> list[str]:
    """Name the words that carry most of it, what they weigh, and why no other word is advised."""
    side, whole, carried = side_of_all(content), content.department, carrying(content)
    if not carried or isinstance(whole, SuppressedCell):
        return []
    gap = whole.phrase_error.value
    after = max(gap - sum(carried.values()), 0.0)
    shares = _and([points(each) for each in carried.values()], words)
    said = [
        words(f"decisions.heaviest_{side}", phrases=_named(tuple(carried), words)),
        words("decisions.carry", gap=points(gap), shares=shares),
        *_kept(tuple(carried), content, words),
        words("decisions.owner"),
        words("decisions.carry_effect", gap=points(gap), after=points(after)),
    ]
    return [" ".join(said)]


def discouraged(content: CommitteeContent, words: Strings) -> list[str]:
    """Put to the committee the word whose discouragement holds back most swaps, if several."""
    held: defaultdict[str, list[str]] = defaultdict(list)
    for part in content.maps or ():
        for each in part.advice.suppressed:
            if each.reason == "forbidden" and each.target:
                held[each.target].append(each.source)
    word = max(held, key=lambda target: (len(held[target]), target), default=None)
    if word is None or len(held[word]) < _HELD_BACK:
        return []
    sources = _named(tuple(dict.fromkeys(held[word])), words)
    said = words("decisions.discouraged", phrase=word, n=len(held[word]), sources=sources)
    return [f"{said}{_own_rate(word, content, words)} {words('decisions.discouraged_effect')}"]


def _own_rate(word: str, content: CommitteeContent, words: Strings) -> str:
    whole = content.department
    if isinstance(whole, SuppressedCell) or word not in whole.phrases.phrases:
        return ""
    k = whole.phrases.phrases.index(word)
    rate, meaning = float(whole.phrases.observed[k]), float(whole.phrases.expected[k])
    if rate != rate:
        return ""
    shown = {"rate": percent(rate), "meaning": percent(meaning)}
    return f" {words('decisions.discouraged_rate', phrase=word, **shown)}"


def carrying(content: CommitteeContent) -> dict[str, float]:
    """Give the heaviest words and what each adds to the department's distance, heaviest first."""
    side, whole = side_of_all(content), content.department
    if not side or isinstance(whole, SuppressedCell):
        return {}
    table = whole.phrases
    error = table.expected_error
    less, more = table.high < table.expected - error, table.low > table.expected + error
    off = less if side == "less" else more
    adds = np.where(off, table.n * np.abs(table.observed - table.expected), 0.0) / whole.n
    named = {
        table.phrases[k]: float(adds[k])
        for k in np.argsort(-adds, kind="stable").tolist()
        if table.phrases[k] not in _CERTAIN and points(float(adds[k])) != points(0.0)
    }
    return dict(list(named.items())[:_NAMED])


def _kept(phrases: Sequence[str], content: CommitteeContent, words: Strings) -> list[str]:
    """Say of the words for which none is advised in all findings why not, each reason once."""
    silent = {
        each.source: words(f"maps.why.{each.reason}", target=each.target)
        for part in content.maps or ()
        if part.pathology is None
        for each in part.advice.suppressed
    }
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for phrase in phrases:
        if phrase in silent:
            alike[silent[phrase]].append(phrase)
    return [
        words("decisions.kept", phrases=_named(of, words), why=why) for why, of in alike.items()
    ]


def _named(phrases: Sequence[str], words: Strings) -> str:
    return _and([words("decisions.word", phrase=each) for each in phrases], words)


def _and(parts: Sequence[str], words: Strings) -> str:
    *before, last = parts
    return words("verdict.shared.and").join([", ".join(before), last] if before else [last])
