"""Coded exams in blocks of patients: what pairing needs of them, a bounded number at a time.

A patient's exams may lie in any shard, so a block is named by a hash of the patient's code and is
gathered from all shards, without the texts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.site.site import Site
from pipeline.tables.pairing import in_time

__all__ = ["count", "exams"]

_COLUMNS: Final = [
    "study_code", "patient_code", "reader_code", "exam_key", "modality", "performed_at",
    "signed_at", "performed_month", "status", "is_chest", "is_adult", "age_band",
    "patient_class", "drafted",
]  # fmt: skip


def count(site: Site, clean_keys: list[str]) -> int:
    """Say how many blocks the exams of these shards are dealt with in."""
    facts = (site.workspace.facts("analysis", "clean_exams", key) for key in clean_keys)
    total = sum(int(shard["cleaned"]) for shard in facts)
    return max(1, -(-total // site.config.execution.block_exams))


def exams(config: str, clean_keys: list[str], number: int, of: int) -> pd.DataFrame:
    """Read one block of the coded exams; later versions of one key (exported twice) count once.

    Returns
    -------
    pd.DataFrame
        What `tables.pairing.pair` needs, and ``shard``.
    """
    site = Site.open(config)
    moved = _moved(config, tuple(sorted(clean_keys))) if of > 1 else {}
    parts = []
    for key in sorted(clean_keys):
        shard = site.workspace.read("analysis", "clean_exams", [key], columns=_COLUMNS)
        if of > 1:
            home = shard["patient_code"].where(
                ~shard["study_code"].isin(list(moved)), shard["study_code"].map(moved.get)
            )
            shard = shard[_hashes(home) % np.uint64(of) == number]
        parts.append(shard.assign(shard=key))
    return pd.concat(parts, ignore_index=True).drop_duplicates("exam_key")


@lru_cache(maxsize=1)
def _moved(config: str, clean_keys: tuple[str, ...]) -> dict[str, str]:
    """Give the patient of a study's first version, where its versions name several patients.

    Two numbers of one person merged between a preliminary read and its signing do that. All
    versions of a study belong into one block.
    """
    site = Site.open(config)
    names = ["study_code", "patient_code"]
    seen = [
        np.stack([_hashes(shard[name]) for name in names], axis=1)
        for key in clean_keys
        for shard in [site.workspace.read("analysis", "clean_exams", [key], columns=names)]
    ]
    pairs = np.unique(np.concatenate(seen), axis=0)
    studies, patients = np.unique(pairs[:, 0], return_counts=True)
    several = studies[patients > 1]
    if not several.size:
        return {}
    columns = [*names, "signed_at", "status", "exam_key"]
    rows = [
        shard[np.isin(_hashes(shard["study_code"]), several)]
        for key in clean_keys
        for shard in [site.workspace.read("analysis", "clean_exams", [key], columns=columns)]
    ]
    first = in_time(pd.concat(rows, ignore_index=True)).drop_duplicates("study_code")
    return dict(zip(first["study_code"], first["patient_code"], strict=True))


def _hashes(codes: pd.Series) -> NDArray[np.uint64]:
    return pd.util.hash_array(codes.to_numpy(dtype=object), categorize=False)
