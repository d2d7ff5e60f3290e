"""Who reads what: readers, forecasts and outcomes of all episodes of a chunk, in arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.simulate.draws import draw_ct, draw_phrases, intended, label_of
from pipeline.simulate.episodes import Episode
from pipeline.simulate.lexicon import hospital, wording
from pipeline.simulate.readers import Staff

__all__ = ["Cohort", "draw_cohort"]

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]

_HOME_ADVANTAGE: Final = 4.0
"""How much rather an exam is read by a reader of its own site."""


@dataclass(frozen=True, slots=True)
class Cohort:
    """Everything drawn for the episodes of a chunk; arrays are (N,) or (N, P), see draws.py."""

    xr_reader: IntArray
    ct_reader: IntArray
    phrase: IntArray
    probability: FloatArray
    ct: IntArray
    label: FloatArray
    versions: Mapping[str, NDArray[np.bool_]]


def draw_cohort(episodes: Sequence[Episode], staff: Staff, rng: np.random.Generator) -> Cohort:
    """Draw readers, what they say, and what CT finds, for every episode.

    An episode without an X-ray is silent on everything; every CT report states something.
    """
    site = np.array([e.patient.site for e in episodes], dtype=np.int64)
    xr_reader = _assigned(site, staff, rng, avoid=None)
    phrase = draw_phrases(xr_reader, staff=staff, rng=rng)
    phrase[[e.kind == "ct_only" for e in episodes]] = -1
    probability = intended(phrase, xr_reader, staff=staff)
    ct = draw_ct(probability, rng=rng)
    effusion = [p.name for p in wording().pathologies].index("pleural effusion")
    ct[(ct < 0).all(axis=1), effusion] = 0
    is_pair = np.array([e.kind == "pair" for e in episodes])
    versions = {
        name: is_pair & (rng.random(len(episodes)) < share)
        for name, share in hospital()["versions"].items()
    }
    ct_reader = _assigned(site, staff, rng, avoid=xr_reader)
    return Cohort(xr_reader, ct_reader, phrase, probability, ct, label_of(ct), versions)


def _assigned(
    site: IntArray, staff: Staff, rng: np.random.Generator, *, avoid: IntArray | None
) -> IntArray:
    """Assign readers by workload, mostly of the exam's own site; never ``avoid`` if possible."""
    load = np.array([r.workload for r in staff.readers])
    home = np.array([r.site for r in staff.readers])
    weight = load * np.where(home == site[:, None], _HOME_ADVANTAGE, 1.0)
    if avoid is not None and load.size > 1:
        weight[np.arange(site.size), avoid] = 0.0
    cumulative = weight.cumsum(axis=1)
    u = rng.random(site.size) * cumulative[:, -1]
    return np.asarray((u[:, None] >= cumulative).sum(axis=1), dtype=np.int64)
