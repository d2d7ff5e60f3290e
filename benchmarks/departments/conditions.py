"""What is hard about a department beyond its readers: conditions under which it is observed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

__all__ = ["CONDITIONS", "VOLUMES", "Conditions"]

VOLUMES: Final = (100, 185, 300, 1000)
"""Exams of a reader; every department mixes all of them."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """How a department is observed; all at their defaults: hard labels, no misreading, all CTs.

    Attributes
    ----------
    triplicate
        Share of exams that are one of three of the same patient in one episode.
    hedged
        Share of CT statements that a hedge may take; the label is then between 0 and 1.
    missed
        Mean share of disease that CT doesn't show; it differs between findings.
    disease
        How many times as likely a CT is when the finding it was ordered for is there.
    wording
        Share by which sure words lower the chance of a CT.
    misread
        Share of statements whose phrase was read as another one of the department's.
    """

    triplicate: float = 0.0
    hedged: float = 0.0
    missed: float = 0.0
    disease: float = 1.0
    wording: float = 0.0
    misread: float = 0.0

    @property
    def is_ordered(self) -> bool:
        """Whether a CT depends on anything."""
        return self.disease != 1.0 or self.wording > 0.0


CONDITIONS: Final[Mapping[str, Conditions]] = MappingProxyType({
    "plain": Conditions(),
    "repeats": Conditions(triplicate=1 / 3),
    "hedged CT": Conditions(hedged=0.22),
    "CT misses": Conditions(missed=0.06),
    "ordering": Conditions(disease=1.6, wording=0.6),
    "misread": Conditions(misread=0.05),
    "all at once": Conditions(
        triplicate=0.2, hedged=0.22, missed=0.04, disease=1.3, wording=0.4, misread=0.03
    ),
})  # fmt: skip
"""Conditions by name: each trouble alone, and a milder form of all together."""
