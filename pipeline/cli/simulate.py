"""``radcal simulate``: write a simulated hospital's export, and its truth beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.options import Output, taking

__all__ = ["DepartmentOption", "register"]

DepartmentOption = Annotated[
    str, typer.Option(help="clustered, hard, straight, or a TOML file (docs/simulation.md).")
]


def register(app: typer.Typer) -> None:
    """Add ``simulate``."""
    app.command("simulate")(taking(simulate))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Options of ``radcal simulate``."""

    out: Annotated[Path, typer.Option(help="Folder to write; made if absent.")]
    pairs: Annotated[int, typer.Option(help="Eligible X-ray/CT pairs.")] = 2662
    readers: Annotated[int, typer.Option(help="Radiologists.")] = 12
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 0
    department: DepartmentOption = "clustered"
    exams_format: Annotated[str, typer.Option(help="csv, parquet or jsonl.")] = "csv"
    output: Output


def simulate(given: Given) -> None:
    """Write a simulated hospital: OUT/exams.* to feed the job, OUT/truth/ to judge it."""
    from pipeline.simulate import simulate_chunks
    from pipeline.simulate.write import write_simulation

    chunks = simulate_chunks(
        pairs=given.pairs, readers=given.readers, seed=given.seed, department=given.department
    )
    counts = write_simulation(chunks, given.out, exams_format=given.exams_format)
    given.output.tell({"out": str(given.out), **counts, "seed": given.seed})
