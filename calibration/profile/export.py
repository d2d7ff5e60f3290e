"""A department's profile as plain data for JSON, in the shape ``docs/profile-json.md`` describes.

Numbers that do not exist are None; the state beside them says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from calibration.plain import Plain, plain
from calibration.profile.results import Pattern, ReaderProfile, Swap
from calibration.profile.whole import DepartmentProfile

__all__ = ["VERSION", "profile_data"]

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
            "expected_false": plain(found.expected_false),
            "deviations": {name: plain(value) for name, value in told.deviations.items()},
        },
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
        "question": verdict.question,
        "more_exams": verdict.more_exams,
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
