"""The server of one run says why it did not come up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.errors import RadcalError
from pipeline.run import server
from tests.fixtures.loopback import free_port


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
