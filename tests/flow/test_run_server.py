"""The server of one run starts from records as Prefect makes them; says why it did not come up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from prefect.settings import get_current_settings

from pipeline.errors import RadcalError
from pipeline.run import server
from tests.fixtures.loopback import free_port
from tests.fixtures.prefect_records import migrated, statements


def test_records_are_laid_down_as_prefects_migrations_leave_them(tmp_path: Path) -> None:
    records = tmp_path / "prefect.db"
    server.lay_down(records)
    laid, found = statements(records), migrated(tmp_path / "by-migrations")
    assert sorted(map(parts, laid)) == sorted(map(parts, found)), "tests.fixtures.prefect_records"
    assert sum(line.startswith("CREATE TABLE") for line in found) > 30


def parts(statement: str) -> list[str]:
    """Split a statement at the commas of its outermost brackets: migrations write in any order."""
    depth, found = 0, [""]
    for sign in statement:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 1:
            found.append("")
        else:
            found[-1] += sign
    return sorted(part.strip(" ();") for part in found)


def test_records_that_are_there_stay(tmp_path: Path) -> None:
    records = tmp_path / "prefect.db"
    records.write_bytes(b"somebody's")
    server.lay_down(records)
    assert records.read_bytes() == b"somebody's"


def test_damaged_records_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prefect.db").write_bytes(b"no database, " * 1000)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    with (
        server.temporary_server() as wait,
        pytest.raises(RadcalError, match="records may be damaged"),
    ):
        wait()


def test_silent_server_is_not_called_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_PATIENCE_SECONDS", 0.2)
    silent = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        with pytest.raises(RadcalError, match="did not answer"):
            server._wait(silent, free_port())
    finally:
        silent.communicate()


def test_a_run_waits_for_no_heartbeat_of_a_server_that_nobody_watches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    usual = get_current_settings().flows.heartbeat_frequency
    with server.temporary_server() as wait:
        wait()
        assert get_current_settings().flows.heartbeat_frequency is None
    assert get_current_settings().flows.heartbeat_frequency == usual is not None
