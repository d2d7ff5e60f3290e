"""What the committee's review needs, in the states of `reports.content`; nothing here computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from calibration.arrays import FloatArray, IntArray
from reports.content import (
    Coverage,
    CtReaders,
    FlowStep,
    Gate,
    Instrument,
    Masthead,
    PathologyAdvice,
    PathologyResult,
    Returned,
    SuppressedCell,
    Unscored,
)
from reports.out_of_order import unsure

if TYPE_CHECKING:
    from calibration.estimate import Estimate
    from calibration.profile import DepartmentProfile
    from calibration.result import GroupResult
    from calibration.run_chart import Process


@dataclass(frozen=True, slots=True)
class ReaderRow:
    """One coded reader in the committee's tables. Rows are printed in code order, never by value.

    ``gap`` is the unadjusted signed difference CT minus words (mean of label minus mean
    probability of the phrases used), ``adjusted`` the same adjusted for case mix, ``shrunk`` the
    empirical-Bayes estimate; ``reliability`` is signal over total variance (NaN: not computed).
    ``n`` are the statements, rounded phrase by phrase and added up, as on the reader's own page.
    """

    code: str
    n: int
    gap: Estimate | SuppressedCell | None
    adjusted: Estimate | SuppressedCell | None = None
    shrunk: Estimate | SuppressedCell | None = None
    reliability: float = float("nan")
    share_paired: float | None = None


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
    n: IntArray
    recommended: FloatArray
    discouraged: FloatArray
    terms: tuple[
        tuple[str, int | SuppressedCell, Literal["recommended", "discouraged", "neither"]], ...
    ] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """X-ray reports in which a hedge stands, and the share of them that a CT answered in time."""

    phrase: str
    reports: int | SuppressedCell
    paired: float


@dataclass(frozen=True, slots=True)
class RunChart:
    """One measure of the department by month, judged as a process.

    ``level`` (T,) is NaN for months withheld, empty or ``partial`` (not whole yet, or only in
    part); ``target`` is NaN where none is set.
    """

    key: Literal["distance", "scale_use"]
    months: tuple[str, ...]
    level: FloatArray
    process: Process
    target: float = float("nan")
    chance: float = float("nan")
    """What chance adds to a month on average, taken out of each; NaN for a share."""
    partial: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    """Months of which a chart shows nothing, though something was written."""


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

    ``plain``: distance where CT is plain; ``hedged``: distance where CT hedges itself.
    """

    plain: CaseHistogram | SuppressedCell
    hedged: CaseHistogram | SuppressedCell


def statements(result: GroupResult) -> int:
    """Give the statements compared with CT, as they are counted everywhere."""
    return round(result.n)


@dataclass(frozen=True, slots=True)
class Counts:
    """What several parts of a review count, under one name each; None: withheld or not computed.

    ``statements`` compared with CT, ``unscored`` hedges of the same reports without a surveyed
    meaning, ``readers`` who have a row, ``judged`` of them by profile, ``told`` of a pattern.
    """

    statements: int | None
    unscored: int | None
    readers: int
    judged: int
    told: int


@dataclass(frozen=True, slots=True)
class CommitteeContent:
    """Everything the quality committee's review says. Readers appear by code only.

    ``later`` are months after the issue's, too thin to be its last, and their statements.
    """

    masthead: Masthead
    minimum_n: int
    flow: tuple[FlowStep, ...]
    department: GroupResult | SuppressedCell
    by_pathology: tuple[PathologyResult, ...]
    readers: tuple[ReaderRow, ...]
    gates: tuple[Gate, ...]
    manifest: tuple[tuple[str, str], ...]
    governance: str
    instrument: Instrument | None = None
    sensitivity: tuple[SensitivityTable, ...] | None = None
    scale_use: ScaleUse | None = None
    maps: tuple[PathologyAdvice, ...] | None = None
    minimum_readers: int = 5
    minimum_reliability: float = 0.7
    coverage: Coverage | None = None
    case_mix: CaseMix | None = None
    disagreement: Disagreement | None = None
    profiles: DepartmentProfile | None = None
    """The readers judged together; None where they could not be, or are too few to be shown."""
    unscored: tuple[Unscored, ...] | None = None
    written: tuple[Written, ...] | None = None
    run_charts: tuple[RunChart, ...] | None = None
    returned: Returned | None = None
    later: tuple[tuple[str, int | SuppressedCell], ...] = ()
    ct_plain: int | SuppressedCell | None = None
    """Statements of which CT says plainly whether the finding is there; of the others it hedges."""

    @property
    def ct_readers(self) -> CtReaders:
        """What is known of those who read the CTs."""
        return self.coverage.ct_readers if self.coverage else "unstated"

    @property
    def few_readers(self) -> bool:
        """Whether the readers are too few for any figure of them."""
        return len(self.readers) < self.minimum_readers

    @property
    def standard(self) -> Literal["plain", "hedged", "few", "none"]:
        """How sure CT is of statements: plain never, too rarely, for few hedges, or often enough.

        Hedges are judged as on readers' own pages: most are of readers of whom those say nothing.
        """
        plain, readers = self.ct_plain, self.profiles.readers if self.profiles else ()
        if isinstance(plain, SuppressedCell) and plain.of == "exams":
            return "few"
        if plain == 0:
            return "none"
        held = sum(reader.hedges for reader in readers if unsure(reader))
        return "hedged" if 2 * held > sum(reader.hedges for reader in readers) else "plain"

    @property
    def counts(self) -> Counts:
        """Every count that more than one part of the review prints."""
        department, found, unscored = self.department, self.profiles, self.unscored
        shown = [each.n for each in unscored or () if not isinstance(each.n, SuppressedCell)]
        whole = unscored is not None and len(shown) == len(unscored)
        readers = found.readers if found else ()
        return Counts(
            statements=None if isinstance(department, SuppressedCell) else statements(department),
            unscored=sum(shown) if whole else None,
            readers=len(self.readers),
            judged=len(readers),
            told=sum(each.pattern.verdict.state == "pattern" for each in readers),
        )
