"""The shield lets errors written for users pass and keeps the words of all others to itself."""

from __future__ import annotations

import logging
import os
import signal
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.errors import InputError
from pipeline.run.shield import (
    FORESEEN,
    Stopped,
    UnforeseenError,
    in_words,
    logged,
    on_terminal,
    shielded,
    stoppable,
)
from pipeline.run.workers import in_worker, workers


def looks_up(text: str) -> str:
    return {"known": "value"}[text]


def refuses() -> None:
    raise InputError("exams.csv: the file is empty.")


def test_unforeseen_error_is_named_without_its_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RADCAL_DEBUG", raising=False)
    with pytest.raises(UnforeseenError) as caught:
        shielded(looks_up, "Patient Ada Example has pneumonia")
    told = str(caught.value)
    assert "KeyError" in told
    assert "test_shield.py" in told
    assert "Example" not in told
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_foreseen_error_passes_unchanged() -> None:
    with pytest.raises(InputError, match="the file is empty"):
        shielded(refuses)


def test_debugging_lets_the_original_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RADCAL_DEBUG", "1")
    with pytest.raises(KeyError):
        shielded(looks_up, "anything")


def test_worker_process_is_shielded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RADCAL_DEBUG", raising=False)
    with workers(2), pytest.raises(UnforeseenError) as caught:
        in_worker("Ada Example".index, "pneumonia")
    assert "Example" not in str(caught.value)
    assert "pneumonia" not in str(caught.value)


def dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_is_told_as_one_and_what_to_do() -> None:
    with workers(2), pytest.raises(FORESEEN) as caught:
        in_worker(dies)
    assert isinstance(caught.value, BrokenProcessPool)
    told, code = in_words(caught.value)
    assert (code, "killed" in told, "run again" in told) == (1, True, True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_the_system_stops_ends_in_words_and_leaves_the_handlers_as_they_were(
    number: signal.Signals,
) -> None:
    outside = signal.signal(number, signal.SIG_DFL)  # ignored under nohup
    try:
        with pytest.raises(Stopped) as caught, stoppable():
            os.kill(os.getpid(), number)
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, outside)
    assert in_words(caught.value) == (
        f"interrupted by {number.name}; what was finished is kept, run again to go on.",
        1,
    )


def test_a_signal_that_is_ignored_stays_so_as_nohup_wants_it() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stoppable():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_log_that_cannot_be_written_is_told_once_and_without_a_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    month = tmp_path / "logs" / f"radcal-{datetime.now(tz=UTC):%Y-%m}.jsonl"
    month.parent.mkdir()
    month.symlink_to("/dev/full")
    on_terminal("text", quiet=False)
    with logged(tmp_path, "attempt"):
        for _ in range(3):
            logging.getLogger("radcal").debug("made")
    told = capfd.readouterr().err
    assert (told.count("the log is not written"), told.count("disk is full")) == (1, 1)
    assert "Traceback" not in told
