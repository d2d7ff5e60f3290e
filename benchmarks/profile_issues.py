"""Issues that overlap: `python benchmarks/profile_issues.py [--departments 30] [--seed 1]`.

Departments of `benchmarks/departments/` are observed for 23 months and judged in 12 monthly issues,
each over the last 12 months. Printed, for several thresholds of `pattern_probability`: how many
calibrated readers are told of a pattern in the last issue, in at least one of four quarterly and in
at least one of twelve monthly ones; and the same of clearly off readers told rightly.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.departments.exams import CONDITIONS
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
    """Give what a reader is told in each issue at a threshold."""
    return [frozenset(part for part, p in look.parts.items() if p >= entry) for look in looks]


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
    """Answer for one reader at every threshold."""
    clear = truth.standing.clear()
    kind = "clearly off" if clear else "calibrated" if truth.is_calibrated else ""
    found = []
    for entry in ENTRIES if kind else ():
        said = told(looks, entry)
        right = [bool(clear) and clear <= each for each in said]
        yes = right if clear else [bool(each) for each in said]
        found.append({
            "kind": kind, "threshold": entry, "one": yes[-1], "quarterly": any(yes[2::3]),
            "monthly": any(yes),
        })  # fmt: skip
    return found


def main() -> None:
    """Print a row for every threshold."""
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
    table = pd.DataFrame(answers).groupby(["kind", "threshold"]).agg(
        readers=("one", "size"), last_issue=("one", "mean"),
        any_of_4_quarterly=("quarterly", "mean"), any_of_12_monthly=("monthly", "mean"),
    )  # fmt: skip
    print(table.round(3).to_string())


if __name__ == "__main__":
    main()
