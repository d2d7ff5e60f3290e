"""The chances of the simulation, drawn in whole arrays: what readers say and what CT finds.

A CT report states a pathology as present, absent, or with a hedge k whose label ℓ_k = P(c ≥ ½).
With intended probability p, hedge k is written with probability

    h · w_k · min(p / ℓ_k, (1 − p) / (1 − ℓ_k), 1),

and the rest is split between present and absent so that the expected label is exactly p. That is
possible because the hedges carry at most h·p of label and h·(1 − p) of its complement.

======  ========  ==========================================================
symbol  shape     meaning
======  ========  ==========================================================
phrase  (N, P)    X-ray phrase index, -1 where the report says nothing
p       (N, P)    intended P(CT present)
ct      (N, P)    CT phrase index, -1 where the CT report says nothing (absent)
======  ========  ==========================================================
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from pipeline.simulate.lexicon import hospital, wording
from pipeline.simulate.readers import Staff
from pipeline.simulate.scale import ct_labels

__all__ = ["draw_ct", "draw_phrases", "intended", "label_of"]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


def _rates(name: str) -> FloatArray:
    rates = hospital()["rates"]
    return np.array([rates[p.name][name] for p in wording().pathologies])


def _scores(exams: int, *, rng: np.random.Generator) -> FloatArray:
    """Draw a uniform score (N, P) behind each phrase: a Gaussian copula within groups.

    Phrases are ordered by strength, so correlated scores make related findings strong together.
    Outcomes are drawn independently given the phrases, so nothing of the calibration changes.
    """
    coherence, names = hospital()["coherence"], [p.name for p in wording().pathologies]
    latent = rng.standard_normal((exams, len(names)))
    for group in coherence["groups"]:
        members = [names.index(name) for name in group]
        shared, rho = rng.standard_normal((exams, 1)), coherence["correlation"]
        latent[:, members] = np.sqrt(rho) * shared + np.sqrt(1 - rho) * latent[:, members]
    return np.asarray(ndtr(latent), dtype=np.float64)


def draw_phrases(reader: IntArray, *, staff: Staff, rng: np.random.Generator) -> IntArray:
    """Draw what each X-ray says about each pathology; every report says something.

    Parameters
    ----------
    reader
        Index of the reader of each exam, shape (N,).
    """
    mention = _rates("mention")
    said = rng.random((reader.size, mention.size)) < mention
    said[~said.any(axis=1), int(np.argmax(mention))] = True
    cumulative = staff.usage.cumsum(-1)[reader]
    above = _scores(reader.size, rng=rng)[..., None] > cumulative
    phrase = np.minimum(above.sum(-1), cumulative.shape[-1] - 1)
    return np.where(said, phrase, -1)


def intended(phrase: IntArray, reader: IntArray, *, staff: Staff) -> FloatArray:
    """Return the intended probability of each cell: the reader's curve, or the silent rate."""
    pathology = np.arange(phrase.shape[1])
    stated = staff.chance[reader[:, None], pathology, np.maximum(phrase, 0)]
    return np.where(phrase >= 0, stated, _rates("silent_prevalence"))


def _hedges() -> tuple[IntArray, FloatArray, FloatArray]:
    weights = hospital()["ct"]["phrases"]
    index = np.array([wording().phrases.index(p) for p in weights], dtype=np.int64)
    share = np.array(list(weights.values()), dtype=np.float64)
    return index, share / share.sum(), ct_labels()[index]


def draw_ct(p: FloatArray, *, rng: np.random.Generator) -> IntArray:
    """Draw what each CT report states, so that the expected label of each cell is ``p``.

    Parameters
    ----------
    p
        Intended probability of each cell, shape (N, P).
    """
    index, share, label = _hedges()
    q = p[..., None]
    room = np.minimum(
        np.minimum(q / np.maximum(label, 1e-9), (1 - q) / np.maximum(1 - label, 1e-9)), 1
    )
    hedge = hospital()["ct"]["hedge_rate"] * share * room
    present = p - hedge @ label
    cumulative = np.concatenate([hedge, present[..., None]], axis=-1).cumsum(-1)
    outcomes = np.append(index, wording().phrases.index("present"))
    drawn = (rng.random(p.shape)[..., None] > cumulative).sum(-1)
    stated = np.append(outcomes, wording().phrases.index("absent"))[drawn]
    silent = (stated == 0) & (rng.random(p.shape) < hospital()["ct"]["silence"])
    return np.where(silent, -1, stated)


def label_of(ct: IntArray) -> FloatArray:
    """Return the label each CT statement becomes; silence is absence."""
    return np.where(ct >= 0, ct_labels()[np.maximum(ct, 0)], 0.0)
