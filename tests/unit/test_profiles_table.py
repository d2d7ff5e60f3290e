"""A period's profiles are judged once, kept whole, and each reader's cases fit the swap."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

from calibration.arrays import settled
from calibration.profile import DepartmentProfile, Interval, ReaderProfile, Swap
from calibration.survey import builtin
from pipeline.config import Configuration
from pipeline.pages.content import action_cases
from pipeline.tables.pairing import UNKNOWN
from pipeline.tables.profiles import (
    Past,
    compact,
    department_of,
    joined,
    profile_of,
    profile_table,
)
from pipeline.tables.results import Scale, plainest, telling
from reports.marked import subjects
from reports.swaps import kept_swaps

PHRASES = builtin("diagnostic-certainty-scale")
WORDS = ("likely", "may represent", "unlikely", "absent", "present")


def observations(
    *, readers: int = 6, each: int = 400, seed: int = 3, lift: float = 0.41
) -> pd.DataFrame:
    """Draw readers; the first writes "may represent" where CT shows it in 85 % of cases."""
    rng = np.random.default_rng(seed)
    n = readers * each
    reader = np.repeat(np.arange(readers), each)
    phrase = rng.integers(0, len(WORDS), size=n)
    rate = np.array([0.774, 0.441, 0.094, 0.02, 0.98])[phrase]
    rate = np.where((reader == 0) & (phrase < 3), np.minimum(rate + lift, 0.97), rate)
    return pd.DataFrame(
        {
            "pair_id": [f"X{i // 2:05d}:C{i // 2:05d}" for i in range(n)],
            "patient_code": [f"P{i // 4:05d}" for i in range(n)],
            "reader_code": [f"R{r}" for r in reader],
            "pathology": np.where(np.arange(n) % 2 == 0, "pleural effusion", "pneumonia"),
            "phrase": np.array(WORDS)[phrase],
            "ct_phrase": "present",
            "label": (rng.random(n) < rate).astype(float),
            "site_code": UNKNOWN,
            "performed_month": "2026-03",
            "interval_hours": 2.0,
            "weight": 1.0,
        }
    )


def judged(
    rows: pd.DataFrame, *, min_readers: int = 5, never: tuple[str, ...] = ()
) -> pd.DataFrame:
    return profile_table(
        joined([compact(rows)]), phrases=PHRASES, never=never, min_readers=min_readers
    )


def as_written(value: object) -> object:
    """Give a nested value with its numbers as short as they are kept."""
    if isinstance(value, float):
        return str(settled(np.array([value]))[0])
    if isinstance(value, dict):
        return {key: as_written(each) for key, each in value.items()}
    return [as_written(each) for each in value] if isinstance(value, list | tuple) else value


def test_two_blocks_give_what_one_gives() -> None:
    rows = observations()
    first, second = rows[rows.index < 1000], rows[rows.index >= 1000]
    whole, parts = joined([compact(rows)]), joined([compact(first), compact(second)])
    for name in ("reader", "pathology", "phrase"):
        assert whole[name].tolist() == parts[name].tolist()
    assert whole["patient"].nunique() == parts["patient"].nunique() == 600
    assert whole["exam"].nunique() == parts["exam"].nunique() == 1200


def test_change_since_the_months_before_is_kept_with_the_department() -> None:
    rows, before = (joined([compact(observations(seed=seed))]) for seed in (3, 4))
    given = {"phrases": PHRASES, "never": (), "min_readers": 5}
    alone = department_of(profile_table(rows, **given))
    found = department_of(profile_table(rows, past=Past(before), **given))
    first = department_of(profile_table(rows, past=Past(pd.DataFrame()), **given))
    assert alone is not None
    assert found is not None
    assert first is not None
    assert alone.changes is None
    # Nothing is known from before: that is too little to compare, not nobody who moved.
    assert first.changes == ()
    assert found.changes is not None
    assert [change.reader for change in found.changes] == [f"R{i}" for i in range(6)]
    assert all(change.shift.low < 0.0 < change.shift.high for change in found.changes)


def told(table: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    found = {code: profile_of(table, code) for code in (f"R{i}" for i in range(6))}
    parts = {code: each.pattern.verdict.parts for code, each in found.items() if each is not None}
    return {code: each for code, each in parts.items() if each}


def test_what_the_issue_before_told_stands_where_it_would_not_be_told_anew() -> None:
    # Of one finding: none can be left out, which would ask more of a pattern than an issue does.
    seen = observations(each=200, seed=60, lift=0.18).assign(pathology="pneumonia")
    rows = joined([compact(seen)])
    given = {"phrases": PHRASES, "never": (), "min_readers": 5}
    first = profile_table(rows, **given)
    both, anew = {"R0": ("undercalls", "too sure")}, {"R0": ("undercalls",)}
    assert told(first) == both
    assert told(profile_table(rows, past=Past(profiles=first), **given)) == both
    untold = first["profile"].str.replace('["undercalls", "too sure"]', "[]")
    silent = first.assign(profile=first["profile"].where(first["reader_code"] != "R0", untold))
    assert told(profile_table(rows, past=Past(profiles=silent), **given)) == anew
    judged_elsewhere = first[first["reader_code"] != "R0"]
    assert told(profile_table(rows, past=Past(profiles=judged_elsewhere), **given)) == both


def test_who_had_no_sure_standard_counts_as_not_judged_before() -> None:
    rows = joined([compact(observations(each=200, seed=60))])
    soft = rows.assign(label=0.2 + 0.5 * rows["label"])
    given = {"phrases": PHRASES, "never": (), "min_readers": 5}
    assert set(Past(profiles=profile_table(rows, **given)).told()) == {f"R{i}" for i in range(6)}
    assert Past(profiles=profile_table(soft, **given)).told() == {}


def test_a_profile_comes_back_as_it_was_written() -> None:
    from calibration.profile import profile

    rows = joined([compact(observations())])
    fitted = profile(rows, phrases=PHRASES)
    table = profile_table(rows, phrases=PHRASES, never=(), min_readers=5)
    read = department_of(table)
    assert isinstance(read, DepartmentProfile)
    assert as_written(asdict(read)) == as_written(asdict(fitted))
    third = profile_of(table, "R3")
    assert third is not None
    assert as_written(asdict(third)) == as_written(asdict(fitted.reader("R3")))
    assert profile_of(table, "R9") is None


def test_the_reader_who_is_off_is_told_and_no_other() -> None:
    found = department_of(judged(observations()))
    assert isinstance(found, DepartmentProfile)
    told = {r.reader: r.pattern.direction for r in found if r.pattern.verdict.state == "pattern"}
    assert set(told) == {"R0"}
    assert "undercalls" in told["R0"]


def test_a_phrase_that_is_never_advised_is_no_target() -> None:
    def targets(table: pd.DataFrame) -> set[str]:
        mine = profile_of(table, "R0")
        assert isinstance(mine, ReaderProfile)
        return {swap.instead for swap in mine.advice}

    free = targets(judged(observations()))
    assert free
    barred = targets(judged(observations(), never=tuple(free)))
    assert not free & barred


def test_only_words_of_the_scale_are_advised_where_it_names_any_that_the_table_knows() -> None:
    def barred(**scale: tuple[str, ...]) -> set[str]:
        chosen = Scale(PHRASES, Configuration(input={"paths": ["a"]}, phrases=scale))
        maps = {target for _, target in chosen.guard_rails.forbidden}
        assert maps == chosen.never, "the department's maps and readers' swaps know one list"
        return maps

    by_default = {*PHRASES.phrases} - barred()
    assert by_default == {*Configuration(input={"paths": ["a"]}).phrases.recommended}
    assert "highly suggestive of" in barred()
    free = {"discouraged": ("maybe",), "reserved": ()}
    assert barred(recommended=(), **free) == {"maybe"}
    assert barred(recommended=("of another table",), **free) == {"maybe"}
    assert barred(recommended=("wahrscheinlich",), **free) == {"maybe"}


def test_fewer_readers_than_may_be_shown_together_are_judged_alone() -> None:
    rows = observations(readers=4)
    table = judged(rows)
    assert department_of(table) is None
    alone = judged(rows[rows["reader_code"] == "R2"])
    mine, own = profile_of(table, "R2"), profile_of(alone, "R2")
    assert isinstance(mine, ReaderProfile)
    assert isinstance(own, ReaderProfile)
    assert mine.pattern.shift.value == pytest.approx(own.pattern.shift.value, abs=1e-6)
    assert mine.pattern.direction == own.pattern.direction
    assert mine.absent.state == "no comparison"


def test_cases_of_what_is_said_are_of_its_phrase_and_those_that_bear_it_out_come_first() -> None:
    rows = observations()
    profile = profile_of(judged(rows), "R0")
    assert isinstance(profile, ReaderProfile)
    own = rows[rows["reader_code"] == "R0"]
    found = action_cases(own, profile)
    said = subjects(profile)
    assert [(a.phrase, a.finding) for a in found] == [(s.phrase, s.finding) for s in said]
    assert {(s.phrase, s.finding) for s in kept_swaps(profile)} <= {
        (s.phrase, s.finding) for s in said
    }
    assert found
    labels = {(row.pair_id, row.pathology): row.label for row in own.itertuples()}
    for part, each in zip(found, said, strict=True):
        assert len(part.cases) == 5
        assert {case.phrase for case in part.cases} == {each.phrase}
        up = each.rate.value > each.meaning
        shown = [labels[f"{c.xray_code}:{c.ct_code}", c.pathology] for c in part.cases]
        assert shown == sorted(shown, reverse=up)
        assert [c.showed for c in part.cases] == [x > 0.5 for x in shown]


@pytest.mark.parametrize(
    ("phrase", "meaning", "label", "called"),
    [
        ("unlikely", 0.1, 0.0, True),
        ("unlikely", 0.1, 1.0, False),
        ("likely", 0.77, 1.0, True),
        ("likely", 0.77, 0.0, False),
        ("likely", 0.77, 0.45, None),
        ("likely", 0.77, 0.2, None),
        ("likely", 0.77, 0.93, None),
        ("may represent", 0.44, 1.0, None),
        ("possibly", 0.29, 0.0, None),
        ("unlikely", 0.1, 0.55, None),
    ],
)
@pytest.mark.parametrize("to", [0.02, 0.98])
def test_a_case_is_called_by_its_word_and_its_ct_whichever_way_the_swap_goes(
    phrase: str, meaning: float, label: float, called: bool | None, to: float
) -> None:
    rate = Interval(0.5, 0.4, 0.6)
    swap = Swap(phrase, None, "another", 40, 0.5, rate, meaning, to, 0.95, rate)
    rows = observations(each=40).assign(phrase=phrase, label=label)
    for_it = telling(rows, swap)
    assert len(for_it) == 5
    assert set(for_it["agreed"]) == {called}


def test_the_plainest_cases_are_called_as_the_cases_of_a_swap_are() -> None:
    rows = observations()
    found = plainest(rows, PHRASES)
    means = dict(zip(PHRASES.phrases, PHRASES.means, strict=True))
    same = (found["phrase"].map(means) > 0.5) == (found["label"] > 0.5)
    assert found["agreed"].tolist() == same.tolist()
    assert set(found["agreed"]) == {True, False}


def test_a_word_that_the_first_sentence_shows_has_cases_though_no_swap_is_advised() -> None:
    rows = observations()
    profile = profile_of(judged(rows), "R0")
    assert isinstance(profile, ReaderProfile)
    own = rows[rows["reader_code"] == "R0"]
    found = action_cases(own, replace(profile, advice=()))
    assert [each.phrase for each in found] == ["unlikely"]
    assert found[0].cases


def test_hedges_come_before_certainties_and_of_these_only_misses() -> None:
    rows = observations()
    sure = rows.head(40).assign(
        phrase=["absent", "present"] * 20,
        label=[0.0, 0.0, 1.0, 1.0] * 10,
        pair_id=[f"x{i}:y{i}" for i in range(40)],
    )
    found = plainest(pd.concat([sure, rows], ignore_index=True), PHRASES)
    certain = found["phrase"].isin(["absent", "present"]).tolist()
    assert certain == [False] * 4 + [True] * 8 + [False] * 4
    assert found["agreed"].tolist() == [False] * 12 + [True] * 4


def test_a_period_without_observations_judges_nobody() -> None:
    rows = observations()[:0]
    table = judged(rows)
    assert table.empty
    assert department_of(table) is None


def test_sites_reach_the_profile_by_their_codes_and_an_unknown_one_is_none() -> None:
    rows = observations()
    part = np.where(np.arange(len(rows)) // 4 % 2 == 0, "T-23AB", "T-45CD")
    for code, sites in ((part, ["T-23AB", "T-45CD"]), (UNKNOWN, None)):
        blocks = [compact(rows.assign(site_code=code)[half::2]) for half in (0, 1)]
        table = profile_table(joined(blocks), phrases=PHRASES, never=(), min_readers=5)
        found = profile_of(table, "R1")
        assert found is not None
        names = found.sites and sorted(each.phrase for each in found.sites)
        assert names == sites
