"""Pairing and tallying by blocks of patients comes to what one block comes to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipeline.run.gates import Gathered
from pipeline.simulate import simulate_chunks
from pipeline.simulate.generator import write_simulation
from pipeline.site.site import Site
from pipeline.stages import extract, tally
from pipeline.stages import pair as pair_stage
from pipeline.stages.clean import Coded
from pipeline.stages.extract import EXTRACT
from pipeline.stages.pair import PAIR, Paired, PatientBlock
from pipeline.stages.register import Registered
from pipeline.stages.tally import TALLY
from pipeline.tables import observations as sums
from pipeline.tables.pairing import pair
from tests.fixtures.here import Here
from tests.fixtures.here import coded as coded_exams

KEY = "dGhpcyBpcyBhIHRlc3Qga2V5IG9mIDMyIGJ5dGVzISE"
BASE = '[input]\npaths = ["hospital/exams.csv"]\n[execution]\nshard_rows = 60\nblock_exams = {}\n'
ROWS = {"pairs": "xr_study_code", "fates": "study_code", "observations": "pair_id"}
SUMS = ("tallies", "alternatives", "mix", "words")


@pytest.fixture(scope="module")
def coded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[Coded]]]:
    """Code a simulated hospital; one accession has versions under two numbers of patients."""
    folder = tmp_path_factory.mktemp("blocks")
    chunks = simulate_chunks(pairs=60, readers=3, seed=4)
    write_simulation(chunks, folder / "hospital")
    path = folder / "hospital" / "exams.csv"
    exams = pd.read_csv(path, dtype="str", keep_default_na=False)
    again = (exams["modality"] == "XR") & exams.duplicated("accession")
    exams.loc[exams.index[again][0], "patient_id"] = "MERGED-0001"
    exams.to_csv(path, index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RADCAL_VAULT_KEY", KEY)
        site = opened(folder, 100_000)
        yield folder, coded_exams(site)


def opened(folder: Path, block_exams: int) -> Site:
    Site.forget()
    (folder / "radcal.toml").write_text(BASE.format(block_exams))
    return Site.open(str(folder / "radcal.toml"))


def gathered(
    folder: Path, clean: list[Coded], block_exams: int
) -> tuple[dict[str, Any], list[Paired]]:
    """All tables of a run with blocks of this size, and what its blocks tell."""
    here = Here(opened(folder, block_exams))
    store = here.site.workspace
    paired = here.map(PAIR, pair_stage.blocks(here.site, clean))
    read = here.map(EXTRACT, extract.shards(paired))
    tallied = here.map(TALLY, tally.blocks(paired, read))
    keys, tallies = [block.key for block in paired], [block.key for block in tallied]
    chosen = here.choose(Gathered((), Registered({}), clean, paired, read, tallied))
    found: dict[str, Any] = {
        name: store.read("analysis", name, keys if name != "observations" else tallies)
        .sort_values([by, *(["pathology"] if name == "observations" else [])])
        .reset_index(drop=True)
        for name, by in ROWS.items()
    }
    for name in SUMS:
        found[name] = sums.added(store.read("analysis", name, [key]) for key in tallies)
    found["issue"] = (chosen.period, chosen.readers, chosen.pathologies)
    found["read"] = sorted(shard.key for shard in read)
    return found, paired


def test_many_blocks_come_to_what_one_comes_to(coded: tuple[Path, list[Coded]]) -> None:
    folder, clean = coded
    one, whole = gathered(folder, clean, 100_000)
    many, parts = gathered(folder, clean, 40)
    assert len(whole) == 1 < 4 <= len(parts)
    assert sum(part.pairs for part in parts) == whole[0].pairs > 30
    assert many["issue"] == one["issue"]
    assert many["read"] == one["read"]
    for name in (*ROWS, *SUMS):
        columns = [c for c in one[name].columns if c not in {"count", "weight", "n"}]
        frames = [found[name].sort_values(columns, ignore_index=True) for found in (one, many)]
        pd.testing.assert_frame_equal(*frames, check_dtype=False, obj=name)


def test_one_accession_under_two_patients_is_two_studies_each_in_its_own_block(
    coded: tuple[Path, list[Coded]],
) -> None:
    folder, clean = coded
    site, keys = opened(folder, 40), tuple(sorted(shard.key for shard in clean))
    parts = [pair_stage.exams(site, PatientBlock(keys, number, 8)) for number in range(8)]
    one = pair_stage.exams(site, PatientBlock(keys, 0, 1))
    homes = pd.concat([part.assign(home=i)[["study_code", "home"]] for i, part in enumerate(parts)])
    assert homes.groupby("study_code")["home"].nunique().max() == 1
    assert len(homes) == len(one)
    patients = pd.concat(parts).groupby("study_code")["patient_code"].nunique()
    assert patients.max() == 1
    assert pd.concat(parts)["patient_code"].nunique() == one["patient_code"].nunique()
    whole = pair(one).pairs
    assert sum(len(pair(part).pairs) for part in parts) == len(whole)
