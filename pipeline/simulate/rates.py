"""How often words hold: as declared, as they scatter, and as CT shows them in the long run.

One uniform number u decides both the finding and CT's statement: the finding is there where u < p,
and CT's label falls with u. CT shows a share q = p · (1 − missed) of it, and where it hedges with a
phrase of label ℓ = P(c ≥ ½) it does so with probability

    h · w · min(q / ℓ, (1 − q) / (1 − ℓ), 1),

and the rest is split between present and absent so that the expected label is exactly q. That is
possible because the hedges carry at most h·q of label and h·(1 − q) of its complement.

=======  =========  ==================================================================
symbol   shape      meaning
=======  =========  ==================================================================
R, P, K             readers, pathologies, phrases
u        any        uniform number behind a case
shown    as u       q, share of such cases that CT shows as there
ct       as u       CT phrase index, -1 where the report says nothing (absent)
chance   (R, P, K)  P(pathology there | reader, pathology, phrase)
rates    (R, P, K)  expected CT label of a phrase among X-rays that get a CT
=======  =========  ==================================================================
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from scipy.special import expit, logit

from calibration.arrays import BoolArray, FloatArray, IntArray
from pipeline.simulate.cases import Practice, draw_cases, granted
from pipeline.simulate.department import LEVELS, Observation, Variation, ct_labels
from pipeline.simulate.lexicon import hospital, wording


@cache
def _hedges() -> tuple[IntArray, FloatArray]:
    """Phrases a CT report hedges with, strongest label first, and their shares."""
    weights = hospital()["ct"]["phrases"]
    index = np.array([wording().phrases.index(p) for p in weights], dtype=np.int64)
    order = np.argsort(-ct_labels()[index], kind="stable")
    share = np.array(list(weights.values()), dtype=np.float64)
    return index[order], (share / share.sum())[order]


def _statements() -> IntArray:
    """CT's phrases from the strongest label to the weakest."""
    words = wording().phrases
    return np.concatenate([[words.index("present")], _hedges()[0], [words.index("absent")]])


def _edges(shown: FloatArray, hedged: float) -> FloatArray:
    """Cumulated chances (..., J) of CT's statements, strongest first."""
    index, share = _hedges()
    labels, q = ct_labels()[index], shown[..., None]
    room = np.minimum(q / np.maximum(labels, 1e-9), (1 - q) / np.maximum(1 - labels, 1e-9))
    hedge = hedged * share * np.minimum(room, 1.0)
    present = shown - hedge @ labels
    masses = np.concatenate([present[..., None], hedge], axis=-1)
    return np.concatenate([masses.cumsum(axis=-1), np.ones_like(q)], axis=-1)


def ct_statement(
    u: FloatArray, shown: FloatArray, *, hedged: float, silent: BoolArray | None = None
) -> IntArray:
    """Return what each CT report states of a finding; where it is ``silent`` it never says absent.

    Parameters
    ----------
    hedged
        Most that hedges may take of CT statements.
    silent
        Whether a report leaves an absent finding unmentioned, as ``u``.
    """
    place = (u[..., None] >= _edges(shown, hedged)).sum(axis=-1)
    stated = _statements()[np.minimum(place, _statements().size - 1)]
    return stated if silent is None else np.where(silent & (stated == 0), -1, stated)


def label_of(ct: IntArray) -> FloatArray:
    """Return the label each CT statement becomes; silence is absence."""
    return np.where(ct >= 0, ct_labels()[np.maximum(ct, 0)], 0.0)


def expected_parts(
    disease: FloatArray, shown: FloatArray, *, hedged: float
) -> tuple[FloatArray, FloatArray]:
    """Return E[label; finding there] and E[label; finding not there], of any shape."""
    edges, labels = _edges(shown, hedged), ct_labels()[_statements()]
    before = np.concatenate([np.zeros_like(edges[..., :1]), edges[..., :-1]], axis=-1)
    there = np.minimum(edges, disease[..., None]) - np.minimum(before, disease[..., None])
    return there @ labels, (edges - before - there) @ labels


_ASKED_EXAMS: Final = 6000
"""Exams drawn to learn how often each phrase is the one that a CT is asked about."""


def hedged(means: FloatArray) -> BoolArray:
    """Whether each phrase is a hedge: those that mean all or nothing are none."""
    return np.asarray((means > LEVELS[0]) & (means < LEVELS[1]), dtype=np.bool_)


def scattered(
    chance: FloatArray,
    *,
    hedges: BoolArray,
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
