"""Engines read report texts and return outcomes; all of them behind one protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from extraction.finding import Outcome

__all__ = ["Engine", "Modality"]

Modality: TypeAlias = Literal["XR", "CT"]
"""Chest radiograph or chest CT."""


class Engine(Protocol):
    """Anything that turns report texts into outcomes."""

    @property
    def name(self) -> str:
        """Short name, as written into every row (``rules``)."""

    @property
    def version(self) -> str:
        """What produced a row: engine revision and vocabulary digest."""

    def extract(self, texts: Sequence[str], *, modality: Modality) -> list[Outcome]:
        """Read reports of one modality.

        Parameters
        ----------
        texts
            N report texts.
        modality
            All of them ``XR`` or all of them ``CT``.

        Returns
        -------
        N outcomes in the same order. A text that cannot be read gives `Failed` at its place and
        never disturbs the others.
        """
