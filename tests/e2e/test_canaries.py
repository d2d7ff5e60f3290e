"""Identifiers planted in every field of every format stand in no byte outside the raw zone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from tests.e2e.commands import Finished, radcal
from tests.fixtures.feeds.canary_hospital import (
    FORMATS,
    STEMS,
    canary_exams,
    export,
    export_query,
)
from tests.fixtures.search import canaries_in, contents, outputs

pytestmark = pytest.mark.slow

KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"
CONFIG = """\
[reports]
demonstration = true

[input]
paths = [
    "exports/*.csv", "exports/*.jsonl", "exports/*.parquet", "exports/*.hl7",
    "exports/reports.ndjson",
]
[deidentification]
max_quarantined_share = 0.2

[calibration]
bootstrap = 100

[execution]
orchestrated = "always"
"""


@dataclass(frozen=True)
class Job:
    """A run over all formats at once."""

    folder: Path
    done: Finished
    exams: int

    @property
    def raw(self) -> Path:
        return self.folder / "workspace" / "raw"


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    folder = tmp_path_factory.mktemp("canaries")
    exams = canary_exams()
    (folder / "exports").mkdir()
    export(exams, folder / "exports")
    (folder / "radcal.toml").write_text(CONFIG)
    (folder / "home").mkdir()
    done = radcal("run", "radcal.toml", cwd=folder, RADCAL_VAULT_KEY=KEY, HOME=str(folder / "home"))
    return Job(folder, done, len(exams))


def test_all_formats_end_in_one_delivery(job: Job) -> None:
    assert job.done.code in (0, 3), job.done.err
    (path,) = (job.folder / "workspace" / "runs").glob("*/manifest.json")
    told = json.loads(path.read_text())
    assert len(told["sources"]) == len(FORMATS)
    assert all(source["kept"] > 10 for source in told["sources"])
    assert told["accounting"]["rows_kept"] == job.exams
    assert told["accounting"]["exams_cleaned"] >= 0.8 * job.exams
    assert list((job.folder / "workspace" / "delivery").rglob("*.pdf"))


def test_the_search_finds_every_canary_in_the_exports(job: Job) -> None:
    found: dict[str, set[str]] = {}
    for path in (job.folder / "exports").iterdir():
        stems = {stem for content in contents(path) for stem, _ in canaries_in(content, STEMS)}
        found.setdefault(path.suffix.removeprefix("."), set()).update(stems)
    needed = {"Zuqvar", "Ixqorb", "QXPZ88", "ACQZ77", "RDQX66", "558-017-3", "02/17/1951", "Wexqad"}
    assert set(found) == set(FORMATS)
    assert {name for name, stems in found.items() if needed - stems} == set()
    raw = b"".join(c for p in (job.raw / "exams").glob("*.parquet") for c in contents(p))
    assert needed - {"Wexqad"} <= {stem for stem, _ in canaries_in(raw, STEMS)}


def test_no_canary_stands_in_any_byte_outside_the_raw_zone(job: Job) -> None:
    apart = (job.raw, job.folder / "exports")
    leaks = {
        name: found
        for name, content in outputs(job.folder, apart=apart)
        if (found := canaries_in(content, STEMS))
    }
    assert leaks == {}
    said = (job.done.out + job.done.err).encode()
    assert canaries_in(said, STEMS) == set()


def test_no_canary_is_readable_in_the_vault_or_in_the_quarantine(job: Job) -> None:
    for path in (*job.raw.glob("vault*"), *(job.raw / "quarantine").iterdir()):
        if path.suffix == ".parquet":
            continue  # names its source file, which is what was exported
        assert {f for c in contents(path) for f in canaries_in(c, STEMS)} == set(), path


def test_everything_written_is_its_owners_alone(job: Job) -> None:
    for path in (job.folder / "workspace").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


QUERY = """\
[reports]
demonstration = true

[input]
format = "sql"
query = "SELECT * FROM reports ORDER BY accession, signed_at"
[deidentification]
max_quarantined_share = 0.2
[calibration]
bootstrap = 100
"""
TABLE = """\
[reports]
demonstration = true

[input]
paths = ["exports/*"]
"""


def run(folder: Path, config: str) -> Finished:
    """Run the whole job in a folder whose exports stand in ``exports``."""
    (folder / "radcal.toml").write_text(config)
    (folder / "home").mkdir()
    database = f"sqlite:///{folder}/exports/ris.sqlite"
    return radcal("run", "radcal.toml", cwd=folder, RADCAL_VAULT_KEY=KEY, RADCAL_SQL_URL=database,
                  HOME=str(folder / "home"))  # fmt: skip


def leaks(folder: Path, done: Finished) -> dict[str, set[tuple[str, str]]]:
    """Search every byte outside the raw zone and the exports, and all that was printed."""
    apart = (folder / "workspace" / "raw", folder / "exports")
    places = [*outputs(folder, apart=apart), ("printed", (done.out + done.err).encode())]
    return {name: hits for name, content in places if (hits := canaries_in(content, STEMS))}


def test_no_canary_leaves_the_raw_zone_when_a_database_is_asked(tmp_path: Path) -> None:
    (tmp_path / "exports").mkdir()
    export_query(canary_exams(pairs=25), tmp_path / "exports" / "ris.sqlite")
    done = run(tmp_path, QUERY + "[execution]\nworkers = 1\n")
    assert done.code in (0, 3), done.err
    assert list((tmp_path / "workspace" / "delivery").rglob("*.pdf"))
    assert leaks(tmp_path, done) == {}


def row_that_cannot_be_decoded(folder: Path, exams: pd.DataFrame) -> None:
    """SQLite quotes a text that is not UTF-8 in its error."""
    export_query(exams, folder / "ris.sqlite")
    with sqlite3.connect(folder / "ris.sqlite") as database:
        broken = "UPDATE reports SET text = CAST(CAST(text AS BLOB) || X'FF' AS TEXT)"
        database.execute(f"{broken} WHERE rowid > 5")


def folder_that_cannot_be_written(folder: Path, exams: pd.DataFrame) -> None:
    """Put a file where the coded exams are to be written."""
    exams.to_csv(folder / "exams.csv", index=False)
    place = folder.parent / "workspace" / "analysis"
    place.mkdir(parents=True, mode=0o700)
    (place / "clean_exams").write_text("no folder")


@pytest.mark.parametrize(
    ("fault", "config"),
    [(row_that_cannot_be_decoded, QUERY), (folder_that_cannot_be_written, TABLE)],
    ids=["query", "folder"],
)
def test_no_canary_leaves_the_raw_zone_when_a_run_fails(
    tmp_path: Path, fault: Callable[[Path, pd.DataFrame], None], config: str
) -> None:
    (tmp_path / "exports").mkdir()
    fault(tmp_path / "exports", canary_exams(pairs=10).drop(columns="part"))
    done = run(tmp_path, config)
    assert done.code in (1, 2), done.err
    assert "Traceback" not in done.err
    assert leaks(tmp_path, done) == {}
