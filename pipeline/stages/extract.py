"""Paired reports → what each says; after this stage no text is read.

    ingest → register → de-identify → pair → **extract** → tally → gates → issue → pages → deliver

One item is one coded shard; of its reports only those that pairs need are read. An addendum is read
with the versions before it. The engine is the one that the site configured, and only its code, not
the other engines', counts in the key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import pandas as pd

from extraction.engines.account import Disagreement
from extraction.tables import read_reports
from pipeline.config.basis import digest_of
from pipeline.stages import Keyed, Named
from pipeline.tables.observations import PURGED
from pipeline.tables.versions import joined

if TYPE_CHECKING:
    from pipeline.site.site import Site
    from pipeline.stages.pair import Paired
    from pipeline.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ReportShard:
    """One coded shard, and the paired blocks that say which of its reports are needed."""

    shard: str
    pairs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """Counts of one shard's reports; failures by reason, unmapped statements by cue.

    ``reports`` leaves out those whose text was purged; the table ``readings`` lists them as such.
    ``disagreement`` counts where a model and the vocabulary disagree; zero where the rules read.
    """

    key: str
    reports: int
    failed: Mapping[str, int]
    statements: int
    unmapped: Mapping[str, int]
    disagreement: Disagreement


def shards(paired: Sequence[Paired]) -> list[ReportShard]:
    """Name the coded shards in which the reports of these blocks lie."""
    keys = tuple(block.key for block in paired)
    return [ReportShard(s, keys) for s in sorted({s for block in paired for s in block.shards})]


class Extract(Keyed[ReportShard, Read]):
    """Read the paired reports of one coded shard."""

    name = kind = "extract"
    counted = ("reports", "statements")
    tables = ("findings", "report_findings", "answers", "readings")
    comes_to = Read

    def is_done_here(self, site: Site) -> bool:
        """All shards ask one language model, so the process that holds it reads them."""
        return site.model is not None

    def roots(self, site: Site) -> frozenset[str]:
        """Count the code of the engine in use, and none of the others'."""
        return super().roots(site) | {type(site.engine).__module__}

    def settings(self, site: Site) -> Named:
        """Give the engine and its version, which holds the model's, and the vocabulary."""
        version = site.engine.version.removesuffix(f"+{site.vocabulary.digest}")
        engine = f"{site.engine.name} {version}"
        return {"extraction engine": engine, "vocabulary": site.vocabulary.digest}

    def key(self, site: Site, item: ReportShard) -> str:
        """Hash the shard and which of its reports are read, with which addenda."""
        exam_keys, addenda = site.once(_asked, item)
        told = addenda.to_numpy().tolist()
        return digest_of(self.digest(site), item.shard, exam_keys, told)

    def make(self, site: Site, item: ReportShard, key: str) -> Read:
        """Read the reports."""
        store, (exam_keys, addenda) = site.workspace, site.once(_asked, item)
        columns = ["exam_key", "modality", "text"]
        exams = store.read("analysis", "clean_exams", [item.shard], columns=columns)
        before = _with_what_came_before(store, addenda)
        asked = set(exam_keys) - (set(addenda["exam_key"]) - set(before))
        wanted = exams[exams["exam_key"].isin(asked)].drop_duplicates("exam_key")
        whole = wanted["exam_key"].map(before).astype("object")
        wanted = wanted.assign(text=whole.fillna(wanted["text"]))
        tables = read_reports(wanted, engine=site.engine, vocabulary=site.vocabulary)
        gone = sorted(set(exam_keys) - set(wanted["exam_key"]))
        rows = [*tables.readings.to_numpy().tolist(), *((key, PURGED, "", False) for key in gone)]
        tables = replace(tables, readings=pd.DataFrame(rows, columns=list(tables.readings)))
        failed = tables.readings.loc[tables.readings["outcome"] == "failed", "reason"]
        unmapped = tables.findings.loc[tables.findings["outcome"] == "unmapped", "cue"]
        found = Read(
            key=key,
            reports=len(wanted),
            failed=dict(Counter(failed)),
            statements=len(tables.findings),
            unmapped=dict(Counter(unmapped.str.lower())),
            disagreement=tables.disagreement,
        )
        return self.keep(site, key, found, **{name: getattr(tables, name) for name in self.tables})


EXTRACT: Final = Extract()


def _asked(site: Site, item: ReportShard) -> tuple[list[str], pd.DataFrame]:
    store = site.workspace
    wanted = store.read("analysis", "wanted", item.pairs, where=("shard", item.shard))
    exam_keys = sorted(wanted["exam_key"])
    addenda = store.read("analysis", "addenda", item.pairs)
    return exam_keys, addenda[addenda["exam_key"].isin(exam_keys)]


def _with_what_came_before(store: Workspace, addenda: pd.DataFrame) -> dict[str, str]:
    """Give each addendum's text as it stood with the versions before it, if none was purged."""
    texts: dict[str, str] = {}
    for shard, some in addenda.groupby("shard"):
        exams = store.read("analysis", "clean_exams", [str(shard)], columns=["exam_key", "text"])
        held = exams[exams["exam_key"].isin(some["part_key"])]
        texts |= dict(zip(held["exam_key"], held["text"], strict=True))
    each = addenda.groupby("exam_key", sort=False)["part_key"]
    whole = ((key, list(own)) for key, own in each if texts.keys() >= set(own))
    return {str(key): joined([texts[part] for part in own]) for key, own in whole}
