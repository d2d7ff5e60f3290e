"""What a page needs: frozen carriers of calibration results, with every way of being absent apart.

A number on a page is in one of four states, and no state can be mistaken for another:

* a result (``GroupResult``, ``Estimate``, a count) that is printed,
* :class:`SuppressedCell`: it exists, and is not printed because too few exams or readers stand
  behind it; it prints as "too few (n < 20)" and carries no count, so that none can leak,
* ``None``: not computed in this run; it prints as those words,
* an empty tuple: computed, and there is nothing (no case, no advice); it prints as "none".

Nothing here computes. Times, periods and codes are strings, printed as given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.content_cases import CaseHistogram, CaseMix, Disagreement, MixRow
from reports.content_committee import (
    Exclusion,
    FloatArray,
    FlowStep,
    FrontierPoint,
    Funnel,
    FunnelPoint,
    GovernanceText,
    ReaderRow,
    ScaleUse,
    SensitivityRow,
    SensitivityTable,
)
from reports.content_parts import (
    Case,
    Coverage,
    Gate,
    Instrument,
    InstrumentFigure,
    Masthead,
    PathologyAdvice,
    PathologyResult,
    SuppressedCell,
    TrendPoint,
)

if TYPE_CHECKING:
    from calibration.phrase_calibration import PhraseCalibration
    from calibration.readers import LogisticCalibration
    from calibration.result import GroupResult

__all__ = [
    "Case",
    "CaseHistogram",
    "CaseMix",
    "CommitteeContent",
    "Coverage",
    "Disagreement",
    "Exclusion",
    "FloatArray",
    "FlowStep",
    "FrontierPoint",
    "Funnel",
    "FunnelPoint",
    "Gate",
    "GateFailureContent",
    "GovernanceText",
    "Instrument",
    "InstrumentFigure",
    "Masthead",
    "MixRow",
    "PathologyAdvice",
    "PathologyResult",
    "RadiologistContent",
    "ReaderRow",
    "ScaleUse",
    "SensitivityRow",
    "SensitivityTable",
    "SuppressedCell",
    "TrendPoint",
]


@dataclass(frozen=True, slots=True)
class RadiologistContent:
    """Everything one radiologist's feedback says."""

    masthead: Masthead
    minimum_n: int
    overall: GroupResult | SuppressedCell
    by_pathology: tuple[PathologyResult, ...]
    department: PhraseCalibration | SuppressedCell | None
    """The department's phrase table; a ``SuppressedCell(5, "readers")`` below five readers."""
    actions: tuple[PathologyAdvice, ...] | None
    coverage: Coverage | None
    instrument: Instrument | None
    trend: tuple[TrendPoint, ...] | None = None
    cases: tuple[Case, ...] | None = None
    logistic: LogisticCalibration | None = None
    discouraged: frozenset[str] = frozenset()
    """Phrases the institution's scale discourages; they are marked in the phrase chart."""


@dataclass(frozen=True, slots=True)
class CommitteeContent:
    """Everything the quality committee's review says. Readers appear by code only."""

    masthead: Masthead
    minimum_n: int
    flow: tuple[FlowStep, ...]
    department: GroupResult | SuppressedCell
    by_pathology: tuple[PathologyResult, ...]
    readers: tuple[ReaderRow, ...]
    gates: tuple[Gate, ...]
    manifest: tuple[tuple[str, str], ...]
    governance: tuple[GovernanceText, ...]
    instrument: Instrument | None = None
    funnel: Funnel | None = None
    sensitivity: tuple[SensitivityTable, ...] | None = None
    scale_use: ScaleUse | None = None
    maps: tuple[PathologyAdvice, ...] | None = None
    frontier: Sequence[FrontierPoint] | None = None
    minimum_readers: int = 5
    minimum_reliability: float = 0.7
    coverage: Coverage | None = None
    case_mix: CaseMix | None = None
    disagreement: Disagreement | None = None


@dataclass(frozen=True, slots=True)
class GateFailureContent:
    """What is delivered in place of everything else when a gate failed."""

    masthead: Masthead
    gates: tuple[Gate, ...]
    manifest: tuple[tuple[str, str], ...]
