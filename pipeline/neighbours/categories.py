"""Tables of items by classes: votes, predictions, pools of predictions.

* Wide: ``item`` and one column per class (vote counts or probabilities).
* Long votes: ``item``, ``reader``, ``class``; one row per reader and item.
* Pool: ``model``, ``item``, one column per class, optionally ``reference`` (a class per item).

``item`` may be called ``exam``, ``exam_id``, ``case`` or ``uid``, and the ``class`` of a long table
``label`` or ``vote``. Rows are numbered from 1, the first below the header. Items are matched by
name, never by place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from calibration.arrays import FloatArray, IntArray
from calibration.errors import CalibrationError
from calibration.neighbours.categorical import checked_probabilities, checked_votes
from pipeline.errors import InputError
from pipeline.formats.tables import read_table, refuse, require_columns, texts

_ITEM: Final = {"item": "the exam or case"}
_ALSO: Final = {"item": ("exam", "exam_id", "case", "uid"), "class": ("label", "vote")}


@dataclass(frozen=True, slots=True, eq=False)
class ClassTable:
    """Values of items by classes.

    Attributes
    ----------
    source
        File name, for messages.
    items
        Name of every row, distinct.
    classes
        Name of every column of values.
    cells
        Shape (n, C).
    """

    source: str
    items: tuple[str, ...]
    classes: tuple[str, ...]
    cells: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Predictions of several models for the same items; what a file does not hold is None or empty.

    Attributes
    ----------
    items
        Names of the items; numbers from 0 for arrays without ``items``.
    probs
        Shape (m, n, C).
    reference
        Class index of every item, shape (n,).
    votes
        Shape (n, C).
    layers, checkpoints
        Per model (T, n), and per model (T, n, C).
    """

    items: tuple[str, ...]
    probs: FloatArray
    reference: IntArray | None
    votes: FloatArray | None = None
    layers: tuple[NDArray[Any], ...] = ()
    checkpoints: tuple[NDArray[Any], ...] = ()


def read_predictions(path: Path) -> ClassTable:
    """Read a wide table of probabilities, every row checked in the file's own order.

    Raises
    ------
    InputError
        If a column is missing, an item repeats, or a row is not a distribution.
    """
    return _wide(_read(path, _ITEM), path.name, checked_probabilities)


def read_votes(path: Path, *, classes: Sequence[str] = ()) -> ClassTable:
    """Read votes, wide or long; classes without a vote are taken from ``classes``.

    Raises
    ------
    InputError
        If a column is missing, an item repeats, a reader votes twice on an item, or a row holds
        no usable count.
    """
    frame = _read(path, _ITEM)
    if "reader" in frame.columns:
        frame = _renamed(frame, "class")
        needed = {"class": "the class a reader voted for (a long table: it has a reader)"}
        require_columns(frame, needed, source=path.name)
        frame = _counted(frame, tuple(classes), path.name)
    return _wide(frame, path.name, checked_votes)


def aligned(table: ClassTable, like: ClassTable) -> ClassTable:
    """Put items and classes in the order of another table, which must have the same ones.

    Raises
    ------
    InputError
        If classes differ, or an item of either table is not in the other; the first row is named.
    """
    if set(table.classes) != set(like.classes):
        only = sorted(set(table.classes) ^ set(like.classes))
        raise InputError(
            f"{table.source} and {like.source}: classes differ in {', '.join(only)}; both need "
            f"the same class columns. {like.source} has {', '.join(like.classes)}."
        )
    matched(table.source, table.items, like)
    rows = pd.Index(table.items).get_indexer(pd.Index(like.items))
    columns = [table.classes.index(name) for name in like.classes]
    return ClassTable(table.source, like.items, like.classes, table.cells[rows][:, columns])


def read_pool(path: Path, *, votes: Path | None = None) -> Pool:
    """Read predictions of several models, long by model and item, and votes on the same items.

    Raises
    ------
    InputError
        If a column is missing, a model lacks or repeats an item, a row is not a distribution, or
        the reference of an item is no class or not always the same.
    """
    frame = _read(path, {"model": "the model that predicts", **_ITEM})
    classes = _classes(frame, ("model", "item", "reference"), path.name)
    values = _checked(checked_probabilities, _numbers(frame, classes, path.name), path.name)
    model, models = pd.factorize(frame["model"].astype(str))
    item, items = pd.factorize(frame["item"])
    count = np.bincount(model * len(items) + item, minlength=len(models) * len(items))
    if (count != 1).any():
        first = int(np.flatnonzero(count != 1)[0])
        times, name = int(count[first]), models[first // len(items)]
        raise InputError(
            f"{path.name}: {int((count != 1).sum())} pairs of model and item are missing or "
            f"repeated; first is model {name!r} with its item number {first % len(items) + 1} "
            f"({times} rows). Give one row for each."
        )
    probs = np.empty((len(models), len(items), len(classes)))
    probs[model, item] = values
    reference = _reference(frame, item, len(items), classes, path.name)
    pool = Pool(tuple(items), probs, reference)
    if votes is None:
        return pool
    like = ClassTable(path.name, pool.items, classes, probs[0])
    return replace(pool, votes=aligned(read_votes(votes, classes=classes), like).cells)


def _read(path: Path, needed: Mapping[str, str]) -> pd.DataFrame:
    """Read a table of items, each named as every other table names it, without blanks around."""
    frame = _renamed(read_table(path), "item")
    require_columns(frame, needed, source=path.name)
    items = texts(frame["item"])
    refuse(items == "", path.name, "rows name no item")
    return frame.assign(item=items)


def _wide(frame: pd.DataFrame, source: str, check: Callable[..., FloatArray]) -> ClassTable:
    """Take a row's cells beside its item for the item's values, one for each class."""
    refuse(frame["item"].duplicated(), source, "rows repeat an item")
    classes = _classes(frame, ("item",), source)
    values = _checked(check, _numbers(frame, classes, source), source)
    return ClassTable(source, tuple(frame["item"]), classes, values)


def _renamed(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Call a column by its name where it goes by another one."""
    also = [other for other in _ALSO[name] if other in frame.columns]
    if name in frame.columns or len(also) != 1:
        return frame
    return frame.rename(columns={also[0]: name})


def _reference(
    frame: pd.DataFrame, item: NDArray[np.intp], items: int, classes: tuple[str, ...], source: str
) -> IntArray | None:
    if "reference" not in frame.columns:
        return None
    code = pd.Index(classes).get_indexer(pd.Index(frame["reference"].astype(str).str.strip()))
    refuse(code < 0, source, "rows name a reference that is no class column")
    truth = np.zeros(items, dtype=np.int64)
    truth[item] = code
    refuse(truth[item] != code, source, "rows give an item another reference than its other rows")
    return truth


def _counted(frame: pd.DataFrame, classes: tuple[str, ...], source: str) -> pd.DataFrame:
    """Long votes → one row per item, counts per class, in order of first appearance."""
    refuse(frame.duplicated(["item", "reader"]), source, "rows repeat a reader's vote on an item")
    named = frame["class"].astype(str).str.strip()
    known = classes or tuple(sorted(set(named)))
    refuse(~named.isin(known), source, f"rows name none of the classes {', '.join(known)}")
    counts = pd.crosstab(frame["item"], named).reindex(
        index=pd.unique(frame["item"]), columns=list(known), fill_value=0
    )
    return counts.reset_index(names="item")


def _classes(frame: pd.DataFrame, others: tuple[str, ...], source: str) -> tuple[str, ...]:
    classes = tuple(str(name) for name in frame.columns if name not in others)
    if len(classes) < 2:
        raise InputError(
            f"{source}: {len(classes)} class column(s); give one column per class, at least two, "
            f"beside {', '.join(others)}."
        )
    return classes


def _numbers(frame: pd.DataFrame, classes: tuple[str, ...], source: str) -> FloatArray:
    numbers = frame[list(classes)].apply(pd.to_numeric, errors="coerce")
    refuse(numbers.isna().any(axis=1), source, "rows hold a class value that is not a number")
    return np.asarray(numbers, dtype=np.float64)


def _checked(check: Callable[..., FloatArray], values: FloatArray, source: str) -> FloatArray:
    try:
        return check(values, name=source, first_row=1)
    except CalibrationError as error:
        raise InputError(str(error)) from None


def matched(source: str, items: Sequence[str], like: ClassTable) -> None:
    """Refuse items that a table does not name, and a table that names others."""
    fault = "rows name an item that {} does not have"
    refuse(~pd.Index(items).isin(like.items), source, fault.format(like.source))
    refuse(~pd.Index(like.items).isin(items), like.source, fault.format(source))
