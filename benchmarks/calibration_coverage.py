"""Bias and coverage of every estimator and interval, by simulation.

Run ``python benchmarks/calibration_coverage.py [samples]``; with ``few`` behind it alone for words
nearly all or none of which are true. Three readers over the radiology scale:
one calibrated phrase by phrase, one too sure (true rate .5 + .6 (mean − .5)), one whose "likely" is
right in .4 and all else as it says. The target of an
estimator is its value at infinite n under the same phrase use. Intervals rest on 400 bootstrap
replicates and should cover 95 %. Then patients who come three times, with half of the exams, and
whose findings go together: intervals that know nothing of them, that resample them, and that know
how alike theirs are (the design effects that pages use).
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from scipy.special import ndtr

from calibration.bins import phrase_bins
from calibration.curve import calibration_error, curve_points, simultaneous_band
from calibration.estimate import Options, interval, likeness, multinomial_moments
from calibration.phrase_calibration import phrase_error, phrase_error_interval, wilson
from calibration.regression import logistic_calibration
from calibration.result import calibrate
from calibration.rounding import rounded
from calibration.scores import brier
from calibration.survey import builtin
from calibration.tally import GroupedTally, Tally, tally, tally_groups

SCALE = builtin("diagnostic-certainty-scale")
TABLES = phrase_bins(SCALE.distributions)
USE = np.ones(len(SCALE)) / len(SCALE)
RULES: Final = ("percentile", "basic", "bias-corrected")
REPLICATES = 400


def statistics(n: np.ndarray, mass: np.ndarray) -> dict[str, np.ndarray]:
    """Every estimator at once."""
    return {
        "ECE": calibration_error(n, mass, tables=TABLES),
        "phrase error": phrase_error(n, mass, means=SCALE.means),
        "Brier": brier(n, mass, means=SCALE.means, variances=SCALE.variances),
    }


@dataclass(frozen=True, slots=True)
class Truth:
    """What endless data of one reader would show: rates by phrase, estimators, curve and slope."""

    rate: np.ndarray
    exact: dict[str, float]
    curve: np.ndarray
    density: np.ndarray
    slope: float

    @classmethod
    def of(cls, rate: np.ndarray) -> Truth:
        """Work it out from the rate (K,) at which each phrase is right."""
        values = {k: float(v) for k, v in statistics(USE, USE * rate).items()}
        curve, _, density = curve_points(USE, USE * rate, tables=TABLES)
        exact = Tally.from_moments(1e6 * USE, 1e6 * USE * rate)
        slope = logistic_calibration(exact, phrase_table=SCALE).slope.value
        return cls(rate, values, curve, density, slope)


def trial(truth: Truth, size: int, g: np.random.Generator) -> dict[str, float]:
    """Draw one sample of a reader: every estimator, and which intervals held the truth."""
    phrase = g.choice(len(SCALE), size=size, p=USE)
    label = (g.random(size) < truth.rate[phrase]).astype(float)
    counted = tally(phrase, label, n_phrases=len(SCALE))
    n, mass = multinomial_moments(counted, replicates=REPLICATES, rng=g)
    now, again = statistics(counted.n, counted.label_mass), statistics(n, mass)
    found: dict[str, float] = {}
    for name, wanted in truth.exact.items():
        value = float(now[name])
        found[name], found[f"{name} corrected"] = value, 2 * value - float(again[name].mean())
        for rule in RULES:
            low, high = interval(value, again[name], rule=rule)
            found[f"{name} {rule}"] = low <= wanted <= high
    _, low_p, high_p = phrase_error_interval(counted, means=SCALE.means, replicates=200, rng=g)
    found["inverted"] = low_p - 1e-9 <= truth.exact["phrase error"] <= high_p + 1e-9
    curves, _, _ = curve_points(n, mass, tables=TABLES)
    low_r, high_r = np.nanquantile(curves, [0.025, 0.975], axis=0)
    found["pointwise"] = truth.density @ ((low_r <= truth.curve) & (truth.curve <= high_r))
    low_b, high_b = simultaneous_band(
        counted.n, counted.label_mass, tables=TABLES, replicates=200, rng=g
    )
    found["band"] = np.all((low_b <= truth.curve) & (truth.curve <= high_b))
    low_w, high_w = wilson(counted.label_mass, counted.n)
    within = (low_w <= truth.rate + 1e-12) & (truth.rate - 1e-12 <= high_w)
    found["used"], found["within"] = (counted.n > 0).sum(), within[counted.n > 0].sum()
    line = logistic_calibration(counted, phrase_table=SCALE).slope
    found["slope"] = line.low <= truth.slope <= line.high if np.isfinite(line.value) else np.nan
    return {name: float(value) for name, value in found.items()}


def show(truth: Truth, size: int, trials: list[dict[str, float]]) -> None:
    """Print bias and coverage of one reader and one size."""
    every = pd.DataFrame(trials)
    mean = every.mean()
    for name, wanted in truth.exact.items():
        cover = "  ".join(f"{mean[f'{name} {rule}']:6.1%}" for rule in RULES)
        bias, better = mean[name] - wanted, mean[f"{name} corrected"] - wanted
        print(f"{size:5d}  {name:13s} {wanted:.4f}   {bias:+.4f}   {better:+.4f}   {cover}")
    print(
        f"{size:5d}  curve: pointwise {mean['pointwise']:.1%}, "
        f"simultaneous band {mean['band']:.1%}; "
        f"Wilson {mean['within'] / mean['used']:.1%}; "
        f"phrase error by test inversion {mean['inverted']:.1%}; "
        f"calibration slope (Wald) {mean['slope']:.1%} of {every['slope'].count()} lines"
    )


FINDINGS: Final = 4
VISITS: Final = 3
AGAIN: Final = 0.5
"""Chance that a patient's finding is put in the same words at the next exam."""


def patients(size: int, rate: np.ndarray, g: np.random.Generator) -> GroupedTally:
    """Draw about ``size`` statements, four findings an exam, half of the exams in threes."""
    exams = size // FINDINGS
    people = np.concatenate(
        [np.arange(exams // 2), exams // 2 + np.repeat(np.arange(exams // 6), VISITS)]
    )
    shared = g.normal(size=people.max() + 1)[:, None]
    fate = ndtr(0.4 * shared + np.sqrt(1 - 0.4**2) * g.normal(size=(len(shared), FINDINGS)))
    first = g.choice(len(SCALE), size=fate.shape, p=USE)
    anew = g.choice(len(SCALE), size=(len(people), FINDINGS), p=USE)
    phrase = np.where(g.random(anew.shape) < AGAIN, first[people], anew)
    label = (fate[people] < rate[phrase]).astype(float)
    return tally_groups(
        np.repeat(people, FINDINGS), phrase.ravel(), label.ravel(),
        n_groups=len(shared), n_phrases=len(SCALE),
    )  # fmt: skip


def of_patients(truth: Truth, size: int, samples: int, g: np.random.Generator) -> None:
    """Print which share of intervals holds the truth, by what they know of patients."""
    held: dict[str, list[np.ndarray]] = defaultdict(list)
    effects = []
    for _ in range(samples):
        each = patients(size, truth.rate, g)
        pooled, found = each.pooled(), likeness(each)
        effects.append((found.phrase, found.whole))
        for way, known in (("nothing", None), ("resampled", each), ("likeness", found)):
            result = calibrate(
                pooled, phrase_table=SCALE, options=Options(bootstrap=200), patients=known, rng=g
            )
            table, error, loss = result.phrases, result.phrase_error, result.brier
            rates = (table.low <= truth.rate + 1e-12) & (truth.rate - 1e-12 <= table.high)
            wanted = truth.exact["phrase error"]
            inverted = error.low - 1e-9 <= wanted <= error.high + 1e-9
            squared = loss.low <= truth.exact["Brier"] <= loss.high
            held[way].append(np.array([rates[table.n > 0].mean(), inverted, squared]))
    phrase, whole = np.mean(effects, axis=0)
    print(f"{size:5d}  patients: design effect {phrase:.2f} in a phrase, {whole:.2f} in all")
    for way, every in held.items():
        wilson_, error_, brier_ = np.mean(every, axis=0)
        print(
            f"       {way:10s} Wilson {wilson_:.1%}  phrase error {error_:.1%}  Brier {brier_:.1%}"
        )


def of_quarters(rate: np.ndarray, samples: int, g: np.random.Generator) -> None:
    """Print coverage, and distance without chance, of few statements, exact and rounded."""
    for uses in (5, 12, 30):
        seen: dict[str, list[tuple[bool, float]]] = {"exact": [], "rounded": []}
        for _ in range(samples):
            n = np.maximum(g.poisson(uses * g.gamma(1.0, 1.0, len(SCALE))), 1)
            exact = Tally.from_moments(n, g.binomial(n, rate))
            truth = float(n @ np.abs(rate - SCALE.means) / n.sum())
            for way, shown in (("exact", exact), ("rounded", rounded(exact))):
                middle, low, high = phrase_error_interval(
                    shown, means=SCALE.means, replicates=200, rng=g
                )
                seen[way].append((low - 1e-9 <= truth <= high + 1e-9, middle - truth))
        for way, each in seen.items():
            held, off = np.mean(each, axis=0)
            print(f"{uses:5d}  uses a phrase, {way:7s}: phrase error {held:.1%}, off {off:+.4f}")


FEW: Final = {
    "possibly true in .01": {"possibly": 0.01},
    "possibly true in .05": {"possibly": 0.05},
    "likely true in .5": {"likely": 0.5},
    "likely true in .95": {"likely": 0.95},
    "weak words true in .01": {"unlikely": 0.01, "possibly": 0.01, "may represent": 0.01},
    "strong words true in .98": {"likely": 0.98, "probably": 0.98, "most likely": 0.98},
    "weak words, most absent": {
        "absent": 0.005, "absent ": 0.005, "absent  ": 0.005, "unlikely": 0.01, "possibly": 0.02,
    },
    "all four kinds": {"unlikely": 0.01, "possibly": 0.05, "may represent": 0.5, "likely": 0.95},
}  # fmt: skip


def of_few_words(samples: int, g: np.random.Generator) -> None:
    """Print coverage of the phrase error and of Brier where labels are mostly alike."""
    for name, words in FEW.items():
        place = np.array([SCALE.index(word.strip()) for word in words])
        rate = SCALE.means.copy()
        rate[place] = list(words.values())
        use = np.bincount(place, minlength=len(SCALE)) / len(place)
        loss = float(brier(use, use * rate, means=SCALE.means, variances=SCALE.variances))
        for size in (5, 20, 40, 80):
            held = []
            for _ in range(samples):
                phrase = g.choice(place, size)
                label = (g.random(size) < rate[phrase]).astype(float)
                result = calibrate(
                    tally(phrase, label, n_phrases=len(SCALE)),
                    phrase_table=SCALE, options=Options(bootstrap=200), rng=g,
                )  # fmt: skip
                n, error = result.phrases.n, result.phrase_error
                truth = float(n @ np.abs(rate - SCALE.means) / n.sum())
                held.append(
                    (
                        error.low - 1e-9 <= truth <= error.high + 1e-9,
                        result.brier.low <= loss <= result.brier.high,
                    )
                )
            error_, brier_ = np.mean(held, axis=0)
            print(
                f"{name:25s} {size:3d}  phrase error {error_:.1%}  Brier {brier_:.1%}", flush=True
            )


def main() -> None:
    """Print everything."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    g = np.random.default_rng(0)
    of_few_words(samples, g)
    if sys.argv[2:] == ["few"]:
        return
    g = np.random.default_rng(0)
    readers = {
        "calibrated": np.clip(SCALE.means, 0.01, 0.99),
        "too sure": 0.5 + 0.6 * (SCALE.means - 0.5),
        "one phrase off": np.where(
            np.arange(len(SCALE)) == SCALE.index("likely"), 0.4, SCALE.means
        ),
    }
    for name, rate in readers.items():
        print(f"\n{name} reader, {samples} samples, {REPLICATES} replicates")
        print("    n  estimator     truth    bias      corrected  " + "  ".join(RULES))
        truth = Truth.of(rate)
        for size in (30, 100, 300, 1000):
            show(truth, size, [trial(truth, size, g) for _ in range(samples)])
        for size in (300, 1200):
            of_patients(truth, size, samples, g)
        of_quarters(rate, samples, g)


if __name__ == "__main__":
    main()
