"""What CT makes of a finding: a statement whose expected label is known, tied to the truth.

One uniform number u decides both: the finding is there where u < p, and CT's label falls with u.
CT shows a share q = p · (1 − missed) of it, and where it hedges with a phrase of label
ℓ = P(c ≥ ½) it does so with probability

    h · w · min(q / ℓ, (1 − q) / (1 − ℓ), 1),

and the rest is split between present and absent so that the expected label is exactly q. That is
possible because the hedges carry at most h·q of label and h·(1 − q) of its complement.

=======  ==========================================================
symbol   meaning
=======  ==========================================================
u        uniform number behind a case, any shape
shown    q, share of such cases that CT shows as there, as u
ct       CT phrase index, -1 where the report says nothing (absent)
=======  ==========================================================
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.simulate.lexicon import hospital, wording
from pipeline.simulate.scale import ct_labels

__all__ = ["ct_statement", "expected_parts", "label_of"]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


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
    u: FloatArray, shown: FloatArray, *, hedged: float, silent: NDArray[np.bool_] | None = None
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
