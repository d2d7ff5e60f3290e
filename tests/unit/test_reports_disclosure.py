"""Too few exams or readers never reach a page, whatever the content says."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np

from reports import content
from reports.disclosure import guard_committee, guard_radiologist, state_of
from reports.drawing.marks import Drawing, Text
from reports.drawing.style import Style
from reports.pages import committee, radiologist
from reports.pages.committee import html
from reports.strings import Strings


def _samples() -> ModuleType:
    path = Path(__file__).parents[1] / "fixtures/reports/sample_contents.py"
    spec = importlib.util.spec_from_file_location("sample_contents", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sample_contents"] = module
    spec.loader.exec_module(module)
    return module


samples = _samples()
WORDS = Strings.load()


def strings(pages: list[Drawing]) -> str:
    return " | ".join(m.string for page in pages for m in page.marks if isinstance(m, Text))


def test_a_result_below_the_minimum_is_withheld_even_if_the_content_gives_it() -> None:
    filled = replace(samples.radiologist(n=60), minimum_n=500)
    assert not isinstance(filled.overall, content.SuppressedCell)
    guarded = guard_radiologist(filled)
    assert guarded.overall == content.SuppressedCell(500)
    assert guarded.actions == ()
    printed = strings(radiologist.pages(filled, style=Style()))
    assert "too few (n < 500)" in printed
    assert f"{filled.overall.n:,.0f}" not in printed.split(" | ")


def test_a_period_below_the_minimum_loses_its_count_too() -> None:
    filled = samples.radiologist()
    assert filled.trend is not None
    period = replace(filled.trend[0], n=7)
    guarded = guard_radiologist(replace(filled, trend=(period,)))
    assert guarded.trend == (replace(period, n=0, gap=content.SuppressedCell(20)),)


def test_rates_drawn_toward_a_withheld_department_are_withheld_too() -> None:
    filled = samples.radiologist(department=False)
    assert not isinstance(filled.overall, content.SuppressedCell)
    assert not np.isnan(filled.overall.phrases.shrunk).all()
    guarded = guard_radiologist(filled)
    assert not isinstance(guarded.overall, content.SuppressedCell)
    assert np.isnan(guarded.overall.phrases.shrunk).all()
    printed = strings(radiologist.pages(filled, style=Style()))
    assert "drawn toward the department" not in printed
    assert "Open diamond" not in printed


def test_not_computed_advice_stays_not_computed() -> None:
    filled = replace(samples.radiologist(n=60), minimum_n=500, actions=None)
    assert guard_radiologist(filled).actions is None


def test_a_review_of_four_readers_shows_no_department_figure_in_pdf_or_html() -> None:
    filled = samples.committee(readers=4)
    assert not isinstance(filled.department, content.SuppressedCell)
    guarded = guard_committee(filled)
    assert guarded.department == content.SuppressedCell(5, "readers")
    printed = strings(committee.pages(filled, style=Style()))
    page = html.build(filled, style=Style()).decode()
    for text in (printed, page):
        assert "fewer than 5 readers contributed" in text
        assert "Phrase error" not in text
        assert "pleural effusion" not in text
        assert all(row.code not in text for row in filled.readers)
        assert "Run manifest" in text


def test_a_sensitivity_row_below_the_minimum_is_too_few_and_not_zero() -> None:
    filled = samples.committee()
    assert filled.sensitivity is not None
    guarded = guard_committee(filled)
    assert guarded.sensitivity is not None
    row = guarded.sensitivity[0].rows[0]
    assert row.phrase_error == content.SuppressedCell(20)


def test_states_of_withholding_read_differently() -> None:
    kinds = ("exams", "readers", "complementary")
    texts = {state_of(content.SuppressedCell(5, kind), WORDS) for kind in kinds}
    assert len(texts) == 3
