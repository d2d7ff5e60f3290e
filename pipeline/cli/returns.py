"""`radcal returns`: read back the sheets that readers filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.common import JsonOption, QuietOption, emit

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("returns")(returns)


def returns(
    sheets: Annotated[list[Path], typer.Argument(help="Return sheets, filled in.")],
    config: Annotated[Path, typer.Option("--config", help="The configuration, radcal.toml.")],
    *,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Record readers' answers; wrong pairs and cases that do not apply are left out from now on."""
    from pipeline.work.returns import record

    emit(record(str(config.resolve()), sheets), as_json=as_json, quiet=quiet)
