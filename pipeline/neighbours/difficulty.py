"""``radcal difficulty``: which items are hard for a pool of models."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.options import Output
from pipeline.errors import ConfigurationError, InputError
from pipeline.neighbours.results import OutOption, write

if TYPE_CHECKING:
    from calibration.neighbours.difficulty import Difficulty as Difficulties
    from pipeline.neighbours.measures_pool import PoolArrays

__all__ = ["difficulty"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difficulty:
    """Options of ``radcal difficulty``."""

    predictions: Annotated[
        Path,
        typer.Argument(
            help="A pool: .npz with probs (models, items, classes), or a table with "
            "model, item, one column per class."
        ),
    ]
    out: OutOption
    votes: Annotated[
        Path | None, typer.Option("--votes", help="Votes of people on the same items (tables).")
    ] = None
    items_out: Annotated[
        Path | None,
        typer.Option("--items-out", help="Indicators, stratum and place in the review queue."),
    ] = None
    alpha: Annotated[str, typer.Option("--alpha", help="Tolerances of the conformal sets.")] = (
        "0.05,0.1,0.2"
    )
    count: Annotated[int, typer.Option("--strata", min=1, help="Strata of difficulty.")] = 3
    output: Output


def difficulty(given: Difficulty) -> None:
    """Say which items are hard for a pool of models, and when its own doubt misleads."""
    from calibration.neighbours.export import difficulty_data
    from pipeline.formats.tables import write_table
    from pipeline.neighbours.measures_pool import queue, read_pool_file

    pool = read_pool_file(given.predictions, votes=given.votes)
    found = _difficulty(given, pool)
    write(given.out, difficulty_data(found))
    if given.items_out is not None:
        frame = queue(found, given.count)
        frame.insert(0, "item", list(pool.items))
        write_table(frame, given.items_out)
    misleading = ", ".join(found.split.misleading) if found.split else "no reference to tell"
    summary: dict[str, object] = {
        "items": found.n,
        "models": found.models,
        "indicators": len(found.human) + len(found.free) + len(found.dependent),
        "misleading_indicators": misleading or "none",
        "result": str(given.out),
    }
    given.output.tell(summary)


def _difficulty(given: Difficulty, pool: PoolArrays) -> Difficulties:
    from calibration.errors import CalibrationError
    from calibration.neighbours.difficulty import difficulty as measure

    try:
        return measure(
            probs=pool.probs,
            votes=pool.votes,
            reference=pool.reference,
            layers=pool.layers,
            checkpoints=pool.checkpoints,
            alphas=_numbers(given.alpha, "--alpha"),
        )
    except CalibrationError as error:
        msg = f"{given.predictions.name}: {error}"
        raise InputError(msg) from None


def _numbers(text: str, option: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        msg = f"{option} {text}: give numbers, comma-separated."
        raise ConfigurationError(msg) from None
