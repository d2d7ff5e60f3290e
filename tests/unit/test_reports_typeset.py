"""Text that is set never leaves the width it was given."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.drawing.marks import Box, Drawing, Text
from reports.drawing.style import BODY, FIGURE, LEAD
from reports.drawing.typeset import fit, paragraph, paragraph_height, width_of, wrap
from reports.numbers import count, decimal, interval, percent, percent_interval, points, signed
from tests.fixtures.reports.measured import text_box

WORDS = st.text(st.sampled_from("abcdefgh ijk WM†“” *é"), max_size=200)


@settings(max_examples=150)
@given(text=WORDS, width=st.floats(20, 400))
def test_no_line_of_a_paragraph_is_wider_than_its_box(text: str, width: float) -> None:
    drawing = Drawing(1000, 1000)
    end = paragraph(drawing, Box(10, 10, width, 0), text, BODY)
    assert end == pytest.approx(10 + paragraph_height(text, BODY, width))
    for mark in drawing.marks:
        assert isinstance(mark, Text)
        assert text_box(mark).right <= 10 + width + 1e-6 or len(mark.string) == 1


@settings(max_examples=150)
@given(text=WORDS, width=st.floats(20, 400))
def test_wrapping_keeps_every_character_in_order(text: str, width: float) -> None:
    kept = "".join(wrap(text, LEAD, width)).replace(" ", "")
    assert kept == text.replace("**", "").replace(" ", "")


@pytest.mark.parametrize("width", [90.0, 110.0, 130.0, 150.0, 170.0, 190.0, 210.0])
def test_no_word_stands_alone_on_a_last_line(width: float) -> None:
    text = "**Not all your work.** Only 237 of 342 X-rays had a CT within twelve hours of it."
    lone = 0
    for words in range(8, len(text.split(" ")) + 1):
        lines = wrap(" ".join(text.split(" ")[:words]), BODY, width)
        lone += len(lines[-1].split(" ")) == 1 and len(lines[-2].split(" ")) >= 3
    assert lone == 0


@settings(max_examples=150)
@given(text=WORDS, width=st.floats(20, 200))
def test_a_fitted_line_fits(text: str, width: float) -> None:
    string, kind = fit(text, FIGURE, width)
    assert width_of(string, kind) <= width + 1e-3


def test_a_line_shrinks_before_it_loses_letters() -> None:
    natural = width_of("consistent with", FIGURE)
    string, kind = fit("consistent with", FIGURE, 0.95 * natural)
    assert string == "consistent with"
    assert kind.size == pytest.approx(0.95 * FIGURE.size)
    string, kind = fit("consistent with", FIGURE, 0.5 * natural)
    assert (string[-1], kind.size) == ("…", 7.0)


def test_a_bold_word_keeps_the_comma_behind_it() -> None:
    width = width_of("aa", BODY) + width_of(" ", BODY.bold) + width_of("bbb", BODY.bold) + 0.5
    assert wrap("aa **bbb**, c", BODY, width) == ["aa", "bbb, c"]


def test_numbers_print_one_way() -> None:
    nan = float("nan")
    assert (percent(0.004), percent(0.006), percent(0.996)) == (
        "<1\u00a0%",
        "1\u00a0%",
        ">99\u00a0%",
    )
    assert (percent(nan), points(nan), decimal(nan), signed(nan)) == ("–",) * 4
    assert (percent_interval(nan, 1.0), interval(0.0, nan)) == ("–", "–")
    assert (count(1234.4), points(0.0994), points(0.0996)) == ("1,234", "9.9", "10")
