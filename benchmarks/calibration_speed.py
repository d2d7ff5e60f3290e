"""How fast the engine is: tally pass, cost matrices, and the synthetic hospital.

Run ``python benchmarks/calibration_speed.py``; one thread is used. Each line prints a time, the
limit the specification states, and a ratio against the slow per-observation twin.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))

from calibration_twin import twin_cost_matrix, twin_ece, twin_tally  # noqa: E402

from calibration.bins import phrase_bins  # noqa: E402
from calibration.curve import calibration_error  # noqa: E402
from calibration.resample import multinomial_moments  # noqa: E402
from calibration.result import calibrate  # noqa: E402
from calibration.substitution.cost import substitution_cost  # noqa: E402
from calibration.substitution.transport import transport_map  # noqa: E402
from calibration.survey import PhraseTable, builtin  # noqa: E402
from calibration.tally import tally, tally_groups  # noqa: E402

SCALE = builtin("diagnostic-certainty-scale").with_borrowed({"concerning for": "suspicious for"})
TABLES = phrase_bins(SCALE.distributions)


def best(work: Callable[[], object], repeats: int = 5) -> float:
    """Shortest wall time in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def line(name: str, seconds: float, limit: float, twin: float | None = None) -> None:
    """Print one measurement."""
    ratio = "" if twin is None else f"  twin {twin:9.3f} s = {twin / seconds:8.0f} x"
    verdict = "ok" if seconds <= limit else "OVER"
    print(f"{name:52s} {seconds * 1e3:9.2f} ms  limit {limit * 1e3:7.0f} ms {verdict}{ratio}")


def tally_pass(g: np.random.Generator) -> None:
    """Count ten million rows."""
    size = 10_000_000
    phrase = g.integers(0, 19, size)
    hard = g.integers(0, 2, size).astype(float)
    soft = g.choice([0.0, 0.027, 0.441, 0.918, 1.0], size)
    part = slice(0, 200_000)
    slow = best(lambda: twin_tally(phrase[part], hard[part], 19), 1) * size / 200_000
    line(
        "tally of 10,000,000 hard labels",
        best(lambda: tally(phrase, hard, n_phrases=19)),
        0.3,
        slow,
    )
    line(
        "tally of 10,000,000 soft labels",
        best(lambda: tally(phrase, soft, n_phrases=19)),
        0.3,
        slow,
    )
    for rows in (10_000, 10_000_000):
        counted = tally(phrase[:rows], hard[:rows], n_phrases=19)
        seconds = best(lambda c=counted: calibrate(c, phrase_table=SCALE, bootstrap=100, rng=g))
        line(f"after the tally: result of {rows:,} rows, 100 bootstraps", seconds, 0.03)


def cost_matrices(g: np.random.Generator) -> None:
    """Bootstrap the cost matrix of one group."""
    for size, limit in ((12, 0.005), (19, 0.030)):
        table = PhraseTable(
            "part", SCALE.phrases[:size], SCALE.distributions[:size], SCALE.respondents[:size]
        )
        tables = phrase_bins(table.distributions)
        phrase = g.integers(0, size, 300)
        label = (g.random(300) < table.means[phrase]).astype(float)
        counted = tally(phrase, label, n_phrases=size)
        n, mass = multinomial_moments(counted, replicates=100, rng=g)
        seconds = best(
            lambda n=n, m=mass, t=tables: substitution_cost(n, m, source=t, target=t), 20
        )
        used = np.flatnonzero(counted.n).tolist()
        slow = 100 * best(
            lambda p=phrase, y=label, t=tables, u=used: twin_cost_matrix(p, y, t, u), 1
        )
        line(f"cost matrix, K = {size}, 100 bootstraps", seconds, limit, slow)
        ours = substitution_cost(counted.n, counted.label_mass, source=tables, target=tables)
        gap = np.nanmax(np.abs(ours - twin_cost_matrix(phrase, label, tables, used)))
        print(f"{'':52s} largest difference from the twin {gap:.1e}")


def hospital(g: np.random.Generator) -> None:
    """2,662 pairs × 12 pathologies and 30 readers, 402 groups as in numerics §9."""
    pairs, pathologies, readers = 2662, 12, 30
    reader = np.repeat(g.integers(0, readers, pairs), pathologies)
    pathology = np.tile(np.arange(pathologies), pairs)
    favourite = g.dirichlet(np.full(len(SCALE), 0.4), readers)
    phrase = np.array([g.choice(len(SCALE), p=favourite[r]) for r in reader])
    label = (g.random(len(phrase)) < 0.85 * SCALE.means[phrase] + 0.05).astype(float)
    codes = [reader * pathologies + pathology, readers * pathologies + reader]
    codes.append(readers * (pathologies + 1) + pathology)
    sizes = readers * (pathologies + 1) + pathologies

    def whole() -> tuple[int, int]:
        groups = tally_groups(
            np.concatenate(codes),
            np.tile(phrase, 3),
            np.tile(label, 3),
            n_groups=sizes,
            n_phrases=len(SCALE),
        )
        done = converged = 0
        for index in range(sizes):
            counted = groups.group(index)
            if not counted.total:
                continue
            calibrate(counted, phrase_table=SCALE, bootstrap=100, rng=g)
            n, mass = multinomial_moments(counted, replicates=100, rng=g)
            substitution_cost(n, mass, source=TABLES, target=TABLES)
            cost = substitution_cost(counted.n, counted.label_mass, source=TABLES, target=TABLES)
            fitted = transport_map(
                cost, phrases=SCALE.phrases, source_weights=counted.n / counted.total
            )
            weights = fitted.weights()
            calibration_error(counted.n @ weights, counted.label_mass @ weights, tables=TABLES)
            done, converged = done + 1, converged + int(fitted.converged)
        return done, converged

    done, converged = whole()
    small = codes[0] == codes[0][0]
    slow_one = best(
        lambda: twin_cost_matrix(
            phrase[small], label[small], TABLES, np.unique(phrase[small]).tolist()
        ),
        1,
    )
    slow_curve = best(lambda: twin_ece(phrase, label, TABLES), 1)
    line(
        f"synthetic hospital, {done} groups, {converged} maps converged",
        best(whole, 3),
        3.0,
        done * (100 * slow_one) + slow_curve,
    )


def main() -> None:
    """Print everything."""
    print(f"{os.cpu_count()} cores seen, 1 used; numpy {np.__version__}")
    g = np.random.default_rng(0)
    tally_pass(g)
    cost_matrices(g)
    hospital(g)


if __name__ == "__main__":
    main()
