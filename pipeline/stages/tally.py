"""Pairs and readings → observations (a phrase of the X-ray and what the CT said) and their sums.

    ingest → register → de-identify → pair → extract → **tally** → gates → issue → pages → deliver

One item is one block of patients. Cases that readers returned as "wrong pair" or "not applicable"
are left out. No later stage reads text, and the tables made here add up: the sum over blocks is the
table of all patients.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from pipeline.config.basis import digest_of
from pipeline.stages import Keyed, Named
from pipeline.tables.observations import (
    BlockTables,
    Labelling,
    alternatives,
    mix,
    sides,
    tallied,
    words,
)
from pipeline.tables.pairing import Sifted

if TYPE_CHECKING:
    from pipeline.site.site import Site
    from pipeline.stages.extract import Read
    from pipeline.stages.pair import Paired
    from pipeline.store.workspace import Workspace

_SAID: Final = ("exam_key", "pathology", "phrase", "outcome")
_ANSWERED: Final = ("pair_id", "pathology", "answer", "reader_code", "sequence", "sheet")


@dataclass(frozen=True, slots=True)
class ReadBlock:
    """One paired block's key, and keys of all readings."""

    pairs: str
    readings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tallied:
    """Counts of one block; forecasts left out by reason, returned cases by answer.

    ``sides`` counts likely and unlikely statements, and what CT showed of them.
    """

    key: str
    observations: int
    left_out: Mapping[str, int]
    flow: tuple[Sifted, ...]
    returned: Mapping[str, int]
    sides: Mapping[str, float]
    months: tuple[str, ...]


def blocks(paired: Sequence[Paired], read: Sequence[Read]) -> list[ReadBlock]:
    """Hand every block all readings; it looks up those of its own exams."""
    readings = tuple(sorted(shard.key for shard in read))
    return [ReadBlock(block.key, readings) for block in paired]


class Tally(Keyed[ReadBlock, Tallied]):
    """Set each forecast of a block against its outcome, and add up (`tables.observations`)."""

    name = kind = "tally"
    counted = ("observations",)
    tables = ("observations", "alternatives", "mix", "words", "tallies")
    comes_to = Tallied
    missing = "other readings or returned sheets than before"

    def settings(self, site: Site) -> Named:
        """Give what phrases mean and how a CT's answer becomes a label."""
        settings = site.config.calibration
        return {
            "meaning of phrases": site.phrases_digest,
            "calibration.label": settings.label,
            "calibration.ct_silence": settings.ct_silence,
        }

    def key(self, site: Site, item: ReadBlock) -> str:
        """Hash the block, all readings and the sheets returned."""
        returned = site.workspace.keys("analysis", "returns")
        return digest_of(self.digest(site), item.pairs, item.readings, returned)

    def make(self, site: Site, item: ReadBlock, key: str) -> Tallied:
        """Observe the block and keep its sums."""
        settings = site.config.calibration
        block = _block(site.workspace, item)
        labelling = Labelling(site.phrases, settings.label, settings.ct_silence)
        observed, other = block.observed(labelling), alternatives(block, labelling)
        rows = observed.observations
        found = Tallied(
            key=key,
            observations=len(rows),
            left_out=dict(observed.left_out),
            flow=observed.flow,
            returned=dict(Counter(block.returned["answer"])),
            sides=sides(rows, site.phrases),
            months=tuple(sorted(rows["performed_month"].unique())),
        )
        return self.keep(
            site, key, found,
            observations=rows, alternatives=other, mix=mix(rows),
            words=words(block.pairs, block.report_findings), tallies=tallied(rows),
        )  # fmt: skip


TALLY: Final = Tally()


def answers(store: Workspace) -> pd.DataFrame:
    """Give what readers returned: one row a case or swap, by the sheet recorded last.

    Returns
    -------
    pd.DataFrame
        ``pair_id, pathology, answer, reader_code, sequence, sheet``; of a swap the reader's code
        and the swap in place of pair and finding. A sheet goes by the digest of its bytes.
    """
    keys = store.keys("analysis", "returns")
    if not keys:
        return pd.DataFrame(columns=list(_ANSWERED))
    sheets = (
        store.read("analysis", "returns", [k]).assign(sheet=k.partition("-")[0]) for k in keys
    )
    rows = pd.concat(sheets).sort_values("sequence", kind="stable")
    return rows.drop_duplicates(["pair_id", "pathology"], keep="last").reset_index(drop=True)


def about_cases(given: pd.DataFrame) -> pd.DataFrame:
    """Leave out what was said of swaps, which changes no figure."""
    return given[given["pair_id"] != given["reader_code"]]


def _block(store: Workspace, item: ReadBlock) -> BlockTables:
    """Read a block's pairs, and what all readings say of its exams, by numbers for their keys."""
    wanted = store.read("analysis", "wanted", [item.pairs], columns=["exam_key"])["exam_key"]
    exams = pd.Index(wanted.unique(), dtype="object")

    def numbers(keys: pd.Series) -> NDArray[np.int32]:
        return np.asarray(exams.get_indexer(keys.to_numpy("object")), dtype=np.int32)

    def numbered(rows: pd.DataFrame, *columns: str) -> pd.DataFrame:
        return rows.assign(**{name: numbers(rows[name]) for name in columns})

    def paired(name: str) -> pd.DataFrame:
        return numbered(store.read("analysis", name, [item.pairs]), "xr_exam_key", "ct_exam_key")

    def said(name: str, columns: Sequence[str]) -> pd.DataFrame:
        each = (store.read("analysis", name, [key], columns=columns) for key in item.readings)
        own = [rows[rows["exam_key"] >= 0] for rows in (numbered(r, "exam_key") for r in each)]
        kept = [rows for rows in own if len(rows)] or own[:1]
        return pd.concat(kept, ignore_index=True) if kept else pd.DataFrame(columns=list(columns))

    return BlockTables(
        pairs=paired("pairs"),
        window_pairs=paired("window_pairs"),
        report_findings=said("report_findings", _SAID),
        readings=said("readings", ("exam_key", "outcome", "recommends_ct")),
        returned=about_cases(answers(store)),
    )
