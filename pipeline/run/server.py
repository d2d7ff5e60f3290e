"""Prefect for the length of one run: its settings, and a server on loopback that goes with us.

Prefect can start one itself, which then outlives a run that was killed. This one holds the read
end of a pipe to its parent and ends when the pipe does, however the parent ended. It starts while
the parent is still importing, so that a run waits for it less. A new database is laid down as
Prefect's migrations leave it (``prefect.sql``, tables of Prefect 3.8.8, Apache License 2.0): going
through them took half of a first start. A later Prefect migrates on from there. Where
``PREFECT_API_URL`` or a profile names a standing server, none is started.
"""

from __future__ import annotations

import http.client
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final

from pipeline.errors import RadcalError
from pipeline.run import seldom_searched
from pipeline.store.files import replacing

_PATIENCE_SECONDS: Final = 180.0
_LARGEST_RECORDS: Final = 256 * 2**20
_ADDRESS: Final = "PREFECT_API_URL"
RECORDS: Final = Path(__file__).with_name("prefect.sql")
_SETTINGS: Final = tomllib.loads(
    Path(__file__).with_name("prefect.toml").read_text(encoding="utf-8")
)


def settle(home: Path) -> None:
    """Set what the user has not set; call before Prefect is imported."""
    home.mkdir(mode=0o700, exist_ok=True)
    for name, value in {"PREFECT_HOME": str(home), **_SETTINGS["every"]}.items():
        os.environ.setdefault(name, value)


def is_configured() -> bool:
    """Whether the user has named a standing server; call after `settle`."""
    home = Path(os.environ["PREFECT_HOME"])
    return bool(os.environ.get(_ADDRESS)) or (home / "profiles.toml").exists()


@contextmanager
def temporary_server() -> Iterator[Callable[[], None]]:
    """Start a server unless one is configured; gives a function that waits until it answers.

    Raises
    ------
    RadcalError
        By that function, if the server does not come up.
    """
    if is_configured():
        yield lambda: None
        return
    port = free_port()
    child = _started(port)
    os.environ[_ADDRESS] = f"http://127.0.0.1:{port}/api"
    until_the_end = ExitStack()

    def wait() -> None:
        from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

        _wait(child, port)
        # Nobody listens, and a run waits for its heart's thread, up to a second, when it ends.
        until_the_end.enter_context(temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}))

    try:
        with until_the_end:
            yield wait
    finally:
        del os.environ[_ADDRESS]
        if child.stdin is not None:
            child.stdin.close()
        child.wait()


def trim(home: Path) -> None:
    """Drop the orchestrator's records when they have grown large; nothing reads them back."""
    records = home / "prefect.db"
    if records.is_file() and records.stat().st_size > _LARGEST_RECORDS:
        for path in home.glob("prefect.db*"):
            path.unlink(missing_ok=True)


def _started(port: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - this very module, no input from outside
        [sys.executable, "-m", "pipeline.run.server", str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **_SETTINGS["brief"]},
    )


def _wait(child: subprocess.Popen[bytes], port: int) -> None:
    if is_up(child, port, seconds=_PATIENCE_SECONDS):
        return
    if child.poll() is None:
        msg = (
            f"Prefect's temporary server did not answer in {_PATIENCE_SECONDS:g} s. Is this "
            "machine very busy? Run again when it is less so."
        )
    else:
        msg = (
            f"Prefect's temporary server ended at its start (exit code {child.returncode}). Its "
            "records may be damaged: delete the workspace's prefect folder, which holds nothing "
            "else, and run again."
        )
    raise RadcalError(msg)


def is_up(child: subprocess.Popen[bytes], port: int, *, seconds: float) -> bool:
    """Whether a server of ours answers at its port before it ends or its time is over."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and child.poll() is None:
        if _answers(port):
            return True
        time.sleep(0.05)
    return False


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/api/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def free_port() -> int:
    """Give a port of this machine that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _serve(port: int) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    seldom_searched()
    import uvicorn
    from prefect.server.api.server import create_app
    from prefect.settings import PREFECT_API_DATABASE_CONNECTION_URL

    records = Path(os.environ["PREFECT_HOME"]) / "prefect.db"
    if PREFECT_API_DATABASE_CONNECTION_URL.value() == f"sqlite+aiosqlite:///{records}":
        lay_down(records)
    uvicorn.run(create_app(), host="127.0.0.1", port=port, log_level="critical", lifespan="on")


def lay_down(records: Path) -> None:
    """Make the server's database, whole or not at all, unless there is one."""
    if records.exists():
        return
    with replacing(records) as partial, closing(sqlite3.connect(partial)) as database:
        database.executescript(RECORDS.read_text(encoding="utf-8"))


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
