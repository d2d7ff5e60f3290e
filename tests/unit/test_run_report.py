"""The report of a run says in words what its counts came to, and nothing where there is nothing."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import pypdf
import pytest

from pipeline.cli import serve
from pipeline.formats.fhir import text
from pipeline.formats.fhir.pages import _FEWER, _MISSING
from pipeline.formats.fhir.text import _LACKING
from pipeline.formats.hl7v2 import _REHEARSED
from pipeline.formats.hl7v2.endings import _NO_IMPRESSION, _OTHERWISE
from pipeline.formats.hl7v2.exams import _VOID
from pipeline.formats.hl7v2.text import CODES, DRAFT, NOTES
from pipeline.formats.validation import REASONS
from pipeline.pages.content import COMMITTEE, Issue, masthead
from pipeline.run.gates import Accounting
from pipeline.run.manifest import shown
from pipeline.site.site import Site
from pipeline.stages.register import UNMET
from pipeline.tables import pairing
from pipeline.tables.observations import NOT_PURGED
from pipeline.tables.results import Period
from reports.content import Exclusion, FlowStep, Gate, Masthead
from reports.drawing.marks import Text
from reports.drawing.style import Style, style_for
from reports.pages import committee, radiologist
from reports.pages.run_report import RunCounts, RunReportContent, RunStage, build
from tests.fixtures.reports import sample_contents as samples

COUNTS: Final = RunCounts(
    exports=1, rows_read=100, set_aside=(), noted=(), cleaned=100, withheld=0, on_request=0,
    reports_read=60, reports_failed=0, left_out=(), unmapped=(), pairs=30, observations=90,
    pages_delivered=5, pages_unchanged=1, damaged=0,
)  # fmt: skip
RUN: Final = RunReportContent(
    masthead=Masthead(
        institution="General", banner="b", recipient="Operations", period="2026-09",
        data_cut="d", version="1", config_hash="c", contact="q", next_issue="n",
    ),
    outcome="delivered",
    started="2026-09-01 02:00 UTC",
    seconds=3.0,
    counts=COUNTS,
    flow=(),
    gates=(Gate("every row accounted for", passed=True, required="= 100", found="100"),),
    stages=(RunStage("ingest", 1.0, 100.0, 1, 1, "100 rows"),),
    manifest=(("run", "r"),),
)  # fmt: skip


def words(content: RunReportContent) -> str:
    return in_language(content, "en")


def in_language(content: RunReportContent, language: str) -> str:
    pdf = pypdf.PdfReader(io.BytesIO(build(content, style=style_for("A4", language=language))))
    return " ".join(" ".join(page.extract_text().split()) for page in pdf.pages)


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ("delivered", "Delivered. 5 recipients got new pages, 1 had them already: 90 observations"),
        ("gathered", "Gathered. 90 observations from 30 pairs are ready"),
        ("refused", "Stopped at the gates. Nothing was delivered."),
    ],
)
def test_outcome_is_said_in_its_counts(outcome: str, said: str) -> None:
    assert said in words(replace(RUN, outcome=outcome))  # type: ignore[arg-type]


def test_a_german_report_has_no_english_reason_and_no_english_number() -> None:
    lost = (("the X-ray's phrase has no surveyed meaning", 12_808),)
    aside = tuple((reason, 1_000 + n) for n, reason in enumerate(REASONS))
    mixed, lacking = f"text from {DRAFT}", f"text from {_LACKING}"
    feeds = (CODES, NOTES, _OTHERWISE, _NO_IMPRESSION, _VOID, text.CODES, text.NOTES, _MISSING,
             _FEWER, _REHEARSED.told)  # fmt: skip
    noted = (*((how, 1) for how in feeds), (UNMET, 2),
             ("text from observations of which a number is missing", 3), (mixed, 4),
             (lacking, 5))  # fmt: skip
    counts = replace(COUNTS, rows_read=107_849, set_aside=aside, left_out=lost, noted=noted)
    flow = (FlowStep("report versions read", 7_849), FlowStep("chest X-rays", 4_040))
    run = replace(RUN, counts=counts, flow=flow, seconds=1_234.0, gates=(), manifest=(),
                  short=(("X-rays with a CT", "2026-09", 65),))  # fmt: skip
    said = in_language(run, "de")
    assert "107.849" in said
    assert "1.234 s" in said
    assert "Einlesen (ingest)" in said
    assert "Röntgenaufnahmen mit CT im 09/2026: 65 % des Üblichen" in said
    assert "eingelesene Befundfassungen 7.849" in said
    assert "ausgelassen: Formulierung des Röntgenbefunds ohne erfragte Bedeutung 12.808" in said
    assert "vermerkt: Kennung in left_out, die in keiner Untersuchung steht" in said
    assert "vermerkt: Text aus Beobachtungen, unter denen eine Nummer fehlt 3" in said
    assert "vermerkt: Text aus Beobachtungen, die teils vorläufig sind 4" in said
    assert "von dem eine Beobachtung (result) in keiner Datei steht 5" in said
    assert not re.search(r"\d,\d{3}|\d\.\d{1,2}(?!\d)", said)
    assert [how for how in feeds if how in said] == []
    assert [reason for reason in REASONS if reason.replace("_", " ") in said] == []


def test_a_demonstration_says_so_in_the_report_of_its_run(tmp_path: Path) -> None:
    (tmp_path / "radcal.toml").write_text(
        '[input]\npaths = ["exams.csv"]\n[reports]\ndemonstration = true\nlanguage = "de"\n'
    )
    config = Site.open(str(tmp_path / "radcal.toml")).config
    head = masthead(Issue(config, Period("2026-09", ("2026-09",))), "Betrieb")
    said = in_language(replace(RUN, masthead=head), "de")
    assert "DEMONSTRATION" in said
    assert f"Konfiguration {config.digest}" in said


@pytest.mark.parametrize("when", ["", "early January 2027"])
def test_pages_say_when_the_next_issue_comes_where_somebody_has_said_it(
    tmp_path: Path, when: str
) -> None:
    (tmp_path / "radcal.toml").write_text(
        f'[input]\npaths = ["exams.csv"]\n[reports]\nnext_issue = "{when}"\n'
    )
    issue = Issue(Site.open(str(tmp_path / "radcal.toml")).config, Period("2026-09", ("2026-09",)))
    said = f"Next issue: {when}." if when else ""
    head = masthead(issue, COMMITTEE)
    assert head.next_issue == said
    review = committee.pages(samples.committee(masthead=head), style=Style())
    page = radiologist.pages(samples.radiologist(masthead=head), style=Style())
    for drawn in (review, page):
        text = " ".join(m.string for each in drawn for m in each.marks if isinstance(m, Text))
        assert ("Next issue" in text) == bool(when)
        assert said in text


def test_x_rays_that_another_export_would_pair_are_told_with_what_to_do() -> None:
    why = "changed and sent after the CT; what it changed is not in the export"
    lost = (Exclusion(why, 12), Exclusion("not a chest exam", 9))
    said = words(replace(RUN, flow=(FlowStep("as it was signed", 40, lost),)))
    assert f"X-rays left out: {why} 12 (export every version" in said
    assert "not a chest exam 9" not in said.split("To look at")[1].split("What went in")[0]


def test_run_without_trouble_has_nothing_to_look_at() -> None:
    told = words(RUN)
    assert "To look at Nothing." in told
    assert "left out" not in told


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"set_aside": (("bad_age", 3), ("nul_bytes", 4))}, "7 rows set aside on reading"),
        ({"withheld": 2}, "2 reports withheld by de-identification"),
        ({"reports_failed": 4}, "4 paired reports could not be read."),
        ({"damaged": 1}, "1 damaged shards were put aside"),
        (
            {
                "left_out": (
                    ("no reader is named", 1213),
                    ("the X-ray finding was not evaluable", 2),
                )
            },
            "left out of the figures: no reader is named 1,213 (say where exams name their reader: "
            "[input.columns] reader_id, for messages [input.hl7] reader); the X-ray finding was "
            "not evaluable 2.",
        ),
        ({"unmapped": (("query", 9), ("hint of", 2))}, "most frequent first: 'query' 9, 'hint of'"),
    ],
)
def test_what_went_wrong_is_counted_where_somebody_looks(
    change: dict[str, object], said: str
) -> None:
    assert said in words(replace(RUN, counts=replace(COUNTS, **change)))  # type: ignore[arg-type]


def test_gate_that_did_not_pass_is_named_whether_it_failed_or_was_not_checked() -> None:
    gates = (
        Gate("one", passed=False, required="1", found="2"),
        Gate("other", passed=None, required="1", found="nothing to count"),
    )
    assert "Gates that did not pass: one; other." in words(replace(RUN, gates=gates))


def test_what_is_delivered_does_not_name_its_run_and_the_report_does(tmp_path: Path) -> None:
    (tmp_path / "radcal.toml").write_text('[input]\npaths = ["exams.csv"]\n')
    site = Site.open(str(tmp_path / "radcal.toml"))
    name = "5b1e77d0c2"
    delivered = shown(site)
    assert name not in {entry for _, entry in delivered}
    assert shown(site, run=name)[1:] == delivered
    assert shown(site, run=name)[0][1] == name


def test_every_line_of_status_and_report_is_explained() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
    said = guide.partition("### What each line says")[2].partition("\n## ")[0]
    lines = [name.replace("_", " ") for name in (*serve._TIMES, *Accounting.__slots__)]
    lines += ["vault key", "last run", "next period", "pages delivered", "pages unchanged"]
    boxes = [name for name, _ in pairing._STEPS]
    assert [line for line in (*lines, *boxes, NOT_PURGED) if f"`{line}`" not in said] == []
