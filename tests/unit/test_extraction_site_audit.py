"""Unit: an audit's file becomes figures on the pages and counts for calibration."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from calibration.phrase_calibration import phrase_error
from calibration.rounding import measured, rounded
from calibration.survey import builtin
from calibration.tally import Tally
from pipeline.cli.calibrate import register
from pipeline.config import Configuration
from pipeline.config.sections import Input, Reports
from pipeline.errors import ConfigurationError
from pipeline.pages.content import instrument
from pipeline.pages.sensitivity import extraction_tables
from pipeline.site.audited import misread_share, phrase_errors, read_audit
from pipeline.tables.results import Scale
from reports.strings import Strings, translated

TABLE = builtin("diagnostic-certainty-scale")
XR = [
    ["likely", "likely", 30],
    ["likely", "possibly", 10],
    ["likely", "not mentioned", 5],
    ["not mentioned", "present", 2],
    ["not mentioned", "not mentioned", 900],
    ["possibly", "possibly", 20],
]
CT = [["present", "present", 40], ["present", "not mentioned", 10], ["absent", "absent", 50]]


def written(folder: Path, **changed: object) -> Path:
    content = {
        "engine": "rules",
        "engine_version": "2+x",
        "reports": 300,
        "cell_accuracy_micro": {"value": 0.97, "low": 0.95, "high": None},
        "modality_confusion": {"XR": XR, "CT": CT},
    } | changed
    path = folder / "audit.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def counted(audited_confusion: object, *, absent: bool = True) -> object:
    return phrase_errors(
        audited_confusion,  # type: ignore[arg-type]
        phrases=("present", "likely", "possibly"),
        labels={"present": 1.0, "likely": 0.8, "possibly": 0.3, "absent": 0.0},
        silence_is_absent=absent,
    )


def test_rows_are_peoples_words_and_columns_the_engines(tmp_path: Path) -> None:
    errors = counted(read_audit(written(tmp_path)).confusion)
    assert errors is not None
    assert errors.audit.phrase_confusion.tolist() == [[0, 0, 0], [0, 30, 10], [0, 0, 20]]
    assert (errors.statements, errors.missed, errors.surplus) == (65, 5, 2)
    assert errors.unchecked == ("present",)


MEANS = {"absent": 0.0, "possibly": 0.3, "probably": 0.76, "likely": 0.8, "present": 1.0}


def shuffled(share: float) -> list[tuple[str, str, int]]:
    """Words used alike, a share of them taken for any word of the table."""
    n, k = 10_000, len(MEANS)
    wrong = round(n * share / k)
    return [
        (said, read, wrong + (round(n * (1 - share)) if said == read else 0))
        for said in MEANS
        for read in MEANS
    ]


def test_share_of_words_taken_for_any_other_is_the_share_misread() -> None:
    assert misread_share({"XR": tuple(shuffled(0.1))}, means=MEANS) == pytest.approx(0.1, abs=1e-3)
    assert misread_share({"XR": tuple(shuffled(0.0))}, means=MEANS) == 0.0


def test_words_taken_for_synonyms_hardly_count_and_words_out_of_nothing_do() -> None:
    right = [(word, word, 100) for word in MEANS]
    synonyms = [("likely", "probably", 20), ("probably", "likely", 20)]
    invented = [("not mentioned", "present", 20), ("not mentioned", "absent", 20)]
    assert misread_share({"XR": (*right, *synonyms)}, means=MEANS) < 0.005
    # Of the spread of words read, 40 of 540 were never written, at the two ends.
    assert misread_share({"XR": (*right, *invented)}, means=MEANS) > 0.08


def test_an_audit_without_xrays_tells_of_no_misreading() -> None:
    assert misread_share({"CT": ()}, means=MEANS) == 0.0


def test_a_silent_ct_counts_as_absent_only_where_configured(tmp_path: Path) -> None:
    confusion = read_audit(written(tmp_path)).confusion
    with_silence, without = counted(confusion), counted(confusion, absent=False)
    assert with_silence.audit.label_confusion.tolist() == [[50, 0], [10, 40]]
    assert without.audit.label_confusion.tolist() == [[50, 0], [0, 40]]


def test_an_audit_without_xrays_corrects_nothing() -> None:
    assert counted({"CT": CT}) is None


def test_another_file_is_refused_with_its_first_fault(tmp_path: Path) -> None:
    path = written(tmp_path, reports="many")
    with pytest.raises(ConfigurationError, match=r"1 fault.*reports"):
        read_audit(path)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_audit(tmp_path / "none.json")


def test_the_page_says_when_another_engine_earned_the_figure(tmp_path: Path) -> None:
    audited = read_audit(written(tmp_path))
    own = instrument("rules 2+x", counts=(), audited=audited).figures[0]
    other = instrument("rules 3+y", counts=(), audited=audited).figures[0]
    assert own.estimate is not None
    assert own.estimate.value == 0.97
    assert own.note == "cells agreeing in 300 labelled reports"
    assert other.note.endswith("read by rules 2+x")


def test_the_committee_sees_the_department_corrected(tmp_path: Path) -> None:
    scale = Scale(TABLE, Configuration(input=Input(paths=("x",))))
    n = np.full(len(TABLE), 50.0)
    tally = rounded(Tally.from_moments(n, n * TABLE.means))
    (table,) = extraction_tables(tally, read_audit(written(tmp_path)), scale=scale)
    assert [row.reference for row in table.rows] == [True, False, False]
    plain, words, _ = (row.phrase_error for row in table.rows)
    exact = phrase_error(tally.n, tally.label_mass, means=TABLE.means)
    assert plain.value == measured(exact, tally.total)  # type: ignore[union-attr]
    assert 0.0 < words.value <= words.high  # type: ignore[union-attr]
    assert words.low <= words.value  # type: ignore[union-attr]
    assert "Of 65 audited X-ray statements 5 were missed and 2 were read" in table.caption
    assert extraction_tables(tally, None, scale=scale) == ()


@pytest.mark.parametrize(("language", "point"), [("en", "."), ("de", ",")])
def test_a_share_in_the_name_of_a_correction_is_written_as_its_page_is(
    tmp_path: Path, language: Literal["en", "de"], point: str
) -> None:
    config = Configuration(input=Input(paths=("x",)), reports=Reports(language=language))
    n = np.full(len(TABLE), 50.0)
    tally, audited = Tally.from_moments(n, n * (TABLE.means > 0.5)), read_audit(written(tmp_path))
    (table,) = extraction_tables(tally, audited, scale=Scale(TABLE, config))
    said = Strings.load(language=language)
    names = [row.name for row in translated(table, said).rows[1:]]
    assert all(re.search(rf"\(\d+\{point}\d\u00a0% ", name) for name in names), names


def test_an_audit_that_cannot_be_inverted_says_so_instead_of_a_figure(tmp_path: Path) -> None:
    scale = Scale(TABLE, Configuration(input=Input(paths=("x",))))
    lost = {"XR": [["likely", "possibly", 10], ["possibly", "possibly", 5]]}
    tally = Tally.from_moments(np.full(len(TABLE), 50.0), np.zeros(len(TABLE)))
    audited = read_audit(written(tmp_path, modality_confusion=lost))
    row = extraction_tables(tally, audited, scale=scale)[0].rows[1]
    assert row.ece is None
    assert "too small" in row.name


def test_calibrate_puts_the_corrected_errors_beside_those_it_read(tmp_path: Path) -> None:
    rows = "phrase,label\n" + "likely,1\n" * 30 + "possibly,0\n" * 30 + "possibly,1\n" * 10
    (tmp_path / "observations.csv").write_text(rows)
    app, out = typer.Typer(), tmp_path / "result.json"
    register(app)
    app.command("other")(lambda: None)
    asked = ["calibrate", str(tmp_path / "observations.csv"), "--out", str(out), "--quiet"]
    asked += ["--bootstrap", "50", "--audit", str(written(tmp_path))]
    outcome = CliRunner().invoke(app, asked, catch_exceptions=False)
    assert outcome.exit_code == 0, outcome.output
    (group,) = json.loads(out.read_text())["groups"]
    corrected = group["extraction_corrected"]
    assert corrected["phrase_error"]["value"] != pytest.approx(group["phrase_error"]["value"])
    # a quarter of the audited "likely" were read "possibly": 40 of the 70 were "likely" in truth
    n = np.array([40.0, 30.0])
    means = dict(zip(TABLE.phrases, TABLE.means, strict=True))
    mass = np.array([40.0, 0.0])
    wanted = np.abs(mass - n * [means["likely"], means["possibly"]]).sum() / 70.0
    assert corrected["phrase_error"]["value"] == pytest.approx(wanted)
