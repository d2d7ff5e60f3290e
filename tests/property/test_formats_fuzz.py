"""A small share of the nightly fuzzing: no input raises, hangs or is lost."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "formats_fuzz.py"
SPEC = importlib.util.spec_from_file_location("formats_fuzz", SCRIPT)
assert SPEC is not None
assert SPEC.loader is not None
fuzzing = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fuzzing)


@pytest.mark.parametrize("kind", ["message", "feed", "resource", "table", "lines", "report"])
def test_mutated_input_neither_raises_nor_gets_lost(tmp_path: Path, kind: str) -> None:
    fuzz = fuzzing.Fuzz(tmp_path, random.Random(11))
    _, outcomes = fuzzing.run(fuzz, getattr(fuzz, kind), 100)
    assert not [each for each in outcomes if each.startswith(("RAISED", "NOT "))], outcomes
    assert outcomes.total() > 0
