"""``radcal difficulty``: hard items of a pool, which is given as arrays or as a table."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibration.neighbours.difficulty import Difficulty as Difficulties
from calibration.neighbours.difficulty import difficulty as measure
from calibration.neighbours.difficulty import review_order, strata
from calibration.neighbours.export import difficulty_data
from pipeline.cli.common import blaming, write_result
from pipeline.errors import ConfigurationError, InputError
from pipeline.formats.decoding import require_file
from pipeline.formats.tables import write_table
from pipeline.neighbours.categories import Pool, read_pool
from pipeline.neighbours.options import Difficulty


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
