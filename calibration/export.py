"""Results as plain data for JSON: floats, lists and names, with None for what does not exist.

JSON has no NaN and no infinity. A statistic without a value, an empty bin, a phrase never used and
a forbidden cell are all ``None``; the field beside it (``n``, ``counts``, ``suppressed``) says
which. Arrays are in phrase order, matrices by rows.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np

from calibration.analysis import Analysis
from calibration.arrays import FloatArray
from calibration.curve import ReliabilityCurve
from calibration.diagnostics import Diagnostics
from calibration.estimate import Estimate
from calibration.goodness import FitTest
from calibration.phrase_calibration import PhraseCalibration
from calibration.result import GroupResult
from calibration.substitution import (
    Advice,
    HeldOutEffect,
    SubstitutionMap,
    Suggestion,
    Suppressed,
)

__all__ = [
    "Plain",
    "advice_data",
    "analysis_data",
    "curve_data",
    "diagnostics_data",
    "estimate_data",
    "held_out_data",
    "map_data",
    "number",
    "phrase_data",
    "result_data",
    "vector",
]

Plain: TypeAlias = "bool | float | str | list[Plain] | dict[str, Plain] | None"


def number(value: float) -> float | None:
    """Return a finite number, or None."""
    return float(value) if math.isfinite(value) else None


def vector(values: FloatArray) -> list[Plain]:
    """Return an array of any shape as nested lists."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim > 1:
        return [vector(row) for row in array]
    return [number(v) for v in array.tolist()]


def estimate_data(estimate: Estimate) -> dict[str, Plain]:
    """Value, interval and zero point of one statistic."""
    return {
        "value": number(estimate.value),
        "low": number(estimate.low),
        "high": number(estimate.high),
        "n": number(estimate.n),
        "method": estimate.method,
        "reference_level": number(estimate.reference_level),
        "null_high": number(estimate.null_high),
        "corrected": number(estimate.corrected),
    }


def curve_data(curve: ReliabilityCurve) -> dict[str, Plain]:
    """Reliability curve, one entry per bin (``bin_edges`` has one more)."""
    return {
        "bin_edges": vector(curve.bin_edges),
        "observed": vector(curve.observed),
        "confidence": vector(curve.confidence),
        "density": vector(curve.density),
        "expected": vector(curve.expected),
        "low": vector(curve.low),
        "high": vector(curve.high),
        "band_low": vector(curve.band_low),
        "band_high": vector(curve.band_high),
    }


def phrase_data(phrases: PhraseCalibration) -> dict[str, Plain]:
    """Return the phrase table, one entry per phrase."""
    return {
        "observed": vector(phrases.observed),
        "low": vector(phrases.low),
        "high": vector(phrases.high),
        "expected": vector(phrases.expected),
        "expected_low": vector(phrases.expected_low),
        "expected_high": vector(phrases.expected_high),
    }


def result_data(result: GroupResult) -> dict[str, Plain]:
    """One group without its map and advice."""
    return {
        "n": number(result.n),
        "counts": vector(result.tally.n),
        "label_mass": vector(result.tally.label_mass),
        "ece": estimate_data(result.ece),
        "ece_star": estimate_data(result.ece_star),
        "phrase_error": estimate_data(result.phrase_error),
        "brier": estimate_data(result.brier),
        "accuracy": estimate_data(result.accuracy),
        "curve": curve_data(result.curve),
        "phrase_table": phrase_data(result.phrases),
    }


def map_data(
    fitted: SubstitutionMap,
    *,
    ece_after: float,
    brier_after: float,
    held_out: HeldOutEffect | None,
) -> dict[str, Plain]:
    """Return a substitution map; no weights when it did not converge."""
    return {
        "weights": vector(fitted.weights()) if fitted.converged else None,
        "cost": vector(fitted.cost),
        "plan": vector(fitted.plan) if fitted.converged else None,
        "source_weights": vector(fitted.source_weights),
        "target_weights": vector(fitted.target_weights),
        "objective": number(fitted.objective),
        "converged": fitted.converged,
        "row_residual": number(fitted.row_residual),
        "dual_gradient": number(fitted.dual_gradient),
        "method": fitted.method,
        "regulariser": fitted.regulariser,
        "epsilon": number(fitted.epsilon),
        "tau": number(fitted.tau),
        "ece_after": number(ece_after),
        "brier_after": number(brier_after),
        "held_out": None if held_out is None else held_out_data(held_out),
    }


def held_out_data(effect: HeldOutEffect) -> dict[str, Plain]:
    """Before and after a map on held-out observations."""
    return {
        "n_fit": number(effect.n_fit),
        "n_test": number(effect.n_test),
        "ece_before": number(effect.ece_before),
        "ece_after": number(effect.ece_after),
        "ece_difference": estimate_data(effect.ece_difference),
        "brier_before": number(effect.brier_before),
        "brier_after": number(effect.brier_after),
        "brier_difference": estimate_data(effect.brier_difference),
    }


def analysis_data(analysis: Analysis) -> dict[str, Plain]:
    """One group of a result file, as docs/result-json.md describes it."""
    suggestions, withheld = advice_data(analysis.advice)
    outcome = analysis.map
    return {
        **result_data(analysis.result),
        "diagnostics": diagnostics_data(analysis.diagnostics),
        "map": map_data(
            outcome.map,
            ece_after=outcome.ece_after,
            brier_after=outcome.brier_after,
            held_out=outcome.held_out,
        ),
        "advice": suggestions,
        "suppressed": withheld,
    }


def diagnostics_data(diagnostics: Diagnostics) -> dict[str, Plain]:
    """Secondary statistics of one group."""
    corp = diagnostics.corp
    return {
        "auroc": estimate_data(diagnostics.auroc),
        "ece_star_end_bins": number(diagnostics.ece_star_end_bins),
        "maximum_error": number(diagnostics.maximum_error),
        "smooth_ece": number(diagnostics.smooth_ece),
        "spiegelhalter": _test_data(diagnostics.spiegelhalter),
        "chi_squared": _test_data(diagnostics.chi_squared),
        "corp": {
            "score": number(corp.score),
            "miscalibration": number(corp.miscalibration),
            "discrimination": number(corp.discrimination),
            "uncertainty": number(corp.uncertainty),
        },
    }


def _test_data(test: FitTest) -> dict[str, Plain]:
    return {
        "statistic": number(test.statistic),
        "p_value": number(test.p_value),
        "degrees": test.degrees,
        "n": number(test.n),
        "contradicted": number(test.contradicted),
    }


def advice_data(advice: Advice) -> tuple[list[Plain], list[Plain]]:
    """Suggestions, best first, and what was withheld with its reason."""
    return (
        [_suggestion_data(s) for s in advice.suggestions],
        [_suppressed_data(s) for s in advice.suppressed],
    )


def _suggestion_data(suggestion: Suggestion) -> dict[str, Plain]:
    return {
        "source": suggestion.source,
        "target": suggestion.target,
        "n": number(suggestion.n),
        "observed": number(suggestion.observed),
        "low": number(suggestion.low),
        "high": number(suggestion.high),
        "expected": number(suggestion.expected),
        "target_expected": number(suggestion.target_expected),
        "share": number(suggestion.share),
        "stability": number(suggestion.stability),
        "held_out": None if suggestion.effect is None else held_out_data(suggestion.effect),
    }


def _suppressed_data(withheld: Suppressed) -> dict[str, Plain]:
    return {
        "source": withheld.source,
        "target": withheld.target,
        "reason": withheld.reason,
        "detail": withheld.detail,
    }
