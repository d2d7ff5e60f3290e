"""What the certainty phrases are worth: the readers' scale and the labels CT phrases become.

A phrase without a surveyed distribution acts as the phrase named in hospital.toml ``[unsurveyed]``.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.survey import builtin
from pipeline.simulate.lexicon import hospital, wording

__all__ = ["LEVELS", "ct_labels", "logit", "phrase_logits", "phrase_means"]

LEVELS: Final = (0.01, 0.99)
"""Means are clipped to these before their logit is taken, so that absent and present have one."""


def logit(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log odds of probabilities strictly inside (0, 1)."""
    return np.log(p) - np.log1p(-p)


def _surveyed(phrase: str) -> str:
    return str(hospital()["unsurveyed"].get(phrase, phrase))


@cache
def phrase_means() -> NDArray[np.float64]:
    """Mean probability (K,) of each phrase of the simulator, in its order."""
    table = builtin("diagnostic-certainty-scale")
    means = [table.means[table.index(_surveyed(p))] for p in wording().phrases]
    return np.array(means, dtype=np.float64)


@cache
def phrase_logits() -> NDArray[np.float64]:
    """Log odds (K,) of the clipped means: what a reader's intercept and slope act on."""
    return logit(np.clip(phrase_means(), *LEVELS))


@cache
def ct_labels() -> NDArray[np.float64]:
    """Label (K,) that each phrase becomes in a CT report: P(c ≥ ½) of its distribution."""
    table = builtin("diagnostic-certainty-scale")
    found = [table.distributions[table.index(_surveyed(p))] for p in wording().phrases]
    return np.array([1.0 - float(d.cdf(np.nextafter(0.5, 0.0))) for d in found], dtype=np.float64)
