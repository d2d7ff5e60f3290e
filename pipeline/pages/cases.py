"""Which cases: the gap by kind of case, and how far the words of X-ray and CT lie apart.

Factors beside the finding: age band, patient class, interval between X-ray and CT, difficulty, and
whether someone else drafted the report. Difficulty is read off the CT, not off the X-ray whose
words are on trial: a case is hard where the CT's own report hedges about the finding.

Words against words: the cases are those in which the X-ray hedged; "absent" and "present" would
drown them. A CT that states the finding plainly and one that hedges itself are told apart, because
against a hedging CT no X-ray word can be exactly right or wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pandas as pd

from calibration.arrays import FloatArray
from calibration.errors import CalibrationError
from calibration.estimate import Estimate
from calibration.gaps import Gaps, adjusted_gaps, reader_gaps
from calibration.groups import tally_of
from calibration.regression import indicators
from calibration.scores import CaseErrors, phrase_disagreement
from pipeline.pages.small_cells import complementary, of_few
from pipeline.tables.observations import BANDS, ct_labels, tallied
from pipeline.tables.results import Scale
from reports.content import SuppressedCell
from reports.review_content import CaseHistogram, CaseMix, Disagreement, MixRow

MIX: Final = (
    "pathology", "age_band", "patient_sex", "patient_class", "interval", "difficulty", "draft",
)  # fmt: skip
"""Columns that figures are adjusted for, the finding first.

The site is none: readers mostly read for one, so that what is theirs would be called the site's.
"""

_NAMES: Final = {
    "age_band": "Age",
    "patient_sex": "Sex",
    "site_code": "Site",
    "patient_class": "Patient class",
    "interval": "X-ray to CT",
    "difficulty": "Difficulty",
    "draft": "First draft",
}
HARD, EASY = "CT itself hedges", "CT is plain"


def mix_columns(mix: pd.DataFrame, *, scale: Scale) -> pd.DataFrame:
    """Add difficulty as a level, and the label mass, to cases added up (`observations.mix`).

    Plain is a CT that says or implies by its silence what is as sure as "present" or "absent".
    """
    labels = ct_labels(scale.phrases, rule=scale.config.calibration.label)
    known = zip(scale.phrases.phrases, scale.phrases.certain, strict=True)
    plain = [0.0, *(labels[phrase] for phrase, certain in known if certain)]
    difficulty = np.where(mix["label"].isin(plain), EASY, HARD)
    return mix.assign(difficulty=difficulty, mass=mix["label"] * mix["weight"])


def case_mix(mix: pd.DataFrame, *, scale: Scale, effect: float = 1.0) -> CaseMix:
    """Measure the department in every level of every factor that has two levels or more.

    A patient's statements go together, by the design effect given.
    """
    mix = mix_columns(mix, scale=scale)
    rows: list[MixRow] = []
    alike: list[str] = []
    for factor, name in _NAMES.items():
        levels = _levels(mix[factor])
        if len(levels) < 2:
            alike.append(f"{name} ({levels[0] if levels else 'none'})")
            continue
        rows.extend(_factor_rows(mix, factor, levels, scale, effect))
    return CaseMix(rows=tuple(rows), alike=tuple(alike))


def _levels(column: pd.Series) -> list[str]:
    """Levels in their natural order: intervals by length, all others by name."""
    known = {name: str(i) for i, name in enumerate(BANDS)}
    return sorted(map(str, column.unique()), key=lambda level: known.get(level, level))


def _factor_rows(
    mix: pd.DataFrame, factor: str, levels: list[str], scale: Scale, effect: float
) -> Iterator[MixRow]:
    parts = {level: mix[mix[factor] == level] for level in levels}
    sizes = {level: float(part["weight"].sum()) for level, part in parts.items()}
    cells = _withheld(parts, sizes, scale)
    tallies = [tally_of(tallied(part), scale.phrases) for part in parts.values()]
    raw = reader_gaps(tallies, means=scale.phrases.means).widened(effect)
    others = [name for name in ("pathology", *_NAMES) if name != factor]
    fair = adjusted(mix, factor, levels, equal=others, scale=scale)
    equal = None if fair is None else fair.widened(effect)
    total = sum(sizes.values())
    for i, level in enumerate(levels):
        cell = cells.get(level)
        if cell is not None:
            yield MixRow(_NAMES[factor], level, 0, float("nan"), cell, cell)
            continue
        yield MixRow(
            _NAMES[factor], level, round(sizes[level]), sizes[level] / total,
            estimate(raw, i, "mean difference, normal"),
            estimate(equal, i, "indirect standardisation, normal"),
        )  # fmt: skip


def _withheld(
    parts: dict[str, pd.DataFrame], sizes: dict[str, float], scale: Scale
) -> dict[str, SuppressedCell]:
    """Withhold levels of too few exams or readers, and what would give one away."""
    few = {level: _too_few(part, scale) for level, part in parts.items()}
    cells = {level: cell for level, cell in few.items() if cell is not None}
    for level in complementary(sizes, cells):
        cells[level] = SuppressedCell(scale.config.reports.min_exams, "complementary")
    return cells


def _too_few(part: pd.DataFrame, scale: Scale) -> SuppressedCell | None:
    """Withhold cases of too few exams or readers, or mostly one's; None where they are enough."""
    settings = scale.config.reports
    if part["weight"].sum() < settings.min_exams:
        return SuppressedCell(settings.min_exams)
    if of_few(part, minimum=settings.min_readers, count="weight"):
        return SuppressedCell(settings.min_readers, "readers")
    return None


def adjusted(
    mix: pd.DataFrame, factor: str, levels: Sequence[str], *, equal: Sequence[str], scale: Scale
) -> Gaps | None:
    """Hold the words and other factors equal; None where the model cannot be fitted.

    Parameters
    ----------
    factor, levels
        Whose levels are measured.
    equal
        The factors that are held equal.
    """
    summed = mix.groupby([factor, "phrase", *equal], sort=True, observed=True)
    rows = summed[["weight", "mass"]].sum().reset_index()
    means = dict(zip(scale.phrases.phrases, scale.phrases.means, strict=True))
    at = {level: i for i, level in enumerate(levels)}
    try:
        return adjusted_gaps(
            np.array([at[str(level)] for level in rows[factor]], dtype=np.int64),
            stated=rows["phrase"].map(means).to_numpy(np.float64),
            design=indicators(rows[list(equal)]),
            n=rows["weight"].to_numpy(np.float64),
            mass=rows["mass"].to_numpy(np.float64),
            n_readers=len(levels),
        )
    except CalibrationError:
        return None


def estimate(gaps: Gaps | None, at: int | None, method: str) -> Estimate | None:
    """Give one level's gap, or None where it could not be computed."""
    if gaps is None or at is None or not np.isfinite(gaps.value[at]):
        return None
    low, high = gaps.limits()
    n = float(gaps.n[at])
    return Estimate(float(gaps.value[at]), float(low[at]), float(high[at]), n, method)


def ct_plain(mix: pd.DataFrame, *, scale: Scale) -> int | SuppressedCell:
    """Count the statements of which CT says plainly whether the finding is there; 0 is no secret.

    Withheld where they, or the others, are of too few exams or readers.
    """
    mix = mix_columns(mix, scale=scale)
    parts = {level: mix[mix["difficulty"] == level] for level in (EASY, HARD)}
    sizes = {level: float(part["weight"].sum()) for level, part in parts.items() if len(part)}
    withheld = _withheld({level: parts[level] for level in sizes}, sizes, scale)
    return withheld.get(EASY, round(sizes.get(EASY, 0.0)))


_BINS: Final = 10


def disagreement(mix: pd.DataFrame, *, scale: Scale) -> Disagreement:
    """Spread the hedged statements over their distance from CT; too few stay withheld."""
    hedges = np.array(scale.phrases.phrases)[~scale.phrases.certain]
    mix = mix_columns(mix, scale=scale)
    said = mix[mix["phrase"].isin(hedges)]
    easy, hard = said[said["difficulty"] == EASY], said[said["difficulty"] == HARD]
    return Disagreement(
        plain=_distances(easy, scale, by_chance=True),
        hedged=_distances(hard, scale, by_chance=False),
    )


def _distances(
    part: pd.DataFrame, scale: Scale, *, by_chance: bool
) -> CaseHistogram | SuppressedCell:
    few, means = _too_few(part, scale), scale.phrases.means
    if few is not None:
        return few
    found = phrase_disagreement(tally_of(tallied(part), scale.phrases), means=means)
    edges = np.linspace(0.0, 1.0, _BINS + 1)
    expected = _by_chance(found, means, edges) if by_chance else None
    return CaseHistogram(
        edges=edges,
        share=found.histogram(_BINS) / found.n,
        expected=expected,
        mean=found.mean_distance,
        n=round(found.n),
    )


def _by_chance(found: CaseErrors, means: FloatArray, edges: FloatArray) -> FloatArray:
    """Spread the same words as if each were right exactly as often as it says."""
    m = means[found.phrase]
    distance = np.concatenate([1.0 - m, m])
    weight = np.concatenate([m, 1.0 - m]) * np.tile(found.weight, 2)
    return np.histogram(distance, bins=edges, weights=weight)[0] / found.n
