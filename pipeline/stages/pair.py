"""Coded exams → pairs: the CT that answers each X-ray.

    ingest → register → de-identify → **pair** → extract → tally → gates → issue → pages → deliver

A patient's exams may lie in any shard, so one item is a block of patients, named by a hash of the
patient's code and gathered from all shards, without the texts: a bounded number of exams at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from pipeline.config.basis import digest_of
from pipeline.stages import Keyed, Named, options
from pipeline.tables.observations import coverage, written
from pipeline.tables.pairing import PairedExams, Sifted, pair
from pipeline.tables.versions import VERSION_COLUMNS, in_force, in_order, parts, redated

if TYPE_CHECKING:
    from pipeline.site.site import Site
    from pipeline.stages.clean import Coded

_COLUMNS: Final = [
    "study_code", "patient_code", "reader_code", "exam_key", "modality", "performed_at",
    "signed_at", "performed_month", "status", "is_chest", "is_adult", "age_band",
    "patient_class", "patient_sex", "site_code", "drafted", "cues", *VERSION_COLUMNS,
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class PatientBlock:
    """Block ``number`` of ``of`` blocks over which the patients of coded shards are dealt."""

    clean: tuple[str, ...]
    number: int
    of: int


@dataclass(frozen=True, slots=True)
class Paired:
    """Counts of one block, its part of the flow diagram, and where its reports lie.

    ``contradictory`` counts exams, however many of their versions contradict each other, and
    ``retimed`` those of which versions name several times of performance;
    ``shards`` names the coded shards that hold the reports of the pairs under every window.
    """

    key: str
    pairs: int
    late_versions: int
    retimed: int
    contradictory: int
    flow: tuple[Sifted, ...]
    shards: tuple[str, ...]


def blocks(site: Site, coded: Sequence[Coded]) -> list[PatientBlock]:
    """Deal the patients of these shards over blocks of about `block_exams`; no shard, no block."""
    if not coded:
        return []
    keys = tuple(sorted(shard.key for shard in coded))
    total = sum(shard.cleaned for shard in coded)
    of = max(1, -(-total // site.config.execution.block_exams))
    return [PatientBlock(keys, number, of) for number in range(of)]


class Pair(Keyed[PatientBlock, Paired]):
    """Pair one block of the coded exams, under the configured window and under others."""

    name = kind = "pair"
    counted = ("pairs",)
    tables = (
        "fates", "contradictory", "coverage", "written", "wanted", "addenda", "window_pairs",
        "pairs",
    )  # fmt: skip
    comes_to = Paired
    missing = "other exams than before"

    def settings(self, site: Site) -> Named:
        """Give which CT may answer which X-ray."""
        return options("pairing", site.config.pairing.model_dump(mode="json"))

    def key(self, site: Site, item: PatientBlock) -> str:
        """Hash the coded shards and the block's place among them."""
        return digest_of(self.digest(site), item.clean, item.number, item.of)

    def make(self, site: Site, item: PatientBlock, key: str) -> Paired:
        """Pair the block and say which reports its pairs need."""
        settings, gathered = site.config.pairing, exams(site, item)
        paired = _paired(site, gathered, settings.window_hours)
        others = [
            _paired(site, gathered, hours).pairs.assign(window_hours=hours)
            for hours in sorted({*settings.other_windows_hours} - {settings.window_hours})
        ] or [paired.pairs.iloc[:0].assign(window_hours=0.0)]
        wanted = _wanted(gathered, pd.concat([paired.pairs, *others]))
        found = Paired(
            key=key,
            pairs=len(paired.pairs),
            late_versions=paired.late_versions,
            retimed=paired.retimed,
            contradictory=paired.contradictory["study_code"].nunique(),
            flow=paired.flow,
            shards=tuple(sorted(wanted["shard"].unique())),
        )
        return self.keep(
            site, key, found,
            fates=paired.fates, contradictory=paired.contradictory,
            coverage=coverage(paired.fates), written=written(paired.fates),
            wanted=wanted, addenda=parts(in_force(gathered), wanted["exam_key"].tolist()),
            window_pairs=pd.concat(others), pairs=paired.pairs,
        )  # fmt: skip


PAIR: Final = Pair()


def exams(site: Site, block: PatientBlock) -> pd.DataFrame:
    """Read one block of the coded exams; later versions of one key (exported twice) count once.

    Returns
    -------
    pd.DataFrame
        What `tables.pairing.pair` needs, and ``shard``.
    """
    found = []
    for key in block.clean:
        shard = site.workspace.read("analysis", "clean_exams", [key], columns=_COLUMNS)
        if block.of > 1:
            codes = shard["patient_code"].to_numpy(dtype=object)
            home = pd.util.hash_array(codes, categorize=False)
            shard = shard[home % np.uint64(block.of) == block.number]
        found.append(shard.assign(shard=key))
    dated = redated(pd.concat(found, ignore_index=True))
    return in_order(dated).drop_duplicates("exam_key", keep="last")


def _paired(site: Site, gathered: pd.DataFrame, window_hours: float) -> PairedExams:
    settings = site.config.pairing
    return pair(
        gathered,
        window_hours=window_hours,
        ct_before_hours=settings.ct_before_hours,
        accept_preliminary=settings.preliminary_reads == "accept",
    )


def _wanted(gathered: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Which reports the pairs need, and the shard that holds each."""
    needed = pd.concat([pairs["xr_exam_key"], pairs["ct_exam_key"]])
    wanted = gathered.loc[gathered["exam_key"].isin(needed), ["shard", "exam_key"]]
    return wanted.reset_index(drop=True)
