"""How often the intervals of the measures of disagreement hold the truth, and how far they lie off.

Run ``python benchmarks/neighbours_coverage.py [samples]``. Items of three classes have frequencies
π ~ Dirichlet(.7); a prediction is π sharpened (power 1.5), π itself or π blurred (power .5), and
each item has four votes. The target is the value on 200,000 items with as many votes. Intervals
rest on 200 bootstrap replicates and should cover 95 %.
"""

from __future__ import annotations

import sys
from typing import Final

import numpy as np

from calibration.estimate import Estimate
from calibration.neighbours.disagreement import disagreement

MEASURES: Final = ("distance", "brier", "confidence_ece", "classwise_ece")
SHARPNESS: Final = {"too sharp": 1.5, "exact": 1.0, "too blurred": 0.5}


def measured(size: int, power: float, seed: int, *, bootstrap: int) -> dict[str, Estimate]:
    """Measure one sample."""
    g = np.random.default_rng(seed)
    truth = g.dirichlet([0.7] * 3, size)
    probs = truth**power
    probs /= probs.sum(axis=1, keepdims=True)
    votes = g.multinomial(4, truth)
    return disagreement(probs=probs, votes=votes, rng=g, bootstrap=bootstrap).estimates


def main() -> None:
    """Print bias and coverage of each measure."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print(f"{samples} samples\nprediction   items  measure           truth    bias  coverage")
    for name, power in SHARPNESS.items():
        target = measured(200_000, power, 0, bootstrap=0)
        for size in (100, 1000):
            found = [measured(size, power, 1 + seed, bootstrap=200) for seed in range(samples)]
            for measure in MEASURES:
                truth, each = target[measure].value, [one[measure] for one in found]
                bias = np.mean([one.value for one in each]) - truth
                held = np.mean([one.low <= truth <= one.high for one in each])
                print(f"{name:12s} {size:5d}  {measure:15s} {truth:7.3f} {bias:+7.3f}  {held:8.1%}")


if __name__ == "__main__":
    main()
