"""A vault that is gone or older than what was coded with it stops a run before it reads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from pipeline.cli.common import Output
from pipeline.cli.keep import rotate
from pipeline.run.gates import Gathered
from pipeline.simulate import simulate
from pipeline.site.site import Finding, Site, site_findings
from pipeline.vault.key import new_key
from tests.fixtures.here import Here

EXAMS = simulate(pairs=20, readers=2, seed=4).exams.astype(str)
EARLY = EXAMS["patient_id"].isin(sorted(set(EXAMS["patient_id"]))[:10])


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RADCAL_VAULT_KEY", new_key())
    path = tmp_path / "radcal.toml"
    path.write_text('[input]\npaths = ["*.csv"]\n')
    return path


def night(config: Path, exams: pd.DataFrame) -> Gathered:
    exams.to_csv(config.with_name(f"{len(exams)}.csv"), index=False)
    Site.forget()
    return Here(Site.open(str(config))).gather()


def vault(config: Path) -> Path:
    return config.parent / "workspace/raw/vault.sqlite"


def of_the_vault(config: Path) -> Finding:
    Site.forget()
    return next(each for each in site_findings(Site.open(str(config))) if "key" in each.subject)


def readers(gathered: Gathered, config: Path) -> set[str]:
    store = Site.open(str(config)).workspace
    keys = [shard.key for shard in gathered.coded]
    return set(store.read("analysis", "clean_exams", keys)["reader_code"]) - {""}


def test_a_vault_that_is_gone_is_a_fault_and_not_a_first_run(config: Path) -> None:
    assert of_the_vault(config).told == "usable; the first run makes the vault with it"
    night(config, EXAMS)
    assert of_the_vault(config).state == "well"
    vault(config).unlink()
    found = of_the_vault(config)
    assert found.state == "fault"
    assert "is gone" in found.told
    vault(config).with_name("vault.times").unlink()  # a workspace of a former version
    assert of_the_vault(config).state == "fault"


def test_an_older_copy_is_a_fault_until_everything_is_coded_anew(config: Path) -> None:
    night(config, EXAMS[EARLY])
    copy = shutil.copy(vault(config), config.with_name("copy"))
    before = night(config, EXAMS[~EARLY])
    assert len(before.sources) == 2
    assert of_the_vault(config).state == "well"
    shutil.copy(copy, vault(config))
    found = of_the_vault(config)
    assert found.state == "fault"
    assert "radcal rotate" in found.told
    rotate(config, Output())
    assert of_the_vault(config).state == "well"
    after = night(config, EXAMS[~EARLY])
    assert after.accounting().pairs == before.accounting().pairs > 15
    assert len(readers(after, config)) == len(readers(before, config)) == 2
    assert readers(after, config).isdisjoint(readers(before, config))


def test_a_copy_of_this_very_night_is_as_good_as_the_vault(config: Path) -> None:
    night(config, EXAMS)
    copy = shutil.copy(vault(config), config.with_name("copy"))
    night(config, EXAMS)
    shutil.copy(copy, vault(config))
    assert of_the_vault(config).state == "well"
