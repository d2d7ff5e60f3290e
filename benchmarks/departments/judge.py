"""One profile against the truth of its department: a list of questions, each answered yes or no.

The profile is the JSON that ``radcal profile`` writes (`readers[]` with `pattern`, `habits`,
`advice`). A question that doesn't arise for a reader has no answer, so no share is taken over
readers of whom nothing was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from scipy.special import logit

from benchmarks.departments.staff import HABIT_OFF, meanings, scale
from benchmarks.departments.truth import (
    Department,
    ReaderTruth,
    false_of,
    line_at,
    reversed_of,
)
from pipeline.simulate.rates import hedged
from pipeline.simulate.truth import Standing

__all__ = ["NO_VERDICT", "Answer", "judge", "told_of"]

NO_VERDICT: Final = "department: no verdict given"
"""Asked once a department: whether the command refused it."""

_NOT_A_WORD: Final = frozenset({"none", "too few", ""})
_FAR: Final = 0.75
"""Log odds between a word's rate and its reader's line from which it is far off."""
_REAL_HABIT: Final = HABIT_OFF / 2
"""A habit told where the true rate is less than this from what the phrase means is none."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One question about one reader of one volume, and whether it is so."""

    question: str
    reader: str
    exams: int
    yes: bool
    detail: str = ""


def judge(profile: Mapping[str, Any], department: Department) -> list[Answer]:
    """Answer every question about every reader of a department.

    Raises
    ------
    KeyError
        If the profile leaves a reader out: silence is not an answer.
    """
    told = {str(reader["reader"]): reader for reader in profile["readers"]}
    answers = []
    for truth, disease in zip(department.truths, department.disease, strict=True):
        found = told[truth.reader.name]
        asked = (*_questions(found, truth), *_of_disease(found, disease))
        for question, yes, detail in asked:
            answers.append(Answer(question, truth.reader.name, truth.reader.exams, yes, detail))
    return answers + [Answer(each, "", 0, yes) for each, yes in _of_all(profile, department)]


def _of_all(profile: Mapping[str, Any], department: Department) -> Iterator[tuple[str, bool]]:
    """Hold what is stated of all readers against disease: half of them or more must have it.

    An estimator that says nothing of the department is not asked.
    """
    if "department" not in profile:
        return
    parts = frozenset(profile["department"]["shared"]["parts"])
    false = [parts & false_of(standing) for standing in department.disease]
    yield "of all readers: something stated", bool(parts)
    if parts:
        most = max(sum(part in each for each in false) for part in parts)
        yield "of all readers: stated what disease does not bear out", 2 * most > len(false)


def told_of(reader: Mapping[str, Any]) -> frozenset[str]:
    """Return the words of a reader's direction; none and too few are no words."""
    words = str(reader["pattern"]["direction"]).split(", ")
    return frozenset(words) - _NOT_A_WORD


_Question = tuple[str, bool, str]


def _questions(reader: Mapping[str, Any], truth: ReaderTruth) -> Iterator[_Question]:
    yield from _direction(reader, truth)
    yield from _swaps(reader.get("advice") or (), truth)
    yield from _habits(reader.get("habits") or (), truth)
    yield from _intervals(reader, truth)


def _direction(reader: Mapping[str, Any], truth: ReaderTruth) -> Iterator[_Question]:
    told, standing = told_of(reader), truth.standing
    clear, false = standing.clear(), told & false_of(standing)
    detail = (
        f"told {', '.join(sorted(told)) or reader['pattern']['direction']}; true "
        f"{truth.reader.curve or 'calibrated'}, shift {standing.shift:+.2f} "
        f"({standing.at_half:+.2f} at one half), slope {standing.slope:.2f}"
    )
    if clear:
        yield "clearly off: told so, and nothing false", clear <= told and not false, detail
        yield (
            "clearly off: told part of it, and nothing false",
            bool(clear & told) and not false,
            detail,
        )
        yield "clearly off: told something false", bool(false), detail
        yield "clearly off: told of no pattern", not told, detail
    if truth.is_calibrated:
        yield "calibrated: told of a pattern", bool(told), detail
        stated = bool(told) and not reader["pattern"].get("question")
        yield "calibrated: told of a pattern, and not as a question", stated, detail
        yield "calibrated: told a pattern that CT does not bear out", bool(false), detail
    if truth.reader.habit is not None:
        yield "calibrated with a habit: told a false pattern", bool(false), detail
    yield "told to move away from the truth", bool(told & reversed_of(standing)), detail


def _of_disease(reader: Mapping[str, Any], disease: Standing) -> Iterator[_Question]:
    """Ask the same of what is there in all X-rays, whatever CT shows of it."""
    told = told_of(reader)
    clear, false = disease.clear(), told & false_of(disease)
    if clear:
        right = bool(clear & told) and not false
        yield "clearly off in disease: told part of it, nothing false", right, ""
    yield "told what disease does not bear out", bool(false), ""


def _swaps(advice: Sequence[Mapping[str, Any]], truth: ReaderTruth) -> Iterator[_Question]:
    yield f"given a swap ({_kind(truth)})", bool(advice), ""
    for number, swap in enumerate(advice):
        finding = swap.get("finding")
        rate = truth.rate(str(swap["phrase"]), finding)
        now, then = (meanings()[scale().index(str(swap[k]))] for k in ("phrase", "instead"))
        order = "first" if number == 0 else "second or third"
        detail = (
            f"{swap['phrase']} -> {swap['instead']} in {finding or 'all findings'}: true rate "
            f"{rate:.3f}, means {now:.3f} -> {then:.3f}"
        )
        yield f"{order} swap is worse in truth", abs(rate - then) > abs(rate - now), detail


def _kind(truth: ReaderTruth) -> str:
    if truth.standing.clear():
        return "clearly off"
    if truth.is_calibrated:
        return "calibrated"
    return "calibrated with a habit" if truth.reader.habit is not None else "slightly off"


def _habits(habits: Sequence[Mapping[str, Any]], truth: ReaderTruth) -> Iterator[_Question]:
    told = [(str(h["phrase"]), h.get("finding")) for h in habits]
    own = truth.reader.habit
    if own is not None:
        cell = (scale().phrases[own.phrase], truth.findings[own.finding])
        detail = f"{cell[0]} in {cell[1]} at {own.rate:.2f}; told {told}"
        yield "habit found at its own scope", cell in told, detail
        return
    gaps = {
        f"{phrase} in {finding or 'all findings'}": truth.rate(phrase, finding)
        - meanings()[scale().index(phrase)]
        for phrase, finding in told
    }
    false = [f"{scope}: {gap:+.3f}" for scope, gap in gaps.items() if abs(gap) < _REAL_HABIT]
    yield "without a habit: told of one that is none", bool(false), "; ".join(false)


def _intervals(reader: Mapping[str, Any], truth: ReaderTruth) -> Iterator[_Question]:
    pattern, standing = reader["pattern"], truth.standing
    shift = line_at(standing, float(pattern.get("at", 0.5)))
    yield from _covers("shift", pattern.get("shift"), shift)
    yield from _covers("slope", pattern.get("slope"), standing.slope)
    for swap in reader.get("advice") or ():
        true = truth.rate(str(swap["phrase"]), swap.get("finding"))
        yield from _covers("rate of an advised word", swap.get("rate"), true)
    for row in reader.get("phrases") or ():
        if hedged(meanings())[scale().index(str(row["phrase"]))]:
            true = truth.rate(str(row["phrase"]), row.get("finding"))
            yield from _covers("rate of a hedge", row.get("rate"), true)
            meaning = meanings()[scale().index(str(row["phrase"]))]
            off = logit(true) - logit(meaning) - line_at(standing, float(meaning))
            if abs(off) >= _FAR:
                yield from _covers("rate of a hedge far off", row.get("rate"), true)


def _covers(name: str, interval: Mapping[str, Any] | None, true: float) -> Iterator[_Question]:
    """Answer whether an interval holds the truth; one that isn't there is not asked."""
    if interval is None or interval.get("low") is None or interval.get("high") is None:
        return
    low, high = float(interval["low"]), float(interval["high"])
    if isfinite(low) and isfinite(high):
        detail = f"{true:.3f} in {low:.3f} to {high:.3f}"
        yield f"interval of {name} covers", low <= true <= high, detail
