"""The house: configuration, store, gates and packages keep their promises."""

from __future__ import annotations

import ast
import importlib
import io
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator
from functools import cache
from inspect import getclosurevars, getsource
from pathlib import Path

import pandas as pd
import pytest
import typer

from pipeline import cli, config
from pipeline.cli.common import audit
from pipeline.errors import ConfigurationError, RunLockedError
from pipeline.run.books import InputSize
from pipeline.run.gates import Accounting, against_last_good, check, remedies
from pipeline.store.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]


PACKAGES = ("calibration", "extraction", "reports", "pipeline")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
MOST_MODULES = 344
MOST_DEIDENTIFICATION = 25, 3_442
"""Modules, and lines of code without data, of `pipeline/deidentify`."""
MOST_LINES = 400
MOST_CODE = 47_848
SILENT_TOKENS = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip
LONGEST_FUNCTION = 50
LONGEST_COMMAND = 30
OFFERED = {"handleError"}
"""What nothing in the house calls: logging's own."""
MOST_PARAMETERS = 6


@pytest.mark.parametrize("package", PACKAGES)
def test_package_resolves_inside_this_repository(package: str) -> None:
    found = importlib.import_module(package).__file__
    assert found is not None
    assert Path(found).resolve().is_relative_to(ROOT)


def test_shipped_template_states_every_default(tmp_path: Path) -> None:
    path = tmp_path / "radcal.toml"
    path.write_text(config.template())
    stated = config.load(path)
    assert stated == config.Configuration(input={"paths": ["exports/*.csv"]}, folder=tmp_path)


def test_every_option_stands_in_the_template() -> None:
    text = config.template()
    for name, field in config.Configuration.model_fields.items():
        if name == "folder":
            continue
        assert f"[{name}" in text
        for option in field.annotation.model_fields:
            assert option in text, f"{name}.{option} is not in the template"


def test_three_errors_are_reported_at_once(tmp_path: Path) -> None:
    path = tmp_path / "radcal.toml"
    path.write_text(
        '[input]\npaths = ["a.csv"]\nformatt = "csv"\n'
        "[pairing]\nwindow_hours = -1\n[advice]\nmin_exams = 1\n"
    )
    with pytest.raises(ConfigurationError) as caught:
        config.load(path)
    message = str(caught.value)
    assert "3 error(s)" in message
    for place in ("input.formatt", "pairing.window_hours", "advice.min_exams"):
        assert place in message


def test_digest_ignores_where_things_lie_but_not_what_they_do(tmp_path: Path) -> None:
    base = config.Configuration(input={"paths": ["a.csv"]})
    moved = config.Configuration(input={"paths": ["a.csv"]}, store={"workspace": "elsewhere"})
    changed = config.Configuration(input={"paths": ["a.csv"]}, pairing={"window_hours": 6})
    assert base.digest == moved.digest
    assert base.digest != changed.digest


def test_shard_comes_back_as_it_was_written_with_its_facts(tmp_path: Path) -> None:
    store = Workspace(tmp_path)
    store.prepare()
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    store.write("analysis", "t", "k1", frame, facts={"rows": 2})
    path = tmp_path / "analysis" / "t" / "k1.parquet"
    assert store.facts("analysis", "t", "k1", dict[str, int]) == {"rows": 2}
    assert store.read("analysis", "t", ["k1"])["a"].tolist() == [1, 2]
    assert path.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "raw").stat().st_mode & 0o777 == 0o700


def test_failed_write_leaves_neither_shard_nor_rest(tmp_path: Path) -> None:
    store = Workspace(tmp_path)
    store.prepare()
    with pytest.raises(Exception, match="object"):
        store.write("analysis", "t", "k1", pd.DataFrame({"a": [object()]}))
    assert list((tmp_path / "analysis").rglob("*")) == []


def test_second_run_on_a_workspace_is_refused_until_the_first_process_ends(
    tmp_path: Path,
) -> None:
    store = Workspace(tmp_path)
    store.prepare()
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pathlib import Path; from pipeline.store.workspace import Workspace\n"
            "with Workspace(Path(sys.argv[1])).locked():\n"
            "    print('held', flush=True); sys.stdin.read()",
            str(tmp_path),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(RunLockedError, match=f"process {holder.pid}"), store.locked():
        pass
    holder.kill()
    holder.communicate()
    with store.locked():
        pass


@pytest.mark.parametrize("left", ["{here} on here", "1 on elsewhere", "4194304", "\0\0"])
def test_lock_file_that_nobody_holds_binds_nobody_whatever_stands_in_it(
    tmp_path: Path, left: str
) -> None:
    """A killed run's process number may be another program's by now, or one of another machine."""
    store = Workspace(tmp_path)
    store.prepare()
    (tmp_path / "lock").write_text(left.format(here=os.getpid()))
    assert store.holder() == ""
    with store.locked():
        assert store.holder().startswith(f"{os.getpid()} on ")
    assert (tmp_path / "lock").read_text() == ""


def test_process_that_holds_the_workspace_may_take_it_again_and_frees_it_once(
    tmp_path: Path,
) -> None:
    store, same = Workspace(tmp_path), Workspace(tmp_path / "." / "")
    store.prepare()
    with store.locked():
        with same.locked():
            pass
        assert store.holder() != ""
    assert store.holder() == ""


def test_half_made_vault_of_a_killed_run_is_swept_away(tmp_path: Path) -> None:
    store = Workspace(tmp_path)
    store.prepare()
    half = tmp_path / "raw" / ".vault-x1" / "vault.sqlite"
    half.parent.mkdir()
    half.touch()
    with store.locked():
        assert not half.parent.exists()


def accounting(**changes: int) -> Accounting:
    counts = {
        "rows_in": 100, "rows_kept": 98, "rows_quarantined": 2, "exams_cleaned": 98,
        "exams_withheld": 0, "exams_left_out_on_request": 0, "exams_purged": 0, "reports_read": 60,
        "reports_failed": 0, "statements": 300, "statements_unmapped": 3, "pairs": 30,
        "observations": 900, "likely": 400, "likely_shown": 300, "unlikely": 500,
        "unlikely_shown": 60, "compared_with_words": 0, "parted_from_words": 0,
    } | changes  # fmt: skip
    return Accounting(**counts, left_out={})


CONFIG = config.Configuration(input={"paths": ["a.csv"]})


def failing(found: Accounting, stated: config.Configuration = CONFIG) -> list[str]:
    return [c.name for c in check(found, stated) if c.passed is not True]


def test_sound_run_passes_every_gate() -> None:
    assert failing(accounting()) == []


@pytest.mark.parametrize(
    ("before", "now", "limit", "passed"),
    [
        (None, 90, 0.1, []),  # a first run
        (InputSize(2, 0), 90, 0.1, []),
        (InputSize(2, 100), 90, 0.1, [True]),  # 10 of 100 are missing
        (InputSize(2, 100), 89, 0.1, [False]),
        (InputSize(2, 100), 120, 0.1, [True]),
        (InputSize(2, 100), 1, 0, []),
        (InputSize(2, 100, {"2026-04": 60, "2026-05": 40}), 100, 0.1, [True, True]),
    ],
)
def test_a_run_is_held_against_the_exams_of_the_last_good_one(
    before: InputSize | None, now: int, limit: float, passed: list[bool]
) -> None:
    stated = config.Configuration(input={"paths": ["a.csv"], "max_missing_share": limit})
    after = InputSize(1, now, before.xrays if before else {})
    assert [gate.passed for gate in against_last_good(before, after, stated)] == passed
    assert stated.digest == CONFIG.digest


@pytest.mark.parametrize(
    ("now", "lost"),
    [
        ({}, "none"),
        ({"2026-05": 0}, "2026-05"),  # 60 of 660 exams, less than the tenth that may be missing
        ({"2026-05": 30, "2026-09": 31}, "2026-05"),
        ({"2026-05": 31}, "none"),
        ({"2025-10": 0}, "none"),  # the oldest month makes room
        ({"2025-10": 1, "2025-11": 0, "2025-12": 20}, "none"),  # or is purged but for strays
        ({"2026-10": 0}, "none"),  # a month that was not whole
    ],
)
def test_a_whole_month_that_lost_half_its_xrays_stops_a_run_and_is_named(
    now: dict[str, int], lost: str
) -> None:
    months = (str(pd.Period("2025-10", freq="M") + n) for n in range(12))
    before = dict.fromkeys(months, 60) | {"2026-10": 25}
    after = {month: n for month, n in (before | now).items() if n}
    gates = against_last_good(InputSize(12, 720, before), InputSize(11, 660, after), CONFIG)
    assert (gates[0].passed, gates[1].found, gates[1].passed) == (True, lost, lost == "none")
    assert ("Bring the export" in remedies([gates[1]], CONFIG)) == (lost != "none")


PARTED = "statements and sentences over which model and vocabulary part"
FAILING: dict[str, dict[str, int]] = {
    "every row accounted for": {"rows_in": 101},
    "every exam coded or withheld": {"exams_cleaned": 97},
    "reports withheld by de-identification": {"exams_cleaned": 95, "exams_withheld": 3},
    "paired reports that could not be read": {"reports_read": 50, "reports_failed": 10},
    "statements whose cue maps to no phrase": {"statements_unmapped": 31},
    PARTED: {"compared_with_words": 100, "parted_from_words": 21},
    "CT shows likely findings more often than unlikely ones": {"likely_shown": 87},
    "observations to calibrate on": {"observations": 0},
}
"""Every gate by name: counts by which it alone fails."""
SERVER = {"engine": "server", "server_url": "http://127.0.0.1:1", "model": "small"}
ASKED = config.Configuration(input={"paths": ["a.csv"]}, extraction=SERVER)


def test_every_gate_fails_on_its_own_count_alone() -> None:
    assert {c.name for c in check(accounting(), ASKED)} == {*FAILING}
    for gate, change in FAILING.items():
        assert failing(accounting(**{"compared_with_words": 100} | change), ASKED) == [gate]


def test_gate_on_disagreement_is_a_model_s_alone() -> None:
    apart = accounting(**FAILING[PARTED])
    assert failing(apart) == []
    (failed,) = [c for c in check(apart, ASKED) if c.passed is not True]
    assert failed.found == "21.00\u00a0% (21 of 100)"


def test_gate_on_words_and_ct_wants_ten_points_of_statements_enough() -> None:
    """48 of 400 and 60 of 500 are twelve in a hundred each; ten points more of the first are 88."""
    rise = "CT shows likely findings more often than unlikely ones"
    for shown, passed in ((48, False), (87, False), (88, True)):
        states = {c.name: c for c in check(accounting(likely_shown=shown), CONFIG)}
        assert states[rise].passed is passed
        assert ("radcal cases" in states[rise].note) is not passed
    assert rise not in {c.name for c in check(accounting(unlikely=99, unlikely_shown=99), CONFIG)}
    off = config.Configuration(input={"paths": ["a.csv"]}, calibration={"min_rise": 0.0})
    assert rise not in {c.name for c in check(accounting(likely_shown=0), off)}


def test_gate_with_nothing_to_count_is_no_pass() -> None:
    checks = check(accounting(reports_read=0, reports_failed=0), CONFIG)
    states = {c.name: c.passed for c in checks}
    assert states["paired reports that could not be read"] is None


def test_gates_of_a_german_page_are_in_german_numbers() -> None:
    asked = config.Configuration(input={"paths": ["a.csv"]}, reports={"language": "de"})
    large = accounting(rows_in=10_000, rows_kept=9_800, rows_quarantined=200, exams_cleaned=9_798)
    said = [part for c in check(large, asked) for part in (c.required, c.found)]
    assert "= 10.000" in said
    assert "0,00\u00a0% (0 von 9.800)" in said
    assert not any("10,000" in each or "0.00\u00a0" in each for each in said)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def own_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    taken = function.args
    named = [each.arg for each in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)]
    return len([name for name in named if name not in ("self", "cls")])


def over_budget(path: Path) -> dict[str, str]:
    """Name the functions of a module that are too long or take too much."""
    found = {}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines, taken = node.end_lineno - node.lineno + 1, own_parameters(node)
            too_many = taken > MOST_PARAMETERS and node.name != "__init__"
            if lines > LONGEST_FUNCTION or too_many:
                name = f"{path.relative_to(ROOT)}::{node.name}"
                found[name] = f"{lines} lines, {taken} parameters"
    return found


def test_no_function_is_too_long_or_takes_too_much() -> None:
    over = {name: what for path in MODULES for name, what in over_budget(path).items()}
    assert over == {}


def commands(app: typer.Typer) -> Iterator[Callable[..., object]]:
    """Give what does each command's work, behind what takes its options."""
    for command in app.registered_commands:
        assert command.callback is not None
        yield getclosurevars(command.callback).nonlocals.get("command", command.callback)
    for group in app.registered_groups:
        assert group.typer_instance is not None
        yield from commands(group.typer_instance)


def body_lines(function: Callable[..., object]) -> int:
    (parsed,) = ast.parse(getsource(function)).body
    assert isinstance(parsed, ast.FunctionDef)
    assert ast.get_docstring(parsed), "what --help says"
    return parsed.end_lineno - parsed.body[1].lineno + 1


def test_no_command_has_a_long_body() -> None:
    """What a command does is done elsewhere; it asks for it and tells what came of it."""
    app = typer.Typer()
    for module in cli._GROUPS:
        importlib.import_module(module).register(app)
    app.add_typer(audit)
    found = {f"{each.__module__}::{each.__name__}": body_lines(each) for each in commands(app)}
    assert len(found) >= 36
    assert {name: n for name, n in found.items() if n > LONGEST_COMMAND} == {}


def test_every_command_has_its_line_in_the_readme_and_its_place_in_the_help() -> None:
    app = typer.Typer()
    for module in cli._GROUPS:
        importlib.import_module(module).register(app)
    named = {str(each.name) for each in (*app.registered_commands, *app.registered_groups)}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert {name for name in named if f"`radcal {name}" not in readme} <= {
        "init",
        "run",
        "demo",
        "check",
    }
    assert named - {name for names in cli._PANELS.values() for name in names} == set()


def named_in(node: ast.AST) -> str:
    """Give the name that a piece of code uses, or reaches by a word (``getattr``, a column)."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "arg", "")


def test_nothing_stands_in_the_house_that_only_tests_call() -> None:
    nodes = [node for path in MODULES for node in ast.walk(tree_of(path))]
    defined = {
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not any(isinstance(each, ast.Call) for each in node.decorator_list)
    }
    data = (path for package in PACKAGES for path in (ROOT / package).rglob("*.toml"))
    told = re.findall(r"\w+", " ".join(path.read_text(encoding="utf-8") for path in data))
    unused = defined - {named_in(node) for node in nodes} - set(told)
    assert {name for name in unused if not name.startswith("__")} == OFFERED


def code_lines(text: str) -> set[int]:
    """Give the numbers of lines that are neither blank, nor remarks, nor docstrings."""
    kept: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT_TOKENS:
            kept.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            kept -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return kept


def test_the_house_does_not_grow_back() -> None:
    counted = sum(len(code_lines(path.read_text(encoding="utf-8"))) for path in MODULES)
    assert counted <= MOST_CODE


def test_deidentification_keeps_to_its_size() -> None:
    own = [path for path in MODULES if "deidentify" in path.relative_to(ROOT).parts]
    counted = sum(len(code_lines(path.read_text(encoding="utf-8"))) for path in own)
    assert len(own) <= MOST_DEIDENTIFICATION[0]
    assert counted <= MOST_DEIDENTIFICATION[1]


def test_remarks_and_docstrings_are_no_code() -> None:
    assert code_lines('"""Why."""\n\n# How.\ndef f() -> int:\n    """What."""\n    return 1\n') == {
        4,
        6,
    }


def test_modules_are_neither_too_many_nor_too_long() -> None:
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert len(MODULES) <= MOST_MODULES
    assert {str(path): n for path, n in lines.items() if n > MOST_LINES} == {}
