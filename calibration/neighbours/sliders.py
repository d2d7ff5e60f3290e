"""A 0-100 % slider beside the phrase: calibration without bins, and what one reader's words mean.

Every distinct slider value is taken as a "phrase" that means exactly that value, so the engine's
own bin-free statistics apply: the CORP decomposition, smooth ECE, Spiegelhalter's Z. The ranking
risk is over pairs of an exam with and an exam without the finding; 1 − risk is the AUROC.

A phrase's personal distribution is the moment fit of the slider values set beside it; it needs two
values that differ. Quantised onto a phrase table's means, the sliders say which phrases the reader
would have used had each been worth what the table says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from calibration.arrays import FloatArray
from calibration.diagnostics import Corp, FitTest, corp, smooth_calibration_error, spiegelhalter_z
from calibration.distributions import Atom, Beta, fit_moments
from calibration.errors import CalibrationError, refuse
from calibration.neighbours.class_scores import empirical_cdf, quantise
from calibration.neighbours.ranking import RankingRisk, checked_scalars, ranking_risk
from calibration.neighbours.score import ItemScore
from calibration.survey import PhraseTable
from calibration.tally import Tally, tally

_CLAMP: Final = 1e-8


@dataclass(frozen=True, slots=True, eq=False)
class SliderResult:
    """Bin-free calibration of stated probabilities against outcomes.

    Attributes
    ----------
    n
        Exams.
    tally
        Counts per distinct slider value and label.
    stated
        The distinct slider values, increasing, shape (K,).
    observed
        Isotonic estimate of the outcome's frequency at each, shape (K,).
    corp
        Brier score and its parts; ``corp.miscalibration`` is 0 when no monotone change helps.
    smooth_error
        Smooth ECE.
    spiegelhalter
        Test of calibration.
    error
        Mean |slider − label|.
    ranking
        Ranking risk of the slider against the label.
    """

    n: int
    tally: Tally
    stated: FloatArray
    observed: FloatArray
    corp: Corp
    smooth_error: float
    spiegelhalter: FitTest
    error: ItemScore
    ranking: RankingRisk


def slider_calibration(*, slider: ArrayLike, label: ArrayLike) -> SliderResult:
    """Calibrate stated probabilities without bins.

    Parameters
    ----------
    slider
        Stated probability of every exam in [0, 1], shape (N,).
    label
        Outcome of every exam in [0, 1], hard or soft, shape (N,).

    Raises
    ------
    CalibrationError
        If lengths differ, or a value is missing or outside [0, 1].
    """
    said, outcome = checked_scalars(slider=slider, label=label)
    _within(said, "slider")
    stated, place = np.unique(said, return_inverse=True)
    counted = tally(place.astype(np.int64), outcome, n_phrases=len(stated))
    rate = isotonic_regression(counted.label_mass / counted.n, weights=counted.n).x
    return SliderResult(
        n=len(said),
        tally=counted,
        stated=stated,
        observed=np.asarray(rate, dtype=np.float64),
        corp=corp(counted, means=stated),
        smooth_error=smooth_calibration_error(counted, means=stated),
        spiegelhalter=spiegelhalter_z(counted, means=stated),
        error=ItemScore(np.abs(said - outcome), "mean |slider − label|"),
        ranking=ranking_risk(score=said, judged=outcome),
    )


@dataclass(frozen=True, slots=True, eq=False)
class PersonalPhrase:
    """What one phrase means to those who set the slider beside it.

    Attributes
    ----------
    phrase
        The phrase.
    n
        Slider values.
    mean, sd
        Mean and standard deviation of the values, sd with divisor n.
    distribution
        Moment fit; an atom where all values agree, None where no Beta has these moments.
    shares
        Share of the values nearest to each phrase of the table, in its order, shape (K,).
    """

    phrase: str
    n: int
    mean: float
    sd: float
    distribution: Beta | Atom | None
    shares: FloatArray


def personal_phrases(
    *, phrase: list[str], slider: ArrayLike, table: PhraseTable
) -> tuple[PersonalPhrase, ...]:
    """Distribution of the slider values beside every phrase, in alphabetical order of phrases.

    Parameters
    ----------
    phrase
        Phrase of every exam, N entries; it need not be in the table.
    slider
        Stated probability of every exam in [0, 1], shape (N,).
    table
        Phrases whose means the sliders are quantised onto.

    Raises
    ------
    CalibrationError
        If lengths differ, or a slider value is missing or outside [0, 1].
    """
    (said,) = checked_scalars(slider=slider)
    if len(phrase) != len(said):
        raise CalibrationError(f"phrase: {len(phrase)} phrases for {len(said)} slider values.")
    _within(said, "slider")
    names, place = np.unique(np.asarray(phrase, dtype=object).astype(str), return_inverse=True)
    return tuple(
        _personal(str(name), said[place == k], table) for k, name in enumerate(names.tolist())
    )


def _personal(name: str, values: FloatArray, table: PhraseTable) -> PersonalPhrase:
    return PersonalPhrase(
        phrase=name,
        n=len(values),
        mean=float(values.mean()),
        sd=float(values.std()),
        distribution=_fitted(values, name),
        shares=_shares(values, table.means),
    )


def _fitted(values: FloatArray, name: str) -> Beta | Atom | None:
    if values.min() == values.max():
        return Atom(float(values[0]))
    clamped = np.clip(values, _CLAMP, 1.0 - _CLAMP)
    mean, variance = float(clamped.mean()), float(clamped.var())
    if not 0.0 < variance < mean * (1.0 - mean):
        return None
    return fit_moments(mean, variance, phrase=name)


def _shares(values: FloatArray, means: FloatArray) -> FloatArray:
    """Quantise onto distinct means; phrases of one mean share its mass evenly."""
    points, place, times = np.unique(means, return_inverse=True, return_counts=True)
    share = quantise(empirical_cdf(values), points=points) / times
    return np.asarray(share[place], dtype=np.float64)


def _within(values: FloatArray, name: str) -> None:
    fault = "values are outside [0, 1]. Divide per cent by 100 before calling."
    refuse(name, (values < 0.0) | (values > 1.0), fault, shown=values)
