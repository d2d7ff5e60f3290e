"""What a department says and what CT shows: the observations a profile is made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.departments.staff import Staff, scale
from pipeline.simulate.cases import draw_cases, slipped
from pipeline.simulate.department import Observation
from pipeline.simulate.episodes import visits_per_patient
from pipeline.simulate.rates import ct_statement, label_of

__all__ = ["Statements", "draw_statements"]

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


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
