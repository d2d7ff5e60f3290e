"""Coded exams to tallies: pair, read the paired reports, observe; after this no text exists.

Pairing and tallying go by blocks of patients (`work.blocks`), reading by shards of exams.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.config import digest_of
from pipeline.site.site import Site
from pipeline.store.workspace import Workspace
from pipeline.tables import sums
from pipeline.tables.addenda import joined, parts
from pipeline.tables.observations import tallied
from pipeline.tables.pairing import FlowStep, PairedExams, pair
from pipeline.tables.readings import read_reports
from pipeline.work import blocks, returns

__all__ = [
    "READ_TABLES", "TALLY_TABLES", "block_keys", "is_paired", "observe_block", "pair_block",
    "read_key", "read_shard", "shards_of", "tally_key",
]  # fmt: skip

Facts = dict[str, Any]
_SAID: Final = ("exam_key", "pathology", "phrase", "outcome")
READ_TABLES: Final = ("findings", "report_findings", "answers", "readings")
TALLY_TABLES: Final = ("tallies", "observations", "alternatives", "mix", "words")


def block_keys(site: Site, clean_keys: Sequence[str]) -> list[str]:
    """Give the key of each block in which these coded shards are paired."""
    keys = sorted(clean_keys)
    of = blocks.count(site, keys)
    return [digest_of(site.digest_of("pair"), keys, number, of) for number in range(of)]


def pair_block(config: str, key: str, clean_keys: list[str]) -> Facts:
    """Pair one block of the coded exams, under the configured window and under others."""
    site = Site.open(config)
    store, settings = site.workspace, site.config.pairing
    made = not is_paired(store, key)
    if made:
        keys = block_keys(site, clean_keys)
        exams = blocks.exams(config, clean_keys, keys.index(key), len(keys))
        paired = _paired(site, exams, settings.window_hours)
        others = {
            hours: _paired(site, exams, hours).pairs
            for hours in sorted(settings.other_windows_hours)
            if hours != settings.window_hours
        }
        for hours, pairs in others.items():
            store.write("analysis", "window_pairs", f"{key}-{hours:g}", pairs)
        wanted = _wanted(exams, pd.concat([paired.pairs, *others.values()]))
        store.write("analysis", "fates", key, paired.fates)
        store.write("analysis", "coverage", key, sums.coverage(paired.fates))
        store.write("analysis", "wanted", key, wanted)
        store.write("analysis", "addenda", key, parts(exams, wanted["exam_key"].tolist()))
        facts = {
            **_pair_facts(key, paired),
            "windows": [[hours, f"{key}-{hours:g}"] for hours in others],
            "shards": sorted(wanted["shard"].unique()),
        }
        store.write("analysis", "pairs", key, paired.pairs, facts=facts)
    return {**store.facts("analysis", "pairs", key), "made": made}


def is_paired(store: Workspace, key: str) -> bool:
    """Whether a block is paired and all its tables are there."""
    tables = ("pairs", "wanted", "addenda", "fates", "coverage")
    return store.complete("analysis", key, *tables) and all(
        store.has("analysis", "window_pairs", window)
        for _, window in store.facts("analysis", "pairs", key)["windows"]
    )


def shards_of(paired: Sequence[Facts]) -> list[str]:
    """Name the coded shards in which the reports of these paired blocks lie."""
    return sorted({shard for block in paired for shard in block["shards"]})


def read_shard(config: str, pairs: list[str], clean_key: str) -> Facts:
    """Read the paired reports of one coded shard; its ``readings`` are written last."""
    site = Site.open(config)
    store = site.workspace
    key, exam_keys = read_key(site, pairs, clean_key)
    made = not store.complete("analysis", key, *READ_TABLES)
    if made:
        exams = store.read(
            "analysis", "clean_exams", [clean_key], columns=["exam_key", "modality", "text"]
        )
        wanted = exams[exams["exam_key"].isin(exam_keys)].drop_duplicates("exam_key")
        addenda = _addenda(site, pairs, exam_keys)
        whole = wanted["exam_key"].map(_with_what_came_before(store, addenda)).astype("object")
        wanted = wanted.assign(text=whole.fillna(wanted["text"]))
        tables = read_reports(wanted, engine=site.engine, vocabulary=site.vocabulary)
        failed = tables.readings.loc[tables.readings["outcome"] == "failed", "reason"]
        unmapped = tables.findings.loc[tables.findings["outcome"] == "unmapped", "cue"]
        facts = {
            "key": key,
            "reports": len(wanted),
            "failed": dict(Counter(failed)),
            "statements": len(tables.findings),
            "unmapped": dict(Counter(unmapped.str.lower())),
            "disagreement": asdict(tables.disagreement),
        }
        for name in READ_TABLES:
            mark = facts if name == "readings" else None
            store.write("analysis", name, key, getattr(tables, name), facts=mark)
    return {**store.facts("analysis", "readings", key), "made": made}


def _with_what_came_before(store: Workspace, addenda: pd.DataFrame) -> dict[str, str]:
    """Give each addendum's text as it stood with the versions before it."""
    texts: dict[str, str] = {}
    for shard, some in addenda.groupby("shard"):
        exams = store.read("analysis", "clean_exams", [str(shard)], columns=["exam_key", "text"])
        held = exams[exams["exam_key"].isin(some["part_key"])]
        texts |= dict(zip(held["exam_key"], held["text"], strict=True))
    each = addenda.groupby("exam_key", sort=False)["part_key"]
    return {str(key): joined([texts[part] for part in own]) for key, own in each}


def observe_block(config: str, pairs: str, read_keys: list[str]) -> Facts:
    """Set one block's forecasts against their outcomes, and add up (`tables.sums`)."""
    site = Site.open(config)
    store, settings = site.workspace, site.config.calibration
    key = tally_key(site, pairs, read_keys)
    made = not store.complete("analysis", key, *TALLY_TABLES)
    if made:
        block = _block(store, pairs, read_keys)
        phrases = site.phrases
        observed = block.observed(
            phrases=phrases, label=settings.label, silence=settings.ct_silence
        )
        other = sums.alternatives(
            block, phrases=phrases, label=settings.label, silence=settings.ct_silence
        )
        tallies = tallied(observed.observations)
        facts = {
            "key": key,
            "observations": len(observed.observations),
            "cells": len(tallies),
            "left_out": dict(observed.left_out),
            "flow": _flow_rows(observed.flow),
            "returned": dict(Counter(block.returned["answer"])),
            "months": sorted(observed.observations["performed_month"].unique()),
        }
        store.write("analysis", "observations", key, observed.observations)
        store.write("analysis", "alternatives", key, other)
        store.write("analysis", "mix", key, sums.mix(observed.observations))
        store.write("analysis", "words", key, sums.words(block.pairs, block.report_findings))
        store.write("analysis", "tallies", key, tallies, facts=facts)
    return {**store.facts("analysis", "tallies", key), "made": made}


def _block(store: Workspace, pairs: str, read_keys: list[str]) -> sums.Block:
    """Read a block's pairs, and what all readings say of its exams, by numbers for their keys."""
    wanted = store.read("analysis", "wanted", [pairs], columns=["exam_key"])["exam_key"]
    exams = pd.Index(wanted.unique(), dtype="object")

    def numbers(keys: pd.Series) -> NDArray[np.int32]:
        return np.asarray(exams.get_indexer(keys.to_numpy("object")), dtype=np.int32)

    def numbered(rows: pd.DataFrame, *columns: str) -> pd.DataFrame:
        return rows.assign(**{name: numbers(rows[name]) for name in columns})

    def paired(name: str, key: str) -> pd.DataFrame:
        return numbered(store.read("analysis", name, [key]), "xr_exam_key", "ct_exam_key")

    def said(name: str, columns: Sequence[str]) -> pd.DataFrame:
        each = (store.read("analysis", name, [key], columns=columns) for key in read_keys)
        own = [rows[rows["exam_key"] >= 0] for rows in (numbered(r, "exam_key") for r in each)]
        kept = [rows for rows in own if len(rows)] or own[:1]
        return pd.concat(kept, ignore_index=True) if kept else pd.DataFrame(columns=list(columns))

    return sums.Block(
        pairs=paired("pairs", pairs),
        windows={
            float(hours): paired("window_pairs", key)
            for hours, key in store.facts("analysis", "pairs", pairs)["windows"]
        },
        report_findings=said("report_findings", _SAID),
        readings=said("readings", ("exam_key", "outcome", "recommends_ct")),
        returned=returns.answers(store),
    )


def read_key(site: Site, pairs: Sequence[str], clean: str) -> tuple[str, list[str]]:
    """Give the key of a coded shard's reading, and the exams in it that are to be read."""
    asked = site.workspace.read("analysis", "wanted", pairs, where=("shard", clean))
    exam_keys = sorted(asked["exam_key"])
    addenda = _addenda(site, pairs, exam_keys).to_numpy().tolist()
    return digest_of(site.digest_of("extract"), clean, exam_keys, addenda), exam_keys


def tally_key(site: Site, pairs: str, read_keys: Sequence[str]) -> str:
    """Give the key of the tallies of a block and these readings, and of the sheets returned."""
    sheets = returns.sheets(site.workspace)
    return digest_of(site.digest_of("tally"), pairs, sorted(read_keys), sheets)


def _addenda(site: Site, pairs: Sequence[str], exam_keys: Sequence[str]) -> pd.DataFrame:
    """Which versions the addenda among these exams are to be read with."""
    addenda = site.workspace.read("analysis", "addenda", pairs)
    return addenda[addenda["exam_key"].isin(exam_keys)]


def _paired(site: Site, exams: pd.DataFrame, window_hours: float) -> PairedExams:
    settings = site.config.pairing
    return pair(
        exams,
        window_hours=window_hours,
        ct_before_hours=settings.ct_before_hours,
        accept_preliminary=settings.preliminary_reads == "accept",
    )


def _wanted(exams: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Which reports the pairs need, and the shard that holds each."""
    needed = pd.concat([pairs["xr_exam_key"], pairs["ct_exam_key"]])
    wanted = exams.loc[exams["exam_key"].isin(needed), ["shard", "exam_key"]]
    return wanted.reset_index(drop=True)


def _pair_facts(key: str, paired: PairedExams) -> Facts:
    return {
        "key": key,
        "pairs": len(paired.pairs),
        "late_versions": paired.late_versions,
        "flow": _flow_rows(paired.flow),
    }


def _flow_rows(steps: Sequence[FlowStep]) -> list[list[object]]:
    return [[s.name, s.remaining, s.excluded, s.reason] for s in steps]
