"""What is wrong with a configuration is said before anything starts, with the nearest mend."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline.cli import app
from pipeline.config import load
from pipeline.errors import ConfigurationError
from pipeline.store.provenance import version


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('[input]\ntime_zone = "Europe/Berln"', "did you mean 'Europe/Berlin'?"),
        ('[input]\ntime_zone = "nowhere at all"', "no time zone of this name"),
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
