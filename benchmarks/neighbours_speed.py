"""How fast the neighbouring measures are: a million items of three classes, one core.

Run ``python benchmarks/neighbours_speed.py``. Each line prints a time, the limit of 2 s that the
specification states, and the share of it that was taken.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np  # noqa: E402
from calibration_speed import best  # noqa: E402

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

ITEMS, LIMIT = 1_000_000, 2.0
Work = dict[str, Callable[[], object]]


def readers(g: np.random.Generator) -> Work:
    """Disagreement."""
    probs = g.dirichlet([1, 1, 1], ITEMS)
    votes = g.multinomial(20, [0.5, 0.3, 0.2], ITEMS).astype(float)
    both = {"probs": probs, "votes": votes}
    by_rank = per_item.ranking_calibration_score
    return {
        "DistCE": lambda: per_item.distribution_calibration_error(**both),
        "noise floor of DistCE": lambda: per_item.noise_floor(**both),
        "EntCE": lambda: per_item.entropy_calibration_error(**both),
        "RankCS, ties by index": lambda: by_rank(**both),
        "RankCS, tie-aware": lambda: by_rank(**both, ties="aware"),
        "confidence ECE": lambda: binned.confidence_ece(**both),
        "class-wise ECE": lambda: binned.classwise_ece(**both),
        "Brier score of votes": lambda: per_item.brier_of_votes(**both),
        "accuracy": lambda: binned.majority_accuracy(**both),
        "control of 5 votes per item": lambda: disagreement.reader_control(
            votes=votes, size=5, rng=g
        ),
    }


def scalars(g: np.random.Generator) -> Work:
    """One judged number per item."""
    probs = g.dirichlet([1, 1, 1], ITEMS)
    truth = g.multinomial(20, [0.5, 0.3, 0.2], ITEMS) / 20
    values = np.array([0.0, 0.4, 1.0])
    score, judged = probs @ values, g.random(ITEMS).round(2)
    both, scored = {"probs": probs, "truth": truth}, {"score": score, "judged": judged}
    cdf = class_scores.empirical_cdf(judged)
    label = (g.random(ITEMS) < judged).astype(float)
    return {
        "class-wise error": lambda: class_scores.classwise_error(**both),
        "mean absolute error": lambda: class_scores.scalar_error(**scored),
        "ranking risk": lambda: ranking.ranking_risk(**scored),
        "bound by error": lambda: class_scores.error_bound(**both, values=values),
        "bound by ranking": lambda: class_scores.ranking_bound(**both, values=values),
        "quantising": lambda: class_scores.quantise(cdf, points=np.linspace(0, 1, 19)),
        "slider calibration": lambda: sliders.slider_calibration(slider=judged, label=label),
    }


def pools(g: np.random.Generator) -> Work:
    """Difficulty, with three models."""
    pool = g.dirichlet([1, 1, 1], (3, ITEMS))
    votes = g.multinomial(20, [0.5, 0.3, 0.2], ITEMS)
    y = votes.argmax(axis=1)
    both, chosen = {"probs": pool, "reference": y}, [pool.argmax(axis=2)]
    pair = {"first": pool[0, :, 0], "second": pool[1, :, 0]}
    return {
        "H_dis": lambda: indicators.human_dissensus(votes=votes),
        "H_ent": lambda: indicators.human_entropy(votes=votes),
        "M_dis": lambda: indicators.pool_dissensus(probs=pool),
        "M_ent": lambda: indicators.pool_entropy(probs=pool),
        "M_avg_ent": lambda: indicators.mean_entropy(probs=pool),
        "M_CP, one model, leave-one-out": lambda: indicators.conformal_set_sizes(
            probs=pool[0], reference=y
        ),
        "M_CP, three models": lambda: indicators.mean_set_size(**both),
        "M_fail": lambda: indicators.failure_rate(**both),
        "M_first_layer / M_first_ckpt": lambda: indicators.first_right(
            predictions=chosen, reference=y
        ),
        "M_avg_ckpt": lambda: indicators.average_failure(predictions=chosen, reference=y),
        "M_avg_ckpt_p": lambda: indicators.missing_probability(probs=[pool], reference=y),
        "Spearman with interval": lambda: correlation.correlations(pair),
    }


def main() -> None:
    """Print everything; the exit status says whether every limit held."""
    print(f"{os.cpu_count()} cores seen, 1 used; numpy {np.__version__}; {ITEMS:,} items × 3")
    g, held = np.random.default_rng(0), []
    for part in (readers, scalars, pools):
        for name, work in part(g).items():
            seconds = best(work, 2)
            held.append(seconds <= LIMIT)
            verdict = "ok" if held[-1] else "OVER"
            print(f"{name:44s} {seconds:6.3f} s, {seconds / LIMIT:4.0%} of {LIMIT:.0f} s {verdict}")
    print(f"{sum(held)} of {len(held)} within {LIMIT:.0f} s")
    sys.exit(not all(held))


if __name__ == "__main__":
    main()
