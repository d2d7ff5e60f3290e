"""Issues that overlap: `python benchmarks/profile_issues.py [--departments 30] [--seed 1]`.

Departments of `benchmarks/departments/` are observed for 23 months and judged in issues over the
last 12 months, the first at the end of the twelfth: each by itself, monthly, and with what the
issue before told, monthly and quarterly. Printed for each rule: how many calibrated readers are
told of a pattern in the first issue, in the last and in any; the same of clearly off readers told
rightly; and how often what a reader is told changes from one issue to the next.
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.departments.exams import CONDITIONS
from benchmarks.departments.staff import scale
from benchmarks.departments.truth import ReaderTruth, draw_department
from calibration.profile import Part, ProfileSettings, profile

WINDOW, ISSUES = 12, 12
RULES = {
    "monthly, each by itself": (1, False),
    "monthly, with the issue before": (1, True),
    "quarterly, with the issue before": (3, True),
}
"""Months from one issue to the next, and whether it knows what that told."""
LEAST = ProfileSettings().least_statements

Told: TypeAlias = tuple[Part, ...]


def followed(rows: pd.DataFrame, month: np.ndarray, *, step: int, memory: bool) -> pd.DataFrame:
    """Judge a department issue after issue: what each reader is told, (issues, readers)."""
    issues: list[dict[str, Told]] = []
    before: dict[str, Told] = {}
    for last in range(WINDOW - 1, WINDOW + ISSUES - 1, step):
        inside = rows[(month <= last) & (month > last - WINDOW)]
        found = profile(inside, phrases=scale(), before=before if memory else None)
        issues.append({each.reader: each.pattern.verdict.parts for each in found})
        before = {r.reader: r.pattern.verdict.parts for r in found if r.hedges >= LEAST}
    return pd.DataFrame(issues)


def rows_of(truth: ReaderTruth, told: list[Told], rule: str) -> list[dict[str, object]]:
    """Answer for one reader under one rule."""
    clear = truth.standing.clear()
    kind = "clearly off" if clear else "calibrated" if truth.is_calibrated else ""
    yes = [clear <= set(each) if clear else bool(each) for each in told]
    changed = sum(a != b for a, b in pairwise(told))
    row = {"first": yes[0], "last": yes[-1], "any": any(yes), "changes": changed}
    return [{"kind": kind, "rule": rule, **row}] if kind else []


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
        rows = department.observations
        patients, code = np.unique(rows["patient"].to_numpy(), return_inverse=True)
        month = rng.integers(0, WINDOW + ISSUES - 1, patients.size)[code]
        for rule, (step, memory) in RULES.items():
            said = followed(rows, month, step=step, memory=memory)
            for truth in department.truths:
                told = said.get(truth.reader.name, pd.Series(dtype=object)).dropna().tolist()
                answers += rows_of(truth, told, rule) if told else []
    table = pd.DataFrame(answers).groupby(["kind", "rule"], sort=False).agg(
        readers=("first", "size"), first=("first", "mean"), last=("last", "mean"),
        any=("any", "mean"), changes=("changes", "mean"),
    )  # fmt: skip
    print(table.round(3).to_string())


if __name__ == "__main__":
    main()
