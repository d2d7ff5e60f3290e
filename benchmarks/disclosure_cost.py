"""What rounding costs in printed figures: how far they move, and how many it withholds.

Run ``python benchmarks/disclosure_cost.py [departments]``. A department is twenty readers of 150 to
1,500 statements over ten findings and the radiology scale, each with a shift of its own. Every
figure of a reader's page is made twice, from exact and from rounded counts. Shares are compared
with half of their own 95 % interval, the doubt that the page prints beside them.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from calibration.phrase_calibration import phrase_error, wilson
from calibration.rounding import measured, rounded
from calibration.survey import builtin
from calibration.tally import Tally

SCALE = builtin("diagnostic-certainty-scale")
MINIMUM = 20
FINDINGS = 10
GROUPS = ((20, 40), (40, 100), (100, 400), (400, 10_000))


def _reader(g: np.random.Generator) -> list[Tally]:
    """Draw a reader's tally of every finding."""
    size = int(np.exp(g.uniform(np.log(150), np.log(1500))))
    words = g.dirichlet(np.full(len(SCALE), 0.6))
    counts = g.multinomial(size, np.outer(g.dirichlet(np.full(FINDINGS, 0.8)), words).ravel())
    n = counts.reshape(FINDINGS, len(SCALE))
    rate = expit(logit(np.clip(SCALE.means, 0.02, 0.98)) + g.normal(0.0, 0.4))
    positive = g.binomial(n, rate)
    labels = np.array([0.0, 1.0])
    return [
        Tally(labels, np.stack([n[f] - positive[f], positive[f]], axis=1).astype(float))
        for f in range(FINDINGS)
    ]


def _groups(readers: list[list[Tally]]) -> list[Tally]:
    return [group for each in readers for group in (sum(each[1:], each[0]), *each)]


def _rows(groups: list[Tally]) -> pd.DataFrame:
    """Give one row per printed phrase: exact and rounded."""
    parts = []
    for exact in groups:
        shown = rounded(exact)
        k = np.flatnonzero(exact.n >= MINIMUM)
        n, y = exact.n[k], exact.label_mass[k]
        low, high = wilson(y, n)
        share = shown.label_mass[k] / shown.n[k]
        off = np.abs([shown.n[k] - n, share - y / n])
        parts.append(
            pd.DataFrame({"n": n, "count": off[0], "share": off[1], "half": (high - low) / 2})
        )
    return pd.concat(parts)


def main(departments: int) -> None:
    """Print what moves, by size."""
    g = np.random.default_rng(1)
    groups = _groups([_reader(g) for _ in range(20 * departments)])
    rows = _rows(groups)
    print(f"{len(rows)} printed phrase rows, counts off by {rows['count'].mean():.1f} on average")
    for low, high in GROUPS:
        part = rows[rows["n"].between(low, high - 1)]
        print(
            f"n {low}-{high - 1}: share off by {100 * part['share'].mean():.1f} points "
            f"(at most {100 * part['share'].max():.1f}), "
            f"{(part['share'] / part['half']).mean():.2f} of half its interval; rows {len(part)}"
        )
    few = [t for t in groups if t.total >= MINIMUM]
    gone = sum(rounded(t).total < MINIMUM for t in few)
    print(f"groups of {MINIMUM} or more: {len(few)}; withheld by rounding: {gone}")
    for low, high in GROUPS:
        part = [t for t in few if low <= t.total < high]
        pairs = [(rounded(t), t) for t in part]
        exact = [float(phrase_error(t.n, t.label_mass, means=SCALE.means)) for t in part]
        moved = [abs(float(measured(e, t.total)) - e) for e, t in zip(exact, part, strict=True)]
        total = [abs(r.total - t.total) / t.total for r, t in pairs]
        print(
            f"groups of {low}-{high - 1}: phrase error off by {100 * np.mean(moved):.1f} points, "
            f"statements by {100 * np.mean(total):.1f} %; groups {len(part)}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
