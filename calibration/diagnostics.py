"""Everything else one can say about a group, for an appendix: tests and decompositions.

Of a phrase's point forecast, its mean, from a tally:

* Spiegelhalter's Z (Spiegelhalter 1986): Σ_k (y_k − n_k m_k)(1 − 2 m_k) over the square root of
  Σ_k n_k (1 − 2 m_k)² m_k (1 − m_k), over the phrases whose mean is inside (0, 1); standard normal
  for a calibrated reader. It looks only at the direction the Brier score is sensitive to.
* Per-phrase χ²: Σ_k (y_k − n_k m_k)² / (n_k m_k (1 − m_k)), one degree of freedom per phrase in
  use whose mean is inside (0, 1). Phrases that state 0 % or 100 % cannot be tested this way; the
  label mass that contradicts them is given instead.
* CORP (Dimitriadis, Gneiting and Jordan 2021): the Brier score of the means is miscalibration −
  discrimination + uncertainty, with isotonic regression as the recalibrated forecast.
* Smooth ECE (Błasiok and Nakkiran 2023) of the phrase means: the residual y_k − n_k m_k, a point
  mass at m_k, is smoothed by a Gaussian reflected at 0 and 1; smECE_σ = ∫ |smoothed| / N, at the
  one σ with smECE_σ = σ.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq, isotonic_regression
from scipy.special import chdtrc, ndtr

from calibration.arrays import FloatArray
from calibration.curve import calibration_error_without_end_bins
from calibration.estimate import Estimate, Options, estimate_from_replicates, multinomial_moments
from calibration.plain import LEFT_OUT
from calibration.scores import auroc, order_probabilities
from calibration.survey import PhraseTable
from calibration.tally import Tally

_DEFAULTS = Options(bootstrap=200)


@dataclass(frozen=True, slots=True)
class FitTest:
    """One test of "every phrase means what the table says".

    Attributes
    ----------
    statistic, p_value
        NaN where nothing can be tested.
    degrees
        Degrees of freedom; 0 where nothing can be tested.
    n
        Observations tested.
    contradicted
        Label mass that contradicts a statement of 0 % or 100 %; such phrases are not tested.
    """

    statistic: float
    p_value: float
    degrees: int
    n: float
    contradicted: float


def spiegelhalter_z(tally: Tally, *, means: FloatArray) -> FitTest:
    """Spiegelhalter's Z, two-sided, of the phrases whose mean is inside (0, 1); means are (K,)."""
    contradicted = _contradicted(tally.n, tally.label_mass, means)
    tested = (means > 0) & (means < 1)
    n, mass, m = tally.n[tested], tally.label_mass[tested], means[tested]
    lean = 1.0 - 2.0 * m
    variance = float(n @ (lean**2 * m * (1.0 - m)))
    if variance <= 0.0:
        return FitTest(np.nan, np.nan, 0, 0.0, contradicted)
    z = float((mass - n * m) @ lean) / np.sqrt(variance)
    return FitTest(float(z), 2.0 * float(ndtr(-abs(z))), 1, float(n.sum()), contradicted)


def phrase_chi_squared(tally: Tally, *, means: FloatArray) -> FitTest:
    """Per-phrase χ² over the phrases in use; means are (K,)."""
    n, mass = tally.n, tally.label_mass
    tested = (n > 0) & (means > 0) & (means < 1)
    degrees = int(tested.sum())
    contradicted = _contradicted(n, mass, means)
    if not degrees:
        return FitTest(np.nan, np.nan, 0, 0.0, contradicted)
    m = means[tested]
    gaps = mass[tested] - n[tested] * m
    statistic = float(np.sum(gaps**2 / (n[tested] * m * (1.0 - m))))
    p_value = float(chdtrc(degrees, statistic))
    return FitTest(statistic, p_value, degrees, float(n[tested].sum()), contradicted)


def _contradicted(n: FloatArray, mass: FloatArray, means: FloatArray) -> float:
    return float(mass[means <= 0.0].sum() + (n - mass)[means >= 1.0].sum())


@dataclass(frozen=True, slots=True)
class Corp:
    """Brier score of the phrase means = miscalibration − discrimination + uncertainty.

    Attributes
    ----------
    score
        Brier score of the means, labels read as Bernoulli(label).
    miscalibration, discrimination, uncertainty
        Its parts, none negative; NaN where there is no observation.
    n
        Observations.
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    n: float = field(metadata=LEFT_OUT)


def corp(tally: Tally, *, means: FloatArray) -> Corp:
    """Decompose the Brier score of the means (K,); phrases of equal mean are one forecast."""
    used = tally.n > 0
    if not used.any():
        return Corp(np.nan, np.nan, np.nan, np.nan, 0.0)
    forecast, place = np.unique(means[used], return_inverse=True)
    n = np.bincount(place, weights=tally.n[used]).astype(np.float64)
    mass = np.bincount(place, weights=tally.label_mass[used]).astype(np.float64)
    recalibrated = np.asarray(isotonic_regression(mass / n, weights=n).x)
    overall = np.full(n.shape, mass.sum() / n.sum())
    score, best, flat = (_brier(n, mass, f) for f in (forecast, recalibrated, overall))
    return Corp(score, score - best, flat - best, flat, tally.total)


def _brier(n: FloatArray, mass: FloatArray, forecast: FloatArray) -> float:
    return float(np.sum(n * forecast**2 - 2.0 * forecast * mass + mass) / n.sum())


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Secondary statistics of one group.

    Attributes
    ----------
    auroc
        With its interval; NaN where all labels agree.
    ece_star_end_bins
        ECE without the first and last bin, as the paper's released code has it.
    smooth_ece
        Of the phrase means.
    spiegelhalter, chi_squared
        Tests that every phrase means what the table says.
    corp
        Decomposition of the Brier score of the phrase means.
    """

    auroc: Estimate
    ece_star_end_bins: float
    smooth_ece: float
    spiegelhalter: FitTest
    chi_squared: FitTest
    corp: Corp


def diagnose(
    tally: Tally,
    *,
    phrase_table: PhraseTable,
    options: Options = _DEFAULTS,
    rng: np.random.Generator,
) -> Diagnostics:
    """Compute them all; parameters as for :func:`calibration.result.calibrate`."""
    tables = options.tables(phrase_table.distributions)
    n, mass, means = tally.n, tally.label_mass, phrase_table.means
    order = order_probabilities(phrase_table.distributions)
    boot_n, boot_mass = multinomial_moments(tally, replicates=options.bootstrap, rng=rng)
    return Diagnostics(
        auroc=estimate_from_replicates(
            float(auroc(n, mass, order=order)),
            auroc(boot_n, boot_mass, order=order),
            n=tally.total,
            rule="percentile",
        ),
        ece_star_end_bins=float(calibration_error_without_end_bins(n, mass, tables=tables)),
        smooth_ece=smooth_calibration_error(tally, means=means),
        spiegelhalter=spiegelhalter_z(tally, means=means),
        chi_squared=phrase_chi_squared(tally, means=means),
        corp=corp(tally, means=means),
    )


_GRID = (np.arange(1000) + 0.5) / 1000


def smooth_calibration_error(tally: Tally, *, means: FloatArray) -> float:
    """Smooth ECE of the phrase means (K,); NaN where there is no observation."""
    used = tally.n > 0
    if not used.any():
        return float("nan")
    residual = (tally.label_mass - tally.n * means)[used] / tally.total
    centres = means[used]

    def excess(sigma: float) -> float:
        return float(np.abs(residual @ _reflected(centres, sigma)).mean()) - sigma

    if excess(1e-3) <= 0.0:
        return float(np.abs(residual @ _reflected(centres, 1e-3)).mean())
    return float(brentq(excess, 1e-3, 1.0, xtol=1e-9))


def _reflected(centres: FloatArray, sigma: float) -> FloatArray:
    """Gaussian kernels (A, G) reflected into [0, 1], each with mean height 1 on the grid."""
    images = np.array([0.0, 2.0, -2.0])
    total = np.zeros((len(centres), len(_GRID)))
    for shift in images:
        for sign in (1.0, -1.0):
            z = (_GRID - (shift + sign * centres[:, None])) / sigma
            total += np.exp(-(z**2) / 2.0)
    return np.asarray(total / total.mean(axis=1, keepdims=True))
