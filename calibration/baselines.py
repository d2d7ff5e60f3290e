"""Classical recalibration of the phrase means, for comparison with maps between phrases.

Each baseline turns a phrase's mean into a calibrated probability; it cannot name a phrase to use
instead, which is why it is a baseline here. Soft labels enter as weighted pairs of both labels.

* ``platt``: logistic regression on logit(mean) (Platt 2000), scikit-learn without penalty.
* ``histogram``: one rate per bin of the mean (Zadrozny and Elkan 2001), scikit-learn's
  ``KBinsDiscretizer`` for the bins; empty bins keep the mean.
* ``isotonic``: Zadrozny and Elkan 2002, scikit-learn.
* ``beta``: Kull et al. 2017, logit p = c + a ln m − b ln(1 − m) with a, b ≥ 0: logistic
  regression on (ln m, −ln(1 − m)) by scikit-learn; a coefficient that comes out negative is
  removed and the other refitted, as the authors' own package does.

Means are clipped to [.01, .99] before logarithms, or "absent" and "present" would decide the fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import logit

from calibration.arrays import FloatArray
from calibration.errors import CalibrationError
from calibration.tally import Tally

__all__ = ["Baseline", "BaselineName", "fit_baseline"]

BaselineName = Literal["platt", "histogram", "isotonic", "beta"]

_CLIP = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """A recalibration of phrase means.

    Attributes
    ----------
    name
        Which baseline.
    probability
        Calibrated probability of every phrase, shape (K,).
    n
        Observations it was fitted on.
    """

    name: str
    probability: FloatArray
    n: float

    def brier(self, tally: Tally) -> float:
        """Brier score of the calibrated probabilities on a tally; NaN if it is empty."""
        p = self.probability
        loss = tally.n @ p**2 - 2.0 * (tally.label_mass @ p) + tally.label_mass.sum()
        return float(loss / tally.total) if tally.total > 0 else float("nan")

    def phrase_error(self, tally: Tally) -> float:
        """Σ_k |y_k − n_k p_k| / N on a tally; NaN if it is empty."""
        gap = np.abs(tally.label_mass - tally.n * self.probability).sum()
        return float(gap / tally.total) if tally.total > 0 else float("nan")


def fit_baseline(
    tally: Tally, *, means: FloatArray, name: BaselineName, bins: int = 10
) -> Baseline:
    """Fit one baseline to a tally.

    Parameters
    ----------
    tally
        Observations to fit on.
    means
        Phrase means, shape (K,).
    name
        Which one.
    bins
        Bins of ``histogram``.

    Raises
    ------
    CalibrationError
        If the name is unknown, there is no observation, or all labels agree where a logistic
        regression is needed.
    """
    if name not in get_args(BaselineName):
        msg = f"baseline {name!r}: use one of {', '.join(get_args(BaselineName))}."
        raise CalibrationError(msg)
    if not tally.total > 0:
        msg = f"baseline {name}: there is no observation to fit."
        raise CalibrationError(msg)
    clipped = np.clip(means, _CLIP, 1.0 - _CLIP)
    if name == "platt":
        probability = _logistic(tally, logit(clipped)[:, None])
    elif name == "beta":
        probability = _beta(tally, clipped)
    elif name == "isotonic":
        probability = _isotonic(tally, means)
    else:
        probability = _histogram(tally, means, bins)
    return Baseline(name, probability, tally.total)


def _logistic(tally: Tally, features: FloatArray) -> FloatArray:
    return _regression(tally, features)[0]


def _regression(tally: Tally, features: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fitted probabilities (K,) and coefficients (F,) of an unpenalised logistic regression."""
    from sklearn.linear_model import LogisticRegression

    yes, no = tally.label_mass, tally.n - tally.label_mass
    if yes.sum() <= 0 or no.sum() <= 0:
        msg = "baseline: all labels agree, so a logistic regression has no finite fit."
        raise CalibrationError(msg)
    weight = np.concatenate([yes, no])
    kept = weight > 0
    label = np.repeat([1, 0], len(yes))[kept]
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000)
    model.fit(np.concatenate([features, features])[kept], label, sample_weight=weight[kept])
    return np.asarray(model.predict_proba(features)[:, 1]), np.asarray(model.coef_[0])


def _beta(tally: Tally, clipped: FloatArray) -> FloatArray:
    features = np.stack([np.log(clipped), -np.log1p(-clipped)], axis=1)
    probability, slopes = _regression(tally, features)
    if np.all(slopes >= 0.0):
        return probability
    kept = features[:, [int(np.argmax(slopes))]]
    probability, slopes = _regression(tally, kept)
    if slopes[0] >= 0.0:
        return probability
    return np.full(len(clipped), tally.label_mass.sum() / tally.total)


def _isotonic(tally: Tally, means: FloatArray) -> FloatArray:
    from sklearn.isotonic import IsotonicRegression

    used = tally.n > 0
    model = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    model.fit(means[used], (tally.label_mass / np.where(used, tally.n, 1.0))[used], tally.n[used])
    return np.asarray(model.predict(means))


def _histogram(tally: Tally, means: FloatArray, bins: int) -> FloatArray:
    from sklearn.preprocessing import KBinsDiscretizer

    model = KBinsDiscretizer(bins, encode="ordinal", strategy="uniform", subsample=None)
    model.fit(np.array([[0.0], [1.0]]))
    place = np.asarray(model.transform(means[:, None]))[:, 0].astype(np.int64)
    n = np.bincount(place, weights=tally.n, minlength=bins)
    mass = np.bincount(place, weights=tally.label_mass, minlength=bins)
    rate = np.divide(mass, n, out=np.full(bins, np.nan), where=n > 0)[place]
    return np.where(np.isnan(rate), means, rate)
