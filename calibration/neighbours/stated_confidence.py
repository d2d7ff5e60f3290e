"""Right or wrong answers with a stated confidence: recalibrations compared on held-out answers.

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

Wang et al. 2025, §4.3 and Table 1: a language model states a probability or a phrase beside each
answer. Every method is scored alike, on the number it comes down to: a phrase counts as its mean, a
map between phrases as the means of its targets with their weights. So ECE here has ten bins (a, b]
of stated numbers, unlike Eq. 4, and Brier is of the numbers.

Answers are split in halves at random within each phrase or stated value, fitted on one and scored
on the other, both ways, several times; the score is the mean over all. A method that cannot be
fitted on some half (all answers right, a map that did not converge) has no score, never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import logit

from calibration.arrays import FloatArray, divided
from calibration.bins import phrase_bins
from calibration.errors import CalibrationError, check_option
from calibration.neighbours.binned import scalar_error
from calibration.substitution import SubstitutionMap
from calibration.substitution.effect import split_tally
from calibration.substitution.programs import monotone_map
from calibration.substitution.transport import fitted_map
from calibration.survey import PhraseTable
from calibration.tally import Tally

BaselineName = Literal["platt", "histogram", "isotonic", "beta"]

_CLIP = 0.01
_RATES = 10
"""Bins of ``histogram``."""


def fit_baseline(tally: Tally, *, means: FloatArray, name: BaselineName) -> FloatArray:
    """Give the calibrated probability of every phrase by one baseline, shape (K,).

    Parameters
    ----------
    tally
        Observations to fit on.
    means
        Phrase means, shape (K,).
    name
        Which one.

    Raises
    ------
    CalibrationError
        If the name is unknown, there is no observation, or all labels agree where a logistic
        regression is needed.
    """
    check_option("baseline", name, BaselineName)
    if not tally.total > 0:
        raise CalibrationError(f"baseline {name}: there is no observation to fit.")
    clipped = np.clip(means, _CLIP, 1.0 - _CLIP)
    if name == "platt":
        return _regression(tally, logit(clipped)[:, None])[0]
    if name == "beta":
        return _beta(tally, clipped)
    return _isotonic(tally, means) if name == "isotonic" else _histogram(tally, means)


def _regression(tally: Tally, features: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fitted probabilities (K,) and coefficients (F,) of an unpenalised logistic regression."""
    from sklearn.linear_model import LogisticRegression

    yes, no = tally.label_mass, tally.n - tally.label_mass
    if yes.sum() <= 0 or no.sum() <= 0:
        raise CalibrationError(
            "baseline: all labels agree, so a logistic regression has no finite fit."
        )
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
    model.fit(means[used], tally.label_mass[used] / tally.n[used], tally.n[used])
    return np.asarray(model.predict(means))


def _histogram(tally: Tally, means: FloatArray) -> FloatArray:
    from sklearn.preprocessing import KBinsDiscretizer

    model = KBinsDiscretizer(_RATES, encode="ordinal", strategy="uniform", subsample=None)
    model.fit(np.array([[0.0], [1.0]]))
    place = np.asarray(model.transform(means[:, None]))[:, 0].astype(np.int64)
    n = np.bincount(place, weights=tally.n, minlength=_RATES)
    mass = np.bincount(place, weights=tally.label_mass, minlength=_RATES)
    rate = divided(mass, n)[place]
    return np.where(np.isnan(rate), means, rate)


Restated = Callable[[Tally], tuple[FloatArray, FloatArray]]
"""From the fitting half to the numbers (L,) and the weights (K, L) that say them."""


@dataclass(frozen=True, slots=True)
class MethodScore:
    """One way to restate confidence, scored on answers it was not fitted on.

    Attributes
    ----------
    method
        ``uncalibrated``, a baseline's name, ``transport`` or ``monotone``.
    ece, brier
        Means over the held-out halves; NaN if ``failure`` says why there is none.
    ece_sd, brier_sd
        Standard deviations over the halves: how much the split matters, not a standard error.
    halves
        Held-out halves scored.
    failure
        Why the method could not be fitted; None if it could.
    """

    method: str
    ece: float
    ece_sd: float
    brier: float
    brier_sd: float
    halves: int
    failure: str | None = None


def compare_methods(
    tally: Tally,
    *,
    means: FloatArray,
    rng: np.random.Generator,
    phrase_table: PhraseTable | None = None,
    bins: int = 10,
    splits: int = 10,
) -> tuple[MethodScore, ...]:
    """Score every recalibration on held-out answers.

    Parameters
    ----------
    tally
        Answers per phrase or stated value; label 1 is right.
    means
        The number each stands for, shape (K,).
    rng
        Source of chance, for the splits.
    phrase_table
        The phrases, for the maps between them; without it there are no maps.
    bins
        Bins of the error.
    splits
        Random splits, each used both ways.

    Raises
    ------
    CalibrationError
        If there are fewer than two answers, or not one mean per phrase.
    """
    if tally.total < 2 or np.shape(means) != (tally.n_phrases,) or splits < 1:
        raise CalibrationError(
            f"{tally.total:g} answers over {tally.n_phrases} stated values with "
            f"{np.size(means)} numbers, {splits} splits: give two answers or more, one number per "
            "value and one split or more."
        )
    halves = [split_tally(tally, rng=rng) for _ in range(splits)]
    pairs = [pair for first, second in halves for pair in ((first, second), (second, first))]
    pairs = [(fit, test) for fit, test in pairs if fit.total > 0 and test.total > 0]
    methods = _methods(means, phrase_table)
    return tuple(_score(name, method, pairs, bins) for name, method in methods.items())


def _methods(means: FloatArray, table: PhraseTable | None) -> Mapping[str, Restated]:
    itself = np.eye(len(means))

    def baseline(name: BaselineName) -> Restated:
        return lambda fit: (fit_baseline(fit, means=means, name=name), itself)

    found: dict[str, Restated] = {"uncalibrated": lambda _: (means, itself)}
    found |= {name: baseline(name) for name in get_args(BaselineName)}
    if table is not None:
        found["transport"] = lambda fit: (means, _transport(fit, table).weights())
        found["monotone"] = lambda fit: (means, monotone_map(fit, phrase_table=table).weights())
    return found


def fitted_maps(tally: Tally, *, phrase_table: PhraseTable) -> dict[str, SubstitutionMap]:
    """Give the maps between phrases fitted on all answers: what to say instead, by method."""
    return {
        "transport": _transport(tally, phrase_table),
        "monotone": monotone_map(tally, phrase_table=phrase_table),
    }


def _transport(fit: Tally, table: PhraseTable) -> SubstitutionMap:
    return fitted_map(fit, phrases=table.phrases, tables=phrase_bins(table.distributions))


def _score(name: str, method: Restated, pairs: list[tuple[Tally, Tally]], bins: int) -> MethodScore:
    errors, scores = [], []
    for fit, test in pairs:
        try:
            stated, weights = method(fit)
        except CalibrationError as error:
            return MethodScore(name, np.nan, np.nan, np.nan, np.nan, 0, str(error))
        n, mass = test.n @ weights, test.label_mass @ weights
        errors.append(scalar_error(n, mass, stated=stated, bins=bins))
        scores.append(float((n @ stated**2 - 2.0 * (mass @ stated) + mass.sum()) / test.total))
    return MethodScore(
        method=name,
        ece=float(np.mean(errors)),
        brier=float(np.mean(scores)),
        ece_sd=float(np.std(errors)),
        brier_sd=float(np.std(scores)),
        halves=len(pairs),
    )
