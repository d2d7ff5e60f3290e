"""Ask whether another choice would have changed the department's answer.

Each table recomputes calibration under other choices: the window between X-ray and CT, which
X-rays come to be compared (verification bias), what a silent CT counts as, and the label an
uncertain CT phrase stands for. Intervals here rest on fewer bootstrap replicates than elsewhere;
the captions say so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import pandas as pd

from calibration.errors import CalibrationError
from calibration.readers import logistic_calibration
from calibration.regression import indicators
from calibration.selection import selection_weights
from pipeline.stages.observe import observe, tallied
from pipeline.stages.pair import INELIGIBLE
from pipeline.stages.results import Scale, calibrated, tally_of
from reports.content import SensitivityRow, SensitivityTable, SuppressedCell

__all__ = ["Evidence", "sensitivity_tables"]

_REPLICATES: Final = 200
_FEATURES: Final = ["patient_class", "age_band", "reader_code", "performed_month"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the observations were made from.

    Attributes
    ----------
    months
        The issue's months; everything else is cut to them.
    pairs
        Pairs under the configured window.
    windows
        Pairs under other windows, hours → pairs.
    report_findings, readings
        What every paired report says, and how each was read (`stages.read`).
    fates
        Every X-ray, and what became of it.
    returned
        Readers' answers on return sheets.
    """

    months: tuple[str, ...]
    pairs: pd.DataFrame
    windows: Mapping[float, pd.DataFrame]
    report_findings: pd.DataFrame
    readings: pd.DataFrame
    fates: pd.DataFrame
    returned: pd.DataFrame


@dataclass(frozen=True, slots=True)
class _Question:
    """Makes the rows of the tables from one body of evidence."""

    evidence: Evidence
    scale: Scale

    def observed(
        self,
        pairs: pd.DataFrame,
        *,
        label: Literal["probability", "mean"] | None = None,
        silence: Literal["absent", "exclude"] | None = None,
    ) -> pd.DataFrame:
        """Observations of some pairs under the configured choices, or those given."""
        settings = self.scale.config.calibration
        inside = pairs[pairs["performed_month"].isin(self.evidence.months)]
        return observe(
            inside,
            self.evidence.report_findings,
            self.evidence.readings,
            phrases=self.scale.phrases,
            label_rule=label or settings.label,
            ct_silence=silence or settings.ct_silence,
            returned=self.evidence.returned,
        ).observations

    def row(self, name: str, rows: pd.DataFrame, *, reference: bool = False) -> SensitivityRow:
        """Calibrate one choice's observations."""
        minimum = self.scale.config.reports.min_exams
        counted = tally_of(tallied(rows), self.scale.phrases)
        if counted.total < minimum:
            few = SuppressedCell(minimum)
            return SensitivityRow(name, 0, few, few, few, reference)
        result = calibrated(counted, f"sensitivity/{name}", self.scale, bootstrap=_REPLICATES)
        line = logistic_calibration(counted, phrase_table=self.scale.phrases)
        return SensitivityRow(
            name, round(counted.total), result.ece, result.phrase_error, line.slope, reference
        )


def sensitivity_tables(evidence: Evidence, *, scale: Scale) -> tuple[SensitivityTable, ...]:
    """Ask every question; each table marks the choice made for this issue."""
    ask = _Question(evidence, scale)
    return (
        _windows(ask),
        _verification(ask),
        _silence(ask),
        _labels(ask),
    )


def _windows(ask: _Question) -> SensitivityTable:
    chosen = ask.scale.config.pairing.window_hours
    by_hours = {**ask.evidence.windows, chosen: ask.evidence.pairs}
    rows = tuple(
        ask.row(f"CT within {hours:g} h", ask.observed(pairs), reference=hours == chosen)
        for hours, pairs in sorted(by_hours.items())
    )
    caption = (
        "A longer window brings in patients who were not sent to CT at once, and gives disease "
        f"time to change. Intervals in these tables: {_REPLICATES} bootstrap replicates."
    )
    return SensitivityTable("Window between X-ray and CT", caption, rows)


def _verification(ask: _Question) -> SensitivityTable:
    base = ask.observed(ask.evidence.pairs)
    readings = ask.evidence.readings
    asking = set(readings.loc[readings["recommends_ct"].astype(bool), "exam_key"])
    quiet = ask.evidence.pairs[~ask.evidence.pairs["xr_exam_key"].isin(asking)]
    rows = [
        ask.row("every X-ray with a CT in time", base, reference=True),
        ask.row("without X-ray reports that recommend a CT", ask.observed(quiet)),
    ]
    weighted = _weighted(base, ask.evidence)
    if weighted is not None:
        rows.append(ask.row("weighted to all adult chest X-rays", weighted))
    caption = (
        "Only some X-rays are followed by a CT. Weights: inverse probability of having a CT, "
        "fitted on all adult chest X-rays of the period by patient class, age band, reader and "
        "month, at most 10; n is then the effective number. What was not recorded cannot be "
        "weighted away."
    )
    return SensitivityTable("Which X-rays are compared", caption, tuple(rows))


def _weighted(base: pd.DataFrame, evidence: Evidence) -> pd.DataFrame | None:
    """Weigh observations to all eligible X-rays, scaled to their effective number."""
    fates = evidence.fates
    eligible = fates[~fates["fate"].isin(INELIGIBLE)].reset_index(drop=True)
    taken = (eligible["fate"] == "paired").to_numpy()
    try:
        found = selection_weights(indicators(eligible[_FEATURES]), taken)
    except CalibrationError:
        return None
    by_study = dict(zip(eligible["study_code"], found.weight, strict=True))
    weight = base["pair_id"].str.partition(":")[0].map(by_study)
    kept = base[weight.notna()]
    given = weight[weight.notna()].to_numpy(np.float64)
    if not given.size:
        return None
    return kept.assign(weight=given * (given.sum() / (given**2).sum()))


def _silence(ask: _Question) -> SensitivityTable:
    chosen = ask.scale.config.calibration.ct_silence
    names: dict[Literal["absent", "exclude"], str] = {
        "absent": "counts as absent",
        "exclude": "leaves the observation out",
    }
    rows = tuple(
        ask.row(name, ask.observed(ask.evidence.pairs, silence=choice), reference=choice == chosen)
        for choice, name in names.items()
    )
    caption = "Left out, the observations that remain are those the CT thought worth a mention."
    return SensitivityTable("A CT that does not mention the finding", caption, rows)


def _labels(ask: _Question) -> SensitivityTable:
    chosen = ask.scale.config.calibration.label
    names: dict[Literal["probability", "mean"], str] = {
        "probability": "chance that the finding is more likely than not",
        "mean": "mean of the phrase",
    }
    rows = tuple(
        ask.row(name, ask.observed(ask.evidence.pairs, label=choice), reference=choice == chosen)
        for choice, name in names.items()
    )
    caption = "A CT can be uncertain too; its phrase then stands for a label between 0 and 1."
    return SensitivityTable("Label of an uncertain CT phrase", caption, rows)
