"""What a profile says of a department, its readers and its own fit, also as plain data.

As plain data it has the shape that ``docs/profile-json.md`` describes; numbers that do not exist
are None, and the state beside them says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

import pandas as pd

from calibration.plain import Plain, plain
from calibration.profile.results import (
    Change,
    Interval,
    Large,
    Pattern,
    ReaderProfile,
    Shared,
    Swap,
)
from calibration.profile.settings import ProfileSettings


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Whether the fit may be believed, and what it assumed.

    Attributes
    ----------
    converged
        Newton reached its tolerance and the deviations settled; without it no verdict is given.
    gradient, newton_steps, rounds
        Largest gradient at the end; steps of the last mode; rounds of the deviations.
    deviations
        Estimated standard deviations by name.
    same_finding, other_finding
        Correlation of two outcomes of one patient within a finding and across findings.
    patients
        Whether patients were given.
    label_dispersion
        Variance of the labels relative to hard 0/1 labels.
    unsurveyed
        Hedges whose meaning carries no survey error.
    """

    converged: bool
    gradient: float
    newton_steps: int
    rounds: int
    deviations: Mapping[str, float]
    same_finding: float
    other_finding: float
    patients: bool
    label_dispersion: float
    unsurveyed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DepartmentProfile:
    """All readers of a department judged together.

    ``unmapped`` counts statements by phrases without a meaning, which nothing uses.
    ``expected_false`` is the expected number of stated patterns that are not sound;
    ``changes`` are since an earlier period, None where none was compared.
    """

    readers: tuple[ReaderProfile, ...]
    phrases: tuple[str, ...]
    findings: tuple[str, ...]
    shift: Interval
    slope: Interval
    shared: Shared
    large: Large
    expected_false: float
    unmapped: Mapping[str, int]
    diagnostics: Diagnostics
    settings: ProfileSettings
    changes: tuple[Change, ...] | None = None

    def __iter__(self) -> Iterator[ReaderProfile]:
        return iter(self.readers)

    def reader(self, name: str) -> ReaderProfile:
        """One reader's profile.

        Raises
        ------
        KeyError
            If there is no such reader.
        """
        for each in self.readers:
            if each.reader == name:
                return each
        raise KeyError(name)

    def to_frame(self) -> pd.DataFrame:
        """One row per reader: counts, direction, shift and slope with intervals, advice given."""
        return pd.DataFrame([_row(each) for each in self.readers])

    def summary(self) -> str:
        """One line for a caption."""
        told = sum(r.pattern.verdict.state == "pattern" for r in self.readers)
        few = sum(r.pattern.verdict.state == "too few" for r in self.readers)
        return (
            f"{len(self.readers)} readers: {told} with a pattern ({self.expected_false:.1f} of "
            f"them expected not to hold), {few} with too few exams to say"
        )


def _row(each: ReaderProfile) -> dict[str, object]:
    pattern, first = each.pattern, each.advice[0] if each.advice else None
    line = {
        f"{name}_{field}": getattr(part, field)
        for name, part in (("shift", pattern.shift), ("slope", pattern.slope))
        for field in ("value", "low", "high", "probability")
    }
    return {
        "reader": each.reader,
        "n": each.n,
        "hedges": each.hedges,
        "exams": each.exams,
        "direction": pattern.direction,
        **line,
        "tipping": pattern.tipping if math.isfinite(pattern.tipping) else math.nan,
        "habits": len(each.habits),
        "swaps": len(each.advice),
        "first_swap": "" if first is None else f"{first.phrase} → {first.instead}",
    }


VERSION = 1
"""Of the file's shape; it rises when a field changes its meaning."""


def profile_data(found: DepartmentProfile, *, messages: Mapping[str, str]) -> dict[str, Plain]:
    """Return everything a profile holds; ``messages`` gives each reader's words."""
    told = found.diagnostics
    return {
        "version": VERSION,
        "readers": [_reader(each, messages[each.reader]) for each in found.readers],
        "department": {
            "shift": plain(found.shift),
            "slope": plain(found.slope),
            "shared": plain(found.shared),
            "large": plain(found.large),
            "expected_false": plain(found.expected_false),
            "deviations": {name: plain(value) for name, value in told.deviations.items()},
        },
        "changes": None if found.changes is None else [plain(each) for each in found.changes],
        "phrases": list(found.phrases),
        "pathologies": [name or None for name in found.findings],
        "unmapped": {name: float(count) for name, count in found.unmapped.items()},
        "diagnostics": {
            "converged": told.converged,
            "gradient": plain(told.gradient),
            "newton_steps": told.newton_steps,
            "rounds": told.rounds,
            "patients": told.patients,
            "same_finding": plain(told.same_finding),
            "other_finding": plain(told.other_finding),
            "label_dispersion": plain(told.label_dispersion),
            "unsurveyed": list(told.unsurveyed),
        },
        "settings": _settings(found),
    }


def _settings(found: DepartmentProfile) -> dict[str, Plain]:
    """Every rule of decision; the priors' scales are the method's, not the caller's."""
    held: dict[str, Plain] = {}
    for each in fields(found.settings):
        value = getattr(found.settings, each.name)
        if isinstance(value, tuple):
            held[each.name] = [float(v) for v in value]
        elif isinstance(value, int | float):
            held[each.name] = value
    return held


def _reader(each: ReaderProfile, message: str) -> dict[str, Plain]:
    return {
        "reader": each.reader,
        "n": plain(each.n),
        "hedges": plain(each.hedges),
        "exams": each.exams,
        "pattern": _pattern(each.pattern),
        "habits": [plain(habit) for habit in each.habits],
        "atoms": {"absent": plain(each.absent), "present": plain(each.present)},
        "advice": [_swap(swap) for swap in each.advice],
        "phrases": [plain(row) for row in each.phrases],
        "large": plain(each.large),
        "message": message,
    }


def _pattern(pattern: Pattern) -> dict[str, Plain]:
    verdict = pattern.verdict
    return {
        "direction": verdict.direction,
        "state": verdict.state,
        "shift": plain(pattern.shift),
        "slope": plain(pattern.slope),
        "at": 0.5,
        "correlation": plain(pattern.correlation),
        "within": plain(pattern.within),
        "clearly_off": plain(pattern.clearly_off),
        "tipping": plain(pattern.tipping),
        "sound": plain(verdict.sound),
        "question": verdict.question,
        "shared": list(verdict.shared),
        "explained": list(verdict.explained),
        "more_exams": verdict.more_exams,
        "slight": verdict.slight,
        "untold": verdict.untold,
    }


def _swap(swap: Swap) -> dict[str, Plain]:
    return {
        "phrase": swap.phrase,
        "finding": swap.finding,
        "instead": swap.instead,
        "probability": plain(swap.probability),
        "n": plain(swap.n),
        "observed": plain(swap.observed),
        "rate": plain(swap.rate),
        "meaning": plain(swap.meaning),
        "instead_meaning": plain(swap.instead_meaning),
        "gain": plain(swap.gain),
    }
