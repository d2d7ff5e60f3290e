"""Cluster bootstrap: patients are resampled, not their observations.

One patient may contribute several findings and several exams; resampling observations would then
call correlated numbers independent. Patients with the same counts are interchangeable, so one
multinomial over distinct patient profiles has exactly the distribution of resampling patients.
"""

from __future__ import annotations

import numpy as np

from calibration.arrays import FloatArray
from calibration.tally import GroupedTally

__all__ = ["cluster_moments"]


def cluster_moments(
    patients: GroupedTally, *, replicates: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw n and label mass of bootstrap samples of patients, each (B, K).

    Parameters
    ----------
    patients
        One group per patient, of the observations of one result group; patients without
        observations do not count.
    replicates
        B.
    rng
        Source of chance.
    """
    shape = (replicates, patients.n_phrases)
    if not len(patients.cell):
        return np.zeros(shape), np.zeros(shape)
    profiles, people = _profiles(patients)
    drawn = rng.multinomial(int(people.sum()), people / people.sum(), size=replicates)
    counts = (drawn @ profiles).reshape(replicates, patients.n_phrases, -1)
    return counts.sum(axis=2), counts @ patients.label_values


def _profiles(patients: GroupedTally) -> tuple[FloatArray, FloatArray]:
    """Distinct patient counts (D, K·L) and how many patients have each (D,)."""
    size = patients.n_phrases * len(patients.label_values)
    patient, cell = np.divmod(patients.cell, size)
    starts = np.flatnonzero(np.diff(patient, prepend=-1))
    # A random weight per (cell, count) pair makes the sum over a patient's cells its fingerprint.
    pair, code = np.unique(np.stack([cell, patients.count]), axis=1, return_inverse=True)
    mark = np.random.default_rng(0).integers(1, 2**40, size=(pair.shape[1],))
    fingerprint = np.add.reduceat(mark[code.ravel()], starts)
    _, first, people = np.unique(fingerprint, return_index=True, return_counts=True)
    ends = np.append(starts[1:], len(cell))
    profiles = np.zeros((len(first), size))
    for row, index in enumerate(first):
        span = slice(starts[index], ends[index])
        profiles[row, cell[span]] = patients.count[span]
    return profiles, people.astype(np.float64)
