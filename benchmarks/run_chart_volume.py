"""Steady words in months of changing size: `python benchmarks/run_chart_volume.py [--charts 100]`.

The review's chart of the distance from CT (`pipeline.pages.over_time.run_charts`) is drawn of words
that are exactly right all along, in months whose statements stay, grow fourfold, double at half
time, or halve each summer. Printed: how many charts have a signal, and how many would by the
months' plain distances.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from calibration.phrase_calibration import phrase_error
from calibration.run_chart import process
from calibration.survey import builtin
from pipeline.config import Configuration
from pipeline.pages.over_time import run_charts
from pipeline.pages.sensitivity import Evidence
from pipeline.tables.results import Scale

READERS: Final = 7


def sizes(kind: str, months: int) -> np.ndarray:
    """Give the statements of each month."""
    at = np.arange(months)
    return {
        "as many": np.full(months, 300.0),
        "growing": np.linspace(150.0, 600.0, months),
        "doubled": np.where(at < months / 2, 300.0, 600.0),
        "summers": np.where((at % 12 >= 5) & (at % 12 <= 7), 200.0, 500.0),
    }[kind]


def signals(kind: str, months: int, scale: Scale, rng: np.random.Generator) -> tuple[bool, bool]:
    """Draw one department, and say whether its chart and its plain distances have a signal."""
    phrases, means = scale.phrases.phrases, scale.phrases.means
    names = [f"{2020 + i // 12}-{i % 12 + 1:02d}" for i in range(months)]
    use, rows, plain = rng.dirichlet(np.full(len(means), 2.0)), [], []
    for name, size in zip(names, sizes(kind, months), strict=True):
        n = rng.multinomial(rng.poisson(size / READERS), use, size=READERS)
        right = rng.binomial(n, means)
        plain.append(float(phrase_error(n.sum(axis=0), right.sum(axis=0), means=means)))
        for r, k in np.argwhere(n > 0).tolist():
            for label, count in ((1.0, right[r, k]), (0.0, n[r, k] - right[r, k])):
                rows.append((name, f"R{r}", "finding", phrases[k], label, int(count)))
    columns = ["month", "reader_code", "pathology", "phrase", "label_value", "count"]
    nothing = pd.DataFrame({"performed_month": [], "reader_code": [], "phrase": [], "n": []})
    evidence = Evidence(
        cells=pd.DataFrame(rows, columns=columns), alternatives=nothing, mix=nothing, words=nothing,
        coverage=pd.DataFrame({"performed_month": names, "n": 1000}), written=nothing,
    )  # fmt: skip
    distance, _ = run_charts(evidence, months=names, scale=scale)
    return bool(distance.process.signals), bool(process(np.array(plain)).signals)


def main() -> None:
    """Print the share of charts with a signal, by how months change and how many there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--charts", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    scale = Scale(builtin("diagnostic-certainty-scale"), Configuration(input={"paths": ["a"]}))
    for months in (12, 24):
        for kind in ("as many", "growing", "doubled", "summers"):
            rng = np.random.default_rng([options.seed, months, len(kind)])
            found = [signals(kind, months, scale, rng) for _ in range(options.charts)]
            chart, plain = np.mean(found, axis=0)
            print(
                f"{months} months, {kind}: {chart:.0%} (plain distances: {plain:.0%})", flush=True
            )


if __name__ == "__main__":
    main()
