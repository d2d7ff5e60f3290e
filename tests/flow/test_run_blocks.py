"""Pairing and tallying by blocks of patients comes to what one block comes to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from pipeline.simulate import simulate_chunks
from pipeline.simulate.write import write_simulation
from pipeline.site.site import Site
from pipeline.tables import sums
from pipeline.tables.pairing import pair
from pipeline.work import blocks, evidence, intake, period

KEY = "dGhpcyBpcyBhIHRlc3Qga2V5IG9mIDMyIGJ5dGVzISE"
BASE = '[input]\npaths = ["hospital/exams.csv"]\n[execution]\nshard_rows = 60\nblock_exams = {}\n'
ROWS = {"pairs": "xr_study_code", "fates": "study_code", "observations": "pair_id"}
SUMS = ("tallies", "alternatives", "mix", "words")

Facts = dict[str, Any]


@pytest.fixture(scope="module")
def coded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[str]]]:
    """Code a simulated hospital; one study has versions under two numbers of its patient."""
    folder = tmp_path_factory.mktemp("blocks")
    chunks = simulate_chunks(pairs=60, readers=3, seed=4)
    write_simulation(chunks, folder / "hospital", exams_format="csv")
    path = folder / "hospital" / "exams.csv"
    exams = pd.read_csv(path, dtype="str", keep_default_na=False)
    again = (exams["modality"] == "XR") & exams.duplicated("accession")
    exams.loc[exams.index[again][0], "patient_id"] = "MERGED-0001"
    exams.to_csv(path, index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RADCAL_VAULT_KEY", KEY)
        site = opened(folder, 100_000)
        config = str(folder / "radcal.toml")
        site.workspace.prepare()
        found = intake.ingest_source(config, str(path))
        intake.register(config, found["shards"])
        each = zip(found["shards"], intake.batches([found]), strict=True)
        yield folder, [intake.clean_shard(config, shard, batch)["key"] for shard, batch in each]


def opened(folder: Path, block_exams: int) -> Site:
    Site.forget()
    blocks._moved.cache_clear()
    (folder / "radcal.toml").write_text(BASE.format(block_exams))
    return Site.open(str(folder / "radcal.toml"))


def gathered(folder: Path, clean: list[str], block_exams: int) -> tuple[Facts, list[Facts]]:
    """All tables of a run with blocks of this size, and what its blocks tell."""
    site = opened(folder, block_exams)
    store, config = site.workspace, str(folder / "radcal.toml")
    keys = evidence.block_keys(site, clean)
    paired = [evidence.pair_block(config, key, clean) for key in keys]
    shards = evidence.shards_of(paired)
    read = [evidence.read_shard(config, keys, shard)["key"] for shard in shards]
    tallied = [evidence.observe_block(config, key, read) for key in keys]
    tallies = [block["key"] for block in tallied]
    chosen = period.choose_issue(config, tallies, keys, None)
    found: Facts = {
        name: store.read("analysis", name, keys if name != "observations" else tallies)
        .sort_values([by, *(["pathology"] if name == "observations" else [])])
        .reset_index(drop=True)
        for name, by in ROWS.items()
    }
    for name in SUMS:
        found[name] = sums.added(store.read("analysis", name, [key]) for key in tallies)
    found["issue"] = {k: chosen[k] for k in ("period", "months", "readers", "pathologies")}
    found["read"] = sorted(read)
    return found, paired


def test_many_blocks_come_to_what_one_comes_to(coded: tuple[Path, list[str]]) -> None:
    folder, clean = coded
    one, whole = gathered(folder, clean, 100_000)
    many, parts = gathered(folder, clean, 40)
    assert len(whole) == 1 < 4 <= len(parts)
    assert sum(part["pairs"] for part in parts) == whole[0]["pairs"] > 30
    assert many["issue"] == one["issue"]
    assert many["read"] == one["read"]
    for name in (*ROWS, *SUMS):
        columns = [c for c in one[name].columns if c not in {"count", "weight", "n"}]
        frames = [found[name].sort_values(columns, ignore_index=True) for found in (one, many)]
        pd.testing.assert_frame_equal(*frames, check_dtype=False, obj=name)


def test_versions_of_one_study_under_two_patients_stay_together(
    coded: tuple[Path, list[str]],
) -> None:
    folder, clean = coded
    opened(folder, 40)
    config = str(folder / "radcal.toml")
    parts = [blocks.exams(config, clean, number, 8) for number in range(8)]
    homes = pd.concat([part.assign(home=i)[["study_code", "home"]] for i, part in enumerate(parts)])
    assert homes.groupby("study_code")["home"].nunique().max() == 1
    assert len(homes) == len(blocks.exams(config, clean, 0, 1))
    patients = pd.concat(parts).groupby("study_code")["patient_code"].nunique()
    assert patients.max() == 2
    whole = pair(blocks.exams(config, clean, 0, 1)).pairs
    assert sum(len(pair(part).pairs) for part in parts) == len(whole)
