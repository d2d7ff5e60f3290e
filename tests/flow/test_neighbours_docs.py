"""What docs/neighbours.md says: its examples run, its tables are the script's, its files exist."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from xml.parsers.expat import ParserCreate

from typer.main import get_command

from pipeline import cli

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/neighbours.md").read_text(encoding="utf-8")


def test_examples_give_what_they_show() -> None:
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert blocks
    runner = doctest.DocTestRunner()
    for block in blocks:
        case = doctest.DocTestParser().get_doctest(block, {}, "neighbours.md", None, 0)
        runner.run(case)
    assert runner.summarize(verbose=False).failed == 0


def test_tables_are_those_the_script_makes() -> None:
    made = (ROOT / "docs/figures/neighbours_tables.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\|.+?(?=\n\n|\n?\Z)", made, re.DOTALL | re.MULTILINE)
    assert len(tables) == 3
    for table in tables:
        assert table.strip() in TEXT


def test_every_figure_shown_is_there_and_sound() -> None:
    shown = re.findall(r"!\[[^]]*\]\(([^)]+)\)", TEXT)
    assert len(shown) == 1
    for name in shown:
        drawn = (ROOT / "docs" / name).read_bytes()
        ParserCreate().Parse(drawn, True)  # raises where an attribute stands twice


def test_options_the_page_names_exist() -> None:
    if not cli.app.registered_commands:
        cli._register()
    waiting, known = [get_command(cli.app)], set()
    while waiting:
        command = waiting.pop()
        waiting += getattr(command, "commands", {}).values()
        known |= {option for given in command.params for option in given.opts}
    assert set(re.findall(r"(--[a-z][a-z-]+)", TEXT)) <= known
