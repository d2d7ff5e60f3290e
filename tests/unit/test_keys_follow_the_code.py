"""A stage's key follows the code it reaches: no more, no less, data beside it included."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import grimp
import pytest

from pipeline.run.manifest import KEYED
from pipeline.store import provenance
from pipeline.store.provenance import code_by_room, reached

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("calibration", "extraction", "reports", "pipeline")
STAGES = {stage.kind: type(stage).__module__ for stage in KEYED}
ENGINES = ("extraction.rules.engine", "extraction.engines.kinds")


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    """Another program's reading of the same imports."""
    return grimp.build_graph(*PACKAGES, cache_dir=None, exclude_type_checking_imports=True)


@pytest.mark.parametrize("root", [*STAGES.values(), *ENGINES])
def test_what_a_stage_reaches_is_what_grimp_finds_upstream(
    graph: grimp.ImportGraph, root: str
) -> None:
    assert reached([root]) == graph.find_upstream_modules(root) | {root}


def _names(house: Path) -> Iterator[str]:
    for package in PACKAGES:
        for path in (house / package).rglob("*.py"):
            name = ".".join(path.relative_to(house).with_suffix("").parts)
            yield name.removesuffix(".__init__")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the four packages, so that a test may edit them."""
    house = tmp_path_factory.mktemp("house")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, house / package, ignore=shutil.ignore_patterns("*.pyc"))
    return house


@cache
def _before(house: Path) -> dict[str, dict[str, str]]:
    return {kind: _code(root, house) for kind, root in STAGES.items()}


def _code(root: str, house: Path) -> dict[str, str]:
    code_by_room.cache_clear()
    return code_by_room(frozenset({root}), house)


def _edited(path: Path, house: Path) -> set[str]:
    """Edit a file; which stages' code is another then."""
    before = _before(house)
    whole = path.read_bytes()
    path.write_bytes(whole + b"\n# edited\n")
    try:
        return {kind for kind, root in STAGES.items() if _code(root, house) != before[kind]}
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize("module", sorted(_names(ROOT)))
def test_editing_a_module_changes_the_keys_of_the_stages_that_reach_it_and_no_others(
    copy: Path, module: str
) -> None:
    expected = {kind for kind, root in STAGES.items() if module in reached([root])}
    assert _edited(provenance._file(module, copy), copy) == expected


@pytest.mark.parametrize(
    ("data", "stages"),
    [
        ("pipeline/names/words/census_given_names.txt", {"ingest", "de-identify"}),
        ("extraction/vocabulary/cues.toml", {"de-identify", "extract"}),
        ("pipeline/simulate/data/hospital.toml", set()),
    ],
)
def test_a_changed_word_list_counts_as_changed_code(
    copy: Path, data: str, stages: set[str]
) -> None:
    assert _edited(copy / data, copy) == stages


@pytest.mark.parametrize(
    ("stage", "inside", "outside"),
    [
        ("ingest", "pipeline.names.lexicon", "pipeline.deidentify.engine"),
        ("de-identify", "pipeline.deidentify.engine", "extraction.rules.engine"),
        ("pair", "pipeline.tables.observations", "pipeline.formats.exports"),
        ("extract", "pipeline.tables.versions", "extraction.prompt"),
        ("tally", "calibration.distributions", "extraction.rules.engine"),
        ("pages", "reports.pages.radiologist", "pipeline.deidentify.engine"),
    ],
)
def test_a_stage_hangs_on_what_it_uses(stage: str, inside: str, outside: str) -> None:
    found = reached([STAGES[stage]])
    assert inside in found
    assert outside not in found
