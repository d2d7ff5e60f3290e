"""Marks become SVG elements with their geometry, ids and hover titles."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest

from reports.drawing.marks import Disc, Drawing, Line, Polygon, Rect, Ribbon, Text
from reports.drawing.typeset import width_of_font
from reports.drawing.web import to_svg


def element(mark: object) -> ET.Element:
    drawing = Drawing(100, 50)
    drawing.add(mark)  # type: ignore[arg-type]
    root = ET.fromstring(to_svg(drawing, label="a & b"))  # noqa: S314 - made here
    assert root.attrib["aria-label"] == "a & b"
    assert root.attrib["viewBox"] == "0 0 100 50"
    return root[0]


def test_text_carries_its_measured_length_and_is_escaped() -> None:
    made = element(Text(60, 20, "n < 20", "Bold", 8, "#000000", "end", id="x"))
    assert made.text == "n < 20"
    assert made.attrib["text-anchor"] == "end"
    assert made.attrib["font-weight"] == "700"
    assert float(made.attrib["textLength"]) == pytest.approx(
        width_of_font("n < 20", "Bold", 8), abs=0.01
    )


def test_a_disc_has_its_hint_as_title() -> None:
    made = element(Disc(1, 2, 3, "#112233", hint="likely: 48 %"))
    assert made.tag == "circle"
    assert made[0].tag == "title"
    assert made[0].text == "likely: 48 %"


@pytest.mark.parametrize(
    ("mark", "tag"),
    [
        (Line(0, 0, 1, 1, "#000000", dash=(1.0, 2.0), hint="likely: 48 %"), "line"),
        (Rect(0, 0, 1, 1, "#000000"), "rect"),
        (Polygon(((0, 0), (1, 1), (2, 0)), fill="#000000"), "polygon"),
        (Polygon(((0, 0), (1, 1)), stroke="#000000"), "polyline"),
        (Ribbon(0, 0, 2, 10, 5, 2, "#000000"), "path"),
    ],
)
def test_every_mark_has_its_element(mark: object, tag: str) -> None:
    assert element(mark).tag == tag


def test_a_value_is_said_once_however_many_marks_carry_it() -> None:
    drawing = Drawing(100, 50)
    drawing.add(Line(0, 0, 9, 0, "#000000", hint="x"), Disc(1, 0, 3, hint="x"))
    assert to_svg(drawing, label="a").count("<title>") == 1
    assert to_svg(drawing, label="a", hovers=False).count("<title>") == 0


def test_an_unknown_mark_is_refused() -> None:
    with pytest.raises(TypeError, match="register a writer"):
        element(SimpleNamespace(hint=""))
