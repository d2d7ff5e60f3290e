"""Whoever is to be told of a failure is told, by program and by address, and learns no secret."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pipeline.config.sections import Notify
from pipeline.errors import ConfigurationError, GateFailedError
from pipeline.run.notices import notified

CANARY = "Roe, Jane 123-45-6789"


@pytest.fixture
def inbox() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Listen on loopback; gives the address and what was posted to it."""
    received: list[dict[str, str]] = []

    class Inbox(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200 if self.path == "/hook" else 500)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Inbox) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()
        thread.join()


def test_failed_gate_is_told_to_program_and_address(
    tmp_path: Path, inbox: tuple[str, list[dict[str, str]]]
) -> None:
    address, received = inbox
    told = tmp_path / "told.json"
    settings = Notify(command=("tee", str(told)), url=f"{address}/hook")
    message = "1 of 9 gates failed; nothing delivered."
    with pytest.raises(GateFailedError), notified(settings):
        raise GateFailedError(message)
    expected = {"event": "radcal: gates failed", "message": message}
    assert json.loads(told.read_text()) == expected
    assert received == [expected]


def test_unforeseen_error_is_told_without_its_message(
    inbox: tuple[str, list[dict[str, str]]],
) -> None:
    address, received = inbox
    with pytest.raises(KeyError), notified(Notify(url=f"{address}/hook")):
        raise KeyError(CANARY)
    (notice,) = received
    assert notice["event"] == "radcal: run failed"
    assert "unforeseen KeyError" in notice["message"]
    assert "Roe" not in str(notice)


@pytest.mark.parametrize(
    "settings",
    [
        Notify(command=("no-such-program",)),
        Notify(command=("false",)),
        Notify(url="http://127.0.0.1:9/"),
        Notify.model_construct(command=(), url="http://a..b/hook"),
        Notify.model_construct(command=(), url="http://[::1"),
    ],
    ids=["no program", "program fails", "nobody listens", "no name of a host", "no address"],
)
def test_notice_that_fails_does_not_hide_the_failure(settings: Notify) -> None:
    reason = "the reason itself"
    with pytest.raises(ConfigurationError, match=reason), notified(settings):
        raise ConfigurationError(reason)


def test_run_that_ends_well_tells_nobody(inbox: tuple[str, list[dict[str, str]]]) -> None:
    address, received = inbox
    with notified(Notify(url=f"{address}/hook")):
        pass
    assert received == []
