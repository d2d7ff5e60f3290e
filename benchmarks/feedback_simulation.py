"""How often a page advises rightly: `python benchmarks/feedback_simulation.py [departments]`.

In each simulated department a reader writes about 1,200 statements on 12 pathologies with the
simulated hospital's phrase habits. A calibrated reader's every hedged phrase is right at the rate
its readers expect; an overconfident one is too sure by .25 of one phrase, used in 100 exams: the
finding is there .25 less often than readers expect or, for a phrase that says it is improbable,
.25 more often. Both go through the functions the job uses, under the shipped configuration:
`group_results` on a tally table (every pathology with enough exams, and all together) and the
page's own choice of at most three actions.

Printed, with Wilson intervals: the share of calibrated readers without any advice (wanted: at least
95 %); for every phrase in common use, the share of overconfident ones whose first action replaces
it by one on the right side of it (wanted: at least 80 %); and how many of all the swaps advised lie
further from the truth than the reader's own word. A phrase that no permitted word could replace for
the better (statements of 100 %, which are protected) is said to be so and stands in no share.
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
from calibration.substitution.choice import Setting
from calibration.survey import builtin
from pipeline.config import Configuration
from pipeline.pages import content
from pipeline.simulate.lexicon import hospital
from pipeline.tables.results import Period, Scale, group_results
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
        return f"{self.phrase!r} too sure by {abs(self.shift):.2f}{where}{ban}: first advice"


COMMON = 2.0
"""Weight in the simulated hospital's phrase habits from which a phrase is common."""


def cases() -> list[Case]:
    """Calibrated readers first, then every common phrase too sure."""
    weights = hospital()["phrase_weights"]
    common = sorted((p for p in PHRASES.phrases if weights.get(p, 0.0) >= COMMON), key=mean_of)
    too_low = [Case(p, -SHIFT) for p in common if 0.0 < mean_of(p) < SHIFT]
    too_high = [Case(p) for p in common if mean_of(p) >= SHIFT]
    special = [Case("likely", spread=False), Case("likely", config=ANY_WORD)]
    return [Case("likely", 0.0), *too_low, *too_high, *special]


def mean_of(phrase: str) -> float:
    """Give what readers of a phrase expect."""
    return float(PHRASES.means[PHRASES.index(phrase)])


def closer_words(case: Case) -> list[str]:
    """Permitted words nearer to the truth of a case than the phrase itself."""
    setting = Setting.of(PHRASES, Scale(PHRASES, case.config).guard_rails)
    truth = mean_of(case.phrase) - case.shift
    nearer = np.abs(PHRASES.means - truth) < abs(case.shift)
    nearer &= setting.allowed[PHRASES.index(case.phrase)]
    return [PHRASES.phrases[k] for k in np.flatnonzero(nearer)]


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


def advised(cells: pd.DataFrame, name: str, config: Configuration) -> list[Suggestion]:
    """Choose the actions of one reader's page as the job does."""
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
    return [action.suggestion for action in actions(filled, words=Strings.load())]


def worse(case: Case, swaps: list[Suggestion]) -> int:
    """How many swaps lie further from the truth than the reader's own words."""
    truth = [mean_of(s.source) - case.shift * (s.source == case.phrase) for s in swaps]
    return sum(
        abs(s.target_expected - t) > abs(s.expected - t) for s, t in zip(swaps, truth, strict=True)
    )


def hit(case: Case, first: Suggestion | None) -> bool:
    """Whether the page did what is wanted."""
    if not case.shift:
        return first is None
    if first is None or first.source != case.phrase:
        return False
    return (first.expected - first.target_expected) * case.shift > 0


def main() -> None:
    """Run all departments and print one line a case."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    start = time.perf_counter()
    for number, case in enumerate(cases()):
        if case.shift and not closer_words(case):
            print(f"{case!s:72s} no permitted word is closer to the truth", flush=True)
            continue
        hits, wrong, told = 0, 0, Counter()
        for run in range(runs):
            cells = reader(np.random.default_rng([2026, number, run]), case)
            swaps = advised(cells, f"{case}/{run}", case.config)
            first = swaps[0] if swaps else None
            hits += hit(case, first)
            wrong += worse(case, swaps)
            told[f"{first.source} -> {first.target}" if first else "nothing"] += 1
        low, high = wilson(np.array([float(hits)]), np.array([float(runs)]))
        share = f"{hits / runs:6.1%} ({low[0]:.1%} to {high[0]:.1%})"
        print(f"{case!s:72s} {share}  {wrong} worse  {dict(told.most_common(5))}", flush=True)
    print(f"{runs} departments, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
