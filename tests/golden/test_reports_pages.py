"""Words and drawn values of the pages: what must be there, what must never be."""

from __future__ import annotations

import colorsys
import io
import re
from dataclasses import replace

import numpy as np
import pypdf
import pytest

from calibration.estimate import Estimate
from calibration.phrase_calibration import PhraseCalibration
from calibration.profile import Aside, Habit, Interval, ReaderProfile
from calibration.result import GroupResult
from pipeline.pages.small_cells import without
from reports import content, review_content
from reports.disclosure import guard_committee, guard_radiologist
from reports.drawing.layout import Figure
from reports.drawing.marks import Disc, Drawing, Line, Polygon, Text
from reports.drawing.pdf import published
from reports.drawing.style import BODY, Style, palette, style_for
from reports.drawing.typeset import put, width_of
from reports.figures.phrase_rows import PhraseRow, RowState, profile_rows, rated_row
from reports.marked import swaps_in_order
from reports.numbers import percent
from reports.pages import committee, radiologist, run_report
from reports.pages.committee.sections import department, exams
from reports.pages.radiologist import later
from reports.pages.radiologist.card import Card
from reports.pages.radiologist.chart import PhraseChart, picture_rows
from reports.pages.radiologist.first import picture_shows
from reports.pages.radiologist.later import how_to_read
from reports.pages.radiologist.trend import trend
from reports.strings import Strings
from reports.swaps import kept_swaps
from reports.verdict import in_words
from tests.fixtures.reports import sample_contents as samples

STYLE = Style()
FORBIDDEN = re.compile(
    r"\b(rank(s|ed|ing|ings)?|league|percentile rank|error rate|best reader|worst|top \d+|"
    r"bottom \d+|composite|grade[ds]?|scorecard|overall score|failing|poor(ly)? perform\w*)\b",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def reader() -> content.RadiologistContent:
    return samples.radiologist(n=900, shift={"likely": -0.35, "possibly": 0.3})


@pytest.fixture(scope="module")
def review() -> review_content.CommitteeContent:
    return samples.committee()


def text_of(pdf: bytes) -> list[str]:
    return [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(pdf)).pages]


def strings(pages: list[Drawing]) -> list[str]:
    return [m.string for page in pages for m in page.marks if isinstance(m, Text)]


def by_id(pages: list[Drawing]) -> dict[str, object]:
    return {m.id: m for page in pages for m in page.marks if m.id}


def all_documents() -> list[list[Drawing]]:
    return [
        radiologist.pages(samples.radiologist(), style=STYLE),
        radiologist.pages(samples.with_three_actions(), style=STYLE),
        radiologist.pages(samples.radiologist(n=0, trend=None, cases=None), style=STYLE),
        committee.pages(samples.committee(), style=STYLE),
        committee.pages(samples.committee(per_reader=0, readers=2), style=STYLE),
        run_report.pages(samples.stopped_run(), style=STYLE),
    ]


def test_no_page_carries_a_word_of_the_must_not_list() -> None:
    for document in all_documents():
        for string in strings(document):
            assert not FORBIDDEN.search(string), string


def test_no_catalogue_sentence_carries_a_word_of_the_must_not_list() -> None:
    found = {k: s for k, s in STYLE.strings.sentences.items() if FORBIDDEN.search(s)}
    assert found == {}


def test_no_mark_is_red_or_green() -> None:
    inks = set()
    for document in all_documents():
        for page in document:
            for mark in page.marks:
                inks |= {getattr(mark, name, None) for name in ("colour", "fill", "stroke")}
    for ink in inks - {None}:
        red, green, blue = (int(ink[i : i + 2], 16) / 255 for i in (1, 3, 5))
        hue, _, saturation = colorsys.rgb_to_hls(red, green, blue)
        degrees = 360 * hue
        assert saturation < 0.25 or 20 < degrees < 70 or 180 < degrees < 300, ink


def test_own_department_and_band_differ_in_lightness_so_that_grey_copies_work() -> None:
    def light(ink: str) -> float:
        red, green, blue = (int(ink[i : i + 2], 16) / 255 for i in (1, 3, 5))
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    steps = [light(ink) for ink in (palette.own, palette.department, palette.band)]
    assert steps[1] - steps[0] > 0.2
    assert steps[2] - steps[1] > 0.2


def test_every_page_carries_banner_reader_period_cut_version_hash_and_page_number(
    reader: content.RadiologistContent,
) -> None:
    pages = text_of(radiologist.build_both(reader, style=STYLE)[0])
    head = reader.masthead
    for number, text in enumerate(pages, start=1):
        for needed in (
            head.banner[:40],
            head.recipient,
            head.period,
            head.data_cut,
            f"radcal {head.version}",
            head.config_hash,
            f"Page {number} of {len(pages)}",
        ):
            assert needed in text, (number, needed)


def test_a_demonstration_is_stamped_on_every_page() -> None:
    filled = samples.radiologist(masthead=replace(samples.masthead(), demonstration=True))
    for page in radiologist.pages(filled, style=STYLE):
        assert any("simulated" in s for s in strings([page]))


@pytest.mark.parametrize(
    ("language", "title", "rule", "sentence"),
    [
        ("en", "What to try", "In general:", "No swap for “"),
        ("de", "Was Sie versuchen können", "Allgemein:", "Keine Ersetzung für „"),
    ],
)
def test_a_page_without_a_swap_gives_the_rule_and_says_why_under_what_to_try(
    reader: content.RadiologistContent, language: str, title: str, rule: str, sentence: str
) -> None:
    profile = reader.profile
    assert isinstance(profile, ReaderProfile)
    assert profile.pattern.verdict.state == "pattern"
    bare = replace(reader, profile=replace(profile, advice=()), action_cases=())
    drawn = radiologist.pages(bare, style=style_for("A4", language=language))
    printed = " ".join(strings(drawn[:1]))
    places = [printed.index(text) for text in (title, rule, sentence)]
    assert places == sorted(places)


def test_text_comes_out_in_reading_order(reader: content.RadiologistContent) -> None:
    first = text_of(radiologist.build_both(reader, style=STYLE)[0])[
        0
    ]  # no swap: nothing but the rule
    order = [
        "CONFIDENTIAL",
        "Your words and what CT showed",
        "Your hedges",
        "What to try",
        "your words say",
        "Each phrase you used",
        "likely",
        "where four in five peers place it",
        "Northfield General Hospital",
    ]
    places = [first.index(needle) for needle in order[:3]]
    for needle in order[3:]:
        places.append(first.index(needle, places[-1]))
    assert places == sorted(places)


def test_the_same_content_gives_the_same_bytes(
    reader: content.RadiologistContent, review: review_content.CommitteeContent
) -> None:
    both = radiologist.build_both(reader, style=STYLE)
    assert both == radiologist.build_both(reader, style=STYLE)
    first, again = (committee.build_both(review, style=STYLE) for _ in range(2))
    assert first == again


def test_documents_have_title_language_outline_and_embedded_fonts(
    review: review_content.CommitteeContent,
) -> None:
    reader = pypdf.PdfReader(io.BytesIO(committee.build_both(review, style=STYLE)[0]))
    assert reader.metadata is not None
    assert reader.metadata.title == "Certainty wording in chest X-ray reports"
    assert reader.trailer["/Root"]["/Lang"] == "en-GB"
    assert len(reader.outline) >= 9
    fonts = {
        font.get_object()["/BaseFont"]
        for page in reader.pages
        for font in page["/Resources"]["/Font"].values()
    }
    assert fonts
    assert all("DejaVuSansCondensed" in str(name) for name in fonts), fonts


def test_a_disc_stands_where_its_number_says(reader: content.RadiologistContent) -> None:
    pages = radiologist.pages(reader, style=STYLE)
    profile = guard_radiologist(reader).profile
    assert isinstance(profile, ReaderProfile)
    chart = next(p for p in pages if any(b.title.startswith("Each phrase") for b in p.bookmarks))
    ticks = {m.string: m.x for m in chart.marks if isinstance(m, Text) and m.anchor == "middle"}
    zero, whole = ticks["0\u00a0%"], ticks["100\u00a0%"]
    drawn = by_id([chart])
    shown = [p for p in profile.phrases if p.n >= reader.minimum_n]
    assert len(shown) >= 5
    for phrase in shown:
        disc = drawn[f"observed.{phrase.phrase}"]
        assert isinstance(disc, Disc)
        assert (disc.x - zero) / (whole - zero) == pytest.approx(phrase.rate.value, abs=1e-8)
        size = drawn[f"n.{phrase.phrase}"]
        assert isinstance(size, Text)
        assert size.string == f"{phrase.n:,.0f}"
        tick = drawn[f"expected.{phrase.phrase}"]
        assert isinstance(tick, Line)
        assert (tick.x1 - zero) / (whole - zero) == pytest.approx(phrase.meaning)


def test_a_line_of_the_picture_joins_what_the_word_says_to_what_ct_showed(
    reader: content.RadiologistContent,
) -> None:
    # The picture's axes run from 0 at the foot to 1 at the top: two lines give the scale.
    profile = guard_radiologist(reader).profile
    assert isinstance(profile, ReaderProfile)
    drawn = by_id(radiologist.pages(reader, style=STYLE)[:1])
    lines = [
        (p, drawn[f"ladder.{p.phrase}"]) for p in profile.phrases if f"ladder.{p.phrase}" in drawn
    ]
    assert len(lines) >= 5
    (p, first), (q, second) = lines[:2]
    per_share = (second.y1 - first.y1) / (q.meaning - p.meaning)
    assert per_share < 0
    for phrase, line in lines:
        assert line.y2 - line.y1 == pytest.approx(per_share * (phrase.rate.value - phrase.meaning))


def test_rows_say_more_or_less_exactly_where_the_page_speaks_of_them(
    reader: content.RadiologistContent,
) -> None:
    profile = reader.profile
    assert isinstance(profile, ReaderProfile)
    pages = radiologist.pages(reader, style=STYLE)
    said = {
        m.id.removeprefix("side."): m.string
        for page in pages
        for m in page.marks
        if isinstance(m, Text) and m.id.startswith("side.")
    }
    swapped = {s.phrase for s in kept_swaps(profile) if not s.finding and s.n >= reader.minimum_n}
    assert swapped <= set(said)
    for phrase in profile.phrases:
        if phrase.phrase in said:
            more = phrase.rate.value > phrase.meaning
            assert said[phrase.phrase] == ("more" if more else "less")


def test_an_action_shows_its_own_cases_in_their_order_under_what_ct_speaks_for() -> None:
    filled = samples.with_three_actions()
    drawn = radiologist.pages(filled, style=STYLE)
    held = {(own.phrase, own.finding): own for own in filled.action_cases}
    for number, swap in enumerate(swaps_in_order(filled.profile), start=1):
        own = held[swap.phrase, swap.finding]
        printed = [
            m.string
            for page in drawn
            for m in page.marks
            if isinstance(m, Text) and m.id.startswith(f"action.{number}.case.")
        ]
        assert len(own.cases) == 5
        assert len(printed) in (3, 5)
        few = own.cases if len(printed) == 5 else (*own.cases[:2], own.cases[3])
        assert {case.showed for case in few} == {True, False}
        for line, case in zip(printed, few, strict=True):
            assert case.xray_code in line
            assert f"CT: {case.ct_phrase}" in line


def _example_of(*cases: tuple[str, bool | None], apart: tuple[str, ...] = ()) -> str:
    """Give the sentence of a card whose cases are in these findings, seen on CT or not."""
    filled = samples.with_three_actions()
    action = in_words(filled.profile, words=STYLE.strings).actions[0]
    swap = replace(action.swap, phrase="likely", finding=None, instead="may represent",
                   meaning=0.77, instead_meaning=0.44)  # fmt: skip
    action = replace(action, swap=swap, instead="may represent", apart=apart)
    (case, *_) = filled.cases
    own = tuple(replace(case, pathology=name, showed=showed) for name, showed in cases)
    return Card(action, own, 1, "R-7Q2F", STYLE.strings, 500.0)._example


def test_an_example_is_of_a_finding_whose_cases_carry_the_advice_and_none_speaks_against_it() -> (
    None
):
    """A card's sentence was about a finding that its own case showed on CT, two lines below."""
    cases = [("fracture", False), ("effusion", False), ("effusion", False), ("fracture", True)]
    said = "Likely {0}. → Findings may represent {0}."
    assert _example_of(*cases) == said.format("effusion")
    assert _example_of(*cases[:1], ("emphysema", True)) == said.format("fracture")
    assert _example_of(("nodule", False), *cases, apart=("effusion",)) == said.format("nodule")
    assert _example_of(("fracture", False), ("fracture", True)) == ""
    assert _example_of(("fracture", False), ("fracture", None)) == ""


def test_no_number_below_the_minimum_is_drawn_and_too_few_is_printed() -> None:
    filled = samples.radiologist(n=250, minimum_n=40)
    profile = filled.profile
    assert isinstance(profile, ReaderProfile)
    pages = radiologist.pages(filled, style=STYLE)
    drawn = by_id(pages)
    few = [p.phrase for p in profile.phrases if p.n < 40]
    assert few
    for phrase in few:
        assert f"observed.{phrase}" not in drawn
        assert f"ladder.{phrase}" not in drawn
        assert f"n.{phrase}" not in drawn
    counted = filled.overall.phrases
    seldom = [p for p, n in zip(counted.phrases, counted.n, strict=True) if 0 < n < 40]
    line = next(s for s in strings(pages) if s.startswith("Too few (n < 40):"))
    assert seldom
    assert seldom[0] in line


def test_a_quarter_that_the_exports_do_not_cover_is_named_in_part_and_not_too_few(
    reader: content.RadiologistContent,
) -> None:
    whole, last = (reader.trend or ())[-2:]
    few = replace(last, n=0, gap=content.SuppressedCell(20), partial=True)

    def shown(*points: content.TrendPoint) -> list[str]:
        return strings(radiologist.pages(replace(reader, trend=points), style=STYLE))

    def said(*points: content.TrendPoint) -> str:
        return " ".join(shown(*points)).replace("\u00a0", " ")

    text = said(whole, few)
    assert f"{last.period} (in part)." in text
    assert "too few" not in text
    assert "In part: not all of that quarter is in this issue's months, or in" in text
    assert f"{whole.period} (in part): " in said(replace(whole, partial=True), last)
    plain = said(whole, replace(few, partial=False))
    assert "in part" not in plain
    assert f"{last.period}: too few." in plain


def test_a_trend_says_in_words_whether_the_distance_changed_by_more_than_chance(
    reader: content.RadiologistContent,
) -> None:
    first, last = (reader.trend or ())[-2:]
    assert isinstance(first.gap, Estimate)

    def said(low: float, high: float, *, partial: bool = False) -> str:
        # The sample's value is biased by chance; the interval is of what is left without.
        middle = (low + high) / 2
        gap = replace(first.gap, value=middle + 0.1, corrected=middle, low=low, high=high)
        before = replace(first, gap=replace(gap, value=0.2, corrected=0.1, low=0.08, high=0.12))
        trend = (before, replace(last, gap=gap, partial=partial))
        drawn = strings(radiologist.pages(replace(reader, trend=trend), style=STYLE))
        return " ".join(drawn).replace("\u00a0", " ")

    between = f"From {first.period} to {last.period} the distance between your words and CT"
    assert f"{between} grew by more than chance explains." in said(0.18, 0.22)
    assert f"{between} fell by more than chance explains." in said(0.01, 0.03)
    for near in ((0.11, 0.2), (0.12, 0.2), (0.01, 0.07)):  # several quarters are compared
        assert "between your words and CT is shown." in said(*near)
    # A distance of 4 to 5 points was told that 9 points would go unseen: no fall can be seen there.
    small = said(0.0, 0.22)
    assert "would mostly go unseen, even a fall to 0." in small
    # "Your distance is so small" stood beside words 17 points off: few statements are the cause,
    # and the distance is of "present" and "absent" too.
    assert "With so few statements a quarter, one of less than about 16 points would" in small
    assert "Mean distance of all statements, “present” and “absent” too" in small
    # 1.25 · (.02 + .045): a smaller one is seen in fewer than half of cases.
    assert "less than about 8.1 points would mostly go unseen" in said(0.11, 0.2)
    assert "With fewer than two whole quarters nothing" in said(0.13, 0.2, partial=True)
    assert f"{last.period}: 16 (13 to 20). Mean distance" in said(0.13, 0.2)
    assert "may be chance alone" in said(0.0, 0.07)
    assert "may be chance alone" not in said(0.01, 0.07)
    assert "chance alone up to" not in said(0.13, 0.2)


def test_page_1_names_a_discouraged_word_that_lies_nearer_than_the_recommended_one() -> None:
    """Of the page's own scale: that it is told was the committee's alone."""
    drawn = radiologist.pages(samples.simulated(218), style=STYLE)[:1]
    text = " ".join(strings(drawn)).replace("\u00a0", " ")
    assert "Nearer, but discouraged here: “suggestive of” (62 %)." in text


def test_what_is_estimated_in_the_appendix_is_what_page_1_draws(
    reader: content.RadiologistContent,
) -> None:
    """It was 96 % for "present" on page 1, and at 4 % among the numbers."""
    assert isinstance(reader.overall, GroupResult)
    assert isinstance(reader.profile, ReaderProfile)
    words = STYLE.strings
    table = later.number_table(PhraseChart.of(reader, words), reader.overall)
    estimated = {row.cells[0]: row.cells[4] for row in table.rows}
    drawn = profile_rows(
        reader.profile, table=reader.overall.phrases, words=words, minimum_n=reader.minimum_n
    )
    seen = 0
    for row in drawn:
        for phrase in row.certain or (row.phrase,):
            if phrase in estimated:
                assert estimated[phrase] == percent(row.observed), phrase
                seen += phrase in {"absent", "present"}
    assert seen == 2
    (both,) = [row for row in drawn if row.certain == reader.profile.present.phrases]
    text = " ".join(strings(radiologist.pages(reader, style=STYLE)))
    together = f"There the row “{both.phrase}” takes these words together (n = {both.n})"
    assert (together in text) == (len(both.certain) > 1)
    pooled = replace(reader.profile.present, phrases=("diagnostic of", "present"))
    named = replace(reader, profile=replace(reader.profile, present=pooled))
    text = " ".join(strings(radiologist.pages(named, style=STYLE)))
    assert "There the row “diagnostic of, present” takes these words together" in text
    assert (
        "the count may lie outside the interval there" in text
    )  # 48 of 67 stood beside 54 to 71 %


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("state", ["no rise", "no standard", "aside", "none"])
def test_figures_that_count_what_page_1_reads_nothing_from_say_so(
    reader: content.RadiologistContent, state: str, language: str
) -> None:
    """The curve stood without a remark below "whether your words are right cannot be told"."""
    profile, words = reader.profile, Strings.load(language=language)
    assert isinstance(profile, ReaderProfile)
    kinds = {"no rise": {"state": "no rise"}, "no standard": {"untold": "no standard"}}
    verdict = replace(profile.pattern.verdict, state="too few", parts=(), question=False)
    verdict = replace(verdict, **kinds.get(state, {}))
    finding = None if state == "no rise" else "pneumonia"
    aside = Aside(finding, "falls", 90.0, profile.pattern.slope, profile.sides, "open")
    judged = replace(
        profile, pattern=replace(profile.pattern, verdict=verdict), advice=(), habits=(), rest=(),
        aside=(aside,) if state in {"no rise", "aside"} else (),
    )  # fmt: skip
    drawn = radiologist.pages(
        replace(reader, profile=judged, action_cases=()), style=Style(strings=words)
    )
    said = " ".join(" ".join(strings([page])) for page in drawn)
    keys = ("no_rise", "no_standard", "aside")
    marks = {key: words(f"radiologist.remark_{key}", findings="").split("**")[1] for key in keys}
    marks["aside"] = marks["aside"].rstrip(" ,:") + " " + words.name("pneumonia")
    # Beside the curve and below the numbers; no finding of this reader's has a panel.
    counts = {key: said.count(mark) for key, mark in marks.items()}
    assert counts == {key: 2 * (key == state.replace(" ", "_")) for key in keys}


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "You answered 7 cases; left out of the figures since, as you asked: 1 case."),
     ("de", "7 Fälle; davon auf Ihren Wunsch seither nicht mehr gewertet: 1")],
)  # fmt: skip
def test_what_became_of_answers_is_a_sentence_of_one_case_and_of_several(
    reader: content.RadiologistContent, language: str, said: str
) -> None:
    """It read "4 cases of these are left out"."""
    back = replace(reader, returned=content.Returned(concordant=6, wrong_pair=1))
    drawn = radiologist.pages(back, style=Style(strings=Strings.load(language=language)))
    assert said in " ".join(" ".join(strings([page])) for page in drawn)


def test_a_trend_tells_a_fall_before_the_rise_and_one_that_goes_on_once(
    reader: content.RadiologistContent,
) -> None:
    point = (reader.trend or ())[0]
    assert isinstance(point.gap, Estimate)

    def said(*values: float) -> str:
        points = tuple(
            replace(
                point, period=f"Q{i}", partial=False,
                gap=replace(
                    point.gap, value=each, corrected=each, low=each - 0.01, high=each + 0.01
                ),
            )
            for i, each in enumerate(values, start=1)
        )  # fmt: skip
        return " ".join(strings(radiologist.pages(replace(reader, trend=points), style=STYLE)))

    told = r"From (Q\d) to (Q\d) the distance between your words and CT (\w+) by more than"
    assert re.findall(told, said(0.1, 0.05, 0.05, 0.1)) == [
        ("Q1", "Q2", "fell"),
        ("Q2", "Q4", "grew"),
    ]
    assert re.findall(told, said(0.1, 0.07, 0.04, 0.05)) == [("Q1", "Q3", "fell")]


def test_an_unused_phrase_is_named_as_not_used_and_never_as_0_per_cent(
    reader: content.RadiologistContent,
) -> None:
    pages = radiologist.pages(reader, style=STYLE)
    rows = {}
    for m in (m for page in pages for m in page.marks if isinstance(m, Text)):
        if m.id.startswith("numbers."):
            _, row, column = m.id.split(".")
            rows.setdefault(row, {})[column] = m.string
    assert "maybe" not in [cells["0"] for cells in rows.values()]
    assert all(int(cells["1"].replace(",", "")) >= reader.minimum_n for cells in rows.values())
    assert any(re.match(r"Not used in this period: .*\bmaybe\b", each) for each in strings(pages))


def test_hedges_without_a_meaning_are_named_with_their_counts_and_why() -> None:
    hedges = (content.Unscored("versus", 320), content.Unscored("cannot exclude", 487))
    pages = radiologist.pages(replace(samples.radiologist(), unscored=hedges), style=STYLE)
    said = " ".join(strings(pages[:2]))
    assert "not scored, because no survey says what peers take them to mean:" in said
    assert "“versus” (322)" in said
    assert "“cannot exclude” (487)" in said


@pytest.mark.parametrize("language", ["en", "de"])
def test_sure_words_without_a_row_are_named_and_why(
    reader: content.RadiologistContent, language: str
) -> None:
    """Of 5,400 statements the 3,400 "present" and "absent" stood nowhere on two core pages."""
    profile, words = reader.profile, Strings.load(language=language)
    assert isinstance(profile, ReaderProfile)
    unknown = Interval(float("nan"), float("nan"), float("nan"))
    bare = replace(
        profile, present=replace(profile.present, rate=unknown),
        absent=replace(profile.absent, rate=unknown),
    )  # fmt: skip
    start, end = words("radiologist.undrawn", phrases="|").split("|")

    def named(judged: ReaderProfile) -> list[str]:
        pages = radiologist.pages(replace(reader, profile=judged), style=Style(strings=words))
        said = " ".join(strings(pages[:2]))
        return said.partition(start)[2].partition(end)[0].split(", ")

    assert {"present", "absent"} <= {*named(bare)}
    assert named(profile) == [""]


def test_the_picture_says_which_words_it_shows() -> None:
    """Where nothing was marked it showed "those marked or with a card first"."""
    row = PhraseRow("likely", RowState.SHOWN, 40, 0.7, 0.6, 0.8, 0.77)
    few, many = replace(row, n=30), replace(row, n=90)
    assert picture_shows((row, many, few), 2, STYLE.strings) == ", 2 of 3: the most used"
    assert "those marked or with a card first" in picture_shows((row, few, many), 2, STYLE.strings)


def test_a_word_written_in_one_finding_alone_is_one_line_of_the_picture(
    reader: content.RadiologistContent,
) -> None:
    profile = reader.profile
    assert isinstance(profile, ReaderProfile)
    verdict = replace(profile.pattern.verdict, state="none", parts=(), stated=(), question=False)
    judged = replace(profile, pattern=replace(profile.pattern, verdict=verdict), rest=(), advice=())
    own = profile.phrases[0]
    rate = Interval(own.meaning / 2, own.meaning / 2 - 0.05, own.meaning / 2 + 0.05)
    cell = (own.phrase, "pneumonia", 60.0, rate.value, rate, own.meaning, own.meaning, 0.99)
    for n in (60, 120):
        word = replace(own, n=float(n), rate=rate, besides=())
        told = replace(judged, phrases=(word, *profile.phrases[1:]), habits=(Habit(*cell),))
        rows = [rated_row(each, STYLE.strings) for each in told.phrases]
        lines = [r for r in picture_rows(rows, told, STYLE.strings) if r.phrase == own.phrase]
        assert len(lines) == n // 60


def test_core_pages_of_a_reader_need_no_statistician() -> None:
    jargon = re.compile(
        r"resampl|bootstrap|square.root|\bnats?\b|posterior|\blogit|shrunk|simultaneous|quantile",
        re.IGNORECASE,
    )
    assert jargon.search("resampled data, in nats")
    for seed in range(20):
        for page in radiologist.pages(samples.simulated(seed), style=STYLE)[:2]:
            assert [s for s in strings([page]) if jargon.search(s)] == [], seed


def test_a_tick_is_explained_where_it_is_drawn_and_nowhere_else(
    reader: content.RadiologistContent,
) -> None:
    assert isinstance(reader.profile, ReaderProfile)
    gone = Interval(float("nan"), float("nan"), float("nan"))
    alone = {"present": reader.profile.present, "absent": reader.profile.absent}
    none = {name: replace(atom, rate=gone) for name, atom in alone.items()}
    by_himself = replace(reader, profile=replace(reader.profile, **none))
    for filled, drawn in ((reader, True), (by_himself, False)):
        text = " ".join(strings(radiologist.pages(filled, style=STYLE)))
        assert ("the tick is what the department's rates give" in text) is drawn
        assert ("sets them against the department's rates" in text) is drawn


def test_fewer_than_five_readers_leave_no_department_line_and_say_so() -> None:
    with_line = radiologist.pages(samples.radiologist(), style=STYLE)
    alone = radiologist.pages(samples.radiologist(department=False), style=STYLE)

    def bars(pages: list[Drawing]) -> int:
        return sum(
            isinstance(m, Polygon) and m.fill == palette.department for p in pages for m in p.marks
        )

    assert bars(with_line) > 5
    assert bars(alone) == 0
    assert "Department: not shown: fewer than 5 readers, or mostly one's." in strings(alone)
    said = " ".join(strings(alone))
    for claimed in (
        "its shift, slope and counts",
        "for orientation",
        "Ochre",
        "and department leave",
    ):
        assert claimed not in said


def test_no_sign_is_explained_that_no_row_bears() -> None:
    filled = guard_radiologist(samples.radiologist())
    assert any("triangle" in text for text in how_to_read(PhraseChart.of(filled, STYLE.strings)))
    assert isinstance(filled.department, PhraseCalibration)
    blank = without(filled.department, filled.department.phrases)
    hidden = replace(filled, department=blank)
    assert not any(
        "triangle" in text for text in how_to_read(PhraseChart.of(hidden, STYLE.strings))
    )


def test_a_page_without_a_chart_explains_no_sign() -> None:
    """Disc, tick and band were explained to a reader of whom nothing is drawn."""
    filled = guard_radiologist(samples.radiologist(n=0))
    assert how_to_read(PhraseChart.of(filled, STYLE.strings)) == ()
    said = " ".join(strings(radiologist.pages(filled, style=STYLE)))
    assert "How to read this" not in said
    assert "What this is not" in said


def test_a_reader_whose_every_word_is_too_rare_gets_no_empty_chart_and_its_words_by_name() -> None:
    """Axis, signs and a rule for marked rows stood there without a row."""
    filled = samples.radiologist()
    rare = filled.overall.phrases
    table = replace(rare, n=np.where(rare.n > 0, 5.0, 0.0))
    few = replace(filled, overall=replace(filled.overall, phrases=table), profile=None)
    said = " ".join(strings(radiologist.pages(few, style=STYLE)))
    assert "Each phrase you used" in said
    for sign in ("One rule", "their mean", "where four in five peers place it"):
        assert sign not in said
    assert "Too few (n < 20): " in said
    assert how_to_read(PhraseChart.of(guard_radiologist(few), STYLE.strings)) == ()


def test_what_a_review_says_of_its_exams_stands_below_the_diagram_on_its_page(
    review: review_content.CommitteeContent,
) -> None:
    """What was not scored stood alone at the top of the next page."""
    opened = guard_committee(replace(review, unscored=(content.Unscored("versus", 41),)))
    (figure,) = exams(opened, STYLE.strings).pieces
    assert isinstance(figure, Figure)
    assert "“versus” (42)" in figure.caption


def test_what_a_review_names_as_not_used_stands_below_the_chart_on_its_page(
    review: review_content.CommitteeContent,
) -> None:
    """The line stood alone at the top of the next page."""
    (section,) = department(guard_committee(review), STYLE.strings)
    (chart,) = section.pieces
    assert isinstance(chart, Figure)
    assert ". Not used in this period: " in chart.caption


def test_lines_that_end_at_one_edge_end_there_in_the_pdf_too() -> None:
    """The space that parts two lines for who reads aloud moved the upper one to the left."""
    page = Drawing(200.0, 100.0)
    with page.tag("P"):
        for y, text in ((20.0, "95 % interval"), (30.0, "interval")):
            put(page, (150.0, y), text, BODY, anchor="end")
    pdf = published("committee", [page], samples.masthead(), STYLE.strings)
    ends = []

    def seen(text: str, _: object, at: list[float], *__: object) -> None:
        if text.strip():
            ends.append(at[4] + width_of(text.strip(), BODY))

    pypdf.PdfReader(io.BytesIO(pdf)).pages[0].extract_text(visitor_text=seen)
    assert ends == pytest.approx([150.0, 150.0], abs=0.1)


def test_a_review_of_four_readers_names_none_of_them() -> None:
    filled = samples.committee(readers=4)
    text = " ".join(strings(committee.pages(filled, style=STYLE)))
    assert all(row.code not in text for row in filled.readers)
    assert "fewer than 5 readers" in text


def test_readers_stand_in_code_order_and_never_by_value(
    review: review_content.CommitteeContent,
) -> None:
    codes = [
        m.string
        for page in committee.pages(review, style=STYLE)
        for m in page.marks
        if isinstance(m, Text) and re.fullmatch(r"readers\.\d+\.0", m.id)
    ]
    assert codes == sorted(codes)
    assert len(codes) == 12


def test_a_reader_below_the_reliability_limit_is_listed_without_figures() -> None:
    filled = samples.committee()
    weak = replace(filled.readers[0], reliability=0.4)
    pages = committee.pages(replace(filled, readers=(weak, *filled.readers[1:])), style=STYLE)
    cells = [
        m for p in pages for m in p.marks if isinstance(m, Text) and m.id.startswith("readers.")
    ]
    row = next(m.id.split(".")[1] for m in cells if m.string == weak.code)
    printed = [m.string for m in cells if m.id.split(".")[1] == row]
    assert printed[-1] == "not reportable"
    assert printed[3:5] == ["–", "–"]


def test_signals_are_called_signals_for_review_and_hypotheses_are_counted(
    review: review_content.CommitteeContent,
) -> None:
    text = " ".join(strings(committee.pages(review, style=STYLE)))
    assert "signal for review" in text
    assert "fewer than 1 is expected to be false" in text
    assert "11 readers were tested" in text


def test_what_was_not_computed_says_so_and_prints_no_zero() -> None:
    filled = samples.committee(
        sensitivity=None,
        scale_use=None,
        maps=None,
        instrument=None,
        profiles=None,
    )
    words = strings(committee.pages(filled, style=STYLE))
    assert words.count("not computed in this run") == 5


@pytest.mark.parametrize("language", ["en", "de"])
def test_of_too_few_statements_a_page_speaks_of_no_word_and_no_rate_that_it_does_not_show(
    language: str,
) -> None:
    """All 19 X-rays had a CT, and the page said that too few had one."""
    few = samples.radiologist(n=19)
    drawn = radiologist.pages(few, style=style_for("A4", language=language))
    text, words = " ".join(strings(drawn)), style_for("A4", language=language).strings
    assert len(drawn) == 1
    assert words("headline.too_few").split(",")[0] in text
    assert words("radiologist.cases_among")[2:] not in text
    assert words("not.case_mix").partition(";")[2].split(".")[0] not in text
    full = " ".join(strings(radiologist.pages(samples.radiologist(), style=Style())))
    assert "those named at the start are among them" in full


def test_a_trend_without_a_quarter_of_enough_statements_explains_no_figures() -> None:
    reader = samples.radiologist()
    assert reader.trend
    few = tuple(replace(point, n=0, gap=content.SuppressedCell(20)) for point in reader.trend)
    said = trend(replace(reader, trend=few), STYLE.strings)
    assert said == (STYLE.strings("trend.short"),)


def test_words_that_a_ct_follows_more_or_less_often_than_chance_allows_are_named_early(
    review: review_content.CommitteeContent,
) -> None:
    written = (
        review_content.Written("likely", 1_203, 0.21),
        review_content.Written("may represent", 911, 0.08),
        review_content.Written("possibly", content.SuppressedCell(5, "readers"), float("nan")),
    )
    drawn = committee.pages(replace(review, written=written), style=STYLE)
    first = " ".join(strings(drawn[:2]))
    assert "most often with “likely” (21\u00a0%), least often with “may represent”" in first
    nearly_all = (replace(written[0], paired=1.0), replace(written[1], paired=0.998))
    for alike in ((written[0], replace(written[1], paired=0.2)), nearly_all):
        first = " ".join(strings(committee.pages(replace(review, written=alike), style=STYLE)[:2]))
        assert "most often" not in first
        assert "least often" not in first
    later = strings(drawn)
    assert "1,202" in later  # counts are the middle of their five
    assert "Not shown: fewer than 5 readers, or mostly one's." in " ".join(later)


def test_a_failed_gate_is_named_before_those_that_passed() -> None:
    text = " ".join(text_of(run_report.build(samples.stopped_run(), style=STYLE)))
    assert text.index("Leak scan") < text.index("Accounting")
    assert "NOT PASSED" in text
    assert "NOT EVALUATED" in text
    assert "Nothing was delivered" in text


def test_core_pages_are_two_and_appendices_follow(reader: content.RadiologistContent) -> None:
    pages = radiologist.pages(reader, style=STYLE)
    first = [min((b.level for b in page.bookmarks), default=None) for page in pages]
    assert pages[2].bookmarks[0].title.startswith("Appendix")
    assert first[0] == 0
    assert not any(b.title.startswith("Appendix") for page in pages[:2] for b in page.bookmarks)


def test_who_sees_what_and_what_for_stands_at_the_head_of_page_2() -> None:
    said = "It is not used for credentialing, pay or discipline."
    style = style_for("A4")
    drawn = radiologist.pages(samples.radiologist(use=said), style=style)[1]
    words = " ".join(m.string for m in drawn.marks if isinstance(m, Text) and m.y < 110.0)
    plain = words.replace("\u00a0", " ")
    for part in (
        "Who sees what:",
        said,
        "its first sentence and first swap, in code order",
        "not yet audited here",
    ):
        assert part in plain
    accuracy = content.InstrumentFigure(
        "extraction accuracy", Estimate(0.94, 0.92, 0.96, 600, "Wilson")
    )
    recall = content.InstrumentFigure("de-identification recall", accuracy.estimate)
    for figures, unaudited in (((accuracy,), 0), ((recall, accuracy), 0), ((recall,), 1)):
        measured = samples.radiologist(use=said, instrument=content.Instrument("rules", figures))
        drawn = radiologist.pages(measured, style=style)[1]
        words = " ".join(m.string for m in drawn.marks if isinstance(m, Text) and m.y < 110.0)
        assert words.count("audited") == unaudited


def test_a_label_of_the_picture_is_led_to_its_dot() -> None:
    """A label moved aside by one of two lines stood level with another line's dot."""
    page = radiologist.pages(samples.simulated(79), style=style_for("Letter", language="de"))[0]
    lines = [m for m in page.marks if isinstance(m, Line)]
    phrases = [m for m in lines if m.id.startswith("ladder.")]
    ends = {(round(m.x2, 1), round(m.y2, 1)) for m in lines if not m.id}
    assert len(phrases) > 5
    for line in phrases:
        assert (round(line.x1 - 2.6, 1), round(line.y1, 1)) in ends
        assert (round(line.x2 + 2.6, 1), round(line.y2, 1)) in ends
