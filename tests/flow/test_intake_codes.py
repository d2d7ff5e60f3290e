"""Codes and surrogates of the intake: stable within an epoch and a key, the same in any process."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from pipeline.simulate import simulate
from pipeline.site.site import Site
from tests.fixtures.here import coded as coded_exams

KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("RADCAL_VAULT_KEY", KEY)
    exams = simulate(pairs=10, readers=3, seed=11).exams
    exams.to_csv(tmp_path / "exams.csv", index=False)
    return written(tmp_path, "token")


def written(folder: Path, replacement: str) -> str:
    path = folder / "radcal.toml"
    path.write_text(
        f'[input]\npaths = ["exams.csv"]\n[deidentification]\nreplacement = "{replacement}"\n'
    )
    return str(path)


def coded(config: str) -> pd.DataFrame:
    """Take the export to coded exams, as a fresh process would."""
    Site.forget()
    site = Site.open(config)
    keys = [shard.key for shard in coded_exams(site)]
    return site.workspace.read("analysis", "clean_exams", keys)


def test_codes_and_texts_are_the_same_when_made_again(config: str) -> None:
    first = coded(config)
    for path in (Path(config).parent / "workspace" / "analysis").rglob("*.parquet"):
        path.unlink()
    pd.testing.assert_frame_equal(coded(config), first)


def test_surrogates_are_the_same_in_every_process_and_are_no_tokens(config: str) -> None:
    surrogate = written(Path(config).parent, "surrogate")
    first = coded(surrogate)
    assert not first["text"].str.contains("[NAME]", regex=False).any()
    for path in (Path(config).parent / "workspace" / "analysis").rglob("*.parquet"):
        path.unlink()
    pd.testing.assert_frame_equal(coded(surrogate), first)


def test_rotation_gives_readers_new_codes_and_leaves_studies_alone(config: str) -> None:
    before = coded(config)
    with Site.open(config).open_vault(read_only=False) as vault:
        vault.rotate_readers()
    after = coded(config)
    assert set(after["reader_code"]).isdisjoint(before["reader_code"])
    assert after["study_code"].tolist() == before["study_code"].tolist()
    assert after["text"].tolist() == before["text"].tolist()


def test_interval_between_exams_of_a_patient_survives_the_shift(config: str) -> None:
    site_exams = pd.read_csv(Path(config).parent / "exams.csv", dtype=str, keep_default_na=False)
    shifted = coded(config)
    performed = pd.to_datetime(site_exams["performed_at"], utc=True)
    moved = shifted["performed_at"] - performed
    assert (moved.dt.total_seconds() % 86400 == 0).all()
    assert (moved != pd.Timedelta(0)).all()
    each = moved.groupby(shifted["patient_code"])
    assert (each.min() == each.max()).all()


def test_spooled_query_rows_go_when_the_next_run_begins(config: str) -> None:
    site = Site.open(config)
    site.workspace.prepare()
    spooled = site.workspace.root / "raw" / "queries" / "rows.parquet"
    spooled.parent.mkdir(parents=True)
    spooled.write_bytes(b"rows")
    with site.workspace.locked():
        assert not spooled.exists()
