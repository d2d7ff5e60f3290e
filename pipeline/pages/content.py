"""Results → what the pages say: fills the carriers of `reports.content`, and computes nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from calibration.estimate import Estimate
from calibration.groups import GroupResults
from calibration.phrase_calibration import PhraseCalibration
from calibration.profile import ReaderProfile
from calibration.rounding import counted as printed
from calibration.survey import PhraseTable
from pipeline.pages.small_cells import complementary, of_few
from pipeline.site.audited import SiteAudit
from pipeline.store.provenance import version
from pipeline.tables.observations import NOT_PURGED
from pipeline.tables.pairing import INELIGIBLE, Sifted
from pipeline.tables.results import Period, telling
from reports import rounded
from reports.content import (
    ActionCases,
    Case,
    Coverage,
    Exclusion,
    FlowStep,
    Instrument,
    InstrumentFigure,
    Masthead,
    PathologyAdvice,
    PathologyResult,
    RadiologistContent,
    Returned,
    SuppressedCell,
    TrendPoint,
    Unscored,
)
from reports.marked import subjects
from reports.review_content import Written
from reports.strings import Strings

if TYPE_CHECKING:
    from pipeline.config import Configuration
    from pipeline.config.sections import Reports

COMMITTEE = "Quality committee"
"""Recipient of the review."""
_OF_CASE = ("pathology", "phrase", "ct_phrase", "showed", "performed_month")
"""Columns of a case after its two studies, in the order of `Case`."""


@dataclass(frozen=True, slots=True)
class Issue:
    """What every page of an issue shares; months are those of the clocks of ``zone``."""

    config: Configuration
    period: Period
    logo: bytes | None = None
    zone: str = "UTC"


def masthead(issue: Issue, recipient: str) -> Masthead:
    """Say who, what period, which version and which configuration."""
    settings = issue.config.reports
    words = Strings.load(language=settings.language)
    first, last = (words.month(issue.period.months[i], "long") for i in (0, -1))
    return Masthead(
        institution=settings.institution,
        banner=settings.banner or words("page.banner"),
        recipient=words("page.committee") if recipient == COMMITTEE else recipient,
        period=words("page.period", first=first, last=last),
        data_cut=words("page.data_cut", month=last),
        version=version(),
        config_hash=issue.config.digest,
        contact=settings.contact or words("page.no_contact"),
        returns_by=words.day(settings.returns_by),
        next_issue=words("page.next_issue", when=words.day(when))
        if (when := settings.next_issue)
        else "",
        logo=issue.logo,
        demonstration=settings.demonstration,
    )


def radiologist_content(
    issue: Issue,
    reader: str,
    *,
    results: GroupResults,
    profile: ReaderProfile | None,
    department: PhraseCalibration | SuppressedCell,
) -> RadiologistContent:
    """Fill one reader's page with results; what else it says of the reader is not computed yet."""
    minimum = issue.config.reports.min_exams
    return RadiologistContent(
        masthead=masthead(issue, reader),
        minimum_n=minimum,
        overall=results.overall or SuppressedCell(minimum),
        by_pathology=pathology_results(results, minimum),
        department=department,
        profile=profile,
        discouraged=frozenset(issue.config.phrases.discouraged),
        recommended=frozenset(issue.config.phrases.recommended),
        use=governance(issue.config),
    )


def unscored_of(words: pd.DataFrame, phrases: PhraseTable, *, minimum: int) -> tuple[Unscored, ...]:
    """Count the hedges that no survey gives a meaning, most written first.

    Parameters
    ----------
    words
        Hedges of the paired reports (`observations.words`).
    minimum
        Uses below which a count is withheld.
    """
    unknown = words[~words["phrase"].isin(phrases.phrases)]
    each = unknown.groupby("phrase", observed=True)["n"].sum()
    each = each.sort_values(ascending=False, kind="stable")
    few = SuppressedCell(minimum)
    return tuple(Unscored(str(p), int(n) if n >= minimum else few) for p, n in each.items())


def written_of(
    rows: pd.DataFrame, settings: Reports, *, withheld: Mapping[str, SuppressedCell]
) -> tuple[Written, ...]:
    """Say of each hedge how many X-ray reports hold it, most first, and how many a CT answered.

    Parameters
    ----------
    rows
        The period's `observations.written`.
    settings
        Reports and readers below which a hedge's numbers are withheld.
    withheld
        Hedges whose numbers another table of the page withholds.
    """
    minimum, least = settings.min_exams, settings.min_readers
    found, few = [], SuppressedCell(least, "readers")
    cells = dict.fromkeys(of_few(rows, "phrase", minimum=least, count="n"), few) | dict(withheld)
    for phrase, part in rows.groupby("phrase", observed=True):
        n, taken = int(part["n"].sum()), int(part.loc[part["fate"] == "paired", "n"].sum())
        reports = cells.get(str(phrase)) or (n if n >= minimum else SuppressedCell(minimum))
        hidden = isinstance(reports, SuppressedCell) or taken < minimum
        share = float("nan") if hidden else float(printed(taken) / printed(n))
        found.append((n, Written(str(phrase), reports, share)))
    return tuple(each for _, each in sorted(found, key=lambda pair: -pair[0]))


def returned_of(answers: pd.DataFrame) -> Returned:
    """Count readers' answers by what they say."""
    by_answer = answers["answer"].value_counts()
    return Returned(**{str(a).replace(" ", "_"): int(n) for a, n in by_answer.items()})


def pathology_results(
    results: GroupResults, minimum: int, *, few_readers: Mapping[str, SuppressedCell] | None = None
) -> tuple[PathologyResult, ...]:
    """Give each pathology its result, or say that it is withheld, and why.

    Parameters
    ----------
    few_readers
        Pathologies to withhold because too few readers stand behind them.
    """
    cells = dict(few_readers or {})
    for pathology, result in results.by_pathology.items():
        if result is None:
            cells.setdefault(pathology, SuppressedCell(minimum))
    for pathology in complementary(results.sizes, cells):
        cells[pathology] = SuppressedCell(minimum, "complementary")
    return tuple(
        PathologyResult(pathology, cells.get(pathology) or result or SuppressedCell(minimum))
        for pathology, result in results.by_pathology.items()
    )


def advice_rows(
    results: GroupResults, by_pathology: Sequence[PathologyResult]
) -> tuple[PathologyAdvice, ...]:
    """Give the advice of each pathology that is shown, then that of all together."""
    shown = {p.pathology for p in by_pathology if not isinstance(p.result, SuppressedCell)}
    return tuple(
        PathologyAdvice(pathology, advice)
        for pathology, advice in results.advice.items()
        if pathology is None or pathology in shown
    )


def trend_points(
    series: Sequence[tuple[str, int, Estimate | None]],
    minimum: int,
    *,
    incomplete: Collection[str] = (),
) -> tuple[TrendPoint, ...]:
    """Give each period its point, or say that it is withheld, and why; mark those not whole."""
    sizes = {name: float(n) for name, n, _ in series}
    hidden = complementary(sizes, {name for name, n, _ in series if n < minimum})
    return tuple(
        TrendPoint(name, 0, SuppressedCell(minimum, "complementary"), name in incomplete)
        if name in hidden
        else TrendPoint(name, n, gap or SuppressedCell(minimum), name in incomplete)
        for name, n, gap in series
    )


def action_cases(
    observations: pd.DataFrame, profile: ReaderProfile | None
) -> tuple[ActionCases, ...]:
    """Give every word that the page speaks of its cases, and every swap that it may show.

    First comes a word in one finding on which alone a pattern would rest.
    """
    if profile is None:
        return ()
    cell, found = profile.pattern.verdict.carried, list[ActionCases]()
    for whole in profile.phrases:
        if cell is not None and cell.finding and whole.phrase == cell.phrase:
            rows = observations[observations["pathology"] == cell.finding]
            found.append(ActionCases(cell.phrase, cell.finding, cases(telling(rows, whole))))
    spoken_of = {(each.phrase, each.finding): each for each in subjects(rounded.profile(profile))}
    spoken_of |= {(swap.phrase, swap.finding): swap for swap in profile.advice}
    found += [
        ActionCases(*name, cases(telling(observations, each))) for name, each in spoken_of.items()
    ]
    return tuple(found)


def cases(chosen: pd.DataFrame) -> tuple[Case, ...]:
    """Turn chosen rows of the observations (`tables.results`) into cases."""
    rows = chosen[["pair_id", *_OF_CASE]].itertuples(index=False, name=None)
    return tuple(Case(*pair.split(":"), *row) for pair, *row in rows)


def coverage_of(counts: pd.DataFrame, config: Configuration, zone: str = "UTC") -> Coverage | None:
    """Count the adult chest X-rays in `observations.coverage`, and how many were paired."""
    eligible = counts[~counts["fate"].isin(INELIGIBLE)]
    if eligible.empty:
        return None
    return Coverage(
        xrays=int(eligible["n"].sum()),
        paired=int(eligible.loc[eligible["fate"] == "paired", "n"].sum()),
        window_hours=config.pairing.window_hours,
        ct_silence_is_absent=config.calibration.ct_silence == "absent",
        zone=zone,
        ct_readers=config.calibration.ct_readers,
    )


def instrument(
    engine: str,
    *,
    counts: Sequence[tuple[str, int]],
    audited: SiteAudit | None = None,
    language: str = "en",
) -> Instrument:
    """Say how well the machinery read the reports, as far as it has been measured here."""
    words = Strings.load(language=language)
    accuracy, not_yet = words("measured.accuracy"), words("measured.not_yet")
    return Instrument(
        engine=engine,
        figures=(
            InstrumentFigure(accuracy, None, not_yet)
            if audited is None
            else InstrumentFigure(accuracy, audited.cells, _audited_note(audited, engine, words)),
            InstrumentFigure(words("measured.recall"), None, not_yet),
        ),
        counts=tuple(counts),
    )


def _audited_note(audited: SiteAudit, engine: str, words: Strings) -> str:
    """Say on what the figure rests, and whether another engine earned it."""
    note = words("measured.audited", reports=audited.reports)
    if audited.engine == engine:
        return note
    return words("measured.by_another", note=note, engine=audited.engine)


def flow_steps(flow: Sequence[Sifted]) -> tuple[FlowStep, ...]:
    """Turn the counts of the selection into the flow diagram's boxes."""
    return tuple(
        FlowStep(
            name=step.name,
            count=step.remaining,
            excluded=(Exclusion(step.reason, step.excluded),) if step.excluded else (),
        )
        for step in flow
        if step.excluded or step.name != NOT_PURGED
    )


def governance(config: Configuration) -> str:
    """Give the configured governance text."""
    words = Strings.load(language=config.reports.language)
    return config.reports.governance or words("page.governance_text")
