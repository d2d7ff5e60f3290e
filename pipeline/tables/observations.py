"""Pairs and findings → observations, and the tables of sums that pages are made from.

An observation is one forecast (a phrase of certainty that an X-ray report uses for a finding) with
its outcome (the label that the CT's report gives that finding). An X-ray that does not mention a
finding made no forecast, so it gives no observation. A CT that does not mention it counts as
absent, or leaves the observation out (`Labelling.silence`). Everything left out is counted under
its reason; nothing is coerced into a label.

A table of sums has one row per combination of its columns, and a count: `tallied`, `alternatives`,
`mix`, `words`, `coverage`, `written`. Such tables of two blocks of patients add up (`added`) to the
table of both, so pages never need the observations themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import union_categoricals

from calibration.scores import LabelRule, label_values
from calibration.survey import PhraseTable
from pipeline.tables.pairing import CASE_FACTS, INELIGIBLE, Sifted

Label: TypeAlias = LabelRule
Silence: TypeAlias = Literal["absent", "exclude"]

TALLY_KEYS: Final = ("reader_code", "pathology", "month", "phrase", "label_value")
"""Columns that identify a cell of the tally table."""

SILENT: Final = "(not mentioned)"
"""The CT phrase of an observation whose CT does not mention the finding."""

PURGED: Final = "purged"
"""Outcome of a report whose text was purged before it could be read (again)."""
NOT_PURGED: Final = "both reports kept"
"""A step of the flow diagram; shown only where it left something out."""
_BECAME: Final = ("read", PURGED)

RETURNED_WRONG: Final = "its reader returned the pair as wrong"
RETURNED_NOT_APPLICABLE: Final = "its reader returned the case as not applicable"

_COLUMNS: Final = [
    "pair_id", "patient_code", "reader_code", "pathology", "phrase", "ct_phrase", "label",
    "performed_month", "weight", "interval_hours", *CASE_FACTS, "draft",
]  # fmt: skip
_OF_THE_PAIR: Final = [
    "pair_id", "patient_code", "reader_code", "performed_month", "interval_hours", *CASE_FACTS,
    "draft",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Labelling:
    """How what a CT's report says, or does not say, of a finding becomes a label.

    ``phrases`` are those with a meaning, borrowed ones included; others are left out. ``label`` is
    the rule for an uncertain CT phrase (`calibration.scores`), ``silence`` what a CT that does not
    mention the finding counts as.
    """

    phrases: PhraseTable
    label: Label = "probability"
    silence: Silence = "absent"


@dataclass(frozen=True, slots=True)
class Observed:
    """Observations, how many forecasts were left out and why, and the flow's last steps."""

    observations: pd.DataFrame
    left_out: Mapping[str, int]
    flow: tuple[Sifted, ...]


def ct_labels(phrases: PhraseTable, *, rule: Label) -> Mapping[str, float]:
    """Give the label each CT phrase stands for: P(c ≥ ½), or its mean."""
    values = label_values(phrases.distributions, rule=rule)
    return dict(zip(phrases.phrases, values.tolist(), strict=True))


def observe(
    pairs: pd.DataFrame,
    report_findings: pd.DataFrame,
    readings: pd.DataFrame,
    *,
    labelling: Labelling,
    returned: pd.DataFrame | None = None,
) -> Observed:
    """Join each stated X-ray forecast with its CT's answer.

    Parameters
    ----------
    pairs
        ``xr_exam_key, ct_exam_key`` and the pair's facts (`pairing.pair`).
    report_findings
        ``exam_key, pathology, phrase, outcome``: what each report says after resolution; no row
        for a pathology the report does not mention. Keys may be of any type, one for all tables.
    readings
        ``exam_key, outcome``: whether each report could be read at all, or is purged.
    labelling
        How a CT's words become a label.
    returned
        ``pair_id, pathology, answer`` of return sheets; "wrong pair" and "not applicable" leave
        cases out.
    """
    read, gone = (set(readings.loc[readings["outcome"] == how, "exam_key"]) for how in _BECAME)
    usable = pairs["xr_exam_key"].isin(read) & pairs["ct_exam_key"].isin(read)
    purged = pairs["xr_exam_key"].isin(gone) | pairs["ct_exam_key"].isin(gone)
    used = pairs[usable].assign(pair_id=pairs["xr_study_code"] + ":" + pairs["ct_study_code"])
    joined = _joined(used, report_findings)
    labels = ct_labels(labelling.phrases, rule=labelling.label)
    silent = joined["ct_outcome"].isna()
    joined["ct_phrase"] = joined["ct_phrase"].where(~silent, SILENT)
    joined["label"] = joined["ct_phrase"].map({**labels, SILENT: 0.0}).astype(float)
    nameless = (used["reader_code"].fillna("") == "").to_numpy()[joined["pair"]]
    fate = _fates(joined, silent, nameless, known=labels, ct_silence=labelling.silence)
    fate = _disowned(joined, used["pair_id"], fate, returned)
    left_out = {"a report of the pair could not be read": int((~usable & ~purged).sum())}
    left_out |= {"a report of the pair was purged": int(purged.sum())} if purged.any() else {}
    left_out |= {str(k): int(v) for k, v in fate[fate != ""].value_counts().items()}
    kept = joined[fate == ""].reset_index(drop=True).assign(weight=1.0)
    facts = used[_OF_THE_PAIR].iloc[kept["pair"]].reset_index(drop=True)
    rows = pd.concat([facts, kept], axis="columns")[_COLUMNS]
    observations = rows.sort_values(["pair_id", "pathology"], kind="stable", ignore_index=True)
    return Observed(observations, left_out, _flow(pairs, usable, purged))


def _joined(pairs: pd.DataFrame, report_findings: pd.DataFrame) -> pd.DataFrame:
    """Give every X-ray forecast of the pairs its CT's answer, missing where the CT is silent.

    ``pair`` is the pair's row: its facts are looked up at the end, for the forecasts kept.
    """
    keys = pairs[["xr_exam_key", "ct_exam_key"]].assign(pair=np.arange(len(pairs)))
    forecasts = keys.merge(report_findings, left_on="xr_exam_key", right_on="exam_key")
    answers = report_findings.rename(
        columns={"exam_key": "ct_exam_key", "phrase": "ct_phrase", "outcome": "ct_outcome"}
    )
    joined = forecasts.merge(answers, on=["ct_exam_key", "pathology"], how="left")
    return joined.drop(columns=["xr_exam_key", "ct_exam_key", "exam_key"])


def _flow(pairs: pd.DataFrame, usable: pd.Series, purged: pd.Series) -> tuple[Sifted, ...]:
    """Carry the pairing's flow diagram on: both reports kept and read, and a reader named."""
    read, kept = int(usable.sum()), int((~purged).sum())
    named = int((usable & (pairs["reader_code"].fillna("") != "")).sum())
    return (
        Sifted(NOT_PURGED, kept, len(pairs) - kept, "a report was purged"),
        Sifted("both reports read", read, kept - read, "a report could not be read"),
        Sifted("attributable to a reader", named, read - named, "no reader is named"),
    )


def _fates(
    joined: pd.DataFrame,
    silent: pd.Series,
    nameless: NDArray[np.bool_],
    *,
    known: Mapping[str, float],
    ct_silence: str,
) -> pd.Series:
    """Why each forecast is left out, by the first reason that holds; '' for those kept."""
    stated = joined["outcome"] == "stated"
    ct_stated = silent | (joined["ct_outcome"] == "stated")
    reasons: list[tuple[str, pd.Series | NDArray[np.bool_]]] = [
        ("the X-ray finding was not evaluable", joined["outcome"] == "not evaluable"),
        ("the X-ray's certainty phrase is not in the vocabulary", ~stated),
        ("the X-ray's phrase has no surveyed meaning", ~joined["phrase"].isin(list(known))),
        ("the CT called the finding not evaluable", joined["ct_outcome"] == "not evaluable"),
        ("the CT's certainty phrase is not in the vocabulary", ~ct_stated),
        ("the CT's phrase has no surveyed meaning", joined["label"].isna()),
        ("the CT does not mention the finding", silent & (ct_silence == "exclude")),
        ("no reader is named", nameless),
    ]
    fate = pd.Series("", index=joined.index, dtype="object")
    for reason, holds in reversed(reasons):
        fate = fate.mask(holds, reason)
    return fate


def _disowned(
    joined: pd.DataFrame, pair_ids: pd.Series, fate: pd.Series, returned: pd.DataFrame | None
) -> pd.Series:
    """Leave out what readers returned; a reason found before stays the reason."""
    if returned is None or returned.empty:
        return fate
    pair_id = pair_ids.iloc[joined["pair"]].set_axis(joined.index)
    case = pd.MultiIndex.from_arrays([pair_id, joined["pathology"]])
    not_applicable = returned[returned["answer"] == "not applicable"]
    named = pd.MultiIndex.from_frame(not_applicable[["pair_id", "pathology"]])
    wrong = returned.loc[returned["answer"] == "wrong pair", "pair_id"]
    reasons = (
        (RETURNED_WRONG, pair_id.isin(wrong)),
        (RETURNED_NOT_APPLICABLE, pd.Series(case.isin(named), index=joined.index)),
    )
    for reason, holds in reasons:
        fate = fate.mask((fate == "") & holds, reason)
    return fate


def tallied(observations: pd.DataFrame) -> pd.DataFrame:
    """Add observations up into the tally table: one row per cell, with its count."""
    cells = observations.rename(columns={"performed_month": "month", "label": "label_value"})
    sums = cells.groupby(list(TALLY_KEYS), sort=True, observed=True)["weight"].sum()
    return sums.rename("count").reset_index()


QUIET: Final = "reports that recommend no CT"
OTHERS: Final = "CTs that another reader signed"
BANDS: Final = ("before", "0-2 h", "2-6 h", "6-12 h", "12-24 h", "over 24 h")
"""Intervals from X-ray to CT, in order."""
_EDGES: Final = (-np.inf, 0.0, 2.0, 6.0, 12.0, 24.0, np.inf)

_MIX: Final = [
    "reader_code", "pathology", "phrase", "label", "performed_month", *CASE_FACTS, "interval",
    "draft",
]  # fmt: skip
_ALTERNATIVE: Final = ["choice", "month", "phrase", "label_value"]
_COVERAGE: Final = ["reader_code", "patient_class", "age_band", "performed_month", "fate"]
_WRITTEN: Final = ["reader_code", "performed_month", "phrase", "fate"]
_CERTAIN: Final = ("absent", "present")
_COUNTS: Final = ("weight", "count", "n")


@dataclass(frozen=True, slots=True)
class BlockTables:
    """One block of patients: pairs, pairs under other windows, readings and returns.

    ``window_pairs`` have the window's ``window_hours`` beside the columns of ``pairs``.
    """

    pairs: pd.DataFrame
    window_pairs: pd.DataFrame
    report_findings: pd.DataFrame
    readings: pd.DataFrame
    returned: pd.DataFrame

    def observed(self, labelling: Labelling, pairs: pd.DataFrame | None = None) -> Observed:
        """Observe the block's pairs, or other pairs of its patients."""
        return observe(
            self.pairs if pairs is None else pairs,
            self.report_findings,
            self.readings,
            labelling=labelling,
            returned=self.returned,
        )


def alternatives(block: BlockTables, labelling: Labelling) -> pd.DataFrame:
    """Tally the block again under each alternative choice (window, label, silence), one at a time.

    Returns
    -------
    pd.DataFrame
        ``choice`` (hours of another window, `QUIET`, `OTHERS`, or the name of the other label or
        the other reading of a silent CT), ``month, phrase, label_value, count``: of all readers and
        pathologies together, as these questions are asked of the department.
    """
    asking = block.readings.loc[block.readings["recommends_ct"].astype(bool), "exam_key"]
    quiet = block.pairs[~block.pairs["xr_exam_key"].isin(asking)]
    windows = block.window_pairs.groupby("window_hours")
    label: Label = "mean" if labelling.label == "probability" else "probability"
    silence: Silence = "exclude" if labelling.silence == "absent" else "absent"
    asked: dict[str, tuple[pd.DataFrame, Labelling]] = {
        **{f"{hours:g}": (pairs, labelling) for hours, pairs in windows},
        QUIET: (quiet, labelling),
        OTHERS: (block.pairs[~block.pairs["ct_own"].astype(bool)], labelling),
        label: (block.pairs, replace(labelling, label=label)),
        silence: (block.pairs, replace(labelling, silence=silence)),
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
    """Count the hedges that paired X-ray reports use, by month, reader and phrase."""
    hedged = report_findings[
        (report_findings["outcome"] == "stated") & ~report_findings["phrase"].isin(_CERTAIN)
    ]
    used = pairs[["xr_exam_key", "performed_month", "reader_code"]].merge(
        hedged[["exam_key", "phrase"]], left_on="xr_exam_key", right_on="exam_key"
    )
    return _summed(used.assign(n=1), ["performed_month", "reader_code", "phrase"], "n")


def sides(observations: pd.DataFrame, phrases: PhraseTable) -> dict[str, float]:
    """Count statements that promise more, and less, than even odds, and those that CT shows."""
    means = observations["phrase"].map(dict(zip(phrases.phrases, phrases.means, strict=True)))
    weight, shown = observations["weight"], observations["weight"] * observations["label"]
    likely, unlikely = means > 0.5, means < 0.5
    return {
        "likely": float(weight[likely].sum()),
        "likely_shown": float(shown[likely].sum()),
        "unlikely": float(weight[unlikely].sum()),
        "unlikely_shown": float(shown[unlikely].sum()),
    }


def coverage(fates: pd.DataFrame) -> pd.DataFrame:
    """Count X-rays by their fate and by what their chance of getting a CT may depend on."""
    return _summed(fates.assign(n=1), _COVERAGE, "n")


def written(fates: pd.DataFrame) -> pd.DataFrame:
    """Count eligible X-ray reports by the hedges that stand in them, and by whether a CT answered.

    A report counts once for each hedge in it, whether or not it was read for its findings.
    """
    eligible = fates[~fates["fate"].isin(INELIGIBLE)]
    each = eligible.assign(
        phrase=eligible["cues"].astype("str").str.split(";"),  # none at all: a column of no type
        fate=np.where(eligible["fate"] == "paired", "paired", "not paired"),
    ).explode("phrase")
    return _summed(each[~each["phrase"].isin(["", *_CERTAIN])].assign(n=1), _WRITTEN, "n")


def added(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Add up tables of one kind, two at a time; text columns are categories meanwhile."""
    total = reduce(_both, map(categorised, tables))
    words = [name for name in total.columns if isinstance(total[name].dtype, pd.CategoricalDtype)]
    return total.astype(dict.fromkeys(words, "str"))


def categorised(rows: pd.DataFrame) -> pd.DataFrame:
    """Make text columns sorted categories: a tenth of the memory, and the same groups."""
    words = [name for name in rows.columns if not pd.api.types.is_numeric_dtype(rows[name])]
    return rows.astype(dict.fromkeys(words, "category"))


def _both(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    (count,) = (name for name in one.columns if name in _COUNTS)
    columns = {name: _both_named(one[name], other[name]) for name in one.columns}
    keys = [name for name in one.columns if name != count]
    return _summed(pd.DataFrame(columns), keys, count)[list(one.columns)]


def _both_named(one: pd.Series, other: pd.Series) -> pd.Series:
    if isinstance(one.dtype, pd.CategoricalDtype):
        return pd.Series(union_categoricals([one, other], sort_categories=True))
    return pd.concat([one, other], ignore_index=True)


def _summed(rows: pd.DataFrame, keys: list[str], count: str) -> pd.DataFrame:
    return rows.groupby(keys, sort=True, observed=True, dropna=False)[count].sum().reset_index()
