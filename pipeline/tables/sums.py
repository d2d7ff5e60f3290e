"""Pairs and observations → the sums that an issue's figures are computed from.

Every table here has one row per combination of its columns and a count, so that the tables of two
blocks of patients add up (`added`) to the table of both, and no page needs the rows behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from pipeline.tables.observations import Answer, Label, Observed, Silence, observe, tallied

__all__ = [
    "BANDS", "QUIET", "Block", "added", "alternatives", "coded", "coverage", "mix", "words",
]  # fmt: skip

QUIET: Final = "reports that recommend no CT"
BANDS: Final = ("before", "0-2 h", "2-6 h", "6-12 h", "12-24 h", "over 24 h")
"""Intervals from X-ray to CT, in order."""
_EDGES: Final = (-np.inf, 0.0, 2.0, 6.0, 12.0, 24.0, np.inf)

_MIX: Final = [
    "reader_code", "pathology", "phrase", "label", "performed_month", "age_band", "patient_class",
    "interval", "draft",
]  # fmt: skip
_ALTERNATIVE: Final = ["choice", "month", "phrase", "label_value"]
_COVERAGE: Final = ["reader_code", "patient_class", "age_band", "performed_month", "fate"]
_CERTAIN: Final = ("absent", "present")
_COUNTS: Final = ("weight", "count", "n")


@dataclass(frozen=True, slots=True)
class Block:
    """Some patients' pairs, under the configured window and others, and what their reports say."""

    pairs: pd.DataFrame
    windows: Mapping[float, pd.DataFrame]
    report_findings: pd.DataFrame
    readings: pd.DataFrame
    returned: pd.DataFrame

    def observed(self, answer: Answer, pairs: pd.DataFrame | None = None) -> Observed:
        """Set forecasts against outcomes for the block's pairs, or for others of its patients."""
        return observe(
            self.pairs if pairs is None else pairs,
            self.report_findings,
            self.readings,
            answer=answer,
            returned=self.returned,
        )


def alternatives(block: Block, answer: Answer) -> pd.DataFrame:
    """Tally the block under each choice that was not made, one at a time.

    Returns
    -------
    pd.DataFrame
        ``choice`` (hours of another window, `QUIET`, or the name of the other label or the other
        reading of a silent CT), ``month, phrase, label_value, count``: of all readers and
        pathologies together, as these questions are asked of the department.
    """
    asking = block.readings.loc[block.readings["recommends_ct"].astype(bool), "exam_key"]
    quiet = block.pairs[~block.pairs["xr_exam_key"].isin(asking)]
    label: Label = "mean" if answer.label == "probability" else "probability"
    silence: Silence = "exclude" if answer.silence == "absent" else "absent"
    asked: dict[str, tuple[pd.DataFrame, Answer]] = {
        **{f"{hours:g}": (pairs, answer) for hours, pairs in block.windows.items()},
        QUIET: (quiet, answer),
        label: (block.pairs, replace(answer, label=label)),
        silence: (block.pairs, replace(answer, silence=silence)),
    }
    each = (
        tallied(block.observed(other, pairs).observations).assign(choice=name)
        for name, (pairs, other) in asked.items()
    )
    return pd.concat([_summed(cells, _ALTERNATIVE, "count") for cells in each], ignore_index=True)


def mix(observations: pd.DataFrame) -> pd.DataFrame:
    """Add observations up by everything that describes a case, the interval in `BANDS`."""
    bands = pd.cut(observations["interval_hours"], list(_EDGES), labels=list(BANDS)).astype(str)
    return _summed(observations.assign(interval=bands), _MIX, "weight")


def words(pairs: pd.DataFrame, report_findings: pd.DataFrame) -> pd.DataFrame:
    """Count the hedges of paired X-ray reports by month, reader and phrase."""
    hedged = report_findings[
        (report_findings["outcome"] == "stated") & ~report_findings["phrase"].isin(_CERTAIN)
    ]
    used = pairs[["xr_exam_key", "performed_month", "reader_code"]].merge(
        hedged[["exam_key", "phrase"]], left_on="xr_exam_key", right_on="exam_key"
    )
    return _summed(used.assign(n=1), ["performed_month", "reader_code", "phrase"], "n")


def coverage(fates: pd.DataFrame) -> pd.DataFrame:
    """Count X-rays by what became of them and by what their chance of a CT may hang on."""
    return _summed(fates.assign(n=1), _COVERAGE, "n")


def added(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Add up tables of one kind, two at a time; words as numbers, since a sum has few of them."""
    total = reduce(_both, map(coded, tables))
    words = [name for name in total.columns if isinstance(total[name].dtype, pd.CategoricalDtype)]
    return total.astype(dict.fromkeys(words, "str"))


def coded(rows: pd.DataFrame) -> pd.DataFrame:
    """Hold words as numbers, in their sorted order: a tenth of the memory, the same groups."""
    words = [name for name in rows.columns if not pd.api.types.is_numeric_dtype(rows[name])]
    return rows.astype(dict.fromkeys(words, "category"))


def _both(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    (count,) = (name for name in one.columns if name in _COUNTS)
    columns = {name: _joined(one[name], other[name]) for name in one.columns}
    keys = [name for name in one.columns if name != count]
    return _summed(pd.DataFrame(columns), keys, count)[list(one.columns)]


def _joined(one: pd.Series, other: pd.Series) -> pd.Series:
    if isinstance(one.dtype, pd.CategoricalDtype):
        return pd.Series(union_categoricals([one, other], sort_categories=True))
    return pd.concat([one, other], ignore_index=True)


def _summed(rows: pd.DataFrame, keys: list[str], count: str) -> pd.DataFrame:
    sums = rows.groupby(keys, sort=True, observed=True, dropna=False)[count].sum()
    return sums.reset_index()
