"""Which cases: the department's gap by kind of case, raw and with everything else held equal.

Factors beside the finding: age band, patient class, interval between X-ray and CT, difficulty, and
whether someone else drafted the report. Difficulty is read off the CT, not off the X-ray whose
words are on trial: a case is hard where the CT's own report hedges about the finding, by the
entropy of its label (`calibration.neighbours.difficulty`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pandas as pd

from calibration.errors import CalibrationError
from calibration.estimate import Estimate
from calibration.gaps import Gaps, adjusted_gaps, reader_gaps
from calibration.groups import tally_of
from calibration.neighbours.difficulty import mean_entropy
from calibration.regression import indicators
from calibration.survey import PhraseTable
from pipeline.pages.small_cells import complementary
from pipeline.tables.observations import tallied
from pipeline.tables.results import Scale
from pipeline.tables.sums import BANDS
from reports.content import SuppressedCell
from reports.review_content import CaseMix, MixRow

__all__ = ["EASY", "HARD", "MIX", "case_mix", "mix_columns"]

MIX: Final = ("pathology", "age_band", "patient_class", "interval", "difficulty", "draft")
"""Columns of the case mix, the finding first."""

_NAMES: Final = {
    "age_band": "Age",
    "patient_class": "Patient class",
    "interval": "X-ray to CT",
    "difficulty": "Difficulty",
    "draft": "First draft",
}
_PLAIN: Final = 0.1
"""Entropy of a label in nats below which the CT is plain about the finding: .02 or .98."""
HARD, EASY = "CT itself hedges", "CT is plain"


def mix_columns(mix: pd.DataFrame) -> pd.DataFrame:
    """Add difficulty as a level, and the label mass, to cases added up (`sums.mix`)."""
    label = mix["label"].to_numpy(np.float64)
    entropy = mean_entropy(probs=np.stack([1.0 - label, label], axis=1)[None])
    return mix.assign(
        difficulty=np.where(entropy > _PLAIN, HARD, EASY), mass=mix["label"] * mix["weight"]
    )


def case_mix(mix: pd.DataFrame, *, scale: Scale) -> CaseMix:
    """Measure the department in every level of every factor that has two levels or more."""
    mix = mix_columns(mix)
    rows: list[MixRow] = []
    alike: list[str] = []
    for factor, name in _NAMES.items():
        levels = _levels(mix[factor])
        if len(levels) < 2:
            alike.append(f"{name} ({levels[0] if levels else 'none'})")
            continue
        rows.extend(_factor_rows(mix, factor, levels, scale))
    return CaseMix(rows=tuple(rows), alike=tuple(alike))


def _levels(column: pd.Series) -> list[str]:
    """Levels in their natural order: intervals by length, all others by name."""
    known = {name: str(i) for i, name in enumerate(BANDS)}
    return sorted(map(str, column.unique()), key=lambda level: known.get(level, level))


def _factor_rows(
    mix: pd.DataFrame, factor: str, levels: list[str], scale: Scale
) -> Iterator[MixRow]:
    parts = {level: mix[mix[factor] == level] for level in levels}
    sizes = {level: float(part["weight"].sum()) for level, part in parts.items()}
    cells = _withheld(parts, sizes, scale)
    tallies = [tally_of(tallied(part), scale.phrases) for part in parts.values()]
    raw = reader_gaps(tallies, means=scale.phrases.means)
    adjusted = _adjusted(mix, factor, levels, scale.phrases)
    total = sum(sizes.values())
    for i, level in enumerate(levels):
        cell = cells.get(level)
        if cell is not None:
            yield MixRow(_NAMES[factor], level, 0, float("nan"), cell, cell)
            continue
        yield MixRow(
            _NAMES[factor], level, round(sizes[level]), sizes[level] / total,
            _estimate(raw, i, "mean difference, normal"),
            _estimate(adjusted, i, "indirect standardisation, normal"),
        )  # fmt: skip


def _withheld(
    parts: dict[str, pd.DataFrame], sizes: dict[str, float], scale: Scale
) -> dict[str, SuppressedCell]:
    """Withhold levels of too few exams or readers, and what would give one away."""
    settings = scale.config.reports
    cells: dict[str, SuppressedCell] = {}
    for level, part in parts.items():
        if sizes[level] < settings.min_exams:
            cells[level] = SuppressedCell(settings.min_exams)
        elif part["reader_code"].nunique() < settings.min_readers:
            cells[level] = SuppressedCell(settings.min_readers, "readers")
    for level in complementary(sizes, cells):
        cells[level] = SuppressedCell(settings.min_exams, "complementary")
    return cells


def _adjusted(
    mix: pd.DataFrame, factor: str, levels: list[str], phrases: PhraseTable
) -> Gaps | None:
    """Hold all other factors and the words equal; None where the model cannot be fitted."""
    others = [name for name in MIX if name != factor]
    summed = mix.groupby([factor, "phrase", *others], sort=True, observed=True)
    rows = summed[["weight", "mass"]].sum().reset_index()
    means = dict(zip(phrases.phrases, phrases.means, strict=True))
    at = {level: i for i, level in enumerate(levels)}
    try:
        return adjusted_gaps(
            np.array([at[str(level)] for level in rows[factor]], dtype=np.int64),
            stated=rows["phrase"].map(means).to_numpy(np.float64),
            design=indicators(rows[others]),
            n=rows["weight"].to_numpy(np.float64),
            mass=rows["mass"].to_numpy(np.float64),
            n_readers=len(levels),
        )
    except CalibrationError:
        return None


def _estimate(gaps: Gaps | None, at: int, method: str) -> Estimate | None:
    if gaps is None or not np.isfinite(gaps.value[at]):
        return None
    low, high = gaps.limits()
    n = float(gaps.n[at])
    return Estimate(float(gaps.value[at]), float(low[at]), float(high[at]), n, method)
