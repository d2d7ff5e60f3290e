"""Swaps followed together leave words in order: more is said where CT shows more."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import logit

from benchmarks.departments.exams import CONDITIONS
from benchmarks.departments.staff import scale
from benchmarks.departments.truth import draw_department
from calibration.profile import DepartmentProfile, ProfileSettings, profile, swaps
from calibration.profile.swaps import Choices, Uses, choose_swaps, turned

HIGH = {"most likely": 0.86, "likely": 0.77, "may represent": 0.44}
LOW = {"very unlikely": 0.03, "unlikely": 0.09, "may represent": 0.44}
SURE, UNSURE = 0.01, 0.8


def advice(
    meanings: dict[str, float],
    rates: list[tuple[float, float]],
    *,
    never: tuple[str, ...] = (),
    most: int = 3,
    finding: bool = False,
) -> list[tuple[str, str]]:
    """Give the swaps of a reader whose words have these rates and variances, sixty uses each."""
    k = len(meanings)
    meaning = np.array([*meanings.values()])
    fields = np.array([[[logit(p), v, logit(p), v, 1.0, np.inf] for p, v in rates]])
    none = np.full_like(fields, np.nan)
    n = np.full((1, 1, k), 60.0)
    mass = n * np.array([p for p, _ in rates])
    off: Any = SimpleNamespace(n=0.0 * n, mass=0.0 * mass)
    whole = none.copy() if finding else fields
    if finding:
        whole[:] = [0.0, 100.0, 0.0, 100.0, 1.0, np.inf]
    uses = Uses(n, mass, off, whole, fields[:, None])
    allowed = np.abs(meaning - meaning[:, None]) > 0.05
    allowed &= ~np.isin([*meanings], never)
    nothing = np.zeros(k)
    choices = Choices((*meanings,), ("f",), meaning, meaning, nothing, nothing, allowed, nothing)
    rules = ProfileSettings(most_swaps=most)
    chosen = choose_swaps(uses, 0, choices=choices, settings=rules)
    assert {swap.finding for swap in chosen} <= {"f" if finding else None}
    return [(swap.phrase, swap.instead) for swap in chosen]


@pytest.mark.parametrize("finding", [False, True])
def test_a_word_steps_no_further_than_a_neighbour_that_stays(finding: bool) -> None:
    stays = [(0.55, SURE), (0.54, UNSURE), (0.44, SURE)]
    assert advice(HIGH, stays, finding=finding) == [("most likely", "likely")]
    low = [(0.35, SURE), (0.35, UNSURE), (0.44, SURE)]
    assert advice(LOW, low, finding=finding) == [("very unlikely", "unlikely")]


def test_a_word_goes_all_the_way_where_its_neighbour_goes_too() -> None:
    both = [(0.55, SURE), (0.54, SURE), (0.44, SURE)]
    whole = [("most likely", "may represent"), ("likely", "may represent")]
    assert sorted(advice(HIGH, both)) == sorted(whole)
    # With room for one swap alone the other word stays, and so does the far step.
    assert advice(HIGH, both, most=1) == [("most likely", "likely")]


def test_a_word_is_held_back_where_only_a_far_step_is_left() -> None:
    stays = [(0.55, SURE), (0.54, UNSURE), (0.44, SURE)]
    assert advice(HIGH, stays, never=("likely",)) == []
    # Where CT shows the other word clearly oftener it may go on saying more.
    above = [(0.55, SURE), (0.68, UNSURE), (0.44, SURE)]
    assert advice(HIGH, above, never=("likely",)) == [("most likely", "may represent")]


def test_pairs_are_turned_by_rates_where_these_differ_and_else_by_the_words() -> None:
    before, after = np.array([0.86, 0.77]), np.array([0.44, 0.77])
    for first, second, wrong in ((0.6, 0.5, True), (0.5, 0.51, True), (0.5, 0.53, False)):
        found = turned(np.array([first, second]), before, after)
        assert found.tolist() == [[False, wrong], [wrong, False]]
    # A contradiction that stood before may shrink, and not grow; a tie is none.
    for step, wrong in ((0.80, False), (0.77, False), (0.87, False), (0.90, True)):
        found = turned(np.array([0.3, 0.9]), before, np.array([step, 0.77]))
        assert bool(found.any()) == wrong


def test_no_reader_of_a_department_is_told_swaps_that_turn_two_words_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = draw_department(CONDITIONS["plain"], rng=np.random.default_rng([7001, 0, 4]))
    assert _turned_round(profile(drawn.observations, phrases=scale())) == 0
    monkeypatch.setattr(swaps, "turned", lambda *_: np.zeros((1, 1)))
    assert _turned_round(profile(drawn.observations, phrases=scale())) > 1


def _turned_round(found: DepartmentProfile) -> int:
    """Count readers whose swaps turn two words round."""
    readers = 0
    for reader in found:
        words = [p for p in reader.phrases if p.n >= 20]
        after = {s.phrase: s.instead_meaning for s in reader.advice if not s.finding}
        rates, before, now = np.array(
            [(p.rate.value, p.meaning, after.get(p.phrase, p.meaning)) for p in words]
        ).T
        readers += bool(turned(rates, before, now).any())
    return readers


@pytest.mark.parametrize(("others", "scope"), [(0.96, "f"), (0.8, None)])
def test_a_swap_that_one_finding_alone_carries_is_that_findings(
    others: float, scope: str | None
) -> None:
    meaning = np.array([0.97, 0.86])
    rates = np.array([[0.6, 0.5], [others, 0.5]])
    n = np.array([[[22.0, 0.0], [25.0, 0.0]]])
    counts: Any = SimpleNamespace(n=n, mass=n * rates)
    field = [[[[logit(p), 0.05, logit(p), 0.05, 1.0, np.inf] for p in each] for each in rates]]
    whole = np.array([[[logit(0.8), 0.05, logit(0.8), 0.05, 1.0, np.inf]] * 2])
    uses, nothing = Uses(n, n * rates, counts, whole, np.array(field)), np.zeros(2)
    allowed = ~np.eye(2, dtype=bool)
    names = ("consistent with", "most likely")
    choices = Choices(names, ("f", "g"), meaning, meaning, nothing, nothing, allowed, nothing)
    (swap, *_) = choose_swaps(uses, 0, choices=choices, settings=ProfileSettings())
    assert (swap.phrase, swap.finding) == ("consistent with", scope)
