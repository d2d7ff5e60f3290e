"""The parts that any page may carry: masthead, withheld cells, results, cases, gates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from calibration.estimate import Estimate
    from calibration.result import GroupResult
    from calibration.substitution import Advice

__all__ = [
    "Case",
    "Coverage",
    "Gate",
    "Instrument",
    "InstrumentFigure",
    "Masthead",
    "PathologyAdvice",
    "PathologyResult",
    "SuppressedCell",
    "TrendPoint",
]


@dataclass(frozen=True, slots=True)
class SuppressedCell:
    """A number withheld: fewer exams (or readers) than ``minimum``, or it would reveal such a one.

    ``complementary`` cells are large enough themselves, but with a printed total they would give
    a suppressed neighbour away.
    """

    minimum: int
    of: Literal["exams", "readers", "complementary"] = "exams"


@dataclass(frozen=True, slots=True)
class Masthead:
    """What every page says about itself.

    ``recipient`` is a reader code ("R-7Q2F") or the committee's name; ``period`` and
    ``data_cut`` are printed as given; ``banner`` is the privilege and confidentiality line.
    """

    institution: str
    banner: str
    recipient: str
    period: str
    data_cut: str
    version: str
    config_hash: str
    contact: str
    next_issue: str
    logo: bytes | None = None
    """A PNG file's bytes, drawn beside the title; see ``reports.logo.check``."""
    language: str = "en-GB"
    demonstration: bool = False
    """True stamps every page as made from simulated reports."""


@dataclass(frozen=True, slots=True)
class PathologyResult:
    """One pathology's calibration, or the fact that it is withheld."""

    pathology: str
    result: GroupResult | SuppressedCell


@dataclass(frozen=True, slots=True)
class PathologyAdvice:
    """The advice fitted on one pathology, or on all of them together (``pathology=None``)."""

    pathology: str | None
    advice: Advice


@dataclass(frozen=True, slots=True)
class TrendPoint:
    """Mean distance between words and CT (phrase calibration error) in one period."""

    period: str
    n: int
    gap: Estimate | SuppressedCell


@dataclass(frozen=True, slots=True)
class Case:
    """One X-ray/CT pair for the reader's own review, by study code."""

    xray_code: str
    ct_code: str
    pathology: str
    phrase: str
    ct_phrase: str
    interval_hours: float
    agreed: bool | None
    """True: a good call; False: word and CT point apart; None: the CT itself was uncertain."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the reader's work this page can see: X-rays read, and those with a CT in time."""

    xrays: int
    paired: int
    window_hours: float
    ct_silence_is_absent: bool = True


@dataclass(frozen=True, slots=True)
class InstrumentFigure:
    """One measured property of the measuring instrument (share in [0, 1] with its interval)."""

    name: str
    estimate: Estimate | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Instrument:
    """How well the machinery itself read the reports.

    ``figures`` are audited shares (extraction accuracy, ...), ``None`` inside where not yet
    audited; ``counts`` are plain counts by name (reports failed, quarantined, unmapped phrases).
    """

    engine: str
    figures: tuple[InstrumentFigure, ...]
    counts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Gate:
    """One check of the run; ``passed=None`` means it could not be evaluated, which is no pass."""

    name: str
    passed: bool | None
    required: str
    found: str
    note: str = ""
