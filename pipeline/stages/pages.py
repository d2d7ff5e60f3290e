"""One issue → its pages: calibrate, advise, draw; no text from here on.

    ingest → register → de-identify → pair → extract → tally → gates → issue → **pages** → deliver

`FEEDBACK` takes one reader to a page and a return sheet, `REVIEW` the department to the committee's
pages. The results behind a page are written after it, with its digest, so pages whose results are
there and whose digests hold are whole.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

import pandas as pd

from calibration.groups import Group, group_results, likeness_of, likenesses, tally_of, trend
from calibration.phrase_calibration import PhraseCalibration, phrase_calibration
from calibration.rounding import rounded
from pipeline.config.basis import digest_of, sha256
from pipeline.pages import content
from pipeline.pages.over_time import incomplete_quarters
from pipeline.pages.review import CommitteeFacts, RunFacts, committee_content
from pipeline.pages.sensitivity import Evidence
from pipeline.pages.small_cells import of_few, without
from pipeline.stages import Keyed, Look, Named, options
from pipeline.stages.issue import Issue, observed, summed
from pipeline.stages.tally import answers
from pipeline.store.files import plain
from pipeline.tables.observations import categorised
from pipeline.tables.profiles import compact, department_of, profile_of
from pipeline.tables.results import Scale, advice_table, plainest, result_table, swap_table
from reports.content import Instrument, SuppressedCell
from reports.drawing.style import Style, style_for
from reports.pages import committee, radiologist

if TYPE_CHECKING:
    from pipeline.site.site import Site
    from pipeline.stages.tally import Tallied

_COMMITTEE: Final = "committee"
_DEPARTMENT: Final = "department"


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for one recipient's pages: a reader's code or ``committee``, issue and run."""

    recipient: str
    issue: Issue
    run: RunFacts


@dataclass(frozen=True, slots=True)
class File:
    """A file of a recipient's folder, the name under which its draft lies, and its SHA-256."""

    name: str
    draft: str
    digest: str


@dataclass(frozen=True, slots=True)
class Pages:
    """A recipient's drawn files."""

    recipient: str
    files: tuple[File, ...]


def page_requests(
    issue: Issue, run: RunFacts, former: Collection[str] = ()
) -> tuple[list[PageRequest], PageRequest]:
    """Give a request for every reader of an issue but the `former`, and one for the committee."""
    readers = [PageRequest(each, issue, run) for each in issue.readers if each not in former]
    return readers, PageRequest(_COMMITTEE, issue, run)


_Drawn: TypeAlias = tuple[Mapping[str, bytes], pd.DataFrame, pd.DataFrame]
"""The content of each file in the order of delivery, and the tables of results and advice."""


class _Drawing(Keyed[PageRequest, Pages]):
    """Calibrate and draw one recipient's files."""

    kind = "pages"
    tables, comes_to = ("advice", "results"), Pages

    def settings(self, site: Site) -> Named:
        """Give every option that moves a number or a word."""
        chosen: Named = {}
        for section, settings in site.config.material().items():
            chosen |= options(section, settings)
        return {
            **chosen,
            "meaning of phrases": site.phrases_digest,
            "audit of the engine": "none" if site.audited is None else site.audited.digest,
            "logo": "none" if site.logo is None else sha256(site.logo),
        }

    def key(self, site: Site, item: PageRequest) -> str:
        """Hash the recipient, the issue and what the page says of the run."""
        return digest_of(self.name, self.digest(site), plain(item))

    def find(self, site: Site, key: str) -> Pages | None:
        """Give files that are there as they were drawn, beside the results they show."""
        store = site.workspace
        pages = super().find(site, key)
        whole = all(
            store.has_page(file.draft) and sha256(store.read_page(file.draft)) == file.digest
            for file in (pages.files if pages else ())
        )
        return pages if whole else None

    def make(self, site: Site, item: PageRequest, key: str) -> Pages:
        """Draw the files, then keep the results behind them."""
        store, files = site.workspace, []
        drawn, results, advice = self._drawn(site, item)
        for name, page in drawn.items():
            draft = f"{key}.{name.rpartition('.')[2]}"
            store.write_page(draft, page)
            files.append(File(name, draft, sha256(page)))
        pages = Pages(item.recipient, tuple(files))
        return self.keep(site, key, pages, advice=advice, results=results)

    @abstractmethod
    def _drawn(self, site: Site, item: PageRequest) -> _Drawn:
        """Give the content of each file, and the tables behind it."""


class Feedback(_Drawing):
    """Calibrate one reader; draw the page, as PDF and as HTML, and the return sheet."""

    name = "feedback"

    def _drawn(self, site: Site, item: PageRequest) -> _Drawn:
        store, reader, issue = site.workspace, item.recipient, item.issue
        scale, minimum = Scale(site.phrases, site.config), site.config.reports.min_exams
        cells, rows = summed(store, "tallies", issue.key, reader), _rows(site, issue, reader)
        group = Group(reader, cells, likenesses(compact(rows), site.phrases))
        results = group_results(
            group, pathologies=issue.pathologies, study=scale.study, minimum=minimum
        )
        profile = profile_of(_profiles(site, issue, reader), reader)
        series = trend(group, months=issue.period.months, study=scale.study, minimum=minimum)
        words = summed(store, "words", issue.key, reader)
        incomplete = incomplete_quarters(summed(store, "coverage", issue.key), issue.period.months)
        actions, plain = content.action_cases(rows, profile), plainest(rows, site.phrases)
        first = (case for part in actions for case in part.cases)
        filled = content.radiologist_content(
            _about(site, issue),
            reader,
            results=results,
            profile=profile,
            department=_department_line(summed(store, "tallies", issue.key), scale),
        )
        filled = replace(
            filled,
            trend=content.trend_points(series, minimum, incomplete=incomplete),
            # Those of the words that page 1 speaks of before the others, each once.
            cases=tuple(dict.fromkeys((*first, *content.cases(plain)))),
            action_cases=actions,
            unscored=content.unscored_of(words, site.phrases, minimum=minimum),
            returned=content.returned_of(_answers(site, reader)),
            coverage=content.coverage_of(
                summed(store, "coverage", issue.key, reader), site.config, site.month_zone
            ),
            instrument=_instrument(site, item.run),
        )
        style = _style(site)
        page, web = radiologist.build_both(filled, style=style)
        files = {
            "return.csv": radiologist.sheet_of(filled, style=style).bytes(),
            "feedback.html": web,
            "feedback.pdf": page,
        }
        return files, result_table(reader, results), swap_table(profile, reader)


class Review(_Drawing):
    """Calibrate the department, and draw the committee's review."""

    name = "review"

    def _drawn(self, site: Site, item: PageRequest) -> _Drawn:
        issue, scale, evidence = item.issue, Scale(site.phrases, site.config), _evidence(site, item)
        results = group_results(
            Group(_DEPARTMENT, evidence.cells, evidence.alike),
            pathologies=issue.pathologies,
            study=scale.study,
            minimum=site.config.reports.min_exams,
            advised=True,
        )
        facts = CommitteeFacts(
            run=item.run,
            measured=_instrument(site, item.run),
            audited=site.audited,
            profiles=department_of(_profiles(site, issue)),
            returned=content.returned_of(answers(site.workspace)),
        )
        filled = committee_content(
            _about(site, issue), results=results, scale=scale, evidence=evidence, facts=facts
        )
        pdf, page = committee.build_both(filled, style=_style(site))
        files = {"review.html": page, "review.pdf": pdf}
        return files, result_table(_DEPARTMENT, results), advice_table(_DEPARTMENT, results)


FEEDBACK: Final = Feedback()
REVIEW: Final = Review()


def look(
    site: Site, last: tuple[str | None, Sequence[str] | None], tallied: Sequence[Tallied]
) -> Look[Pages]:
    """Say whether pages would have to be drawn anew.

    ``last`` is what the last issue was drawn under: `Feedback`'s digest and the keys of its
    tallies; None where no issue was delivered yet.
    """
    digest, tallies = last
    now = FEEDBACK.digest(site)
    if digest == now and list(tallies or ()) == [block.key for block in tallied]:
        return Look(1, 0)
    if digest is None:
        return Look(1, 1, why="no issue was delivered yet")
    return Look(1, 1, why="other tallies than at the last issue" if digest == now else "")


def _profiles(site: Site, issue: Issue, reader: str | None = None) -> pd.DataFrame:
    """Give the profiles of all readers and of the department, or of one reader."""
    where = None if reader is None else ("reader_code", reader)
    return site.workspace.read("analysis", "profiles", [issue.key], where=where)


def _rows(site: Site, issue: Issue, reader: str) -> pd.DataFrame:
    """Give a reader's observations of the issue's months."""
    mine = ("reader_code", reader)
    rows = site.workspace.read("analysis", "observations", issue.tallies, where=mine)
    return rows[rows["performed_month"].isin(issue.period.months)]


def _answers(site: Site, reader: str) -> pd.DataFrame:
    """Give what a reader answered so far; the issue's tallies already know of it."""
    given = answers(site.workspace)
    return given[given["reader_code"] == reader]


def _evidence(site: Site, item: PageRequest) -> Evidence:
    """Give the issue's sums of all readers."""
    store, key = site.workspace, item.issue.key
    rows = observed(site, item.issue.tallies, item.issue.period.months)
    by_reader = rows.groupby("reader", observed=True)
    return Evidence(
        cells=summed(store, "tallies", key),
        alternatives=summed(store, "alternatives", key),
        mix=categorised(summed(store, "mix", key)),
        words=summed(store, "words", key),
        coverage=summed(store, "coverage", key),
        written=summed(store, "written", key),
        alike=likenesses(rows, site.phrases),
        alike_by_reader={str(r): likeness_of(own, site.phrases).whole for r, own in by_reader},
    )


def _about(site: Site, issue: Issue) -> content.Issue:
    return content.Issue(site.config, issue.period, logo=site.logo, zone=site.month_zone)


def _department_line(cells: pd.DataFrame, scale: Scale) -> PhraseCalibration | SuppressedCell:
    """Give the department's phrase table, or withhold it where too few readers stand behind it."""
    minimum = scale.config.reports.min_readers
    if cells["reader_code"].nunique() < minimum:
        return SuppressedCell(minimum, "readers")
    pooled = phrase_calibration(rounded(tally_of(cells, scale.phrases)), phrase_table=scale.phrases)
    return without(pooled, of_few(cells, "phrase", minimum=minimum))


def _instrument(site: Site, run: RunFacts) -> Instrument:
    return content.instrument(
        f"{site.engine.name} {site.engine.version}",
        counts=run.counts,
        audited=site.audited,
        language=site.config.reports.language,
    )


def _style(site: Site) -> Style:
    settings = site.config.reports
    return style_for(settings.page, language=settings.language)
