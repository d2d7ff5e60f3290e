"""What there is to decide, at most three things, numbered for the minutes; nobody is named.

Where most hedges are of readers of whom CT itself mostly hedges, no word is decided on before there
is a sure standard. Else, in this order: what does not rise with CT, which a fault of pairing or
labels explains better than readers, and beside which no word is proposed where it is much of all
hedges; the words that carry what all hedges promise too much or too little; the one word to teach;
what holds of the readers taken together; a finding in which it holds of most of them; a discouraged
word that holds back many swaps, or a gap of the scale that does; what was missed or seen too often.
Measuring the instrument, where nobody has, is no decision of one meeting and stands below them. The
word to teach is of the swaps that the appendix lists as upheld on exams set aside, stands in
several readers' hands where their pages say so (or too few wrote it often enough to be judged one
by one), and lies in the department's outside the band of what readers take it to mean. No other
word is taught with it that CT does not bear out itself, or that most of these readers' pages do not
advise: there the old word is to be kept for what it says. "Absent" and "present" are named where
several readers' are contradicted by CT more often than others'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from calibration.phrase_calibration import PhraseCalibration
from calibration.profile import Coordinate, DepartmentProfile, Interval, Part, PhraseRate
from calibration.profile.rates import expected_distance
from calibration.profile.shared import PARTS
from calibration.substitution import Suggestion
from reports.content import SuppressedCell
from reports.drawing.layout import Prose, Section
from reports.drawing.style import BODY
from reports.figures.phrase_rows import missed, phrase_rows
from reports.numbers import decimal, interval, percent, percent_interval, points, signed
from reports.out_of_order import is_read, outweigh, unordered
from reports.pages.committee.heaviest import (
    MUCH,
    Department,
    discouraged,
    hands,
    hands_tell,
    heaviest,
    in_few_hands,
    in_hands,
    on_own_pages,
    scale_gap,
    several,
)
from reports.pages.committee.tables import distances, nearer, upheld
from reports.review_content import CommitteeContent
from reports.single_words import MANY_USES, by_finding
from reports.strings import Strings
from reports.swaps import kept_swaps, side_of

_MOST: Final = 3
# X-rays without a CT that it takes to follow up as many patients.
_FOLLOWED: Final = 200
# Hedges on a finding are further from CT than those on all others by this much at least.
_APART: Final = 0.05


def decisions(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Lay out what is proposed; of readers only where they were judged together."""
    found, proposed = content.profiles, list[str]()
    if content.few_readers:
        proposed = [words("decisions.pool", readers=content.minimum_readers)]
    elif content.standard != "plain":
        most = "_most" * (content.standard == "hedged")
        unread = _no_rise(found, words)[0] if found else []
        proposed = [*unread, words(f"decisions.standard{most}")]
    elif found is not None:
        proposed = _of_words(found, content, words)
    proposed += _audit(content, words)
    pieces = tuple(Prose(text, BODY, after=7.0) for text in proposed)
    return (Section(words("decisions.title"), pieces, room=60.0),) if pieces else ()


def _of_words(found: DepartmentProfile, content: CommitteeContent, words: Strings) -> list[str]:
    """Propose what is to be decided of words, numbered; then what is not, or not now."""
    unread, held = _no_rise(found, words)
    whole, by_word = content.department, None
    if not (held or isinstance(whole, SuppressedCell)):  # else no word stands for itself
        by_word = Department(content, found, whole)
    weighs, taught, scale = _by_word(by_word, words) if by_word else ([], [], [])
    asked = [*_common(found, content, words), *_findings(found, words)]
    proposed = [*unread, *weighs, *taught, *asked, *scale, *_contradicted(found, words)]
    numbered = enumerate(proposed[:_MOST], start=1)
    said = [text.replace("**", f"**{number}. ", 1) for number, text in numbered]
    said += _after(proposed[_MOST:], words)
    if not any(reader.hedges for reader in found.readers):
        said.append(words("decisions.no_hedges"))
    elif not (weighs or taught or held):
        said.append(words("decisions.none"))
    few = in_few_hands(by_word, words, full=len(proposed) >= _MOST) if by_word else []
    return said + few


def _by_word(of: Department, words: Strings) -> tuple[list[str], list[str], list[str]]:
    """Propose the words that weigh, the one to teach, and what is amiss with the scale."""
    swap = _best(of)
    weighs = heaviest(of, words, {swap.source} if swap else ())
    taught = [_teach(of, swap, words)] if swap else []
    return weighs, taught, discouraged(of, words) or scale_gap(of, words)


def _common(found: DepartmentProfile, content: CommitteeContent, words: Strings) -> list[str]:
    """Propose to look behind what holds of the readers taken together, if anything does."""
    what, cover = shared_pattern(found, words), content.coverage
    unseen = cover is None or cover.xrays - cover.paired >= _FOLLOWED
    key = "decisions.common" if unseen else "decisions.common_all"
    return [words(key, what=what)] if what else []


def _no_rise(found: DepartmentProfile, words: Strings) -> tuple[list[str], bool]:
    """Propose to check readers whose words do not rise; say whether words are held back for them.

    They are where these readers' hedges are much of all, in which no word stands for itself.
    """
    readers = found.readers
    whole = [reader for reader in readers if unordered(reader)]
    single = [reader for reader in readers if reader.aside and not unordered(reader)]
    names = sorted({words.name(each.finding or "") for r in single for each in r.aside})
    shown = {"of": len(readers), "findings": ", ".join(names)}
    if not whole:
        said = words("decisions.no_rise_single", n=len(single), **shown)
        return [said] * bool(single), False
    ways = [reader.aside[0].way for reader in whole]
    each = ((way, ways.count(way)) for way in ("falls", "mixed"))
    how = [words(f"decisions.no_rise_{way}", n=n) for way, n in each if n]
    how += [words("decisions.no_rise_aside", n=len(single), **shown)] if single else []
    held = outweigh(found)
    end = words("decisions.no_rise_held") if held else ""
    said = words("decisions.no_rise", n=len(whole), of=len(readers), how=" ".join(how), held=end)
    return [said.replace("  ", " ")], held


def _after(later: Sequence[str], words: Strings) -> list[str]:
    """Name, by their first words alone, the proposals that are too many for one meeting."""
    names = " ".join(text.split("**")[1] for text in later)
    return [words("decisions.later", names=names)] if later else []


def _audit(content: CommitteeContent, words: Strings) -> list[str]:
    """Name what nobody has measured of the instrument here; nothing where all is measured."""
    figures = content.instrument.figures if content.instrument else ()
    missing = [figure.name for figure in figures if figure.estimate is None]
    key = "decisions.audit_few" if content.few_readers else "decisions.audit"
    return [words(key, names=", ".join(missing))] if missing else []


def shared_pattern(found: DepartmentProfile, words: Strings) -> str:
    """Say what holds of the readers taken together, with its figure; empty where nothing does."""
    shared, what = found.shared, common(found.shared.seen, words)
    places = {"shift": coordinate(shared.shift, sign=True), "slope": coordinate(shared.slope)}
    by = [f"{words(f'readers.{name}')} {places[name]}" for name in coordinates_of(shared.seen)]
    held = {"shift": (shared.shift, 0.0), "slope": (shared.slope, 1.0)}
    ends = (held[name] for name in coordinates_of(shared.seen))
    sure = all(round(at.high, 2) < even or round(at.low, 2) > even for at, even in ends)
    together = "taken_together" if sure else "taken_together_open"
    return words(f"committee.{together}", by=", ".join(by), what=what) if what else ""


def common(parts: Sequence[Part], words: Strings) -> str:
    """Say of parts, as of all readers' hedges, what they are; empty of none."""
    each = [words(f"committee.common.{part.replace(' ', '_')}") for part in parts]
    return words("verdict.shared.and").join(each)


def coordinate(value: Coordinate | Interval, *, sign: bool = False) -> str:
    """Print a shift, with its sign, or a slope, and its interval."""
    middle = signed(value.value, 2) if sign else decimal(value.value, 2)
    return f"{middle} ({interval(value.low, value.high, 2)})"


def coordinates_of(parts: Sequence[Part]) -> tuple[str, ...]:
    """Name the coordinates that parts are about, of shift and slope."""
    about = {"shift": PARTS[:2], "slope": PARTS[2:]}
    return tuple(name for name, of in about.items() if not {*of}.isdisjoint(parts))


def _findings(found: DepartmentProfile, words: Strings) -> list[str]:
    """Propose to look at findings whose hedges are off to one side in half of the hands or more.

    The hands are those that hold enough of them; what holds of all findings alike is none of these.
    """
    read, said = [reader for reader in found.readers if is_read(reader)], []
    every = [p for reader in read for p in reader.findings]
    for name in sorted({p.phrase for p in every}):
        here, rest = ([p for p in every if (p.phrase == name) == own] for own in (True, False))
        off = [p for reader in read for p in by_finding(reader) if p.phrase == name]
        sides = {side_of(p.rate.value, p.meaning) for p in off}
        enough = sum(p.n >= MANY_USES for p in here)
        if not rest or len(sides) != 1 or len(off) < max(several(enough), enough / 2):
            continue
        (rate, meaning), (others, told) = _pooled(here), _pooled(rest)
        further = (rate - meaning) - (others - told)
        if abs(further) < _APART or (further > 0) != (rate > meaning):
            continue
        shown = {"rate": rate, "meaning": meaning, "others": others, "told": told}
        at = {"finding": words.name(name), "n": len(off), "of": enough}
        at |= {key: percent(value) for key, value in shown.items()}
        at["statements"] = words.several("unit.statements", round(sum(p.n for p in here)))
        said.append(words(f"decisions.finding_{sides.pop()}", **at))
    return said


def _pooled(rates: Sequence[PhraseRate]) -> tuple[float, float]:
    """Give rate and meaning over all uses of some readers."""
    n, rate, meaning = np.array([(p.n, p.rate.value, p.meaning) for p in rates]).reshape(-1, 3).T
    return float(n @ rate / n.sum()), float(n @ meaning / n.sum())


def _contradicted(found: DepartmentProfile, words: Strings) -> list[str]:
    """Propose to look at cases where several readers' "absent" or "present" is contradicted."""
    readers = found.readers
    often = {
        name: n
        for name in ("absent", "present")
        if (n := sum(getattr(reader, name).state == "more often" for reader in readers))
        >= several(len(readers))
    }
    if not often:
        return []
    of = {"readers": len(readers)}
    said = [words("decisions.contradicted", word=w, n=n, **of) for w, n in often.items()]
    return [" ".join([words(f"decisions.{'_'.join(often)}"), *said, words("decisions.look")])]


def _teach(of: Department, swap: Suggestion, words: Strings) -> str:
    """Propose the word whose swap brings most statements nearer to CT."""
    side, minimum = side_of(swap.observed, swap.expected), of.content.minimum_n
    enough, off = hands(of.found, swap.source, side, minimum)
    swaps = (each for reader in off for each in kept_swaps(reader) if not each.finding)
    own = [each.instead == swap.target for each in swaps if each.phrase == swap.source]
    reserve = _reserve(swap, own, of, words)
    title = f"decisions.{f'reserve_{side}' if reserve else 'teach'}"
    few = "few" if enough else "nobody"
    held = f"decisions.{side if len(off) >= several(len(enough)) else few}"
    shown = {"rate": percent(swap.observed), "meaning": percent(swap.expected)}
    shown["interval"] = percent_interval(swap.low, swap.high, swap.observed)
    shown["statements"] = words.several("unit.statements", round(swap.n))
    said = (
        words(title, phrase=swap.source, instead=swap.target),
        words(held, readers=len(enough), n=len(off), all=len(of.found.readers)),
        words("decisions.evidence", **shown),
        *(reserve or _effect(swap, own, in_hands(of.found, swap.source, minimum), words)),
    )
    return " ".join(said)


def _reserve(swap: Suggestion, own: Sequence[bool], of: Department, words: Strings) -> list[str]:
    """Say why no other word is taught with it and what there is to gain; nothing where one is."""
    side = side_of(swap.observed, swap.expected)
    if swap.target in (off := _off(of)):
        rate, meaning = map(percent, off[swap.target])
        why = words("decisions.target_off", instead=swap.target, rate=rate, meaning=meaning)
    elif 2 * sum(own) < len(own):
        other = len(own) - sum(own)
        why = words("decisions.target_other", instead=swap.target, told=len(own), other=other)
    else:
        return []
    return [why, words("decisions.owner"), on_own_pages(of.found, [swap.source], side, words)]


def _effect(
    swap: Suggestion, own: Sequence[bool], rates: Sequence[PhraseRate], words: Strings
) -> list[str]:
    """Say what these readers' own pages advise, and what the swap would change at most.

    Their distances are added up reader by reader: one who lies above CT makes up for none below.
    """
    before, after = distances(swap)
    ends = sorted(abs(end - swap.target_expected) for end in (swap.low, swap.high))
    low, high = 0.0 if swap.low <= swap.target_expected <= swap.high else ends[0], ends[1]
    if rates:
        before, after, doubt = _by_reader(rates, swap)
        low, high = max(after - doubt, 0.0), after + doubt
    shown = {"low": points(low), "high": points(high)}
    shown |= {"before": points(before), "after": points(after)}
    pages = [words("decisions.pages", same=sum(own), other=len(own) - sum(own))] if own else []
    effect = words("decisions.effect", instead=swap.target, **shown)
    return [*pages, words("decisions.owner"), effect]


def _by_reader(rates: Sequence[PhraseRate], swap: Suggestion) -> tuple[float, float, float]:
    """Give the mean distance of readers' rates from a word and from its swap, and its doubt."""
    n, half, before, after = np.array(
        [
            (
                p.n,
                (p.rate.high - p.rate.low) / 2.0,
                expected_distance(p.rate, p.meaning),
                expected_distance(p.rate, swap.target_expected),
            )
            for p in rates
        ]
    ).T
    doubt = np.hypot.reduce(n * half) / n.sum()
    return float(n @ before / n.sum()), float(n @ after / n.sum()), float(doubt)


def _off(of: Department) -> dict[str, tuple[float, float]]:
    """Give rate and meaning of the words that CT does not bear out in the department's hands.

    Those are the words with an upheld swap of their own, those outside their band, and those that
    the chart marks.
    """
    content, table = of.content, of.whole.phrases
    named = {swap.source for finding, swap in upheld(content.maps or ()) if finding is None}
    rows = phrase_rows(table, minimum_n=content.minimum_n)
    named |= {row.phrase for row in rows if missed(row)}
    rates = zip(table.observed.tolist(), table.expected.tolist(), strict=True)
    return {
        phrase: pair
        for phrase, pair in zip(table.phrases, rates, strict=True)
        if phrase in named or _unusual(phrase, table)
    }


def _best(of: Department) -> Suggestion | None:
    """Choose the swap to teach, if there is one: first of those whose new word holds itself.

    Its interval is that of the phrase chart, which allows for patients who come back.
    """
    off, table = _off(of), of.whole.phrases
    limits = np.column_stack([table.low, table.high]).tolist()
    ends = dict(zip(table.phrases, limits, strict=True))
    fit = (
        replace(swap, low=ends[swap.source][0], high=ends[swap.source][1])
        for finding, swap in upheld(of.content.maps or ())
        if finding is None and _unusual(swap.source, table) and _stands(of, swap)
    )
    gains = {s: nearer(s) for s in fit}
    return max(gains, key=lambda s: (s.target not in off, gains[s], s.source), default=None)


def _stands(of: Department, swap: Suggestion) -> bool:
    """Say whether a word is off in most hands that hold it, or too few of them can be judged.

    Of one reader's own word, or a few readers', the others would be led away from CT by what is
    taught to all; the new word has to lie surely nearer, too, reader by reader.
    """
    side, minimum = side_of(swap.observed, swap.expected), of.content.minimum_n
    enough, off = hands(of.found, swap.source, side, minimum)
    rates = in_hands(of.found, swap.source, minimum)
    if max((rate.n for rate in rates), default=0.0) > MUCH * swap.n:
        return False
    if not hands_tell(len(enough), len(of.found.readers), of.content):
        return True
    if len(off) < max(several(len(enough)), len(enough) / 2):
        return False
    before, after, doubt = _by_reader(rates, swap)
    return after + doubt < before


def _unusual(phrase: str, table: PhraseCalibration) -> bool:
    """Say whether the department's rate lies outside the band of what readers take the word for."""
    k = table.phrases.index(phrase)
    rate = float(table.observed[k])
    return bool(rate < table.expected_low[k] or rate > table.expected_high[k])
