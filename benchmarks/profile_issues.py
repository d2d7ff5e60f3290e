"""Issues that overlap: `python benchmarks/profile_issues.py [--departments 30] [--seed 1]`.

Departments of `benchmarks/departments/` are observed for 23 months and judged in 12 monthly issues,
each over the last 12 months. Printed, for several rules of when a pattern is told for the first
time: how many calibrated readers are told of one in a single issue and in at least one of twelve,
how many clearly off readers are told rightly in the last issue and in any, and after how many
issues. A pattern is told anew where its probability reaches the rule's entry, and told on while it
stays at `ProfileSettings.pattern_probability`.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.departments.conditions import CONDITIONS
from benchmarks.departments.staff import scale
from benchmarks.departments.truth import Department, ReaderTruth, draw_department
from calibration.profile import ReaderProfile, profile

WINDOW, ISSUES = 12, 12
ENTRIES = (0.85, 0.9, 0.95, 0.975)


@dataclass(frozen=True, slots=True)
class Look:
    """What one issue says of one reader: its parts, each with its probability."""

    parts: dict[str, float]

    @classmethod
    def of(cls, reader: ReaderProfile) -> Look:
        """Read the stated parts off a profile."""
        pattern = reader.pattern
        sides = {"overcalls": pattern.shift, "undercalls": pattern.shift}
        return cls({
            part: sides.get(part, pattern.slope).probability for part in pattern.verdict.parts
        })  # fmt: skip


def told(looks: list[Look], entry: float) -> list[frozenset[str]]:
    """Give what a reader is told in each issue under a rule of entry."""
    said: list[frozenset[str]] = []
    before: frozenset[str] = frozenset()
    for look in looks:
        now = {part for part, p in look.parts.items() if p >= entry or part in before}
        before = frozenset(now)
        said.append(before)
    return said


def followed(department: Department, rng: np.random.Generator) -> dict[str, list[Look]]:
    """Judge a department month after month, on the exams of the last twelve months."""
    rows = department.observations
    patients, code = np.unique(rows["patient"].to_numpy(), return_inverse=True)
    month = rng.integers(0, WINDOW + ISSUES - 1, patients.size)[code]
    looks: dict[str, list[Look]] = {}
    for last in range(WINDOW - 1, WINDOW + ISSUES - 1):
        inside = rows[(month <= last) & (month > last - WINDOW)]
        for reader in profile(inside, phrases=scale()):
            looks.setdefault(reader.reader, []).append(Look.of(reader))
    return looks


def rows_of(truth: ReaderTruth, looks: list[Look]) -> list[dict[str, object]]:
    """Answer for one reader under every rule."""
    clear = truth.standing.clear()
    kind = "clearly off" if clear else "calibrated" if truth.is_calibrated else ""
    found = []
    for entry in ENTRIES if kind else ():
        said = told(looks, entry)
        right = [bool(clear) and clear <= each for each in said]
        yes = right if clear else [bool(each) for each in said]
        first = yes.index(True) + 1 if any(yes) else None
        found.append(
            {"kind": kind, "entry": entry, "one": yes[-1], "any": any(yes), "first": first}
        )
    return found


def main() -> None:
    """Print a row for every rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--departments", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--conditions", default="plain,repeats,hedged CT")
    options = parser.parse_args()
    answers: list[dict[str, object]] = []
    for number in range(options.departments):
        names = options.conditions.split(",")
        condition = names[number % len(names)]
        rng = np.random.default_rng([options.seed, number, 77])
        department = draw_department(CONDITIONS[condition], rng=rng)
        looks = followed(department, rng)
        for truth in department.truths:
            answers += rows_of(truth, looks.get(truth.reader.name, []))
    table = pd.DataFrame(answers).groupby(["kind", "entry"]).agg(
        readers=("any", "size"), last_issue=("one", "mean"), any_of_twelve=("any", "mean"),
        issues_until=("first", "median"),
    )  # fmt: skip
    print(table.round(3).to_string())


if __name__ == "__main__":
    main()
