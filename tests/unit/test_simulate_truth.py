"""The simulated hospital's truth is what was declared, and its exams agree with its truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from calibration.regression import logistic_calibration
from calibration.survey import builtin
from calibration.tally import tally
from pipeline.config.sections import Phrases
from pipeline.simulate import Simulation, simulate
from pipeline.simulate.lexicon import hospital, wording
from pipeline.simulate.truth import EXAM_COLUMNS, TABLES

CHEST_CODES = {e["code"] for e in hospital()["exam"] if e["chest"]}


@pytest.fixture(scope="module")
def sim() -> Simulation:
    return simulate(pairs=2662, readers=12, seed=0)


def test_the_exams_table_has_the_agreed_columns(sim: Simulation) -> None:
    assert tuple(sim.exams.columns) == EXAM_COLUMNS
    assert str(sim.exams["performed_at"].dtype) == "datetime64[us, UTC]"
    for name, columns in TABLES.items():
        assert tuple(getattr(sim.truth, name).columns) == columns


def test_sizes_are_those_asked_for(sim: Simulation) -> None:
    assert len(sim.truth.pairs) == 2662
    assert len(sim.truth.readers) == 12
    assert set(sim.exams["reader_id"]) == set(sim.truth.readers["reader_id"])
    assert 7000 < len(sim.exams) < 9000
    assert sim.exams["exam_id"].is_unique


def test_every_phrase_and_every_pathology_occurs(sim: Simulation) -> None:
    stated = sim.truth.report_findings
    xray = stated[stated["modality"] == "XR"]
    assert set(xray["phrase"]) == set(wording().phrases)
    assert set(stated["pathology"]) == {p.name for p in wording().pathologies}
    ct = stated[stated["modality"] == "CT"]
    assert {"absent", "present", "question of", "compatible with", "likely"} <= set(ct["phrase"])


def test_every_kind_of_style_and_exclusion_occurs(sim: Simulation) -> None:
    stated = sim.truth.report_findings
    assert stated.loc[stated["modality"] == "XR", "style"].nunique() == 7  # with addenda
    assert stated.loc[stated["modality"] == "CT", "style"].nunique() == 6
    assert set(sim.truth.excluded["reason"]) == {
        "xr_only", "ct_only", "ct_before_xr", "ct_too_late", "minor", "signed_after_ct",
        "other_body_part", "second_ct",
    }  # fmt: skip
    assert set(sim.exams["status"]) == {"final", "prelim", "corrected", "addendum"}
    assert set(sim.exams["patient_class"]) == {"inpatient", "emergency", "outpatient"}
    assert (sim.exams["patient_age_years"] > 89).mean() > 0.01
    assert (sim.exams["patient_age_years"] < 18).mean() > 0.01
    assert sim.truth.pairs["patient_id"].duplicated().any()


def test_labels_match_the_declared_probabilities(sim: Simulation) -> None:
    """Chi-square over (reader, phrase) groups: Σ (Σ(label − p))² / Σ p(1 − p), at a fixed seed.

    Labels in [0, 1] with mean p vary at most as a coin does, so p(1 − p) is an upper bound and the
    statistic may fall short of its degrees of freedom, but must not exceed them.
    """
    outcomes = sim.truth.outcomes.assign(
        excess=lambda f: f["label"] - f["probability"],
        spread=lambda f: f["probability"] * (1 - f["probability"]),
    )
    groups = outcomes.groupby(["reader_id", "phrase"])[["excess", "spread"]].sum()
    groups = groups[groups["spread"] > 1.0]
    statistic = float((groups["excess"] ** 2 / groups["spread"]).sum())
    assert len(groups) > 100
    assert chi2.sf(statistic, len(groups)) > 0.001
    assert statistic > 0.6 * len(groups)


def test_words_that_borrow_a_meaning_borrow_the_one_that_simulated_readers_act_by() -> None:
    lent = hospital()["unsurveyed"]
    shipped = Phrases().borrow
    assert shipped
    assert {word: lent[word] for word in shipped} == shipped


def test_every_reader_s_slope_is_recovered_from_the_labels(sim: Simulation) -> None:
    table = builtin("diagnostic-certainty-scale").with_borrowed(hospital()["unsurveyed"])
    misses = 0
    for reader in sim.truth.readers.itertuples():
        own = sim.truth.outcomes[sim.truth.outcomes["reader_id"] == reader.reader_id]
        index = np.array([table.index(p) for p in own["phrase"]])
        counts = tally(index, own["label"].to_numpy(), n_phrases=len(table))
        slope = logistic_calibration(counts, phrase_table=table).slope
        misses += not slope.low <= reader.fitted_slope <= slope.high
    assert misses <= 1


def test_a_reader_without_habits_has_the_declared_slope_exactly() -> None:
    readers = simulate(pairs=1, readers=12, seed=0, department="straight").truth.readers
    plain = readers[readers["habits"] == 0]
    for name in ("slope", "intercept"):
        np.testing.assert_allclose(plain[f"fitted_{name}"], plain[f"line_{name}"], atol=1e-9)
        np.testing.assert_allclose(readers[name], readers[f"line_{name}"], atol=1e-9)
    bent = readers[readers["habits"] > 0]
    assert (bent["fitted_slope"] != bent["line_slope"]).all()


def test_the_named_habit_is_wrong_about_half_the_time(sim: Simulation) -> None:
    habits = sim.truth.habits.set_index(["pathology", "phrase"])
    habit = habits.loc[("pleural effusion", "likely")]
    outcomes = sim.truth.outcomes
    said = outcomes[
        (outcomes["reader_id"] == habit["reader_id"])
        & (outcomes["pathology"] == "pleural effusion")
        & (outcomes["phrase"] == "likely")
    ]
    assert len(said) >= 40
    assert abs(said["label"].mean() - habit["probability"]) < 3 * 0.5 / len(said) ** 0.5


def test_prevalence_is_the_declared_one_where_nothing_decides_about_a_ct() -> None:
    sim = simulate(pairs=2662, readers=12, seed=0, department="straight")
    rates = sim.truth.pathologies.set_index("pathology")
    seen = sim.truth.outcomes.groupby("pathology")["label"].agg(["mean", "size"])
    wanted = rates.loc[seen.index, "prevalence"]
    error = np.sqrt(wanted * (1 - wanted) / seen["size"])
    assert (abs(seen["mean"] - wanted) < 3.5 * error).all()


def test_related_findings_go_together_and_unrelated_ones_do_not(sim: Simulation) -> None:
    wide = sim.truth.outcomes.pivot_table(
        index="xr_exam_id", columns="pathology", values="probability"
    )
    together = wide.corr()
    assert together.loc["pneumonia", "consolidation"] > 0.25
    assert together.loc["pleural effusion", "pulmonary edema"] > 0.25
    assert abs(together.loc["pneumonia", "pleural effusion"]) < 0.12


def test_favourites_are_written_more_than_the_department_writes_them(sim: Simulation) -> None:
    stated = sim.truth.outcomes
    overall = stated["phrase"].value_counts(normalize=True)
    more = []
    for reader in sim.truth.readers.itertuples():
        own = stated.loc[stated["reader_id"] == reader.reader_id, "phrase"]
        share = own.value_counts(normalize=True)
        more += [share.get(p, 0.0) > overall[p] for p in reader.favourites.split("; ")]
    assert sum(more) > 0.85 * len(more)


def test_report_findings_of_a_pair_are_its_outcomes(sim: Simulation) -> None:
    stated = sim.truth.report_findings.set_index(["exam_id", "pathology"])["phrase"]
    outcomes = sim.truth.outcomes
    keys = pd.MultiIndex.from_frame(outcomes[["xr_exam_id", "pathology"]])
    assert (stated.loc[keys].to_numpy() == outcomes["phrase"].to_numpy()).all()
    ct_of = sim.truth.pairs.set_index("xr_exam_id")["ct_exam_id"]
    said = outcomes[outcomes["ct_phrase"].notna()]
    keys = pd.MultiIndex.from_arrays([ct_of.loc[said["xr_exam_id"]], said["pathology"]])
    assert (stated.loc[keys].to_numpy() == said["ct_phrase"].to_numpy()).all()
    silent = outcomes[outcomes["ct_phrase"].isna()]
    assert (silent["label"] == 0).all()
    assert len(silent) > 0.1 * len(outcomes)


def _forecasts(sim: Simulation) -> tuple[pd.DataFrame, pd.DataFrame]:
    exams = sim.exams[
        sim.exams["exam_code"].isin(CHEST_CODES) & (sim.exams["patient_age_years"] >= 18)
    ]
    ct = (
        exams[exams["modality"] == "CT"]
        .sort_values("version")
        .drop_duplicates("accession", keep="last")
    )
    return exams[exams["modality"] == "XR"], ct


def test_pairing_by_the_written_rule_finds_exactly_the_true_pairs(sim: Simulation) -> None:
    """Slow and plain: same patient, CT within 12 h after, latest version signed before the CT."""
    xray, ct = _forecasts(sim)
    both = xray.merge(ct, on="patient_id", suffixes=("_xr", "_ct"))
    gap = both["performed_at_ct"] - both["performed_at_xr"]
    window = (gap > pd.Timedelta(0)) & (gap <= pd.Timedelta(hours=12))
    both = both[window & (both["signed_at_xr"] < both["performed_at_ct"])].assign(gap=gap)
    both = both.sort_values("version_xr").drop_duplicates(
        ["accession_xr", "accession_ct"], keep="last"
    )
    found = both.sort_values("gap").drop_duplicates("accession_xr")
    assert found["accession_ct"].is_unique
    pairs = sim.truth.pairs
    assert set(zip(found["exam_id_xr"], found["exam_id_ct"], strict=True)) == set(
        zip(pairs["xr_exam_id"], pairs["ct_exam_id"], strict=True)
    )


def test_an_addendum_comes_after_the_ct_and_a_prelim_before_the_final(sim: Simulation) -> None:
    exams, pairs = sim.exams, sim.truth.pairs.set_index("xr_accession")
    addenda = exams[exams["status"] == "addendum"]
    performed = pairs.loc[addenda["accession"], "ct_performed_at"]
    assert (addenda["signed_at"].to_numpy() > performed.to_numpy()).all()
    final = exams.sort_values("version").drop_duplicates("accession", keep="last")
    last = final.set_index("accession")["signed_at"]
    prelim = exams[exams["status"] == "prelim"]
    assert (prelim["signed_at"].to_numpy() < last.loc[prelim["accession"]].to_numpy()).all()


def test_exams_spread_over_the_year_and_end_before_its_next_month(sim: Simulation) -> None:
    performed = sim.exams["performed_at"]
    assert performed.dt.strftime("%Y-%m").nunique() in (12, 13)
    assert performed.max() < pd.Timestamp("2026-10-05", tz="UTC")
