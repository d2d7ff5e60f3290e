"""Bad input through the command line: the promised exit code, what to do, and no traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from pipeline.simulate import simulate
from tests.e2e.commands import RADCAL, Finished, here

pytestmark = pytest.mark.slow

KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"
CONFIG = (
    '[reports]\ndemonstration = true\n[input]\npaths = ["exams.csv"]\n'
    "[deidentification]\nmax_quarantined_share = 0.1\n[calibration]\nbootstrap = 100\n"
)


@pytest.fixture(scope="module")
def simulated() -> pd.DataFrame:
    return simulate(pairs=24, readers=3, seed=5).exams.astype(str)


def run(folder: Path, **environment: str) -> Finished:
    """Run what is too small for a server or workers, so in no process of its own."""
    settings = {"RADCAL_VAULT_KEY": KEY} | environment
    return here("run", "radcal.toml", "--json", cwd=folder, **settings)


def site(folder: Path, exams: pd.DataFrame, config: str = CONFIG) -> Path:
    exams.to_csv(folder / "exams.csv", index=False)
    (folder / "radcal.toml").write_text(config)
    return folder


def told(done: Finished, code: int, *words: str) -> None:
    assert done.code == code, done.err
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


def test_missing_column_is_named_with_the_way_to_map_it(
    tmp_path: Path, simulated: pd.DataFrame
) -> None:
    folder = site(tmp_path, simulated.drop(columns=["signed_at"]))
    told(run(folder), 2, "'signed_at'", "[input.columns]")


def test_empty_file_beside_others_is_set_aside_and_alone_delivers_nothing(
    tmp_path: Path, simulated: pd.DataFrame
) -> None:
    folder = site(tmp_path, simulated, CONFIG.replace("exams.csv", "*.csv"))
    (folder / "second.csv").write_bytes(b"")
    told(run(folder), 3)
    (folder / "exams.csv").write_bytes(b"")
    told(run(folder), 4, "set aside: empty_file 2")


def test_wrong_encoding_says_what_to_set(tmp_path: Path, simulated: pd.DataFrame) -> None:
    folder = site(tmp_path, simulated, CONFIG.replace("[input]", '[input]\nencoding = "utf-8"'))
    (folder / "exams.csv").write_bytes(
        (folder / "exams.csv").read_bytes() + "œdème".encode("cp1252") + b",,\n"
    )
    told(run(folder), 2, "not valid utf-8", "[input] encoding")


def test_text_of_a_spreadsheet_is_read_without_a_setting_and_said(
    tmp_path: Path, simulated: pd.DataFrame
) -> None:
    accented = simulated.assign(text=simulated["text"].str.replace("edema", "œdème"))
    folder = site(tmp_path, accented)
    accented.to_csv(folder / "exams.csv", index=False, encoding="cp1252")
    done = run(folder)
    told(done, 0)
    assert done.summary["reading_notes"] == {
        "read as cp1252": int(accented["text"].str.contains("œ").sum())
    }


def test_three_errors_of_a_configuration_are_told_at_once(
    tmp_path: Path, simulated: pd.DataFrame
) -> None:
    wrong = '[input]\npaths = []\nformatt = "csv"\n[pairing]\nwindow_hours = "long"\n'
    folder = site(tmp_path, simulated, wrong)
    told(run(folder), 2, "3 error(s)", "input.paths", "input.formatt", "pairing.window_hours")


def test_unwritable_workspace_is_refused_before_any_work(
    tmp_path: Path, simulated: pd.DataFrame
) -> None:
    folder = site(tmp_path, simulated, CONFIG + '[store]\nworkspace = "exams.csv/workspace"\n')
    told(run(folder), 2, "store.workspace", "cannot be written")


def test_missing_key_tells_how_to_make_one(tmp_path: Path, simulated: pd.DataFrame) -> None:
    told(run(site(tmp_path, simulated), RADCAL_VAULT_KEY=""), 2, "RADCAL_VAULT_KEY_FILE")


def test_bad_rows_are_set_aside_counted_and_the_rest_delivered(
    tmp_path: Path, simulated: pd.DataFrame
) -> None:
    good = simulated.iloc[0].to_dict()
    bad = [
        good,
        good | {"accession": "B1", "modality": "MR"},
        good | {"accession": "B2", "performed_at": "2031-01-01T00:00:00+00:00",
                "signed_at": "2031-01-01T01:00:00+00:00"},
        good | {"accession": "B3", "text": "No effusion. " * 2000},
        good | {"accession": "B4", "text": "No\x00effusion."},
    ]  # fmt: skip
    limit = CONFIG.replace("[input]", "[input]\nmax_text_characters = 20_000")
    folder = site(tmp_path, pd.concat([simulated, pd.DataFrame(bad)]), limit)
    done = run(folder)
    told(done, 3)
    assert done.summary["quarantined"] == 5
    (path,) = (folder / "workspace" / "runs").glob("*/manifest.json")
    source = json.loads(path.read_text())["sources"][0]
    assert source["kept"] == len(simulated)
    assert source["quarantined"] == {
        "duplicate_exam": 1,
        "future_date": 1,
        "nul_bytes": 1,
        "text_too_long": 1,
        "unknown_modality": 1,
    }
    (shard,) = (folder / "workspace" / "raw" / "quarantine").glob("*.parquet")
    rows = pd.read_parquet(shard)
    assert sorted(rows["row"]) == [len(simulated) + i for i in range(1, 6)]


def test_ct_before_its_xray_is_no_outcome_and_no_delivery_follows(
    tmp_path: Path, simulated: pd.DataFrame
) -> None:
    late = pd.to_datetime(simulated["performed_at"], utc=True, format="ISO8601")
    early = simulated.assign(
        performed_at=late.where(simulated["modality"] == "CT", late + pd.Timedelta(days=3)),
        signed_at=late.where(simulated["modality"] == "CT", late + pd.Timedelta(days=3)),
    )
    folder = site(tmp_path, early)
    done = run(folder)
    told(done, 4, "observations to calibrate on", "report.pdf")
    assert not (folder / "workspace" / "delivery").exists()
    assert list((folder / "workspace" / "runs").glob("*/report.pdf"))


def test_killed_run_goes_on_where_it_stopped(tmp_path: Path, simulated: pd.DataFrame) -> None:
    folder = site(tmp_path, simulated, CONFIG + "[execution]\nshard_rows = 10\n")
    process = subprocess.Popen(
        [sys.executable, "-c", RADCAL, "run", "radcal.toml", "--quiet"],
        cwd=folder,
        env={**os.environ, "RADCAL_VAULT_KEY": KEY},
        start_new_session=True,
    )
    clean = folder / "workspace" / "analysis" / "clean_exams"
    deadline = time.monotonic() + 300
    while not list(clean.glob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    finished = {p.name: p.stat().st_mtime_ns for p in clean.glob("*.parquet")}
    assert finished
    done = run(folder)
    assert done.code in (0, 3), done.err
    for name, made in finished.items():
        assert (clean / name).stat().st_mtime_ns == made
    twin = tmp_path / "twin"
    twin.mkdir()
    whole = site(twin, simulated, CONFIG + "[execution]\nshard_rows = 10\n")
    assert run(whole).summary["observations"] == done.summary["observations"]
    assert not list((folder / "workspace").rglob("*.part"))


def test_second_run_at_the_same_time_leaves_with_its_own_code(
    tmp_path: Path, simulated: pd.DataFrame
) -> None:
    folder = site(tmp_path, simulated)
    (folder / "workspace").mkdir()
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from pipeline.store.workspace import Workspace\n"
            "with Workspace(Path(sys.argv[1])).locked():\n"
            "    print('held', flush=True); sys.stdin.read()",
            str(folder / "workspace"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    told(run(folder), 5, "another run holds")
    holder.communicate()
