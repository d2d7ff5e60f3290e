"""What may be published, at the last door: PDF, HTML and their tables all take their numbers here.

**Too few never reaches a page.** Content arrives with small groups already withheld; this is the
second lock on the same door. A result from fewer exams than ``minimum_n`` becomes a
:class:`SuppressedCell`, and so does every figure of a department of fewer readers than
``minimum_readers``.

**No number tells of one statement** (`calibration.rounding`). A `GroupResult` arrives computed
from rounded counts; all other counts and shares are rounded here (`reports.rounded`): profiles,
rows of readers and kinds of cases, terms, coverage, the pairing flow. What a profile says in words
and its shift and slope, which are of all hedges at once, stay as they are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from calibration.rounding import MOST
from reports import rounded
from reports.content import PathologyResult, RadiologistContent, SuppressedCell, TrendPoint
from reports.review_content import CommitteeContent, SensitivityRow
from reports.strings import Strings

if TYPE_CHECKING:
    from calibration.estimate import Estimate
    from calibration.profile import (
        Aside,
        AtomJudgement,
        DepartmentProfile,
        PhraseRate,
        ReaderProfile,
    )
    from calibration.profile.results import AtomState
    from calibration.result import GroupResult

Cell = TypeVar("Cell", bound="Estimate | GroupResult")


def state_of(cell: SuppressedCell, words: Strings) -> str:
    """Name the state of a withheld number."""
    keys = {
        "exams": "state.too_few",
        "readers": "state.too_few_readers",
        "complementary": "state.complementary",
    }
    return words(keys[cell.of], minimum=cell.minimum)


def short_state_of(cell: SuppressedCell, words: Strings) -> str:
    """Name it where there is little room."""
    return words("state.few_short" if cell.of == "exams" else "state.withheld_short")


def _enough(result: Cell | SuppressedCell, minimum_n: int) -> Cell | SuppressedCell:
    if isinstance(result, SuppressedCell) or result.n >= minimum_n:
        return result
    return SuppressedCell(minimum_n)


def _pathologies(parts: tuple[PathologyResult, ...], minimum_n: int) -> tuple[PathologyResult, ...]:
    return tuple(replace(part, result=_enough(part.result, minimum_n)) for part in parts)


def _trend(point: TrendPoint, minimum_n: int) -> TrendPoint:
    gap = SuppressedCell(minimum_n) if point.n < minimum_n else point.gap
    return replace(point, n=0, gap=gap) if isinstance(gap, SuppressedCell) else point


def guard_radiologist(content: RadiologistContent) -> RadiologistContent:
    """Withhold every group, period and department figure that rests on too few."""
    overall, trend = _enough(content.overall, content.minimum_n), content.trend
    few = isinstance(overall, SuppressedCell)
    return replace(
        content,
        overall=overall,
        by_pathology=_pathologies(content.by_pathology, content.minimum_n),
        profile=None if few else _profile(content),
        action_cases=() if few else content.action_cases,
        trend=trend and tuple(_trend(point, content.minimum_n) for point in trend),
        coverage=rounded.coverage(content.coverage),
        unscored=rounded.unscored(content.unscored),
    )


def _profile(content: RadiologistContent) -> ReaderProfile | None:
    """Keep of a profile what rests on enough uses, and on a department that may be shown."""
    alone = isinstance(content.department, SuppressedCell)
    return content.profile and _of_reader(content.profile, content.minimum_n, alone=alone)


def _of_reader(profile: ReaderProfile, minimum: int, *, alone: bool = False) -> ReaderProfile:
    """Round a profile and leave out what rests on too few: alike for the reader and the review."""
    profile = rounded.profile(profile)
    return replace(
        profile,
        advice=tuple(swap for swap in profile.advice if swap.n >= minimum),
        habits=tuple(habit for habit in profile.habits if habit.n >= minimum),
        phrases=tuple(phrase for phrase in profile.phrases if phrase.n >= minimum),
        rest=tuple(phrase for phrase in profile.rest if phrase.n >= minimum),
        sides=tuple(side for side in profile.sides if side.n >= minimum),
        findings=tuple(each for each in profile.findings if each.n >= minimum),
        sites=_sites(profile.sites, minimum),
        lately=_lately(profile.lately, minimum),
        aside=tuple(_aside(each, minimum) for each in profile.aside),
        absent=_atom(profile.absent, minimum, alone=alone),
        present=_atom(profile.present, minimum, alone=alone),
    )


def _sites(found: tuple[PhraseRate, ...] | None, minimum: int) -> tuple[PhraseRate, ...] | None:
    """Give sites without their names, where each has enough: one less would give it away."""
    if found is None:
        return None
    enough = all(each.n >= minimum for each in found)
    return tuple(replace(each, phrase="") for each in found) if enough else ()


def _lately(found: tuple[PhraseRate, ...], minimum: int) -> tuple[PhraseRate, ...]:
    """Keep a side's rates before a change and since where both have enough, for the same reason."""
    few = {each.phrase.partition("_")[0] for each in found if each.n < minimum}
    return tuple(each for each in found if each.phrase.partition("_")[0] not in few)


def _aside(found: Aside, minimum: int) -> Aside:
    """Keep of what was set aside the sides that rest on enough; that it was is said in words."""
    return replace(found, sides=tuple(side for side in found.sides if side.n >= minimum))


def _atom(atom: AtomJudgement, minimum: int, *, alone: bool) -> AtomJudgement:
    """Take others' rates out where they may not be shown or are mostly one's; judge no few."""
    if atom.n < minimum:
        return replace(atom, state="too few")
    if not alone and atom.most <= MOST:
        return atom
    nothing = float("nan")
    state: AtomState = "no standard" if atom.state == "no standard" else "no comparison"
    return replace(atom, expected=nothing, expected_wrong=nothing, state=state)


def _sensitivity(row: SensitivityRow, minimum_n: int) -> SensitivityRow:
    if row.n >= minimum_n:
        return row
    few = SuppressedCell(minimum_n)
    return replace(row, n=0, ece=few, phrase_error=few, slope=few)


def _profiles(content: CommitteeContent) -> DepartmentProfile | None:
    """Keep of the profiles those of readers whose figures may be shown."""
    found = content.profiles
    if found is None or content.few_readers:
        return None
    shown = {
        row.code
        for row in content.readers
        if row.n >= content.minimum_n and not isinstance(row.gap, SuppressedCell)
    }
    changes = found.changes and tuple(each for each in found.changes if each.reader in shown)
    minimum = content.minimum_n
    kept = (_of_reader(reader, minimum) for reader in found.readers if reader.reader in shown)
    return replace(found, readers=tuple(kept), changes=changes, large=rounded.large(found.large))


def guard_committee(content: CommitteeContent) -> CommitteeContent:
    """Withhold what rests on too few exams, and the department where it has too few readers."""
    minimum = content.minimum_n
    sensitivity = content.sensitivity and tuple(
        replace(table, rows=tuple(_sensitivity(row, minimum) for row in table.rows))
        for table in content.sensitivity
    )
    guarded = replace(
        content,
        department=_enough(content.department, minimum),
        profiles=_profiles(content),
        by_pathology=_pathologies(content.by_pathology, minimum),
        sensitivity=sensitivity,
        readers=tuple(map(rounded.reader_row, content.readers)),
        scale_use=rounded.scale_use(content.scale_use),
        written=rounded.written(content.written),
        case_mix=rounded.case_mix(content.case_mix),
        disagreement=rounded.disagreement(content.disagreement),
        unscored=rounded.unscored(content.unscored),
        coverage=rounded.coverage(content.coverage),
        flow=rounded.flow(content.flow),
        instrument=rounded.instrument(content.instrument),
        later=tuple((month, rounded.statements(n)) for month, n in content.later),
        ct_plain=None if content.ct_plain is None else rounded.statements(content.ct_plain),
    )
    if not content.few_readers:
        return guarded
    return replace(guarded, department=SuppressedCell(content.minimum_readers, "readers"))
