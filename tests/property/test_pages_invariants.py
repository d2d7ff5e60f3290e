"""Promises for any department: nothing by subtraction, and shrinking only ever shrinks."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.gaps import Gaps, shrink_gaps
from calibration.regression import indicators, selection_weights
from pipeline.pages.small_cells import complementary
from pipeline.tables.observations import Labelling, observe

SIZES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 60), max_size=8)


@given(sizes=SIZES, minimum=st.integers(5, 40))
def test_no_withheld_part_is_the_total_less_the_others(sizes: dict[str, int], minimum: int) -> None:
    few = {name for name, n in sizes.items() if n < minimum}
    hidden = few | complementary(sizes, few)
    secret = [name for name in hidden if sizes[name] > 0]
    shown = [name for name in sizes if name not in hidden and sizes[name] > 0]
    assert len(secret) != 1 or not shown
    assert few <= hidden
    assert len(hidden - few) <= 1


GAPS = st.lists(st.tuples(st.floats(-0.5, 0.5), st.floats(0.005, 0.2)), min_size=2, max_size=12)


@given(rows=GAPS)
def test_shrunk_gap_lies_between_the_raw_one_and_the_centre(
    rows: list[tuple[float, float]],
) -> None:
    value, error = np.array(rows).T
    found = shrink_gaps(Gaps(value, error, np.full(len(rows), 50.0)))
    low, high = np.minimum(value, found.centre), np.maximum(value, found.centre)
    assert np.all((low - 1e-12 <= found.value) & (found.value <= high + 1e-12))
    assert np.all((found.reliability >= 0) & (found.reliability < 1))
    assert np.all((found.low <= found.value) & (found.value <= found.high))


@given(rows=GAPS, seed=st.integers(0, 1000))
def test_order_of_readers_does_not_matter(rows: list[tuple[float, float]], seed: int) -> None:
    value, error = np.array(rows).T
    n = np.full(len(rows), 50.0)
    order = np.random.default_rng(seed).permutation(len(rows))
    straight = shrink_gaps(Gaps(value, error, n))
    mixed = shrink_gaps(Gaps(value[order], error[order], n))
    np.testing.assert_allclose(mixed.value, straight.value[order], atol=1e-9)


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), chance=st.floats(0.1, 0.9))
def test_weighted_share_taken_equals_the_share_of_all(seed: int, chance: float) -> None:
    rng = np.random.default_rng(seed)
    group = pd.DataFrame({"class": rng.choice(["a", "b", "c"], 600)})
    odds = {"a": chance, "b": 0.5, "c": 0.6}
    taken = rng.random(600) < group["class"].map(odds).to_numpy()
    found = selection_weights(indicators(group), taken, n=np.ones(600))
    for level in odds:
        inside = (group["class"] == level).to_numpy()
        weighted = np.nansum(found[inside]) / np.nansum(found)
        assert abs(weighted - inside.mean()) < 0.02


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000))
def test_exams_alike_weigh_the_same_counted_or_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {"class": rng.choice(["a", "b", "c"], 300), "band": rng.choice(["x", "y"], 300)}
    )
    rows["taken"] = rng.random(300) < 0.4
    design, taken = indicators(rows[["class", "band"]]), rows["taken"].to_numpy()
    each = selection_weights(design, taken, n=np.ones(300))
    rows["weight"] = each
    alike = rows.groupby(["class", "band", "taken"]).size().rename("n").reset_index()
    n = alike["n"].to_numpy(float)
    design = indicators(alike[["class", "band"]], n=n)
    counted = selection_weights(design, alike["taken"].to_numpy(), n=n)
    one = rows.drop_duplicates(["class", "band", "taken"]).sort_values(["class", "band", "taken"])
    np.testing.assert_allclose(counted, one["weight"], rtol=1e-6)


CASES = st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["effusion", "edema"])), max_size=8)
ANSWERS = ("concordant", "discordant", "not applicable", "wrong pair")


@settings(max_examples=40)
@given(cases=CASES, answers=st.lists(st.sampled_from(ANSWERS), min_size=8, max_size=8))
def test_returned_cases_are_left_out_and_counted_never_both_kept_and_counted(
    cases: list[tuple[int, str]], answers: list[str]
) -> None:
    from calibration.survey import builtin

    pairs = pd.DataFrame(
        {
            "xr_study_code": [f"X{i}" for i in range(6)],
            "ct_study_code": [f"C{i}" for i in range(6)],
            "xr_exam_key": [f"x{i}" for i in range(6)],
            "ct_exam_key": [f"c{i}" for i in range(6)],
            "patient_code": "P", "reader_code": "R", "interval_hours": 1.0,
            "patient_class": "inpatient", "age_band": "40-59", "performed_month": "2026-09",
            "patient_sex": "female", "site_code": "T-23AB",
            "draft": "no other author named",
        }
    )  # fmt: skip
    said = pd.DataFrame(
        [
            (key, pathology, "present", "stated")
            for i in range(6)
            for key in (f"x{i}", f"c{i}")
            for pathology in ("effusion", "edema")
        ],
        columns=["exam_key", "pathology", "phrase", "outcome"],
    )
    readings = pd.DataFrame({"exam_key": said["exam_key"].unique(), "outcome": "read"})
    returned = pd.DataFrame(
        [(f"X{i}:C{i}", pathology, a) for (i, pathology), a in zip(cases, answers, strict=False)],
        columns=["pair_id", "pathology", "answer"],
    ).drop_duplicates(["pair_id", "pathology"], keep="last")
    found = observe(
        pairs,
        said,
        readings,
        labelling=Labelling(builtin("diagnostic-certainty-scale")),
        returned=returned,
    )
    assert len(found.observations) + sum(found.left_out.values()) == 12
    wrong = set(returned.loc[returned["answer"] == "wrong pair", "pair_id"])
    assert not wrong & set(found.observations["pair_id"])
