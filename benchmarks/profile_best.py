"""What could be told at best? `python benchmarks/profile_best.py [--departments 40] [--seed 0]`.

A judge who knows the simulator (`benchmarks/departments/`): he draws ``--draws`` readers from it,
weighs them by the likelihood of a reader's totals by phrase, and says what is then most probably
wholly right of all that is free of falsehood with probability `SURE`. Departments are those of
`profile_truth.py` by seed and number, so what the program says of the same readers stands there;
``--answers FILE``, which that benchmark wrote, is printed beside. Readers with a habit are left
out, and repeated exams of a patient are taken for fresh ones. ``worth`` is the median number of
draws that carry the weight: where it is small the judge knows less than he could.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.departments.exams import CONDITIONS
from benchmarks.departments.staff import meanings, scale
from benchmarks.departments.truth import ReaderTruth, draw_department, false_of
from calibration.profile.shared import STATED
from pipeline.simulate.rates import hedged

FloatArray = NDArray[np.float64]
SURE: Final = 0.8
SETS: Final = ((), *STATED)
HEDGES: Final = np.flatnonzero(hedged(meanings()))
KINDS: Final = ("clearly off: told so, and nothing false", "calibrated: told of a pattern")


@dataclass(frozen=True, slots=True)
class Draws:
    """Readers of the simulator: log odds parts of rates (M, K), and what may be said (M, S)."""

    yes: FloatArray
    no: FloatArray
    free: FloatArray
    whole: FloatArray


def drawn(condition: str, number: int, seed: int) -> Draws:
    """Draw readers until there are so many."""
    truths: list[ReaderTruth] = []
    for department in range(number):
        rng = np.random.default_rng([seed, 1, department])
        truths += draw_department(CONDITIONS[condition], rng=rng).truths
        if len(truths) >= number:
            break
    kept = [truth for truth in truths if truth.reader.habit is None]
    rates = np.array([[truth.rate(scale().phrases[k], None) for k in HEDGES] for truth in kept])
    free = [[not set(each) & false_of(t.standing) for each in SETS] for t in kept]
    whole = [[t.standing.clear() <= set(each) for each in SETS] for t in kept]
    rates = rates.clip(1e-6, 1.0 - 1e-6)
    sound = np.array(free, dtype=float)
    return Draws(np.log(rates), np.log1p(-rates), sound, sound * np.array(whole))


def told(rows: pd.DataFrame, draws: Draws) -> tuple[frozenset[str], float]:
    """Say what is most probably wholly right, and how many draws carry the weight."""
    uses = rows.groupby("phrase")["label"].agg(["size", "sum"])
    counts = uses.reindex([scale().phrases[k] for k in HEDGES], fill_value=0.0).to_numpy(float)
    log_p = draws.yes @ counts[:, 1] + draws.no @ (counts[:, 0] - counts[:, 1])
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    free, whole = weight @ draws.free, weight @ draws.whole
    best = int(np.argmax(np.where(free >= SURE, whole, -1.0)))
    return frozenset(SETS[best]), float(1.0 / (weight**2).sum())


def answers(condition: str, departments: int, seed: int, draws: Draws) -> Iterator[dict[str, Any]]:
    """Judge every reader without a habit."""
    for number in range(departments):
        key = [seed, list(CONDITIONS).index(condition), number]
        department = draw_department(CONDITIONS[condition], rng=np.random.default_rng(key))
        every = dict(list(department.observations.groupby("reader")))
        for truth in department.truths:
            if truth.reader.habit is not None:
                continue
            said, worth = told(every[truth.reader.name], draws)
            clear, false = truth.standing.clear(), said & false_of(truth.standing)
            of: dict[str, Any] = {"condition": condition, "department": number, "worth": worth}
            of |= {"reader": truth.reader.name, "exams": truth.reader.exams}
            if clear:
                yield of | {"question": KINDS[0], "yes": clear <= said and not false}
            elif truth.is_calibrated:
                yield of | {"question": KINDS[1], "yes": bool(said)}


def main() -> None:
    """Print the judge's shares, and the program's of the same readers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--departments", type=int, default=40, help="of each condition")
    parser.add_argument("--conditions", default="plain,repeats,hedged CT")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--answers", type=Path, help="CSV that profile_truth.py wrote")
    options = parser.parse_args()
    found = pd.DataFrame(
        each
        for condition in options.conditions.split(",")
        for each in answers(
            condition, options.departments, options.seed,
            drawn(condition, options.draws, options.seed + 1),
        )
    )  # fmt: skip
    if options.answers is not None:
        keys = ["condition", "department", "reader", "question"]
        program = pd.read_csv(options.answers)[[*keys, "yes"]].rename(columns={"yes": "program"})
        found = found.merge(program, on=keys, how="left")
    off = found["question"] == KINDS[0]
    groups = {f"{KINDS[0]}, {n} exams": rows for n, rows in found[off].groupby("exams")}
    for name, rows in (groups | {KINDS[1]: found[~off]}).items():
        beside = f", program {rows['program'].mean():.1%}" if "program" in rows else ""
        worth = rows["worth"].median()
        print(f"{name}: {rows['yes'].mean():.1%} of {len(rows)}{beside}; worth {worth:.0f}")


if __name__ == "__main__":
    main()
