"""``radcal lm layers``: what local models would say after each layer → arrays for difficulty."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import typer
from numpy.typing import NDArray

from extraction.neighbours.layers import (
    Cases,
    Layerwise,
    cases_of_questions,
    cases_of_texts,
    layerwise,
)
from extraction.neighbours.questions import load_questions
from pipeline.errors import EXIT_QUARANTINED, ConfigurationError, InputError
from pipeline.formats.tables import read_table, require_columns
from pipeline.neighbours.options import Layers
from pipeline.store.files import replacing


def layers(given: Layers) -> None:
    """Predict every case after every layer, and write the arrays."""
    if given.checkpoint and len(given.model) > 1:
        msg = "--checkpoint: checkpoints belong to one model; give one --model."
        raise ConfigurationError(msg)
    cases, left_out = _cases(given.items, given.options)
    found = [_run(given, cases, folder) for folder in given.model]
    arrays = _arrays(given, cases, found)
    with replacing(given.out.with_suffix(".npz")) as partial, partial.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]
    summary: dict[str, object] = {
        "items": len(cases.items),
        "left_out": left_out,
        "models": len(given.model),
        "layers": ", ".join(str(len(one.layers)) for one in found),
        "classes": ", ".join(found[0].classes),
        "arrays": str(given.out.with_suffix(".npz")),
    }
    given.output.tell(summary)
    if left_out:
        raise typer.Exit(EXIT_QUARANTINED)


def _run(given: Layers, cases: Cases, folder: Path) -> Layerwise:
    return layerwise(
        cases,
        model=folder,
        python=given.python or Path(sys.executable),
        device=given.device,
        quiet=given.output.silent,
    )


def _arrays(
    given: Layers, cases: Cases, found: Sequence[Layerwise]
) -> dict[str, NDArray[np.generic]]:
    """Give what ``radcal difficulty`` reads, classes in the first model's order."""
    classes = found[0].classes
    arrays: dict[str, NDArray[np.generic]] = {
        "probs": np.stack([_ordered(one, classes).probs for one in found]),
        "items": np.array(cases.items),
        **{f"layers_{k}": _ordered(one, classes).layers for k, one in enumerate(found)},
    }
    if given.checkpoint:
        steps = [_ordered(_run(given, cases, folder), classes).probs for folder in given.checkpoint]
        arrays["checkpoints_0"] = np.stack(steps)
    if cases.references:
        arrays["reference"] = _reference(cases, classes, given.items.name)
    return arrays


def _cases(path: Path, options: int) -> tuple[Cases, int]:
    if path.suffix.lower() != ".jsonl":
        return _texts(path), 0
    questions, problems = load_questions(path)
    cases, short = cases_of_questions(questions, options=options)
    if not cases.items:
        msg = f"{path.name}: no question has {options - 1} wrong answers; lower --options."
        raise InputError(msg)
    return cases, short + len(problems)


def _texts(path: Path) -> Cases:
    frame = read_table(path)
    require_columns(frame, {"item": "the case", "text": "what is read"}, source=path.name)
    columns = [frame[name].astype(str) for name in ("text", "text_pair") if name in frame.columns]
    pairs = list(zip(*columns, strict=True))
    if not pairs or frame["item"].duplicated().any():
        msg = f"{path.name}: items must be there, and each only once."
        raise InputError(msg)
    truth = frame["reference"].astype(str).str.strip() if "reference" in frame.columns else ()
    return cases_of_texts(frame["item"].astype(str).tolist(), pairs, tuple(truth))


def _ordered(found: Layerwise, classes: tuple[str, ...]) -> Layerwise:
    """Put a model's classes in the order of the first model's."""
    if sorted(found.classes) != sorted(classes):
        msg = f"models differ in their classes: {', '.join(found.classes)}; {', '.join(classes)}."
        raise InputError(msg)
    own = [found.classes.index(name) for name in classes]
    place = np.argsort(own)
    return Layerwise(classes, found.probs[:, own], place[found.layers])


def _reference(cases: Cases, classes: tuple[str, ...], source: str) -> NDArray[np.int64]:
    """Class index of every case, from its name or its number."""
    known = {str(k): k for k in range(len(classes))} | {name: k for k, name in enumerate(classes)}
    wrong = [row for row, name in enumerate(cases.references, start=1) if name not in known]
    if wrong:
        msg = (
            f"{source}: reference: {len(wrong)} of {len(cases.items)} are no class of the model "
            f"({', '.join(classes)}); first at row {wrong[0]}."
        )
        raise InputError(msg)
    return np.array([known[name] for name in cases.references], dtype=np.int64)
