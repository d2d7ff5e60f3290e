"""Every reader's phrase rates drawn toward the department's: one fit for all, rows a reader reads.

The mixed model of `calibration.readers.shrunk_phrases` needs all readers at once, so it is fitted
once an issue and each reader's page takes its own rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
import pandas as pd

from calibration.readers import shrunk_phrases
from calibration.result import GroupResult
from calibration.survey import PhraseTable
from pipeline.tables.results import tally_of

__all__ = ["shrunk_table", "with_shrunk"]

_RATES: Final = ("shrunk", "shrunk_low", "shrunk_high")
_COLUMNS: Final = ("reader_code", "phrase", *_RATES)


def shrunk_table(cells: pd.DataFrame, phrases: PhraseTable, *, min_readers: int) -> pd.DataFrame:
    """Fit all readers of a period; one row per reader and phrase used by enough of them.

    Empty with fewer than `min_readers` readers: a shrunk rate tells of the department.
    """
    grouped = [(str(code), own) for code, own in cells.groupby("reader_code", sort=True)]
    if len(grouped) < max(min_readers, 2):
        return pd.DataFrame({name: pd.Series(dtype="object") for name in _COLUMNS})
    fitted = shrunk_phrases([tally_of(own, phrases) for _, own in grouped], phrase_table=phrases)
    users = cells.groupby("phrase")["reader_code"].nunique()
    return pd.concat(
        [
            table.to_frame()
            .assign(reader_code=code)
            .loc[lambda t: t["phrase"].map(users).fillna(0) >= min_readers, list(_COLUMNS)]
            for (code, _), table in zip(grouped, fitted, strict=True)
        ],
        ignore_index=True,
    )


def with_shrunk(result: GroupResult, rows: pd.DataFrame) -> GroupResult:
    """Put one reader's rows of the shrunk table into the phrase table of the result."""
    if rows.empty:
        return result
    aligned = rows.set_index("phrase").reindex(list(result.phrases.phrases))
    rate, low, high = (aligned[name].to_numpy(np.float64) for name in _RATES)
    phrases = replace(result.phrases, shrunk=rate, shrunk_low=low, shrunk_high=high)
    return replace(result, phrases=phrases)
