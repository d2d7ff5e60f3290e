"""What CT makes of a finding: a label whose mean is known, tied to whether the finding is there.

One uniform number u decides both: the finding is there where u < p, and CT's label falls with u. CT
shows a share q = p · (1 − missed) of it, and where it hedges with a phrase of label ℓ it does so
with probability h · w · min(q / ℓ, (1 − q) / (1 − ℓ), 1), so that the expected label stays q.
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.simulate.lexicon import hospital, wording
from pipeline.simulate.scale import ct_labels

__all__ = ["expected_parts", "label_of"]

FloatArray: TypeAlias = NDArray[np.float64]


@cache
def _hedges() -> tuple[FloatArray, FloatArray]:
    """Labels of CT hedges, strongest first, and their shares."""
    weights = hospital()["ct"]["phrases"]
    labels = ct_labels()[[wording().phrases.index(p) for p in weights]]
    order, share = np.argsort(-labels), np.array(list(weights.values()))
    return labels[order], (share / share.sum())[order]


def _edges(shown: FloatArray, hedged: float) -> tuple[FloatArray, FloatArray]:
    """Cumulated chances (..., J) of CT's labels from 1 downward, and the labels (J,)."""
    labels, share = _hedges()
    q = shown[..., None]
    room = np.minimum(q / np.maximum(labels, 1e-9), (1 - q) / np.maximum(1 - labels, 1e-9))
    hedge = hedged * share * np.minimum(room, 1.0)
    present = shown - hedge @ labels
    masses = np.concatenate([present[..., None], hedge], axis=-1)
    edges = np.concatenate([masses.cumsum(axis=-1), np.ones_like(q)], axis=-1)
    return edges, np.concatenate([[1.0], labels, [0.0]])


def label_of(u: FloatArray, *, shown: FloatArray, hedged: float) -> FloatArray:
    """Return CT's label of each statement.

    Parameters
    ----------
    u
        Uniform numbers, shape (N,).
    shown
        Share of cases that CT shows as there, shape (N,).
    hedged
        Most that hedges may take of CT statements.
    """
    edges, labels = _edges(shown, hedged)
    place = np.minimum((u[:, None] >= edges).sum(axis=-1), labels.size - 1)
    return np.asarray(labels[place], dtype=np.float64)


def expected_parts(
    disease: FloatArray, *, shown: FloatArray, hedged: float
) -> tuple[FloatArray, FloatArray]:
    """Return E[label; finding there] and E[label; finding not there], of any shape."""
    edges, labels = _edges(shown, hedged)
    before = np.concatenate([np.zeros_like(edges[..., :1]), edges[..., :-1]], axis=-1)
    there = np.minimum(edges, disease[..., None]) - np.minimum(before, disease[..., None])
    return there @ labels, (edges - before - there) @ labels
