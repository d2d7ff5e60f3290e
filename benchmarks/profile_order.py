"""Do words rise with CT? `python benchmarks/profile_order.py [--departments 40] [--seed 0]`.

How often `calibration.profile.order` sets a reader's words aside: readers of departments whose
truth is no logit line (`benchmarks/departments/`), each beside his colleagues as they are, by how
many hedges of his are kept, and by what is done to his labels:

    as they are     calibrated readers, and those off by a curve, a habit or a shift: told wrongly
    reversed        every label turned round (a column of the wrong sign, CT labels exchanged)
    mispaired       labels of each finding dealt anew (other patients' CTs): flat
    half mispaired  the same of a half of the exams, or a third
    sure words      "present" and "absent" right less often (of .95 and .97 some .81 and .87 are
                    left), hedges as they are: worse than any reader above, and no fault of pairing
    one finding     the most written finding's labels turned round, the others as they are

Printed are the shares of readers whose words are said to fall, to be flat, to be mixed, and of whom
single findings are set aside, with the last as counts. ``--answers FILE`` keeps every reader.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.departments.exams import CONDITIONS
from benchmarks.departments.staff import draw_mixed_staff, draw_staff, scale
from benchmarks.departments.truth import Department, ReaderTruth, draw_department
from calibration.profile.department import set_aside
from calibration.profile.rows import read_rows
from calibration.profile.settings import ProfileSettings
from calibration.profile.tables import hedged
from calibration.profile.vocabulary import vocabulary

RULES: Final = ProfileSettings()
WORDS: Final = vocabulary(scale(), settings=RULES)
HEDGES: Final = (10, 50, 100, 200, 400)

Fault = Callable[[pd.DataFrame, np.random.Generator], pd.Series]


def mispaired(rows: pd.DataFrame, rng: np.random.Generator, share: float = 1.0) -> pd.Series:
    """Deal the labels of each finding anew, of a share of the patients."""
    patients = rows["patient"].unique()
    dealt = rows["patient"].isin(patients[rng.random(len(patients)) < share])
    found = rows["label"].copy()
    for _, own in rows[dealt].groupby("pathology"):
        found[own.index] = rng.permutation(own["label"].to_numpy())
    return found


def sure_words(rows: pd.DataFrame, rng: np.random.Generator) -> pd.Series:
    """Contradict "present" and "absent" more often."""
    more = rng.random(len(rows)) < rows["phrase"].map({"present": 0.15, "absent": 0.1}).fillna(0.0)
    return rows["label"].where(~more, (rows["phrase"] == "absent").astype(float))


def one_finding(rows: pd.DataFrame, _: np.random.Generator) -> pd.Series:
    """Turn the labels of the finding round of which most hedges are written."""
    most = rows.loc[_hedges(rows), "pathology"].value_counts().index[0]
    return rows["label"].where(rows["pathology"] != most, 1.0 - rows["label"])


FAULTS: Final[dict[str, Fault]] = {
    "as they are": lambda rows, _: rows["label"],
    "reversed": lambda rows, _: 1.0 - rows["label"],
    "mispaired": mispaired,
    "half mispaired": partial(mispaired, share=0.5),
    "third mispaired": partial(mispaired, share=1 / 3),
    "sure words": sure_words,
    "one finding": one_finding,
}


def _hedges(rows: pd.DataFrame) -> pd.Series:
    return rows["phrase"].isin(WORDS.hedges)


def readers(department: Department, rng: np.random.Generator) -> pd.DataFrame:
    """Judge every reader of a department at every number of hedges and under every fault."""
    every, asked = department.observations, list[dict[str, Any]]()
    for truth in department.truths:
        own = every[every["reader"] == truth.reader.name].set_index("patient")
        others = every[every["reader"] != truth.reader.name]
        own = own.loc[rng.permutation(own.index.unique())].reset_index()
        seen = _hedges(own).cumsum()
        for hedges in [n for n in HEDGES if n <= seen.iloc[-1]]:
            rows = own[seen <= hedges]
            for fault, done in FAULTS.items():
                one = pd.concat([others, rows.assign(label=done(rows, rng))])
                of = {"kind": kind(truth), "hedges": hedges, "fault": fault}
                asked.append(of | told(one, truth.reader.name))
    return pd.DataFrame(asked)


def kind(truth: ReaderTruth) -> str:
    """Name how a reader is off."""
    if truth.reader.habit is not None:
        return "habit"
    if truth.is_calibrated:
        return "calibrated"
    return ", ".join(sorted(truth.standing.clear())) or "slightly off"


def told(rows: pd.DataFrame, name: str) -> dict[str, Any]:
    """Ask whether a reader's words rise."""
    read = read_rows(rows, table=scale())
    found, r = set_aside(hedged(read, WORDS, misread=0.0), read, RULES)[1], read.readers.index(name)
    whole, way = found.whole[r], found.way(r, RULES)
    return {
        "falls": whole and way == "falls",
        "flat": whole and way == "flat",
        "mixed": whole and way == "mixed",
        "single": 0 if whole else int(found.out[r].sum()),
        "slope": found.every.mean[r],
        "sd": found.every.sd[r],
        "share": found.share[r],
        "doubt": found.doubt[r],
    }


def table(found: pd.DataFrame) -> str:
    """Return the shares by fault, kind of reader and hedges."""
    lines = [f"{'':50s}{'readers':>9s}{'falls':>9s}{'flat':>9s}{'mixed':>9s}{'single':>9s}"]
    for (fault, hedges), rows in found.groupby(["fault", "hedges"], sort=False):
        lines.append(_line(f"{fault}, {hedges} hedges", rows))
    for name, rows in found[found["fault"] == "as they are"].groupby("kind"):
        lines.append(_line(f"as they are, {name}", rows))
    return "\n".join(lines)


def _line(name: str, rows: pd.DataFrame) -> str:
    single = (rows["single"] > 0).mean()
    shares = "".join(f"{rows[way].mean():9.2%}" for way in ("falls", "flat", "mixed"))
    return f"{name:50s}{len(rows):9,d}{shares}{single:9.2%}"


def main() -> None:
    """Print a table for every condition, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--departments", type=int, default=40, help="of each condition and staff")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--answers", type=Path, help="CSV of every reader")
    options = parser.parse_args()
    every = []
    for number in range(options.departments):
        for place, condition in enumerate(CONDITIONS):
            for staff in (draw_staff, draw_mixed_staff):
                rng = np.random.default_rng([options.seed, place, number, staff is draw_staff])
                department = draw_department(CONDITIONS[condition], rng=rng, staffed=staff)
                rows = readers(department, rng)
                every.append(rows.assign(condition=condition))
    found = pd.concat(every, ignore_index=True)
    for condition, rows in found[found["fault"] == "as they are"].groupby("condition"):
        print(_line(f"as they are, {condition}", rows))
    print(table(found))
    if options.answers is not None:
        found.to_csv(options.answers, index=False)


if __name__ == "__main__":
    main()
