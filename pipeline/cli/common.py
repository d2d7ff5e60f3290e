"""What commands share: --json and --quiet, how a summary is printed, which phrases are meant."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from calibration.survey import PhraseTable

__all__ = ["JsonOption", "QuietOption", "audit", "emit", "phrase_table"]

audit = typer.Typer(help="Measure the instrument: extraction, de-identification, the audit log.")
"""The group ``radcal audit``; each command group adds its own command to it."""

JsonOption = Annotated[bool, typer.Option("--json", help="Print a machine-readable summary.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]


def emit(summary: Mapping[str, object], *, as_json: bool, quiet: bool) -> None:
    """Print a command's summary: one line per entry, or one JSON object."""
    if as_json:
        typer.echo(json.dumps(summary, default=str))
    elif not quiet:
        for name, value in summary.items():
            typer.echo(f"{name.replace('_', ' ')}: {_worded(value)}")


def _worded(value: object) -> object:
    """Give named counts and lists as words, not as Python writes them.

    >>> _worded({"no reader is named": 3, "too late": 0})
    'no reader is named 3, too late 0'
    """
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if not isinstance(value, Mapping):
        return value
    return ", ".join(f"{name} {_worded(each)}" for name, each in value.items()) or "none"


def phrase_table(name: str) -> PhraseTable:
    """Read a phrase table: a built-in one by name, or a file."""
    from calibration.survey import BUILTIN, PhraseTable, builtin
    from pipeline.formats.tables import read_table, require_columns

    if name in BUILTIN:
        return builtin(name)
    path = Path(name)
    frame = read_table(path)
    columns = {"phrase": "the canonical phrase", "kind": "beta or atom"}
    require_columns(frame, columns, source=path.name)
    return PhraseTable.from_frame(frame, name=path.stem)
