"""Who reads what: readers, forecasts and outcomes of all episodes of a chunk, in arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.simulate.cases import Cases, draw_cases, repeats, slipped
from pipeline.simulate.episodes import Episode
from pipeline.simulate.lexicon import hospital, wording
from pipeline.simulate.rates import ct_statement, expected_labels, label_of
from pipeline.simulate.readers import Staff

__all__ = ["Cohort", "draw_cohort"]

IntArray: TypeAlias = NDArray[np.int64]
FloatArray: TypeAlias = NDArray[np.float64]

_HOME_ADVANTAGE: Final = 4.0
"""How much rather an exam is read by a reader of its own site."""


@dataclass(frozen=True, slots=True)
class Cohort:
    """Everything drawn for the episodes of a chunk; arrays are (N,) or (N, P), see cases.py.

    ``phrase`` is what a report says, ``meant`` what its reader meant; ``probability`` is the label
    to expect of what was meant.
    """

    xr_reader: IntArray
    ct_reader: IntArray
    phrase: IntArray
    meant: IntArray
    probability: FloatArray
    ct: IntArray
    label: FloatArray
    versions: Mapping[str, NDArray[np.bool_]]


def draw_cohort(episodes: Sequence[Episode], staff: Staff, rng: np.random.Generator) -> Cohort:
    """Draw readers, what they say, and what CT finds, for every episode.

    An episode without an X-ray is silent on everything; every CT report states something.
    """
    site = np.array([e.patient.site for e in episodes], dtype=np.int64)
    patient = np.unique([e.patient.patient_id for e in episodes], return_inverse=True)[1]
    xr_reader = _assigned(site, staff, rng, avoid=None)
    if staff.department.observation.repeated:
        later, first = repeats(patient)
        xr_reader[later] = xr_reader[first]
    cases = draw_cases(
        xr_reader,
        patient,
        np.array([e.kind != "xr_only" for e in episodes]),
        practice=staff.practice,
        observation=staff.department.observation,
        rng=rng,
    )
    versions = {
        name: _is_kind(episodes, "pair") & (rng.random(len(episodes)) < share)
        for name, share in hospital()["versions"].items()
    }
    ct_reader = _assigned(site, staff, rng, avoid=xr_reader)
    return _reported(
        cases, _is_kind(episodes, "ct_only"), (xr_reader, ct_reader), staff, versions, rng
    )


def _is_kind(episodes: Sequence[Episode], kind: str) -> NDArray[np.bool_]:
    return np.array([e.kind == kind for e in episodes], dtype=np.bool_)


def _reported(
    cases: Cases,
    no_xray: NDArray[np.bool_],
    readers: tuple[IntArray, IntArray],
    staff: Staff,
    versions: Mapping[str, NDArray[np.bool_]],
    rng: np.random.Generator,
) -> Cohort:
    """Put what X-rays mean into words, and let CT find what is there."""
    observation = staff.department.observation
    meant = np.where(no_xray[:, None], -1, cases.phrase)
    phrase = meant.copy()
    phrase[meant >= 0] = slipped(meant[meant >= 0], observation.misworded, rng)
    silent = rng.random(meant.shape) < hospital()["ct"]["silence"]
    shown = cases.disease * (1.0 - staff.missed)
    ct = ct_statement(cases.u, shown, hedged=observation.hedged, silent=silent)
    effusion = [p.name for p in wording().pathologies].index("pleural effusion")
    ct[(ct < 0).all(axis=1), effusion] = 0
    asked = cases.is_asked.astype(np.float64)
    probability = expected_labels(cases.disease, asked, staff.missed, observation)
    return Cohort(*readers, phrase, meant, probability, ct, label_of(ct), versions)


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
