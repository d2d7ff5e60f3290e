"""Properties of the simulated hospital that hold for any seed, size and probability."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.simulate import load_department, simulate, simulate_chunks
from pipeline.simulate.department import phrase_logits
from pipeline.simulate.identifiers import Document
from pipeline.simulate.lexicon import hospital, wording
from pipeline.simulate.people import accession, patient_number
from pipeline.simulate.rates import ct_statement, label_of
from pipeline.simulate.readers import draw_staff
from pipeline.simulate.truth import TABLES, line_of

HEDGED = 0.22


def stated(p: float, seed: int) -> np.ndarray:
    """Draw what CT states in 20,000 cases of one probability."""
    rng = np.random.default_rng(seed)
    silent = rng.random((4000, 5)) < hospital()["ct"]["silence"]
    return ct_statement(rng.random((4000, 5)), np.full((4000, 5), p), hedged=HEDGED, silent=silent)


@settings(max_examples=15)
@given(p=st.floats(0.0, 1.0), seed=st.integers(0, 2**32))
def test_ct_statements_have_the_intended_expected_label(p: float, seed: int) -> None:
    labels = label_of(stated(p, seed))
    assert abs(labels.mean() - p) <= 5 * np.sqrt(p * (1 - p) / labels.size) + 1e-12


@settings(max_examples=10)
@given(p=st.floats(0.02, 0.98), seed=st.integers(0, 2**32))
def test_ct_hedges_and_silences_at_a_realistic_rate(p: float, seed: int) -> None:
    found, last = stated(p, seed), len(wording().phrases) - 1
    assert ((found > 0) & (found < last)).mean() < HEDGED + 0.02
    assert (found == -1).any()
    assert (found == 0).any()


@settings(max_examples=10)
@given(
    readers=st.integers(1, 30),
    seed=st.integers(0, 2**32),
    name=st.sampled_from(["clustered", "hard", "straight"]),
)
@example(readers=11, seed=2536, name="straight")
def test_every_reader_sees_the_same_prevalence(readers: int, seed: int, name: str) -> None:
    staff = draw_staff(readers, department=load_department(name), rng=np.random.default_rng(seed))
    practice = staff.practice
    rates = hospital()["rates"]
    wanted = [rates[p.name]["prevalence"] for p in wording().pathologies]
    np.testing.assert_allclose(practice.usage.sum(-1), 1.0)
    np.testing.assert_allclose(
        (practice.usage * practice.chance).sum(-1), np.tile(wanted, (readers, 1)), atol=1e-9
    )
    assert len({r.reader_id for r in staff.readers}) == readers


@given(intercept=st.floats(-1, 1), slope=st.floats(0.3, 2.0))
def test_projection_returns_a_curve_that_is_one(intercept: float, slope: float) -> None:
    chance = np.tile(1 / (1 + np.exp(-(intercept + slope * phrase_logits()))), (3, 1))
    weights = np.random.default_rng(1).random(chance.shape) + 0.1
    assert line_of(chance, weights, phrase_logits()) == pytest.approx((intercept, slope), abs=1e-8)


@settings(max_examples=12)
@given(pairs=st.integers(1, 60), readers=st.integers(1, 5), seed=st.integers(0, 10**6))
def test_any_small_hospital_holds_together(pairs: int, readers: int, seed: int) -> None:
    sim = simulate(pairs=pairs, readers=readers, seed=seed)
    exams, truth = sim.exams, sim.truth
    assert len(truth.pairs) == pairs
    assert truth.pairs["interval_minutes"].between(1, 719).all()
    assert truth.pairs["xr_accession"].is_unique
    assert truth.pairs["ct_accession"].is_unique
    assert exams["exam_id"].is_unique
    assert (exams["signed_at"] > exams["performed_at"]).all()
    paired = exams.set_index("exam_id").loc[truth.pairs["xr_exam_id"]]
    assert (paired["patient_age_years"] >= 18).all()
    assert (paired["signed_at"].to_numpy() < truth.pairs["ct_performed_at"].to_numpy()).all()
    minors = truth.excluded.query("reason == 'minor'")["exam_id"]
    assert (exams.set_index("exam_id").loc[minors, "patient_age_years"] < 18).all()
    assert not set(truth.excluded["exam_id"]) & {*truth.pairs["xr_exam_id"]}
    assert truth.outcomes["xr_exam_id"].isin(truth.pairs["xr_exam_id"]).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_the_same_seed_gives_the_same_hospital(seed: int) -> None:
    one, two = (simulate(pairs=80, readers=4, seed=seed) for _ in range(2))
    pd.testing.assert_frame_equal(one.exams, two.exams)
    for name in (*TABLES, "readers", "habits"):
        pd.testing.assert_frame_equal(getattr(one.truth, name), getattr(two.truth, name))


def test_another_seed_gives_another_hospital() -> None:
    one, two = (simulate(pairs=30, readers=3, seed=seed) for seed in (0, 1))
    assert not set(one.exams["text"]) & set(two.exams["text"])
    assert list(one.truth.readers["slope"]) != list(two.truth.readers["slope"])


def test_chunks_joined_are_the_whole_and_numbers_never_repeat() -> None:
    chunks = simulate_chunks(pairs=2100, readers=3, seed=2)
    assert iter(chunks) is chunks
    parts = list(chunks)
    assert [len(c.truth.pairs) for c in parts] == [1024, 1024, 52]
    whole = simulate(pairs=2100, readers=3, seed=2)
    joined = pd.concat([c.exams for c in parts], ignore_index=True)
    pd.testing.assert_frame_equal(whole.exams, joined)
    assert joined["exam_id"].is_unique
    owners = joined.groupby("accession")["patient_id"].nunique()
    assert (owners == 1).all()
    per_chunk = [set(c.exams["patient_id"]) for c in parts]
    assert not per_chunk[0] & per_chunk[1]
    assert not per_chunk[1] & per_chunk[2]


@given(st.lists(st.tuples(st.text(max_size=8), st.booleans()), max_size=12))
def test_spans_of_a_document_hold_what_was_put_in(pieces: list[tuple[str, bool]]) -> None:
    document = Document()
    for text, identifies in pieces:
        if identifies:
            document.identify(text, "NAME", "any")
        else:
            document.add(text)
    whole = document.text()
    assert whole == "".join(text for text, _ in pieces)
    planted = [text for text, identifies in pieces if identifies]
    assert [whole[s.start : s.end] for s in document.spans] == planted


@given(st.lists(st.tuples(st.text("ab ,.\n", max_size=30), st.booleans()), max_size=12))
def test_wrapping_moves_no_span_and_breaks_no_identifier(pieces: list[tuple[str, bool]]) -> None:
    document = Document()
    for text, identifies in pieces:
        if identifies:
            document.identify(text, "NAME", "any")
        else:
            document.add(text)
    plain, wrapped = document.text(), document.text(width=20)
    assert len(wrapped) == len(plain)
    assert wrapped.replace("\n", " ") == plain.replace("\n", " ")
    for start, end, *_ in document.spans:
        assert wrapped[start:end] == plain[start:end]


def test_wrapped_lines_are_no_longer_than_the_width() -> None:
    document = Document()
    document.add("may represent " * 40)
    assert max(len(line) for line in document.text(width=30).splitlines()) <= 30


@given(st.lists(st.integers(0, 5_000_000), unique=True, min_size=2, max_size=40))
def test_scrambled_numbers_never_collide(counters: list[int]) -> None:
    digits = {re.sub(r"\D", "", patient_number(c, "dashes")) for c in counters}
    assert len(digits) == len(counters)
    assert len({accession(c, "QLC", 2026) for c in counters}) == len(counters)
