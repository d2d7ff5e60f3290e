"""Surveys of what people mean by a phrase → one distribution per phrase.

Two kinds of survey: respondents counted per probability range, and raw percentages.

* Moments (default): a range survey is a mixture of uniforms with known mean and variance, so the
  fit is exact and needs no sampling; raw percentages use the sample mean and the population
  variance, values clamped to [1e-8, 1 − 1e-8]. Source: Wang et al. 2025, appendix B.3.
* Likelihood: interval-censored, Σ_j w_j log(F(b_j) − F(b_{j−1})) over ranges. A statement of
  "0 %" or "100 %" is taken as rounding, [0, .005] and (.995, 1]: a range of no width has no
  likelihood. Raw percentages are taken as rounded to the whole per cent likewise.

Intervals resample respondents and refit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from calibration import distributions
from calibration.arrays import FloatArray
from calibration.errors import SurveyError, check_option, whole
from calibration.survey import PhraseTable

FitMethod = Literal["moments", "likelihood"]

_ROUNDING = 0.005
_UNKNOWN = (float("nan"), float("nan"))


@dataclass(frozen=True, slots=True, eq=False)
class PhraseSurvey:
    """Answers about one phrase: counts per range, or raw percentages as ranges of no width.

    Attributes
    ----------
    phrase
        The phrase asked about.
    edges, counts
        Ranges (J + 1,) and respondents or proportions in them (J,); empty for raw answers.
    answers
        Raw answers as probabilities, shape (n,); empty for a range survey.
    respondents
        People asked; None if only proportions are known.
    """

    phrase: str
    edges: FloatArray
    counts: FloatArray
    answers: FloatArray
    respondents: int | None

    @property
    def is_raw(self) -> bool:
        """Whether the answers are percentages rather than ranges."""
        return bool(self.answers.size)

    def moments(self) -> tuple[float, float]:
        """Mean and variance of the answers."""
        if self.is_raw:
            return distributions.moments_of_percentages(100.0 * self.answers)
        return distributions.moments_of_ranges(self.edges, self.counts)

    def resampled(self, rng: np.random.Generator) -> PhraseSurvey:
        """Draw as many respondents again with replacement."""
        if self.is_raw:
            return replace(self, answers=rng.choice(self.answers, size=self.answers.size))
        if self.respondents is None:
            raise SurveyError(
                f"{self.phrase!r}: only proportions are known, so respondents cannot be "
                "resampled; give their number."
            )
        counts = rng.multinomial(self.respondents, self.counts / self.counts.sum())
        return replace(self, counts=counts.astype(np.float64))

    def rounded_ranges(self) -> tuple[FloatArray, FloatArray]:
        """Ranges for the likelihood, statements of 0 % and 100 % given the width of rounding."""
        if self.is_raw:
            values, counts = np.unique(self.answers, return_counts=True)
            edges = np.clip(np.concatenate([values - _ROUNDING, values + _ROUNDING]), 0.0, 1.0)
            edges = np.unique(np.concatenate([[0.0], edges, [1.0]]))
            place = np.clip(np.searchsorted(edges, values, side="left") - 1, 0, len(edges) - 2)
            people = np.bincount(place, weights=counts, minlength=len(edges) - 1)
            return edges, people.astype(np.float64)
        edges = self.edges.copy()
        if 0.0 < edges[1] < _ROUNDING:
            edges[1] = _ROUNDING
        if _ROUNDING > 1.0 - edges[-2] > 0.0:
            edges[-2] = 1.0 - _ROUNDING
        return edges, self.counts


@dataclass(frozen=True, slots=True, eq=False)
class FittedPhrase:
    """One phrase's distribution with 95 % respondent-bootstrap intervals.

    Attributes
    ----------
    phrase, distribution, respondents
        What was fitted, and to how many people's answers.
    alpha, beta, mean
        (low, high) of the parameters and the mean; NaN when not asked for or not possible.
    refused
        Bootstrap samples that had no fit (all answers equal) and were left out.
    """

    phrase: str
    distribution: distributions.Distribution
    respondents: int | None
    alpha: tuple[float, float] = _UNKNOWN
    beta: tuple[float, float] = _UNKNOWN
    mean: tuple[float, float] = _UNKNOWN
    refused: int = 0


def fit_phrase(
    survey: PhraseSurvey,
    *,
    method: FitMethod = "moments",
    bootstrap: int = 0,
    rng: np.random.Generator,
) -> FittedPhrase:
    """Fit one phrase; "absent" and "present" are atoms whatever was answered.

    Parameters
    ----------
    survey
        The answers.
    method
        See the module.
    bootstrap
        Respondent resamples for the intervals; 0 for none.
    rng
        Source of chance.

    Raises
    ------
    SurveyError
        If the answers allow no Beta, naming the phrase.
    """
    check_option("method", method, FitMethod)
    bootstrap = whole("bootstrap", bootstrap, least=0)
    if survey.phrase in _ATOMS:
        atom = distributions.Atom(_ATOMS[survey.phrase])
        return FittedPhrase(survey.phrase, atom, survey.respondents)
    fitted = _fit(survey, method)
    draws, refused = [], 0
    for _ in range(bootstrap):
        again = survey.resampled(rng)
        try:
            one = _fit(again, method)
        except SurveyError:
            refused += 1
            continue
        draws.append((one.alpha, one.beta, one.mean))
    known = FittedPhrase(survey.phrase, fitted, survey.respondents, refused=refused)
    if not draws:
        return known
    low, high = np.quantile(np.array(draws), [0.025, 0.975], axis=0)
    alpha, beta, mean = ((float(a), float(b)) for a, b in zip(low, high, strict=True))
    return replace(known, alpha=alpha, beta=beta, mean=mean)


def fit_survey(
    surveys: Iterable[PhraseSurvey],
    *,
    name: str,
    method: FitMethod = "moments",
    bootstrap: int = 0,
    rng: np.random.Generator,
) -> tuple[PhraseTable, tuple[FittedPhrase, ...]]:
    """Fit every phrase of a survey; its phrase table, and what is known of each fit.

    Parameters as for :func:`fit_phrase`; ``name`` is the survey's, for messages and the source.

    Raises
    ------
    SurveyError
        If any phrase allows no Beta, naming all of them.
    """
    fits: list[FittedPhrase] = []
    problems: list[str] = []
    for survey in surveys:
        try:
            fits.append(fit_phrase(survey, method=method, bootstrap=bootstrap, rng=rng))
        except SurveyError as error:
            problems.append(str(error))
    if problems:
        raise SurveyError(
            f"{name}: {len(problems)} phrase(s) cannot be fitted. " + " ".join(problems)
        )
    table = PhraseTable(
        name=name.rpartition(".")[0] or name,
        phrases=tuple(f.phrase for f in fits),
        distributions=tuple(f.distribution for f in fits),
        respondents=tuple(f.respondents for f in fits),
        source=f"{name}, fitted by {method}",
    )
    return table, tuple(fits)


_ATOMS = {"absent": 0.0, "present": 1.0}


def _fit(survey: PhraseSurvey, method: FitMethod) -> distributions.Beta:
    if not (survey.is_raw or survey.counts.any()):
        raise SurveyError(f"{survey.phrase!r}: no answer is given; leave it out.")
    if method == "moments":
        return distributions.fit_moments(*survey.moments(), phrase=survey.phrase)
    return distributions.fit_likelihood(*survey.rounded_ranges(), phrase=survey.phrase)
