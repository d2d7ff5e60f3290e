"""Observations of ``radcal calibrate``: a checked table → one tally per group.

A group is named as the hospital's job names it, so that both draw the same chance: the reader (or
``department``), and behind it the finding if groups are single findings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import pandas as pd

from calibration.analysis import advice_shares
from calibration.arrays import FloatArray, IntArray
from calibration.survey import PhraseTable
from calibration.tally import GroupedTally, tally_groups
from pipeline.errors import InputError
from pipeline.formats.tables import numbers, refuse, require_columns

_FINDING: Final = "pathology"
"""Column of the finding, over whose values one reader's chance of false advice is shared out."""
_EVERYONE: Final = "department"


@dataclass(frozen=True, slots=True)
class Columns:
    """Which columns of the observations mean what, beside phrase and label."""

    by: tuple[str, ...]
    weight: str
    patient: str
    most_groups: int


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Observations after counting: one tally per group, and what no phrase table knows.

    ``patients`` is one tally per (group, patient) with the group of each, if patients are known;
    ``sizes`` are the observations of each finding of a reader (or whatever else groups are made
    by), none without a column of findings.
    """

    by: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    tallies: GroupedTally
    sizes: Mapping[tuple[str, ...], tuple[float, ...]]
    patients: tuple[GroupedTally, IntArray] | None
    unmapped: dict[str, int]

    def name_of(self, index: int) -> str:
        """Name a group as the hospital's job does."""
        key = self.groups[index]
        found = [value for name, value in zip(self.by, key, strict=True) if name == _FINDING]
        return "/".join([*(_family(self.by, key) or (_EVERYONE,)), *found])

    def share_of(self, index: int, *, minimum: float) -> float:
        """Give a group's share of its reader's chance of false advice."""
        sizes = self.sizes.get(_family(self.by, self.groups[index]), ())
        together, each = advice_shares(sum(size >= minimum for size in sizes))
        if _FINDING not in self.by:
            return together
        return each or 1.0

    def patients_of(self, index: int) -> GroupedTally | None:
        """Tallies of one group's patients; pairs are sorted, so a group's are side by side."""
        if self.patients is None:
            return None
        pairs, owner = self.patients
        first, last = np.searchsorted(owner, [index, index + 1])
        return pairs.slice_groups(int(first), int(last))


def count(frame: pd.DataFrame, table: PhraseTable, columns: Columns, source: str) -> Counted:
    """Check the table and count it once, per group and, if asked, per patient in a group."""
    require_columns(frame, _needed(columns), source=source)
    if frame.empty:
        raise InputError(f"{source}: no observations; the table has a header only.")
    code, unmapped = table.codes(frame["phrase"])
    known = code >= 0
    if not known.any():
        raise InputError(
            f"{source}: none of {len(frame)} phrases is in {table.name}; "
            f"it has {', '.join(table.phrases[:5])}, …"
        )
    told = _numbers(frame["label"], "label", source)
    wrong = known & ((told < 0.0) | (told > 1.0))
    refuse(wrong, f"{source}: label", "values are outside [0, 1]")
    labels, weights = told[known], None
    if columns.weight:
        told = _numbers(frame[columns.weight], columns.weight, source)
        wrong = known & ((told < 0.0) | np.isinf(told))
        refuse(wrong, f"{source}: {columns.weight}", "values are negative or not finite")
        weights = told[known]
    group, names = _grouped(frame.loc[known], columns.by)
    if len(names) > columns.most_groups:
        raise InputError(
            f"{source}: --by {','.join(columns.by)} makes {len(names)} groups, more than "
            f"--most-groups {columns.most_groups}; group by fewer columns or raise the limit."
        )
    sizes = _sizes(frame.loc[known], columns.by, weights)
    tallied = partial(tally_groups, n_phrases=len(table), weight=weights)
    tallies = tallied(group, code[known], labels, n_groups=len(names))
    patients = None
    if columns.patient:
        pair, pairs = _grouped(frame.loc[known], (*columns.by, columns.patient))
        owner = np.zeros(len(pairs), dtype=np.int64)
        owner[pair] = group
        each = tallied(pair, code[known], labels, n_groups=len(pairs))
        patients = (each, owner)
    return Counted(columns.by, names, tallies, sizes, patients, unmapped)


def _needed(columns: Columns) -> dict[str, str]:
    named = {"phrase": "the phrase used", "label": "the outcome, 0 to 1"}
    named |= dict.fromkeys(columns.by, "named by --by")
    named |= {columns.weight: "named by --weight"} if columns.weight else {}
    return named | ({columns.patient: "named by --patient"} if columns.patient else {})


def _grouped(
    frame: pd.DataFrame, by: tuple[str, ...]
) -> tuple[IntArray, tuple[tuple[str, ...], ...]]:
    """Group of every row and the groups' names, sorted; one nameless group without columns."""
    if not by:
        return np.zeros(len(frame), dtype=np.int64), ((),)
    keys = frame[list(by)].astype(str)
    index = keys.groupby(list(by), sort=True).ngroup().to_numpy(dtype=np.int64)
    names = sorted(keys.drop_duplicates().itertuples(index=False, name=None))
    return np.asarray(index, dtype=np.int64), tuple(names)


def _family(by: tuple[str, ...], key: tuple[str, ...]) -> tuple[str, ...]:
    """Give a group's key without its finding: the reader, mostly."""
    return tuple(value for name, value in zip(by, key, strict=True) if name != _FINDING)


def _sizes(
    frame: pd.DataFrame, by: tuple[str, ...], weights: FloatArray | None
) -> dict[tuple[str, ...], tuple[float, ...]]:
    """Add up the observations of each finding, by what groups are made by beside it."""
    if _FINDING not in frame.columns:
        return {}
    family = [name for name in by if name != _FINDING]
    keys = frame[[*family, _FINDING]].astype(str)
    weight = pd.Series(1.0 if weights is None else weights, index=keys.index)
    sizes: dict[tuple[str, ...], tuple[float, ...]] = {}
    for key, size in weight.groupby([keys[name] for name in keys]).sum().items():
        own = tuple(key[:-1]) if isinstance(key, tuple) else ()
        sizes[own] = (*sizes.get(own, ()), float(size))
    return sizes


def _numbers(column: pd.Series, name: str, source: str) -> FloatArray:
    values = numbers(column)
    refuse(np.isnan(values), f"{source}: {name}", "values are missing or not numbers")
    return values
