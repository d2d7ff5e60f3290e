"""What the README says: its commands exist, and its targets and files do too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

from pipeline import cli

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def commands() -> dict[str, object]:
    if not cli.app.registered_commands:
        cli._register()
    top = get_command(cli.app)
    found: dict[str, object] = {}
    for name, command in top.commands.items():
        found[name] = command
        for inner in getattr(command, "commands", {}):
            found[f"{name} {inner}"] = command
    return found


def test_every_radcal_command_of_the_readme_exists(commands: dict[str, object]) -> None:
    mentioned = set(
        re.findall(r"(?:`|bin/)radcal ([a-z]+(?: [a-z]+)?)(?= |`|$)", README, re.MULTILINE)
    )
    groups = {name.split()[0] for name in commands if " " in name}
    for words in mentioned:
        first = words.split()[0]
        wanted = words if first in groups else first
        assert wanted in commands, f"the README names `radcal {words}`"


def test_every_make_target_of_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"make ([a-z-]+)", README)) <= targets


def test_every_document_the_readme_names_exists() -> None:
    for path in set(re.findall(r"`((?:docs|pipeline|reports)/[\w/.-]+)`", README)):
        assert (ROOT / path).exists(), path


def test_test_command_of_ci_is_the_readmes() -> None:
    steps = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line]
    commands = ["make test", "make test-kernels", "make test-vllm", "make docs"]
    assert steps[-4:] == commands
    assert "".join(f"    {command}\n" for command in commands) in README
