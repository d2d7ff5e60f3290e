"""A tenth of the million exams: flat memory, and a kill in the middle that costs nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "nightly" / "million_exams.py"


@pytest.mark.nightly
def test_hundred_thousand_exams_keep_within_memory_and_survive_a_kill(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--exams", "100000", "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
