"""The committee's questions on small hospitals whose answers can be read off."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from calibration.arrays import FloatArray
from calibration.estimate import Estimate
from calibration.groups import (
    Group,
    group_results,
    likeness_of,
    likenesses,
    tally_of,
    trend,
)
from calibration.phrase_calibration import PhraseCalibration
from calibration.rounding import measured, rounded
from calibration.run_chart import process
from calibration.survey import builtin
from pipeline.config import Configuration
from pipeline.pages import content
from pipeline.pages.cases import case_mix, ct_plain, disagreement
from pipeline.pages.over_time import incomplete_quarters, run_charts, scale_use
from pipeline.pages.review import variation
from pipeline.pages.sensitivity import Evidence, sensitivity_tables
from pipeline.pages.small_cells import (
    complementary,
    results_without,
    withheld_phrases,
    without,
)
from pipeline.stages import pages
from pipeline.store.workspace import Workspace
from pipeline.tables import observations as sums
from pipeline.tables.observations import Labelling, tallied
from pipeline.tables.pairing import pair
from pipeline.tables.profiles import compact, department_of, joined, profile_table
from pipeline.tables.results import Scale
from reports.content import SuppressedCell
from reports.figures.phrase_rows import RowState, phrase_rows
from reports.review_content import ReaderRow, RunChart, ScaleUse
from reports.rounded import reader_row as rounded_row
from reports.strings import Strings, translated

CONFIG = Configuration(input={"paths": ["a"]}, calibration={"bootstrap": 100})
SCALE = Scale(builtin("diagnostic-certainty-scale"), CONFIG)
LABELLING = Labelling(SCALE.phrases)
MONTHS = ("2026-07", "2026-08", "2026-09")


@dataclass(frozen=True)
class Hospital:
    """A block of patients, and what became of all X-rays."""

    block: sums.BlockTables
    fates: pd.DataFrame

    @property
    def rows(self) -> pd.DataFrame:
        return self.block.observed(LABELLING).observations

    @property
    def coverage(self) -> pd.DataFrame:
        return sums.coverage(self.fates)

    @property
    def evidence(self) -> Evidence:
        return Evidence(
            cells=tallied(self.rows),
            alternatives=sums.alternatives(self.block, LABELLING),
            mix=sums.mix(self.rows),
            words=sums.words(self.block.pairs, self.block.report_findings),
            coverage=self.coverage,
            written=sums.written(self.fates),
        )


def hospital(readers: int = 6, per_reader: int = 60, seed: int = 3) -> Hospital:
    """Draw readers of whom the first is far too sure; every third X-ray recommends a CT."""
    rng = np.random.default_rng(seed)
    rows, said, read, fates = [], [], [], []
    for number in range(readers * per_reader):
        reader = number % readers
        xr, ct = f"x{number}", f"c{number}"
        month = MONTHS[number % 3]
        patient_class = ("inpatient", "emergency")[number % 2]
        phrase = ("likely", "may represent", "unlikely")[int(rng.integers(3))]
        mean = float(SCALE.phrases.means[SCALE.phrases.index(phrase)])
        true = rng.random() < mean - (0.6 * mean if reader == 0 else 0.0)
        rows.append(
            (f"X{number}", f"C{number}", xr, ct, f"p{number}", f"R{reader}", 3.0, patient_class,
             "40-59", ("female", "male")[number % 3 == 0], ("T-23AB", "T-45CD")[number % 4 == 0],
             month, ("by someone else", "no other author named")[number % 5 == 0])
        )  # fmt: skip
        said.append((xr, "pleural effusion", phrase, "stated"))
        if true or number % 2:
            said.append((ct, "pleural effusion", "present" if true else "absent", "stated"))
        read += [(xr, "read", number % 3 == 0), (ct, "read", False)]
        fates += [
            (f"X{number}", f"R{reader}", patient_class, "40-59", month, "paired", phrase),
            (f"Y{number}", f"R{reader}", "inpatient", "40-59", month,
             "no chest CT of the patient in the window", "absent;unlikely"),
        ]  # fmt: skip
    pairs = pd.DataFrame(
        rows,
        columns=["xr_study_code", "ct_study_code", "xr_exam_key", "ct_exam_key", "patient_code",
                 "reader_code", "interval_hours", "patient_class", "age_band", "patient_sex",
                 "site_code", "performed_month", "draft"],
    ).assign(ct_own=False)  # fmt: skip
    block = sums.BlockTables(
        pairs=pairs,
        window_pairs=pd.concat(
            rows.assign(window_hours=hours)
            for hours, rows in {6.0: pairs.head(120), 24.0: pairs, 72.0: pairs}.items()
        ),
        report_findings=pd.DataFrame(said, columns=["exam_key", "pathology", "phrase", "outcome"]),
        readings=pd.DataFrame(read, columns=["exam_key", "outcome", "recommends_ct"]),
        returned=pd.DataFrame({"pair_id": [], "pathology": [], "answer": []}),
    )
    columns = [
        "study_code", "reader_code", "patient_class", "age_band", "performed_month", "fate",
        "cues",
    ]  # fmt: skip
    return Hospital(block, pd.DataFrame(fates, columns=columns))


def varied(rows: pd.DataFrame, evidence: Hospital) -> tuple[ReaderRow, ...]:
    """Measure how readers differ, as the review does."""
    own = replace(evidence.evidence, cells=tallied(rows), mix=sums.mix(rows))
    return variation(own, scale=SCALE)


def test_overconfident_reader_stands_out_raw_shrunk_and_adjusted() -> None:
    evidence = hospital(per_reader=150)
    rows = evidence.rows
    found = varied(rows, evidence)
    first, *others = found
    assert isinstance(first.gap, Estimate)
    assert isinstance(first.adjusted, Estimate)
    assert isinstance(first.shrunk, Estimate)
    assert first.gap.high < 0
    assert first.gap.value < first.shrunk.value < 0
    assert first.adjusted.high < 0
    assert all(row.gap.low < 0.05 and row.gap.high > -0.1 for row in others)
    # 150 of 300 X-rays: the middles of their fives are 152 and 302.
    assert first.share_paired == 152 / 302
    table = profile_table(joined([compact(rows)]), phrases=SCALE.phrases, never=(), min_readers=5)
    told = [r.reader for r in department_of(table) or () if r.pattern.verdict.state == "pattern"]
    assert told == ["R0"]


def test_reader_below_the_minimum_is_withheld_and_takes_one_more_along() -> None:
    evidence = hospital(per_reader=60)
    rows = evidence.rows
    few = rows[(rows["reader_code"] != "R2") | (rows.index % 6 == 0)]
    few = few[(few["reader_code"] != "R2").to_numpy() | (few.groupby("reader_code").cumcount() < 8)]
    few = few[
        (few["reader_code"] != "R4").to_numpy() | (few.groupby("reader_code").cumcount() < 30)
    ]
    found = varied(few, evidence)
    states = {row.code: row.gap.of for row in found if isinstance(row.gap, SuppressedCell)}
    assert states == {"R2": "exams", "R4": "complementary"}
    assert {row.n for row in found if row.code in states} == {0}
    compared = {row.code for row in found if row.shrunk and row.code not in states}
    assert compared == {"R0", "R1", "R3", "R5"}


def test_the_review_counts_a_readers_statements_as_the_readers_own_page_does() -> None:
    evidence = hospital(per_reader=61)
    cells = tallied(evidence.rows)
    found = {row.code: rounded_row(row).n for row in varied(evidence.rows, evidence)}
    own = {
        code: rounded(tally_of(part, SCALE.phrases)).total
        for code, part in cells.groupby("reader_code")
    }
    assert found == own
    assert any(n % 5 != 2 for n in own.values())


def test_nothing_is_compared_between_fewer_readers_than_the_minimum() -> None:
    evidence = hospital(readers=4)
    rows = evidence.rows
    found = varied(rows, evidence)
    assert all(row.shrunk is None and row.gap is None for row in found)


def test_every_sensitivity_table_marks_the_choice_made_once() -> None:
    tables = sensitivity_tables(hospital().evidence, scale=SCALE)
    assert [sum(row.reference for row in table.rows) for table in tables] == [1, 1, 1, 1]
    windows, compared, silence, labels = tables
    assert [row.name for row in windows.rows] == [
        "CT within 6 h",
        "CT within 12 h",
        "CT within 24 h",
        "CT within 72 h",
    ]
    # 120, 360 and 240 statements, each phrase of them as the middle of its five.
    assert [row.n for row in windows.rows] == [121, 361, 361, 361]
    assert [row.n for row in compared.rows][:2] == [361, 241]
    assert silence.rows[0].n == 361 > silence.rows[1].n
    assert len(labels.rows) == 2
    references = {row.phrase_error.value for t in tables for row in t.rows if row.reference}
    assert len(references) == 1


@pytest.mark.parametrize(("own", "said"), [(0, True), (1, True), (60, False)])
def test_a_choice_that_leaves_no_exam_out_says_so(own: int, said: bool) -> None:
    whole = hospital()
    pairs = whole.block.pairs.assign(ct_own=np.arange(len(whole.block.pairs)) < own)
    block = replace(whole.block, pairs=pairs)
    compared = sensitivity_tables(replace(whole, block=block).evidence, scale=SCALE)[1]
    recommend, signed = (row.name for row in compared.rows[1:3])
    assert recommend == "without X-ray reports that recommend a CT"
    name = "without CTs that the X-ray's reader signed too"
    assert signed == name + " (none known, or too few to tell)" * said
    (other,) = translated((signed,), Strings.load(language="de"))
    assert other.startswith("ohne CT, die der Befunder")
    assert other.endswith("für einen Unterschied)") == said


def test_the_choice_made_has_the_figures_of_the_rest_of_the_review() -> None:
    evidence = hospital(per_reader=150).evidence
    shown = rounded(tally_of(evidence.cells, SCALE.phrases))
    exact = float(evidence.cells["count"].sum())
    made = [
        row
        for table in sensitivity_tables(evidence, scale=SCALE)
        for row in table.rows
        if row.reference
    ]
    assert shown.total != exact
    counted = tally_of(evidence.cells, SCALE.phrases)
    result = SCALE.study.with_bootstrap(0).printed(counted, "department")
    for row in made:
        assert row.n == shown.total
        assert isinstance(row.ece, Estimate)
        assert row.ece.value == result.ece.value
        assert isinstance(row.phrase_error, Estimate)
        assert row.phrase_error.value == result.phrase_error.value


def test_the_slope_of_a_choice_is_that_of_its_hedges() -> None:
    """Of calibrated readers "absent" and "present" alone made it .86 to .93."""
    evidence = hospital(per_reader=150).evidence

    def slopes(cells: pd.DataFrame) -> set[float]:
        tables = sensitivity_tables(replace(evidence, cells=cells), scale=SCALE)
        made = [row.slope for table in tables for row in table.rows if row.reference]
        return {each.value if isinstance(each, Estimate) else -1.0 for each in made}

    hedges = evidence.cells[~evidence.cells["phrase"].isin(["absent", "present"])]
    sure = hedges.iloc[:2].assign(phrase=["absent", "present"], count=400.0, label=[1.0, 0.0])
    assert slopes(pd.concat([hedges, sure])) == slopes(hedges)


def test_weighting_brings_back_the_mix_of_all_xrays() -> None:
    # All unpaired X-rays are of inpatients: those paired count for more, n falls a little.
    compared = sensitivity_tables(hospital().evidence, scale=SCALE)[1]
    weighted = compared.rows[3]
    assert weighted.name == "weighted to all adult chest X-rays"
    assert 200 < weighted.n < 360


def test_window_with_too_few_exams_is_withheld() -> None:
    whole = hospital()
    few = whole.block.pairs.head(10).assign(window_hours=6.0)
    block = replace(whole.block, window_pairs=few)
    row = sensitivity_tables(replace(whole, block=block).evidence, scale=SCALE)[0].rows[0]
    assert isinstance(row.ece, SuppressedCell)
    assert row.n == 0


def test_scale_use_leaves_certain_statements_out_and_withholds_rare_terms() -> None:
    evidence = hospital()
    used = used_terms(evidence)
    assert used is not None
    assert used.periods == ("2026 Q3",)
    assert used.n.tolist() == [360]
    assert used.recommended.tolist() == [1.0]
    assert used.discouraged.tolist() == [0.0]
    assert {term for term, _, _ in used.terms} == {"likely", "may represent", "unlikely"}


def test_scale_use_of_few_phrases_is_nan_not_a_share() -> None:
    evidence = hospital(readers=1, per_reader=10)
    used = used_terms(evidence)
    assert used is not None
    assert np.isnan(used.recommended).all()
    assert {cell.of for _, cell, _ in used.terms if isinstance(cell, SuppressedCell)} == {"exams"}
    assert len(used.terms) == 3


def test_count_of_a_term_that_two_readers_use_is_withheld_with_the_next_smallest() -> None:
    evidence = hospital(per_reader=150)
    pairs, said = evidence.block.pairs, evidence.block.report_findings
    two = pairs.loc[pairs["reader_code"].isin(["R0", "R1"]), "xr_exam_key"]
    hedge = said["exam_key"].isin(two) & (said["phrase"] == "likely")
    said = said.assign(phrase=said["phrase"].mask(hedge, "possibly"))
    used = used_terms(replace(evidence, block=replace(evidence.block, report_findings=said)))
    assert used is not None
    cells = {term: cell for term, cell, _ in used.terms}
    withheld = {term for term, cell in cells.items() if isinstance(cell, SuppressedCell)}
    assert "possibly" in withheld
    assert len(withheld) == 2
    shown = {term: n for term, n in cells.items() if term not in withheld}
    assert min(shown.values()) >= max(
        (said["phrase"] == term).sum() for term in withheld - {"possibly"}
    )


def test_words_are_told_by_how_often_a_ct_follows_and_few_readers_are_withheld() -> None:
    # 200 reports say "likely", 150 of them with a CT; 30 "unlikely" of four readers; certainties
    # and knees are left out, and a report with two hedges counts for both
    def reports(n: int, cues: str, fate: str, readers: int = 6) -> pd.DataFrame:
        return pd.DataFrame(
            {"reader_code": [f"R{i % readers}" for i in range(n)], "performed_month": "2026-07",
             "fate": fate, "cues": cues}
        )  # fmt: skip

    none = "no chest CT of the patient in the window"
    fates = pd.concat(
        [reports(100, "absent;likely", "paired"), reports(50, "likely;possibly", "paired"),
         reports(50, "likely", none), reports(30, "unlikely", "paired", readers=4),
         reports(10, "maybe", "paired"), reports(15, "maybe", none),
         reports(40, "", none), reports(25, "possibly", "not a chest exam")]
    )  # fmt: skip
    found = content.written_of(sums.written(fates), CONFIG.reports, withheld={})
    assert [each.phrase for each in found] == ["likely", "possibly", "unlikely", "maybe"]
    assert [each.reports for each in found] == [200, 50, SuppressedCell(5, "readers"), 25]
    assert np.isnan(found[3].paired)  # 10 of 25, and fewer than 20 are shown nowhere
    assert found[0].paired == pytest.approx(0.75, abs=0.01)
    assert found[1].paired == 1.0
    assert np.isnan(found[2].paired)


def test_case_mix_finds_the_planted_kind_of_case_and_holds_the_others_equal() -> None:
    # drafted X-rays have twice the share of inpatients; CT shows .2 less, in inpatients only
    rng = np.random.default_rng(5)
    rows = hospital(per_reader=300).rows
    size = len(rows)
    draft = rng.random(size) < 0.5
    inpatient = rng.random(size) < np.where(draft, 0.8, 0.4)
    means = rows["phrase"].map(dict(zip(SCALE.phrases.phrases, SCALE.phrases.means, strict=True)))
    rate = np.clip(means - 0.2 * inpatient, 0.0, 1.0)
    rows = rows.assign(
        draft=np.where(draft, "by someone else", "no other author named"),
        patient_class=np.where(inpatient, "inpatient", "emergency"),
        label=(rng.random(size) < rate).astype(float),
    )
    found = case_mix(sums.mix(rows), scale=SCALE)
    gaps = {row.level: row for row in found.rows}
    for level, n in (("inpatient", inpatient.sum()), ("emergency", (~inpatient).sum())):
        assert gaps[level].n == n
    inside, outside = gaps["inpatient"], gaps["emergency"]
    assert inside.gap.value - outside.gap.value == pytest.approx(-0.19, abs=0.05)
    assert inside.adjusted.high < outside.adjusted.low
    raw = gaps["by someone else"].gap.value - gaps["no other author named"].gap.value
    held = gaps["by someone else"].adjusted.value - gaps["no other author named"].adjusted.value
    assert raw < -0.04
    assert abs(held) < abs(raw) / 2
    assert set(found.alike) == {"Age (40-59)", "X-ray to CT (2-6 h)", "Difficulty (CT is plain)"}


def test_a_site_whose_ct_shows_less_is_found_with_sex_held_equal() -> None:
    # women go to the first site twice as often; CT shows .3 less there, of men and women alike
    rng = np.random.default_rng(8)
    rows = hospital(per_reader=300).rows
    size = len(rows)
    woman = rng.random(size) < 0.5
    there = rng.random(size) < np.where(woman, 0.8, 0.4)
    means = rows["phrase"].map(dict(zip(SCALE.phrases.phrases, SCALE.phrases.means, strict=True)))
    rows = rows.assign(
        patient_sex=np.where(woman, "female", "male"),
        site_code=np.where(there, "T-23AB", "T-45CD"),
        label=(rng.random(size) < np.clip(means - 0.3 * there, 0.0, 1.0)).astype(float),
    )
    found = {row.level: row for row in case_mix(sums.mix(rows), scale=SCALE).rows}
    assert found["T-23AB"].factor == "Site"
    assert found["T-23AB"].adjusted.high < found["T-45CD"].adjusted.low
    raw = found["female"].gap.value - found["male"].gap.value
    held = found["female"].adjusted.value - found["male"].adjusted.value
    assert raw < -0.05
    assert abs(held) < abs(raw) / 2


def test_kind_of_case_seen_by_four_readers_is_withheld_with_its_neighbour() -> None:
    rows = hospital(per_reader=60).rows
    four = rows["reader_code"].isin(["R0", "R1", "R2", "R3"]) & (rows.index % 3 == 0)
    rows = rows.assign(age_band=np.where(four, "80 and over", "40-59"))
    found = case_mix(sums.mix(rows), scale=SCALE)
    states = {row.level: row.gap.of for row in found.rows if row.factor == "Age"}
    assert states == {"80 and over": "readers", "40-59": "complementary"}


def mostly(rows: pd.DataFrame, column: str, value: str, times: int) -> pd.DataFrame:
    """Let R0 write so many times as much of one part of the rows."""
    own = (rows[column] == value) & (rows["reader_code"] == "R0")
    count = "weight" if "weight" in rows else "n" if "n" in rows else "count"
    return rows.assign(**{count: rows[count] * np.where(own, times, 1)})


@pytest.mark.parametrize(("times", "hidden"), [(5, False), (30, True)])
def test_kind_of_case_that_one_reader_saw_mostly_is_withheld_with_its_neighbour(
    times: int, *, hidden: bool
) -> None:
    mix = mostly(hospital(readers=8).evidence.mix, "patient_sex", "female", times)
    found = case_mix(mix, scale=SCALE)
    states = {r.level: r.gap.of for r in found.rows if isinstance(r.gap, SuppressedCell)}
    withheld = {"female": "readers", "male": "complementary"}
    assert withheld.items() <= states.items() if hidden else not withheld.keys() & states.keys()


@pytest.mark.parametrize(("times", "hidden"), [(5, False), (30, True)])
def test_month_that_is_mostly_one_reader_s_is_in_no_chart(times: int, *, hidden: bool) -> None:
    seen = hospital(readers=7).evidence
    for name, column, at in (("cells", "month", 0), ("words", "performed_month", 1)):
        rows = mostly(getattr(seen, name), column, MONTHS[1], times)
        chart = run_charts(replace(seen, **{name: rows}), months=MONTHS, scale=SCALE)[at]
        assert np.isnan(chart.level[1]) == hidden
        assert np.isnan(chart.level).sum() == 2 * hidden  # the next would tell it by difference


@pytest.mark.parametrize(("times", "hidden"), [(5, False), (30, True)])
def test_quarter_that_is_mostly_one_reader_s_has_no_share_of_terms(
    times: int, *, hidden: bool
) -> None:
    months = ("2026-03", "2026-04", "2026-07")
    words = hospital(readers=7).evidence.words
    words = words.assign(
        performed_month=words["performed_month"].map(dict(zip(MONTHS, months, strict=True)))
    )
    found = scale_use(
        mostly(words, "performed_month", "2026-04", times), months=months, config=CONFIG
    )
    assert found is not None
    assert np.isnan(found.recommended[1]) == hidden
    assert np.isnan(found.recommended).sum() == 2 * hidden


def test_hedge_without_a_meaning_that_one_reader_wrote_mostly_has_no_count() -> None:
    fates = pd.DataFrame(
        [(f"R{i}", "2026-07", "paired", cue) for i in range(6) for cue in ("perhaps", "maybe")
         for _ in range(200 if (i, cue) == (0, "perhaps") else 10)],
        columns=["reader_code", "performed_month", "fate", "cues"],
    )  # fmt: skip
    found = content.written_of(sums.written(fates), CONFIG.reports, withheld={})
    told = {each.phrase: each for each in found}
    assert told["perhaps"].reports == SuppressedCell(5, "readers")
    assert np.isnan(told["perhaps"].paired)
    assert told["maybe"].reports == 60


def test_exact_words_spread_over_cases_as_chance_would_have_them() -> None:
    # 60 times "likely" (.774): 46 right are .226 from CT, 14 wrong are .774 from it
    rows = hospital(per_reader=60).rows.head(60)
    labels = np.repeat([1.0, 0.0], [46, 14])
    rows = rows.assign(phrase="likely", label=labels)
    found = disagreement(sums.mix(rows), scale=SCALE)
    assert found.plain.share[[2, 7]] == pytest.approx([46 / 60, 14 / 60])
    assert found.plain.expected[[2, 7]] == pytest.approx([0.774, 0.226], abs=1e-3)
    assert found.plain.mean == pytest.approx((46 * 0.226 + 14 * 0.774) / 60, abs=1e-3)
    assert isinstance(found.hedged, SuppressedCell)
    hard = disagreement(sums.mix(rows.assign(label=0.6)), scale=SCALE)
    assert isinstance(hard.plain, SuppressedCell)
    assert hard.hedged.mean == pytest.approx(0.174, abs=1e-3)


def test_draft_is_named_by_the_export_or_by_a_preliminary_version() -> None:
    day = pd.Timestamp("2026-03-01")
    rows = []
    for study, modality, hour, status, reader, drafted in (
        ("A", "XR", 1, "final", "R1", True),
        ("B", "XR", 1, "prelim", "R9", False),
        ("B", "XR", 1, "final", "R1", False),
        ("C", "XR", 1, "prelim", "R1", False),
        ("C", "XR", 1, "final", "R1", False),
        *((f"{s}ct", "CT", 5, "final", "R2", False) for s in "ABC"),
    ):
        rows.append(
            {
                "study_code": study, "patient_code": study[0], "reader_code": reader,
                "exam_key": f"{study}.{status}", "modality": modality,
                "performed_at": day + pd.Timedelta(hours=hour),
                "signed_at": day + pd.Timedelta(hours=hour + (status == "final")),
                "performed_month": "2026-03", "status": status, "is_chest": True,
                "is_adult": True, "age_band": "40-59", "patient_class": "inpatient",
                "patient_sex": "female", "site_code": "T-23AB", "cues": "",
                "drafted": drafted, "sequence": None, "sent_at": None,
                "text_digest": study, "text_mark": study,
            }
        )  # fmt: skip
    pairs = pair(pd.DataFrame(rows)).pairs
    assert dict(zip(pairs["xr_study_code"], pairs["draft"], strict=True)) == {
        "A": "by someone else",
        "B": "by someone else",
        "C": "no other author named",
    }


def used_terms(found: Hospital) -> ScaleUse | None:
    return scale_use(
        sums.words(found.block.pairs, found.block.report_findings),
        months=MONTHS,
        config=CONFIG,
    )


def test_a_term_withheld_for_another_s_sake_says_so_and_not_that_few_wrote_it() -> None:
    """Six readers wrote "may represent", and it stood under "fewer than 5 readers"."""
    rows = [("likely", 4, 100), ("may represent", 6, 30), ("unlikely", 6, 90)]
    words = pd.DataFrame(
        [
            {"performed_month": MONTHS[0], "phrase": phrase, "n": n, "reader_code": f"R{i}"}
            for phrase, readers, n in rows
            for i in range(readers)
        ]
    )
    used = scale_use(words, months=MONTHS, config=CONFIG)
    assert used is not None
    cells = {term: n for term, n, _ in used.terms}
    assert cells["likely"] == SuppressedCell(5, "readers")
    assert isinstance(cells["may represent"], SuppressedCell)
    assert cells["may represent"].of == "complementary"
    assert cells["unlikely"] == 540


def test_patients_who_come_again_widen_every_interval_of_the_review() -> None:
    """Each statement three times: pages that call them independent are too sure by √3."""
    once = hospital(per_reader=100)
    rows = pd.concat([once.rows] * 3, ignore_index=True)
    cells = tallied(rows).rename(columns={"performed_month": "month"})
    evidence = replace(once.evidence, cells=cells, mix=sums.mix(rows))
    found = compact(rows)
    alike = likenesses(found, SCALE.phrases)
    assert alike[None].phrase >= 2.9
    by_reader = {
        str(r): likeness_of(own, SCALE.phrases).whole
        for r, own in found.groupby("reader", observed=True)
    }
    knowing = replace(evidence, alike=alike, alike_by_reader=by_reader)

    def widths(known: Evidence) -> Iterator[float]:
        tables = sensitivity_tables(known, scale=SCALE)
        rows_ = [row for table in tables for row in table.rows if row.reference]
        readers = variation(known, scale=SCALE)
        mix = case_mix(known.mix, scale=SCALE, effect=known.together.whole).rows
        measured = [each for row in rows_ for each in (row.ece, row.phrase_error)]
        measured += [each for row in readers for each in (row.gap, row.adjusted)]
        measured += [each for row in mix for each in (row.gap, row.adjusted)]
        study = SCALE.study
        group = Group("d", known.cells, known.alike)
        result = group_results(
            group, pathologies=["pleural effusion"], study=study, minimum=20
        ).by_pathology["pleural effusion"]
        assert result is not None
        measured += [result.ece, result.phrase_error, result.brier, result.accuracy]
        assert len(measured) >= 40
        yield from (each.high - each.low for each in measured if isinstance(each, Estimate))
        for _, _, each in trend(group, months=MONTHS, study=study, minimum=20):
            assert each is not None
            yield each.high - each.low

    ratio = np.array([*widths(knowing)]) / np.array([*widths(evidence)])
    assert ratio.min() > 1.25
    assert 1.5 < np.median(ratio) < 2.0


def test_a_phrase_of_two_readers_leaves_the_departments_chart_its_advice_and_no_trace() -> None:
    rows = hospital(per_reader=150).rows
    two = rows["reader_code"].isin(["R0", "R1"]) & (rows["phrase"] == "likely")
    rows = rows.assign(phrase=rows["phrase"].mask(two, "possibly"))
    cells = tallied(rows).rename(columns={"performed_month": "month"})
    hidden = withheld_phrases(cells, CONFIG.reports)
    results = group_results(
        Group("d", cells),
        pathologies=["pleural effusion"],
        study=SCALE.study,
        minimum=CONFIG.reports.min_exams,
        advised=True,
    )
    guarded = results_without(results, hidden)
    assert guarded.overall is not None
    drawn = {r.phrase: r for r in phrase_rows(guarded.overall.phrases, minimum_n=20)}
    withheld = {p for p, row in drawn.items() if row.state is RowState.WITHHELD}
    assert "possibly" in withheld
    assert len(withheld) == 2
    assert drawn["maybe"].state is RowState.NOT_USED
    assert sum(row.n for row in drawn.values()) < len(rows) - 20
    for advice in guarded.advice.values():
        told = (*advice.suggestions, *advice.suppressed)
        assert not withheld & {s.source for s in told}


def test_department_rate_of_a_phrase_few_readers_use_is_blank() -> None:
    from calibration.phrase_calibration import phrase_calibration

    cells = tallied(hospital().rows)
    pooled = phrase_calibration(tally_of(cells, SCALE.phrases), phrase_table=SCALE.phrases)
    guarded = without(pooled, {"unlikely"})
    at = guarded.phrases.index
    assert guarded.observed[at("likely")] == pooled.observed[at("likely")]
    assert np.isnan(guarded.observed[at("unlikely")])
    assert np.isnan(guarded.n[at("unlikely")])
    assert guarded.n[at("maybe")] == 0


@pytest.mark.parametrize(("times", "hidden"), [(10, False), (30, True)])
def test_a_phrase_that_one_reader_writes_nearly_alone_has_no_department_rate(
    times: int, hidden: bool
) -> None:
    cells = tallied(hospital(readers=8).rows)
    own = (cells["phrase"] == "likely") & (cells["reader_code"] == "R0")
    cells["count"] *= np.where(own, times, 1)
    of_likely = cells[cells["phrase"] == "likely"].groupby("reader_code")["count"].sum()
    assert len(of_likely) == 8
    assert (of_likely["R0"] > 0.75 * of_likely.sum()) == hidden
    line = pages._department_line(cells, SCALE)
    assert isinstance(line, PhraseCalibration)
    assert np.isnan(line.observed[line.phrases.index("likely")]) == hidden
    assert ("likely" in withheld_phrases(cells, CONFIG.reports)[None]) == hidden


@pytest.mark.parametrize(
    ("sizes", "withheld", "also"),
    [
        ({"a": 7, "b": 40, "c": 90}, {"a"}, {"b"}),
        ({"a": 7, "b": 12, "c": 90}, {"a", "b"}, set()),
        ({"a": 0, "b": 40, "c": 90}, {"a"}, set()),
        ({"a": 40, "b": 90}, set(), set()),
        ({"a": 7}, {"a"}, set()),
    ],
)
def test_complementary_part_is_withheld_only_where_subtraction_would_tell(
    sizes: dict[str, float], withheld: set[str], also: set[str]
) -> None:
    assert complementary(sizes, withheld) == also


def test_single_small_quarter_takes_the_smallest_other_along() -> None:
    gap = Estimate(0.1, 0.0, 0.2, 30, "test")
    points = content.trend_points([("Q1", 8, None), ("Q2", 50, gap), ("Q3", 30, gap)], 20)
    states = [p.gap.of if isinstance(p.gap, SuppressedCell) else p.n for p in points]
    assert states == ["exams", 50, "complementary"]


@pytest.mark.parametrize(
    ("xrays", "incomplete"),
    [
        ((100, 90, 100, 95, 30), {"2026 Q4"}),
        ((30, 90, 100, 95, 90, 99), {"2026 Q3"}),
        ((90, 0, 100, 95, 90, 99), {"2026 Q3"}),
        ((90, 80, 100, 95, 90, 99), set()),
    ],
)
def test_a_quarter_in_which_an_export_began_or_ended_is_marked_in_a_readers_trend(
    xrays: tuple[int, ...], incomplete: set[str]
) -> None:
    months = [f"2026-{number:02}" for number in range(7, 13)]
    seen = pd.DataFrame(
        [{"performed_month": m, "n": n} for m, n in zip(months, xrays, strict=False) if n]
    )
    found = incomplete_quarters(seen, months)
    assert found == incomplete
    gap = Estimate(0.1, 0.0, 0.2, 30, "test")
    series = [("2026 Q3", 50, gap), ("2026 Q4", 8, None), ("2027 Q1", 0, None)]
    points = content.trend_points(series, 20, incomplete=found)
    assert {p.period for p in points if p.partial} == incomplete


def test_rows_of_one_reader_are_read_without_the_others(tmp_path: Path) -> None:
    store = Workspace(tmp_path)
    store.prepare()
    frame = pd.DataFrame({"reader_code": ["R-A", "R-B", "R-A"], "n": [1, 2, 3]})
    store.write("analysis", "t", "k", frame)
    assert store.read("analysis", "t", ["k"], where=("reader_code", "R-A"))["n"].tolist() == [1, 3]
    nobody = store.read("analysis", "t", ["k"], where=("reader_code", "R-Z"))
    assert nobody.empty
    assert list(nobody.columns) == ["reader_code", "n"]


def test_run_charts_show_each_month_and_withhold_what_would_give_a_small_one_away() -> None:
    found = hospital(readers=7, per_reader=60)
    rows = found.rows
    words = sums.words(found.block.pairs, found.block.report_findings)
    cells = tallied(rows).rename(columns={"performed_month": "month"})
    seen = replace(found.evidence, cells=cells, words=words)
    distance, use = run_charts(seen, months=MONTHS, scale=SCALE)
    by_hand = np.array([monthly_distance(cells, month) for month in MONTHS])
    assert distance.level.mean() == pytest.approx(by_hand.mean() - distance.chance)
    assert distance.level == pytest.approx(by_hand - distance.chance, abs=0.02)
    said = words[words["performed_month"] == MONTHS[0]]
    named = said["phrase"].isin(SCALE.config.phrases.recommended)
    inside, whole = said.loc[named, "n"].sum(), said["n"].sum()
    assert use.level[0] == pytest.approx((inside // 5 * 5 + 2) / (whole // 5 * 5 + 2))
    fewer = cells[(cells["month"] != MONTHS[0]) | (cells["reader_code"] == "R0")]
    distance, _ = run_charts(replace(seen, cells=fewer), months=MONTHS, scale=SCALE)
    assert np.isfinite(distance.level).tolist().count(True) == len(MONTHS) - 2
    hidden = np.flatnonzero(np.isnan(distance.level)).tolist()
    assert distance.withheld == tuple(MONTHS[i] for i in hidden)


def monthly_distance(cells: pd.DataFrame, month: str) -> float:
    part = tally_of(cells[cells["month"] == month], SCALE.phrases)
    gap = np.abs(part.label_mass - part.n * SCALE.phrases.means).sum() / part.n.sum()
    return float(measured(gap, part.total))


def test_a_busier_half_year_does_not_read_as_better_words() -> None:
    """Exactly right words, six times as many from the ninth month on: every signal was chance's."""
    months, cells = grown(off=0.0)
    distance, raw = charted(months, cells)
    assert process(raw).signals
    assert not distance.process.signals
    assert distance.level.mean() == pytest.approx(0.0, abs=0.01)


def test_nor_does_it_read_as_worse_words_where_they_are_off_all_along() -> None:
    """As much was taken out of small months as of exactly right words, which chance moves more."""
    months, cells = grown(off=0.2)
    distance, _ = charted(months, cells)
    few, many = distance.level[:8].mean(), distance.level[8:].mean()
    assert not distance.process.signals
    assert few == pytest.approx(many, abs=0.01)
    assert many == pytest.approx(0.2, abs=0.01)


def charted(months: tuple[str, ...], cells: pd.DataFrame) -> tuple[RunChart, FloatArray]:
    """Chart the distance of months, and give it as it is seen."""
    coverage = pd.DataFrame({"performed_month": months, "n": 100, "fate": "paired"})
    seen = replace(hospital().evidence, cells=cells, coverage=coverage)
    distance, _ = run_charts(seen, months=months, scale=SCALE)
    return distance, np.array([monthly_distance(cells, month) for month in months])


def grown(*, off: float) -> tuple[tuple[str, ...], pd.DataFrame]:
    """Draw words that are all so far off, six times as many from the ninth month on."""
    rng, rows = np.random.default_rng(5), list[tuple[str, str, str, str, float, int]]()
    months = tuple(f"2026-{m:02d}" for m in range(1, 17))
    named = ("likely", "may represent", "unlikely", "possibly", "probably")
    for place, month in enumerate(months):
        for reader, phrase in product(range(7), named):
            n = 5 if place < 8 else 30
            mean = SCALE.phrases.means[SCALE.phrases.index(phrase)]
            right = int(rng.binomial(n, mean - math.copysign(off, mean - 0.5)))
            of = (month, f"R{reader}", "pleural effusion", phrase)
            rows += [(*of, 1.0, right), (*of, 0.0, n - right)]
    cells = pd.DataFrame(
        rows, columns=["month", "reader_code", "pathology", "phrase", "label_value", "count"]
    )
    return months, cells


@pytest.mark.parametrize(
    ("xrays", "partial"), [((40, 90, 100), [0]), ((90, 100, 40), [2]), ((60, 90, 100), [])]
)
def test_a_month_in_which_an_export_begins_or_ends_has_no_point_in_a_run_chart(
    xrays: tuple[int, ...], partial: list[int]
) -> None:
    whole = hospital(readers=7, per_reader=60).evidence
    seen = pd.DataFrame({"performed_month": MONTHS, "n": xrays, "fate": "paired"})
    for chart in run_charts(replace(whole, coverage=seen), months=MONTHS, scale=SCALE):
        assert chart.partial == tuple(MONTHS[i] for i in partial)
        assert chart.withheld == ()
        assert np.flatnonzero(np.isnan(chart.level)).tolist() == partial
        assert chart.process.n == len(MONTHS) - len(partial)


def test_statements_of_which_ct_is_plain_are_counted_and_that_there_is_none_is_no_secret() -> None:
    mix = hospital().evidence.mix
    whole = round(float(mix["weight"].sum()))
    assert ct_plain(mix, scale=SCALE) == whole
    assert ct_plain(mix.assign(label=0.3), scale=SCALE) == 0
    some = mix.assign(label=np.where(np.arange(len(mix)) < 3, 1.0, 0.3))
    assert 0 < some["weight"][:3].sum() < CONFIG.reports.min_exams
    assert ct_plain(some, scale=SCALE) == SuppressedCell(CONFIG.reports.min_exams)


def test_months_without_a_hedge_are_not_said_to_be_withheld() -> None:
    """Nobody wrote a hedge, and twelve months were said to be withheld from the chart of hedges."""
    found = hospital(readers=7, per_reader=60)
    cells = tallied(found.rows).rename(columns={"performed_month": "month"})
    silent = replace(found.evidence, cells=cells, words=found.evidence.words[:0])
    distance, use = run_charts(silent, months=MONTHS, scale=SCALE)
    assert np.isfinite(distance.level).all()
    assert np.isnan(use.level).all()
    assert distance.withheld == use.withheld == ()
    made = scale_use(silent.words, months=MONTHS, config=CONFIG)
    assert made.periods == ()
    assert made.terms == ()
