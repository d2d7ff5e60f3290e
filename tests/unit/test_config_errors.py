"""What is wrong with a configuration is said before anything starts, with the nearest mend."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from pydantic import BaseModel
from typer.testing import CliRunner

from pipeline import cli
from pipeline.cli import app, keep, main, run
from pipeline.config import Configuration, load, template
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
        (
            '[execution]\nrunner = "local"',
            "execution.runner: 0.12.0 took this setting out; take the line out",
        ),
        ('[notify]\nurl = "http://[::1"', "notify.url: Invalid IPv6 URL"),
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


def ended_while(loaded: str, does: str) -> subprocess.CompletedProcess[str]:
    """Run the program, with something that happens as a module of it is loaded."""
    script = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"  # who runs these tests may ignore it
        "class Halt:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {loaded!r}: {does}\n"
        "sys.meta_path.insert(0, Halt())\n"
        "from pipeline.cli import main\n"
        "main()\n"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)


@pytest.mark.parametrize("loaded", ["typer", "pipeline.cli.calibrate"])
def test_an_interruption_while_modules_load_shows_no_traceback(loaded: str) -> None:
    done = ended_while(loaded, "raise KeyboardInterrupt")
    assert done.returncode == 1
    assert done.stderr.startswith("radcal: interrupted")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_command_that_the_system_stops_while_modules_load_says_so(name: str) -> None:
    done = ended_while("pipeline.cli.run", f"os.kill(os.getpid(), signal.{name})")
    assert done.returncode == 1
    assert done.stderr.startswith(f"radcal: interrupted by {name}")


def settings(model: type[BaseModel], *at: str) -> Iterator[tuple[str, ...]]:
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from settings(kind, *at, name)
        elif name != "folder":
            yield (*at, name)


OF_EVERY_KIND = (
    "7", "1.5", "nan", "-inf", "true", '"zzz"', "2026-01-01", "[]", "[nan]", "{ a = nan }",
)  # fmt: skip


@pytest.mark.parametrize("setting", list(settings(Configuration)), ids=".".join)
def test_a_value_of_another_kind_is_refused_by_name_with_what_may_stand_there(
    tmp_path: Path, setting: tuple[str, ...]
) -> None:
    """Of ten values of all kinds a setting takes two or three, and says of the others why not."""
    path, refused = tmp_path / "radcal.toml", 0
    for value in OF_EVERY_KIND:
        given = f"[{'.'.join(setting[:-1])}]\n{setting[-1]} = {value}\n"
        path.write_text(given if setting[0] == "input" else f'{given}[input]\npaths = ["a"]\n')
        try:
            load(path)
        except ConfigurationError as error:
            told = str(error)
            if setting[0] == "input" and "input.paths" not in told and "names no file" in told:
                continue  # accepted, but for the paths that the section needs
            refused += 1
            assert setting[-1] in told
            assert "Input should" not in told
            assert "Value error" not in told
    assert refused >= 5


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("pairing.window_hours", '"12"', "the text '12' is not a number"),
        ("pairing.window_hours", "true", "true is not a number"),
        ("calibration.seed", "1.5", "1.5 is not a whole number"),
        ("advice.min_exams", "4", "4 is not a number of at least 5"),
        ("advice.tau", "inf", "inf is not a finite number"),
        ("extraction.server_timeout_seconds", "nan", "nan is not a finite number"),
        ("extraction.server_concurrency", '"many"', "not a whole number, written without a point "),
        ("extraction.server_concurrency", "0", "0 is not a number of at least 1"),
        ("extraction.max_sequences", "0", "0 is not a number of at least 1"),
        ("extraction.server_silence_seconds", "0", "0 is not a number above 0"),
        ("extraction.memory_share", "1.5", "1.5 is not a number of at most 1"),
        ("extraction.audit", '""', "no file, folder or program is called so"),
        ("store.workspace", '"a\\u0000b"', "no file, folder or program is called so"),
        ("reports.logo", f'"{"x" * 300}"', "no file, folder or program is called so"),
        ("reports.banner", '"a\\u0000b"', "control characters"),
        ("phrases.discouraged", '["likely", "likely"]', "'likely' stands twice"),
        ("phrases.recommended", '["likely", " "]', "recommended.1: it is empty"),
    ],
)
def test_a_value_that_nothing_could_use_is_refused(
    tmp_path: Path, setting: str, value: str, said: str
) -> None:
    section, _, name = setting.rpartition(".")
    path = tmp_path / "radcal.toml"
    path.write_text(f'[input]\npaths = ["a.csv"]\n[{section}]\n{name} = {value}\n')
    with pytest.raises(ConfigurationError) as told:
        load(path)
    assert f"{setting}" in str(told.value)
    assert said in str(told.value)


def test_one_word_for_two_statuses_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "radcal.toml"
    path.write_text('[input]\npaths = ["a"]\n[input.statuses]\nok = "final"\n" OK" = "prelim"\n')
    with pytest.raises(ConfigurationError, match=r"input\.statuses.*' OK' has two: capitals and"):
        load(path)
    path.write_text('[input]\npaths = ["a"]\n[input.statuses]\nok = "final"\n" OK" = "final"\n')
    assert len(load(path).input.statuses) == 2


def test_settings_that_wait_for_another_are_told_and_shipped_ones_are_not(tmp_path: Path) -> None:
    path = tmp_path / "radcal.toml"
    path.write_text(template())
    assert list(load(path).without_effect()) == []
    path.write_text(
        '[input]\npaths = ["a"]\nquery = "SELECT 1"\n[extraction]\nserver_url = "http://a"\n'
    )
    assert list(load(path).without_effect()) == [
        "input.query, because format is 'auto'",
        "extraction.server_url, because engine is 'rules'",
    ]


def test_a_folder_where_a_file_is_needed_and_the_reverse_are_told_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ris.csv").write_text("x")
    (tmp_path / "survey.csv").write_text("phrase,percent\nmaybe,40\nmaybe,50\n")
    fitted = ["survey", "fit", str(tmp_path / "survey.csv"), "--out"]
    for asked in (["init", str(tmp_path / "ris.csv" / "new")], [*fitted, f"{tmp_path}/x.csv"]):
        (tmp_path / "x.csv").mkdir(exist_ok=True)
        monkeypatch.setattr("sys.argv", ["radcal", *asked])
        monkeypatch.setattr("os.umask", lambda _: 0)
        with pytest.raises(SystemExit):
            main()
        assert "Name another." in capsys.readouterr().err
