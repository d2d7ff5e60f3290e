"""How often advice is right: silence for calibrated readers, the planted fault for others.

Run ``python benchmarks/calibration_advice.py [runs]``. A run draws one reader with 100 uses (on
average) of one phrase and about 680 observations in all over the radiology scale; every phrase is
right on average except, in the lower rows, the named one, whose rate is moved. Prints the share
of runs with any advice, with the named phrase first, and which targets were suggested; and how
often the stricter rule of stability (one best phrase in 80 % of replicates) would have held.
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np

from calibration.estimate import multinomial_moments
from calibration.substitution import GuardRails, advise
from calibration.substitution.guardrails import Setting, best_target, gains
from calibration.survey import builtin
from calibration.tally import Tally, tally

SCALE = builtin("diagnostic-certainty-scale")
CASES = (
    ("likely", 0.0),
    ("likely", -0.25),
    ("suggestive of", -0.25),
    ("most likely", -0.25),
    ("may represent", 0.25),
    ("may represent", -0.25),
    ("possibly", 0.25),
    ("unlikely", 0.25),
    ("likely", -0.10),
)


def _same_best(counted: Tally, source: int, g: np.random.Generator) -> bool:
    """Whether the stricter door would open: one best phrase in 80 % of bootstrap replicates."""
    setting = Setting.of(SCALE, GuardRails())
    n, mass = multinomial_moments(counted, replicates=200, rng=g)
    chosen = best_target(counted.n, counted.label_mass, source=source, setting=setting)
    again = np.argmax(gains(n, mass, source=source, setting=setting), axis=1)
    return bool(chosen != source and np.mean(again == chosen) >= 0.8)


def run(phrase: str, shift: float, runs: int, g: np.random.Generator) -> None:
    """Simulate one line of the table."""
    rate = SCALE.means.copy()
    fault = SCALE.index(phrase)
    rate[fault] += shift
    use = np.ones(len(SCALE))
    use[[SCALE.index(p) for p in ("absent", "present", "likely", "may represent", phrase)]] = 5.0
    use /= use.sum()
    size = round(100 / use[fault])
    outcome: Counter[str] = Counter()
    targets: Counter[str] = Counter()
    for _ in range(runs):
        spoken = g.choice(len(SCALE), size=size, p=use)
        label = (g.random(size) < rate[spoken]).astype(float)
        counted = tally(spoken, label, n_phrases=len(SCALE))
        advice = advise(counted, phrase_table=SCALE, guard_rails=GuardRails(), rng=g)
        outcome["same"] += _same_best(counted, fault, g)
        if advice.suggestions:
            first = advice.suggestions[0]
            outcome["any"] += 1
            outcome["right"] += first.source == phrase and shift != 0.0
            targets[first.target] += 1
        outcome.update(s.reason for s in advice.suppressed if s.source == phrase)
    silent = {k: v for k, v in outcome.items() if k not in ("any", "right", "same")}
    print(
        f"{phrase:15s} {shift:+.2f}  any {outcome['any'] / runs:6.1%}  "
        f"this phrase first {outcome['right'] / runs:6.1%}  "
        f"same best phrase in 80 % of replicates {outcome['same'] / runs:6.1%}  "
        f"targets {dict(targets.most_common(4))}  silent because {silent}"
    )


def main() -> None:
    """Print everything."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    g = np.random.default_rng(2026)
    print(f"{runs} runs per line")
    for phrase, shift in CASES:
        run(phrase, shift, runs, g)


if __name__ == "__main__":
    main()
