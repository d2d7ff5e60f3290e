"""How often a page advises rightly: `python benchmarks/feedback_simulation.py [departments]`.

In each simulated department a reader writes about 1,200 statements on 12 pathologies with the
simulated hospital's phrase habits. A calibrated reader's every hedged phrase is right at the rate
its readers expect; an overconfident one is too sure by .25 of one phrase, used in 100 exams. Both
go through the functions the job uses: `group_results` on a tally table (every pathology with
enough exams, and all together) and the page's own choice of at most three actions.

Printed: the share of calibrated readers without any advice (wanted: at least 95 %) and, phrase by
phrase, the share of overconfident ones whose first action replaces it by a milder one (wanted: at
least 80 %), with Wilson intervals. The shipped configuration never suggests discouraged words, so
"likely" and "may represent" have no near milder neighbour left and whether the far one is better
can often not be shown on 100 exams; the last line lifts that ban.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

from calibration.phrase_calibration import wilson
from calibration.substitution import Suggestion
from calibration.survey import builtin
from pipeline.config import Configuration
from pipeline.simulate.lexicon import hospital
from pipeline.stages import content
from pipeline.stages.results import Period, Scale, group_results
from reports.advice import actions
from reports.content import SuppressedCell
from reports.strings import Strings

STATEMENTS, USES, SHIFT = 1200, 100, 0.25
SHARES = np.array([20, 15, 12, 10, 9, 8, 7, 6, 5, 4, 2, 2]) / 100
NAMES = [f"pathology {i:02d}" for i in range(len(SHARES))]
SOURCE = {"input": {"paths": ["none"]}, "calibration": {"bootstrap": 100}}
SHIPPED = Configuration(**SOURCE)
ANY_WORD = Configuration(**SOURCE, phrases={"discouraged": ()})
PHRASES = builtin("diagnostic-certainty-scale").with_borrowed(SHIPPED.phrases.borrow)


@dataclass(frozen=True)
class Case:
    """One line of the table: a phrase in 100 exams, and by how much it is too sure."""

    phrase: str
    shift: float = SHIFT
    spread: bool = True
    config: Configuration = SHIPPED

    def __str__(self) -> str:
        if not self.shift:
            return "calibrated reader: no advice"
        where = "" if self.spread else ", all in one pathology"
        ban = "" if self.config is SHIPPED else ", discouraged words allowed"
        return f"{self.phrase!r} too sure by {self.shift:.2f}{where}{ban}: first advice"


CASES = (
    Case("likely", 0.0),
    Case("likely"),
    Case("likely", spread=False),
    Case("may represent"),
    Case("most likely"),
    Case("possibly"),
    Case("consistent with"),
    Case("likely", config=ANY_WORD),
)


def habits(phrase: str) -> np.ndarray:
    """Share of each other phrase among a reader's statements."""
    weights = hospital()["phrase_weights"]
    known = np.array([weights.get(p, 0.0) for p in PHRASES.phrases])
    known[PHRASES.index(phrase)] = 0.0
    return known / known.sum()


def reader(g: np.random.Generator, case: Case) -> pd.DataFrame:
    """Draw one reader's tally table; the phrase is used USES times, in one pathology or in all."""
    names, index = np.array(PHRASES.phrases), PHRASES.index(case.phrase)
    others = g.choice(len(names), size=STATEMENTS - USES, p=habits(case.phrase))
    spoken = np.append(others, np.full(USES, index))
    finding = g.choice(len(NAMES), size=STATEMENTS, p=SHARES)
    if not case.spread:
        finding[-USES:] = 0
    rate = PHRASES.means.copy()
    rate[index] -= case.shift
    rows = pd.DataFrame(
        {
            "pathology": np.array(NAMES)[finding],
            "phrase": names[spoken],
            "label_value": (g.random(STATEMENTS) < rate[spoken]).astype(float),
        }
    )
    return rows.groupby(list(rows.columns)).size().rename("count").reset_index()


def first_advice(cells: pd.DataFrame, name: str, config: Configuration) -> Suggestion | None:
    """Choose the first action of one reader's page as the job does."""
    scale = Scale(PHRASES, config)
    filled = content.radiologist_content(
        content.Issue(config, Period("2026-09", ("2026-09",))),
        name,
        results=group_results(cells, name=name, pathologies=NAMES, scale=scale),
        department=SuppressedCell(5, "readers"),
        trend=(),
        reader_cases=(),
        coverage=None,
        measured=content.instrument("none", counts=()),
    )
    chosen = actions(filled, words=Strings.load())
    return chosen[0].suggestion if chosen else None


def hit(case: Case, first: Suggestion | None) -> bool:
    """Whether the page did what is wanted."""
    if not case.shift:
        return first is None
    return (
        first is not None and first.source == case.phrase and first.target_expected < first.expected
    )


def main() -> None:
    """Run all departments and print one line a case."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    start = time.perf_counter()
    for number, case in enumerate(CASES):
        hits, told = 0, Counter()
        for run in range(runs):
            cells = reader(np.random.default_rng([2026, number, run]), case)
            first = first_advice(cells, f"{case}/{run}", case.config)
            hits += hit(case, first)
            told[f"{first.source} -> {first.target}" if first else "nothing"] += 1
        low, high = wilson(np.array([float(hits)]), np.array([float(runs)]))
        share = f"{hits / runs:6.1%} ({low[0]:.1%} to {high[0]:.1%})"
        print(f"{case!s:72s} {share}   {dict(told.most_common(5))}", flush=True)
    print(f"{runs} departments, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
