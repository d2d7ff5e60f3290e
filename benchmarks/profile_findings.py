"""What holds in one finding, said of all: `python benchmarks/profile_findings.py [--seed 0]`.

Departments as in `profile_truth.py`, where every calibrated reader is off after all: all hedges in
one finding (of the five written most, and by no line), one word in one finding, or one word in all
alike. Printed, for each kind of reader: told of a pattern, and how many of these were told what is
false by the line of all other findings; and of the swaps of all findings how many are nearer to the
true rate, and not so without one finding. ``--by`` is how far they are off in log odds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from scipy.special import expit, logit

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.departments.exams import CONDITIONS
from benchmarks.departments.staff import Staff, draw_staff, meanings, scale
from benchmarks.departments.truth import Department, ReaderTruth, draw_department, false_of
from calibration.profile import ReaderProfile, profile
from pipeline.simulate.rates import hedged
from pipeline.simulate.truth import Standing, standing_of
from reports.swaps import kept_swaps

_KINDS: Final = ("one finding", "a word in one finding", "a word in all", "none")
_OFTEN: Final = 5


def staffed(rng: np.random.Generator, *, by: float, kinds: dict[str, str]) -> Staff:
    """Draw a department and move its calibrated readers, each by a kind that ``kinds`` keeps."""
    staff = draw_staff(rng)
    chance = staff.practice.chance.copy()
    use = staff.practice.mention[:, None] * staff.practice.usage
    for r, reader in enumerate(staff.readers):
        if reader.curve is not None or reader.habit is not None:
            continue
        kind = kinds[reader.name] = str(rng.choice(_KINDS))
        words = hedged(meanings()) & (use[r].sum(axis=0) > 0)
        finding = int(rng.choice(np.argsort(-staff.practice.mention)[:_OFTEN]))
        share = np.where(words, use[r].sum(axis=0), 0.0)
        word = np.arange(len(words)) == rng.choice(len(words), p=share / share.sum())
        side = float(rng.choice([-1.0, 1.0]))
        here = np.arange(len(staff.findings)) == finding
        where = here if kind != "a word in all" else np.ones_like(here)
        which = words if kind == "one finding" else word & (kind != "none")
        if kind != "one finding":
            side = -1.0 if meanings()[word] > 0.5 else 1.0
        moved = expit(logit(np.clip(chance[r], 0.001, 0.999)) + side * by)
        chance[r] = np.where(where[:, None] & which, moved, chance[r])
    return replace(staff, practice=replace(staff.practice, chance=chance))


def line_without(truth: ReaderTruth, finding: int) -> Standing:
    """Give the line of a reader's true rates in all findings but one."""
    use = np.where(hedged(meanings()), truth.use, 0.0)
    use[finding] = 0.0
    return standing_of(truth.rates, use, logit(meanings()), centre=truth.standing.centre)


def judged(department: Department, kinds: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Profile a department, and hold what is told of all findings against all but any one."""
    found = {r.reader: r for r in profile(department.observations, phrases=scale()).readers}
    for truth in department.truths:
        told = found[truth.reader.name]
        parts, places = {*told.pattern.verdict.parts}, range(len(truth.findings))
        clear = truth.standing.clear()
        kind = kinds.get(truth.reader.name, "clearly off" if clear else "other")
        yield {
            "kind": kind, "told": bool(parts),
            "true": bool(parts & clear) and not parts & false_of(truth.standing),
            "falls": any(parts & false_of(line_without(truth, f)) for f in places),
            **_swaps(told, truth),
        }  # fmt: skip


def _swaps(told: ReaderProfile, truth: ReaderTruth) -> dict[str, int]:
    """Count swaps of all findings, those nearer to the truth, and not so without a finding."""
    whole = [swap for swap in kept_swaps(told) if swap.finding is None]
    near = carried = 0
    for swap in whole:
        k = scale().index(swap.phrase)
        rates, use = truth.rates[:, k], truth.use[:, k]
        weights = [use * (np.arange(len(use)) != f) for f in np.flatnonzero(use)]
        own, there = swap.meaning, swap.instead_meaning
        each = [float(rates @ w / w.sum()) for w in (use, *weights) if w.sum() > 0]
        right = [abs(rate - there) < abs(rate - own) for rate in each]
        near += right[0]
        carried += not all(right[1:])
    return {"whole": len(whole), "nearer": near, "carried": carried}


def main() -> None:
    """Print a line for each kind of reader."""
    options = _options()
    rows = []
    for number in range(options.departments):
        kinds: dict[str, str] = {}
        rng = np.random.default_rng([options.seed, number])
        drawn = partial(staffed, by=options.by, kinds=kinds)
        department = draw_department(CONDITIONS["plain"], rng=rng, staffed=drawn)
        rows += list(judged(department, kinds))
    found = pd.DataFrame(rows)
    for kind, own in found.groupby("kind"):
        print(
            f"{kind} ({len(own)}): told of a pattern {own['told'].sum()}, rightly and clearly off "
            f"{own['true'].sum()}, false without one finding {own['falls'].sum()}"
        )
    whole, near, carried = found[["whole", "nearer", "carried"]].sum()
    print(f"swaps of all findings: {whole}, nearer {near}, not so without one finding {carried}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--departments", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--by", type=float, default=1.5, help="log odds")
    return parser.parse_args()


if __name__ == "__main__":
    main()
