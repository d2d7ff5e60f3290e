"""``radcal simulate``: write a simulated hospital's export, and its truth beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.common import JsonOption, QuietOption, emit

__all__ = ["register"]


def simulate(
    out: Annotated[Path, typer.Option(help="Folder to write; made if absent.")],
    pairs: Annotated[int, typer.Option(help="Eligible X-ray/CT pairs.")] = 2662,
    readers: Annotated[int, typer.Option(help="Radiologists.")] = 12,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 0,
    exams_format: Annotated[str, typer.Option(help="csv, parquet or jsonl.")] = "csv",
    json_output: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a simulated hospital: OUT/exams.* to feed the job, OUT/truth/ to judge it."""
    from pipeline.simulate import simulate_chunks
    from pipeline.simulate.write import write_simulation

    chunks = simulate_chunks(pairs=pairs, readers=readers, seed=seed)
    counts = write_simulation(chunks, out, exams_format=exams_format)
    summary = {"out": str(out), **counts, "seed": seed}
    emit(summary, as_json=json_output, quiet=quiet)


def register(app: typer.Typer) -> None:
    """Add ``simulate``."""
    app.command()(simulate)
