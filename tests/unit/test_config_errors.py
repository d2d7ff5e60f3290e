"""What is wrong with a configuration is said before anything starts, with the nearest mend."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from pipeline import cli
from pipeline.cli import app, keep, main, run
from pipeline.config import load
from pipeline.errors import ConfigurationError
from pipeline.store.provenance import version


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('[input]\ntime_zone = "Europe/Berln"', "did you mean 'Europe/Berlin'?"),
        ('[input]\ntime_zone = "nowhere at all"', "no time zone of this name"),
        ('[input]\ntime_format = "%d.%m.%Y %Q"', "'%d.%m.%Y %Q' is none"),
        ("[input]\ntime_zoen = 'UTC'", "did you mean `time_zone`?"),
        ("[pairing]\nwindow_hour = 6", "did you mean `window_hours`?"),
        ("[paring]\nwindow_hours = 6", "did you mean `pairing`?"),
        ('[notify]\nurl = "http://[::1"', "notify.url: Value error, Invalid IPv6 URL"),
        ('[notify]\nurl = "https://hooks..example/x"', "label empty or too long"),
        ('[notify]\nurl = "http://hooks.example:99999"', "Port out of range"),
    ],
)
def test_a_slip_is_told_with_what_was_meant(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "radcal.toml"
    paths = 'paths = ["a.csv"]\n'
    whole = content.replace("[input]\n", f"[input]\n{paths}")
    path.write_text(whole if "[input]" in whole else f"[input]\n{paths}{whole}\n")
    with pytest.raises(ConfigurationError) as told:
        load(path)
    assert said in str(told.value)


def test_a_sites_modalities_stand_beside_the_usual_ones_and_can_take_one_away(
    tmp_path: Path,
) -> None:
    path = tmp_path / "radcal.toml"
    path.write_text('[input]\npaths = ["x.csv"]\n[input.modalities]\ntdm = "CT"\nRF = ""\n')
    known = load(path).input.modalities
    assert known == {"XR": "XR", "CR": "XR", "DX": "XR", "X-RAY": "XR", "CT": "CT", "TDM": "CT"}


def test_the_command_says_which_version_it_is() -> None:
    done = CliRunner().invoke(app, ["--version"])
    assert (done.exit_code, done.stdout) == (0, f"radcal {version()}\n")


def commands() -> typer.Typer:
    made = typer.Typer()
    run.register(made)
    keep.register(made)
    return made


def test_a_new_configuration_ends_with_a_line_that_can_be_pasted(tmp_path: Path) -> None:
    folder = tmp_path / "unser Haus"
    done = CliRunner().invoke(commands(), ["init", str(folder)])
    last = done.output.splitlines()[-1]
    assert last == f"RADCAL_VAULT_KEY_FILE='{folder}/vault.key' radcal check '{folder}/radcal.toml'"


def test_a_folder_that_is_a_file_is_told_and_left(tmp_path: Path) -> None:
    (file := tmp_path / "ris.csv").write_text("x")
    told = CliRunner().invoke(commands(), ["init", str(file)]).exception
    assert isinstance(told, ConfigurationError)
    assert str(told) == f"{file} exists already; it was left as it is."


@pytest.mark.parametrize("month", ["2026-13", "september", "2026-9", "2026"])
def test_a_period_that_is_no_month_is_refused_before_anything_is_read(
    tmp_path: Path, month: str
) -> None:
    missing = tmp_path / "radcal.toml"
    with pytest.raises(ConfigurationError, match=f"--period '{month}': not a month"):
        CliRunner().invoke(
            commands(), ["run", str(missing), "--period", month], catch_exceptions=False
        )


def test_help_swallows_no_words() -> None:
    shown = CliRunner().invoke(commands(), ["prune", "--help"], env={"COLUMNS": "200"}).output
    assert "Instead of the configuration's keep_runs." in shown


def test_an_interrupted_command_says_that_it_can_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    slow = typer.Typer()
    slow.command()(interrupted)
    monkeypatch.setattr(cli, "app", slow)
    monkeypatch.setattr(cli, "_register", lambda: None)
    monkeypatch.setattr("os.umask", lambda _: 0)
    monkeypatch.setattr("sys.argv", ["radcal"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert "interrupted; what was finished is kept, run again" in capsys.readouterr().err


@pytest.mark.parametrize("loaded", ["typer", "pipeline.cli.calibrate"])
def test_an_interruption_while_modules_load_shows_no_traceback(loaded: str) -> None:
    script = (
        "import sys\n"
        "class Halt:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {loaded!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Halt())\n"
        "from pipeline.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("radcal: interrupted")
    assert "Traceback" not in done.stderr
