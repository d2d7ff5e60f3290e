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

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from calibration.estimate import Estimate
    from calibration.phrase_calibration import PhraseCalibration
    from calibration.profile import ReaderProfile
    from calibration.result import GroupResult
    from calibration.substitution import Advice

CtReaders: TypeAlias = Literal["unstated", "informed", "blind"]


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
    """When the next issue comes, as a sentence; empty where nobody has said."""
    returns_by: str = ""
    """Until when answers to cases count, printed as given; empty where none is configured."""
    logo: bytes | None = None
    """A PNG file's bytes, drawn beside the title; see ``reports.drawing.style.check``."""
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
    partial: bool = False
    """True where an issue does not hold the period whole: its months, or an export, end inside."""


@dataclass(frozen=True, slots=True)
class Case:
    """One X-ray/CT pair for the reader's own review, by study code."""

    xray_code: str
    ct_code: str
    pathology: str
    phrase: str
    ct_phrase: str
    showed: bool | None
    """Whether CT showed the finding; None: the CT report itself was uncertain."""
    month: str = ""


@dataclass(frozen=True, slots=True)
class ActionCases:
    """The reader's own cases of a phrase, in one finding or in all (None), telling ones first."""

    phrase: str
    finding: str | None
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Unscored:
    """A hedge without a surveyed meaning: it was written and read, and can't be scored."""

    phrase: str
    n: int | SuppressedCell


@dataclass(frozen=True, slots=True)
class Returned:
    """Answers that came back about cases and about swaps, by what they say; none is all 0."""

    concordant: int = 0
    discordant: int = 0
    not_applicable: int = 0
    wrong_pair: int = 0
    agree: int = 0
    disagree: int = 0
    not_mine: int = 0

    @property
    def swaps(self) -> int:
        """Answers about swaps."""
        return self.agree + self.disagree + self.not_mine

    @property
    def total(self) -> int:
        """Answers about cases."""
        return self.concordant + self.discordant + self.left_out

    @property
    def left_out(self) -> int:
        """Cases that the figures leave out since."""
        return self.not_applicable + self.wrong_pair


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the reader's work this page can see: X-rays read, and those with a CT in time.

    Months are those of the clocks of ``zone``. ``ct_readers`` is what the site says of them:
    whether they know the X-ray's report.
    """

    xrays: int
    paired: int
    window_hours: float
    ct_silence_is_absent: bool = True
    zone: str = "UTC"
    ct_readers: CtReaders = "unstated"


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
class RadiologistContent:
    """Everything one radiologist's feedback says."""

    masthead: Masthead
    minimum_n: int
    overall: GroupResult | SuppressedCell
    by_pathology: tuple[PathologyResult, ...]
    department: PhraseCalibration | SuppressedCell
    """The department's phrase table; a ``SuppressedCell(5, "readers")`` below five readers."""
    profile: ReaderProfile | None
    """What every sentence about the reader comes from; None where the reader was not judged."""
    coverage: Coverage | None = None
    instrument: Instrument | None = None
    trend: tuple[TrendPoint, ...] | None = None
    cases: tuple[Case, ...] | None = None
    action_cases: tuple[ActionCases, ...] = ()
    unscored: tuple[Unscored, ...] | None = None
    returned: Returned | None = None
    discouraged: frozenset[str] = frozenset()
    """Phrases the institution's scale discourages; they are marked in the phrase chart."""
    recommended: frozenset[str] = frozenset()
    """Phrases the institution's scale recommends, between which a rate is placed."""
    use: str = ""
    """What these pages may be used for, in the words that the review prints."""

    @property
    def ct_readers(self) -> CtReaders:
        """What is known of those who read the CTs."""
        return self.coverage.ct_readers if self.coverage else "unstated"
