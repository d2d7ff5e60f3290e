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
    from pipeline.site.site import Site
    from pipeline.stages.returns import record

    done = record(Site.open(str(config.resolve())), sheets)
    told: dict[str, object] = {
        "sheets_recorded": done.sheets_recorded,
        "sheets_known_already": done.sheets_known_already,
        **{f"answers_{name.replace(' ', '_')}": n for name, n in done.answers.items()},
        "next": "the next `radcal run` leaves out wrong pairs and cases that do not apply",
    }
    emit(told, as_json=as_json, quiet=quiet)
