"""What the pages of docs/ say: commands, settings, files, tests and figures are the program's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from pipeline import cli
from pipeline.config import Configuration
from pipeline.deidentify import judge
from pipeline.deidentify.audit import GoldReport, audit
from tests.fixtures.deid import blind

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "deploy" / "README.md"]
CALL = re.compile(r"(?:`|^ {4}|bin/|&& )radcal ((?:[a-z]+ ?)+)([^`\n#]*)", re.MULTILINE)
PLACE = re.compile(
    r"[`( ]((?:calibration|extraction|reports|pipeline|tests|benchmarks)/[\w/.-]*\w)"
)
SETTING = re.compile(r"\[([a-z]+)\]`?\s+`?([a-z_]+)`")
NOT_TESTS = {"to_html"}
DASH = "\N{EN DASH}"
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@pytest.fixture(scope="module")
def top() -> Any:
    if not cli.app.registered_commands:
        cli._register()
    return get_command(cli.app)


@each_page
def test_every_command_and_option_of_a_page_exists(page: Path, top: Any) -> None:
    for words, rest in CALL.findall(page.read_text(encoding="utf-8")):
        command = top
        for word in words.split():
            if hasattr(command, "commands"):
                command = command.commands[word]
        known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
        assert {*re.findall(r"(?<!\S)(--[a-z-]+)", rest)} <= known | {"--help"}, (words, rest)


@each_page
def test_every_file_and_setting_of_a_page_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [place for place in PLACE.findall(text) if not (ROOT / place).exists()] == []
    sections = Configuration.model_fields
    for section, name in SETTING.findall(text):
        assert name in sections[section].annotation.model_fields, (section, name)  # type: ignore[union-attr]


def test_every_promise_of_the_pages_names_a_test_that_is_there() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    there = re.findall(r"def (test_\w+)", tests)
    rows = [
        line.split("|")
        for line in (ROOT / "docs" / "pages.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and "`" in line
    ]
    named = {n for row in rows for n in re.findall(r"`([a-z]\w*_\w+)`", row[-2])} - NOT_TESTS
    assert len(named) > 50
    assert {name for name in named if not any(name in each for each in there)} == set()


def test_the_chances_of_the_security_page_are_the_judges() -> None:
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    _, _, table = text.partition("| what | chance |\n|---|---|\n")
    said = [re.findall(r"(?<![\d/])\.\d+", row) for row in table.partition("\n\n")[0].splitlines()]
    caution, near = judge.CAUTION, judge._NEAR
    chances = [
        [1 / (1 + caution)], [1 / (1 + near * caution)], [judge._GUARDED],
    ]  # fmt: skip
    assert [[float(c) for c in row] for row in said] == [[round(c, 3) for c in r] for r in chances]


@pytest.mark.parametrize(
    "row",
    [0, *(pytest.param(at, marks=pytest.mark.slow) for at in (1, 2, 3))],
    ids=["exports", "with letters", "with archives", "hard"],
)
def test_what_the_security_page_says_is_found_is_what_the_audit_counts(row: int) -> None:
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    table = text.partition("| sets | reports |")[2].partition("\n\n")[0]
    cells = [c.strip(" *") for c in table.splitlines()[2 + row].replace("**", "").split("|")[1:-1]]
    sets = re.findall(r"\b[A-Z]{2}\b", cells[0])
    reports = [each for name in dict.fromkeys(sets) for each in blind.read(name.lower())]  # type: ignore[attr-defined]
    found = audit([GoldReport.model_validate(each) for each in reports])
    every, names, leaks = found.recall["ALL"], found.recall["NAME"], found.leaking
    needless = found.superfluous.count / found.reports
    assert cells[1:] == [
        str(found.reports),
        f"{every.n:,}",
        f"{shown(every.value)} ({span(every.interval)}), {every.n - every.count} missed",
        f"{shown(names.value)} ({span(names.interval)})",
        f"{100 * leaks.value:.1f} % ({DASH.join(f'{100 * x:.1f}' for x in leaks.interval)})",
        shown(needless, 2),
    ]


def shown(value: float, digits: int = 3) -> str:
    return f"{value:.{digits}f}".removeprefix("0")


def span(interval: tuple[float, float]) -> str:
    return DASH.join(map(shown, interval))
