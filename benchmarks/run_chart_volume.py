"""Run charts of departments that change and that do not: `python benchmarks/run_chart_volume.py`.

The review's chart of the distance from CT (`pipeline.pages.over_time.run_charts`) is drawn of words
that are as far from CT all along, in months whose statements stay, grow or shrink fourfold, double
at half time, or halve each summer. Words are exactly right, or too sure by ten points; readers are
alike, or differ while the rota gives each another share every month. Printed: how many charts have
a signal, which they should not. Then, of months of 300 statements that change after the twelfth:
how many charts have a signal of it after so many more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit

sys.path.insert(0, str(Path(__file__).parents[1]))

from calibration.survey import builtin
from pipeline.config import Configuration
from pipeline.pages.over_time import run_charts
from pipeline.pages.sensitivity import Evidence
from pipeline.simulate.rates import hedged
from pipeline.tables.results import Scale
from reports.review_content import RunChart

READERS: Final = 7
KINDS: Final = ("as many", "growing", "shrinking", "doubled", "summers")
AFTER: Final = (2, 4, 6, 9, 12)
SCALE: Final = Scale(builtin("diagnostic-certainty-scale"), Configuration(input={"paths": ["a"]}))
MEANS: Final = SCALE.phrases.means


def sizes(kind: str, months: int) -> np.ndarray:
    """Give the statements of each month."""
    at = np.arange(months)
    return {
        "as many": np.full(months, 300.0),
        "growing": np.linspace(150.0, 600.0, months),
        "shrinking": np.linspace(600.0, 150.0, months),
        "doubled": np.where(at < months / 2, 300.0, 600.0),
        "summers": np.where((at % 12 >= 5) & (at % 12 <= 7), 200.0, 500.0),
    }[kind]


def rates(use: np.ndarray, distance: float, apart: np.ndarray) -> np.ndarray:
    """Give readers' rates (R, K) of words so far from CT by being too sure, readers apart."""
    words, places = hedged(MEANS), logit(np.clip(MEANS, 1e-9, 1.0 - 1e-9))

    def of(slope: float, shift: np.ndarray) -> np.ndarray:
        return np.where(words, expit(shift[:, None] + slope * places), MEANS)

    def far(slope: float) -> float:
        return float(np.abs(of(slope, np.zeros(1)) - MEANS)[0] @ use) - distance

    return of(brentq(far, -1.0, 1.0) if distance else 1.0, apart)


def cells(
    statements: np.ndarray, distances: Sequence[float], rng: np.random.Generator, *, rota: bool
) -> pd.DataFrame:
    """Draw a department's months, each so far from CT; with a rota readers differ as well."""
    use, rows = rng.dirichlet(np.full(len(MEANS), 2.0)), []
    apart = rng.normal(0.0, 0.5, READERS) if rota else np.zeros(READERS)
    of = {distance: rates(use, distance, apart) for distance in {*distances}}
    for t, (size, distance) in enumerate(zip(statements, distances, strict=True)):
        share = rng.dirichlet(np.full(READERS, 2.0 if rota else 1e6))
        n = np.stack([rng.multinomial(rng.poisson(size * each), use) for each in share])
        right = rng.binomial(n, of[distance])
        for r, k in np.argwhere(n > 0).tolist():
            for label, count in ((1.0, right[r, k]), (0.0, n[r, k] - right[r, k])):
                phrase = SCALE.phrases.phrases[k]
                rows.append((month(t), f"R{r}", "finding", phrase, label, int(count)))
    columns = ["month", "reader_code", "pathology", "phrase", "label_value", "count"]
    return pd.DataFrame(rows, columns=columns)


def month(t: int) -> str:
    """Name a month by its place."""
    return f"{2020 + t // 12}-{t % 12 + 1:02d}"


def chart(drawn: pd.DataFrame, months: int) -> RunChart:
    """Chart the distance of the first so many months."""
    names = [month(t) for t in range(months)]
    nothing = pd.DataFrame({"performed_month": [], "reader_code": [], "phrase": [], "n": []})
    evidence = Evidence(
        cells=drawn[drawn["month"].isin(names)], alternatives=nothing, mix=nothing, words=nothing,
        coverage=pd.DataFrame({"performed_month": names, "n": 1000}), written=nothing,
    )  # fmt: skip
    return run_charts(evidence, months=names, scale=SCALE)[0]


def seen(distances: tuple[float, float], rng: np.random.Generator) -> list[bool]:
    """Say after how many months a change has a signal, in its direction and since it."""
    whole = [distances[0]] * 12 + [distances[1]] * max(AFTER)
    drawn = cells(np.full(len(whole), 300.0), whole, rng, rota=False)
    return [
        any(s.at >= 12 and s.up == (distances[1] > distances[0]) for s in found.process.signals)
        for found in (chart(drawn, 12 + after) for after in AFTER)
    ]


def main() -> None:
    """Print the shares of charts with a signal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--charts", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for months in (12, 24):
        for rota, distance in ((False, 0.0), (False, 0.1), (True, 0.1)):
            false = []
            for kind in KINDS:
                rng = np.random.default_rng([options.seed, months, len(kind), rota])
                drawn = (
                    cells(sizes(kind, months), [distance] * months, rng, rota=rota)
                    for _ in range(options.charts)
                )
                found = np.mean([bool(chart(each, months).process.signals) for each in drawn])
                false.append(f"{kind} {found:.1%}")
            what = f"{months} months, {distance:.0%} from CT{', a rota' * rota}"
            print(f"{what}: {', '.join(false)}", flush=True)
    for change in ((0.0, 0.05), (0.05, 0.1), (0.1, 0.05)):
        rng = np.random.default_rng([options.seed, *(int(100 * each) for each in change)])
        found = np.mean([seen(change, rng) for _ in range(options.charts)], axis=0)
        after = (f"{n} months {share:.0%}" for n, share in zip(AFTER, found, strict=True))
        print(f"from {change[0]:.0%} to {change[1]:.0%}: seen after {', '.join(after)}", flush=True)


if __name__ == "__main__":
    main()
