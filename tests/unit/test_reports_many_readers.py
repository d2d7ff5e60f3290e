"""Pages of hundreds of drawn readers: laid out whole, filled, true to the profile, with cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.profile import ReaderProfile
from reports import content
from reports.disclosure import guard_radiologist
from reports.drawing.marks import Drawing, Line, Text
from reports.drawing.style import Style, style_for
from reports.numbers import count
from reports.pages import radiologist
from reports.pages.radiologist.first import facts
from reports.verdict import in_words
from tests.fixtures.reports import sample_contents as samples
from tests.unit import test_reports_geometry as geometry

BASE = samples.radiologist(n=900, pathologies=5)
FEW = {"likely": 0.774, "may represent": 0.441, "unlikely": 0.094}
TABLE = samples.table_of()
ALL = {p: float(m) for p, m in zip(TABLE.phrases, TABLE.means, strict=True) if 0 < m < 1}
KINDS = {"few": FEW, "usual": samples.profiles.MEANINGS, "all": ALL}


def drawn(seed: int) -> tuple[content.RadiologistContent, Style]:
    """Draw one reader: few phrases, the usual or all; in any state; on either paper."""
    rng = np.random.default_rng(seed)
    kind = ("few", "usual", "all")[seed % 3]
    state = (None, "none", "too few", "pattern")[seed // 3 % 4]
    profile = samples.profiles.profile_of(rng, meanings=KINDS[kind], state=state, missing=0.05)
    own = samples.own_cases(profile, most=int(rng.integers(3, 6)))
    filled = replace(BASE, profile=profile, action_cases=own)
    if seed % 7 == 0:
        filled = replace(filled, department=content.SuppressedCell(5, "readers"))
    if seed % 5 < 3:
        head = replace(filled.masthead, returns_by="15 December 2026")
        back = content.Returned(concordant=9, discordant=4, wrong_pair=2)
        filled = replace(filled, masthead=head, returned=back)
    return filled, style_for(
        "A4" if seed % 2 else "Letter", language="de" if seed % 4 == 0 else "en"
    )


def lowest(page: Drawing) -> float:
    """Where the content of a page ends, footer left out."""
    marks = [m.y for m in page.marks if isinstance(m, Text) and m.y < page.height - 50]
    marks += [m.y2 for m in page.marks if isinstance(m, Line) and m.y2 < page.height - 50]
    return max(marks)


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_number_under_the_title_judges_beside_the_first_sentence(language: str) -> None:
    words, error = style_for("A4", language=language).strings, BASE.overall.phrase_error
    shown = {
        facts(replace(BASE, overall=replace(BASE.overall, phrase_error=drawn)), words=words)
        for drawn in (replace(error, value=far) for far in (0.001, 0.4))
    }
    (((_, statements), (hedges, said)),) = [each[1:] for each in shown]
    assert statements == words("radiologist.facts.statements")
    assert isinstance(BASE.profile, ReaderProfile)
    assert (hedges, said) == (count(BASE.profile.hedges), words("radiologist.facts.hedges"))


@pytest.mark.parametrize("start", range(0, 300, 60))
def test_three_hundred_readers_pages_are_whole_filled_and_carry_their_cases(start: int) -> None:
    for seed in range(start, start + 60):
        filled, style = drawn(seed)
        pages = radiologist.pages(filled, style=style)
        assert geometry.faults(pages) == [], seed
        titles = [b.title for page in pages[:2] for b in page.bookmarks]
        words = style.strings
        assert words("radiologist.appendix_numbers") not in titles, seed
        assert words("radiologist.chart") in titles, seed
        for page in pages[:2]:
            body = style.body
            assert (lowest(page) - body.y) / body.height > 0.55, (seed, lowest(page))
        ids = {m.id for m in pages[0].marks if isinstance(m, Text)}
        said = in_words(guard_radiologist(filled).profile, words=words)
        shown = [i for i in range(1, 4) if f"action.{i}" in ids]
        assert len(shown) <= len(said.actions)
        for number in shown:
            assert f"action.{number}.case.2" in ids, seed
