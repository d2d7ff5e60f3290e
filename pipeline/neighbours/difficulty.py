"""``radcal difficulty`` and ``radcal lm layers``: hard items of a pool, and arrays that tell them.

A pool is given as arrays or as a table; the second command makes the arrays of local models.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibration.arrays import IntArray
from calibration.neighbours.difficulty import Difficulty as Difficulties
from calibration.neighbours.difficulty import difficulty as measure
from calibration.neighbours.difficulty import review_order, strata
from calibration.neighbours.export import difficulty_data
from extraction.neighbours.layers import Cases, Layerwise, cases_of_questions, layerwise
from extraction.neighbours.questions import load_questions
from pipeline.cli.common import blaming, write_result
from pipeline.errors import ConfigurationError, InputError
from pipeline.formats.decoding import require_file
from pipeline.formats.tables import read_table, refuse, write_table
from pipeline.neighbours.categories import Pool, read_pool
from pipeline.neighbours.options import Difficulty, Layers
from pipeline.store.files import replacing


def difficulty(given: Difficulty) -> None:
    """Measure a pool, and write what was asked for."""
    pool = read_pool_file(given.predictions, votes=given.votes)
    with blaming(given.predictions.name):
        found = measure(
            probs=pool.probs,
            votes=pool.votes,
            reference=pool.reference,
            layers=pool.layers,
            checkpoints=pool.checkpoints,
            alphas=_numbers(given.alpha, "--alpha"),
        )
    write_result(given.out, difficulty_data(found))
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


def _numbers(text: str, option: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise ConfigurationError(f"{option} {text}: give numbers, comma-separated.") from None


def read_pool_file(path: Path, *, votes: Path | None) -> Pool:
    """Read ``.npz`` arrays, or a table with model, item and class columns.

    Raises
    ------
    InputError
        If the file is missing, holds no ``probs``, or its rows are unusable.
    ConfigurationError
        If a votes table is given beside arrays, which carry their own.
    """
    if path.suffix.lower() == ".npz":
        if votes is not None:
            raise ConfigurationError(
                "--votes goes with a table of predictions; put the array votes into the .npz."
            )
        return _arrays(path)
    return read_pool(path, votes=votes)


def _arrays(path: Path) -> Pool:
    require_file(path)
    try:
        with np.load(path, allow_pickle=False) as archive:
            held = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path.name}: cannot be read as arrays ({type(error).__name__})."
        ) from None
    if "probs" not in held:
        raise InputError(
            f"{path.name}: no array probs (models, items, classes); it has {sorted(held)}."
        )
    probs = held["probs"]
    count = probs.shape[1] if probs.ndim > 1 else 0
    return Pool(
        items=_names(held, count, path.name),
        probs=probs,
        votes=held.get("votes"),
        reference=held.get("reference"),
        layers=_per_model(held, "layers"),
        checkpoints=_per_model(held, "checkpoints"),
    )


def _names(held: Mapping[str, NDArray[Any]], count: int, source: str) -> tuple[str, ...]:
    """Names of the items; their numbers where the file has none."""
    if "items" not in held:
        return tuple(str(number) for number in range(count))
    names = tuple(str(name) for name in held["items"].tolist())
    if len(names) != count:
        raise InputError(f"{source}: items has {len(names)} names but probs has {count} items.")
    return names


def _per_model(held: Mapping[str, NDArray[Any]], name: str) -> tuple[NDArray[Any], ...]:
    """One array for all models, or ``name_0``, ``name_1``, … where their lengths differ."""
    if name in held:
        return tuple(held[name])
    numbered = [f"{name}_{number}" for number in range(len(held)) if f"{name}_{number}" in held]
    return tuple(held[key] for key in numbered)


def queue(found: Difficulties, count: int) -> pd.DataFrame:
    """Give the indicators with the reference-free review order and strata of mean entropy."""
    order = review_order(found.free["M_dis"], found.free["M_avg_ent"])
    rank = np.empty(found.n, dtype=np.int64)
    rank[order] = np.arange(1, found.n + 1)
    stratum, _ = strata(found.free["M_avg_ent"], count=count)
    return found.to_frame().assign(review_rank=rank, stratum=stratum)


def layers(given: Layers) -> None:
    """Predict every case after every layer, and write the arrays."""
    if given.checkpoint and len(given.model) > 1:
        raise ConfigurationError("--checkpoint: checkpoints belong to one model; give one --model.")
    cases, left_out = _cases(given.items, given.options)
    found = [_run(given, cases, folder) for folder in given.model]
    arrays = _layer_arrays(given, cases, found)
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
    given.output.tell(summary, set_aside=left_out)


def _run(given: Layers, cases: Cases, folder: Path) -> Layerwise:
    return layerwise(
        cases,
        model=folder,
        python=given.python or Path(sys.executable),
        device=given.device,
        quiet=given.output.silent,
    )


def _layer_arrays(
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
        raise InputError(
            f"{path.name}: no question has {options - 1} wrong answers; lower --options."
        )
    return cases, short + len(problems)


def _texts(path: Path) -> Cases:
    frame = read_table(path, {"item": "the case", "text": "what is read"})
    columns = [frame[name].astype(str) for name in ("text", "text_pair") if name in frame.columns]
    pairs = tuple(zip(*columns, strict=True))
    if not pairs or frame["item"].duplicated().any():
        raise InputError(f"{path.name}: items must be there, and each only once.")
    truth = frame["reference"].astype(str).str.strip() if "reference" in frame.columns else ()
    return Cases("classify", tuple(frame["item"].astype(str)), pairs, tuple(truth))


def _ordered(found: Layerwise, classes: tuple[str, ...]) -> Layerwise:
    """Put a model's classes in the order of the first model's."""
    if sorted(found.classes) != sorted(classes):
        raise InputError(
            f"models differ in their classes: {', '.join(found.classes)}; {', '.join(classes)}."
        )
    own = [found.classes.index(name) for name in classes]
    place = np.argsort(own)
    return Layerwise(classes, found.probs[:, own], place[found.layers])


def _reference(cases: Cases, classes: tuple[str, ...], source: str) -> IntArray:
    """Class index of every case, from its name or its number."""
    known = {str(k): k for k in range(len(classes))} | {name: k for k, name in enumerate(classes)}
    fault = f"rows name a reference that is no class of the model ({', '.join(classes)})"
    refuse([name not in known for name in cases.references], source, fault)
    return np.array([known[name] for name in cases.references], dtype=np.int64)
