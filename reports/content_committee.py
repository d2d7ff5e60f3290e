"""The parts that only the committee's review carries: flow, readers, funnel, sensitivity, scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from reports.content_parts import SuppressedCell

if TYPE_CHECKING:
    from calibration.estimate import Estimate
    from calibration.readers import LogisticCalibration

__all__ = [
    "Exclusion",
    "FloatArray",
    "FlowStep",
    "FrontierPoint",
    "Funnel",
    "FunnelPoint",
    "GovernanceText",
    "ReaderRow",
    "ScaleUse",
    "SensitivityRow",
    "SensitivityTable",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Exams that left at one step of the pairing flow, with the reason."""

    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class FlowStep:
    """What is left after a step of the pairing flow, and who left at it."""

    name: str
    count: int
    excluded: tuple[Exclusion, ...] = ()


@dataclass(frozen=True, slots=True)
class ReaderRow:
    """One coded reader in the committee's tables. Rows are printed in code order, never by value.

    ``gap`` is the unadjusted signed difference CT minus words (mean of label minus mean
    probability of the phrases used), ``adjusted`` the same adjusted for case mix, ``shrunk`` the
    empirical-Bayes estimate; ``reliability`` is signal over total variance (NaN: not computed).
    """

    code: str
    n: int
    gap: Estimate | SuppressedCell | None
    adjusted: Estimate | SuppressedCell | None = None
    shrunk: Estimate | SuppressedCell | None = None
    reliability: float = float("nan")
    logistic: LogisticCalibration | None = None
    share_paired: float | None = None
    signal: bool = False


@dataclass(frozen=True, slots=True)
class FunnelPoint:
    """One reader on the funnel: value against size, and whether it is a signal for review."""

    code: str
    n: int
    value: float
    q_value: float
    signal: bool


@dataclass(frozen=True, slots=True)
class Funnel:
    """A funnel plot: limits over ``sizes`` (G,) around ``centre``, already inflated.

    ``overdispersion`` is the inflation factor that was applied to the limits' variance;
    ``hypotheses`` how many readers were tested; ``false_discovery_rate`` the level controlled.
    """

    measure: str
    centre: float
    sizes: FloatArray
    low_95: FloatArray
    high_95: FloatArray
    low_998: FloatArray
    high_998: FloatArray
    points: tuple[FunnelPoint, ...]
    overdispersion: float
    hypotheses: int
    false_discovery_rate: float


@dataclass(frozen=True, slots=True)
class SensitivityRow:
    """The department's figures under one other choice; ``reference`` marks the choice made."""

    name: str
    n: int
    ece: Estimate | SuppressedCell | None
    phrase_error: Estimate | SuppressedCell | None
    slope: Estimate | SuppressedCell | None = None
    reference: bool = False


@dataclass(frozen=True, slots=True)
class SensitivityTable:
    """One question of the form "would another choice have changed the answer?"."""

    title: str
    caption: str
    rows: tuple[SensitivityRow, ...]


@dataclass(frozen=True, slots=True)
class ScaleUse:
    """Shares of certainty phrases that the scale recommends and discourages, per period.

    ``recommended`` and ``discouraged`` are (T,), NaN where a period has too few phrases; ``n``
    counts phrases (T,). ``terms`` lists the whole span's count per phrase, or that it is withheld.
    """

    periods: tuple[str, ...]
    n: npt.NDArray[np.int64]
    recommended: FloatArray
    discouraged: FloatArray
    terms: tuple[
        tuple[str, int | SuppressedCell, Literal["recommended", "discouraged", "other"]], ...
    ] = ()


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """One setting of the map: share of phrases it would change, and held-out ECE after it."""

    words_changed: float
    ece_after: float
    label: str = ""
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class GovernanceText:
    """One titled paragraph from the institution's configuration."""

    title: str
    text: str
