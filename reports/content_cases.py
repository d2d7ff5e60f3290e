"""What the committee's review says of cases: their mix, and how far words and CT lie apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.content_committee import FloatArray
from reports.content_parts import SuppressedCell

if TYPE_CHECKING:
    from calibration.estimate import Estimate

__all__ = ["CaseHistogram", "CaseMix", "Disagreement", "MixRow"]


@dataclass(frozen=True, slots=True)
class MixRow:
    """One kind of case: how many statements, and the department's gap there (CT minus words).

    ``adjusted`` holds the finding, the words and every other factor equal; ``share`` is of all
    statements, NaN where the row is withheld.
    """

    factor: str
    level: str
    n: int
    share: float
    gap: Estimate | SuppressedCell | None
    adjusted: Estimate | SuppressedCell | None


@dataclass(frozen=True, slots=True)
class CaseMix:
    """Kinds of cases by factor; ``alike`` names the factors in which all cases are of one kind."""

    rows: tuple[MixRow, ...]
    alike: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseHistogram:
    """Shares of cases (M,) over bins (M + 1,), what exact words would give, mean and cases."""

    edges: FloatArray
    share: FloatArray
    expected: FloatArray | None
    mean: float
    n: int


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Hedged X-ray statements against CT, case by case.

    ``plain``: distance where CT is plain; ``hedged``: distance where CT hedges itself;
    ``entropy``: of the latter, X-ray less CT entropy in nats (above 0: the X-ray is less decided).
    """

    plain: CaseHistogram | SuppressedCell
    hedged: CaseHistogram | SuppressedCell
    entropy: CaseHistogram | SuppressedCell
