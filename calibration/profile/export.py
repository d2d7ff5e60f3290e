"""A department's profile as plain data for JSON, in the shape ``docs/profile-json.md`` describes.

Numbers that do not exist are None; the state beside them says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from calibration.export import Plain, number
from calibration.profile.results import (
    AtomJudgement,
    Coordinate,
    DepartmentProfile,
    Habit,
    Interval,
    Pattern,
    ReaderProfile,
    Swap,
)

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
            "shift": _interval(found.shift),
            "slope": _interval(found.slope),
            "expected_false": number(found.expected_false),
            "deviations": {name: number(value) for name, value in told.deviations.items()},
        },
        "phrases": list(found.phrases),
        "pathologies": [name or None for name in found.findings],
        "unmapped": {name: float(count) for name, count in found.unmapped.items()},
        "diagnostics": {
            "converged": told.converged,
            "gradient": number(told.gradient),
            "newton_steps": told.newton_steps,
            "rounds": told.rounds,
            "patients": told.patients,
            "same_finding": number(told.same_finding),
            "other_finding": number(told.other_finding),
            "label_dispersion": number(told.label_dispersion),
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
        "n": number(each.n),
        "hedges": number(each.hedges),
        "exams": each.exams,
        "pattern": _pattern(each.pattern),
        "habits": [_habit(habit) for habit in each.habits],
        "atoms": {"absent": _atom(each.absent), "present": _atom(each.present)},
        "advice": [_swap(swap) for swap in each.advice],
        "phrases": [
            {
                "phrase": row.phrase,
                "n": number(row.n),
                "observed": number(row.observed),
                "rate": _interval(row.rate),
                "meaning": number(row.meaning),
            }
            for row in each.phrases
        ],
        "message": message,
    }


def _pattern(pattern: Pattern) -> dict[str, Plain]:
    verdict = pattern.verdict
    return {
        "direction": verdict.direction,
        "state": verdict.state,
        "shift": _coordinate(pattern.shift),
        "slope": _coordinate(pattern.slope),
        "correlation": number(pattern.correlation),
        "within": number(pattern.within),
        "clearly_off": number(pattern.clearly_off),
        "tipping": number(pattern.tipping),
        "question": verdict.question,
        "more_exams": verdict.more_exams,
    }


def _interval(each: Interval) -> dict[str, Plain]:
    return {"value": number(each.value), "low": number(each.low), "high": number(each.high)}


def _coordinate(each: Coordinate) -> dict[str, Plain]:
    return {
        "value": number(each.value),
        "low": number(each.low),
        "high": number(each.high),
        "probability": number(each.probability),
    }


def _habit(habit: Habit) -> dict[str, Plain]:
    return {
        "phrase": habit.phrase,
        "finding": habit.finding,
        "n": number(habit.n),
        "observed": number(habit.observed),
        "rate": _interval(habit.rate),
        "expected": number(habit.expected),
        "meaning": number(habit.meaning),
        "probability": number(habit.probability),
    }


def _atom(judged: AtomJudgement) -> dict[str, Plain]:
    return {
        "phrases": list(judged.phrases),
        "state": judged.state,
        "n": number(judged.n),
        "positive": number(judged.positive),
        "expected": number(judged.expected),
        "wrong": number(judged.wrong),
        "expected_wrong": number(judged.expected_wrong),
        "rate": _interval(judged.rate),
        "ratio": _interval(judged.ratio),
        "probability": number(judged.probability),
    }


def _swap(swap: Swap) -> dict[str, Plain]:
    return {
        "phrase": swap.phrase,
        "finding": swap.finding,
        "instead": swap.instead,
        "probability": number(swap.probability),
        "n": number(swap.n),
        "observed": number(swap.observed),
        "rate": _interval(swap.rate),
        "meaning": number(swap.meaning),
        "instead_meaning": number(swap.instead_meaning),
        "gain": _interval(swap.gain),
    }
