"""What there is to decide; nobody is named.

In this order: measuring the instrument, where nobody has; a pattern that most readers share; the
one word to teach; what was missed or seen too often. The word is of the swaps that the appendix
lists as upheld on exams set aside, stands in several readers' hands where their pages say so, and
lies in the department's outside the band of what readers take it to mean. "Absent" and "present"
are named where several readers' are contradicted by CT more often than others'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from calibration.phrase_calibration import PhraseCalibration
from calibration.profile import DepartmentProfile, ReaderProfile
from calibration.substitution import Suggestion
from reports.content import SuppressedCell
from reports.drawing.layout import Prose, Section
from reports.drawing.style import BODY
from reports.numbers import percent, percent_interval, points
from reports.pages.committee.tables import upheld
from reports.review_content import CommitteeContent
from reports.strings import Strings
from reports.swaps import Side, kept_swaps, side_of
from reports.verdict import sides

_LEAST_READERS: Final = 2
_LEAST_SHARE: Final = 0.25


def decisions(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Lay out what is proposed; nothing where readers were not judged together."""
    found = content.profiles
    if found is None or isinstance(found, SuppressedCell):
        return ()
    proposed = (
        *_audit(content, words),
        *_common(found, words),
        _teach(found, content, words),
        *_contradicted(found, words),
    )
    pieces = tuple(Prose(text, BODY) for text in proposed)
    return (Section(words("decisions.title"), pieces, room=60.0),)


def _audit(content: CommitteeContent, words: Strings) -> list[str]:
    """Name what nobody has measured of the instrument here; nothing where all is measured."""
    measured = content.instrument
    if measured is None:
        return []
    missing = [figure.name for figure in measured.figures if figure.estimate is None]
    return [words("decisions.audit", names=", ".join(missing))] if missing else []


def _common(found: DepartmentProfile, words: Strings) -> list[str]:
    """Put a pattern that most readers share before the committee; nothing where none is."""
    what = shared_pattern(found, words)
    return [words("decisions.common", what=what)] if what else []


def shared_pattern(found: DepartmentProfile, words: Strings) -> str:
    """Say what most readers share, empty where they share nothing."""
    parts = [words(f"committee.common.{part.replace(' ', '_')}") for part in found.shared.parts]
    return words("verdict.shared.and").join(parts)


def _enough(readers: Sequence[ReaderProfile]) -> float:
    return max(_LEAST_READERS, _LEAST_SHARE * len(readers))


def _contradicted(found: DepartmentProfile, words: Strings) -> list[str]:
    readers = found.readers
    told = {
        name: sum(getattr(reader, name).state == "more often" for reader in readers)
        for name in ("absent", "present")
    }
    return [
        words(f"decisions.{name}", n=n, readers=len(readers))
        for name, n in told.items()
        if n >= _enough(readers)
    ]


def _teach(found: DepartmentProfile, content: CommitteeContent, words: Strings) -> str:
    """Propose the word whose swap brings most statements nearer to CT; or say there is none."""
    best = _best(found, content)
    if best is None:
        return words("decisions.none")
    judged = [_judged(reader, content.minimum_n) for reader in found.readers]
    text, off = _taught(best, judged, found.readers, words), _target_off(best, content, words)
    return " ".join([text, *off, words("decisions.owner")])


def _together(content: CommitteeContent) -> list[Suggestion]:
    """Give the swaps that are upheld in all findings together."""
    return [swap for finding, swap in upheld(content.maps or ()) if finding is None]


def _best(found: DepartmentProfile, content: CommitteeContent) -> Suggestion | None:
    """Choose the swap to teach, if there is one."""
    department, enough = content.department, _enough(found.readers)
    if isinstance(department, SuppressedCell):
        return None
    judged = [_judged(reader, content.minimum_n) for reader in found.readers]
    fit = (
        swap
        for swap in _together(content)
        if _unusual(swap, department.phrases) and len(_off(swap, judged)) >= enough
    )
    return max(
        fit, key=lambda swap: (swap.n * np.subtract(*_distances(swap)), swap.source), default=None
    )


def spoken_of(content: CommitteeContent) -> dict[str, Side]:
    """Say on which side CT lies of the words that the proposal names."""
    found = content.profiles
    if found is None or isinstance(found, SuppressedCell):
        return {}
    best = _best(found, content)
    named = (best.source, best.target) if best else ()
    return {
        each.source: side_of(each.observed, each.expected)
        for each in _together(content)
        if each.source in named
    }


def _taught(
    swap: Suggestion,
    judged: Sequence[dict[str, Side | None]],
    readers: Sequence[ReaderProfile],
    words: Strings,
) -> str:
    """Word one proposal: for whom it stands, the department's rate, what the swap would change."""
    off = _off(swap, judged)
    own = [
        each.instead == swap.target
        for k in off
        for each in kept_swaps(readers[k])
        if each.phrase == swap.source and not each.finding
    ]
    before, after = _distances(swap)
    parts = [
        words(
            f"decisions.{side_of(swap.observed, swap.expected)}",
            phrase=swap.source,
            instead=swap.target,
            n=len(off),
            readers=sum(swap.source in each for each in judged),
        ),
        words(
            "decisions.evidence",
            rate=percent(swap.observed),
            interval=percent_interval(swap.low, swap.high, swap.observed),
            statements=words.several("unit.statements", round(swap.n)),
            meaning=percent(swap.expected),
        ),
        words("decisions.effect", instead=swap.target, before=points(before), after=points(after)),
    ]
    if own:
        parts.append(words("decisions.pages", same=sum(own), other=len(own) - sum(own)))
    return " ".join(parts)


def _target_off(swap: Suggestion, content: CommitteeContent, words: Strings) -> Iterator[str]:
    """Say so where the word to be taught is itself one that CT does not bear out here."""
    for each in _together(content):
        if each.source == swap.target:
            rate, meaning = percent(each.observed), percent(each.expected)
            yield words("decisions.target_off", instead=each.source, rate=rate, meaning=meaning)


def _distances(swap: Suggestion) -> tuple[float, float]:
    """How far these statements lie from CT as they are, and written as the other word."""
    return abs(swap.observed - swap.expected), abs(swap.observed - swap.target_expected)


def _off(swap: Suggestion, judged: Sequence[dict[str, Side | None]]) -> list[int]:
    """Give the readers in whose hands the phrase surely stands off, on the department's side."""
    side = side_of(swap.observed, swap.expected)
    return [k for k, each in enumerate(judged) if each.get(swap.source) == side]


def _unusual(swap: Suggestion, table: PhraseCalibration) -> bool:
    """Say whether the department's rate lies outside the band of what readers take the word for."""
    k = table.phrases.index(swap.source)
    return not table.expected_low[k] <= swap.observed <= table.expected_high[k]


def _judged(reader: ReaderProfile, minimum: int) -> dict[str, Side | None]:
    """Say of each phrase that a reader wrote often enough on which side CT surely lies, if any.

    A side counts where the reader's page names it and the rate's 95 % interval misses the meaning.
    """
    named = sides(reader)
    return {
        p.phrase: named.get(p.phrase)
        if not p.rate.low <= p.meaning <= p.rate.high
        and named.get(p.phrase) == side_of(p.rate.value, p.meaning)
        else None
        for p in reader.phrases
        if p.n >= minimum
    }
