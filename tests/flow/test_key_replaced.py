"""A vault under a new key gives the same codes and shifts; what fails is in the audit log."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from pipeline.cli.keep import register
from pipeline.errors import ConfigurationError, RadcalError
from pipeline.site.site import Site
from pipeline.vault.key import Key, new_key
from pipeline.vault.upkeep import replace_key
from pipeline.vault.vault import Vault
from tests.fixtures.here import Here

PATIENTS = ["M1", "NORTH\N{SYMBOL FOR UNIT SEPARATOR}M2", "Ünï 3"]
READERS = ["KS1", "ks1"]
app = typer.Typer()
register(app)


@pytest.fixture
def old() -> str:
    return new_key()


@pytest.fixture
def path(tmp_path: Path, old: str) -> Path:
    found = tmp_path / "workspace/raw/vault.sqlite"
    with Vault.create(found, old) as vault:
        vault.codes("patient", PATIENTS)
        vault.codes("reader", READERS)
        vault.shift_days(PATIENTS)
        vault.rotate_readers()
        vault.codes("reader", READERS[:1])
    return found


def held(path: Path, key: str) -> list[object]:
    """Give all that a vault answers."""
    with Vault.open(path, key) as vault:
        codes = vault.codes("patient", PATIENTS)
        behind = [vault.identifier_for("patient", code) for code in codes]
        return [codes, behind, vault.shift_days(PATIENTS), vault.codes("reader", READERS[:1])]


def test_new_key_opens_the_same_codes_and_shifts_and_the_old_one_nothing(
    path: Path, old: str
) -> None:
    before, new = held(path, old), new_key()
    done = replace_key(path, Key.of(old), Key.of(new))
    assert (done.codes, done.shifts, done.shifts_of_nobody) == (6, 3, 0)
    assert held(path, new) == before
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(ConfigurationError, match="not this vault's key"):
        Vault.open(path, old)


def test_vault_with_a_changed_row_stays_as_it_was(path: Path, old: str) -> None:
    with sqlite3.connect(path) as database:
        database.execute("UPDATE codes SET sealed = zeroblob(60) WHERE domain = 'patient'")
    before = path.read_bytes()
    with pytest.raises(RadcalError, match="a row does not open"):
        replace_key(path, Key.of(old), Key.of(new_key()))
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]  # noqa: PTH208 - names only


def command(path: Path, monkeypatch: pytest.MonkeyPatch, **keys: str) -> Result:
    config = path.parents[2] / "radcal.toml"
    config.write_text('[input]\npaths = ["a.csv"]\n')
    for name in ("RADCAL_VAULT_KEY_FILE", "RADCAL_VAULT_NEW_KEY_FILE", "RADCAL_VAULT_NEW_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in keys.items():
        monkeypatch.setenv(f"RADCAL_{name}", value)
    return CliRunner().invoke(app, ["key", "replace", str(config)])


def events(path: Path) -> list[tuple[str, str | None]]:
    lines = (path.parents[1] / "audit.jsonl").read_text().splitlines()
    entries = map(json.loads, lines)
    return [(entry["event"], entry["details"].get("outcome")) for entry in entries]


def test_command_replaces_the_key_and_every_attempt_is_logged(
    path: Path, old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = command(path, monkeypatch, VAULT_KEY=old)
    assert "RADCAL_VAULT_NEW_KEY_FILE" in str(missing.exception)
    assert "RADCAL_VAULT_KEY_FILE" not in str(missing.exception)
    wrong = command(path, monkeypatch, VAULT_KEY=new_key(), VAULT_NEW_KEY=new_key())
    assert "not this vault's key" in str(wrong.exception)
    done = command(path, monkeypatch, VAULT_KEY=old, VAULT_NEW_KEY=new_key())
    assert done.exit_code == 0, done.output
    refused = ("key replacement refused", "ConfigurationError")
    assert events(path) == [refused, refused, ("key replaced", None)]


def test_rotation_copy_and_lookup_that_fail_are_entries(
    path: Path, old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = command(path, monkeypatch, VAULT_KEY=old, VAULT_NEW_KEY=new_key())
    assert done.exit_code == 0  # from here on, the key in the environment is another one
    config = str(path.parents[2] / "radcal.toml")
    for words in (
        ["rotate", config],
        ["backup", config, "--to", str(path.parent / "copy")],
        ["reidentify", config, "--code", "P-1", "--reason", "a case of review"],
        ["purge", config, "--older-than-days", "1"],
    ):
        assert CliRunner().invoke(app, words).exception is not None
    named = [event for event, _ in events(path)[1:]]
    assert named == [
        "rotate readers refused", "vault copy refused", "reidentify refused", "purge refused",
    ]  # fmt: skip


def test_texts_of_before_and_after_a_new_key_do_not_contradict_each_other(
    tmp_path: Path, old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = "accession,patient_id,reader_id,modality,exam_name,performed_at,signed_at,status"
    rows = [f"{kind}1,M1,R1,{kind},{kind} CHEST,2026-03-04T{hour}:00:00Z,2026-03-04T{hour}:30:00Z,"
            f"final,60,IMPRESSION: Likely pneumonia. Discussed with Dr. Margaret Hollister."
            for kind, hour in (("XR", "08"), ("CT", "11"))]  # fmt: skip
    lines = "\n".join([f"{head},patient_age_years,text", *rows])
    (tmp_path / "a.csv").write_text(lines)
    config = tmp_path / "radcal.toml"
    config.write_text('[input]\npaths = ["*.csv"]\n[deidentification]\nreplacement = "surrogate"\n')
    monkeypatch.setenv("RADCAL_VAULT_KEY", old)
    site = Site.open(str(config))
    assert Here(site).gather().accounting().pairs == 1
    new = new_key()
    replace_key(site.vault_path, Key.of(old), Key.of(new))
    monkeypatch.setenv("RADCAL_VAULT_KEY", new)
    (tmp_path / "b.csv").write_text(lines.replace(",60,", ",61,"))
    Site.forget()
    again = Here(Site.open(str(config))).gather()
    assert (again.contradictory, again.accounting().pairs) == (0, 1)
