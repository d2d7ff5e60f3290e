"""How often words hold: rates as declared, as they scatter, and as CT shows them in the long run.

=======  =========  ==================================================================
symbol   shape      meaning
=======  =========  ==================================================================
R, P, K             readers, pathologies, phrases
chance   (R, P, K)  P(pathology there | reader, pathology, phrase)
rates    (R, P, K)  expected CT label of a phrase among X-rays that get a CT
=======  =========  ==================================================================
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from pipeline.simulate.cases import Practice, draw_cases, granted
from pipeline.simulate.department import Observation, Variation
from pipeline.simulate.outcomes import expected_parts
from pipeline.simulate.scale import LEVELS

__all__ = ["expected_labels", "hedged", "long_run_rates", "scattered"]

FloatArray: TypeAlias = NDArray[np.float64]

_ASKED_EXAMS: Final = 6000
"""Exams drawn to learn how often each phrase is the one that a CT is asked about."""


def hedged(means: FloatArray) -> NDArray[np.bool_]:
    """Whether each phrase is a hedge: those that mean all or nothing are none."""
    return np.asarray((means > LEVELS[0]) & (means < LEVELS[1]), dtype=np.bool_)


def scattered(
    chance: FloatArray,
    *,
    hedges: NDArray[np.bool_],
    mention: FloatArray,
    variation: Variation,
    rng: np.random.Generator,
) -> FloatArray:
    """Scatter declared rates (R, P, K) about themselves in log odds.

    Findings are centred by how often they are stated, so that they move no reader's line. Quirks
    are those of hedges alone.
    """
    readers, findings, words = chance.shape
    quirk = _noise((readers, 1, words), variation.quirk, variation, rng)
    quirk = quirk + _noise((words,), variation.shared, variation, rng)
    finding = _noise((1, findings, 1), variation.finding, variation, rng)
    finding = finding + _noise((readers, findings, 1), variation.reader_finding, variation, rng)
    finding -= np.einsum("p,rpk->rk", mention, finding)[:, None] / mention.sum()
    return np.asarray(expit(logit(chance) + np.where(hedges, quirk, 0.0) + finding))


def _noise(
    shape: tuple[int, ...], sd: float, variation: Variation, rng: np.random.Generator
) -> FloatArray:
    if variation.form == "uniform":
        return rng.uniform(-(3**0.5) * sd, 3**0.5 * sd, shape)
    if variation.form == "laplace":
        return rng.laplace(0.0, sd / 2**0.5, shape)
    return rng.normal(0.0, sd, shape)


def long_run_rates(
    practice: Practice, observation: Observation, missed: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return the expected label (R, P, K) of every phrase as meant, among exams with a CT.

    How often a phrase is the one a CT is asked about is counted in drawn exams.
    """
    chance = practice.chance
    if observation.disease == 1.0:
        return expected_labels(chance, 0.0, missed, observation)
    return expected_labels(chance, _asked_share(practice, observation, rng), missed, observation)


def expected_labels(
    disease: FloatArray, asked: FloatArray | float, missed: FloatArray, observation: Observation
) -> FloatArray:
    """Return the label to expect of findings in exams with a CT.

    If a CT is λ times as likely when the finding it is asked about is there, that finding is there
    λp / (λp + 1 − p) of the time; other findings of the same exam are all but untouched.

    Parameters
    ----------
    disease
        P(there), shape (..., P) or (..., P, K).
    asked
        Whether, or how often, the CT was asked about it; broadcasts to ``disease``.
    missed
        Share that CT doesn't show, broadcasts to ``disease``.
    """
    there, absent = expected_parts(disease, disease * (1.0 - missed), hedged=observation.hedged)
    times = observation.disease
    selected = (times * there + absent) / (1.0 + (times - 1.0) * disease)
    return np.asarray(asked * selected + (1.0 - asked) * (there + absent), dtype=np.float64)


def _asked_share(
    practice: Practice, observation: Observation, rng: np.random.Generator
) -> FloatArray:
    """Share (K,) of a phrase's statements that a CT was asked about, among exams with a CT."""
    reader = rng.integers(practice.usage.shape[0], size=_ASKED_EXAMS)
    each, everyone = np.arange(_ASKED_EXAMS), np.ones(_ASKED_EXAMS, dtype=np.bool_)
    free = observation.model_copy(update={"disease": 1.0, "wording": 0.0, "repeated": 0.0})
    cases = draw_cases(reader, each, everyone, practice=practice, observation=free, rng=rng)
    has_ct = granted(cases, practice, observation, rng)
    phrase, words = cases.phrase[has_ct], practice.means.size
    stated = np.bincount(phrase[phrase >= 0], minlength=words)
    asked = phrase[cases.is_asked[has_ct]]
    return np.asarray(np.bincount(asked, minlength=words) / np.maximum(stated, 1))
