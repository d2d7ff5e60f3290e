"""Is the profile's posterior calibrated? `python benchmarks/profile_calibration.py [departments]`.

Simulation-based calibration (Talts et al. 2018): departments are drawn from the model's own prior
— deviations, curves, quirks, effects, survey errors, remainders and habits — and profiled. If the
posterior is right, its 50, 80 and 95 % intervals hold the truth in 50, 80 and 95 % of cases, for a
reader's shift and slope and for every rate; and of swaps and habits given a probability of about
p, a share p is right. Printed with the 95 % interval of each share, departments as clusters.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import pandas as pd
from scipy.optimize import root
from scipy.special import expit, logit

from calibration.profile import DepartmentProfile, profile
from calibration.profile.settings import Priors
from calibration.survey import builtin

TABLE = builtin("diagnostic-certainty-scale")
HEDGE = np.flatnonzero((TABLE.means > 0.01) & (TABLE.means < 0.99))
M = logit(TABLE.means[HEDGE])
FINDINGS, READERS, VOLUMES = 8, 15, (150, 400, 1500)
LEVELS = {0.5: 0.6744897501960817, 0.8: 1.2815515655446004, 0.95: 1.959963984540054}


def survey_error() -> np.ndarray:
    """Give the standard error of every hedge's meaning on the log-odds scale."""
    n = np.array([float(TABLE.respondents[k] or np.nan) for k in HEDGE])
    slope = TABLE.means[HEDGE] * (1.0 - TABLE.means[HEDGE])
    return np.minimum(np.sqrt(TABLE.variances[HEDGE] / n) / slope, 1.0)


def draw(g: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray, np.ndarray, np.ndarray]:
    """Draw a department: observations, true rates, uses (R, F, K) and meanings (K,)."""
    p, size = Priors(), (READERS, FINDINGS, len(M))
    bends = np.linalg.qr(M[:, None] ** np.arange(4))[0][:, 2:] * np.sqrt(len(M))
    curve = np.concatenate([np.stack([np.ones_like(M), M], axis=1), bends], axis=1)
    error = survey_error() * g.normal(size=len(M))
    own = g.standard_t(p.tails[:4], (READERS, 4)) * (p.shift, p.slope, p.bend, p.twist)
    common = g.normal(size=4) * p.common
    quirk, by_finding, cells = (
        sd / np.sqrt(g.chisquare(p.tails[i], (READERS, 1, 1)) / p.tails[i])
        for i, sd in ((4, p.quirk), (7, p.reader_finding), (8, p.remainder))
    )
    quirk = quirk[:, 0] * g.normal(size=(READERS, len(M)))
    eta = M + error + p.phrase * g.normal(size=len(M)) + ((own + common) @ curve.T + quirk)[:, None]
    eta = eta + (p.finding * g.normal(size=FINDINGS))[:, None]
    eta = eta + by_finding * g.normal(size=(READERS, FINDINGS, 1))
    eta = eta + cells * g.normal(size=size)
    use = (
        g.dirichlet(np.full(len(M), 1.0), READERS)[:, None, :]
        * g.dirichlet(np.full(FINDINGS, 3.0), READERS)[:, :, None]
    )
    n = np.stack([g.multinomial(g.choice(VOLUMES), u.ravel()).reshape(u.shape) for u in use])
    _habits(eta, n, p, g)
    chance = expit(eta)
    positive = g.binomial(n, chance)
    r, f, k = np.nonzero(n)
    half = {
        "reader": [f"r{i:02d}" for i in r],
        "pathology": [f"f{i}" for i in f],
        "phrase": np.array(TABLE.phrases)[HEDGE[k]],
    }
    yes, no = positive[r, f, k], (n - positive)[r, f, k]
    rows = pd.concat(
        [pd.DataFrame({**half, "label": y, "count": c}) for y, c in ((1, yes), (0, no))]
    )
    return rows[rows["count"] > 0], chance, n.astype(float), M + error


def _habits(eta: np.ndarray, n: np.ndarray, p: Priors, g: np.random.Generator) -> None:
    """Give some readers a habit, three in four of them in a single finding."""
    for r in np.flatnonzero(g.random(READERS) < p.habit_share):
        size = g.choice([-1.0, 1.0]) * p.habit_size + p.habit_spread * g.normal()
        if g.random() < 0.75:
            able = np.where(n[r] >= 12, n[r], 0).ravel().astype(float)
            if able.sum() > 0:
                eta[r].ravel()[g.choice(able.size, p=able / able.sum())] += size
        else:
            able = n[r].sum(axis=0).astype(float)
            eta[r, :, g.choice(able.size, p=able / able.sum())] += size


def true_line(chance: np.ndarray, n: np.ndarray, meaning: np.ndarray) -> np.ndarray:
    """Project one reader's true rates (F, K) on a line over the true meanings."""
    x = np.stack([np.ones_like(M), M])
    uses, positive = n.sum(axis=0), (n * chance).sum(axis=0)
    found = root(lambda b: x @ (positive - uses * expit(meaning + b @ x)), np.zeros(2))
    return np.asarray(found.x)


def z_of(value: float, low: float, high: float, true: float) -> float:
    """Standardised distance of the truth from a 95 % interval's nearer half."""
    half = (high - value) if true > value else (value - low)
    return 1.959963984540054 * (true - value) / max(half, 1e-12)


def compare(
    found: DepartmentProfile, chance: np.ndarray, n: np.ndarray, meaning: np.ndarray
) -> tuple[list[tuple[str, float]], list[tuple[str, float, bool]]]:
    """Give z of every interval, and (kind, stated probability, right) of every swap."""
    z: list[tuple[str, float]] = []
    stated: list[tuple[str, float, bool]] = []
    place = {TABLE.phrases[at]: k for k, at in enumerate(HEDGE)}
    true_meaning = expit(meaning)
    for r, each in enumerate(found):
        shift, slope = true_line(chance[r], n[r], meaning)
        for name, part, true in (
            ("shift", each.pattern.shift, shift), ("slope", each.pattern.slope, slope + 1.0)
        ):  # fmt: skip
            z.append((name, z_of(part.value, part.low, part.high, true)))
        rate = (n[r] * chance[r]).sum(axis=0) / np.maximum(n[r].sum(axis=0), 1.0)
        for row in each.phrases:
            v = [float(logit(q)) for q in (row.rate.value, row.rate.low, row.rate.high)]
            z.append(("rate of a phrase", z_of(*v, float(logit(rate[place[row.phrase]])))))
        for swap in each.advice:
            k, target = place[swap.phrase], place[swap.instead]
            true = rate[k] if swap.finding is None else chance[r, int(swap.finding[1:]), k]
            nearer = abs(true - true_meaning[target]) < abs(true - true_meaning[k])
            stated.append(("swap", swap.probability, bool(nearer)))
    return z, stated


def main() -> None:
    """Print the shares."""
    departments = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    intervals, stated = [], []
    for number in range(departments):
        rows, chance, n, meaning = draw(np.random.default_rng([20, number]))
        z, said = compare(profile(rows, phrases=TABLE), chance, n, meaning)
        intervals += [(number, *each) for each in z]
        stated += [(number, *each) for each in said]
    frame = pd.DataFrame(intervals, columns=["department", "of", "z"])
    print(f"{departments} departments of {READERS} readers drawn from the prior\n")
    print("share of truths inside        " + "".join(f"{level:>18.0%}" for level in LEVELS))
    for name, own in frame.groupby("of", sort=False):
        cells = [_share(own.assign(inside=own["z"].abs() < at)) for at in LEVELS.values()]
        print(f"{name:30s}" + "".join(f"{cell:>18s}" for cell in cells) + f"   of {len(own)}")
    said = pd.DataFrame(stated, columns=["department", "of", "probability", "inside"])
    print(
        f"\nswaps: mean probability {said['probability'].mean():.3f}, right in "
        f"{_share(said)} of {len(said)}"
    )


def _share(own: pd.DataFrame) -> str:
    """Share with its standard error over departments."""
    each = own.groupby("department")["inside"].agg(["sum", "size"])
    share = each["sum"].sum() / each["size"].sum()
    spread = float(np.sqrt(((each["sum"] - share * each["size"]) ** 2).sum()) / each["size"].sum())
    return f"{share:.1%} ± {1.96 * spread:.1%}"


if __name__ == "__main__":
    main()
