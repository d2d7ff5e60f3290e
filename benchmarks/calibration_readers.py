"""What shrinkage does for small readers: error and coverage of rates, three ways.

Run ``python benchmarks/calibration_readers.py [departments]``. Departments of 20 readers are drawn
with reader intercepts (sd .4), slopes (sd .1) and phrase quirks (sd .2) on the log-odds scale.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.special import expit, logit

from calibration.phrase_calibration import phrase_calibration, wilson
from calibration.reader_effects import reader_effects
from calibration.readers import department, shrink
from calibration.survey import builtin
from calibration.tally import tally

SCALE = builtin("diagnostic-certainty-scale")
BASE = logit(np.clip(SCALE.means, 0.01, 0.99))
READERS = 20


def one(size: int, g: np.random.Generator) -> list[float]:
    """Errors and coverages of one department."""
    truth, tallies = [], []
    for _ in range(READERS):
        quirks = 0.2 * g.normal(size=len(SCALE))
        rate = expit(BASE * (1 + 0.1 * g.normal()) + 0.4 * g.normal() + quirks)
        phrase = g.integers(0, len(SCALE), size)
        label = (g.random(size) < rate[phrase]).astype(float)
        truth.append(rate)
        tallies.append(tally(phrase, label, n_phrases=len(SCALE)))
    true = np.array(truth)
    n = np.array([t.n for t in tallies])
    mass = np.array([t.label_mass for t in tallies])
    used = n > 0
    low, high = wilson(mass, n)
    raw = np.where(used, mass / np.maximum(n, 1.0), np.nan)
    together = department(tallies)
    alone = [shrink(phrase_calibration(t, phrase_table=SCALE), toward=together) for t in tallies]
    pooled = np.array([[p.shrunk, p.shrunk_low, p.shrunk_high] for p in alone])
    mixed = reader_effects(tallies, means=SCALE.means)
    figures: list[float] = []
    for rate, lower, upper in (
        (raw, low, high),
        (pooled[:, 0], pooled[:, 1], pooled[:, 2]),
        (mixed.rate, mixed.low, mixed.high),
    ):
        inside = (lower <= true) & (true <= upper)
        figures += [float(np.abs(rate - true)[used].mean()), float(inside[used].mean())]
    return figures


def main() -> None:
    """Print everything."""
    departments = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    g = np.random.default_rng(0)
    print("mean |error| and coverage of 95 % intervals of phrase rates, where the phrase was used")
    print("   n   raw (Wilson)     phrase by phrase   mixed model")
    for size in (30, 100, 300, 1000):
        mean = np.mean([one(size, g) for _ in range(departments)], axis=0)
        cells = [f"{mean[i]:.3f} {mean[i + 1]:6.1%}" for i in (0, 2, 4)]
        print(f"{size:5d}  " + "     ".join(cells))


if __name__ == "__main__":
    main()
