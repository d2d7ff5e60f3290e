"""Headlines on simulated hospitals: `python benchmarks/profile_hospital.py [seed ...]`.

The demonstration's hospital, and the one of straight lines, are simulated with each seed (default
0 1 2), and the labels of their truth go through ``radcal profile``. Printed: one line per reader,
what is true and what is told, and how many headlines agree. A headline agrees if it tells every
direction the reader is clearly off in, and none that isn't the reader's: one that only a
habit makes is not, the habit is told by itself. Texts are not read: what extraction adds is another
matter.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.departments.judge import told_of
from benchmarks.profile_truth import by_command
from calibration.survey import builtin
from pipeline.simulate import simulate
from pipeline.simulate.lexicon import hospital
from pipeline.simulate.truth import Truth

DEPARTMENTS = ("clustered", "straight")
COLUMNS = {"xr_exam_id": "exam", "patient_id": "patient", "reader_id": "reader"}


def words(directions: Any) -> frozenset[str]:
    """Return the words of a column of directions; none is no word."""
    return frozenset(str(directions).split(", ")) - {"none", ""}


def agrees(told: frozenset[str], truth: Any) -> bool:
    """Whether a headline says what is clear, and nothing that isn't so."""
    return words(truth.clearly) <= told <= words(truth.direction)


def observations(truth: Truth) -> pd.DataFrame:
    """Return the true labels as a table of observations."""
    rows = truth.outcomes.merge(truth.pairs[["xr_exam_id", "patient_id"]])
    named = rows.rename(columns=COLUMNS)
    return named[["reader", "patient", "exam", "pathology", "phrase", "label"]]


def headlines(department: str, seed: int) -> list[bool]:
    """Print what is told and true of every reader of one hospital; return whether they agree."""
    truth = simulate(pairs=2662, readers=12, seed=seed, department=department).truth
    scale = builtin("diagnostic-certainty-scale").with_borrowed(hospital()["unsurveyed"])
    profile = by_command(observations(truth), scale)
    told = {reader["reader"]: reader for reader in profile["readers"]}
    found = []
    print(f"\n== {department}, seed {seed}")
    for reader in truth.readers.itertuples():
        own = told[reader.reader_id]
        found.append(agrees(told_of(own), reader))
        habits = truth.habits.loc[truth.habits["reader_id"] == reader.reader_id, "phrase"]
        print(
            f"{'' if found[-1] else 'NOT':4s}{reader.kind:32s} true {reader.direction:25s} "
            f"clearly {reader.clearly or '-':22s} habits {'; '.join(habits) or '-':18s} told "
            f"{own['pattern']['direction']}, {len(own['habits'])} habits"
        )
    return found


def main() -> None:
    """Print every headline, and how many agree."""
    seeds = [int(word) for word in sys.argv[1:]] or [0, 1, 2]
    for department in DEPARTMENTS:
        found = [yes for seed in seeds for yes in headlines(department, seed)]
        print(f"\n{department}: {sum(found)} of {len(found)} headlines agree with the truth")


if __name__ == "__main__":
    main()
