"""Which changed signs, limits and names no test notices: mutation testing of the code that counts.

Takes a copy of the tracked files, changes one thing at a time in a part of it (mutmut), and runs
the tests that reach the change. A mutant that no test kills is a survivor: it is printed with its
difference, and asks for a test unless nothing can tell it from the program (a sum into zeros that
became an assignment). Run it with the environment of `make mutation`, which has mutmut; with
``--keep FOLDER`` a run that was interrupted goes on where it stopped.

What it gave in November 2026, mutants killed of those tried: of the tally 316 of 347 (of 352; tests
of what it refuses were written for those that matter; left are equal programs: a first sum into
zeros that became an assignment, a conversion to the type that is there, a group nobody asks for);
of the curve 463 of 507 (left are mostly equal programs: NaN by another name, signs of symmetric
images, ends of a clip that no number reaches); of the substitution 677 of 906 of 2,615 before tests
of programs, guard-rails, transport and advice were written for what survived, and before its dual
took one problem at a time. Later, of its effect 236 of 274, and eleven of thirteen of those that
lived were tried again and died of tests written for them (left are defaults, bounds that nothing
reaches, NaN by another name); of its cost and dual, all of them tried, 542 of 592 (527 before tests
of swaps under bins that do not add up to one, of more rows than a block, and of the steps taken).
Left of these are equal programs and what only takes longer (warm starts, the line search's bounds,
atoms summed bin by bin), the last step, which polishes a gradient that is small enough already, and
the climb's end where no step helps, which no problem reached. Of the store, with
tests/unit/test_workspace.py that was written for what survived, 552 of 646 (of 761: 63 have no test
without a server of objects, 52 were not reached); left are words of messages, what only a server of
objects shows (who owns a prefix, a marker of the site), files that vanish while they are swept, and
equal programs (a case of ``zstd``, a cache that is never asked twice).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NUMERICAL = (
    "tests/unit/test_calibration_tally.py",
    "tests/unit/test_calibration_result.py",
    "tests/unit/test_calibration_order.py",
    "tests/unit/test_calibration_substitution.py",
    "tests/property/test_calibration_invariants.py",
    "tests/property/test_calibration_programs.py",
    "tests/reference/test_calibration_worked_numbers.py",
)
STORED = (
    "tests/unit/test_house.py",
    "tests/unit/test_workspace.py",
    "tests/unit/test_shards.py",
    "tests/unit/test_keys_follow_the_code.py",
    "tests/flow/test_deployed_objects.py",
    "--deselect=tests/unit/test_house.py::test_the_house_does_not_grow_back",
    "--deselect=tests/unit/test_house.py::test_no_function_is_too_long_or_takes_too_much",
    "--deselect=tests/unit/test_house.py::test_modules_are_neither_too_many_nor_too_long",
    "-k",
    "not s3",
)
"""Not the budgets of the house, which a mutated copy is over, and no server for each mutant."""

PARTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "tally": ("calibration/tally.py", NUMERICAL),
    "curve": ("calibration/curve.py", NUMERICAL),
    "substitution": ("calibration/substitution/*", NUMERICAL),
    "store": ("pipeline/store/*", STORED),
}
DEAD = ("killed", "timeout", "caught by type check")
_ENDED = re.compile(r"^\s+(\S+__mutmut_\d+): (.+)$", re.MULTILINE)


def main() -> int:
    """Test the parts asked for, print what survived; the exit code says whether anything did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all, unless named")
    parser.add_argument("--children", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, help="folder of the copies, where a run goes on")
    options = parser.parse_args()
    left = 0
    with tempfile.TemporaryDirectory() as passing:
        for part in options.parts or PARTS:
            left += survivors(part, (options.keep or Path(passing)) / part, options.children)
    return 1 if left else 0


def survivors(part: str, folder: Path, children: int) -> int:
    """Mutate one part in a copy; print every mutant that lived, and count them."""
    if not folder.exists():
        _copy(part, folder)
    with (folder / "run.txt").open("wb") as output:  # it draws a spinner
        _mutmut(folder, "run", "--max-children", str(children), stdout=output)
    ended = _ENDED.findall(_told(folder, "results", "--all", "true"))
    if not ended:
        tail = (folder / "run.txt").read_text(encoding="utf-8", errors="replace")[-2000:]
        print(f"{part}: no mutant was tried.\n{tail}")
        return 1
    states = Counter(state for _, state in ended)
    print(f"{part}: " + ", ".join(f"{n} {state}" for state, n in states.most_common()))
    lived = [name for name, state in ended if state not in DEAD]
    for name in lived:
        print(_told(folder, "show", name))
    return len(lived)


def _copy(part: str, folder: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True
    ).stdout.decode()
    for name in filter(None, tracked.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    changed, tests = PARTS[part]
    package = changed.split("/")[0]
    whole = ("README.md", "docs", "benchmarks", "deploy", "tests")
    beside = {"calibration", "extraction", "reports", "pipeline"} - {package}
    settings = (folder / "pyproject.toml").read_text(encoding="utf-8")
    settings = settings.replace(" --doctest-modules", "")
    (folder / "pyproject.toml").write_text(
        f"{settings}\n[tool.mutmut]\n"
        f"source_paths = {[package]!r}\nonly_mutate = {[changed]!r}\n"
        f"also_copy = {sorted({*whole, *beside})!r}\n"
        'pytest_add_cli_args = ["-p", "no:xdist", "-p", "no:cacheprovider"]\n'
        f"pytest_add_cli_args_test_selection = {list(tests)!r}\n"
        "use_git_change_detection = false\n",
        encoding="utf-8",
    )


def _mutmut(folder: Path, *arguments: str, stdout: object) -> None:
    subprocess.run(
        [sys.executable, "-m", "mutmut", *arguments],
        cwd=folder,
        check=False,
        stdout=stdout,  # type: ignore[arg-type]
        stderr=subprocess.STDOUT,
    )


def _told(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mutmut", *arguments],
        cwd=folder, check=False, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
