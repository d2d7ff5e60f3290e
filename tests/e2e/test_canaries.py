"""Identifiers planted in every field of every format stand in no byte outside the raw zone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.commands import Finished, radcal
from tests.fixtures.feeds.canary_hospital import FORMATS, STEMS, canary_exams, export
from tests.fixtures.search import canaries_in, contents, outputs

pytestmark = pytest.mark.slow

KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"
CONFIG = """\
[input]
paths = [
    "exports/*.csv", "exports/*.jsonl", "exports/*.parquet", "exports/*.hl7",
    "exports/reports.ndjson",
]
[deidentification]
max_quarantined_share = 0.2
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
