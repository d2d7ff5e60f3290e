"""Old shards go, what the last runs used stays: proved by what the next run has to make."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from pipeline.errors import RadcalError
from pipeline.run.pruning import Pruning, find, keep_list, listed, remove
from pipeline.simulate import simulate
from pipeline.site.site import Site
from pipeline.vault.audit_log import AuditLog, verify
from tests.e2e.commands import here
from tests.fixtures.here import Here

KEY = "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"
BASE = '[input]\npaths = ["exams.csv"]\n[execution]\nshard_rows = 20\n'


@pytest.fixture(scope="module")
def exams() -> pd.DataFrame:
    return simulate(pairs=12, readers=2, seed=2).exams.astype(str)


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory, exams: pd.DataFrame) -> Path:
    """Make a site and its first night, "a"; every test works on a copy."""
    folder = tmp_path_factory.mktemp("site")
    exams.to_csv(folder / "exams.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RADCAL_VAULT_KEY", KEY)
        assert night(folder, "a") > 0
    return folder


@pytest.fixture
def place(gathered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("RADCAL_VAULT_KEY", KEY)
    Site.forget()
    yield shutil.copytree(gathered, tmp_path / "site")
    Site.forget()


def night(folder: Path, run: str, more: str = "", outcome: str = "gathered") -> int:
    """Go from the export to tallies and leave what a run leaves; how many shards were made."""
    (folder / "radcal.toml").write_text(BASE + more)
    Site.forget()
    here = Here(Site.open(str(folder / "radcal.toml")))
    store = here.site.workspace
    store.take_used()
    here.choose(here.gather())
    keep_list(store.root / "runs" / run, store.take_used())
    AuditLog(store.root / "audit.jsonl").append("run", run=run, outcome=outcome)
    ended = {"state": "ended", "outcome": outcome, "last_run": run}
    store.write_json(store.root / "runs" / "last.json", ended)
    return sum(made for name, made in here.made.items() if name != "register")


def pruned(folder: Path, keep_runs: int) -> Pruning:
    store = Site.open(str(folder / "radcal.toml")).workspace
    found = find(store, keep_runs=keep_runs)
    remove(store, found)
    return found


def files(folder: Path) -> dict[Path, int]:
    zones = (folder / "workspace" / zone for zone in ("raw", "analysis"))
    return {p: p.stat().st_size for zone in zones for p in zone.rglob("*.parquet")}


NARROW = "[pairing]\nwindow_hours = 6\n"


def test_everything_a_run_made_stands_in_its_list(place: Path) -> None:
    assert pruned(place, keep_runs=1).sizes == {}


def test_what_a_changed_option_left_behind_goes_and_the_next_run_makes_nothing(
    place: Path,
) -> None:
    first = files(place)
    night(place, "b", NARROW)
    both = files(place)
    narrow = set(listed(place / "workspace" / "runs" / "b") or ())
    found = pruned(place, keep_runs=1)
    left = files(place)
    assert set(left) < set(both)
    assert sum(found.sizes.values()) == sum(both.values()) - sum(left.values()) > 0
    assert {str(p.relative_to(place / "workspace")) for p in left} == narrow
    assert {"analysis/pairs", "analysis/wanted", "analysis/tallies"} <= set(
        found.summary()["tables"]  # type: ignore[call-overload]
    )
    assert not any(name.startswith("raw/") for name in found.sizes)
    assert night(place, "b", NARROW) == 0
    assert night(place, "a") > 0
    assert set(first) <= set(files(place))


def test_the_last_issue_stays_however_many_nights_came_after_it(place: Path) -> None:
    assert night(place, "issued", outcome="delivered") == 0
    issued = files(place)
    for number in range(2):
        night(place, f"night-{number}", f"[pairing]\nwindow_hours = {6 + number}\n")
    found = pruned(place, keep_runs=1)
    assert found.kept_runs == ("night-1", "issued")
    assert found.sizes
    assert set(issued) <= set(files(place))
    assert night(place, "issued", outcome="delivered") == 0


def test_a_night_under_the_same_name_does_not_unlist_what_the_issue_used(tmp_path: Path) -> None:
    keep_list(tmp_path / "run", ["analysis/pages/x.pdf", "analysis/pairs/k.parquet"])
    keep_list(tmp_path / "run", ["analysis/pairs/k.parquet"])
    assert listed(tmp_path / "run") == {"analysis/pages/x.pdf", "analysis/pairs/k.parquet"}


def test_identified_shard_goes_only_if_all_its_exams_are_kept_elsewhere(
    place: Path, exams: pd.DataFrame
) -> None:
    export = place / "exams.csv"
    new = exams.tail(1).assign(accession="N1", exam_id="N1")
    pd.concat([new, exams]).to_csv(export, index=False)  # in front: every shard is another
    night(place, "longer")
    exams.to_csv(export, index=False)
    night(place, "shorter")
    held = pruned(place, keep_runs=1)
    raw = place / "workspace" / "raw" / "exams"
    assert held.held == 1, "the shard with the exam that is found nowhere else"
    alone = [p for p in raw.glob("*.parquet") if "N1" in set(pd.read_parquet(p)["accession"])]
    assert len(alone) == 1
    assert {name.rpartition("/")[0] for name in held.sizes} >= {"raw/exams", "raw/quarantine"}
    assert night(place, "shorter") == 0
    last = list(AuditLog(place / "workspace" / "audit.jsonl").entries())[-2]
    assert last["event"] == "prune"
    assert last["details"]["identified_files"] >= 2  # type: ignore[index]
    assert verify(place / "workspace" / "audit.jsonl").is_intact


def test_returned_sheets_and_hidden_files_are_never_touched(place: Path) -> None:
    store = Site.open(str(place / "radcal.toml")).workspace
    store.write("analysis", "returns", "k", pd.DataFrame({"sequence": [1]}))
    store.write("analysis", "gone", "k", pd.DataFrame({"a": [1]}))
    store.write_page("old.pdf", b"old")
    assert sorted(pruned(place, keep_runs=1).sizes) == [
        "analysis/gone/k.parquet",
        "analysis/pages/old.pdf",
    ]
    assert store.has("analysis", "returns", "k")
    assert (place / "workspace" / "raw" / "vault.sqlite").is_file()


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ({}, "no run has ended well here yet"),
        ({"state": "running", "last_run": "a"}, "the last run did not end"),
        ({"state": "ended", "outcome": "failed", "last_run": "a"}, "the last run did not end"),
        ({"state": "ended", "outcome": "delivered", "last_run": "x"}, "left no list"),
    ],
)
def test_nothing_is_judged_old_while_what_is_needed_is_not_known(
    place: Path, last: dict[str, str], said: str
) -> None:
    before = files(place)
    store = Site.open(str(place / "radcal.toml")).workspace
    store.write_json(store.root / "runs" / "last.json", last)
    with pytest.raises(RadcalError, match=said):
        pruned(place, keep_runs=1)
    assert files(place) == before


def test_command_counts_first_removes_when_told_and_waits_for_no_run(place: Path) -> None:
    night(place, "b", NARROW)
    before = files(place)
    asked = ("prune", "radcal.toml", "--keep-runs", "1")
    counted = here(*asked, "--json", cwd=place).summary
    assert counted["dry_run"] is True
    assert counted["files"]
    assert files(place) == before
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import fcntl, sys; f = open(sys.argv[1], 'a+'); fcntl.flock(f, fcntl.LOCK_EX)\n"
            "print('held', flush=True); sys.stdin.read()",
            str(place / "workspace" / "lock"),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    holder.stdout.readline()
    refused = here(*asked, "--yes", cwd=place)
    holder.communicate("")
    assert refused.code == 5
    assert files(place) == before
    done = here(*asked, "--yes", cwd=place)
    assert f"bytes: {counted['bytes']:,}" in done.out
    assert sum(before.values()) - sum(files(place).values()) == counted["bytes"]
