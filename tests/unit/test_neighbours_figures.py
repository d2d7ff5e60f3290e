"""The panels of a prediction against its readers: what is drawn is what was counted."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from calibration.neighbours.control import Marginals, marginals
from calibration.neighbours.disagreement import Disagreement, disagreement
from reports.drawing.marks import Drawing, Polygon, Rect, Text
from reports.drawing.style import MARGIN
from reports.neighbours import disagreement as neighbours
from reports.strings import Strings
from tests.fixtures.reports.measured import text_box


def case(classes: int, *, control: int = 0) -> tuple[Disagreement, Marginals]:
    g = np.random.default_rng(classes)
    probs = g.dirichlet(np.ones(classes), 200)
    votes = np.array([g.multinomial(8, p) for p in probs])
    found = disagreement(probs=probs, votes=votes, rng=g, bootstrap=0, control_votes=control)
    return found, marginals(probs=probs, votes=votes)


def bars(page: Drawing, name: str) -> list[Rect]:
    wanted = re.compile(rf"{re.escape(name)}\.\d+$")
    return [m for m in page.marks if isinstance(m, Rect) and wanted.match(m.id)]


def test_bars_are_as_tall_as_the_shares_they_show() -> None:
    found, views = case(3)
    page = neighbours.disagreement_pages(found, views, classes=["a", "b", "c"])[0]
    drawn = bars(page, "class.b")
    shares = views.classes[1].predicted
    assert len(drawn) == np.count_nonzero(shares)
    tall = np.array([bar.height for bar in drawn])
    np.testing.assert_allclose(tall / tall.sum(), shares[shares > 0] / shares.sum(), rtol=1e-9)


def test_reliability_shows_occupied_bins_only() -> None:
    found, views = case(3)
    page = neighbours.disagreement_pages(found, views, classes=["a", "b", "c"])[0]
    occupied = {f"reliability.count.{m}" for m in np.flatnonzero(found.confidence.count[0])}
    assert {m.id for m in page.marks if m.id.startswith("reliability.count.")} == occupied


def test_readers_are_a_line_and_the_control_is_drawn_only_when_computed() -> None:
    for size in (0, 4):
        found, views = case(3, control=size)
        page = neighbours.disagreement_pages(found, views, classes=["a", "b", "c"])[0]
        lines = {m.id for m in page.marks if isinstance(m, Polygon)}
        assert {"class.a.readers", "guess.1.readers", "entropy.readers"} <= lines
        assert ("distance.readers" in lines) is (size > 0)


@pytest.mark.parametrize("classes", [2, 3, 4, 7, 11])
def test_text_stays_inside_the_margins_for_any_number_of_classes(classes: int) -> None:
    names = [f"class number {k} with a rather long name that goes on" for k in range(classes)]
    pages = neighbours.disagreement_pages(*case(classes), classes=names)
    assert len(pages) == 1 if classes < 4 else len(pages) > 1
    for page in pages:
        for mark in page.marks:
            if isinstance(mark, Text):
                box = text_box(mark)
                assert box.x >= MARGIN - 4.0, mark.string
                assert box.right <= page.width - MARGIN + 4.0, mark.string
                assert box.bottom <= page.height - 20.0, mark.string


def test_catalogue_and_code_hold_the_same_keys() -> None:
    folder = Path(neighbours.__file__).parent
    code = (folder / "disagreement.py").read_text(encoding="utf-8")
    asked = set(re.findall(r'say\(\s*"([a-z._]+)"', code)) | set(
        re.findall(r"say\('([a-z._]+)'", code)
    )
    keys = Strings.load().sentences
    assert asked == {k.removeprefix("disagreement.") for k in keys if k.startswith("disagreement.")}


def test_two_builds_are_the_same_bytes() -> None:
    found, views = case(3, control=3)
    one, two = (
        neighbours.disagreement_pdf(found, views, classes=["a", "b", "c"]) for _ in range(2)
    )
    assert one == two
    assert one.startswith(b"%PDF")
