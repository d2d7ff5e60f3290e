"""Exams by query, on SQLite and on a PostgreSQL started for the test where there is one."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy

from pipeline.errors import ConfigurationError, InputError
from pipeline.formats.sql import SqlOptions, read

ROWS = pd.DataFrame(
    {
        "acc": ["A1", "A2", "A3"],
        "mrn": ["M1", "M2", "M2"],
        "reader": ["D1", "D1", "D2"],
        "modality": ["XR", "CT", "XR"],
        "performed": pd.to_datetime(["2026-03-01 10:00", "2026-03-01 12:00", "2026-03-02 08:00"]),
        "signed": pd.to_datetime(["2026-03-01 10:30", "2026-03-01 13:00", None]),
        "body": ["Clear.\nNormal.", "Größe: normal", ""],
    }
)
OPTIONS = SqlOptions(
    query="SELECT * FROM reports ORDER BY acc",
    columns={
        "accession": "acc", "patient_id": "mrn", "reader_id": "reader", "performed_at": "performed",
        "signed_at": "signed", "text": "body",
    },
    batch_rows=2,
)  # fmt: skip


def fill(address: str) -> None:
    engine = sqlalchemy.create_engine(address)
    ROWS.to_sql("reports", engine, index=False, if_exists="replace")
    engine.dispose()


def check(address: str) -> None:
    fill(address)
    batches = list(read(address, OPTIONS))
    assert [len(batch.exams) for batch in batches] == [2, 1]
    exams = pd.concat([batch.exams for batch in batches])
    assert exams["accession"].tolist() == ["A1", "A2", "A3"]
    assert exams["text"].tolist() == ROWS["body"].tolist()
    assert exams["performed_at"].str.startswith("2026-03-0").all()
    assert exams["signed_at"].tolist()[2] == ""
    assert exams["source_row"].tolist() == [1, 2, 3]


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    binary = shutil.which("postgres")
    root = os.geteuid() == 0
    if binary is None or shutil.which("initdb") is None or (root and not shutil.which("runuser")):
        pytest.skip("no PostgreSQL on this machine")
    prefix = ["runuser", "-u", "postgres", "--"] if root else []
    if root and subprocess.run(["id", "postgres"], capture_output=True, check=False).returncode:
        pytest.skip("PostgreSQL cannot run as root, and there is no user postgres")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        data = str(folder / "data")
        create = ["initdb", "-D", data, "-A", "trust", "-U", "tester", "-E", "UTF8", "--locale=C"]
        subprocess.run([*prefix, *create], check=True, capture_output=True)
        server = [
            "pg_ctl",
            "-D",
            data,
            "-w",
            "-l",
            f"{name}/log",
            "-o",
            f"-p {port} -k {name} -h 127.0.0.1 -F",
        ]
        subprocess.run([*prefix, *server, "start"], check=True, stdout=subprocess.DEVNULL)
        try:
            yield f"postgresql+psycopg://tester@127.0.0.1:{port}/postgres"
        finally:
            subprocess.run(
                [*prefix, "pg_ctl", "-D", data, "-m", "immediate", "stop"],
                check=False,
                stdout=subprocess.DEVNULL,
            )


def test_sqlite_rows_become_exams(tmp_path: Path) -> None:
    check(f"sqlite:///{tmp_path / 'ris.sqlite'}")


@pytest.mark.slow
def test_postgresql_rows_become_exams(postgres: str) -> None:
    check(postgres)


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'ris.sqlite'}"
    fill(address)
    with pytest.raises(InputError, match=r"needed column\(s\) missing: accession"):
        list(read(address, SqlOptions(query="SELECT mrn AS patient_id FROM reports")))


def test_a_refused_query_repeats_nothing(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'secret-path.sqlite'}"
    with pytest.raises(InputError, match="refused by the database") as caught:
        list(read(address, SqlOptions(query="SELECT secret_word FROM nowhere")))
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_a_bad_address_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="dialect") as caught:
        list(read("nonsense://user:hunter2@x", SqlOptions(query="SELECT 1")))
    assert "hunter2" not in str(caught.value)
