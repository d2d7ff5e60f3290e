"""The committee's review: every reader by code, the department and its maps, how the run went.

How readers differ is shown in gaps that are raw, shrunk, and adjusted for case mix: finding, age
band, patient class, the interval between X-ray and CT, difficulty, and whether someone else drafted
the report (`cases.case_mix`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from calibration.estimate import Estimate
from calibration.gaps import ShrunkGaps, reader_gaps, shrink_gaps
from calibration.groups import GroupResults, tally_of
from calibration.profile import DepartmentProfile
from calibration.result import GroupResult
from calibration.rounding import counted as printed
from calibration.rounding import rounded
from calibration.tally import Tally
from pipeline.pages import content
from pipeline.pages.cases import (
    MIX,
    adjusted,
    case_mix,
    ct_plain,
    disagreement,
    estimate,
    mix_columns,
)
from pipeline.pages.over_time import run_charts, scale_use
from pipeline.pages.sensitivity import Evidence, extraction_tables, sensitivity_tables
from pipeline.pages.small_cells import complementary, of_few, results_without, withheld_phrases
from pipeline.site.audited import SiteAudit
from pipeline.tables.pairing import Sifted
from pipeline.tables.results import Scale
from reports.content import Gate, Instrument, Returned, SuppressedCell
from reports.review_content import CommitteeContent, ReaderRow


def variation(evidence: Evidence, *, scale: Scale) -> tuple[ReaderRow, ...]:
    """Measure every reader of the period against the others."""
    grouped = {str(c): own for c, own in evidence.cells.groupby("reader_code", sort=True)}
    tallies = {code: tally_of(own, scale.phrases) for code, own in grouped.items()}
    minimum = scale.config.reports.min_exams
    exact = {code: t.total for code, t in tallies.items()}
    sizes = {code: rounded(t).total for code, t in tallies.items()}
    few = {code for code, n in sizes.items() if min(n, exact[code]) < minimum}
    hidden = complementary(exact, few)
    shown = {code: t for code, t in tallies.items() if code not in few | hidden}
    enough = len(tallies) >= scale.config.reports.min_readers
    measured = _measured(shown, sizes, evidence, scale) if shown and enough else {}
    withheld = dict.fromkeys(few, SuppressedCell(minimum))
    withheld |= dict.fromkeys(hidden, SuppressedCell(minimum, "complementary"))
    return tuple(
        ReaderRow(code, 0, withheld[code], withheld[code], withheld[code])
        if code in withheld
        else replace(
            measured.get(code) or ReaderRow(code, 0, None),
            n=round(n),
            share_paired=_share_paired(evidence.coverage, code, scale),
        )
        for code, n in sizes.items()
    )


def _measured(
    shown: dict[str, Tally], sizes: dict[str, float], evidence: Evidence, scale: Scale
) -> dict[str, ReaderRow]:
    codes, means = list(shown), scale.phrases.means
    effects = [evidence.alike_by_reader.get(code, 1.0) for code in codes]
    raw = reader_gaps(list(shown.values()), means=means).widened(effects)
    seen = evidence.mix[evidence.mix["reader_code"].isin(codes)]
    fair = adjusted(mix_columns(seen, scale=scale), "reader_code", codes, equal=MIX, scale=scale)
    fair, shrunk = fair and fair.widened(effects), shrink_gaps(raw)
    return {
        code: ReaderRow(
            code,
            0,
            gap=estimate(raw, at, "mean difference, normal"),
            adjusted=estimate(fair, at, "indirect standardisation, normal"),
            shrunk=_of_shrunk(shrunk, at, sizes[code]),
            reliability=float(shrunk.reliability[at]),
        )
        for at, code in enumerate(codes)
    }


def _share_paired(coverage: pd.DataFrame, code: str, scale: Scale) -> float | None:
    own = content.coverage_of(coverage[coverage["reader_code"] == code], scale.config)
    return float(printed(own.paired) / printed(own.xrays)) if own else None


def _of_shrunk(shrunk: ShrunkGaps, at: int, n: float) -> Estimate | None:
    if not np.isfinite(shrunk.value[at]):
        return None
    value, low, high = (float(part[at]) for part in (shrunk.value, shrunk.low, shrunk.high))
    return Estimate(value, low, high, n, "empirical Bayes, normal")


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What pages say about the run; free of times, so that the same results make the same page."""

    flow: tuple[Sifted, ...]
    gates: tuple[Gate, ...]
    manifest: tuple[tuple[str, str], ...]
    counts: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class CommitteeFacts:
    """What the run itself contributes to the review."""

    run: RunFacts
    measured: Instrument
    audited: SiteAudit | None = None
    profiles: DepartmentProfile | None = None
    returned: Returned | None = None


def committee_content(
    issue: content.Issue,
    *,
    results: GroupResults,
    scale: Scale,
    evidence: Evidence,
    facts: CommitteeFacts,
) -> CommitteeContent:
    """Fill the review: the department first, then what rests on its readers.

    Parameters
    ----------
    results
        The department's results.
    evidence
        The period's sums, all readers.
    """
    settings, cells, words = issue.config.reports, evidence.cells, evidence.words
    minimum, least = settings.min_exams, settings.min_readers
    readers = variation(evidence, scale=scale)
    few = SuppressedCell(least, "readers")
    if len(readers) < least:
        return _frame(issue, few, readers, evidence, facts)
    withheld, months = withheld_phrases(cells, settings), issue.period.months
    results = results_without(results, withheld)
    few_readers = dict.fromkeys(of_few(cells, "pathology", minimum=least), few)
    counted = tally_of(cells, scale.phrases)
    by_pathology = content.pathology_results(results, minimum, few_readers=few_readers)
    use = scale_use(words, months=months, config=issue.config, withheld=withheld[None])
    hidden = {t: n for t, n, _ in use.terms if isinstance(n, SuppressedCell) and n.of != "exams"}
    unscored = content.unscored_of(words, scale.phrases, minimum=minimum)
    return replace(
        _frame(issue, results.overall or SuppressedCell(minimum), readers, evidence, facts),
        by_pathology=by_pathology,
        profiles=facts.profiles,
        case_mix=case_mix(evidence.mix, scale=scale, effect=evidence.together.whole),
        disagreement=disagreement(evidence.mix, scale=scale),
        ct_plain=ct_plain(evidence.mix, scale=scale),
        sensitivity=(
            *sensitivity_tables(evidence, scale=scale),
            *extraction_tables(counted, facts.audited, scale=scale, alike=evidence.together),
        ),
        maps=content.advice_rows(results, by_pathology),
        run_charts=run_charts(evidence, months=months, scale=scale),
        returned=facts.returned,
        written=content.written_of(evidence.written, settings, withheld=hidden),
        unscored=tuple(replace(each, n=hidden.get(each.phrase, each.n)) for each in unscored),
        scale_use=use,
    )


def _frame(
    issue: content.Issue,
    department: GroupResult | SuppressedCell,
    readers: tuple[ReaderRow, ...],
    evidence: Evidence,
    facts: CommitteeFacts,
) -> CommitteeContent:
    """Fill what a review says however few its readers are."""
    settings, later = issue.config.reports, issue.period.later
    few = SuppressedCell(settings.min_exams)
    return CommitteeContent(
        masthead=content.masthead(issue, content.COMMITTEE),
        minimum_n=settings.min_exams,
        flow=content.flow_steps(facts.run.flow),
        department=department,
        by_pathology=(),
        readers=readers,
        gates=facts.run.gates,
        manifest=facts.run.manifest,
        governance=content.governance(issue.config),
        instrument=facts.measured,
        minimum_readers=settings.min_readers,
        coverage=content.coverage_of(evidence.coverage, issue.config, issue.zone),
        later=tuple((month, n if n >= settings.min_exams else few) for month, n in later),
    )
