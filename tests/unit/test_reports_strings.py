"""The catalogue and the code agree on every key."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import get_args

import pypdf
import pytest

from calibration.survey import builtin
from extraction.vocabulary import load
from pipeline.config import load as config_of
from pipeline.pages import cases
from pipeline.pages.cases import EASY, HARD
from pipeline.pages.content import Issue, masthead
from pipeline.pages.small_cells import without
from pipeline.tables import pairing
from pipeline.tables.observations import SILENT
from pipeline.tables.results import Period
from reports.content import Case, Exclusion, FlowStep
from reports.drawing.marks import PHONE, Drawing, Field, Text
from reports.drawing.style import style_for
from reports.figures.counts import exam_flow
from reports.held_back import _GROUPS
from reports.numbers import MANNERS, Language
from reports.pages import committee, radiologist, run_report
from reports.pages.radiologist.later import case_table
from reports.pages.return_sheet import Answer
from reports.strings import Strings, translated
from tests.fixtures.reports import sample_contents as samples

ROOT = Path(__file__).parents[2]
ROOMS = (ROOT / "reports", ROOT / "pipeline" / "run", ROOT / "pipeline" / "pages")
CALL = re.compile(
    r"""(?:words|strings|say|several|series)\(\s*f?(["'])([a-z_0-9.{}'\[\]()" ]+?)\1[,)\s]""",
    re.DOTALL,
)
KEYS = Strings.load().sentences


def _code() -> str:
    texts = (p.read_text(encoding="utf-8") for room in ROOMS for p in sorted(room.rglob("*.py")))
    return "\n".join(texts)


def _asked(code: str) -> list[str]:
    return [key for _, key in CALL.findall(code)]


def test_every_key_asked_for_by_name_is_in_the_catalogue() -> None:
    named = {key for key in _asked(_code()) if "{" not in key}
    plural = {key.rsplit(".", 1)[0] for key in KEYS if key.endswith((".one", ".many"))}
    groups = {key.split(".")[0] for key in KEYS}
    assert len(named) > 60
    assert sorted(named - set(KEYS) - plural - groups) == []


def test_every_sentence_of_the_catalogue_is_used() -> None:
    code = _code()
    asked = set(_asked(code))
    stems = [key.split("{")[0] for key in asked if "{" in key]
    unused = [
        key
        for key in KEYS
        if key not in asked
        and f'"{key}"' not in code
        and f'"{key.rsplit(".", 1)[0]}"' not in code
        and f'"{key.split(".")[0]}"' not in code
        and not key.startswith("wording.")
        and not any(stem and key.startswith(stem) for stem in stems)
    ]
    assert unused == []


def test_every_hedge_of_the_scale_has_its_wording() -> None:
    table = builtin("diagnostic-certainty-scale")
    hedges = [p for p, mean in zip(table.phrases, table.means, strict=True) if 0 < mean < 1]
    assert [p for p in hedges if f"wording.{p}" not in KEYS] == []
    assert all("{finding}" in KEYS[f"wording.{p}"] for p in hedges)


def _slots(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


OTHERS = [language for language in get_args(Language) if language != "en"]


def test_every_catalogue_is_a_language_that_can_be_chosen_and_has_its_manner() -> None:
    catalogues = {path.stem for path in (ROOT / "reports" / "strings").glob("*.toml")}
    assert catalogues == {*get_args(Language)} == {*MANNERS}


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_has_the_same_keys_in_the_same_order_and_the_same_slots(language: str) -> None:
    other = Strings.load(language=language).sentences
    assert [key for key in other if not key.startswith("name.")] == list(KEYS)
    assert [key for key in KEYS if _slots(KEYS[key]) != _slots(other[key])] == []


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_was_left_in_english(language: str) -> None:
    other = Strings.load(language=language).sentences
    long = [key for key in KEYS if len(KEYS[key].split()) > 4 and not key.startswith("wording.")]
    same = [key for key in long if other[key] == KEYS[key]]
    assert [key for key in same if len(re.findall(r"[a-z]{3,}", KEYS[key])) > 8] == []


ENGLISH = re.compile(
    r"\b(the|of|and|with|without|from|not|is|are|were|by|no|to|for|or|than|which|that|this"
    r"|read|signed|reports?|studies|exams?|age|over|under|effusion|edema|nodule)\b",
    re.IGNORECASE,
)
"""Words that German has not, or not in this spelling."""


def _ours(page: Drawing) -> Iterator[str]:
    """Give the lines of a page that are ours: no masthead, no phrase under study."""
    head = samples.masthead()
    foreign = {head.institution, head.contact}
    phrases = sorted(builtin("diagnostic-certainty-scale").phrases, key=len, reverse=True)
    phrases += get_args(Answer)
    for mark in page.marks:
        if (
            isinstance(mark, Text)
            and not mark.id.startswith(("banner", "example."))
            and mark.string not in foreign
        ):
            line = re.sub("|".join(map(re.escape, phrases)), "", mark.string)
            yield re.sub("„[^“]*(“|$)|^[^„]*“", "", line)


def test_no_sentence_can_be_read_as_one_about_the_word_likely() -> None:
    """A page said "what you call likely is less so" and below that "likely" was right."""
    for language, said in (("en", "you call likely"), ("de", "wahrscheinlich nennen")):
        texts = Strings.load(language=language).sentences.values()
        assert [text for text in texts if said in text] == []


def test_nothing_english_is_left_on_a_german_page() -> None:
    style = style_for("A4", language="de")
    flow = (
        FlowStep("report versions read", 500),
        FlowStep("chest X-rays", 400, (Exclusion("not a chest exam", 100),)),
        FlowStep("both reports read", 390, (Exclusion("a report could not be read", 10),)),
    )
    review = samples.committee(flow=flow, governance="", instrument=None, gates=(), manifest=())
    review = replace(review, sensitivity=None)
    pages = committee.pages(review, style=style)
    for seed in (5, 21, 40):
        pages += radiologist.pages(replace(samples.simulated(seed), use=""), style=style)
    left = {line for page in pages for line in _ours(page) if ENGLISH.search(line)}
    assert sorted(left) == []


@pytest.mark.parametrize("language", OTHERS)
def test_every_name_that_results_carry_is_in_the_catalogue(language: str) -> None:
    known = Strings.load(language=language).sentences
    names = list(load().pathologies)
    names += [part for step in pairing._STEPS for part in step]
    names += [pairing.TAKEN_BACK, pairing.DRAFTED, pairing.NOT_DRAFTED, SILENT, HARD, EASY]
    names += list(cases._NAMES.values())
    assert len(names) > 40
    assert [name for name in names if f"name.{name}" not in known] == []


def test_a_reason_is_not_cut_on_a_phone() -> None:
    names = [part for step in pairing._STEPS for part in step]
    words = Strings.load(language="de")
    steps = tuple(
        FlowStep("x", 9, (Exclusion(words.name(name), 1_234), Exclusion("kurz", 1)))
        for name in names
    )
    phone = Drawing(PHONE, PHONE)
    exam_flow(phone, phone.frame, steps=steps, words=words)
    said = " ".join(mark.string for mark in phone.marks if isinstance(mark, Text))
    assert "…" not in said
    assert words.name("younger than the age limit, or age unknown").rsplit(" ", 1)[1] in said


def test_a_german_word_means_one_thing() -> None:
    """A `Befund` is the text, a `Pathologie` what it is about, a `Befunder` who wrote it."""
    said = Strings.load(language="de").sentences
    other = (
        r"Wahrscheinlichkeitswort|Ausdr[uü]ck|Wendung|Merkmal|Etikett|Radiologe(?!n)"
        r"|(?<!Radiologinnen und )(?<!Radiologinnen oder )Radiologen"
        r"|(?<!Lauf)[Bb]ericht|Anonymisier|Messgerät"
        r"|Tausch|[Zz]urückgehalten|unterschrieb|Leitplanke|Schranke|Karte\b|abgeraten"
        r"|\b(das|dem|des|ein|im|am|ans|vom|zum) CT\b(?!-)"
    )
    assert [key for key, text in said.items() if re.search(other, text)] == []


def test_no_german_sentence_takes_a_reader_for_words_nor_a_chance_for_a_distance() -> None:
    """It read: "von 100 zeigt die CT 92: Sie sagen zu viel", "dass sie sind sicherer"."""
    said = Strings.load(language="de").sentences
    for key, text in said.items():
        assert not re.search(r"\b(dass sie|Sie) \{what\}|: Sie sagen zu ", text), key
        assert "zu {probability}" not in text, key


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_reason_why_a_word_has_no_swap_is_said_of_one_word_and_of_several(
    language: str,
) -> None:
    """A run stopped at a heavy word beside three swaps: its reason was said of several only."""
    said = Strings.load(language=language).sentences
    one, several = {f"verdict.stay.{key}" for key in _GROUPS}, {*_GROUPS.values()}
    assert one | {f"verdict.held.{key}" for key in several} <= {*said}


def test_what_ct_said_is_said_in_german_and_phrases_under_study_as_they_were_written() -> None:
    case = replace(samples.cases(1)[0], ct_phrase="absent", phrase="likely", pathology="pneumonia")
    words = Strings.load(language="de")
    row = case_table((replace(case, month="2026-05"),), words=words).rows[0]
    assert row.cells[1] == "05/2026"
    assert row.cells[3:6] == ("Pneumonie", "likely", "kein Nachweis")
    boxes = [cell.says for cell in row.cells if isinstance(cell, Field)]
    assert boxes[0].startswith("stimmt: Pneumonie, ")
    english = case_table((case,), words=Strings.load()).rows[0]
    assert english.cells[3:6] == ("pneumonia", "likely", "absent")


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", ("2026-06", "June 2026", "Q2 2026")), ("de", ("06/2026", "Juni 2026", "Q2 2026"))],
)
def test_a_month_is_written_one_way_in_tables_and_one_in_sentences(
    language: str, said: tuple[str, ...]
) -> None:
    """German pages said "endete im Monat 2026-06"."""
    words = Strings.load(language=language)
    printed = words.month("2026-06"), words.month("2026-06", "long"), words.month("2026 Q2")
    assert printed == said
    assert [words.month(text) for text in ("", "Q1", "2026")] == ["", "Q1", "2026"]


@pytest.mark.parametrize(
    ("language", "day", "month"),
    [("en", "15 December 2026", "January 2027"), ("de", "15. Dezember 2026", "Januar 2027")],
)
def test_a_day_of_the_configuration_is_printed_as_the_pages_language_has_it(
    language: str, day: str, month: str, tmp_path: Path
) -> None:
    """German pages said "zählen bis 2026-12-15"."""
    file = tmp_path / "radcal.toml"
    said = f'language = "{language}"\nreturns_by = "2026-12-15"\nnext_issue = "2027-01"\n'
    file.write_text(f'[input]\npaths = ["a.csv"]\n[reports]\n{said}')
    head = masthead(Issue(config_of(file), Period("2026-09", ("2026-08", "2026-09"))), "R-1")
    assert head.returns_by == day
    assert month in head.next_issue
    words = Strings.load(language=language)
    for own in ("Ende Januar", "20261215", "2026-13-01", "2026-W50-2", ""):
        assert words.day(own) == own


def test_no_month_of_a_german_page_is_written_as_a_program_writes_it() -> None:
    style, review = style_for("A4", language="de"), samples.committee()
    charts = tuple(
        replace(chart, partial=(chart.months[0],), withheld=chart.months[1:2])
        for chart in review.run_charts or ()
    )
    own = samples.radiologist()
    trend = tuple(replace(point, period="2026 Q2") for point in own.trend or ())
    cases = tuple(replace(case, month="2026-05") for case in own.cases or ())
    pages = committee.pages(replace(review, run_charts=charts), style=style)
    pages += radiologist.pages(replace(own, trend=trend, cases=cases), style=style)
    drawn = [mark.string for page in pages for mark in page.marks if isinstance(mark, Text)]
    data_cut = own.masthead.data_cut
    assert not [t for t in drawn if re.search(r"\d{4}-\d\d|\d{4} Q\d", t.replace(data_cut, ""))]
    assert {"05/2026", "10/2025"} <= {*drawn}


def test_a_name_with_a_number_in_it_is_said_in_german() -> None:
    words = Strings.load(language="de")
    mix = translated(("CT within 6 h", "First draft (no other author named)", "likely"), words)
    assert mix == ("CT innerhalb von 6 h", "Erstentwurf (niemand anderes genannt)", "likely")
    case = samples.cases(1)[0]
    assert translated((case,), words, keep=(Case,)) == (case,)


def test_a_german_page_writes_its_numbers_as_german_does() -> None:
    drawn = {
        language: [
            mark.string
            for page in committee.pages(
                samples.committee(), style=style_for("A4", language=language)
            )
            for mark in page.marks
            if isinstance(mark, Text)
        ]
        for language in ("en", "de")
    }
    assert "24,117" in drawn["en"]
    assert "24.117" in drawn["de"]
    assert "24,117" not in drawn["de"]


def test_no_decimal_of_a_german_page_is_written_with_a_point() -> None:
    style = style_for("A4", language="de")
    drawn = committee.pages(samples.committee(), style=style)
    drawn += run_report.pages(samples.stopped_run(), style=style)
    for seed in range(0, 40, 8):
        filled = replace(samples.simulated(seed), masthead=samples.masthead(version="1"))
        drawn += radiologist.pages(filled, style=style)
    marks = (m for page in drawn for m in page.marks if isinstance(m, Text))
    texts = {mark.string.replace("rules 1.0", "rules") for mark in marks}
    page = committee.build_both(samples.committee(), style=style)[1].decode()
    texts |= set(
        re.findall(r">([^<>]+)<", re.sub(r"<(style|script)>.*?</\1>", "", page, flags=re.S))
    )
    texts = {text.replace("rules 1.0", "rules") for text in texts}
    pointed = re.compile(r"(?<![\w.])\d+\.(?!\d{3}(?!\d))\d+(?![\w.])")
    assert sorted(text for text in texts if pointed.search(text)) == []
    grouped = re.compile(r"(?<![\w.,])[1-9]\d{1,2},\d{3}(?!\d)")  # "1,144" is a ratio
    assert sorted(text for text in texts if grouped.search(text)) == []
    assert any(re.search(r"\d,\d", text) for text in texts)


def test_phrases_that_a_german_map_may_not_show_are_named_in_german() -> None:
    review = samples.committee()
    table = without(review.department.phrases, ["likely"])
    filled = replace(review, department=replace(review.department, phrases=table))
    drawn = committee.pages(filled, style=style_for("A4", language="de"))
    said = " ".join(mark.string for page in drawn for mark in page.marks if isinstance(mark, Text))
    assert "nicht gezeigte Formulierungen" in said
    assert "phrases not shown" not in said


@pytest.mark.parametrize(("language", "subject"), [("en", "All your hedges on"), ("de", "Alle")])
def test_a_rate_of_all_hedges_in_a_finding_reads_as_no_second_rate_of_its_one_word(
    language: str, subject: str
) -> None:
    """Below "may represent" for cardiomegaly, 80 %, stood "for cardiomegaly CT shows it 64 %"."""
    said = Strings.load(language=language).sentences["verdict.by_finding.each"]
    assert said.startswith(subject)


@pytest.mark.parametrize("language", get_args(Language))
def test_no_sentence_names_a_page_for_the_html_has_none(language: str) -> None:
    told = Strings.load(language=language).sentences
    numbered = r"(?i)\b(?:page|seite) \d|\b(?:first|following) pages|\b(?:ersten|folgenden) seiten"
    assert {key for key, said in told.items() if re.search(numbered, said)} == set()


@pytest.mark.parametrize("language", get_args(Language))
def test_a_file_says_the_language_that_its_words_are_in(language: Language) -> None:
    style = style_for("A4", language=language)
    pdf, html_page = radiologist.build_both(samples.radiologist(), style=style)
    tag = MANNERS[language].tag
    assert f'<html lang="{tag}">'.encode() in html_page
    assert pypdf.PdfReader(io.BytesIO(pdf)).trailer["/Root"]["/Lang"] == tag
