"""What is hard about a department beyond its readers: conditions under which it is observed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pipeline.simulate.department import Observation, Variation

__all__ = ["CONDITIONS", "VARIATION", "VOLUMES"]

VOLUMES: Final = (100, 185, 300, 1000)
"""Exams of a reader; every department mixes all of them."""

VARIATION: Final = Variation(quirk=0.17, shared=0.1, finding=0.2, reader_finding=0.1)
"""Quirks of sd .2 (a reader's own and the department's), findings and readers that differ."""

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
})  # fmt: skip
"""Conditions by name: each trouble alone, and a milder form of all together."""
