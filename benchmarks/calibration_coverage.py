"""Bias and coverage of every estimator and interval, by simulation.

Run ``python benchmarks/calibration_coverage.py [samples]``. Two readers over the radiology scale:
one calibrated phrase by phrase, one too sure (true rate .5 + .6 (mean − .5)). The target of an
estimator is its value at infinite n under the same phrase use. Intervals rest on 400 bootstrap
replicates and should cover 95 %.
"""

from __future__ import annotations

import sys

import numpy as np

from calibration.bands import phrase_error_interval, simultaneous_band
from calibration.bins import phrase_bins
from calibration.curve import calibration_error, curve_points
from calibration.estimate import interval, multinomial_moments
from calibration.phrase_calibration import phrase_error, wilson
from calibration.regression import logistic_calibration
from calibration.scores import brier
from calibration.survey import builtin
from calibration.tally import tally

SCALE = builtin("diagnostic-certainty-scale")
TABLES = phrase_bins(SCALE.distributions)
USE = np.ones(len(SCALE)) / len(SCALE)
RULES = ("percentile", "basic", "bias-corrected")
REPLICATES = 400


def statistics(n: np.ndarray, mass: np.ndarray) -> dict[str, np.ndarray]:
    """Every estimator at once."""
    return {
        "ECE": calibration_error(n, mass, tables=TABLES),
        "phrase error": phrase_error(n, mass, means=SCALE.means),
        "Brier": brier(n, mass, means=SCALE.means, variances=SCALE.variances),
    }


def simulate(rate: np.ndarray, size: int, samples: int, g: np.random.Generator) -> None:
    """One reader and one size."""
    truth = {k: float(v) for k, v in statistics(USE, USE * rate).items()}
    curve, _, density = curve_points(USE, USE * rate, tables=TABLES)
    hits = {(s, r): 0 for s in truth for r in RULES}
    values: dict[str, list[float]] = {s: [] for s in truth}
    corrected: dict[str, list[float]] = {s: [] for s in truth}
    point = band = wilson_hit = wilson_all = slope = lines = inverted = 0.0
    for _ in range(samples):
        phrase = g.choice(len(SCALE), size=size, p=USE)
        label = (g.random(size) < rate[phrase]).astype(float)
        counted = tally(phrase, label, n_phrases=len(SCALE))
        n, mass = multinomial_moments(counted, replicates=REPLICATES, rng=g)
        now, again = statistics(counted.n, counted.label_mass), statistics(n, mass)
        for name, wanted in truth.items():
            value = float(now[name])
            values[name].append(value)
            corrected[name].append(2 * value - float(again[name].mean()))
            for rule in RULES:
                low, high = interval(value, again[name], rule=rule)  # type: ignore[arg-type]
                hits[name, rule] += low <= wanted <= high
        low_p, high_p = phrase_error_interval(
            counted.n, counted.label_mass, means=SCALE.means, replicates=200, rng=g
        )
        inverted += low_p - 1e-9 <= truth["phrase error"] <= high_p + 1e-9
        curves, _, _ = curve_points(n, mass, tables=TABLES)
        low_r, high_r = np.nanquantile(curves, [0.025, 0.975], axis=0)
        point += float(density @ ((low_r <= curve) & (curve <= high_r)))
        low_b, high_b = simultaneous_band(
            counted.n, counted.label_mass, tables=TABLES, replicates=200, rng=g
        )
        band += bool(np.all((low_b <= curve) & (curve <= high_b)))
        low_w, high_w = wilson(counted.label_mass, counted.n)
        used = counted.n > 0
        wilson_hit += float(np.sum((low_w <= rate + 1e-12)[used] & (rate - 1e-12 <= high_w)[used]))
        wilson_all += float(used.sum())
        line = logistic_calibration(counted, phrase_table=SCALE).slope
        if np.isfinite(line.value):
            lines += 1
            slope += line.low <= SLOPES[size] <= line.high
    for name, wanted in truth.items():
        cover = "  ".join(f"{hits[name, r] / samples:6.1%}" for r in RULES)
        bias = np.mean(values[name]) - wanted
        better = np.mean(corrected[name]) - wanted
        print(f"{size:5d}  {name:13s} {wanted:.4f}   {bias:+.4f}   {better:+.4f}   {cover}")
    print(
        f"{size:5d}  curve: pointwise {point / samples:.1%}, simultaneous band "
        f"{band / samples:.1%}; Wilson {wilson_hit / wilson_all:.1%}; "
        f"phrase error by test inversion {inverted / samples:.1%}; "
        f"calibration slope (Wald) {slope / max(lines, 1):.1%} of {lines:.0f} lines"
    )


SLOPES: dict[int, float] = {}


def true_slope(rate: np.ndarray) -> float:
    """Slope that the line would have with endless data."""
    from calibration.tally import Tally

    exact = Tally.from_moments(1e6 * USE, 1e6 * USE * rate)
    return logistic_calibration(exact, phrase_table=SCALE).slope.value


def main() -> None:
    """Print everything."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    g = np.random.default_rng(0)
    readers = {
        "calibrated": np.clip(SCALE.means, 0.01, 0.99),
        "too sure": 0.5 + 0.6 * (SCALE.means - 0.5),
    }
    for name, rate in readers.items():
        print(f"\n{name} reader, {samples} samples, {REPLICATES} replicates")
        print("    n  estimator     truth    bias      corrected  " + "  ".join(RULES))
        for size in (30, 100, 300, 1000):
            SLOPES[size] = true_slope(rate)
            simulate(rate, size, samples, g)


if __name__ == "__main__":
    main()
