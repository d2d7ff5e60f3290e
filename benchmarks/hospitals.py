"""A simulated hospital in a folder, and the real command on it: what benchmarks of runs share."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pipeline.simulate import simulate_chunks
from pipeline.simulate.generator import write_simulation

RADCAL = [sys.executable, "-c", "from pipeline.cli import main; main()"]
KEYED = os.environ | {"RADCAL_VAULT_KEY": "Zr7-kT2_mQ9vLx4WbN8sYc1HdE6pJgUaF3iOo5RtXyS"}


def hospital(folder: Path, *, pairs: int, readers: int) -> Path:
    """Simulate a hospital; give its exams."""
    chunks = simulate_chunks(pairs=pairs, readers=readers, seed=0)
    write_simulation(chunks, folder)
    return folder / "exams.csv"


def configured(folder: Path, exams: Path, more: str = "") -> Path:
    """Write a configuration that reads some exams; give it."""
    path = folder / "radcal.toml"
    text = f'[reports]\ndemonstration = true\n[input]\npaths = ["{exams}"]\n{more}'
    path.write_text(text, encoding="utf-8")
    return path


def took(command: Sequence[object], **how: Any) -> tuple[float, float]:
    """Run a command: seconds on the wall, and of the processors by all its processes."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*map(str, command)], check=True, **how)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def manifest_of(workspace: Path) -> dict[str, Any]:
    """Read the manifest of a workspace's only run."""
    (path,) = workspace.glob("runs/*/manifest.json")
    return dict(json.loads(path.read_text(encoding="utf-8")))


def seconds_of_run(workspace: Path) -> float:
    """Give the seconds from the first stage of the last run to its end."""
    record = json.loads((workspace / "runs" / "last.json").read_text(encoding="utf-8"))
    ended = datetime.fromisoformat(record["ended_at"])
    return (ended - datetime.fromisoformat(record["started_at"])).total_seconds()
