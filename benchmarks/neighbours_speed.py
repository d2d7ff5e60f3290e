"""How fast the neighbouring measures are: a million items of three classes, one core.

Run ``python benchmarks/neighbours_speed.py``. Each line prints a time, the limit of 2 s that the
specification states, and a ratio against the slow twin, which is timed on few items and scaled by
items, or by pairs where it visits pairs.
"""

from __future__ import annotations

import os
import sys
import time
import timeit
from collections.abc import Callable, Iterator
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))

import neighbours_twin as twin  # noqa: E402

from calibration.neighbours import (  # noqa: E402
    binned,
    class_scores,
    correlation,
    disagreement,
    indicators,
    per_item,
    ranking,
    sliders,
)

ITEMS, SMALL, LIMIT = 1_000_000, 400, 2.0
Work = Callable[[], object]


def best(work: Work, repeats: int = 2) -> float:
    """Shortest time of the processor in seconds: waiting for other work does not count."""
    return min(timeit.repeat(work, timer=time.process_time, number=1, repeat=repeats))


def line(name: str, work: Work, slow: Work | None = None, *, pairs: bool = False) -> bool:
    """Time one measure, print it, and say whether it kept the limit."""
    seconds = best(work)
    ratio = ""
    if slow is not None:
        scale = (ITEMS / SMALL) ** (2 if pairs else 1)
        whole = best(slow, 1) * scale
        ratio = f"  twin {whole:12.1f} s = {whole / seconds:10.0f} x"
    verdict = "ok" if seconds <= LIMIT else "OVER"
    print(f"{name:44s} {seconds:6.3f} s  limit {LIMIT:.0f} s {verdict}{ratio}")
    return seconds <= LIMIT


def readers(g: np.random.Generator) -> Iterator[bool]:
    """Disagreement."""
    probs = g.dirichlet([1, 1, 1], ITEMS)
    votes = g.multinomial(20, [0.5, 0.3, 0.2], ITEMS).astype(float)
    p, v = probs[:SMALL].tolist(), votes[:SMALL].tolist()
    both = {"probs": probs, "votes": votes}
    yield line("DistCE", lambda: per_item.distribution_calibration_error(**both),
               lambda: twin.twin_distance(p, v))  # fmt: skip
    yield line("noise floor of DistCE", lambda: per_item.noise_floor(**both))
    yield line("EntCE", lambda: per_item.entropy_calibration_error(**both),
               lambda: twin.twin_entropy(p, v))  # fmt: skip
    yield line("RankCS, ties by index", lambda: per_item.ranking_calibration_score(**both),
               lambda: twin.twin_rank_agreement(p, v, aware=False))  # fmt: skip
    by_rank = per_item.ranking_calibration_score
    yield line("RankCS, tie-aware", lambda: by_rank(**both, ties="aware"),
               lambda: twin.twin_rank_agreement(p, v, aware=True))  # fmt: skip
    yield line("confidence ECE", lambda: binned.confidence_ece(**both),
               lambda: twin.twin_confidence_ece(p, v))  # fmt: skip
    yield line("class-wise ECE", lambda: binned.classwise_ece(**both),
               lambda: twin.twin_classwise_ece(p, v))  # fmt: skip
    yield line("Brier score of votes", lambda: per_item.brier_of_votes(**both))
    yield line("log score of votes", lambda: per_item.log_score_of_votes(**both))
    yield line("accuracy", lambda: binned.majority_accuracy(**both))
    yield line(
        "control of 5 votes per item",
        lambda: disagreement.reader_control(votes=votes, size=5, rng=g),
    )


def scalars(g: np.random.Generator) -> Iterator[bool]:
    """One judged number per item."""
    probs = g.dirichlet([1, 1, 1], ITEMS)
    truth = g.multinomial(20, [0.5, 0.3, 0.2], ITEMS) / 20
    values = np.array([0.0, 0.4, 1.0])
    score, judged = probs @ values, g.random(ITEMS).round(2)
    s, z, eta = score[:SMALL].tolist(), judged[:SMALL].tolist(), truth[:SMALL].tolist()
    both = {"probs": probs, "truth": truth}
    yield line("class-wise error", lambda: class_scores.classwise_error(**both))
    yield line("mean absolute error", lambda: class_scores.scalar_error(score=score, judged=judged))
    yield line("ranking risk", lambda: ranking.ranking_risk(score=score, judged=judged),
               lambda: twin.twin_ranking_risk(s, z), pairs=True)  # fmt: skip
    yield line("bound by error", lambda: class_scores.error_bound(**both, values=values))
    yield line("bound by ranking", lambda: class_scores.ranking_bound(**both, values=values),
               lambda: (twin.twin_least(eta), twin.twin_pair_risk(s, eta)), pairs=True)  # fmt: skip
    cdf = class_scores.empirical_cdf(judged)
    yield line("quantising", lambda: class_scores.quantise(cdf, points=np.linspace(0, 1, 19)))
    label = (g.random(ITEMS) < judged).astype(float)
    yield line("slider calibration", lambda: sliders.slider_calibration(slider=judged, label=label))


def pools(g: np.random.Generator) -> Iterator[bool]:
    """Difficulty, with three models."""
    pool = g.dirichlet([1, 1, 1], (3, ITEMS))
    votes = g.multinomial(20, [0.5, 0.3, 0.2], ITEMS)
    y = votes.argmax(axis=1)
    chosen = pool.argmax(axis=2)
    p, few = pool[0, :SMALL].tolist(), y[:SMALL].tolist()
    yield line("H_dis", lambda: indicators.human_dissensus(votes=votes))
    yield line("H_ent", lambda: indicators.human_entropy(votes=votes))
    yield line("M_dis", lambda: indicators.pool_dissensus(probs=pool))
    yield line("M_ent", lambda: indicators.pool_entropy(probs=pool))
    yield line("M_avg_ent", lambda: indicators.mean_entropy(probs=pool))
    yield line("M_CP, one model, leave-one-out",
               lambda: indicators.conformal_set_sizes(probs=pool[0], reference=y),
               lambda: twin.twin_set_sizes(p, few, 0.1), pairs=True)  # fmt: skip
    yield line("M_CP, three models", lambda: indicators.mean_set_size(probs=pool, reference=y))
    yield line("M_fail", lambda: indicators.failure_rate(probs=pool, reference=y))
    yield line("M_first_layer / M_first_ckpt", lambda: indicators.first_right(
        predictions=[chosen], reference=y))  # fmt: skip
    yield line("M_avg_ckpt", lambda: indicators.average_failure(predictions=[chosen], reference=y))
    yield line("M_avg_ckpt_p", lambda: indicators.missing_probability(probs=[pool], reference=y))
    pair = {"first": pool[0, :, 0], "second": pool[1, :, 0]}
    yield line("Spearman with interval", lambda: correlation.correlations(pair))


def main() -> None:
    """Print everything; the exit status says whether every limit held."""
    print(f"{os.cpu_count()} cores seen, 1 used; numpy {np.__version__}; {ITEMS:,} items × 3")
    g = np.random.default_rng(0)
    held = [kept for part in (readers, scalars, pools) for kept in part(g)]
    print(f"{sum(held)} of {len(held)} within {LIMIT:.0f} s")
    sys.exit(not all(held))


if __name__ == "__main__":
    main()
