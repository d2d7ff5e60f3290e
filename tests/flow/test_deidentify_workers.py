"""Several processes clean a table as one does; a text depends on nothing but itself and its row."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from pipeline.cli.deidentify import SideBySide
from pipeline.deidentify import Deidentifier, KnownIdentifiers, Options
from pipeline.errors import RadcalError
from tests.e2e.commands import here

NAMES = ("Okonkwo", "Lindqvist", "Wilson", "Abernathy", "Nakamura")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = []
    for number in range(450):
        one, other, third = (NAMES[(number + step) % 5] for step in range(3))
        text = f"{one} seen with Dr. {other} on 3/{number % 28 + 1}/2026. Likely pneumonia; "
        text += f"copy to {third}, tel. 0161 496 {number:04}."
        rows.append({"report_id": f"r{number}", "patient_name": f"{one}^Ada", "text": text})
    rows[217]["text"] = f"Case of {NAMES[0]}-{NAMES[0]}."
    path = tmp_path / "reports.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("replacement", ["token", "surrogate"])
def test_several_processes_give_the_table_that_one_gives(table: Path, replacement: str) -> None:
    made = []
    for workers in (1, 2):
        out, spans = table.with_name(f"{workers}.csv"), table.with_name(f"{workers}.jsonl")
        asked = ["--out", out, "--spans", spans, "--workers", workers, "--json"]
        done = here("deidentify", table, *asked, "--replacement", replacement, cwd=table.parent)
        assert done.code == 0, done.err
        made.append((json.loads(done.out), pd.read_csv(out), spans.read_bytes()))
    (told, clean, spans_of_one), (told_too, clean_too, spans_too) = made
    assert told == told_too
    assert spans_of_one == spans_too
    if replacement == "token":
        pd.testing.assert_frame_equal(clean, clean_too)
    else:
        found = clean_too["text"].str.extract(r"tel\. (?P<phone>[\d ]+)\.")
        assert found["phone"].nunique() > 400
        named = clean_too["text"].str.split(" seen").str[0].drop(217)
        assert named.groupby(named.index % 5).nunique().max() == 1, "one secret for all processes"


def test_a_process_that_ends_is_told_of_with_what_to_do(tmp_path: Path) -> None:
    none_can_begin = SideBySide(Deidentifier(Options(caution=0)), tmp_path / "absent", 2)
    with pytest.raises(RadcalError, match=r"ended from outside.*--workers 1"):
        none_can_begin.batch(["Clear."] * 3, known=[KnownIdentifiers()] * 3)
