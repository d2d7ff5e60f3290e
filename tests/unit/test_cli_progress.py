"""What a command says of how far it is (a bar, lines, or nothing), and what help says of all."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.cli import _PANELS, common
from pipeline.cli.common import Output
from pipeline.config import load


def test_off_a_terminal_a_line_says_how_many_are_done_and_how_long_is_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(common, "_SILENCE_SECONDS", -1.0)
    with Output().bar("reading", 4_000) as advance:
        for _ in range(4):
            advance(1_000)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0].startswith("reading: 1,000 of 4,000")
    assert lines[2] == "reading: 3,000 of 4,000, under a minute left"
    assert len(lines) == 3, "a step that is done has nothing left to wait for"


@pytest.mark.parametrize("output", [Output(quiet=True), Output(as_json=True)])
def test_a_quiet_command_says_nothing_of_its_progress(
    output: Output, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(common, "_SILENCE_SECONDS", -1.0)
    with output.bar("reading", 10) as advance:
        advance(5)
    assert capsys.readouterr() == ("", "")


def test_a_short_command_is_not_interrupted_by_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with Output().bar("reading", 10) as advance:
        advance(10)
    assert capsys.readouterr() == ("", "")


def test_a_terminal_sees_a_bar_with_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with Output().bar("reading", 4_000) as advance:
        advance(1_000)
    err = capsys.readouterr().err
    assert "reading" in err
    assert "1,000 of 4,000" in err


def test_commands_are_registered_before_any_library_that_takes_threads_is_loaded() -> None:
    """How many threads compute is settled before: NumPy asks for it when it is loaded."""
    told = (
        "import sys; from pipeline import cli; cli._register(); "
        "print({'numpy', 'pandas', 'scipy', 'sklearn'} & set(sys.modules) or 'none')"
    )
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout == "none\n"


RADCAL = [sys.executable, "-c", "from pipeline.cli import main; main()"]


def test_help_lists_every_command_under_the_question_it_answers() -> None:
    wide = {**os.environ, "COLUMNS": "80", "TERM": "dumb"}
    done = subprocess.run([*RADCAL, "--help"], capture_output=True, check=True, env=wide)
    said = done.stdout.decode("utf-8")
    heads = re.findall(r"^╭─ (.+?) ─+╮$", said, flags=re.MULTILINE)
    assert heads == ["Options", *_PANELS]
    parts = re.split(r"^╭─ .+? ─+╮$", said, flags=re.MULTILINE)[2:]
    listed = [re.findall(r"^│ ([a-z]+)  ", part, flags=re.MULTILINE) for part in parts]
    assert [{*each} for each in listed] == [{*names} for names in _PANELS.values()]


def test_a_site_that_begins_in_german_differs_in_that_alone(tmp_path: Path) -> None:
    for language in ("en", "de"):
        asked = ["init", str(tmp_path / language), "--language", language]
        subprocess.run([*RADCAL, *asked], capture_output=True, check=True)
    english, german = ((tmp_path / each / "radcal.toml").read_text() for each in ("en", "de"))
    assert german.replace('\nlanguage = "de"\n', '\nlanguage = "en"\n') == english != german
    assert load(tmp_path / "de" / "radcal.toml").reports.language == "de"
