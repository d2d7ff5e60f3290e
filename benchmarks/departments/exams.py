"""What a department says and what CT shows, under conditions: what a profile is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.departments.staff import Staff, scale
from pipeline.simulate.cases import draw_cases, slipped
from pipeline.simulate.department import Observation
from pipeline.simulate.episodes import visits_per_patient
from pipeline.simulate.rates import ct_statement, label_of

__all__ = ["CONDITIONS", "Statements", "draw_statements"]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

_PATIENTS: Final = 0.3

CONDITIONS: Final[Mapping[str, Observation]] = MappingProxyType({
    "plain": Observation(patients=_PATIENTS),
    "repeats": Observation(patients=_PATIENTS, repeated=1 / 3),
    "hedged CT": Observation(patients=_PATIENTS, hedged=0.22),
    "CT misses": Observation(patients=_PATIENTS, missed=0.06),
    "ordering": Observation(patients=_PATIENTS, disease=1.6, wording=0.6),
    "misread": Observation(patients=_PATIENTS, misworded=0.05),
    "all at once": Observation(
        patients=_PATIENTS, repeated=0.25, hedged=0.22, missed=0.04, disease=1.3, wording=0.4,
        misworded=0.03,
    ),
    "CT misses much": Observation(patients=_PATIENTS, missed=0.12),
})  # fmt: skip
"""Conditions by name: each trouble alone, a milder form of all together, and a worse CT."""


@dataclass(frozen=True, slots=True)
class Statements:
    """Statements (N,) of one department, as meant and as read."""

    reader: IntArray
    patient: IntArray
    finding: IntArray
    meant: IntArray
    read: IntArray
    label: FloatArray

    def observations(self, staff: Staff) -> pd.DataFrame:
        """Return the table `radcal profile` reads."""
        return pd.DataFrame({
            "reader": np.array([r.name for r in staff.readers])[self.reader],
            "patient": [f"P{p:06d}" for p in self.patient],
            "pathology": np.array(staff.findings)[self.finding],
            "phrase": np.array(scale().phrases)[self.read],
            "label": self.label,
        })  # fmt: skip


def draw_statements(
    staff: Staff, observation: Observation, missed: FloatArray, rng: np.random.Generator
) -> Statements:
    """Draw every reader's exams with a CT; patients belong to one reader each.

    Parameters
    ----------
    missed
        Share of each finding that CT doesn't show, shape (F,).
    """
    exams = [reader.exams for reader in staff.readers]
    reader = np.repeat(np.arange(len(exams)), exams)
    visits = np.concatenate(
        [visits_per_patient(n, repeated=observation.repeated, rng=rng) for n in exams]
    )
    cases = draw_cases(
        reader,
        np.repeat(np.arange(visits.size), visits),
        np.ones(reader.size, dtype=np.bool_),
        practice=staff.practice,
        observation=observation,
        rng=rng,
    )
    shown = cases.disease * (1.0 - missed)
    label = label_of(ct_statement(cases.u, shown, hedged=observation.hedged))
    exam, finding = np.nonzero(cases.phrase >= 0)
    meant = cases.phrase[exam, finding]
    return Statements(
        reader=reader[exam],
        patient=np.repeat(np.arange(visits.size), visits)[exam],
        finding=finding,
        meant=meant,
        read=slipped(meant, observation.misworded, rng),
        label=label[exam, finding],
    )
