"""The committee's first page decides from what the rest of the review supports."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import chain
from typing import Literal

import numpy as np
import pytest
from scipy.special import expit

from calibration.distributions import Beta
from calibration.estimate import Estimate
from calibration.gaps import Gaps, shrink_gaps
from calibration.phrase_calibration import phrase_calibration, wilson
from calibration.profile import (
    Aside,
    AtomJudgement,
    Change,
    Coordinate,
    DepartmentProfile,
    Interval,
    PhraseRate,
    ReaderProfile,
    Swap,
)
from calibration.profile.rates import expected_distance
from calibration.profile.results import Untold
from calibration.profile.shown import as_standard
from calibration.result import GroupResult
from calibration.run_chart import process
from calibration.substitution import Suppressed
from calibration.survey import PhraseTable, builtin
from calibration.tally import Tally
from reports.content import Coverage, Instrument, InstrumentFigure, PathologyAdvice, SuppressedCell
from reports.disclosure import guard_committee
from reports.drawing.layout import Figure, Prose
from reports.drawing.marks import Box, Disc, Drawing, Polygon, Text
from reports.drawing.style import Style
from reports.drawing.tables import Span, Table
from reports.figures.phrase_rows import missed, phrase_rows
from reports.figures.readers import Funnel
from reports.figures.series import run_chart
from reports.marked import hedges_in_parts
from reports.numbers import count, percent, percent_interval, percent_limits, points
from reports.pages import committee
from reports.pages.committee import headline
from reports.pages.committee.decisions import decisions
from reports.pages.committee.heaviest import Department, hands, in_few_hands, on_own_pages
from reports.pages.committee.months import over_time
from reports.pages.committee.profiles import apart, profiles
from reports.pages.committee.readers import case_mix, reader_table, readers
from reports.pages.committee.sections import (
    department,
    maps,
    pathologies,
    scale_use,
    sensitivity,
)
from reports.pages.committee.tables import pathology_table, suppressed_table, use_table
from reports.review_content import CommitteeContent, RunChart, ScaleUse
from reports.strings import Strings
from reports.swaps import kept_swaps
from reports.verdict import in_words, single_words
from tests.fixtures.reports import sample_contents as samples

WORDS = Strings.load()


def said(content: CommitteeContent) -> list[str]:
    return [re.sub(r"^\*\*\d\. ", "**", text) for text in numbered(content)]


def numbered(content: CommitteeContent) -> list[str]:
    (section,) = decisions(guard_committee(content), WORDS)
    return [piece.text for piece in section.pieces if isinstance(piece, Prose)]


def by_finding(content: CommitteeContent) -> list[str]:
    """Give what stands above the panels by pathology."""
    pieces = pathologies(guard_committee(content), WORDS).pieces
    return [each.text for each in pieces if isinstance(each, Prose) and "By finding" in each.text]


def below(content: CommitteeContent) -> str:
    """Give what stands below the department's phrase chart."""
    (section,) = department(guard_committee(content), WORDS)
    return " ".join(each.caption for each in section.pieces if isinstance(each, Figure))


def taught(content: CommitteeContent) -> list[str]:
    return [text for text in said(content) if text.startswith("**Teach")]


def marked(reader: ReaderProfile, phrase: str) -> set[str | None]:
    """Give the sides that a reader's own chart marks a word with, row by row."""
    return {side for each, side in hedges_in_parts(reader) if each.phrase == phrase}


def held_out(content: CommitteeContent, *, high: float) -> CommitteeContent:
    """Give the upper limit of the Brier difference on exams held out: above 0 is worse."""
    (part,) = content.maps or ()
    (swap,) = part.advice.suggestions
    assert swap.effect is not None
    brier = replace(swap.effect.brier_difference, high=high)
    moved = replace(swap, effect=replace(swap.effect, brier_difference=brier))
    return replace(
        content, maps=(replace(part, advice=replace(part.advice, suggestions=(moved,))),)
    )


@pytest.fixture(scope="module")
def usual() -> CommitteeContent:
    """Make a department whose "likely" stands at 56 %, inside its band of 53 to 96 %.

    Readers are advised what the department's swap says.
    """
    made = samples.committee()
    found = made.profiles
    assert isinstance(found, DepartmentProfile)
    readers = []
    for each in found.readers:
        phrases = tuple(
            replace(p, rate=replace(p.rate, value=0.5, low=0.4, high=0.6), n=90.0)
            if p.phrase == "likely"
            else p
            for p in each.phrases
        )
        advice = tuple(replace(a, instead="suspicious for") for a in each.advice)
        readers.append(replace(each, phrases=phrases, advice=advice))
    return replace(made, profiles=replace(found, readers=tuple(readers)))


@pytest.fixture(scope="module")
def review(usual: CommitteeContent) -> CommitteeContent:
    """Make the same department with a band that its "likely" leaves."""
    department = usual.department
    assert not isinstance(department, SuppressedCell)
    table = department.phrases
    narrow = replace(table, expected_low=np.maximum(table.expected_low, table.expected - 0.15))
    return replace(usual, department=replace(department, phrases=narrow))


def test_the_word_to_teach_comes_with_its_replacement_its_effect_and_its_readers(
    review: CommitteeContent,
) -> None:
    (text,) = taught(review)
    (swap,) = (review.maps or ())[0].advice.suggestions
    assert text.startswith(f"**Teach “{swap.target}” in place of “{swap.source}”.**")
    judged = guard_committee(review).profiles
    assert judged is not None
    rates = [p for r in judged.readers for p in r.phrases if p.phrase == "likely" and p.n >= 20]
    n = sum(p.n for p in rates)
    before = sum(p.n * abs(p.rate.value - p.meaning) for p in rates) / n
    after = sum(p.n * abs(p.rate.value - swap.target_expected) for p in rates) / n
    half = sum((p.n * (p.rate.high - p.rate.low) / 2) ** 2 for p in rates) ** 0.5 / n
    reach = f"({points(max(after - half, 0.0))} to {points(after + half)})"
    assert f"at most, if all who wrote it wrote “{swap.target}”, their statements" in text
    said_so = f"would lie {points(after)} points from CT, reader by reader {reach}, instead of"
    assert f"{said_so} {points(before)}." in text
    counted = re.search(r"Of the (\d+) readers .*?, it is too high for (\d+):", text)
    assert counted is not None
    found = guard_committee(review).profiles
    assert isinstance(found, DepartmentProfile)
    able = [(r, p) for r in found.readers for p in r.phrases if p.phrase == "likely"]
    off = [p for r, p in able if marked(r, "likely") == {"less"} and p.rate.high < p.meaning]
    assert list(map(int, counted.groups())) == [len(able), len(off)]
    assert len(off) >= 3
    assert not any(reader.reader in text for reader in found.readers)


@pytest.mark.parametrize(
    ("low", "high", "key"), [(0.90, 0.95, "less"), (1.02, 1.10, "more"), (0.97, 1.04, None)]
)
def test_the_headline_says_to_which_side_the_words_lie_where_chance_does_not_explain_it(
    usual: CommitteeContent, low: float, high: float, key: str | None
) -> None:
    found = usual.profiles
    assert isinstance(found, DepartmentProfile)
    ratio = Interval((low + high) / 2, low, high)
    moved = replace(found, large=replace(found.large, ratio=ratio))
    content = guard_committee(replace(usual, profiles=moved))
    assert content.profiles is not None
    shown = content.profiles.large.ratio
    numbers = {name: count(100 * getattr(shown, name)) for name in ("low", "high")}
    for side in ("less", "more"):
        sentence = f"committee.headline_{side}_asked"
        text = WORDS(sentence, seen=count(100 * shown.value), **numbers)
        assert (text.strip() in committee.headline(content, words=WORDS)) == (side == key)


def test_the_headline_leaves_open_what_a_plausible_choice_of_cts_explains(
    usual: CommitteeContent,
) -> None:
    """It stated what page 2 put as a question."""
    found = usual.profiles
    assert isinstance(found, DepartmentProfile)
    for ratio, short in (
        (Interval(0.92, 0.9, 0.94), "much"),
        (Interval(1.06, 1.04, 1.09), "little"),
    ):
        # Of a department without a shared shift CT showed 97 of 100 as it misses three, and the
        # page said "they say too much": less than is told of a shift is explained more easily.
        part, other = ("overcalls", "undercalls") if short == "much" else ("undercalls", "too sure")
        for parts, explained in (((), (part,)), ((part,), ()), ((), ()), ((other,), ())):
            shared = replace(found.shared, parts=parts, explained=explained)
            moved = replace(found, shared=shared, large=replace(found.large, ratio=ratio))
            opened = guard_committee(replace(usual, profiles=moved))
            text = committee.headline(opened, words=WORDS)
            assert f"they say too {short}" in text
            who = "a CT, or what it misses," if short == "much" else "a CT, or what it shows where"
            asked = f"they say too {short}, unless who gets {who}"
            assert (asked in text and "in X-rays with a CT" in text) == (parts != (part,))


def test_chance_that_gives_nothing_is_not_said_to_give_up_to_0(usual: CommitteeContent) -> None:
    whole = usual.department
    assert not isinstance(whole, SuppressedCell)
    error = replace(whole.phrase_error, null_high=0.0)
    content = replace(usual, department=replace(whole, phrase_error=error))
    text = committee.headline(guard_committee(content), words=WORDS)
    assert "chance alone would give next to nothing" in text
    assert "up to 0.0" not in text


def test_the_committee_reads_of_a_first_swap_what_the_readers_card_says(
    review: CommitteeContent,
) -> None:
    """A card left "most likely" or "likely" open, and the table said "most likely"."""
    opened, use = guard_committee(review), review.scale_use
    found, whole = opened.profiles, opened.department
    assert found is not None
    assert use is not None
    assert not isinstance(whole, SuppressedCell)
    meant = dict(zip(whole.phrases.phrases, whole.phrases.expected.tolist(), strict=True))
    # Of a scale that also has the words between, some rates lie nearer to another word.
    terms = tuple((phrase, 50, "recommended") for phrase in meant)
    every = replace(review, scale_use=replace(use, terms=terms))
    open_to_two = 0
    for content, scale in ((review, None), (every, meant)):
        recommended = {phrase for phrase, _, kind in use.terms if kind == "recommended"}
        scale = scale or {phrase: meant[phrase] for phrase in meant if phrase in recommended}
        cells = table_of_readers(content)
        for reader in found.readers:
            actions = in_words(reader, words=WORDS, scale=scale).actions
            shown = cells[reader.reader][-1]
            assert shown == (actions[0].title if actions else "–")
            open_to_two += any("” or “" in each.title for each in actions[:1])
    assert open_to_two


def test_a_reader_of_whom_one_word_is_off_is_not_counted_as_agreeing_with_ct(
    review: CommitteeContent,
) -> None:
    """The table, the count above it and the reader's own page say one thing."""
    opened = guard_committee(review)
    found = opened.profiles
    assert found is not None
    single = [r for r in found.readers if single_words(r)]
    quiet = [r for r in single if r.pattern.verdict.state == "none"]
    assert quiet
    (section,) = apart(opened, WORDS)
    text = next(piece.text for piece in section.pieces if isinstance(piece, Prose))
    assert f"Single words are off for {len(single)} of those without a pattern" in text
    cells = table_of_readers(review)
    for reader in quiet:
        own = in_words(reader, words=WORDS)
        assert "show no pattern as a whole" in f"{own.first} {own.lead}"
        assert cells[reader.reader][1].endswith("overall no pattern")
    for code, row in cells.items():
        agrees = row[1] == "as the scale promises"
        (reader,) = [r for r in found.readers if r.reader == code]
        assert agrees == (in_words(reader, words=WORDS).first == WORDS("verdict.none.first"))


def test_words_off_without_a_swap_are_said_beside_the_swaps_advised(
    review: CommitteeContent,
) -> None:
    opened = guard_committee(review)
    found = opened.profiles
    assert found is not None
    off = [
        {
            p.phrase
            for p in reader.phrases
            if len(sides_ := marked(reader, p.phrase)) == 1 and None not in sides_
            if not p.rate.low <= p.meaning <= p.rate.high
            if p.phrase not in {swap.phrase for swap in kept_swaps(reader)}
        }
        for reader in found.readers
    ]
    several = {p: n for p in {*chain(*off)} if (n := sum(p in each for each in off)) > 1}
    assert several
    _, advised = profiles(opened, WORDS)
    said_ = " ".join(piece.text for piece in advised.pieces if isinstance(piece, Prose))
    assert "no swap advised there because" in said_
    for phrase, n in several.items():
        assert f"“{phrase}” of {n} readers" in said_


def test_the_advice_says_how_many_of_those_who_stand_apart_it_reaches(
    usual: CommitteeContent,
) -> None:
    opened = guard_committee(usual)
    found = opened.profiles
    assert found is not None
    stand = [r for r in found.readers if r.pattern.verdict.state == "pattern"]
    both = sum(bool(kept_swaps(reader)) for reader in stand)
    pieces = [piece for section in over_time(opened, WORDS) for piece in section.pieces]
    (text,) = [p.text for p in pieces if isinstance(p, Prose) and "**Advice:**" in p.text]
    assert f"; among them {both} of the {len(stand)} who stand apart." in text
    none = tuple(replace(reader, advice=()) for reader in found.readers)
    calm = replace(opened, profiles=replace(found, readers=none))
    pieces = [piece for section in over_time(calm, WORDS) for piece in section.pieces]
    text = " ".join(piece.text for piece in pieces if isinstance(piece, Prose))
    assert "**Advice:** no reader's page has a swap." in text


def test_a_column_of_drawn_intervals_says_that_its_numbers_are_those_of_the_axis() -> None:
    table = reader_table(samples.committee(), words=WORDS)
    head = table.columns[5].title.replace("\u00a0", " ")
    assert re.fullmatch(r"Shrunk, 95 % interval; axis from \S+ to \S+", head)


def test_how_readers_differ_is_told_by_the_standard_deviation_of_their_distribution(
    usual: CommitteeContent,
) -> None:
    """The prior's deviation stood there of readers of whom the data said nothing."""
    found = guard_committee(usual).profiles
    assert found is not None

    def text(spread: Interval) -> str:
        opened = replace(guard_committee(usual), profiles=replace(found, spread=spread))
        pieces = apart(opened, WORDS)[0].pieces
        return " ".join(piece.text for piece in pieces if isinstance(piece, Prose))

    def ends(sd: float) -> list[str]:
        return [percent(expit(found.shared.shift.value + by)) for by in (-sd, sd)]

    low, high = ends(0.4)
    differ = text(Interval(0.4, 0.2, 0.8))
    assert f"**Readers differ.** A word that promises even odds comes true {low} of" in differ
    assert f"below the line most readers cluster around, {high} for one above" in differ
    assert f"it is {' and '.join(ends(0.2))}, or {' and '.join(ends(0.8))}." in differ
    unknown = text(Interval(0.2, 0.0, 0.8))
    assert "Readers differ" not in unknown
    assert "Whether readers differ cannot be told yet" in unknown
    assert all(end in unknown for end in ends(0.8))
    assert "readers differ" not in text(Interval(math.nan, math.nan, math.nan)).lower()


def test_a_shared_pattern_stands_beside_no_slope_of_another_kind(
    usual: CommitteeContent,
) -> None:
    found = usual.profiles
    assert isinstance(found, DepartmentProfile)
    shared = replace(found.shared, parts=("too sure",))
    content = replace(usual, profiles=replace(found, shared=shared))
    assert content.sensitivity
    (text,) = [each for each in said(content) if "**Look at who gets a CT" in each]
    # That of all statements as if one reader's, which stands in the tables.
    assert text.count("slope") == 1
    assert "sensitivity tables" not in text
    shifted = replace(shared, parts=("overcalls",), shift=Interval(-0.4, -0.7, -0.1))
    (other,) = [
        each
        for each in said(replace(content, profiles=replace(found, shared=shifted)))
        if "**Look at who gets a CT" in each
    ]
    assert "hedges are stronger than CT bears out: shift −0.40" in other
    wide = replace(shifted, shift=Interval(-0.4, -1.2, 0.3))
    (unsure,) = [
        each
        for each in said(replace(content, profiles=replace(found, shared=wide)))
        if "**Look at who gets a CT" in each
    ]
    assert "hedges probably are stronger than CT bears out: shift −0.40" in unsure
    assert "the interval leaves it open." in unsure


def test_a_word_within_what_readers_usually_take_it_to_mean_is_not_taught(
    usual: CommitteeContent,
) -> None:
    assert taught(usual) == []
    assert any(text.startswith("**No word to teach now.**") for text in said(usual))


def with_likely(review: CommitteeContent, *, n: float, rate: float) -> CommitteeContent:
    """Give every reader one rate of "likely", from so many uses."""
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    interval = Interval(rate, rate - 0.1, rate + 0.1)
    readers = tuple(
        replace(
            reader,
            phrases=tuple(
                replace(p, n=n, rate=interval) if p.phrase == "likely" else p
                for p in reader.phrases
            ),
        )
        for reader in found.readers
    )
    return replace(review, profiles=replace(found, readers=readers))


def test_a_word_that_no_reader_wrote_often_enough_to_judge_stands_on_the_departments_figures(
    review: CommitteeContent,
) -> None:
    (text,) = taught(with_likely(review, n=review.minimum_n - 1.0, rate=0.5))
    assert "No reader alone wrote it often enough to judge. Across the department" in text


@pytest.mark.parametrize("rate", [0.5, 0.774])
def test_a_word_that_one_reader_alone_wrote_often_enough_is_said_to_rest_on_too_few(
    review: CommitteeContent, rate: float
) -> None:
    rare = with_likely(review, n=review.minimum_n - 1.0, rate=0.5).profiles
    able = with_likely(review, n=90.0, rate=rate).profiles
    assert isinstance(rare, DepartmentProfile)
    assert isinstance(able, DepartmentProfile)
    readers = (able.readers[0], *rare.readers[1:])
    alone = replace(review, profiles=replace(rare, readers=readers))
    (text,) = taught(alone)
    shown = guard_committee(alone).profiles
    assert isinstance(shown, DepartmentProfile)
    assert f"Only 1 of {len(shown.readers)} readers wrote it often enough" in text
    assert "in the hands of" not in text


def test_a_word_of_which_one_reader_wrote_the_half_is_not_taught(
    review: CommitteeContent,
) -> None:
    """Two readers' "compatible with", 145 of 300 of one, was put to all as a department's."""
    (swap,) = (review.maps or ())[0].advice.suggestions
    rare = with_likely(review, n=review.minimum_n - 1.0, rate=0.5).profiles
    able = with_likely(review, n=swap.n / 2.0, rate=0.5).profiles
    assert isinstance(rare, DepartmentProfile)
    assert isinstance(able, DepartmentProfile)
    readers = (able.readers[0], *rare.readers[1:])
    assert taught(replace(review, profiles=replace(rare, readers=readers))) == []


def test_a_word_that_is_right_in_the_hands_of_those_who_can_be_judged_is_not_taught(
    review: CommitteeContent,
) -> None:
    right = with_likely(review, n=90.0, rate=0.774)
    assert taught(right) == []
    assert any(text.startswith("**No word to teach now.**") for text in said(right))


def test_a_word_that_would_lead_as_many_readers_away_from_ct_is_taught_to_nobody(
    review: CommitteeContent,
) -> None:
    """Pooled it lay 1.5 points from CT instead of 13; in the readers' own hands hardly nearer."""
    assert taught(review)
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    right = Interval(0.8, 0.72, 0.86)
    half = len(found.readers) // 2
    others = (
        replace(
            each,
            phrases=tuple(
                replace(p, rate=right) if p.phrase == "likely" else p for p in each.phrases
            ),
            advice=(), habits=(), rest=(), considered=(),
        )
        for each in found.readers[half:]
    )  # fmt: skip
    readers = (*found.readers[:half], *others)
    assert taught(replace(review, profiles=replace(found, readers=readers))) == []


def test_choices_are_drawn_on_one_axis_so_that_tables_can_be_compared(
    review: CommitteeContent,
) -> None:
    pieces = sensitivity(guard_committee(review), WORDS).pieces
    tables = [each for each in pieces if isinstance(each, Table)]
    spans = [cell for each in tables for row in each.rows for cell in row.cells]
    assert len(tables) > 1
    assert len({cell.domain for cell in spans if isinstance(cell, Span)}) == 1
    assert len({each.columns[-1].title for each in tables}) == 1


def test_a_word_to_teach_has_the_interval_of_the_chart_and_of_no_other_reckoning(
    review: CommitteeContent,
) -> None:
    """One rate stood with 68-79 % in the chart and with 68-78 % beside its swap."""
    opened = guard_committee(review)
    whole = opened.department
    assert not isinstance(whole, SuppressedCell)
    (part,) = opened.maps or ()
    (swap,) = part.advice.suggestions
    k = whole.phrases.phrases.index(swap.source)
    low, high = whole.phrases.low.copy(), whole.phrases.high.copy()
    low[k], high[k] = low[k] - 0.03, high[k] + 0.03
    wider = replace(whole, phrases=replace(whole.phrases, low=low, high=high))
    (text,) = taught(replace(review, department=wider))
    assert percent_interval(low[k], high[k], swap.observed) in text
    tables = {p.id: p for p in maps(opened, WORDS).pieces if isinstance(p, Table)}
    assert tables["suggestions"].rows[0].cells[4] == percent(swap.observed)


@pytest.mark.parametrize("high", [0.004, -0.00004])
def test_a_swap_whose_gain_on_exams_held_out_may_be_nothing_is_held_back_everywhere(
    review: CommitteeContent, high: float
) -> None:
    doubtful = held_out(review, high=high)
    assert taught(doubtful) == []
    tables = {p.id: p for p in maps(doubtful, WORDS).pieces if isinstance(p, Table)}
    assert tables["suggestions"].rows == ()
    why = [str(row.cells[3]) for row in tables["suppressed"].rows if row.cells[1] == "likely"]
    assert len(why) == 1
    assert "may be nothing" in why[0]


def test_a_word_that_ct_does_not_bear_out_itself_is_taught_to_nobody(
    review: CommitteeContent,
) -> None:
    (part,) = review.maps or ()
    (swap,) = part.advice.suggestions
    other = replace(
        swap, source=swap.target, target="unlikely", observed=0.31, n=1.0, expected=0.665
    )
    both = replace(part, advice=replace(part.advice, suggestions=(swap, other)))
    doubtful = replace(review, maps=(both,))
    assert taught(doubtful) == []
    (text,) = [each for each in said(doubtful) if "**Reserve" in each]
    assert text.startswith(f"**Reserve “{swap.source}” for likelier findings.** Of the ")
    department = review.department
    assert not isinstance(department, SuppressedCell)
    rate = department.phrases.observed[department.phrases.phrases.index(swap.target)]
    assert f"“{swap.target}”, itself comes true {rate:.0%}".replace("%", "\u00a0%") in text
    assert "if all who wrote it" not in text
    assert "No other word is named" not in taught(review)[0]


@pytest.mark.parametrize(("low", "high"), [(0.87, 0.93), (0.97, 1.04)])
def test_no_word_is_taught_that_the_same_review_says_is_off(
    review: CommitteeContent, low: float, high: float
) -> None:
    """By name in the decision above, or by its mark in the phrase chart alone."""
    (swap,) = (review.maps or ())[0].advice.suggestions
    whole = review.department
    assert not isinstance(whole, SuppressedCell)
    table = whole.phrases
    at = np.array(table.phrases) == swap.target
    rate = np.where(at, table.expected - table.expected_error - 0.09, table.observed)
    ends = {
        "low": np.where(at, rate - 0.04, table.low),
        "high": np.where(at, rate + 0.04, table.high),
    }
    n = np.where(at, 4000.0, table.n)
    moved = replace(
        table, observed=rate, n=n, expected_low=np.where(at, 0.0, table.expected_low), **ends
    )
    off = leaning(
        replace(review, department=replace(whole, phrases=moved)),
        Interval((low + high) / 2, low, high),
    )
    assert taught(off) == []
    (text,) = [each for each in said(off) if "**Reserve" in each]
    assert f"the nearest, “{swap.target}”, itself comes true" in text
    discussed = [each.split("**")[1] for each in said(off) if each.startswith("**Decide what")]
    assert [f"“{swap.target}”" in each for each in discussed] == [True] * (high < 1.0)


def test_owner_and_effect_stand_in_one_order_in_every_proposal(review: CommitteeContent) -> None:
    for each in said(leaning(review, Interval(0.9, 0.87, 0.93))):
        assert 0 < each.index("Owner: ") < each.index("Expected effect: ")


def test_a_word_that_most_readers_own_pages_do_not_advise_is_taught_to_nobody(
    review: CommitteeContent,
) -> None:
    found, (swap,) = review.profiles, (review.maps or ())[0].advice.suggestions
    assert isinstance(found, DepartmentProfile)
    given = next(each for reader in found.readers for each in reader.advice)
    own = replace(given, phrase=swap.source, instead="maybe", finding=None, n=90.0)
    own = replace(own, rate=replace(own.rate, value=0.5, low=0.4, high=0.6), meaning=swap.expected)
    other = tuple(replace(reader, advice=(own,)) for reader in found.readers)
    apart = replace(review, profiles=replace(found, readers=other))
    assert taught(apart) == []
    (text,) = [each for each in said(apart) if "**Reserve" in each]
    assert f"are advised another than “{swap.target}”" in text
    judged = guard_committee(apart).profiles
    assert judged is not None
    moved = [swap for reader in judged.readers for swap in kept_swaps(reader)]
    assert f"with the {len(moved)} swaps on readers' own pages, " in text
    assert f" {sum(each.n for each in moved):,.0f} statements " in text


def test_an_instrument_that_nobody_measured_stands_below_what_a_meeting_can_decide(
    review: CommitteeContent,
) -> None:
    accuracy = InstrumentFigure("extraction accuracy", Estimate(0.94, 0.92, 0.96, 600, "Wilson"))
    recall = InstrumentFigure("de-identification recall", None)
    half = replace(review, instrument=Instrument("rules", (accuracy, recall)))
    assert said(half)[-1].startswith("**Before the next issue, measure how well reports are read.")
    assert "de-identification recall." in said(half)[-1]
    assert "extraction accuracy" not in said(half)[-1]
    whole = replace(review, instrument=Instrument("rules", (accuracy,)))
    assert not any("measure how well" in text for text in said(whole))


def test_what_holds_of_the_readers_together_is_put_to_the_committee_with_its_figure(
    review: CommitteeContent,
) -> None:
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    slope = Interval(0.8, 0.7, 0.9)
    shared = replace(found.shared, parts=("too sure",), slope=slope)
    texts = said(replace(review, profiles=replace(found, shared=shared)))
    place = f"slope {slope.value:.2f} ({slope.low:.2f} to {slope.high:.2f})"
    together = (
        f"On the line most readers cluster around, hedges are surer than CT bears out: {place}."
    )
    assert any(together in text for text in texts)
    assert not any("readers gather" in text for text in said(review))


@pytest.mark.parametrize(("without", "followed"), [(0, False), (150, False), (400, True)])
def test_nobody_is_to_be_followed_up_without_a_ct_where_all_have_one(
    review: CommitteeContent, without: int, followed: bool
) -> None:
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    shared = replace(found.shared, parts=("too sure",), slope=Interval(0.8, 0.7, 0.9))
    seen = Coverage(2000, 2000 - without, 12.0)
    judged = replace(review, profiles=replace(found, shared=shared), coverage=seen)
    (text,) = [each for each in said(judged) if "what CT misses.**" in each]
    assert ("200 patients without a CT" in text) == followed
    assert ("Read 200 of these CTs again" in text) != followed


def contradicted(atom: AtomJudgement) -> AtomJudgement:
    """Give a word as sure as "absent" or "present" that CT contradicts six times as often."""
    return replace(
        atom, state="more often", n=90.0, others=4000.0, wrong=12.0, expected_wrong=2.0,
        rate=Interval(0.13, 0.08, 0.21),
    )  # fmt: skip


def test_absent_contradicted_in_several_hands_is_named(review: CommitteeContent) -> None:
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    more = tuple(
        replace(r, absent=contradicted(r.absent)) if i < 4 else r
        for i, r in enumerate(found.readers)
    )
    quiet = tuple(replace(r, absent=replace(r.absent, state="as others")) for r in found.readers)
    texts = said(replace(review, profiles=replace(found, readers=more)))
    (text,) = [text for text in texts if "what was missed" in text]
    assert "The “absent” of 4 of" in text
    assert "Owner: " in text
    assert "Expected effect: " in text
    texts = said(replace(review, profiles=replace(found, readers=quiet)))
    assert not any("what was missed" in text for text in texts)
    both = tuple(replace(r, present=contradicted(r.present)) for r in more)
    texts = said(replace(review, profiles=replace(found, readers=both)))
    (text,) = [text for text in texts if "what was missed, and at what was seen" in text]
    assert "The “present” of 11 of 11 readers" in text


def test_no_more_than_three_things_are_to_be_decided_and_each_has_owner_and_effect(
    review: CommitteeContent,
) -> None:
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    recall = InstrumentFigure("de-identification recall", None)
    readers = tuple(replace(r, absent=contradicted(r.absent)) for r in found.readers)
    shared = replace(found.shared, parts=("overcalls", "too sure"))
    full = replace(
        review,
        instrument=Instrument("rules", (recall,)),
        profiles=replace(found, readers=readers, shared=shared),
    )
    full = also_off(full)
    heads = [text[:5] for text in numbered(leaning(full, Interval(0.9, 0.87, 0.93)))]
    assert heads == ["**1. ", "**2. ", "**3. ", "After", "**Bef"]
    *proposed, later, measured = said(leaning(full, Interval(0.9, 0.87, 0.93)))
    assert [text.split("**")[1].split()[0] for text in proposed] == ["Decide", "Teach", "Look"]
    assert all("Owner: " in text and "Expected effect: " in text for text in (*proposed, measured))
    assert later == (
        "After these, and not before: Decide whether the scale needs a word between “may "
        "represent” (44\u00a0%) and “likely” (77\u00a0%). Look at what was missed, and at what was "
        "seen and CT does not show."
    )
    assert measured.startswith("**Before the next issue, measure")


def leaning(review: CommitteeContent, ratio: Interval) -> CommitteeContent:
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    return replace(review, profiles=replace(found, large=replace(found.large, ratio=ratio)))


def also_off(review: CommitteeContent) -> CommitteeContent:
    """Let CT show "possibly" and "unlikely" less often than they say, beside "likely".

    Who is well off the other way wrote "possibly" too seldom to be judged.
    """
    whole = review.department
    assert not isinstance(whole, SuppressedCell)
    table = whole.phrases
    at = np.isin(table.phrases, ["possibly", "unlikely"])
    rate = np.where(at, table.expected - table.expected_error - 0.03, table.observed)
    ends = {
        "low": np.where(at, rate - 0.01, table.low),
        "high": np.where(at, rate + 0.01, table.high),
    }
    n = np.where(at, [500.0 if p == "possibly" else 400.0 for p in table.phrases], table.n)
    moved = replace(table, observed=rate, n=n, **ends)
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    readers = (
        replace(
            each,
            phrases=tuple(
                replace(p, n=5.0) if p.phrase == "possibly" and p.rate.low > p.meaning + 0.02 else p
                for p in each.phrases
            ),
        )
        for each in found.readers
    )
    return replace(
        review,
        department=replace(whole, phrases=moved),
        profiles=replace(found, readers=tuple(readers)),
    )


def seldom(content: CommitteeContent, *phrases: str) -> CommitteeContent:
    """Let no reader have written words often enough to judge them in his hands."""
    found = content.profiles
    assert isinstance(found, DepartmentProfile)
    readers = (
        replace(
            each,
            phrases=tuple(replace(p, n=5.0) if p.phrase in phrases else p for p in each.phrases),
        )
        for each in found.readers
    )
    return replace(content, profiles=replace(found, readers=tuple(readers)))


def test_the_words_that_carry_the_departments_side_are_named_with_what_they_weigh(
    review: CommitteeContent,
) -> None:
    """Each word as the chart marks it, in whose hands; the effect is of readers' own swaps."""
    leaned = leaning(also_off(review), Interval(0.9, 0.87, 0.93))
    opened = guard_committee(leaned)
    (text,) = [each for each in said(leaned) if each.startswith("**Decide what")]
    named = re.findall("“([^”]+)”", text.split("**")[1])
    whole, found = opened.department, opened.profiles
    assert not isinstance(whole, SuppressedCell)
    assert found is not None
    table = whole.phrases
    adds = dict(
        zip(table.phrases, table.n * np.abs(table.observed - table.expected) / whole.n, strict=True)
    )
    rows = phrase_rows(table, minimum_n=opened.minimum_n)
    off_chart = {row.phrase for row in rows if missed(row) == "less"}
    assert off_chart == {"likely", "possibly", "unlikely"}
    assert named == ["possibly", "unlikely"]  # "likely" has the proposal below
    sure = points(np.nan_to_num([adds[p] for p in ("absent", "present")]).sum())
    assert f"“present” and “absent” carry {sure}, which no other word mends." in below(opened)
    for phrase in named:
        able = [(r, p) for r in found.readers for p in r.phrases if p.phrase == phrase]
        off = sum(marked(r, phrase) == {"less"} and p.rate.high < p.meaning for r, p in able)
        k = table.phrases.index(phrase)
        rate, meaning = percent(table.observed[k]), percent(table.expected[k])
        carried = f"“{phrase}” {points(adds[phrase])} (says {meaning}, CT {rate}; for {off} of "
        assert f"{carried}{len(able)} readers" in text
    lower = (s for r in found.readers for s in kept_swaps(r) if s.instead_meaning < s.meaning)
    moved = [s for s in lower if s.phrase in {*named}]
    n = sum(s.n for s in moved)
    before = points(sum(s.n * expected_distance(s.rate, s.meaning) for s in moved) / n)
    after = points(sum(s.n * expected_distance(s.rate, s.instead_meaning) for s in moved) / n)
    promised = sum(s.n * abs(s.rate.value - s.instead_meaning) for s in moved) / n
    assert float(after) > 100 * promised  # as if every rate were known
    assert text.endswith(
        f"Expected effect: with the {len(moved)} swaps on readers' own pages, {n:,.0f} "
        f"statements would lie {after} points from CT, not {before}."
    )
    nobody = on_own_pages(found, ["worrisome for"], "less", WORDS)
    assert nobody == "Expected effect: not in figures, as no own page has a swap for it."
    even = leaning(also_off(review), Interval(0.99, 0.95, 1.03))
    assert not any(each.startswith("**Decide what") for each in said(even))


@pytest.mark.parametrize("ratio", [Interval(0.9, 0.87, 0.93), Interval(0.99, 0.95, 1.03)])
def test_a_word_that_reassures_falsely_is_named_first_whichever_side_all_hedges_lie_to(
    review: CommitteeContent, ratio: Interval
) -> None:
    """Of "unlikely" (9 % promised, CT 20 %) page 1 was silent, for hedges said too much in all."""
    content = leaning(review, ratio)
    whole = content.department
    assert not isinstance(whole, SuppressedCell)
    k, table = whole.phrases.phrases.index("unlikely"), whole.phrases
    n, rates = table.n.copy(), [v.copy() for v in (table.observed, table.low, table.high)]
    n[k] = 323.0
    for values, rate in zip(rates, (0.20, 0.16, 0.25), strict=True):
        values[k] = rate
    observed, low, high = rates
    moved = replace(table, n=n, observed=observed, low=low, high=high)
    texts = [
        each
        for each in said(replace(content, department=replace(whole, phrases=moved)))
        if each.startswith("**Decide what to do about")
    ]
    assert texts[0].startswith(
        "**Decide what to do about “unlikely”: CT shows more than promised.**"
    )
    assert re.search("“unlikely” [0-9.]+ \\(says 9\u00a0%, CT 20\u00a0%; for ", texts[0])


def test_a_heavy_word_that_its_survey_leaves_open_is_named_as_such(
    review: CommitteeContent,
) -> None:
    """The heaviest of all hedges, 62 % give or take 9 and CT 49 %, stood nowhere on page 1."""
    opened = leaning(also_off(review), Interval(0.9, 0.87, 0.93))
    whole = opened.department
    assert not isinstance(whole, SuppressedCell)
    table = whole.phrases
    said_open = "carries \\S+, but its survey leaves open whether it is off."
    assert not re.search(f"“suggestive of” {said_open}", below(opened))
    at = table.phrases.index("suggestive of")
    fewer, doubt = table.observed.copy(), table.expected_error.copy()
    fewer[at], doubt[at] = table.expected[at] - 0.13, 0.14
    low, high = table.low.copy(), table.high.copy()
    low[at], high[at] = fewer[at] - 0.05, fewer[at] + 0.05
    moved = replace(table, observed=fewer, expected_error=doubt, low=low, high=high)
    heavy = replace(opened, department=replace(whole, phrases=moved))
    assert re.search(f"“suggestive of” {said_open}", below(heavy))


def test_no_word_is_counted_in_the_effects_of_two_proposals(review: CommitteeContent) -> None:
    leaned = leaning(also_off(review), Interval(0.9, 0.87, 0.93))
    # A gap of the scale names the words at its ends, and no effect of theirs.
    heads = [each.split("**")[1] for each in said(leaned) if "**" in each]
    with_teaching = [re.findall("“([^”]+)”", each) for each in heads if "the scale" not in each]
    words = [word for each in with_teaching for word in each]
    assert len(words) == len({*words}) >= 3
    (part,) = leaned.maps or ()
    without = replace(part, advice=replace(part.advice, suggestions=()))
    (text,) = [each for each in said(replace(leaned, maps=(without,))) if "**Decide what" in each]
    assert re.findall("“([^”]+)”", text.split("**")[1]) == ["likely", "possibly", "unlikely"]


def test_a_heavy_word_without_a_better_one_says_why(review: CommitteeContent) -> None:
    heavy = leaning(review, Interval(0.9, 0.87, 0.93))
    (part,) = heavy.maps or ()
    silent = Suppressed("likely", "probably", "forbidden", "")
    advice = replace(part.advice, suggestions=(), suppressed=(silent,))
    (text,) = [
        each
        for each in said(replace(heavy, maps=(replace(part, pathology=None, advice=advice),)))
        if each.startswith("**Decide what")
    ]
    assert "No replacement for “likely”: “probably” would lie nearer, but is discouraged" in text


def test_a_swap_held_back_shows_the_shares_that_were_found_and_needed(
    review: CommitteeContent,
) -> None:
    """They are the guard-rail's own: its sentence for a log may be worded as it likes."""
    (part, *_) = review.maps or ()
    silent = Suppressed("likely", "probably", "unstable", "for a log", (0.614, 0.7))
    held = replace(part, advice=replace(part.advice, suggestions=(), suppressed=(silent,)))
    (row,) = suppressed_table((held,), words=Strings.load()).rows
    assert str(row.cells[-1]).endswith("(Found 61\u00a0%, 70\u00a0% needed.)")


def test_no_reason_for_naming_no_word_contradicts_that_the_word_is_off(
    review: CommitteeContent,
) -> None:
    """Of a word of which CT showed less than promised it said that CT showed what it says."""
    heavy = leaning(also_off(review), Interval(0.9, 0.87, 0.93))
    (part,) = heavy.maps or ()
    silent = tuple(
        Suppressed(word, None, "matches expectation", "60 uses")
        for word in ("possibly", "unlikely")
    )
    kept = replace(part, advice=replace(part.advice, suppressed=silent))
    (text,) = [each for each in said(replace(heavy, maps=(kept,))) if "**Decide what" in each]
    assert "CT shows less than promised" in text
    why = "lies no further from the word, or no more surely, than a swap requires."
    assert f"No replacement for “possibly” and “unlikely”: What CT shows {why}" in text


@pytest.mark.parametrize(
    ("kinds", "scale"),
    [
        ({}, "or go through the cases, readers unnamed."),
        (
            {"possibly": "discouraged", "unlikely": "discouraged"},
            "or go through the cases, readers unnamed",
        ),
        ({"possibly": "recommended"}, "or recommend “possibly” no longer."),
        (
            {"possibly": "neither", "unlikely": "recommended"},
            "or recommend “unlikely” no longer and discourage “possibly”.",
        ),
    ],
)
def test_what_can_be_decided_of_heavy_words_is_laid_out(
    review: CommitteeContent, kinds: dict[str, Literal["recommended", "neither"]], scale: str
) -> None:
    """The committee was told to discuss, with nothing to choose."""
    use = review.scale_use
    assert use is not None
    terms = tuple((phrase, 50, kind) for phrase, kind in kinds.items())
    heavy = leaning(
        also_off(replace(review, scale_use=replace(use, terms=terms))), Interval(0.9, 0.87, 0.93)
    )
    for content, offered in (
        (seldom(heavy, "possibly", "unlikely"), scale),
        (
            heavy,
            "or go through the cases, readers unnamed.",
        ),  # in most hands they are right
    ):
        (text,) = [each for each in said(content) if each.startswith("**Decide what")]
        choice = text.partition("**Choose:** ")[2].partition(" Owner: ")[0]
        assert choice.startswith("leave this to readers' own pages (the default)")
        assert offered in choice


def test_a_word_that_a_reader_is_advised_is_not_offered_to_be_taken_off_the_scale(
    review: CommitteeContent,
) -> None:
    """Page 1 offered to end a word that two readers' own pages told them to write."""
    use = review.scale_use
    assert use is not None
    terms = (("possibly", 50, "recommended"), ("unlikely", 50, "recommended"))
    off = seldom(also_off(review), "possibly", "unlikely")
    heavy = leaning(replace(off, scale_use=replace(use, terms=terms)), Interval(0.9, 0.87, 0.93))
    found = heavy.profiles
    assert isinstance(found, DepartmentProfile)
    swap = Swap(
        "unlikely", "fracture", "possibly", 60.0, 0.3, Interval(0.3, 0.2, 0.4), 0.09, 0.29, 0.99,
        Interval(0.02, 0.01, 0.03),
    )  # fmt: skip
    told = replace(found.readers[0], phrases=(), advice=(swap,))
    advised = replace(heavy, profiles=replace(found, readers=(told, *found.readers[1:])))
    before, after = (
        next(each for each in said(content) if each.startswith("**Decide what"))
        for content in (heavy, advised)
    )
    assert "or recommend “possibly” and “unlikely” no longer." in before
    assert "or recommend “unlikely” no longer." in after


def test_readers_in_whose_hands_a_heavy_word_is_off_the_other_way_are_counted(
    review: CommitteeContent,
) -> None:
    heavy = leaning(also_off(review), Interval(0.9, 0.87, 0.93))
    found = heavy.profiles
    assert isinstance(found, DepartmentProfile)
    first, *others = found.readers
    high = PhraseRate("possibly", 90.0, 0.6, Interval(0.6, 0.5, 0.7), 0.29)
    pattern = first.pattern
    verdict = replace(pattern.verdict, state="pattern", parts=("undercalls",), question=False)
    other_way = replace(
        first, phrases=(high, *(p for p in first.phrases if p.phrase != "possibly")), advice=(),
        pattern=replace(pattern, verdict=verdict), habits=(), rest=(), considered=(),
    )  # fmt: skip
    turned = replace(heavy, profiles=replace(found, readers=(other_way, *others)))
    (text,) = [each for each in said(turned) if each.startswith("**Decide what")]
    assert re.search(
        r"“possibly” [^(]+\([^)]+; for \d of \d+ readers.*, the other way for \d\)", text
    )


def test_the_heaviest_upheld_swap_in_a_single_finding_stands_above_its_figures(
    review: CommitteeContent,
) -> None:
    """What gained most stood in an appendix alone."""
    (part,) = review.maps or ()
    found = review.profiles
    assert found is not None
    (swap,) = part.advice.suggestions
    more = tuple(
        PathologyAdvice(finding, replace(part.advice, suggestions=(replace(swap, n=n),)))
        for finding, n in (("pneumonia", 30.0), ("fracture", 60.0), ("fibrosis", 40.0))
    )
    told = replace(
        found.readers[0],
        phrases=(),
        habits=(),
        advice=(
            replace(
                found.readers[0].advice[0], phrase=swap.source, instead=swap.target,
                finding="fracture", meaning=swap.expected, instead_meaning=swap.target_expected,
                rate=Interval(0.3, 0.2, 0.4),
            ),
        ),
    )  # fmt: skip
    readers = (told, *(replace(each, advice=()) for each in found.readers[1:]))
    with_cells = replace(review, maps=(part, *more), profiles=replace(found, readers=readers))
    (text,) = by_finding(with_cells)
    assert re.findall("for (\\w+) exams held out uphold “", text) == ["fracture"]
    ways = (
        f"“{swap.target}” instead of “{swap.source}” (CT {percent(swap.observed)} of 60 statements"
    )
    assert ways in text
    shown = guard_committee(with_cells).profiles
    assert shown is not None
    assert f"advised to 1 of {len(shown.readers)} readers)" in text
    assert f"“{swap.source}” promises {percent(swap.expected)};" in text
    assert not any("held out uphold" in each for each in by_finding(review))


def test_the_finding_that_carries_most_is_so_by_the_distance_of_page_1(
    review: CommitteeContent,
) -> None:
    """Two words off to both sides made up for each other, and another finding was named."""
    opened = guard_committee(review)
    parts = [p for p in opened.by_pathology if not isinstance(p.result, SuppressedCell)]
    first, second = parts[0].result, parts[1].result
    assert not isinstance(first, SuppressedCell)
    assert not isinstance(second, SuppressedCell)

    def off(result: GroupResult, **observed: float) -> GroupResult:
        table, seen = result.phrases, result.phrases.expected.copy()
        n = np.zeros(len(seen))
        for phrase, by in observed.items():
            k = table.phrases.index(phrase)
            n[k], seen[k] = 100.0, table.expected[k] + by
        low, high = wilson(n * seen, n)
        error = replace(result.phrase_error, value=0.2, low=0.1, high=0.3)
        return replace(
            result, n=float(n.sum()), phrase_error=error,
            phrases=replace(table, n=n, observed=seen, low=low, high=high),
        )  # fmt: skip

    both = replace(parts[0], result=off(first, likely=-0.2, possibly=0.2))
    net = replace(parts[1], result=off(second, likely=-0.25, possibly=0.0))
    (text,) = by_finding(replace(review, by_pathology=(both, net)))
    assert f"hedges on {both.pathology} carry the largest share of the distance, " in text
    assert not isinstance(both.result, SuppressedCell)
    gap = points(both.result.phrase_error.value)
    (row, _) = pathology_table(replace(review, by_pathology=(both, net)), words=WORDS).rows
    assert f"{points(0.2)} of the {gap} points of its row below (200 statements)" in text
    assert float(str(row.cells[2])) * 100 == pytest.approx(float(gap))


def test_an_error_that_rounding_does_not_tell_from_chance_is_no_coincidence(
    review: CommitteeContent,
) -> None:
    """In 6 of 16 findings of a demonstration both were the same number to three decimals."""
    first, *others = review.by_pathology
    result = first.result
    assert not isinstance(result, SuppressedCell)
    told = WORDS("scores.same_step")
    for chance, printed in ((0.058, "≈\u00a00.058"), (0.051, "0.051")):
        error = replace(result.phrase_error, value=0.058, null_high=chance)
        part = replace(first, result=replace(result, phrase_error=error))
        section = pathologies(replace(review, by_pathology=(part, *others)), WORDS)
        (table,) = [piece for piece in section.pieces if isinstance(piece, Table)]
        assert table.rows[0].cells[2:4] == ("0.058", printed)
        said = [piece.text for piece in section.pieces if isinstance(piece, Prose)]
        assert (told in said) == printed.startswith("≈")


def test_ranges_of_cases_are_written_with_a_dash_and_codes_as_they_are(
    review: CommitteeContent,
) -> None:
    mix = review.case_mix
    assert mix is not None
    names = ("18-39", "0-2 h", "T-6TVD")
    rows = tuple(replace(mix.rows[0], level=name) for name in names)
    alike = replace(mix, rows=rows, alike=("Age (40-59)",))
    section = case_mix(replace(review, case_mix=alike), WORDS)
    (table,) = [piece for piece in section.pieces if isinstance(piece, Table)]
    assert [row.cells[1] for row in table.rows] == ["18–39", "0–2 h", "T-6TVD"]
    assert section.note.endswith("Age (40–59).")


def test_no_finding_is_named_where_hedges_are_off_alike_in_all_of_them(
    review: CommitteeContent,
) -> None:
    """The largest of several shares was named, of departments without an effect of finding."""
    opened = guard_committee(review)
    parts = [p for p in opened.by_pathology if not isinstance(p.result, SuppressedCell)]

    def told(by: float) -> list[str]:
        made = []
        for k, part in enumerate(parts):
            assert not isinstance(part.result, SuppressedCell)
            table = part.result.phrases
            hedges = table.hedges
            n = np.where(hedges, 200.0 if k else 260.0, 500.0)
            seen = np.where(hedges, table.expected * 0.95, 0.5)
            seen = seen * (1.0 - by * (hedges & (k == 0)))
            low, high = wilson(n * seen, n)
            table = replace(table, n=n, observed=seen, low=low, high=high)
            error = replace(part.result.phrase_error, value=0.2, low=0.1, high=0.3)
            result = replace(part.result, n=float(n.sum()), phrase_error=error, phrases=table)
            made.append(replace(part, result=result))
        return by_finding(replace(review, by_pathology=tuple(made), maps=()))

    assert told(0.0) == []
    assert told(0.01) == []
    (text,) = told(0.3)
    assert f"hedges on {parts[0].pathology} carry the largest share" in text


@pytest.mark.parametrize(("swaps", "asked"), [(2, False), (3, True)])
def test_a_discouraged_word_that_holds_back_several_swaps_is_put_to_the_committee(
    usual: CommitteeContent, swaps: int, asked: bool
) -> None:
    (part,) = usual.maps or ()
    silent = tuple(
        Suppressed(word, "probably", "forbidden", "")
        for word in ("likely", "possibly", "may represent")[:swaps]
    )
    content = replace(usual, maps=(replace(part, advice=replace(part.advice, suppressed=silent)),))
    texts = [each for each in said(content) if "stays discouraged" in each]
    assert bool(texts) == asked
    for text in texts:
        assert "for 3 words, “likely”, “possibly” and “may represent”," in text
    # One word held back three times is one, and one reader's is nobody else's.
    nested = tuple(
        replace(part, pathology=name, advice=replace(part.advice, suppressed=silent[:1]))
        for name in (None, "fracture", "effusion")
    )
    assert not any("stays discouraged" in each for each in said(replace(usual, maps=nested)))


@pytest.mark.parametrize(("hands", "asked"), [(1, False), (4, True)])
def test_of_a_word_that_is_off_in_one_readers_hands_there_is_nothing_to_decide_for_all(
    review: CommitteeContent, hands: int, asked: bool
) -> None:
    """Pooled rates put a word of one of eight readers to the committee."""
    heavy = leaning(also_off(review), Interval(0.9, 0.87, 0.93))
    found, whole = heavy.profiles, heavy.department
    assert isinstance(found, DepartmentProfile)
    assert not isinstance(whole, SuppressedCell)
    readers = []
    for i, each in enumerate(found.readers):
        pattern = replace(each.pattern.verdict, state="none", parts=(), stated=())
        off = Interval(0.1, 0.05, 0.15) if i < hands else Interval(0.29, 0.2, 0.38)
        word = PhraseRate("possibly", 40.0, off.value, off, 0.29)
        swap = Swap(
            "possibly", None, "unlikely", 40.0, 0.1, off, 0.29, 0.09, 0.99,
            Interval(0.02, 0.01, 0.03),
        )  # fmt: skip
        readers.append(
            replace(
                each, phrases=(word,), advice=(swap,) * (i < hands), habits=(), rest=(),
                considered=(), sides=(), pattern=replace(each.pattern, verdict=pattern),
            )
        )  # fmt: skip
    content = replace(heavy, profiles=replace(found, readers=tuple(readers)))
    texts = said(content)
    decided = " ".join(each for each in texts if each.startswith("**Decide what"))
    assert ("“possibly”" in decided.split("**")[1] if decided else False) == asked
    alone = [each for each in texts if each.startswith("**Off in one reader's hands:** “possibly”")]
    assert bool(alone) != asked
    for text in alone:
        assert "CT 21\u00a0%); for the other readers CT shows 22\u00a0%. Nothing is" in text


@pytest.mark.parametrize(("off", "asked"), [(1, False), (2, False), (3, True)])
def test_nine_of_sixty_hands_speak_for_all_and_one_of_them_decides_nothing(
    review: CommitteeContent, off: int, asked: bool
) -> None:
    """A word off in 1 of 9 hands stood first: nine of sixty were too few to be heard at all."""
    heavy = leaning(also_off(review), Interval(0.9, 0.87, 0.93))
    found = heavy.profiles
    assert isinstance(found, DepartmentProfile)
    codes = [f"R-{i:02d}" for i in range(60)]
    shown = next(row for row in heavy.readers if row.n >= heavy.minimum_n)
    readers = []
    for i, code in enumerate(codes):
        each = found.readers[0]
        rate = Interval(0.1, 0.05, 0.15) if i < off else Interval(0.29, 0.2, 0.38)
        word = PhraseRate("possibly", 40.0 if i < 9 else 5.0, rate.value, rate, 0.29)
        swap = Swap(
            "possibly", None, "unlikely", 40.0, 0.1, rate, 0.29, 0.09, 0.99,
            Interval(0.02, 0.01, 0.03),
        )  # fmt: skip
        verdict = replace(each.pattern.verdict, state="none", parts=(), stated=())
        readers.append(
            replace(
                each, reader=code, phrases=(word,), advice=(swap,) * (i < off), habits=(), rest=(),
                considered=(), sides=(), pattern=replace(each.pattern, verdict=verdict),
            )
        )  # fmt: skip
    sixty = replace(
        heavy,
        readers=tuple(replace(shown, code=code) for code in codes),
        profiles=replace(found, readers=tuple(readers)),
    )
    texts = said(sixty)
    decided = " ".join(each for each in texts if each.startswith("**Decide what"))
    assert ("“possibly”" in decided.split("**")[1] if decided else False) == asked
    if asked:
        assert "; for 3 of 9 readers judged, of 60)" in decided
    elif off == 1:
        assert any(each.startswith("**Off in one reader's hands:** “possibly”") for each in texts)
    else:
        few = "**Off for all readers together, but for 2 of the 9 who can be judged:** “possibly”"
        shown = guard_committee(sixty)
        of = Department(shown, shown.profiles, shown.department)
        (text,) = in_few_hands(of, WORDS, full=False)
        assert text.startswith(few)
        assert in_few_hands(of, WORDS, full=True) == []


@pytest.mark.parametrize(
    ("plain", "begins", "decided"),
    [
        (0, "**No sure standard:** CT itself hedges in every one", False),
        (SuppressedCell(20), "**No sure standard:** CT itself hedges in all but a few", False),
        (200, "", True),
        (SuppressedCell(5, "readers"), "", True),
        (None, "", True),
    ],
)
@pytest.mark.parametrize("language", ["en", "de"])
def test_page_1_says_where_ct_itself_hedges_and_decides_on_no_word_by_it(
    review: CommitteeContent,
    plain: int | SuppressedCell | None,
    begins: str,
    decided: bool,
    language: str,
) -> None:
    """All CTs hedged, and page 1 said that words are too strong."""
    leaned = replace(leaning(review, Interval(0.9, 0.87, 0.93)), ct_plain=plain)
    words = Strings.load(language=language)
    opened = guard_committee(leaned)
    first = headline(opened, words=words)
    if language == "en":
        assert begins in first
        assert ("standard" in first) == bool(begins)
        assert ("they say too much" in first) == decided
    (section,) = decisions(opened, words)
    texts = [piece.text for piece in section.pieces if isinstance(piece, Prose)]
    assert (words("decisions.standard") in texts) != decided
    assert any(text.startswith("**1. ") for text in texts) == decided


def hedged_by_ct(review: CommitteeContent, readers: int) -> CommitteeContent:
    """Let CT hedge of two in three hedges of so many readers, and of none of the others'."""
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    plain = [r.hedges / (3.0 if i < readers else 1.0) for i, r in enumerate(found.readers)]
    return replace(
        review, profiles=replace(found, readers=as_standard(found.readers, np.array(plain)))
    )


@pytest.mark.parametrize("language", ["en", "de"])
def test_of_words_of_which_readers_own_pages_say_nothing_the_review_proposes_nothing(
    review: CommitteeContent, language: str
) -> None:
    """CT hedged of two hedges in three: no page stated anything, and a word was to be taught."""
    words = Strings.load(language=language)
    opened = guard_committee(hedged_by_ct(review, 9))
    (section,) = decisions(opened, words)
    texts = [piece.text for piece in section.pieces if isinstance(piece, Prose)]
    assert texts[0] == words("decisions.standard_most")
    assert not any(text.startswith(("**1. ", "**2. ")) for text in texts)
    assert words("committee.standard_hedged", n=9, of=11) in headline(opened, words=words)
    (of_readers,) = apart(opened, words)
    said_of_all = [piece.text for piece in of_readers.pieces if isinstance(piece, Prose)]
    assert words("committee.apart_standard", n=9) in said_of_all[0]
    early = words("committee.apart_few", n="")[-25:]
    assert early not in said_of_all[0]
    (table,) = [p for p in profiles(opened, words)[0].pieces if isinstance(p, Table)]
    silent = [r.cells for r in table.rows if words("verdict.short.no_standard") in r.cells]
    assert len(silent) == 9
    assert {cells[3:] for cells in silent} == {("–",) * 4}
    (chart,) = department(opened, words)
    assert chart.note == words("phrase_chart.no_standard")
    (figure,) = [each for each in chart.pieces if isinstance(each, Figure)]
    drawn = Drawing(500.0, 500.0)
    figure.paint(drawn, Box(0.0, 0.0, 500.0, figure.tall))
    shown = {mark.string for mark in drawn.marks if isinstance(mark, Text)}
    assert not shown & {words("phrase_chart.more"), words("phrase_chart.less")}
    assert words("committee.sure", gap="", sure="")[-60:] not in figure.caption
    opening = words("committee.shared", what="")[:40]
    assert not any(text.startswith(opening) for text in said_of_all)


def test_who_has_no_sure_standard_is_no_hand_that_speaks_for_or_against_a_word(
    review: CommitteeContent,
) -> None:
    """A page that says nothing of a word was counted as one that does not find it off."""
    usual, some = (guard_committee(hedged_by_ct(review, n)) for n in (0, 3))
    assert (usual.standard, some.standard) == ("plain", "plain")
    assert usual.profiles is not None
    assert some.profiles is not None
    silent = {each.reader for each in some.profiles.readers[:3]}
    before, after = (
        {r.reader for r in hands(each, "likely", "less", 20)[0]}
        for each in (usual.profiles, some.profiles)
    )
    assert silent & before
    assert after == before - silent


def test_the_office_is_told_of_words_that_fit_ct_less_than_colleagues(
    review: CommitteeContent,
) -> None:
    """A join that failed in part was told the committee without what it looks like."""
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    first, *others = found.readers
    verdict = replace(first.pattern.verdict, state="no rise", parts=(), question=False)
    aside = Aside(
        None, "mixed", first.hedges, first.pattern.slope, first.sides, "open",
        share=Interval(0.4, 0.3, 0.5),
    )  # fmt: skip
    mixed = replace(
        first, aside=(aside,), pattern=replace(first.pattern, verdict=verdict), advice=(),
        habits=(), considered=(), rest=(),
    )  # fmt: skip
    checked = replace(review, profiles=replace(found, readers=(mixed, *others)))
    (text,) = (each for each in said(checked) if "check pairing and labels" in each)
    assert "the words of 1 of 11 readers do not rise" in text
    assert "For 1 of them they fit CT less well than colleagues', even “present” and" in text
    told = in_words(mixed, words=WORDS)
    assert told.first.startswith("Your words fit CT less well than colleagues', even “present”")
    assert "as if 40 % of your X-rays (30–50 %)" in told.lead.replace("\u00a0", " ")


def test_a_department_without_a_hedge_is_told_so_and_sees_no_sign_that_is_not_drawn(
    review: CommitteeContent,
) -> None:
    """An empty map and an empty chart stood there, and months said to be withheld."""
    found, whole = review.profiles, review.department
    assert isinstance(found, DepartmentProfile)
    assert not isinstance(whole, SuppressedCell)
    assert review.run_charts is not None
    table = whole.phrases
    n = np.where(table.hedges, 0.0, table.n)
    nothing = np.full(len(review.run_charts[1].months), np.nan)
    readers = [
        replace(each, hedges=0, phrases=(), advice=(), habits=(), sides=(), findings=(), rest=())
        for each in found.readers
    ]
    silent = replace(
        review,
        department=replace(whole, phrases=replace(table, n=n)),
        profiles=replace(found, readers=tuple(readers)),
        run_charts=(
            review.run_charts[0],
            replace(review.run_charts[1], level=nothing, process=process(nothing)),
        ),
        scale_use=ScaleUse((), np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)),
        ct_plain=None,
    )
    opened = guard_committee(silent)
    assert headline(opened, words=WORDS).endswith("Nobody wrote a hedge that is scored.")
    (chart,) = department(opened, WORDS)
    assert "tick" not in chart.note.replace("no tick", "")
    assert "which no other word mends" not in below(silent)
    (months,) = over_time(opened, WORDS)
    (figure,) = [each for each in months.pieces if isinstance(each, Figure)]
    drawn = Drawing(500.0, 200.0)
    figure.paint(drawn, Box(0.0, 0.0, 500.0, figure.tall))
    assert WORDS("run_chart.scale_use") not in {
        m.string for m in drawn.marks if isinstance(m, Text)
    }
    shown = [each.text for each in months.pieces if isinstance(each, Prose)]
    assert WORDS("run_chart.nothing", name=WORDS("run_chart.scale_use")) in shown
    (none,) = maps(opened, WORDS).pieces[:1]
    assert isinstance(none, Prose)
    (use,) = scale_use(opened, WORDS).pieces
    assert isinstance(use, Prose)
    assert use.text == WORDS("committee.no_hedge_written")


def test_a_month_without_a_statement_is_named_and_no_line_leads_over_it(
    review: CommitteeContent,
) -> None:
    """A year with a month missing was drawn as if there were none."""
    charts = []
    assert review.run_charts is not None
    for each in review.run_charts:
        level = each.level.copy()
        level[2] = np.nan
        charts.append(replace(each, level=level, process=process(level), partial=(), withheld=()))
    (section,) = over_time(replace(review, run_charts=tuple(charts)), WORDS)
    gone = WORDS.month(charts[0].months[2], "long")
    (text,) = [
        e.text for e in section.pieces if isinstance(e, Prose) and "Nothing in either" in e.text
    ]
    assert text.startswith(f"**Nothing in either chart:** {gone}, without any statement")
    (alone,) = over_time(replace(review, run_charts=(charts[0], *review.run_charts[1:])), WORDS)
    assert "Nothing in either" not in " ".join(e.text for e in alone.pieces if isinstance(e, Prose))
    drawn = Drawing(300.0, 120.0)
    run_chart(drawn, Box(0.0, 0.0, 300.0, 120.0), chart=charts[0], words=WORDS)
    months = [m for m in drawn.marks if m.id.startswith("distance.")]
    places = {m.id: m.x if isinstance(m, Disc) else m.points[0][0] for m in months}
    before, after = (places[f"distance.{charts[0].months[i]}"] for i in (1, 3))
    lines = [m.points for m in drawn.marks if isinstance(m, Polygon)]
    assert all(not (line[0][0] <= before and line[-1][0] >= after) for line in lines)


def test_one_finding_alone_has_no_second_reckoning_of_the_departments_figures(
    review: CommitteeContent,
) -> None:
    """The distance stood on page 4 twice, with intervals of two draws."""
    one = guard_committee(replace(review, by_pathology=review.by_pathology[:1]))
    assert not any(isinstance(each, Table) for each in pathologies(one, WORDS).pieces)
    every = guard_committee(review)
    assert any(isinstance(each, Table) for each in pathologies(every, WORDS).pieces)


@pytest.mark.parametrize(
    ("hands", "others", "asked"),
    [
        (8, 0.6, "CT shows it less often than they promise, for 8 of 8 readers.**"),
        (3, 0.6, ""),  # no matter of most hands
        (8, 0.43, ""),  # what holds of all findings is none of this one
        (8, 0.25, ""),
    ],
)
def test_a_finding_is_put_to_the_committee_where_it_is_off_in_most_hands_and_others_are_not(
    review: CommitteeContent, hands: int, others: float, asked: str
) -> None:
    """What all shared in one finding was told as habits of single readers."""
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    low, even = Interval(0.42, 0.36, 0.48), Interval(0.58, 0.52, 0.64)
    rest = Interval(others, others - 0.05, others + 0.05)
    readers = [
        replace(
            each,
            findings=(
                PhraseRate("pneumonia", 180.0, 0.42, low if i < hands else even, 0.59),
                PhraseRate("pneumothorax", 200.0, others, rest, 0.6),
            ),
        )
        for i, each in enumerate(found.readers[:8])
    ]
    content = replace(review, profiles=replace(found, readers=tuple(readers)))
    texts = [each for each in said(content) if "Look at hedges on pneumonia" in each]
    assert bool(texts) == bool(asked)
    for text in texts:
        assert asked in text
        assert "promise 59\u00a0% and CT shows 42\u00a0% (1,456 statements)" in text
        assert "on all other findings 60\u00a0% and 60\u00a0%." in text


@pytest.mark.parametrize("holders", [2, 3])
def test_a_gap_of_the_scale_in_which_several_readers_words_lie_is_put_to_the_committee(
    review: CommitteeContent, holders: int
) -> None:
    """Nearly every word without a swap lay where the scale recommends none."""
    found, use = review.profiles, review.scale_use
    assert isinstance(found, DepartmentProfile)
    assert use is not None
    kinds = {"unlikely": "recommended", "may represent": "recommended", "possibly": "discouraged"}
    scale = replace(use, terms=tuple((phrase, 50, kind) for phrase, kind in kinds.items()))
    word = PhraseRate("probably", 90.0, 0.25, Interval(0.25, 0.18, 0.33), 0.68)
    readers = []
    for at, each in enumerate(found.readers):
        parts = ("overcalls",) if at < holders else ()
        verdict = replace(
            each.pattern.verdict, state="pattern" if parts else "none", parts=parts, question=False
        )
        readers.append(
            replace(
                each,
                phrases=(word,) if parts else (),
                advice=(),
                habits=(),
                rest=(),
                sides=(),
                considered=(),
                pattern=replace(each.pattern, verdict=verdict),
            )
        )
    gap = replace(review, scale_use=scale, profiles=replace(found, readers=tuple(readers)))
    texts = [each for each in said(gap) if "whether the scale needs a word" in each]
    assert len(texts) == (holders > 2)
    for text in texts:
        assert "between “unlikely” (9\u00a0%) and “may represent” (44\u00a0%)" in text
        assert re.search(r"For 3 of \d+ readers a word without a swap comes true", text)
        assert "Discouraged words that would fit: “possibly”." in text
        assert "Owner: the committee. Expected effect: " in text


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (range(1, 9), "no signal now; one upwards (7 months in a row on one side of the mean)"),
        (range(4, 12), "a signal upwards, to the last month: 7 months in a row"),
    ],
)
def test_a_signal_that_has_ended_says_when_and_one_that_lasts_says_so(
    review: CommitteeContent, run: range, expected: str
) -> None:
    months = tuple(f"2026-{i + 1:02d}" for i in range(12))
    level = np.array([0.44 if i in run else 0.40 for i in range(12)])
    level += np.tile([0.0, 0.02], 6)
    chart = RunChart("scale_use", months, level, process(level))
    (section,) = over_time(replace(review, run_charts=(chart,)), WORDS)
    texts = [piece.text for piece in section.pieces if isinstance(piece, Prose)]
    (text,) = [text for text in texts if "signal" in text]
    assert expected in text
    assert ("ended in September 2026" in text) == (run.stop < 12)


def test_a_chart_without_a_signal_shows_no_difference_and_proves_no_sameness(
    review: CommitteeContent,
) -> None:
    """Of twelve months without a signal it said that they differ by no more than chance."""
    level = 0.4 + np.tile([0.0, 0.02], 6)
    months = tuple(f"2026-{i + 1:02d}" for i in range(12))
    chart = RunChart("scale_use", months, level, process(level))
    (section,) = over_time(replace(review, run_charts=(chart,)), WORDS)
    texts = [piece.text for piece in section.pieces if isinstance(piece, Prose)]
    (text,) = [text for text in texts if "no signal" in text]
    assert "no signal: nothing stands out beyond chance." in text


def test_a_distance_within_chance_is_not_said_to_be_chance(usual: CommitteeContent) -> None:
    whole = usual.department
    assert not isinstance(whole, SuppressedCell)
    error = replace(whole.phrase_error, null_high=whole.phrase_error.value + 0.01)
    content = replace(usual, department=replace(whole, phrase_error=error))
    text = committee.headline(guard_committee(content), words=WORDS)
    assert "so it may be chance alone" in text


@pytest.mark.parametrize(
    ("expected", "words"), [(0.01, "fewer than 1 is"), (0.6, "about 1 are"), (2.6, "about 3 are")]
)
def test_signals_expected_to_be_false_are_counted_and_never_0(
    review: CommitteeContent, expected: float, words: str
) -> None:
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    doubted = replace(review, profiles=replace(found, expected_false=expected))
    (section,) = apart(guard_committee(doubted), WORDS)
    text = next(piece.text for piece in section.pieces if isinstance(piece, Prose))
    assert f"{words} expected to be false, if reading and pairing are right" in text
    assert "readers were tested" in text
    asked = sum(reader.pattern.verdict.question for reader in found.readers)
    rule = WORDS("committee.choice", low="0.8", high="1.5", asked=asked)
    assert rule in str(section.pieces)  # of every signal, shift or slope, and where there is none
    nobody = replace(doubted, profiles=replace(found, readers=()))
    (section,) = apart(guard_committee(nobody), WORDS)
    assert "as a question (0 of these); a slope has no such figure" in str(section.pieces)


def table_of_readers(review: CommitteeContent) -> dict[str, tuple[str, ...]]:
    listed, _ = profiles(guard_committee(review), WORDS)
    (table,) = [piece for piece in listed.pieces if isinstance(piece, Table)]
    return {str(row.cells[0]): tuple(map(str, row.cells[1:])) for row in table.rows}


def test_a_reader_whose_figures_are_not_reportable_has_none_on_any_page(
    review: CommitteeContent,
) -> None:
    shown = table_of_readers(review)
    code = next(code for code, cells in shown.items() if "(" in cells[2])
    rows = tuple(replace(r, reliability=0.63) if r.code == code else r for r in review.readers)
    noisy = replace(review, readers=rows)
    cells = table_of_readers(noisy)[code]
    assert cells[2:5] == ("not reportable", "–", "–")
    assert cells[:2] == shown[code][:2]
    drawn = committee.pages(noisy, style=Style())
    assert f"plane.{code}" not in {mark.id for page in drawn for mark in page.marks}
    assert f"plane.{code}" in {
        mark.id for page in committee.pages(review, style=Style()) for mark in page.marks
    }


def test_a_reader_without_hedges_has_no_figure_and_no_disc(review: CommitteeContent) -> None:
    """All stood at a perfect point, with an interval from -6 to 6, from no hedge at all."""
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    silent = [replace(each, hedges=0.0, phrases=(), advice=()) for each in found.readers]
    one = replace(review, profiles=replace(found, readers=(silent[0], *found.readers[1:])))
    code = silent[0].reader
    assert table_of_readers(one)[code][2:5] == ("no hedges", "–", "–")
    drawn = committee.pages(one, style=Style())
    assert f"plane.{code}" not in {mark.id for page in drawn for mark in page.marks}
    nobody = replace(review, profiles=replace(found, readers=tuple(silent)))
    (section,) = apart(guard_committee(nobody), WORDS)
    assert not any(isinstance(piece, Figure) for piece in section.pieces)
    text = " ".join(piece.text for piece in section.pieces if isinstance(piece, Prose))
    assert text.startswith("Nobody wrote a hedge that is scored")
    assert "eaders differ" not in text
    assert {cells[2] for cells in table_of_readers(nobody).values()} == {"no hedges"}
    assert by_finding(nobody) == by_finding(review)
    assert committee.pages(nobody, style=Style())


def test_a_funnel_knows_what_chance_gives_and_how_readers_differ() -> None:
    """Four readers of 100, standard error .05: limits by hand, with and without τ = .1."""
    gaps = Gaps(np.array([-0.3, -0.12, 0.0, 0.12]), np.full(4, 0.05), np.full(4, 100.0))
    alike = replace(shrink_gaps(gaps), centre=0.0, between_variance=0.01)
    funnel = Funnel(("a", "b", "c", "d"), gaps, alike, ())
    low, high = funnel.limits(100.0, widened=False)
    assert (low, high) == (pytest.approx(-0.098, abs=5e-4), pytest.approx(0.098, abs=5e-4))
    low, high = funnel.limits(400.0, widened=False)
    assert (low, high) == (pytest.approx(-0.049, abs=5e-4), pytest.approx(0.049, abs=5e-4))
    low, high = funnel.limits(100.0, widened=True)
    assert (low, high) == (pytest.approx(-0.2191, abs=5e-4), pytest.approx(0.2191, abs=5e-4))
    assert (funnel.outside(widened=False), funnel.outside(widened=True)) == (3, 1)
    assert funnel.spread == pytest.approx(0.1)


def test_the_funnel_holds_every_reader_shown_names_those_told_and_nobody_else(
    review: CommitteeContent,
) -> None:
    hidden = replace(review.readers[0], reliability=0.5)
    review = replace(review, readers=(hidden, *review.readers[1:]))
    marks = [mark for page in committee.pages(review, style=Style()) for mark in page.marks]
    drawn = {mark.id.partition(".")[2] for mark in marks if mark.id.startswith("funnel.")}
    shown = {row.code for row in review.readers if isinstance(row.gap, Estimate)} - {hidden.code}
    assert drawn == shown
    (section,) = [each for each in committee.sections(review, words=WORDS)
                  if each.title == WORDS("committee.readers_table")]  # fmt: skip
    (figure,) = [each for each in section.pieces if isinstance(each, Figure)]
    drawing = Drawing(520.0, 200.0)
    figure.draw(drawing, drawing.frame)
    named = {m.string for m in drawing.marks if isinstance(m, Text) and m.string.startswith("R-")}
    assert review.profiles is not None
    assert not isinstance(review.profiles, SuppressedCell)
    told = {r.reader for r in review.profiles if r.pattern.verdict.state == "pattern"}
    assert named
    assert named <= told & shown
    few = replace(review, readers=review.readers[:2])
    assert not any(
        isinstance(piece, Figure) for piece in readers(guard_committee(few), WORDS).pieces
    )


def test_a_phrase_is_marked_exactly_where_its_printed_interval_misses_its_printed_tick(
    review: CommitteeContent,
) -> None:
    guarded = guard_committee(review)
    assert not isinstance(guarded.department, SuppressedCell)
    table, (section,) = guarded.department.phrases, department(guarded, WORDS)
    assert "**One rule:** “more” and “less” mark every phrase whose interval" in section.note
    drawn = committee.pages(review, style=Style())
    marks = {m.id: m.string for page in drawn for m in page.marks if isinstance(m, Text)}
    found: dict[str, str | None] = {}
    for k, phrase in enumerate(table.phrases):
        if f"n.{phrase}" not in marks:
            continue
        shown = percent_limits(table.low[k], table.high[k], table.observed[k])
        tick, error = round(100 * table.expected[k]), round(100 * table.expected_error[k])
        beyond = [tick - error > shown[1], shown[0] > tick + error]
        if phrase in ("absent", "present"):
            assert f"side.{phrase}" not in marks
            continue
        found[phrase] = {(False, False): None, (True, False): "less", (False, True): "more"}[
            *beyond
        ]
        assert marks.get(f"side.{phrase}") == found[phrase], phrase
    assert {"less", None} <= {*found.values()}


@pytest.mark.parametrize(
    ("mass", "respondents", "side"),
    [(540, 30, None), (540, 1000, "less"), (480, 30, "less"), (700, 30, None), (700, 1000, "more")],
)
def test_a_phrase_within_the_error_of_its_survey_is_not_marked(
    mass: float, respondents: int, side: str | None
) -> None:
    """A word that 30 people put at 62 % on average may mean 53 % to 71 %."""
    spread = Beta(1.815, 1.098)
    table = PhraseTable("one", ("suggestive of",), (spread,), (respondents,))
    counted = Tally.from_moments([1000.0], [mass])
    (row,) = phrase_rows(phrase_calibration(counted, phrase_table=table), minimum_n=20)
    assert missed(row) == side
    assert row.tick() == (62, 9 if respondents == 30 else 2)


def test_a_borrowed_word_has_the_error_of_its_lender_and_an_assigned_one_none() -> None:
    table = builtin("diagnostic-certainty-scale").with_borrowed(
        {"concerning for": "suspicious for"}
    )
    error = dict(zip(table.phrases, table.errors, strict=True))
    assert error["concerning for"] == error["suspicious for"] > 0.05
    assert error["absent"] == error["present"] == 0.0
    assert error["likely"] == pytest.approx(0.024, abs=0.001)


def test_where_readers_gather_stands_beside_the_plain_means_of_the_columns(
    review: CommitteeContent,
) -> None:
    shown = table_of_readers(review)
    _, text = (piece for piece in profiles(guard_committee(review), WORDS)[0].pieces)
    assert isinstance(text, Prose)
    said = re.search(r"plain means of both columns: (\S+) and (\S+)\.", text.text)
    assert said
    for column, printed in zip((2, 3), said.groups(), strict=True):
        values = [float(cells[column].split()[0].replace("−", "-")) for cells in shown.values()]
        assert float(printed.replace("−", "-")) == pytest.approx(np.mean(values), abs=0.0101)
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    few = replace(found, shared=replace(found.shared, readers=4))
    _, text = profiles(guard_committee(replace(review, profiles=few)), WORDS)[0].pieces
    assert isinstance(text, Prose)
    assert "gather" not in text.text


def test_a_quarter_that_an_issue_cuts_off_is_left_out_and_one_inside_says_not_shown(
    review: CommitteeContent,
) -> None:
    use = review.scale_use
    assert use is not None
    few = np.array([np.nan, 0.4, np.nan, 0.5, np.nan])
    spans = ("2025 Q4", "2026 Q1", "2026 Q2", "2026 Q3", "2026 Q4")
    cut = replace(use, periods=spans, n=np.full(5, 90), recommended=few, discouraged=few)
    rows = use_table(cut, words=WORDS).rows
    assert [row.cells[0] for row in rows] == ["Q1 2026", "Q2 2026", "Q3 2026"]
    assert rows[1].cells[1] == WORDS("state.withheld_short")


def test_what_counts_as_no_matter_is_said_below_the_intervals(review: CommitteeContent) -> None:
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    rules = replace(found.settings, shift_margin=0.3, slope_margin=0.2)
    wider = replace(review, profiles=replace(found, settings=rules))
    _, note, *_ = profiles(guard_committee(wider), WORDS)[0].pieces
    assert isinstance(note, Prose)
    assert "up to 0.3 above or below 0, and from 0.80 to 1.20, a difference does not" in note.text


def test_a_month_left_out_of_the_run_charts_is_named_beside_them(review: CommitteeContent) -> None:
    charts = tuple(replace(chart, partial=("2026-09",)) for chart in review.run_charts or ())
    (section,) = over_time(replace(review, run_charts=charts), WORDS)
    texts = [piece.text for piece in section.pieces if isinstance(piece, Prose)]
    assert any(
        text.startswith("**Left out of both charts:** September 2026, with") for text in texts
    )
    (section,) = over_time(review, WORDS)
    assert not any("Left out" in str(piece) for piece in section.pieces)


def test_months_left_for_the_next_issue_and_months_withheld_are_named_with_what_they_hold(
    review: CommitteeContent,
) -> None:
    charts = tuple(replace(chart, withheld=("2026-09",)) for chart in review.run_charts or ())
    left = (("2026-10", SuppressedCell(20)), ("2026-11", 123))
    for drawn in (charts, None):
        given = guard_committee(replace(review, run_charts=drawn, later=left))
        (section,) = over_time(given, WORDS)
        said = " ".join(piece.text for piece in section.pieces if isinstance(piece, Prose))
        assert "statements of October 2026 (fewer than 20), November 2026 (122): under half" in said
        assert ("**Withheld from a chart:** September 2026," in said) == (drawn is not None)
    (section,) = over_time(review, WORDS)
    assert not any("next issue:" in str(piece) for piece in section.pieces)


def test_too_little_before_a_window_and_a_failure_do_not_read_as_nobody_moved(
    review: CommitteeContent,
) -> None:
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    for changes, said in (((), "cannot be told yet: there is"), (None, "could not be computed")):
        given = replace(review, profiles=replace(found, changes=changes))
        (section,) = apart(guard_committee(given), WORDS)
        text = " ".join(piece.text for piece in section.pieces if isinstance(piece, Prose))
        assert f"Whether readers have moved {'' if changes == () else 'since'}" in text
        assert said in text
        assert "shown to have moved" not in text


def test_a_move_that_is_withheld_says_so_and_why(review: CommitteeContent) -> None:
    """Nothing was said of it where no reader's figures are reliable enough to print."""
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    still = Coordinate(0.0, -0.2, 0.2, 0.1)
    changes = tuple(Change(each.reader, still, still) for each in found.readers)
    rows = tuple(replace(row, reliability=0.4) for row in review.readers)
    for listed, hidden in ((review.readers, False), (rows, True)):
        given = replace(review, readers=listed, profiles=replace(found, changes=changes))
        (section,) = apart(guard_committee(given), WORDS)
        text = " ".join(piece.text for piece in section.pieces if isinstance(piece, Prose))
        assert ("Whether readers have moved is not shown" in text) == hidden
        assert ("(reliability below 0.7)" in text) == hidden
        assert ("is shown to have moved" in text) != hidden


def test_of_whom_no_more_exams_would_tell_it_is_not_said_to_be_too_early(
    review: CommitteeContent,
) -> None:
    """Nor of whom it cannot be told whose doing it is: the own page says that more would not."""
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    verdict = replace(found.readers[0].pattern.verdict, state="too few", parts=())
    why: dict[int, Untold] = {0: "no hedge", 1: "instrument"}
    readers = tuple(
        replace(
            reader,
            hedges=reader.hedges if i else 0.0,
            pattern=replace(reader.pattern, verdict=replace(verdict, untold=why.get(i))),
        )
        for i, reader in enumerate(found.readers)
    )
    filled = guard_committee(replace(review, profiles=replace(found, readers=readers)))
    text = next(p.text for p in apart(filled, WORDS)[0].pieces if isinstance(p, Prose))
    judged = filled.counts.judged
    unclear = "for 1 it cannot be told whether it is their words, CT or how reports are read"
    few = f"for {judged - 2} it is too early to tell"
    assert f"; {unclear}, {few}, 1 wrote no hedge that is scored." in text


def test_readers_no_further_off_than_the_department_are_not_said_to_stand_where_ct_puts_them(
    review: CommitteeContent,
) -> None:
    found = review.profiles
    assert isinstance(found, DepartmentProfile)
    verdict = replace(
        found.readers[0].pattern.verdict, state="none", parts=(), shared=("too sure",)
    )
    alike = tuple(
        replace(reader, pattern=replace(reader.pattern, verdict=verdict))
        for reader in found.readers
    )
    (section,) = apart(
        guard_committee(replace(review, profiles=replace(found, readers=alike))), WORDS
    )
    text = next(piece.text for piece in section.pieces if isinstance(piece, Prose))
    assert "promises**; those of 11 are not surely further off than" in text


def test_a_review_of_few_readers_decides_what_rests_on_none_and_explains_nothing_it_lacks() -> None:
    few = samples.committee(readers=4)
    assert [text.split("**")[1] for text in said(few)] == [
        "Pool with another site, or wait.",
        "Before the next issue, measure how well reports are read.",
    ]
    drawn = committee.pages(few, style=Style())
    text = " ".join(m.string for page in drawn for m in page.marks if isinstance(m, Text))
    for absent in ("sensitivity tables", "signal for review", "mark the phrases", "counted there"):
        assert absent not in text, absent


def test_limits_are_explained_where_they_are_drawn(review: CommitteeContent) -> None:
    def caption(charts: tuple[RunChart, ...]) -> str:
        (section,) = over_time(guard_committee(replace(review, run_charts=charts)), WORDS)
        return next(piece.caption for piece in section.pieces if isinstance(piece, Figure))

    assert review.run_charts is not None
    charts = tuple(review.run_charts)
    limits = WORDS("run_chart.note")
    firm = WORDS("run_chart.provisional", n=charts[0].process.n, least=20)
    signalled = any(chart.process.signals for chart in charts)
    assert caption(charts) == " ".join([limits, *[WORDS("run_chart.diamond")] * signalled, firm])
    calm = tuple(replace(each, process=replace(each.process, signals=())) for each in charts)
    assert "Diamond" not in caption(calm)
    short = tuple(
        replace(each, months=each.months[:6], level=each.level[:6], process=process(each.level[:6]))
        for each in charts
    )
    assert caption(short) == ""
