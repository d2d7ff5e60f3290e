"""What is told of a reader of several sites holds at each, or the page says that it does not."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibration.profile import DepartmentProfile, ReaderProfile, profile
from calibration.profile.rates import Rate
from calibration.profile.shared import Evidence
from calibration.profile.sites import compared
from calibration.profile.swaps import Choices, _apart, _Move
from pipeline.config import Configuration
from pipeline.pages.content import coverage_of
from reports.disclosure import _of_reader
from reports.drawing.marks import Drawing, Text
from reports.drawing.style import style_for
from reports.pages import committee, radiologist
from reports.strings import Strings
from reports.verdict import in_words, message, of_all, short
from tests.fixtures.department import SCALE, department
from tests.fixtures.reports import sample_contents as samples

WORDS = {name: Strings.load(language=name) for name in ("en", "de")}
FIT = [(0.0, 1.0)] * 4


def at(one: float, other: float, *, each: int = 700, seed: int = 5) -> pd.DataFrame:
    """Draw four readers of one site that fit, and r00 who is off at it and otherwise at another."""
    parts = [
        department([(shift, 1.0), *FIT][: 5 - 4 * number], statements=each, seed=seed + number)
        .assign(site=name)
        .assign(patient=lambda rows, name=name: name + rows["patient"])
        .assign(exam=lambda rows, name=name: name + rows["exam"])
        for number, (name, shift) in enumerate((("north", one), ("south", other)))
    ]
    return pd.concat(parts, ignore_index=True)


def of_r00(rows: pd.DataFrame) -> ReaderProfile:
    return profile(rows, phrases=SCALE).reader("r00")


def said(found: ReaderProfile) -> tuple[str, str | None, str | None]:
    verdict = found.pattern.verdict
    return found.pattern.direction, verdict.untold, verdict.sites


SAID = {name: mean for name, mean in zip(SCALE.phrases, SCALE.means, strict=True) if name in {
    "most likely", "likely", "may represent", "unlikely", "very unlikely"}}  # fmt: skip


def swaps(found: ReaderProfile) -> list[tuple[str, str, bool]]:
    return [(each.phrase, each.instead, bool(each.apart)) for each in found.advice]


def test_who_is_off_both_ways_at_two_sites_is_not_told_that_nothing_is_to_be_changed() -> None:
    rows = at(0.8, -0.8)
    assert said(of_r00(rows.drop(columns="site")))[0] == "none"
    found = of_r00(rows)
    assert said(found) == ("too few", "sites", None)
    assert (found.advice, found.habits, found.considered) == ((), (), ())
    assert found.pattern.verdict.more_exams is None
    assert [(each.phrase, each.rate.value > each.meaning) for each in found.sites or ()] in (
        [("north", True), ("south", False)], [("south", False), ("north", True)],
    )  # fmt: skip


def test_a_pattern_of_one_site_is_not_told_of_both() -> None:
    rows = at(-1.5, 0.1)
    assert said(of_r00(rows.drop(columns="site")))[0] == "overcalls"
    assert said(of_r00(rows)) == ("too few", "sites", None)


def test_a_pattern_of_both_sites_is_told_and_said_to_be_looked_at() -> None:
    found = of_r00(at(-1.0, -1.0))
    assert said(found) == ("overcalls", None, "hold")
    behind = in_words(found, words=WORDS["en"]).behind
    assert any("each of your sites, looked at separately, bear out" in text for text in behind)


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_swap_that_may_not_be_nearer_at_each_site_is_held_back_and_says_so(language: str) -> None:
    rows, words = at(-1.2, -0.3, seed=6), WORDS[language]
    together = swaps(of_r00(rows.drop(columns="site")))
    assert ("probably", "may represent", False) in together
    found = of_r00(rows)
    assert (said(found)[0], found.advice) == ("overcalls", ())
    held = {each.phrase: each for each in found.considered if each.apart and not each.finding}
    assert {phrase for phrase, _, _ in together} <= set(held)
    assert held["probably"].probability >= 0.9
    told = in_words(found, words=words, scale=SAID)
    ends = words.sentences["verdict.stay.sites"].rpartition("}")[2]
    assert told.stay.endswith(ends)
    assert "probably" in told.stay
    others = words.sentences["verdict.held.sites"].partition("{")[0]
    assert [text.startswith(others) for text in told.left].count(True) == 1


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_word_that_reaches_less_far_and_is_nearer_at_each_site_is_a_step(language: str) -> None:
    rows, words = at(-1.4, -0.4), WORDS[language]
    found = of_r00(rows)
    assert ("most likely", "likely", True) in swaps(found)
    assert ("probably", "may represent", False) in swaps(of_r00(rows.drop(columns="site")))
    assert "probably" not in {each.phrase for each in found.advice}
    told = in_words(found, words=words, scale=SAID | {"suspicious for": 0.66})
    card = next(each for each in told.actions if each.swap.phrase == "most likely")
    assert card.instead == "likely"
    step = words("verdict.swap.step_sites", word="suspicious for", meaning="66\u00a0%")
    assert step in card.evidence


def test_readers_whose_sites_are_alike_are_judged_as_without_them() -> None:
    given, kept = Counter[str](), Counter[str]()
    for seed in range(6):
        frame = department([(0.0, 1.0), (0.7, 1.0), (0.0, 0.6)] * 2, statements=600, seed=seed)
        exam = pd.factorize(frame["exam"])[0]
        named = frame.assign(site=np.where(exam % 2 == 0, "north", "south"))
        told = profile(named, phrases=SCALE), profile(frame, phrases=SCALE)
        for each, plain in zip(*told, strict=True):
            assert said(each)[:2] == said(plain)[:2]
            given.update(f"{seed} {plain.reader} {swap}" for swap in swaps(plain))
            kept.update(f"{seed} {each.reader} {swap}" for swap in swaps(each))
    assert given.total() > 25
    assert (given - kept).total() <= 1


def test_a_reader_of_one_site_has_nothing_to_compare_and_says_nothing_of_it() -> None:
    found = profile(at(0.0, 0.0), phrases=SCALE).reader("r01")
    assert found.pattern.verdict.sites is None
    assert [each.phrase for each in found.sites or ()] == ["north"]


@pytest.mark.parametrize("named", [True, False])
def test_beside_a_single_word_what_is_said_of_sites_stands_by_itself(named: bool) -> None:
    """It pointed to what the start says of hedges as a whole, and the start spoke of one word."""
    rows = at(0.0, 0.0, each=900)
    off = (rows["reader"] == "r00") & (rows["phrase"] == "likely") & (rows.index % 2 == 0)
    rows = rows.assign(label=rows["label"].where(~off, 0.0))
    found, words = of_r00(rows if named else rows.drop(columns="site")), WORDS["en"]
    told = in_words(found, words=words)
    assert (said(found)[0], told.first[:13]) == ("none", "Your “likely”")
    assert [*told.behind] == [words("verdict.sites.none_hold")] * named


def test_a_site_of_few_hedges_is_open_and_has_no_figure() -> None:
    rows = at(0.0, 0.0, each=900)
    kept = (rows["site"] == "north") | (rows.groupby("site").cumcount() < 25)
    found = of_r00(rows[kept])
    assert said(found) == ("none", None, "open")
    assert [each.phrase for each in found.sites or ()] == ["north"]
    behind = in_words(found, words=WORDS["en"]).behind
    assert any("for each alone we cannot tell yet" in text for text in behind)


@pytest.mark.parametrize("blank", ["", " ", None])
def test_exams_without_a_site_are_no_site_of_their_own(blank: str | None) -> None:
    rows = at(0.8, -0.8).astype({"site": object})
    rows.loc[rows.index % 4 == 0, "site"] = blank
    assert said(of_r00(rows))[0] == "none"
    assert of_r00(rows).sites is None
    assert of_r00(rows.assign(site=blank)).sites is None


def test_what_is_said_of_sites_names_none_and_the_committee_does_not_hear_of_them() -> None:
    found = of_r00(at(0.8, -0.8))
    for name, words in WORDS.items():
        text = message(found, words=words)
        assert "north" not in text
        assert "south" not in text
        assert of_all(found) == "sites"
        assert short(found, words) == words("verdict.short.instrument")
        first = {"en": "The same hedges come true at different rates", "de": "An Ihren Standorten"}
        assert text.startswith(first[name])
    rate, other = (each.rate.value for each in found.sites or ())
    text = message(found, words=WORDS["en"])
    assert f"{100 * rate:.0f}" in text
    assert f"{100 * other:.0f}" in text


def test_sites_are_withheld_together_and_without_their_names() -> None:
    found = of_r00(at(0.8, -0.8))
    assert found.sites is not None
    assert [each.phrase for each in _of_reader(found, 20).sites or ()] == ["", ""]
    few = replace(found, sites=(found.sites[0], replace(found.sites[1], n=31.0)))
    assert _of_reader(few, 50).sites == ()
    assert _of_reader(replace(found, sites=None), 20).sites is None


def test_two_sites_compared_by_hand() -> None:
    """Both variances .04, shifts ± .5: against a spread of .5, 1/√(v (v + s²)) is the ratio."""
    v, spread = 0.04, 0.25
    found = compared(np.array([0.5, -0.5]), np.array([v, v]))

    def likelihood(each: float) -> float:  # two shifts about a flat middle: their difference alone
        return -0.5 * math.log(2 * each) - 1.0 / (4 * each)

    odds = 0.3 / 0.7 * math.exp(likelihood(v + spread) - likelihood(v))
    assert found.probability == pytest.approx(odds / (1 + odds))
    kept = spread / (spread + v)
    assert found.moved == pytest.approx([0.5 * kept, -0.5 * kept])
    assert found.variance == pytest.approx([kept * v / 2] * 2)
    line = Evidence(np.array([0.1, 0.0]), np.diag([0.01, 0.02]))
    one, other = found.lines(line)
    assert (one.mean[0], other.mean[0]) == pytest.approx((0.1 + 0.5 * kept, 0.1 - 0.5 * kept))
    assert one.covariance[0, 0] == pytest.approx(0.01 + kept * v / 2)
    assert compared(np.array([50.0, -50.0]), np.array([1e-4, 1e-4])).probability == 1.0


def test_order_and_names_of_sites_change_nothing() -> None:
    rows = at(0.8, -0.8)
    other = rows.assign(site=rows["site"].map({"north": "B", "south": "A"})).sample(
        frac=1.0, random_state=1
    )
    one, two = of_r00(rows), of_r00(other)
    assert said(one) == said(two)
    rates = [sorted((each.n, each.observed) for each in found.sites or ()) for found in (one, two)]
    assert np.array(rates[0]) == pytest.approx(np.array(rates[1]))


@pytest.mark.parametrize("language", ["en", "de"])
def test_nothing_to_change_says_what_ct_readers_who_know_the_report_do_to_it(language: str) -> None:
    found: DepartmentProfile = profile(department(FIT, statements=2500, seed=11), phrases=SCALE)
    each = next(reader for reader in found if reader.pattern.direction == "none")
    words = WORDS[language]
    for known in ("unstated", "informed"):
        told = in_words(each, words=words, ct=known)  # type: ignore[arg-type]
        assert told.caveat.endswith(words(f"verdict.none.{known}"))
    assert words("verdict.none.unstated")[:9] not in in_words(each, words=words, ct="blind").caveat


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("known", ["unstated", "informed", "blind"])
def test_pages_say_what_is_known_of_sites_and_of_ct_readers(language: str, known: str) -> None:
    words, style = WORDS[language], style_for("A4", language=language)

    def texts(pages: list[Drawing]) -> str:
        joined = " ".join(m.string for page in pages for m in page.marks if isinstance(m, Text))
        return " ".join(joined.replace("\u00a0", " ").split())

    filled = samples.simulated(2)
    assert filled.profile is not None
    assert filled.coverage is not None
    filled = replace(filled, coverage=replace(filled.coverage, ct_readers=known))
    for sites, unnamed in ((None, True), ((), False)):
        shown = replace(filled, profile=replace(filled.profile, sites=sites))
        page = texts(radiologist.pages(shown, style=style))
        assert words(f"not.ct_{known}").rpartition("** ")[2] in page
        assert (words("not.sites").strip(" ,") in page) == unnamed
    review = samples.committee(readers=8)
    assert review.coverage is not None
    review = replace(review, coverage=replace(review.coverage, ct_readers=known))
    assert words(f"committee.ct_{known}") in texts(committee.pages(review, style=style))


def test_what_a_site_says_of_its_ct_readers_reaches_the_pages() -> None:
    rows = pd.DataFrame({"fate": ["paired"], "n": [1]})
    for known in ("unstated", "informed", "blind"):
        config = Configuration(
            input={"paths": ["a.csv"]}, calibration={"ct_readers": known}, folder=Path()
        )
        found = coverage_of(rows, config)
        assert found is not None
        assert found.ct_readers == known


@pytest.mark.parametrize(("line", "own", "held"), [
    (0.19, 0.29, False), (0.21, 0.0, True), (0.0, 0.31, True),
])  # fmt: skip
def test_what_a_swap_is_held_against_by_hand(line: float, own: float, held: bool) -> None:
    """True in .60 over all and in .75 at a site: there .77 is nearer than .66, so P = 1 − p."""
    nothing, apart = np.zeros(2), np.array([[0.69, 1e-9], [-0.69, 1e-9]])
    choices = Choices(
        names=("likely", "suspicious for"), findings=("",), meaning=np.array([0.77, 0.66]),
        corrected=np.array([0.77, 0.66]), variance=nothing, shared=nothing,
        allowed=np.ones((2, 2), dtype=bool), doubt=nothing, lean=nothing,
        sites=np.tile(apart, (2, 2, 1, 1)), differ=np.array([[line, own]] * 2),
    )  # fmt: skip
    rate = Rate(math.log(0.6 / 0.4), 1e-9, math.log(0.6 / 0.4), 1e-9, 1.0)
    move = _Move(0, None, 1, probability=1.0, gain=0.01)
    assert bool(_apart(move, rate, choices)) == held
    assert not _apart(move, rate, replace(choices, differ=np.zeros((2, 2))))
