"""``radcal disagreement | scalar``: predictions and judgements held against several readers.

Results are one JSON file each, without NaN, described in docs/neighbours.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.common import (
    OutOption,
    Output,
    argument,
    blaming,
    option,
    taking,
    write_result,
    write_whole,
)
from pipeline.errors import ConfigurationError, InputError
from pipeline.neighbours.difficulty import difficulty

if TYPE_CHECKING:
    from calibration.neighbours.disagreement import Disagreement as Measured
    from calibration.plain import Plain
    from pipeline.neighbours.categories import ClassTable
    from pipeline.neighbours.measures_scalar import Judgements

SeedOption = Annotated[int, typer.Option("--seed", min=0)]


def register(app: typer.Typer) -> None:
    """Add the three commands, and the group ``radcal lm``."""
    from pipeline.neighbours import lm

    app.command("disagreement")(taking(disagreement))
    app.command("scalar")(taking(scalar))
    app.command("difficulty")(taking(difficulty))
    lm.register(app)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Options of ``radcal disagreement``."""

    votes: Path = argument(
        ...,
        "Votes: item and one count column per class; or item, reader, class with one row per vote.",
    )
    predictions: Path = option(..., "item and one probability column per class.")
    out: OutOption
    items_out: Path | None = option(None, "Measures of every item, one table.")
    figures: Path | None = option(None, "The paper's panels, one PDF.")
    bins: int = option(10, "Bins of the binned errors.", min=1)
    bootstrap: int = option(1000, min=0)
    control: int = option(0, "Votes drawn per item as the yardstick.", min=0)
    seed: SeedOption = 0
    output: Output


def disagreement(given: Disagreement) -> None:
    """Hold predicted class probabilities against the votes of several readers."""
    from pipeline.formats.tables import write_table
    from pipeline.neighbours.categories import aligned, read_predictions, read_votes

    predicted = read_predictions(given.predictions)
    voted = aligned(read_votes(given.votes, classes=predicted.classes), predicted)
    found = _disagreement(given, predicted, voted)
    write_result(given.out, _disagreement_result(given, predicted.classes, found))
    if given.items_out is not None:
        frame = found.to_frame()
        frame.insert(0, "item", list(predicted.items))
        write_table(frame, given.items_out)
    if given.figures is not None:
        from calibration.neighbours.views import marginals
        from reports.neighbours.disagreement import disagreement_pdf

        views = marginals(probs=predicted.cells, votes=voted.cells)
        write_whole(given.figures, disagreement_pdf(found, views, classes=predicted.classes))
    names = ("distance", "entropy", "ranking", "accuracy", "confidence_ece", "classwise_ece")
    summary: dict[str, object] = {"items": found.n}
    summary |= {name: _short(float(found.estimates[name].value)) for name in names}
    summary |= {"noise_floor": _short(float(found.floor)), "result": str(given.out)}
    given.output.tell(summary)


def _disagreement(given: Disagreement, predicted: ClassTable, voted: ClassTable) -> Measured:
    import numpy as np

    from calibration.neighbours.disagreement import disagreement as measure

    with blaming(given.votes.name):
        return measure(
            probs=predicted.cells,
            votes=voted.cells,
            bins=given.bins,
            bootstrap=given.bootstrap,
            control_votes=given.control,
            rng=np.random.default_rng(given.seed),
        )


def _disagreement_result(
    given: Disagreement, classes: Sequence[str], found: Measured
) -> dict[str, Plain]:
    from calibration.neighbours.export import disagreement_data

    settings: dict[str, Plain] = {
        "bins": given.bins,
        "bootstrap": given.bootstrap,
        "control": given.control,
        "seed": given.seed,
    }
    return {"classes": list(classes), "settings": settings, **disagreement_data(found)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """Options of ``radcal scalar``."""

    judgements: Path = argument(..., "slider, and any of label, phrase, item (for --predictions).")
    out: OutOption
    scale: float = option(100.0, "What the slider reads at certainty.")
    phrases: str = option("diagnostic-certainty-scale", "Built-in phrase table, or a file.")
    predictions: Path | None = option(None, "item and one probability column per class")
    phrases_out: Path | None = option(None, "What the phrases mean by the sliders: a phrase table.")
    votes: Path | None = option(None, "Votes on the same items, for the bounds.")
    values: str = option("", "Place of every class, as in yes=1,maybe=.4,no=0.")
    output: Output


def scalar(given: Scalar) -> None:
    """Calibrate a slider without bins, and hold class probabilities against one judged number."""
    from pipeline.formats.tables import write_table
    from pipeline.neighbours.measures_scalar import Judgements, personal_table

    if given.predictions is None and (given.votes is not None or given.values):
        msg = "--votes and --values say how to judge --predictions; give those too."
        raise ConfigurationError(msg)
    judged = Judgements.read(given.judgements, scale=given.scale)
    if given.phrases_out is not None and judged.phrase is None:
        msg = f"{given.judgements.name}: --phrases-out needs a column phrase."
        raise InputError(msg)
    content = _scalar(given, judged)
    write_result(given.out, content)
    if given.phrases_out is not None:
        write_table(personal_table(judged, phrases=given.phrases), given.phrases_out)
    done = [name for name in ("calibration", "phrases", "predictions") if content.get(name)]
    given.output.tell(
        {"judgements": len(judged.slider), "computed": ", ".join(done), "result": str(given.out)}
    )


def _scalar(given: Scalar, judged: Judgements) -> dict[str, Plain]:
    from pipeline.neighbours.measures_scalar import against_classes, sliders

    content: dict[str, Plain] = {"n": len(judged.slider), "scale": given.scale}
    with blaming(given.judgements.name):
        content |= sliders(judged, phrases=given.phrases)
        if given.predictions is not None:
            content["predictions"] = against_classes(
                judged, predictions=given.predictions, votes=given.votes, values=given.values
            )
    return content


def _short(value: float) -> float:
    return round(value, 4)
