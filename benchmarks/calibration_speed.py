"""How fast the engine is: tally pass, cost matrices, and the synthetic hospital.

Run ``python benchmarks/calibration_speed.py``; one thread is used. Each line prints a time, the
limit the specification states, and a ratio against the slow per-observation twin.
"""

from __future__ import annotations

import os
import sys
import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))

from calibration_twin import numpy_group, twin_cost_matrix, twin_tally  # noqa: E402

from calibration.bins import phrase_bins  # noqa: E402
from calibration.curve import calibration_error, curve_points  # noqa: E402
from calibration.estimate import Options, multinomial_moments  # noqa: E402
from calibration.result import calibrate  # noqa: E402
from calibration.substitution.cost import substitution_cost  # noqa: E402
from calibration.substitution.transport import transport_map  # noqa: E402
from calibration.survey import PhraseTable, builtin  # noqa: E402
from calibration.tally import Tally, tally, tally_groups  # noqa: E402

SCALE = builtin("diagnostic-certainty-scale").with_borrowed({"concerning for": "suspicious for"})
TABLES = phrase_bins(SCALE.distributions)
HUNDRED = Options(bootstrap=100)


def best(work: Callable[[], object], repeats: int = 5) -> float:
    """Shortest time of the processor in seconds: one thread, whatever else the machine does."""
    return min(timeit.repeat(work, timer=time.process_time, number=1, repeat=repeats))


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
    for kind, label in (("hard", hard), ("soft", soft)):
        seconds = best(lambda y=label: tally(phrase, y, n_phrases=19))
        line(f"tally of 10,000,000 {kind} labels", seconds, 0.3, slow)
    for rows in (10_000, 10_000_000):
        counted = tally(phrase[:rows], hard[:rows], n_phrases=19)
        seconds = best(lambda c=counted: calibrate(c, phrase_table=SCALE, options=HUNDRED, rng=g))
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


@dataclass(frozen=True, slots=True)
class Hospital:
    """2,662 pairs × 12 pathologies and 30 readers: 402 groups, as in numerics §9."""

    group: np.ndarray
    phrase: np.ndarray
    label: np.ndarray
    sizes: int

    @classmethod
    def drawn(cls, g: np.random.Generator) -> Hospital:
        """Draw readers who each have their own favourite phrases."""
        pairs, pathologies, readers = 2662, 12, 30
        reader = np.repeat(g.integers(0, readers, pairs), pathologies)
        pathology = np.tile(np.arange(pathologies), pairs)
        favourite = g.dirichlet(np.full(len(SCALE), 0.4), readers)
        phrase = np.array([g.choice(len(SCALE), p=favourite[r]) for r in reader])
        label = (g.random(len(phrase)) < 0.85 * SCALE.means[phrase] + 0.05).astype(float)
        codes = [reader * pathologies + pathology, readers * pathologies + reader]
        codes.append(readers * (pathologies + 1) + pathology)
        sizes = readers * (pathologies + 1) + pathologies
        return cls(np.concatenate(codes), np.tile(phrase, 3), np.tile(label, 3), sizes)

    def tallies(self) -> list[Tally]:
        """Count every group in one pass."""
        groups = tally_groups(
            self.group, self.phrase, self.label, n_groups=self.sizes, n_phrases=len(SCALE)
        )
        return [group for k in range(self.sizes) if (group := groups.group(k)).total]


REPLICATES = 100


def ours(hospital: Hospital, g: np.random.Generator) -> tuple[int, np.ndarray, np.ndarray]:
    """Curve with interval, bootstrapped costs, map and error after it, of every group."""
    tallies = hospital.tallies()
    n, mass = (np.stack([getattr(t, name) for t in tallies]) for name in ("n", "label_mass"))
    curve_points(n, mass, tables=TABLES)
    for counted in tallies:
        drawn = multinomial_moments(counted, replicates=REPLICATES, rng=g)
        curves, _, _ = curve_points(*drawn, tables=TABLES)
        np.quantile(np.nan_to_num(curves), [0.025, 0.975], axis=0)
        substitution_cost(*drawn, source=TABLES, target=TABLES)
    cost = substitution_cost(n, mass, source=TABLES, target=TABLES)
    share = n / n.sum(axis=1, keepdims=True)
    maps = [
        transport_map(each, phrases=SCALE.phrases, source_weights=used)
        for each, used in zip(cost, share, strict=True)
    ]
    weights = np.stack([fitted.weights() for fitted in maps])
    after = (np.einsum("gk,gkl->gl", each, weights) for each in (n, mass))
    error = calibration_error(*after, tables=TABLES)
    return sum(fitted.converged for fitted in maps), cost, np.asarray(error)


def plainly(
    hospital: Hospital, g: np.random.Generator, *, whole: bool = True
) -> tuple[list[np.ndarray], np.ndarray]:
    """Do the same work in straightforward numpy, a group at a time."""
    order = np.argsort(hospital.group, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(hospital.group[order])) + 1)
    how = {"tables": TABLES, "replicates": REPLICATES, "whole": whole, "rng": g}
    done = [numpy_group(hospital.phrase[part], hospital.label[part], **how) for part in parts]
    return [each[1][0] for each in done], np.array([each[3] for each in done])


def hospital(g: np.random.Generator) -> None:
    """Race the same work, results compared; then everything a result holds."""
    made = Hospital.drawn(g)
    converged, cost, after = ours(made, g)
    plain_cost, plain_after = plainly(made, g)
    gap = max(float(np.nanmax(np.abs(a - b))) for a, b in zip(cost, plain_cost, strict=True))
    groups = len(after)
    mine, theirs = best(lambda: ours(made, g), 3), best(lambda: plainly(made, g), 3)
    line(f"synthetic hospital, {groups} groups, {converged} maps converged", mine, 3.0)
    print(f"{'':10s}plain numpy {theirs:.2f} s = {theirs / mine:.1f} x  (wanted: 4 x)")
    spared = best(lambda: plainly(made, g, whole=False), 3)
    print(f"{'':10s}without the rows of unused phrases {spared:.2f} s = {spared / mine:.1f} x")
    print(
        f"{'':10s}largest difference: cost {gap:.1e}, error after the map "
        f"{np.abs(after - plain_after).max():.1e}"
    )
    tallies = made.tallies()
    seconds = best(
        lambda: [calibrate(t, phrase_table=SCALE, options=HUNDRED, rng=g) for t in tallies], 1
    )
    line("the whole result of each group, 100 bootstraps", seconds, 4.0)


def main() -> None:
    """Print everything."""
    print(f"{os.cpu_count()} cores seen, 1 used; numpy {np.__version__}")
    g = np.random.default_rng(0)
    tally_pass(g)
    cost_matrices(g)
    hospital(g)


if __name__ == "__main__":
    main()
