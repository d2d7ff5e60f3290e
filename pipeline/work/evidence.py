"""Coded exams to tallies: pair, read the paired reports, observe; after this no text exists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import pandas as pd

from pipeline.config import digest_of
from pipeline.site import Site
from pipeline.stages.addenda import joined, parts
from pipeline.stages.observe import observe, tallied
from pipeline.stages.pair import FlowStep, PairedExams, pair
from pipeline.stages.read import read_reports
from pipeline.store import Workspace
from pipeline.work import returns

__all__ = [
    "READ_TABLES", "is_paired", "observe_pairs", "pair_exams", "pair_key", "read_key", "read_shard",
    "tally_key",
]  # fmt: skip

Facts = dict[str, Any]
_SAID: Final = ("exam_key", "pathology", "phrase", "outcome")
READ_TABLES: Final = ("findings", "report_findings", "readings")


def pair_exams(config: str, clean_keys: list[str]) -> Facts:
    """Pair all coded exams; later versions of one key (an exam exported twice) count once."""
    site = Site.open(config)
    store, settings = site.workspace, site.config.pairing
    key = pair_key(site, clean_keys)
    made = not is_paired(store, key)
    if made:
        exams = _coded_exams(site, clean_keys)
        paired = pair(
            exams,
            window_hours=settings.window_hours,
            ct_before_hours=settings.ct_before_hours,
            accept_preliminary=settings.preliminary_reads == "accept",
        )
        others = {
            hours: pair(
                exams,
                window_hours=hours,
                ct_before_hours=settings.ct_before_hours,
                accept_preliminary=settings.preliminary_reads == "accept",
            ).pairs
            for hours in sorted(settings.other_windows_hours)
            if hours != settings.window_hours
        }
        for hours, pairs in others.items():
            store.write("analysis", "window_pairs", f"{key}-{hours:g}", pairs)
        wanted = _wanted(exams, pd.concat([paired.pairs, *others.values()]))
        store.write("analysis", "fates", key, paired.fates)
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
    """Whether a pairing is there with all its tables."""
    return store.complete("analysis", key, "pairs", "wanted", "addenda", "fates") and all(
        store.has("analysis", "window_pairs", window)
        for _, window in store.facts("analysis", "pairs", key)["windows"]
    )


def read_shard(config: str, pairs: str, clean_key: str) -> Facts:
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


def observe_pairs(config: str, pairs: str, read_keys: list[str]) -> Facts:
    """Join pairs with what their reports say into observations, and add those up into tallies."""
    site = Site.open(config)
    store, settings = site.workspace, site.config.calibration
    key = tally_key(site, pairs, read_keys)
    made = not store.complete("analysis", key, "tallies", "observations")
    if made:
        answers = returns.answers(store)
        observed = observe(
            store.read("analysis", "pairs", [pairs]),
            store.read("analysis", "report_findings", read_keys, columns=_SAID),
            store.read("analysis", "readings", read_keys, columns=["exam_key", "outcome"]),
            phrases=site.phrases,
            label_rule=settings.label,
            ct_silence=settings.ct_silence,
            returned=answers,
        )
        tallies = tallied(observed.observations)
        facts = {
            "key": key,
            "observations": len(observed.observations),
            "cells": len(tallies),
            "left_out": dict(observed.left_out),
            "flow": _flow_rows(observed.flow),
            "returned": dict(Counter(answers["answer"])),
            "readers": sorted(observed.observations["reader_code"].unique()),
            "months": sorted(observed.observations["performed_month"].unique()),
        }
        store.write("analysis", "observations", key, observed.observations)
        store.write("analysis", "tallies", key, tallies, facts=facts)
    return {**store.facts("analysis", "tallies", key), "made": made}


def pair_key(site: Site, clean_keys: Sequence[str]) -> str:
    """Give the key of the pairing of these coded shards."""
    return digest_of(site.digest_of("pair"), sorted(clean_keys))


def read_key(site: Site, pairs: str, clean: str) -> tuple[str, list[str]]:
    """Give the key of a coded shard's reading, and the exams in it that are to be read."""
    asked = site.workspace.read("analysis", "wanted", [pairs], where=("shard", clean))
    exam_keys = sorted(asked["exam_key"])
    addenda = _addenda(site, pairs, exam_keys).to_numpy().tolist()
    return digest_of(site.digest_of("extract"), clean, exam_keys, addenda), exam_keys


def tally_key(site: Site, pairs: str, read_keys: Sequence[str]) -> str:
    """Give the key of the tallies of these pairs and readings, and of the sheets returned."""
    sheets = returns.sheets(site.workspace)
    return digest_of(site.digest_of("tally"), pairs, sorted(read_keys), sheets)


def _addenda(site: Site, pairs: str, exam_keys: Sequence[str]) -> pd.DataFrame:
    """Which versions the addenda among these exams are to be read with."""
    addenda = site.workspace.read("analysis", "addenda", [pairs])
    return addenda[addenda["exam_key"].isin(exam_keys)]


def _coded_exams(site: Site, clean_keys: list[str]) -> pd.DataFrame:
    columns = [
        "study_code", "patient_code", "reader_code", "exam_key", "modality", "performed_at",
        "signed_at", "performed_month", "status", "is_chest", "is_adult", "age_band",
        "patient_class", "drafted",
    ]  # fmt: skip
    shards = [
        site.workspace.read("analysis", "clean_exams", [key], columns=columns).assign(shard=key)
        for key in sorted(clean_keys)
    ]
    return pd.concat(shards, ignore_index=True).drop_duplicates("exam_key")


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
