"""Habits against patterns: `python benchmarks/profile_habits.py [--departments 25] [--seed 0]`.

Departments of 12 readers of four volumes: six are off by a curve, two calibrated, and four
calibrated but for a word that means another thing in the finding where it is written most
(`benchmarks/departments/staff.py`). Departments are judged as they are, with CTs ordered for
disease and wording, and with all troubles at once. Printed, for each kind of reader and volume,
what the first sentence says:

    habit named     no pattern, and first the planted word (of the planted finding, or of all)
    other word      no pattern, and first another word
    silent          no pattern, and no word
    true pattern    a pattern, none of it false of the line of true rates; of a reader with a habit,
                    of those of all other words
    false pattern   a pattern, part of it false of that line

and of how many words (20 uses or more) of readers told of a pattern its general rule, with the
exceptions that the page names, would lead away from the truth; and of the swaps that the profile
advises how many pages give, and how many of these lie nearer to the true rate. ``--answers FILE``
keeps every reader.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from scipy.special import logit

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.departments.exams import CONDITIONS
from benchmarks.departments.staff import draw_mixed_staff, meanings, scale
from benchmarks.departments.table import shares
from benchmarks.departments.truth import Department, ReaderTruth, draw_department, false_of
from calibration.profile import ReaderProfile, profile
from calibration.profile.shown import VISIBLE
from pipeline.simulate.rates import hedged
from pipeline.simulate.truth import Standing, standing_of
from reports.marked import hedges_in_parts
from reports.single_words import foremost
from reports.swaps import LEAST_USES, claimed, kept_swaps, misled, side_of

JUDGED: Final = ("plain", "ordering", "all at once")
SAID: Final = ("habit named", "other word", "silent", "true pattern", "false pattern")


def judged(department: Department) -> Iterator[dict[str, Any]]:
    """Profile a department, and hold what each reader is told first against the truth."""
    found = {r.reader: r for r in profile(department.observations, phrases=scale()).readers}
    for truth in department.truths:
        told = found[truth.reader.name]
        line = others(truth)
        yield {
            "reader": truth.reader.name,
            "kind": kind(truth),
            "exams": truth.reader.exams,
            "said": said_first(told, truth, line),
            "told": told.pattern.direction,
            "question": told.pattern.verdict.question,
            "clear": told.pattern.clearly_off,
            "whole": not line.clear() - {*told.pattern.verdict.parts},
            **ruled(told, truth),
            **swapped(told, truth),
        }


def kind(truth: ReaderTruth) -> str:
    """Name what is planted in a reader; one whose curve ends up not clear is neither."""
    if truth.reader.habit is not None:
        return "habit"
    if truth.is_calibrated:
        return "calibrated"
    return "clearly off" if truth.standing.clear() else "slightly off"


def others(truth: ReaderTruth) -> Standing:
    """Give the line of a reader's true rates without the word of a habit."""
    use = np.where(hedged(meanings()), truth.use, 0.0)
    if truth.reader.habit is not None:
        use[:, truth.reader.habit.phrase] = 0.0
    return standing_of(truth.rates, use, logit(meanings()), centre=truth.standing.centre)


def said_first(told: ReaderProfile, truth: ReaderTruth, line: Standing) -> str:
    """Sort the first sentence of a reader's page."""
    if parts := {*told.pattern.verdict.parts}:
        return "false pattern" if parts & false_of(line) else "true pattern"
    word, habit = foremost(told, kept_swaps(told)), truth.reader.habit
    if word is None:
        return "silent"
    if habit is None or word.phrase != scale().phrases[habit.phrase]:
        return "other word"
    named = word.finding in {None, truth.findings[habit.finding]}
    return "habit named" if named else "other word"


def ruled(told: ReaderProfile, truth: ReaderTruth) -> dict[str, int]:
    """Count words under the general rule of a pattern, and those that it leads away from CT."""
    strong, weak = claimed(told)
    found = {"words": 0, "worsened": 0}
    for word, side in hedges_in_parts(told):
        ruling = strong if word.meaning > 0.5 else weak
        if word.n < LEAST_USES or ruling is None:
            continue
        found["words"] += 1
        off = truth.rate(word.phrase, word.finding) - word.meaning
        away = abs(off) >= VISIBLE and side_of(off, 0.0) != ruling
        found["worsened"] += away and not misled(word, told, marked=bool(side))
    return found


def swapped(told: ReaderProfile, truth: ReaderTruth) -> dict[str, int]:
    """Count the swaps advised, those that the page gives, and those of them nearer to the truth."""
    given = kept_swaps(told)
    true = [truth.rate(swap.phrase, swap.finding) for swap in given]
    near = [
        abs(rate - swap.instead_meaning) < abs(rate - swap.meaning)
        for rate, swap in zip(true, given, strict=True)
    ]
    return {"advised": len(told.advice), "given": len(given), "nearer": sum(near)}


def table(readers: pd.DataFrame) -> str:
    """Return the shares of what is said first, and of words led away, by kind and volume."""
    lines = [f"{'':28s}" + "".join(f"{name:>15s}" for name in SAID) + f"{'whole':>8s}"]
    for name, rows in [*readers.groupby(["kind", "exams"]), *readers.groupby(["kind"])]:
        label = f"{name[0]}, {name[1]} exams" if len(name) == 2 else f"{name[0]}, all"
        each = [f"{(rows['said'] == said).mean():15.1%}" for said in SAID]
        label = f"{label} ({len(rows)})"
        lines.append(f"{label:28s}{''.join(each)}{rows['whole'].mean():8.1%}")
    every = readers[readers["words"] > 0]
    for name, rows in every.groupby("kind"):
        lines.append(
            f"words led away by the rule, {name}: {rows['worsened'].sum()} of {rows['words'].sum()}"
        )
    advised, given, near = readers[["advised", "given", "nearer"]].sum()
    lines.append(f"swaps: {advised} advised, {given} given, {near} of these nearer to the truth")
    habits = readers[readers["kind"] == "habit"].assign(yes=lambda r: r["said"] == SAID[0])
    row = shares(habits, ["kind"]).iloc[0]
    lines.append(f"habit named: {row['share']:.1%} ({row['low']:.1%} to {row['high']:.1%})")
    return "\n".join(lines)


def main() -> None:
    """Print a table for each condition."""
    options = _options()
    every = []
    for condition in JUDGED:
        for number in range(options.departments):
            rng = np.random.default_rng([options.seed, JUDGED.index(condition), number])
            department = draw_department(CONDITIONS[condition], rng=rng, staffed=draw_mixed_staff)
            rows = pd.DataFrame([*judged(department)])
            every.append(rows.assign(condition=condition, department=number))
        readers = pd.concat([each for each in every if each["condition"].iloc[0] == condition])
        print(f"\n== {condition}: {len(readers)} readers\n{table(readers)}", flush=True)
    if options.answers is not None:
        pd.concat(every).to_csv(options.answers, index=False)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--departments", type=int, default=25, help="of each condition")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--answers", type=Path, help="CSV of every reader")
    return parser.parse_args()


if __name__ == "__main__":
    main()
