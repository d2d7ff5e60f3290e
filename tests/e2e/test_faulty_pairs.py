"""Faults between words and CTs reach the pages as what they are, and nobody is blamed for them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pypdf
import pytest

from pipeline.cli.run import _new_key
from tests.e2e.commands import Finished, here
from tests.fixtures.faulty_hospital import mispair, readers_by_pairs, turn_round

pytestmark = pytest.mark.slow

CONFIG = """
[input]
paths = ["hospital/exams.csv"]
[reports]
language = "{}"
demonstration = true
"""


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six readers' hospital as simulated."""
    folder = tmp_path_factory.mktemp("faulty")
    made = here(
        "simulate", "--out", "hospital", "--pairs", 900, "--readers", 6, "--seed", 5, cwd=folder
    )
    assert made.code == 0, made.err
    return folder


def run(folder: Path, language: str) -> Finished:
    config = folder / f"{language}.toml"
    config.write_text(CONFIG.format(language), encoding="utf-8")
    return here("run", config.name, "--json", cwd=folder, **key(folder))


def key(folder: Path) -> dict[str, str]:
    return {"RADCAL_VAULT_KEY_FILE": str(_new_key(folder))}


def words(page: Path) -> str:
    return " ".join(" ".join(p.extract_text() for p in pypdf.PdfReader(page).pages).split())


def profiles(folder: Path) -> Iterator[tuple[str, dict[str, object]]]:
    (shard,) = (folder / "workspace" / "analysis" / "profiles").glob("*.parquet")
    for code, text in pd.read_parquet(shard).itertuples(index=False, name=None):
        if code:
            yield code, json.loads(text)


def test_reversed_and_mispaired_readers_are_told_of_a_fault(hospital: Path) -> None:
    """One reader's CTs say the opposite, another's are other patients'; four are as they were."""
    turned, dealt, *_ = readers_by_pairs(hospital / "hospital")
    turn_round(hospital / "hospital", turned)
    mispair(hospital / "hospital", dealt)
    done = run(hospital, "en")
    assert done.code == 0, done.err
    assert done.summary["readers_to_check"] == 2
    found = {code: p for code, p in profiles(hospital) if p["aside"]}
    assert sorted(p["aside"][0]["way"] for p in found.values()) == ["falls", "flat"]
    pages = Path(str(done.summary["delivery"]))
    for code in found:
        said = words(pages / code / "feedback.pdf")
        assert "first check that they belong together" in said
        assert "What to check, and who" in said
        assert "Nothing is marked" in said
        for blame in ("too sure:", "too strong:", "What to try", "Your own “"):
            assert blame not in said
        with (pages / code / "return.csv").open(encoding="utf-8-sig", newline="") as sheet:
            assert not any(row["Advised instead"] for row in csv.DictReader(sheet))
    review = words(pages / "committee" / "review.pdf")
    assert "check pairing and labels: the words of 2 of 6 readers" in review
    assert "they say too" not in review
    assert "words run against CT: check pairing and labels first" in review
    status = here("status", "en.toml", "--json", cwd=hospital, **key(hospital))
    assert status.summary["readers_to_check"] == 2


def test_department_turned_round_is_delivered_to_nobody(hospital: Path) -> None:
    for reader in readers_by_pairs(hospital / "hospital"):
        turn_round(hospital / "hospital", reader)
    done = run(hospital, "de")
    assert done.code == 4
    assert "die CT zeigt Wahrscheinliches öfter als Unwahrscheinliches" in done.err
    assert "radcal cases" in done.err
