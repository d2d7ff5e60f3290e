"""Results of the neighbouring measures as plain data for JSON; None for what does not exist.

The same rules as in ``calibration.export``: arrays in the order of items or classes, no NaN.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from calibration.arrays import FloatArray
from calibration.distributions import Atom, Beta
from calibration.estimate import Estimate
from calibration.export import Plain, estimate_data, number, vector
from calibration.neighbours.difficulty import Difficulty
from calibration.neighbours.difficulty.correlation import SuccessSplit
from calibration.neighbours.disagreement import Disagreement, Divergence
from calibration.neighbours.disagreement.score import BinnedScore
from calibration.neighbours.disagreement.study import HISTOGRAM_BINS, Control
from calibration.neighbours.scalar import PersonalPhrase, RankingRisk, SliderResult

__all__ = [
    "difficulty_data",
    "disagreement_data",
    "personal_data",
    "ranking_data",
    "slider_data",
]

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def disagreement_data(found: Disagreement) -> dict[str, Plain]:
    """Every statistic with its interval, the spread of the errors, bins and control."""
    return {
        "n": found.n,
        "votes_per_item": {"fewest": found.fewest_votes, "most": found.most_votes},
        **{name: estimate_data(estimate) for name, estimate in found.estimates.items()},
        "noise_floor": number(float(found.floor)),
        "distance_spread": _spread(found.distance.per_item),
        "entropy_spread": _spread(found.entropy.signed),
        "distance_histogram": _histogram(found.distance.per_item),
        "confidence_bins": _bins(found.confidence),
        "classwise_bins": _bins(found.classwise),
        "control": None if found.control is None else _control(found.control),
    }


def _control(control: Control) -> dict[str, Plain]:
    return {
        "votes_drawn": control.size,
        "distance": number(float(control.distance)),
        "second_distance": number(float(control.second)),
        "distance_histogram": _histogram(control.distance.per_item),
        "prediction": _divergence(control.prediction),
        "between_controls": _divergence(control.between),
    }


def _divergence(found: Divergence) -> dict[str, Plain]:
    return {"kl": number(found.kl), "tvd": number(found.tvd), "smoothed": found.smoothed}


def _histogram(errors: FloatArray) -> dict[str, Plain]:
    edges = np.linspace(0.0, 1.0, HISTOGRAM_BINS + 1)
    return {"edges": vector(edges), "count": vector(np.histogram(errors, bins=edges)[0])}


def _spread(values: FloatArray) -> dict[str, Plain]:
    points = np.quantile(values, _QUANTILES)
    return {f"q{round(100 * q):02d}": number(v) for q, v in zip(_QUANTILES, points, strict=True)}


def _bins(score: BinnedScore) -> dict[str, Plain]:
    return {
        "edges": vector(score.edges),
        "count": vector(score.count),
        "confidence": vector(score.confidence),
        "accuracy": vector(score.accuracy),
    }


def ranking_data(risk: RankingRisk) -> dict[str, Plain]:
    """Ranking risk with both denominators and what they are."""
    return {
        "over_all_pairs": number(risk.over_all_pairs),
        "over_untied": number(risk.over_untied),
        "pairs": risk.pairs,
        "untied": risk.untied,
        "wrong": risk.wrong,
        "tied_scores": risk.tied,
        "tied_scores_cost": risk.ties,
    }


def slider_data(found: SliderResult) -> dict[str, Plain]:
    """Bin-free calibration of sliders."""
    parts = {name: number(value) for name, value in asdict(found.corp).items()}
    return {
        "n": found.n,
        "brier": dict(parts),
        "smooth_ece": number(found.smooth_error),
        "spiegelhalter_p": number(found.spiegelhalter.p_value),
        "mean_absolute_error": estimate_data(found.error.estimate()),
        "ranking_risk": ranking_data(found.ranking),
        "curve": {
            "stated": vector(found.stated),
            "observed": vector(found.observed),
            "n": vector(found.tally.n),
        },
    }


def personal_data(found: PersonalPhrase) -> dict[str, Plain]:
    """One phrase's distribution of slider values."""
    return {
        "phrase": found.phrase,
        "n": found.n,
        "mean": number(found.mean),
        "sd": number(found.sd),
        "distribution": _distribution(found.distribution),
        "shares": vector(found.shares),
    }


def _distribution(found: Beta | Atom | None) -> dict[str, Plain] | None:
    if found is None:
        return None
    if isinstance(found, Atom):
        return {"kind": "atom", "at": number(found.at)}
    return {"kind": "beta", "alpha": number(found.alpha), "beta": number(found.beta)}


def difficulty_data(found: Difficulty) -> dict[str, Plain]:
    """Give the indicators' spread, their correlations and the split by success."""
    groups = {"human": found.human, "free": found.free, "dependent": found.dependent}
    return {
        "n": found.n,
        "models": found.models,
        "indicators": {
            name: {"kind": kind, "mean": number(float(values.mean())), **_spread(values)}
            for kind, group in groups.items()
            for name, values in group.items()
        },
        "correlations": _pairs(found.correlations),
        "split": None if found.split is None else _split(found.split),
    }


def _split(split: SuccessSplit) -> dict[str, Plain]:
    return {
        "n_success": split.n_success,
        "n_failure": split.n_failure,
        "human_effect": number(split.human_effect),
        "human_p_value": number(split.human_p_value),
        "misleading": list(split.misleading),
        "success": _pairs(split.success),
        "failure": _pairs(split.failure),
    }


def _pairs(found: dict[tuple[str, str], Estimate]) -> list[Plain]:
    return [
        {
            "first": first,
            "second": second,
            "rho": number(estimate.value),
            "low": number(estimate.low),
            "high": number(estimate.high),
            "n": number(estimate.n),
        }
        for (first, second), estimate in found.items()
    ]
