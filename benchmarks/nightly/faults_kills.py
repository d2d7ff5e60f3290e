"""Fifty kills at random moments, each resumed to its end: the store is that of an undisturbed run.

A small job is run once undisturbed; that run's length, from the moment it holds the workspace, is
measured. Then, fifty times: a fresh workspace, a run, kill -9 at a moment drawn uniformly over that
length (every tenth: over the start-up before it), of the whole process group, of the parent alone,
or of one worker; then the run is started again and must end well. A run that has ended before its
moment is not counted and drawn again. What is then required of the workspace:

equal byte for byte, none missing, none too many
    every file of ``raw``, ``analysis`` and ``delivery`` (shards, pages, sheets, the ledger)
equal but for times, what was found made and how many workers (``seconds``, ``stages``,
``configuration.execution``)
    the manifest of the one run there is
equal as rows
    the vault (SQLite pages depend on the order of writes)
intact
    the audit log's chain; no temporary file; no process that outlives its parent
not compared, for they hold times and attempts
    ``runs/last.json``, ``report.pdf``, ``logs``, ``metrics``, the orchestrator's own records

Codes are random, so workspaces begin with the vault of the undisturbed run. Every twelfth begins
with none, and is compared with an undisturbed run over the vault that was left: which must not need
one code more. Where not a worker is to be killed, two runs in three work in the parent process
itself. Every fifth run is left to itself: it is small and needs no Prefect server; the others use
one that stands for all, as a large run uses its own. Limits: 0 failed, 0 differences, 0 orphans.
Another ``--seed`` draws other kills: pieces of a night add up.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import pandas as pd
from killing import Run, strike

from pipeline.run.server import settle, temporary_server
from pipeline.simulate import simulate
from pipeline.vault.audit_log import verify

ZONES = ("raw", "analysis", "delivery")
VAULT = Path("raw") / "vault.sqlite"
TIMED = ("seconds", "stages")
CONFIG = """\
[reports]
demonstration = true

[input]
paths = ["{exams}"]
[calibration]
bootstrap = 100
[execution]
shard_rows = {rows}
"""


@dataclass(frozen=True)
class Kill:
    """One run that was started to be killed; no stage where it had ended before its moment."""

    number: int
    ended: str
    stage: str = ""
    whom: str = ""
    orphans: int = 0
    wrong: tuple[str, ...] = ()


def main() -> None:
    """Kill as often as asked, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--pairs", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        exams = simulate(pairs=options.pairs, readers=3, seed=4).exams
        exams.to_csv(folder / "exams.csv", index=False)
        (folder / "radcal.toml").write_text(
            CONFIG.format(exams=folder / "exams.csv", rows=max(10, len(exams) // 8))
        )
        settle(folder / "prefect")
        with temporary_server() as wait:
            wait()
            done = killed(folder, len(exams), options.kills, options.seed)
    report(done, time.monotonic() - began)
    sys.exit(any(each.wrong for each in done))


def killed(folder: Path, exams: int, kills: int, seed: int) -> list[Kill]:
    """Run once undisturbed, then kill as often as asked."""
    whole = folder / "whole"
    lengths = undisturbed(site(whole, None))
    print(
        f"{os.cpu_count()} cores; {exams} exams; undisturbed: "
        f"start-up {lengths[0]:.0f} s, run {lengths[1]:.0f} s",
        flush=True,
    )
    done: list[Kill] = []
    while sum(bool(each.stage) for each in done) < kills:
        number = len(done) + 1
        chance = random.Random(f"{seed}-{number}")  # noqa: S311 - moments, not secrets
        done.append(cycle(folder / f"{number:03d}", whole, lengths, chance))
    return done


def cycle(folder: Path, whole: Path, lengths: tuple[float, float], chance: random.Random) -> Kill:
    """Start, kill, resume and compare once."""
    number = int(folder.name)
    early, new_vault, alone = number % 10 == 0, number % 12 == 7, number % 5 == 0
    moment = chance.uniform(0, lengths[0 if early else 1])
    whom = chance.choice(("all", "parent", "a worker"))
    workers = 2 if whom == "a worker" else chance.choice((1, 1, 2))
    site(folder, None if new_vault else whole, workers=workers)
    run = Run(folder, alone=alone)
    if not (early or run.holds_the_workspace()) or run.ends_within(moment):
        run.process.wait()
        return Kill(number, "ended before their moment, drawn again")
    stage = run.stage()
    struck = strike(run, whom, chance)
    resumed, ended = struck.code, "went on by themselves"
    if resumed not in (0, 3):
        resumed, ended = Run(folder, alone=alone).process.wait(), "resumed"
    wrong = [f"ended with {resumed}"] if resumed not in (0, 3) else []
    wrong += ["orphans"] * struck.orphans
    with reference(folder, whole, new=new_vault) as undisturbed_one:
        wrong += [] if wrong else differences(undisturbed_one, folder)
    told = f"{number:3d}  {struck.whom:<9} killed in {stage:<12} at {moment:5.1f} s"
    print(f"{told}  {'; '.join(wrong) or 'equal'}", flush=True)
    if wrong:
        print((folder / "told.txt").read_text(errors="replace")[-2000:])
    else:
        shutil.rmtree(folder)
    return Kill(number, ended, stage, struck.whom, struck.orphans, tuple(wrong))


def site(folder: Path, vault_of: Path | None, *, workers: int = 1) -> Path:
    """Make a site with an empty workspace, or with one that has another's vault and no more."""
    (folder / "workspace" / "raw").mkdir(parents=True)
    config = (folder.parent / "radcal.toml").read_text()
    (folder / "radcal.toml").write_text(f"{config}workers = {workers}\n")
    if vault_of is not None:
        with (
            closing(sqlite3.connect(vault_of / "workspace" / VAULT)) as here,
            closing(sqlite3.connect(folder / "workspace" / VAULT)) as there,
        ):
            here.backup(there)
    return folder


def undisturbed(folder: Path) -> tuple[float, float]:
    """Run to the end; gives the seconds until it held the workspace and from there."""
    started = time.monotonic()
    run = Run(folder)
    run.holds_the_workspace()
    held = time.monotonic()
    if (code := run.process.wait()) not in (0, 3):
        sys.exit(f"an undisturbed run ended with {code}")
    return held - started, time.monotonic() - held


@contextmanager
def reference(folder: Path, whole: Path, *, new: bool) -> Iterator[Path]:
    """Give what to compare with: the undisturbed run, or a new one over this one's own vault."""
    if not new:
        yield whole
        return
    twin = site(folder.with_name(f"{folder.name}-twin"), folder)
    undisturbed(twin)
    yield twin


def differences(whole: Path, killed: Path) -> list[str]:
    """Say what of a workspace is not as the undisturbed run left it."""
    one, other = whole / "workspace", killed / "workspace"
    first, second = files(one), files(other)
    names = sorted(name for name in first | second if first.get(name) != second.get(name))
    wrong = [f"differs: {name}" for name in names]
    wrong += ["differs: the vault"] * (rows(one / VAULT) != rows(other / VAULT))
    wrong += ["differs: the manifest"] * (manifests(one) != manifests(other))
    wrong += ["audit log broken"] * (not verify(other / "audit.jsonl").is_intact)
    return wrong + [f"left over: {p.name}" for p in other.rglob("*.part")]


def files(workspace: Path) -> dict[str, bytes]:
    """Read every file of the zones and the delivery but the vault."""
    found = (path for zone in ZONES for path in (workspace / zone).rglob("*") if path.is_file())
    named = {str(path.relative_to(workspace)): path for path in found}
    return {name: path.read_bytes() for name, path in named.items() if name != str(VAULT)}


def rows(vault: Path) -> list[str]:
    """Give the vault's rows, sorted."""
    with closing(sqlite3.connect(vault)) as database:
        return sorted(database.iterdump())


def manifests(workspace: Path) -> dict[str, dict[str, object]]:
    """Read the manifests of all runs, without times, what was found made and how many workers."""
    paths = workspace.glob("runs/*/manifest.json")
    found = {path.parent.name: json.loads(path.read_text()) for path in paths}
    for manifest in found.values():
        del manifest["configuration"]["execution"]
    return {run: {k: v for k, v in m.items() if k not in TIMED} for run, m in found.items()}


def report(done: list[Kill], seconds: float) -> None:
    """Print how the kills fell on stages and processes, and what went wrong."""
    killed = pd.DataFrame([each for each in done if each.stage])
    print(f"\n{pd.crosstab(killed['stage'], killed['whom'])}\n")
    found = Counter(each.ended for each in done)
    wrong = [f"kill {each.number}: {what}" for each in done for what in each.wrong]
    found["kills"] = len(killed)
    found["processes that outlived their parent"] = sum(each.orphans for each in done)
    found["failed, different or left over"] = len(wrong)
    found["seconds in all"] = round(seconds)
    for name, count in sorted(found.items()):
        print(f"  {name:<40}{count:5d}")
    print("".join(f"  {each}\n" for each in wrong), end="")


if __name__ == "__main__":
    main()
