"""Every line of text lies inside its page's frame and covers no other, at the extremes too."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

from calibration.profile import Interval, PhraseRate, ReaderProfile
from calibration.profile.results import Untold
from calibration.run_chart import process
from calibration.substitution import Suppressed
from reports import content, review_content
from reports.disclosure import guard_radiologist
from reports.drawing import layout, tables
from reports.drawing.layout import Composer, Figure, Prose, Section, Subheading, compose
from reports.drawing.marks import PHONE, Box, Disc, Drawing, Line, Polygon, Rect, Ribbon, Text
from reports.drawing.style import BODY, CAPTION, MARGIN, Style, palette, style_for
from reports.drawing.tables import Column, Row, Table
from reports.figures import phrase_chart, phrase_rows
from reports.figures.reliability import panel_pieces
from reports.figures.series import run_chart
from reports.figures.swap_flow import Stream, swap_flow
from reports.numbers import interval, written
from reports.pages import committee, radiologist, run_report
from reports.pages.committee.tables import suggestion_table
from reports.pages.radiologist import card, chart, first
from reports.verdict import in_words
from tests.fixtures.reports import sample_contents as samples
from tests.fixtures.reports.measured import text_box
from tests.unit.test_reports_logo import png

LONG = "cannot be excluded with any certainty xx"
SLACK = 0.6


def _texts(page: Drawing) -> list[tuple[Text, Box]]:
    return [(m, text_box(m)) for m in page.marks if isinstance(m, Text)]


def _tight(box: Box) -> Box:
    """Take the ink of a line, from x-height to baseline, so that set leading does not count."""
    return Box(box.x, box.y + 0.2 * box.height, box.width, 0.56 * box.height)


def _meet(a: Box, b: Box) -> bool:
    across = min(a.right, b.right) - max(a.x, b.x)
    down = min(a.bottom, b.bottom) - max(a.y, b.y)
    return across > SLACK and down > SLACK


def faults(pages: list[Drawing]) -> list[str]:
    """Everything that leaves the page's frame or covers other text, in words."""
    found = []
    for number, page in enumerate(pages, start=1):
        texts = _texts(page)
        for mark, box in texts:
            if box.x < MARGIN - SLACK or box.right > page.width - MARGIN + SLACK:
                found.append(f"page {number}: {mark.string!r} leaves the margins ({box})")
            if box.y < 10 or box.bottom > page.height - 10:
                found.append(f"page {number}: {mark.string!r} leaves the page ({box})")
            if (
                not mark.id.startswith("page")
                and mark.y > page.height - 50
                and mark.y < page.height - 32
            ):
                found.append(f"page {number}: {mark.string!r} runs into the footer ({box})")
        boxes = sorted(((_tight(box), mark) for mark, box in texts), key=lambda item: item[0].y)
        for i, (box, mark) in enumerate(boxes):
            for other, second in boxes[i + 1 :]:
                if other.y > box.bottom:
                    break
                if _meet(box, other):
                    found.append(f"page {number}: {mark.string!r} covers {second.string!r}")
        found.extend(
            f"page {number}: a rectangle leaves the page ({mark})"
            for mark in page.marks
            if isinstance(mark, Rect)
            and (mark.x < 0 or mark.x + mark.width > page.width or mark.height < 0)
        )
    return found


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_typical_pages_have_no_overflow_and_no_overlap(paper: str, language: str) -> None:
    style = style_for(paper, language=language)
    assert faults(radiologist.pages(samples.radiologist(), style=style)) == []
    assert faults(committee.pages(samples.committee(), style=style)) == []
    assert faults(run_report.pages(samples.stopped_run(), style=style)) == []


def _end(mark: object) -> float:
    """Give where a mark ends below."""
    match mark:
        case Text():
            return text_box(mark).bottom
        case Line():
            return max(mark.y1, mark.y2)
        case Rect():
            return mark.y + mark.height
        case Polygon():
            return max(y for _, y in mark.points)
        case Disc():
            return mark.y + mark.r
        case Ribbon():
            return max(mark.y1 + mark.width1, mark.y2 + mark.width2)
    return 0.0


def _inside(page: Drawing) -> list[tuple[object, float]]:
    """Give the marks above the footer, and where each ends."""
    return [(m, end) for m in page.marks for end in [_end(m)] if end <= page.height - 50.0]


def _reach(page: Drawing) -> float:
    """Share of the page's content frame above its lowest mark."""
    return (max(end for _, end in _inside(page)) - 52.0) / (page.height - 50.0 - 52.0)


def empty(pages: list[Drawing]) -> list[str]:
    """Say of which pages too little is filled: under 60 % inside, under 30 % at the end."""
    limits = [0.6] * (len(pages) - 1) + [0.3 if len(pages) > 1 else 0.0]
    found = zip(map(_reach, pages), limits, strict=True)
    return [f"page {i}: {at:.0%}" for i, (at, least) in enumerate(found, start=1) if at < least]


def stranded(pages: list[Drawing]) -> list[str]:
    """Give the headings below which their page has nothing, or only a note on what they head."""
    return [
        f"page {number}: {heading.title}"
        for number, page in enumerate(pages, start=1)
        for heading in page.bookmarks
        if all(
            isinstance(m, Text) and m.colour == palette.muted and m.size <= CAPTION.size
            for m, end in _inside(page)
            if end > heading.y + 24.0
        )
    ]


def clipped(pages: list[Drawing]) -> list[str]:
    """Give the lines that end in an ellipsis because their frame was too narrow."""
    texts = [m.string for page in pages for m in page.marks if isinstance(m, Text)]
    return [text for text in texts if text.endswith("…")]


def tiny(pages: list[Drawing]) -> list[str]:
    """Give the lines that are set in type of less than 7 points."""
    texts = [m for page in pages for m in page.marks if isinstance(m, Text)]
    return [text.string for text in texts if text.size < 7.0]


def wrapped_cases(pages: list[Drawing]) -> list[str]:
    """Give the cells of the lists of cases that stand on more than one line."""
    ids = [(i, m.id) for i, p in enumerate(pages) for m in p.marks if m.id.startswith("cases.")]
    return sorted({name for page, name in ids if ids.count((page, name)) > 1})


def touching(pages: list[Drawing]) -> list[str]:
    """Give the values of axes and other middled lines that leave less than a blank between them."""
    found = []
    for page in pages:
        labels = [m for m in page.marks if isinstance(m, Text) and m.anchor == "middle"]
        for one, other in pairwise(sorted(labels, key=lambda m: (m.y, m.x))):
            near = text_box(other).x - text_box(one).right < 1.0
            if near and one.y == other.y:
                found.append(f"{one.string}|{other.string}")
    return found


def blank(page: Drawing) -> float:
    """Give the most that is left white beside the picture, above the first of two cards or more."""
    cards = [m.y for m in page.marks if isinstance(m, Text) and re.fullmatch(r"action.\d", m.id)]
    if len({*_ids([page], "action.")} & {"action.2", "action.3"}) == 0:
        return 0.0
    lines = [m for m in page.marks if isinstance(m, Text) and m.x < MARGIN + 1.0]
    first = next(m.y for m in lines if m.id == "headline")
    ends = sorted(text_box(m).bottom for m in lines if first <= m.y < min(cards) - 4.0)
    return max(b - a for a, b in pairwise((*ends, min(cards))))


def _bold(page: Drawing) -> list[str]:
    """Give the phrases whose lines in the picture are bold."""
    lines = [m for m in page.marks if isinstance(m, Line) and m.id.startswith("ladder.")]
    return [line.id.removeprefix("ladder.") for line in lines if line.colour == palette.own]


def _ids(pages: list[Drawing], start: str) -> list[str]:
    return [m.id for page in pages for m in page.marks if m.id.startswith(start)]


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_pages_of_three_hundred_simulated_readers_are_filled_and_say_one_thing(start: int) -> None:
    actions = nothing = 0
    for seed in range(start, start + 50):
        style = style_for(("A4", "Letter")[seed % 2], language=("en", "de")[seed // 2 % 2])
        filled = samples.simulated(seed)
        drawn = radiologist.pages(filled, style=style)
        assert faults(drawn) == [], seed
        assert empty(drawn) == [], seed
        assert tiny(drawn) == [], seed
        assert touching(drawn[:2]) == [], seed
        assert _reach(drawn[0]) >= 0.74, seed
        assert blank(drawn[0]) < 95.0, seed
        assert len(drawn) == 2 or _reach(drawn[1]) >= 0.55, seed
        long = LONG[:20] in str(filled.overall.phrases.phrases)
        assert long or clipped(drawn) == [], seed
        core = next(
            i
            for i, p in enumerate(drawn)
            if any(b.title[:6] in ("Append", "Anhang") for b in p.bookmarks)
        )
        table = filled.overall.phrases
        curved = int((table.hedges & (table.n > 0)).sum()) > 1
        assert core == 2 if curved else core <= 1, seed  # without a curve appendices go on below
        assert (style.strings("radiologist.no_curve")[:9] in str(drawn[:2])) != curved, seed
        assert len(drawn) < 4 or _reach(drawn[-1]) >= 0.45, seed
        profile = guard_radiologist(filled).profile
        said = in_words(profile, words=style.strings)
        marked = set(_ids(drawn, "side."))
        none = style.strings("phrase_chart.none").partition("; ")[2].partition(".")[0]
        texts = " ".join(m.string for p in drawn[:2] for m in p.marks if isinstance(m, Text))
        hedged = style.strings("phrase_chart.key.band") in texts
        assert (none in texts) == (hedged and not marked), seed
        shown = " ".join(
            [said.first, said.lead, *said.also, *(each.title for each in said.actions[:1])]
        )
        bold = _bold(drawn[0])
        assert len(bold) <= 2, seed
        assert [name for name in bold if name.partition(", ")[0] not in shown] == [], seed
        for number, action in enumerate(said.actions, start=1):
            assert len(_ids(drawn, f"action.{number}.case.")) >= 3, seed
            swap, rows = action.swap, {f"side.{action.swap.phrase}"}
            if swap.finding:
                rows.add(f"side.{swap.phrase}, {style.strings.name(swap.finding)}")
            assert rows & marked, (seed, rows)
            actions += 1
        if said.first == style.strings("verdict.none.first"):
            nothing += 1
            assert _ids(drawn, "action.") == [], seed
            assert {m.removeprefix("side.") for m in marked} <= {"absent", "present"}, seed
    assert actions > 20
    assert nothing > 0


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("phrases", [("absent",), ("absent", "present"), ("absent", "likely")])
def test_a_reader_of_fewer_than_two_hedges_sees_no_empty_curve_and_no_sign_that_is_not_drawn(
    phrases: tuple[str, ...], language: str
) -> None:
    """An empty square filled a page, beside a note on its dots, band and areas."""
    drawn = samples.radiologist(n=400)
    kept = samples.draw_tally(
        400,
        rng=np.random.default_rng(1),
        table=samples.table_of(),
        favourites=dict.fromkeys(phrases, 1.0),
    )
    profile = drawn.profile
    assert isinstance(profile, ReaderProfile)
    hedges = tuple(p for p in profile.phrases if p.phrase in phrases)
    untold = "" if hedges else "no hedge"
    verdict, wrote = replace(profile.pattern.verdict, state="too few", untold=untold), bool(hedges)
    few = replace(
        profile, phrases=hedges, habits=(), advice=(), rest=(), sides=(), hedges=400.0 * wrote,
        pattern=replace(profile.pattern, verdict=verdict),
        present=replace(profile.present, state="as others"),
        absent=replace(profile.absent, state="as others"),
    )  # fmt: skip
    filled = replace(
        drawn, overall=samples.group(kept, samples.table_of(), 1), profile=few, action_cases=()
    )
    style = style_for("A4", language=language)
    pages = radiologist.pages(filled, style=style)
    words, texts = style.strings, [m.string for p in pages for m in p.marks if isinstance(m, Text)]
    assert faults(pages) == empty(pages) == []
    assert words("reliability.x") not in texts
    assert words("radiologist.no_curve") in " ".join(texts)
    assert words("radiologist.curve_note").split(":")[0] not in " ".join(texts)
    band = words("phrase_chart.key.band")
    assert (band in texts) == bool(hedges)
    assert (words("phrase_chart.key.rates") in texts) != bool(hedges)
    assert words("radiologist.cases_order")[:40] not in " ".join(texts)


def test_a_case_stands_on_one_line_however_wide_its_code_and_words() -> None:
    some = samples.radiologist()
    assert some.cases
    wide = replace(
        some.cases[0],
        xray_code="S-WWQ2BNMEF47E",
        ct_code="S-5M4YWG6WWCA4",
        pathology="vascular congestion",
        phrase="highly suggestive of",
        ct_phrase="compatible with",
    )
    most = tuple(replace(wide, ct_code=f"S-5M4YWG6WWC{i:02d}") for i in range(12))
    nobody = replace(some, cases=most, action_cases=(), profile=samples.simulated(24).profile)
    for paper in ("A4", "Letter"):
        drawn = radiologist.pages(nobody, style=style_for(paper))
        assert _ids(drawn, "cases.")
        assert wrapped_cases(drawn) == []


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_cell_of_a_review_is_cut_where_terms_are_withheld_and_findings_have_long_names(
    language: str,
) -> None:
    """Seven words of a small department each said "not shown: fewer than 5 readers, or mo…"."""
    review = samples.committee()
    assert review.scale_use
    few = content.SuppressedCell(5, "readers")
    use = replace(review.scale_use, terms=tuple((t, few, k) for t, _, k in review.scale_use.terms))
    written_ = tuple(review_content.Written(t, few, float("nan")) for t, _, _ in use.terms)
    named = tuple(
        replace(part, pathology=f"{part.pathology} including subpulmonic and loculated collections")
        for part in review.by_pathology
    )
    filled = replace(review, scale_use=use, written=written_, by_pathology=named)
    style = style_for("A4", language=language)
    drawn = committee.pages(filled, style=style)
    cells = [
        m.string for p in drawn for m in p.marks
        if isinstance(m, Text) and m.id.startswith(("pathologies.", "terms."))
    ]  # fmt: skip
    assert style.strings("state.withheld_short") in cells
    assert any(text.endswith("collections") for text in cells)
    assert [t for t in cells if t.endswith("…")] == []
    said = " ".join(m.string for p in drawn for m in p.marks if isinstance(m, Text))
    assert style.strings("written.withheld", readers=5) in said


def _all_marked(profile: ReaderProfile) -> tuple[tuple[object, str], ...]:
    return tuple((phrase, "more") for phrase in profile.phrases)


@pytest.mark.parametrize(
    ("where", "name", "broken"),
    [
        (chart.PhraseChart, "draw", lambda *_, **__: None),
        (card.Card, "_list", lambda *_: None),
        (phrase_chart, "_side", lambda *_: None),
        (phrase_rows, "hedges_in_parts", _all_marked),
        (first, "_ROOMY", replace(first._ROOMY, side=0.9)),
        (first, "picture_rows", lambda rows, *_: rows),
    ],
    ids=["half empty", "no cases", "not marked", "marked unsaid", "overlap", "bold unsaid"],
)
def test_the_check_of_many_readers_fails_where_a_page_is_broken(
    where: object, name: str, broken: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, broken)
    with pytest.raises(AssertionError):
        test_pages_of_three_hundred_simulated_readers_are_filled_and_say_one_thing(0)


def drawn_unread(seed: int, untold: Untold, **known: object) -> tuple[list[Drawing], str, bool]:
    """Draw a reader of whom no word may be read; give the first page's words, and if it has any."""
    style = style_for(("A4", "Letter")[seed % 2], language=("en", "de")[seed // 2 % 2])
    filled = samples.simulated(seed)
    verdict = replace(
        filled.profile.pattern.verdict, state="too few", parts=(), untold=untold, slight=None,
        shared=(), explained=(), question=False, carried=None, more_exams=None, stated=None,
        beside=(), sites=None, lately=None,
    )  # fmt: skip
    profile = replace(
        filled.profile, pattern=replace(filled.profile.pattern, verdict=verdict), advice=(),
        habits=(), considered=(), rest=(), **known,
    )  # fmt: skip
    drawn = radiologist.pages(replace(filled, profile=profile, action_cases=()), style=style)
    assert (faults(drawn), empty(drawn), tiny(drawn), touching(drawn[:2])) == ([], [], [], [])
    assert {*_ids(drawn, "side."), *_ids(drawn, "action.")} <= {"side.absent", "side.present"}
    texts = " ".join(m.string for m in drawn[0].marks if isinstance(m, Text))
    return drawn, texts, not isinstance(guard_radiologist(filled).overall, content.SuppressedCell)


@pytest.mark.parametrize("seed", range(24))
def test_a_reader_whose_sites_differ_is_told_so_on_one_page_without_a_mark(seed: int) -> None:
    rates = (Interval(0.52, 0.45, 0.59), 0.41), (Interval(0.3, 0.24, 0.37), 0.42)
    sites = tuple(PhraseRate("T-23AB", 120.0, rate.value, rate, means) for rate, means in rates)
    drawn, texts, told = drawn_unread(seed, "sites", sites=sites)
    assert ("44" in texts and "60" in texts) or not told
    assert "T-23AB" not in str(drawn)


@pytest.mark.parametrize("seed", range(16))
def test_a_reader_who_changed_within_the_period_is_told_so_on_one_page(seed: int) -> None:
    rate, names = Interval(0.52, 0.45, 0.59), ("strong_before", "strong_since", "weak_since")
    lately = tuple(PhraseRate(name, 120.0, 0.52, rate, 0.41) for name in names)
    untold: Untold = "moved" if seed // 4 % 2 else "mended"
    _, texts, told = drawn_unread(seed, untold, since="2026-08", lately=lately)
    assert "41" in texts or not told


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("readers", [5, 12, 40, 100])
def test_no_page_of_a_review_is_half_empty(readers: int, language: str) -> None:
    filled = samples.committee(readers=readers, pathologies=3 + readers % 22)
    drawn = committee.pages(filled, style=style_for("A4", language=language))
    assert empty(drawn) == []
    assert faults(drawn) == []
    assert tiny(drawn) == []
    assert clipped(drawn) == []
    assert stranded(drawn) == []


def _crowded(filled: review_content.CommitteeContent) -> review_content.CommitteeContent:
    """Give page 1 all that it can be asked to hold at once."""
    whole, (part,) = filled.department, filled.maps
    table = whole.phrases
    rate = np.where(
        (table.expected > 0.5) & (table.expected < 1), table.expected - 0.2, table.observed
    )
    limits = {"low": rate - 0.02, "high": rate + 0.02, "expected_error": np.zeros(len(rate))}
    found = filled.profiles
    judged = replace(
        found,
        large=replace(found.large, ratio=Interval(0.9, 0.87, 0.93)),
        shared=replace(found.shared, parts=("overcalls", "too sure")),
    )
    held = ("likely", "most likely", "consistent with", "suspicious for")
    silent = tuple(Suppressed(phrase, "probably", "forbidden", "") for phrase in held)
    charts = tuple(
        replace(each, target=0.05 if each.key == "distance" else 0.6, partial=("2025-10",))
        for each in filled.run_charts
    )
    return replace(
        filled,
        department=replace(whole, phrases=replace(table, observed=rate, **limits)),
        profiles=judged,
        maps=(
            replace(part, advice=replace(part.advice, suppressed=silent)),
            replace(part, pathology="pulmonary edema"),
        ),
        run_charts=charts,
    )


def _spilled(filled: review_content.CommitteeContent, paper: str, language: str) -> list[str]:
    """Give what page 1 of a review is to hold and does not: headings, and lines on page 2."""
    style = style_for(paper, language=language)
    drawn = committee.pages(filled, style=style)
    assert faults(drawn) == []
    assert clipped(drawn) == []
    assert tiny(drawn) == []
    due = {style.strings("decisions.title"), style.strings("run_chart.title")}
    second = min(each.y for each in drawn[1].bookmarks)
    over = [m.string for m in drawn[1].marks if isinstance(m, Text) and 40.0 < m.y < second]
    return [*(due - {each.title for each in drawn[0].bookmarks}), *over]


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("readers", [5, 12, 40, 100])
def test_page_1_of_a_review_holds_all_that_is_for_deciding(
    readers: int, paper: str, language: str
) -> None:
    filled = samples.committee(readers=readers)
    assert _spilled(filled, paper, language) == []
    assert _spilled(_crowded(filled), paper, language) == []
    assert _spilled(_overfull(filled), paper, language) == []


def _overfull(filled: review_content.CommitteeContent) -> review_content.CommitteeContent:
    """Add what a department of thirty readers had on page 1, and two lines of it on page 2."""
    crowded = _crowded(filled)
    charts = tuple(
        replace(each, withheld=tuple(f"2025-{month:02}" for month in range(1, 10)))
        for each in crowded.run_charts
    )
    later = tuple((f"2026-{month:02}", 20 * month) for month in range(1, 10))
    return replace(crowded, run_charts=charts, later=later)


def test_the_check_of_a_reviews_page_1_fails_where_it_is_not_set_closer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(committee, "CAPTION", BODY)
        assert _spilled(_overfull(samples.committee()), "Letter", "de") != []
    monkeypatch.setattr(committee, "_ONE_PAGE", (1.0,))
    monkeypatch.setattr(committee, "CAPTION", BODY)
    assert _spilled(_crowded(samples.committee()), "Letter", "de") != []


_LEFT_OUT: dict[str, dict[str, object]] = {
    "no maps": {"maps": None},
    "no months": {"run_charts": (), "coverage": None, "returned": None},
    "no tables": {"sensitivity": None, "case_mix": None, "scale_use": None, "instrument": None},
    "no profiles": {"profiles": None, "disagreement": None},
    "few flow": {"flow": (), "unscored": None, "governance": ""},
}


@pytest.mark.parametrize("left_out", _LEFT_OUT)
@pytest.mark.parametrize("readers", [6, 23])
def test_no_page_is_half_empty_where_a_run_left_something_out(readers: int, left_out: str) -> None:
    filled = replace(samples.committee(readers=readers, pathologies=9), **_LEFT_OUT[left_out])
    drawn = committee.pages(filled, style=style_for("Letter"))
    assert stranded(drawn) == []
    assert empty(drawn) == []
    assert faults(drawn) == []


def _unadvised(filled: review_content.CommitteeContent) -> review_content.CommitteeContent:
    found = filled.profiles
    nobody = tuple(replace(reader, advice=()) for reader in found.readers)
    maps = tuple(replace(m, advice=replace(m.advice, suggestions=())) for m in filled.maps)
    return replace(filled, profiles=replace(found, readers=nobody), maps=maps)


def _months_without_pairs(
    filled: review_content.CommitteeContent,
) -> review_content.CommitteeContent:
    found = []
    for each in filled.run_charts:
        level = np.where(np.arange(len(each.months)) % 2, np.nan, each.level)
        found.append(replace(each, level=level, process=process(level)))
    return replace(filled, run_charts=tuple(found))


_DEPARTMENTS = {
    "two readers": lambda: samples.committee(readers=2),
    "sixty readers": lambda: samples.committee(readers=60),
    "one finding": lambda: samples.committee(readers=9, pathologies=1),
    "no advice": lambda: _unadvised(samples.committee(readers=9, pathologies=9)),
    "months without pairs": lambda: _months_without_pairs(samples.committee(readers=9)),
}


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("kind", _DEPARTMENTS)
def test_reviews_of_unusual_departments_are_filled_whole_and_show_no_number_that_is_none(
    kind: str, language: str
) -> None:
    drawn = committee.pages(_DEPARTMENTS[kind](), style=style_for("A4", language=language))
    assert empty(drawn) == []
    assert faults(drawn) == []
    assert tiny(drawn) == []
    assert clipped(drawn) == []
    assert stranded(drawn) == []
    texts = [m.string for page in drawn for m in page.marks if isinstance(m, Text)]
    assert [text for text in texts if re.search(r"\b(nan|None|inf)\b", text)] == []


def test_the_check_itself_finds_the_pages_that_a_broken_layout_leaves_half_empty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heading = Composer.heading

    def wasteful(self: Composer, title: str, **how: object) -> None:
        self.new_page()
        heading(self, title, **how)

    monkeypatch.setattr(Composer, "heading", wasteful)
    assert len(empty(committee.pages(samples.committee(readers=12), style=Style()))) > 3
    assert len(empty(radiologist.pages(samples.simulated(0), style=Style()))) > 0


@pytest.mark.parametrize("room", range(20, 160, 4))
def test_a_small_heading_never_stands_alone_above_a_table_on_the_next_page(room: int) -> None:
    rows = tuple(Row((f"row {i}",)) for i in range(3))
    table = Table((Column("a", 1.0),), rows)
    long = Prose("why " * 120, CAPTION.muted)
    composer = Composer(Style(), None)
    above = Figure(lambda _drawing, _box: None, composer.body.height - 40.0 - room)
    compose(composer, (Section("large", (above, Subheading("small", room=0.0), table, long)),))
    assert [each for each in stranded(composer.finish()) if each.endswith("small")] == []


@pytest.mark.parametrize("room", range(20, 160, 4))
@pytest.mark.parametrize("small", [(), (Subheading("small", room=0.0),)])
def test_a_heading_and_its_note_never_stand_alone_above_a_table_on_the_next_page(
    room: int, small: tuple[Subheading, ...]
) -> None:
    table = Table((Column("a", 1.0),), tuple(Row((f"row {i}",)) for i in range(3)))
    composer = Composer(Style(), None)
    above = Figure(lambda _drawing, _box: None, composer.body.height - 40.0 - room)
    below = Section("large", (*small, table), "why " * 80, room=0.0)
    compose(composer, (Section("first", (above,)), below))
    assert [each for each in stranded(composer.finish()) if each.endswith("large")] == []


def test_the_check_itself_finds_a_planted_overlap_and_overflow() -> None:
    page = Drawing(595.28, 841.89)
    page.add(Text(60, 100, "one", "Book", 9, "#000000"), Text(62, 102, "two", "Book", 9, "#000000"))
    page.add(Text(540, 200, "far too long for the margin", "Book", 9, "#000000"))
    assert len(faults([page])) == 2


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("pathologies", [1, 24])
@pytest.mark.parametrize("n", [25, 4000])
def test_radiologist_pages_hold_any_number_of_pathologies(
    paper: str, pathologies: int, n: int
) -> None:
    filled = samples.radiologist(n=n, pathologies=pathologies, case_count=60)
    assert faults(radiologist.pages(filled, style=Style(paper=paper))) == []


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_radiologist_pages_hold_phrases_of_forty_characters(paper: str) -> None:
    filled = samples.with_long_names(samples.radiologist(n=3000))
    drawn = radiologist.pages(filled, style=Style(paper=paper))
    assert faults(drawn) == []
    assert any(
        m.string.startswith(LONG[:20]) for p in drawn for m in p.marks if isinstance(m, Text)
    )


def test_three_actions_and_all_phrases_still_leave_two_core_pages() -> None:
    filled = samples.with_three_actions()
    drawn = radiologist.pages(filled, style=Style(paper="Letter"))
    assert faults(drawn) == []
    titles = [b.title for page in drawn[:2] for b in page.bookmarks]
    assert not any(title.startswith("Appendix") for title in titles)
    assert drawn[2].bookmarks[0].title.startswith("Appendix")


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_a_reader_without_any_exam_gets_two_pages_that_say_so(paper: str) -> None:
    filled = samples.radiologist(n=0, pathologies=12, trend=(), cases=(), coverage=None)
    drawn = radiologist.pages(filled, style=Style(paper=paper))
    assert faults(drawn) == []


@pytest.mark.parametrize("readers", [1, 5, 200])
@pytest.mark.parametrize("pathologies", [1, 24])
def test_committee_pages_hold_any_number_of_readers_and_pathologies(
    readers: int, pathologies: int
) -> None:
    filled = samples.committee(readers=readers, pathologies=pathologies)
    assert faults(committee.pages(filled, style=Style())) == []


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_committee_pages_hold_phrases_of_forty_characters(paper: str) -> None:
    filled = samples.with_long_names_for_all(samples.committee(pathologies=24))
    assert faults(committee.pages(filled, style=Style(paper=paper))) == []


def test_a_department_without_any_exam_is_printed_without_overlap() -> None:
    filled = samples.committee(
        per_reader=0, readers=3, flow=(), scale_use=None, maps=None, instrument=None
    )
    assert faults(committee.pages(filled, style=Style())) == []


@pytest.mark.parametrize("rows", [3, 4, 5, 9])
def test_a_table_cut_at_a_page_end_leaves_no_row_alone(rows: int) -> None:
    table = Table((Column("a", 1.0),), tuple(Row((str(i),)) for i in range(rows)))
    for room in range(10, 200, 3):
        head, rest = table.split(200.0, float(room))
        sizes = [len(part.rows) for part in (head, rest) if part is not None]
        assert sum(sizes) == rows
        if head is not None and rest is not None:
            assert len(head.rows) >= 3
            assert len(rest.rows) >= 3


@pytest.mark.parametrize("rows", range(30, 64))
def test_a_table_that_goes_on_fills_its_page_and_its_note_stands_below_rows(rows: int) -> None:
    table = Table((Column("a", 1.0),), tuple(Row((f"row {i}",)) for i in range(rows)))
    pieces = (table, Prose("what the table means " * 60, CAPTION.muted))
    composer = Composer(Style(), samples.masthead())
    composer.new_page()
    compose(composer, (Section("Rows", pieces),))
    drawn = composer.finish()
    texts = [[m.string for m in page.marks if isinstance(m, Text)] for page in drawn]
    assert any(text.startswith("row ") for text in texts[-1])
    assert any(text.startswith("what the table") for text in texts[-1])
    left = [(page.height - 50.0) * (1.0 - _reach(page)) for page in drawn[:-1]]
    gone_on = sum(text.startswith("row ") for text in texts[-1])
    assert gone_on == 6 or not left or left[0] < 45.0


def parts(pages: list[Drawing]) -> dict[str, list[int]]:
    """Count each table's rows page by page, of those that stand on more than one."""
    found: dict[str, list[int]] = {}
    for page in pages:
        heads = {m.id: m.y for m in page.marks if isinstance(m, Text) and m.id.endswith(".0")}
        for table in {name.partition(".")[0] for name in heads if name.count(".") == 2}:
            ys = {m.id for m in page.marks if m.id.startswith(f"{table}.") and m.id in heads}
            found.setdefault(table, []).append(len(ys))
    return {table: rows for table, rows in found.items() if len(rows) > 1}


@pytest.mark.parametrize("filled", range(0, 700, 20))
def test_a_table_that_a_page_holds_is_whole_where_the_page_before_stays_filled(filled: int) -> None:
    table = Table((Column("a", 1.0),), tuple(Row((f"row {i}",)) for i in range(20)), id="rows")
    composer = Composer(Style(), None)
    above = Figure(lambda _drawing, _box: None, float(filled))
    compose(composer, (Section("first", (above,)), Section("Rows", (table,), room=0.0)))
    drawn = composer.finish()
    broken, body = parts(drawn), Style().body
    share = filled / body.height
    assert not broken or (share < 0.6 and broken["rows"] == [10, 10])
    assert len(drawn) == 1 or broken or share >= 0.5
    assert share < 0.62 or not broken


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("readers", [5, 9, 12, 15, 20, 40, 60])
def test_no_table_of_a_review_leaves_a_few_rows_for_the_next_page(
    readers: int, language: str
) -> None:
    for paper in ("A4", "Letter"):
        drawn = committee.pages(
            samples.committee(readers=readers), style=style_for(paper, language=language)
        )
        for table, rows in parts(drawn).items():
            assert min(rows[1:]) >= min(6, sum(rows) // 2), (paper, table, rows)
            assert rows[0] >= 6 or sum(rows) < 12, (paper, table, rows)


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("seed", [113, 118, 198, 218])
def test_three_cards_fit_page_1_in_either_language_on_either_paper(
    seed: int, paper: str, language: str
) -> None:
    drawn = radiologist.pages(samples.simulated(seed), style=style_for(paper, language=language))
    assert _ids(drawn[:1], "action.3")
    assert faults(drawn) == []
    assert drawn[2].bookmarks[0].title.startswith(("Appendix", "Anhang"))


def test_the_check_of_three_cards_fails_where_nothing_is_set_closer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(first, "_SMALLEST", first._SMALL)
    with pytest.raises(AssertionError):
        test_three_cards_fit_page_1_in_either_language_on_either_paper(218, "Letter", "de")


def test_the_checks_of_tables_fail_where_they_are_broken_wherever_the_page_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "FEW_ROWS", 3)
    monkeypatch.setattr(Composer, "evenly", lambda *_: False)
    with pytest.raises(AssertionError):
        test_no_table_of_a_review_leaves_a_few_rows_for_the_next_page(12, "de")
    monkeypatch.setattr(layout, "_begins_anew", lambda *_: False)
    with pytest.raises(AssertionError):
        test_a_table_that_a_page_holds_is_whole_where_the_page_before_stays_filled(540)


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_gain_on_exams_held_out_stands_whole_and_its_interval_on_one_line(language: str) -> None:
    style = style_for("A4", language=language)
    (part,) = samples.committee().maps
    (swap,) = part.advice.suggestions
    brier = replace(swap.effect.brier_difference, value=-0.0077, low=-0.0128, high=-0.0026)
    wide = replace(
        swap,
        source="highly suggestive of",
        target="may represent",
        n=1_267,
        effect=replace(swap.effect, brier_difference=brier),
    )
    maps = (replace(part, advice=replace(part.advice, suggestions=(wide,) * 3)),)
    with written(language):
        table = suggestion_table(maps, words=style.strings)
        page = Drawing(*style.size)
        table.draw(page, Box(48.0, 60.0, 499.0, table.height(499.0)))
        ends = interval(0.0026, 0.0128, 4)
    said = [m.string.replace("\u00a0", " ") for m in page.marks if isinstance(m, Text)]
    assert clipped([page]) == []
    assert sum(f"({ends})" in text for text in said) == 3


@pytest.mark.parametrize("count", range(1, 24))
def test_no_panel_stands_alone_below_others(count: int) -> None:
    part = samples.committee(pathologies=1).by_pathology[0]
    rows = panel_pieces((part,) * count, words=Style().strings)
    lengths = []
    for row in rows:
        page = Drawing(595.28, 841.89)
        row.draw(page, Box(48.0, 60.0, 499.0, row.height(499.0)))
        lengths.append(sum(m.string == part.pathology for m in page.marks if isinstance(m, Text)))
    assert sum(lengths) == count
    assert len(lengths) == -(-count // 4)
    assert max(lengths) - min(lengths) <= 1


def test_the_labels_of_a_map_are_whole_on_a_phone() -> None:
    order = ("highly suggestive of", "may represent", "unlikely")
    streams = [Stream(a, b, 0.11) for a in order for b in order[1:]]
    page = Drawing(PHONE, PHONE)
    swap_flow(page, page.frame, streams=streams, order=order, words=Style().strings)
    texts = [m for m in page.marks if isinstance(m, Text)]
    said = [m.string.rpartition(" ")[0] for m in texts[1:]]
    assert said == [*order, "", *order[1:]]
    assert all(text_box(m).x >= 0.0 and text_box(m).right <= PHONE for m in texts)


def test_a_word_of_a_map_is_bold_where_its_printed_share_changes() -> None:
    streams = [Stream("likely", "likely", 0.502), Stream("possibly", "possibly", 0.3)]
    streams += [Stream("unlikely", "possibly", 0.15), Stream("possibly", "likely", 0.001)]
    page = Drawing(400.0, 240.0)
    order = ("likely", "possibly", "unlikely")
    swap_flow(page, page.frame, streams=streams, order=order, words=Style().strings)
    texts = [m for m in page.marks if isinstance(m, Text) and m.string.startswith(order)]
    bold = {m.string.split()[0] for m in texts if m.font.endswith("Bold")}
    assert bold == {"possibly", "unlikely"}


def test_a_gate_with_a_very_long_note_does_not_leave_its_cell() -> None:
    gate = content.Gate("a" * 80, False, "b" * 300, "c " * 300, "word " * 2000)
    filled = replace(samples.stopped_run(), gates=(gate,) * 9, manifest=(("k" * 90, "v" * 5000),))
    assert faults(run_report.pages(filled, style=Style())) == []


def test_long_mastheads_are_fitted() -> None:
    long = samples.masthead(
        recipient="R-" + "W" * 40,
        institution="Institution of an unusually long name " * 6,
        banner="Confidential and privileged under every statute that could apply. " * 6,
        period="from the first of January two thousand and twenty-six to its last day",
        data_cut="exams performed to the end of the longest month of the year",
        contact="a.very.long.mailbox.name@a.very.long.hospital.domain.example",
    )
    style = Style()
    assert faults(radiologist.pages(samples.radiologist(masthead=long), style=style)) == []
    assert faults(committee.pages(samples.committee(masthead=long), style=style)) == []


@pytest.mark.parametrize("paper", ["A4", "Letter"])
@pytest.mark.parametrize("ratio", [(1, 20), (20, 1)])
def test_long_names_stand_whole_beside_the_narrowest_logo(
    paper: str, ratio: tuple[int, int]
) -> None:
    """190 letters of an institution ended inside a word, a banner inside a sentence."""
    institution = (
        "The Reverend Doctor Bartholomew Featherstonehaugh Memorial University Hospital and "
        "Regional Trauma Center, Department of Diagnostic Radiology, Division of Cardiothoracic "
        "Imaging and Care"
    )
    banner = "Confidential and privileged under every statute that could apply to this review. " * 4
    head = samples.masthead(
        institution=institution, banner=banner.strip(), recipient="Reader-" + "of-a-long-name-" * 3,
        logo=png(60 * ratio[0], 60 * ratio[1]),
    )  # fmt: skip
    assert len(institution) >= 185
    for pages in (
        radiologist.pages(samples.radiologist(masthead=head), style=style_for(paper)),
        committee.pages(samples.committee(masthead=head), style=style_for(paper)),
    ):
        assert faults(pages) == []
        for page in pages:
            for name, text in (("page.institution", institution), ("banner", banner.strip())):
                printed = [m.string for m in page.marks if isinstance(m, Text) and m.id == name]
                assert " ".join(printed) == text


@pytest.mark.parametrize("width", [110.0, 180.0, 300.0, 480.0])
def test_no_head_is_broken_inside_a_word_however_wide_its_rows(width: float) -> None:
    titles = ("Turnaround", "Signed by", "Reproducibility index", "n", "Late")
    columns = tuple(Column(title, 1.0, wraps=i == 1) for i, title in enumerate(titles))
    wide = "a cell far wider than the head above it"
    table = Table(columns, tuple(Row((wide,) * len(titles)) for _ in range(4)))
    page = Drawing(595.28, 841.89)
    table.draw(page, Box(50.0, 50.0, width, table.height(width)))
    heads = [m for m in page.marks if isinstance(m, Text) and not m.id]
    said = " ".join(mark.string for mark in heads)
    assert said == " ".join(titles)
    assert all(text_box(m).right <= 50.0 + width + SLACK for m in heads)
    boxes = [text_box(m) for m in heads]
    assert not any(_meet(_tight(a), _tight(b)) for a, b in combinations(boxes, 2))


@pytest.mark.parametrize("levels", [(0.021, 0.024, 0.022), (0.0, 0.001, 0.002), (0.1, 0.1, 0.1)])
def test_the_labels_of_a_run_chart_keep_apart_where_its_levels_meet(
    levels: tuple[float, ...],
) -> None:
    chart, *_ = samples.committee().run_charts
    mean, high, chance = levels
    low, high = (np.full(len(chart.months), level) for level in (mean, high))
    process = replace(chart.process, mean=mean, low=low, high=high)
    close = replace(chart, process=process, chance=chance, target=chance)
    page = Drawing(595.28, 841.89)
    frame = Box(60.0, 60.0, 240.0, 118.0)
    run_chart(page, frame, chart=close, words=Style().strings)
    boxes = [text_box(m) for m in page.marks if isinstance(m, Text) and m.id.startswith("level.")]
    assert len(boxes) == 4
    assert not any(_meet(_tight(a), _tight(b)) for a, b in combinations(boxes, 2))
    assert all(frame.y <= box.y and box.bottom <= frame.bottom for box in boxes)
    months = [m for m in page.marks if isinstance(m, Text) and m.string in chart.months]
    (zero,) = [m for m in page.marks if isinstance(m, Text) and m.string.strip("\u00a0% ") == "0"]
    assert months
    assert all(text_box(m).y >= zero.y + 3.0 for m in months)  # none touches the 0 above it
