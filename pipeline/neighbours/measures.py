"""``radcal disagreement | scalar | difficulty``: the neighbouring measures on plain tables.

Results are one JSON file each, without NaN, described in docs/neighbours.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.common import JsonOption, QuietOption, emit
from pipeline.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from calibration.export import Plain

__all__ = ["register"]

OutOption = Annotated[Path, typer.Option("--out", help="Result, one JSON file.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0)]


def register(app: typer.Typer) -> None:
    """Add the three commands, and the group ``radcal lm``."""
    from pipeline.neighbours import lm

    app.command("disagreement")(disagreement)
    app.command("scalar")(scalar)
    app.command("difficulty")(difficulty)
    lm.register(app)


def disagreement(
    votes: Annotated[
        Path,
        typer.Argument(
            help="Votes: item and one count column per class; or item, reader, "
            "class with one row per vote."
        ),
    ],
    predictions: Annotated[
        Path, typer.Option("--predictions", help="item and one probability column per class.")
    ],
    out: OutOption,
    items_out: Annotated[
        Path | None, typer.Option("--items-out", help="Measures of every item, one table.")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option("--figures", help="The paper's panels, one PDF.")
    ] = None,
    bins: Annotated[int, typer.Option("--bins", min=1, help="Bins of the binned errors.")] = 10,
    bootstrap: Annotated[int, typer.Option("--bootstrap", min=0)] = 1000,
    control: Annotated[
        int, typer.Option("--control", min=0, help="Votes drawn per item as the yardstick.")
    ] = 0,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Hold predicted class probabilities against the votes of several readers."""
    import numpy as np

    from calibration.errors import CalibrationError
    from calibration.neighbours.disagreement import disagreement as measure
    from calibration.neighbours.export import disagreement_data
    from pipeline.formats.tables import write_table
    from pipeline.neighbours.categories import aligned, read_predictions, read_votes

    predicted = read_predictions(predictions)
    voted = aligned(read_votes(votes, classes=predicted.classes), predicted)
    try:
        found = measure(
            probs=predicted.cells,
            votes=voted.cells,
            bins=bins,
            bootstrap=bootstrap,
            control_votes=control,
            rng=np.random.default_rng(seed),
        )
    except CalibrationError as error:
        msg = f"{votes.name}: {error}"
        raise InputError(msg) from None
    settings: dict[str, Plain] = {
        "bins": bins, "bootstrap": bootstrap, "control": control, "seed": seed,
    }  # fmt: skip
    classes: list[Plain] = list(predicted.classes)
    _write(out, {"classes": classes, "settings": settings, **disagreement_data(found)})
    if items_out is not None:
        frame = found.to_frame()
        frame.insert(0, "item", list(predicted.items))
        write_table(frame, items_out)
    if figures is not None:
        from calibration.neighbours.disagreement.marginals import marginals
        from reports.neighbours.disagreement import disagreement_pdf

        views = marginals(probs=predicted.cells, votes=voted.cells)
        _write_bytes(figures, disagreement_pdf(found, views, classes=predicted.classes))
    names = ("distance", "entropy", "ranking", "accuracy", "confidence_ece", "classwise_ece")
    summary: dict[str, object] = {"items": found.n}
    summary |= {name: _short(float(found.estimates[name].value)) for name in names}
    summary |= {"noise_floor": _short(float(found.floor)), "result": str(out)}
    emit(summary, as_json=as_json, quiet=quiet)


def scalar(
    judgements: Annotated[
        Path,
        typer.Argument(help="slider, and any of label, phrase, item (for --predictions)."),
    ],
    out: OutOption,
    scale: Annotated[
        float, typer.Option("--scale", help="What the slider reads at certainty.")
    ] = 100.0,
    phrases: Annotated[
        str, typer.Option("--phrases", help="Built-in phrase table, or a file.")
    ] = "diagnostic-certainty-scale",
    predictions: Annotated[
        Path | None, typer.Option("--predictions", help="item and one probability column per class")
    ] = None,
    phrases_out: Annotated[
        Path | None,
        typer.Option("--phrases-out", help="What the phrases mean by the sliders: a phrase table."),
    ] = None,
    votes: Annotated[
        Path | None, typer.Option("--votes", help="Votes on the same items, for the bounds.")
    ] = None,
    values: Annotated[
        str, typer.Option("--values", help="Place of every class, as in yes=1,maybe=.4,no=0.")
    ] = "",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Calibrate a slider without bins, and hold class probabilities against one judged number."""
    from calibration.errors import CalibrationError
    from pipeline.formats.tables import write_table
    from pipeline.neighbours.measures_scalar import (
        Judgements,
        against_classes,
        personal_table,
        sliders,
    )

    if predictions is None and (votes is not None or values):
        msg = "--votes and --values say how to judge --predictions; give those too."
        raise ConfigurationError(msg)
    judged = Judgements.read(judgements, scale=scale)
    if phrases_out is not None and judged.phrase is None:
        msg = f"{judgements.name}: --phrases-out needs a column phrase."
        raise InputError(msg)
    content: dict[str, Plain] = {"n": len(judged.slider), "scale": scale}
    try:
        content |= sliders(judged, phrases=phrases)
        if predictions is not None:
            content["predictions"] = against_classes(
                judged, predictions=predictions, votes=votes, values=values
            )
    except CalibrationError as error:
        msg = f"{judgements.name}: {error}"
        raise InputError(msg) from None
    _write(out, content)
    if phrases_out is not None:
        write_table(personal_table(judged, phrases=phrases), phrases_out)
    done = [name for name in ("calibration", "phrases", "predictions") if content.get(name)]
    summary = {"judgements": len(judged.slider), "computed": ", ".join(done), "result": str(out)}
    emit(summary, as_json=as_json, quiet=quiet)


def difficulty(
    predictions: Annotated[
        Path,
        typer.Argument(
            help="A pool: .npz with probs (models, items, classes), or a table with "
            "model, item, one column per class."
        ),
    ],
    out: OutOption,
    votes: Annotated[
        Path | None, typer.Option("--votes", help="Votes of people on the same items (tables).")
    ] = None,
    items_out: Annotated[
        Path | None,
        typer.Option("--items-out", help="Indicators, stratum and place in the review queue."),
    ] = None,
    alpha: Annotated[
        str, typer.Option("--alpha", help="Tolerances of the conformal sets.")
    ] = "0.05,0.1,0.2",
    count: Annotated[int, typer.Option("--strata", min=1, help="Strata of difficulty.")] = 3,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say which items are hard for a pool of models, and when its own doubt misleads."""
    from calibration.errors import CalibrationError
    from calibration.neighbours.difficulty import difficulty as measure
    from calibration.neighbours.export import difficulty_data
    from pipeline.formats.tables import write_table
    from pipeline.neighbours.measures_pool import queue, read_pool_file

    pool = read_pool_file(predictions, votes=votes)
    try:
        found = measure(
            probs=pool.probs,
            votes=pool.votes,
            reference=pool.reference,
            layers=pool.layers,
            checkpoints=pool.checkpoints,
            alphas=_numbers(alpha, "--alpha"),
        )
    except CalibrationError as error:
        msg = f"{predictions.name}: {error}"
        raise InputError(msg) from None
    _write(out, difficulty_data(found))
    if items_out is not None:
        frame = queue(found, count)
        frame.insert(0, "item", list(pool.items))
        write_table(frame, items_out)
    misleading = ", ".join(found.split.misleading) if found.split else "no reference to tell"
    summary: dict[str, object] = {
        "items": found.n,
        "models": found.models,
        "indicators": len(found.human) + len(found.free) + len(found.dependent),
        "misleading_indicators": misleading or "none",
        "result": str(out),
    }
    emit(summary, as_json=as_json, quiet=quiet)


def _numbers(text: str, option: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        msg = f"{option} {text}: give numbers, comma-separated."
        raise ConfigurationError(msg) from None


def _short(value: float) -> float:
    return round(value, 4)


def _write(path: Path, content: Mapping[str, Plain]) -> None:
    _write_bytes(path, json.dumps(content, allow_nan=False).encode())


def _write_bytes(path: Path, content: bytes) -> None:
    from pipeline.store.files import replacing

    with replacing(path) as partial:
        partial.write_bytes(content)
