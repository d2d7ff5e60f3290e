"""A workspace begun on one machine and resumed on another: the same rows, pages and results.

The arithmetic of another processor is asked of OpenBLAS (AVX2 or AVX) and of numpy (no vectors).
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.e2e.commands import Demo, radcal

pytestmark = pytest.mark.slow

BEGUN = {"OPENBLAS_CORETYPE": "Sandybridge"}
RESUMED = {
    "OPENBLAS_CORETYPE": "Haswell",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
}
READ = {"clean_exams", "fates", "addenda", "pairs", "window_pairs", "findings", "report_findings",
        "readings", "answers", "coverage", "wanted"}  # fmt: skip
"""Tables of the analysis zone that hold what was read; all others hold numbers made from them."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("begun")
    arguments = ("demo", "--out", "demo", "--json", "--pairs", 150, "--readers", 5)
    return Demo(folder, radcal(*arguments, cwd=folder, **BEGUN))


def computed(workspace: Path) -> dict[str, bytes]:
    """Every file that holds a number: its path and its bytes."""
    folders = [p for p in (workspace / "analysis").iterdir() if p.name not in READ]
    folders += [workspace / "delivery"]
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    return {str(file.relative_to(workspace)): file.read_bytes() for file in files}


def test_all_numbers_of_a_workspace_come_out_the_same_on_another_processor(
    small: Demo, tmp_path: Path
) -> None:
    assert small.finished.code == 0
    begun = computed(small.workspace)
    shutil.copytree(small.folder / "demo", tmp_path / "demo")
    moved = tmp_path / "demo" / "workspace"
    for name in begun:
        (moved / name).unlink()
    again = radcal(
        "run", "demo/radcal.toml", "--json", cwd=tmp_path, RADCAL_VAULT_KEY=small.key, **RESUMED
    )
    assert again.code == 0, again.err
    resumed = computed(moved)
    assert {name for name in begun if "/results/" in name}
    assert {name for name in begun if name.endswith("feedback.pdf")}
    assert sorted(resumed) == sorted(begun)
    assert [name for name in begun if resumed[name] != begun[name]] == []


def test_a_table_is_calibrated_to_the_same_bytes_on_another_processor(
    small: Demo, tmp_path: Path
) -> None:
    import pandas as pd

    shards = sorted((small.workspace / "analysis" / "observations").glob("*.parquet"))
    rows = pd.concat([pd.read_parquet(shard) for shard in shards], ignore_index=True)
    rows.to_csv(tmp_path / "observations.csv", index=False)
    written = []
    for number, environment in enumerate((BEGUN, RESUMED)):
        out = tmp_path / f"{number}.json"
        options = ("--by", "reader_code", "--bootstrap", 100, "--quiet")
        done = radcal(
            "calibrate", tmp_path / "observations.csv", "--out", out, *options,
            cwd=tmp_path, **environment,
        )  # fmt: skip
        assert done.code == 3, done.err  # a borrowed phrase is not in the built-in table
        written.append(out.read_bytes())
    assert written[0] == written[1]
