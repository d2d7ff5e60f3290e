"""What is written of the neighbouring measures, by the rules of ``calibration.plain``.

Results that hold a value per item are written as the spread and the histogram of those values.
"""

from __future__ import annotations

import numpy as np

from calibration.arrays import FloatArray
from calibration.distributions import Atom
from calibration.estimate import Estimate
from calibration.neighbours.correlation import SuccessSplit
from calibration.neighbours.difficulty import Difficulty
from calibration.neighbours.disagreement import (
    HISTOGRAM_BINS,
    Control,
    Disagreement,
    error_histogram,
)
from calibration.neighbours.ranking import RankingRisk
from calibration.neighbours.score import BinnedScore
from calibration.neighbours.sliders import PersonalPhrase, SliderResult
from calibration.plain import Plain, plain_fields

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def disagreement_data(found: Disagreement) -> dict[str, Plain]:
    """Every statistic with its interval, the spread of the errors, bins and control."""
    return plain_fields(
        {
            "n": found.n,
            "votes_per_item": {"fewest": found.fewest_votes, "most": found.most_votes},
            **found.estimates,
            "noise_floor": found.floor,
            "distance_spread": _spread(found.distance.per_item),
            "entropy_spread": _spread(found.entropy.signed),
            "distance_histogram": _histogram(found.distance.per_item),
            "confidence_bins": _bins(found.confidence),
            "classwise_bins": _bins(found.classwise),
            "control": None if found.control is None else _control(found.control),
        }
    )


def _control(control: Control) -> dict[str, object]:
    return {**plain_fields(control), "distance_histogram": _histogram(control.distance.per_item)}


def _histogram(errors: FloatArray) -> dict[str, object]:
    edges = np.linspace(0.0, 1.0, HISTOGRAM_BINS + 1)
    count = error_histogram(errors).astype(np.int64)
    return {"edges": edges, "count": count}


def _spread(values: FloatArray) -> dict[str, float]:
    points = np.quantile(values, _QUANTILES).tolist()
    return {f"q{round(100 * q):02d}": v for q, v in zip(_QUANTILES, points, strict=True)}


def _bins(score: BinnedScore) -> dict[str, object]:
    return {name: getattr(score, name) for name in ("edges", "count", "confidence", "accuracy")}


def ranking_data(risk: RankingRisk) -> dict[str, Plain]:
    """Ranking risk with both denominators and what they are."""
    names = ("over_all_pairs", "over_untied", "pairs", "untied", "wrong")
    found = {name: getattr(risk, name) for name in names}
    return plain_fields({**found, "tied_scores": risk.tied, "tied_scores_cost": "half"})


def slider_data(found: SliderResult) -> dict[str, Plain]:
    """Bin-free calibration of sliders."""
    return plain_fields(
        {
            "n": found.n,
            "brier": {**plain_fields(found.corp), "n": found.corp.n},
            "smooth_ece": found.smooth_error,
            "spiegelhalter_p": found.spiegelhalter.p_value,
            "mean_absolute_error": found.error.estimate(),
            "ranking_risk": ranking_data(found.ranking),
            "curve": {"stated": found.stated, "observed": found.observed, "n": found.tally.n},
        }
    )


def personal_data(found: PersonalPhrase) -> dict[str, Plain]:
    """One phrase's distribution of slider values."""
    kind = None if found.distribution is None else _kind(found)
    return plain_fields(found) | {"distribution": kind}


def _kind(found: PersonalPhrase) -> dict[str, Plain]:
    name = "atom" if isinstance(found.distribution, Atom) else "beta"
    return {"kind": name, **plain_fields(found.distribution)}


def difficulty_data(found: Difficulty) -> dict[str, Plain]:
    """Give the indicators' spread, their correlations and the split by success."""
    groups = {"human": found.human, "free": found.free, "dependent": found.dependent}
    return plain_fields(
        {
            "n": found.n,
            "models": found.models,
            "indicators": {
                name: {"kind": kind, "mean": float(values.mean()), **_spread(values)}
                for kind, group in groups.items()
                for name, values in group.items()
            },
            "correlations": _pairs(found.correlations),
            "split": None if found.split is None else _split(found.split),
        }
    )


def _split(split: SuccessSplit) -> dict[str, Plain]:
    names = ("n_success", "n_failure", "human_effect", "human_p_value", "misleading")
    rest: dict[str, object] = {name: getattr(split, name) for name in names}
    paired = {"success": _pairs(split.success), "failure": _pairs(split.failure)}
    return plain_fields(rest | paired)


def _pairs(found: dict[tuple[str, str], Estimate]) -> list[object]:
    return [
        {"first": first, "second": second, "rho": e.value, "low": e.low, "high": e.high, "n": e.n}
        for (first, second), e in found.items()
    ]
