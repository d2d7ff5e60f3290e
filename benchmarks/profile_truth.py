"""Truth against headline: `python benchmarks/profile_truth.py [--departments 30] [--seed 0]`.

Departments whose truth is no logit line (`benchmarks/departments/`) go through ``radcal profile``
as files do, and every profile is judged. Printed, for each condition and for all departments
together: the share of clearly off readers told the right direction by volume, calibrated readers
told of a pattern, swaps that are worse in truth, habits found, and how often intervals hold the
truth, each with a 95 % Wilson interval. ``--answers FILE`` keeps every answer with its seed;
``--tell-misread`` gives the command the share of phrases that were misread, as an audit would.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import asdict
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import typer

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.departments.exams import CONDITIONS
from benchmarks.departments.judge import NO_VERDICT, Answer, judge
from benchmarks.departments.staff import scale
from benchmarks.departments.table import acceptance
from benchmarks.departments.truth import draw_department
from calibration.survey import PhraseTable
from pipeline.errors import RadcalError

Estimator: TypeAlias = Callable[[pd.DataFrame], Mapping[str, Any]]


def by_command(
    observations: pd.DataFrame, table: PhraseTable | None = None, *, misread: float = 0.0
) -> Mapping[str, Any]:
    """Profile a department with the command, from a CSV to its JSON."""
    from pipeline.cli import profile

    app = typer.Typer()
    app.callback()(lambda: None)
    profile.register(app)
    with tempfile.TemporaryDirectory() as folder:
        rows, phrases, out = (Path(folder) / n for n in ("o.csv", "phrases.csv", "profile.json"))
        observations.to_csv(rows, index=False)
        (table or scale()).to_frame().to_csv(phrases, index=False)
        given = ["profile", rows, "--phrases", phrases, "--out", out, "--misread", misread]
        with redirect_stdout(StringIO()):
            app([str(word) for word in given], standalone_mode=False)
        return dict(json.loads(out.read_text(encoding="utf-8")))


def answers_of(condition: str, number: int, seed: int, estimator: Estimator) -> pd.DataFrame:
    """Draw one department, profile it and judge the profile."""
    key = [seed, list(CONDITIONS).index(condition), number]
    department = draw_department(CONDITIONS[condition], rng=np.random.default_rng(key))
    try:
        found = judge(estimator(department.observations), department)
        found.append(Answer(NO_VERDICT, "", 0, yes=False))
    except RadcalError as error:
        found = [Answer(NO_VERDICT, "", 0, yes=True, detail=str(error))]
    frame = pd.DataFrame([asdict(a) for a in found])
    return frame.assign(condition=condition, department=number, seed=seed)


def collect(
    conditions: list[str], departments: int, seed: int, estimator: Estimator
) -> pd.DataFrame:
    """Answer all questions about all departments of some conditions."""
    return pd.concat(
        [
            answers_of(condition, number, seed, estimator)
            for condition in conditions
            for number in range(departments)
        ],
        ignore_index=True,
    )


def main() -> None:
    """Print a table for each condition, and one for all."""
    options = _options()
    conditions = options.conditions.split(",") if options.conditions else list(CONDITIONS)
    every, start = [], time.process_time()
    for condition in conditions:
        began = time.process_time()
        misread = CONDITIONS[condition].misworded if options.tell_misread else 0.0
        estimator = partial(by_command, misread=misread)
        found = collect([condition], options.departments, options.seed, estimator)
        every.append(found)
        spent = (time.process_time() - began) / options.departments
        readers = found.groupby(["department", "reader"]).ngroups
        print(f"\n== {condition}: {options.departments} departments, {readers} readers, ", end="")
        print(f"{spent:.1f} s of one core each\n{acceptance(found)}", flush=True)
    joined = pd.concat(every, ignore_index=True)
    if options.answers is not None:
        joined.to_csv(options.answers, index=False)
    total = options.departments * len(conditions)
    print(
        f"\n== all {total} departments, {time.process_time() - start:.0f} s\n{acceptance(joined)}"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--departments", type=int, default=30, help="of each condition")
    parser.add_argument("--conditions", help=f"some of: {','.join(CONDITIONS)}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--tell-misread", action="store_true", help="give the true rate of misreading, as audited"
    )
    parser.add_argument("--answers", type=Path, help="CSV of every answer")
    return parser.parse_args()


if __name__ == "__main__":
    main()
