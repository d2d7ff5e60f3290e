"""``radcal deidentify`` and ``radcal audit deid``: take identifiers out, and measure how well."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.common import JsonOption, QuietOption, emit
from pipeline.errors import EXIT_QUARANTINED

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("deidentify")(deidentify)


def deidentify(
    reports: Annotated[Path, typer.Argument(help="Table with report_id and text.")],
    out: Annotated[Path, typer.Option("--out", help="Where the clean table goes.")],
    spans: Annotated[
        Path | None, typer.Option("--spans", help="Also write what was removed where (JSONL).")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Take identifiers out of report texts; words of certainty stay untouched."""
    from pipeline.deidentify.tables import clean_table
    from pipeline.formats.tables import read_table, write_table

    result = clean_table(read_table(reports), source=reports.name)
    write_table(result.reports, out)
    if spans is not None:
        write_table(result.spans, spans)
    emit(result.summary(), as_json=as_json, quiet=quiet)
    if result.quarantined:
        raise typer.Exit(EXIT_QUARANTINED)
