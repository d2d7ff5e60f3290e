"""``radcal simulate`` writes the same bytes every time, or says why it cannot."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from pipeline.cli import run as command
from pipeline.errors import ConfigurationError
from pipeline.formats.tables import read_table
from pipeline.simulate import simulate, simulate_chunks
from pipeline.simulate.generator import write_simulation
from pipeline.simulate.truth import EXAM_COLUMNS, TABLES

TRUTH_FILES = {
    "counts.json", "department.json", "excluded.parquet", "habits.csv", "identifiers.parquet",
    "outcomes.parquet", "pairs.parquet", "pathologies.csv", "phrases.csv", "readers.csv",
    "report_findings.parquet", "swaps.csv",
}  # fmt: skip


def _written(out: Path, *, seed: int = 4) -> Path:
    chunks = simulate_chunks(pairs=40, readers=3, seed=seed)
    write_simulation(chunks, out)
    return out


def _digests(folder: Path) -> dict[str, str]:
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    one = _digests(_written(tmp_path / "one"))
    two = _digests(_written(tmp_path / "two"))
    other = _digests(_written(tmp_path / "other", seed=5))
    assert one == two
    assert one["exams.csv"] != other["exams.csv"]
    expected = {"exams.csv", "exam_codes.csv", *(f"truth/{n}" for n in TRUTH_FILES)}
    assert set(one) == expected


def test_what_is_written_reads_back_as_the_same_exams(tmp_path: Path) -> None:
    out = _written(tmp_path)
    back = read_table(out / "exams.csv")
    exams = simulate(pairs=40, readers=3, seed=4).exams
    assert tuple(back.columns) == EXAM_COLUMNS
    assert list(back["text"]) == list(exams["text"])
    assert list(back["accession"].astype(str)) == list(exams["accession"])
    assert list(back["patient_age_years"].astype(int)) == list(exams["patient_age_years"])
    assert (pd.to_datetime(back["signed_at"], utc=True) == exams["signed_at"]).all()


def test_csv_times_are_iso_with_offset(tmp_path: Path) -> None:
    performed = read_table(_written(tmp_path) / "exams.csv")["performed_at"]
    assert performed.str.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00").all()


def test_truth_files_hold_the_truth(tmp_path: Path) -> None:
    truth_folder = _written(tmp_path) / "truth"
    truth = simulate(pairs=40, readers=3, seed=4).truth
    counts = json.loads((truth_folder / "counts.json").read_text())
    for name in TABLES:
        back = read_table(truth_folder / f"{name}.parquet")
        assert len(back) == len(getattr(truth, name)) == counts[name]
        assert tuple(back.columns) == TABLES[name]
    readers = pd.read_csv(truth_folder / "readers.csv")
    assert list(readers["slope"]) == list(truth.readers["slope"])


def test_an_output_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        _written(tmp_path / "taken")


def test_a_broken_run_leaves_no_half_written_file(tmp_path: Path) -> None:
    def failing():
        yield simulate(pairs=5, readers=2, seed=0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_simulation(failing(), tmp_path)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_the_command_prints_its_counts_as_json(tmp_path: Path) -> None:
    app = typer.Typer()
    command.register(app)
    app.callback()(lambda: None)
    arguments = ["simulate", "--out", str(tmp_path), "--pairs", "9", "--readers", "2", "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    summary = json.loads(result.output)
    assert summary["pairs"] == 9
    assert summary["exams"] == len(read_table(tmp_path / "exams.csv"))
