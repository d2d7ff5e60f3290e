"""How many date shifts fit a patient's exams: what counting them one by one gives."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from pipeline import cli
from pipeline.store.workspace import Workspace
from pipeline.vault.codes import feasible_shifts, shift_summary

DAY = pd.Timedelta(days=1)


def patient(code: str, times: list[pd.Timestamp], shift: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "patient_code": code,
            "performed_at": [t + shift * DAY for t in times],
            "performed_month": [t.strftime("%Y-%m") for t in times],
        }
    )


@settings(deadline=None)
@given(
    hours=st.lists(st.integers(0, 24 * 400), min_size=1, max_size=4),
    shift=st.integers(-365, 365).filter(bool),
)
def test_counting_agrees_with_trying_every_shift(hours: list[int], shift: int) -> None:
    start = pd.Timestamp("2025-01-01", tz="UTC")
    exams = patient("A", [start + pd.Timedelta(hours=h) for h in hours], shift)
    fits = [
        days
        for days in range(-365, 366)
        if days
        and all(
            (at - days * DAY).strftime("%Y-%m") == month
            for at, month in zip(exams["performed_at"], exams["performed_month"], strict=True)
        )
    ]
    assert shift in fits
    assert feasible_shifts(exams).tolist() == [len(fits)]


def test_a_patient_seen_on_the_first_and_the_last_of_a_month_keeps_one_shift(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = (pd.Timestamp(day, tz="UTC") for day in ("2026-03-01 10:00", "2026-03-31 10:00"))
    exams = pd.concat([patient("A", [first], 90), patient("B", [first, last], -40)])
    assert shift_summary(exams) == {
        "patients": 2, "28 or more": 1, "8 to 27": 0, "2 to 7": 0, "exactly 1": 1,
    }  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("radcal.toml").write_text('[input]\npaths = ["none"]\n[store]\nworkspace = "work"\n')
    if not cli.app.registered_commands:
        cli._register()
    command = ["audit", "shifts", "radcal.toml", "--json"]
    without = CliRunner().invoke(cli.app, command)
    assert "no exams in the analysis zone yet" in str(without.exception)
    store = Workspace(tmp_path / "work")
    store.prepare()
    store.write("analysis", "clean_exams", "one", exams.reset_index(drop=True))
    done = CliRunner().invoke(cli.app, command)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["exactly 1"] == 1
