"""X-ray words against CT words, case by case: how far apart, and which of the two is less decided.

The cases are those in which the X-ray hedged; "absent" and "present" would drown them. A CT that
states the finding plainly and one that hedges itself are told apart, because against a hedging CT
no X-ray word can be exactly right or wrong.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from calibration.arrays import FloatArray
from calibration.groups import tally_of
from calibration.neighbours.disagreement import CaseErrors, phrase_disagreement
from calibration.substitution.guardrails import statements_of_certainty
from pipeline.pages.committee.case_mix import EASY, HARD, mix_columns
from pipeline.tables.observations import tallied
from pipeline.tables.results import Scale
from reports.content import SuppressedCell
from reports.review_content import CaseHistogram, Disagreement

__all__ = ["disagreement"]

_BINS: Final = 10
_ENTROPY: Final = np.linspace(-np.log(2.0), np.log(2.0), 2 * _BINS // 2 + 1)


def disagreement(mix: pd.DataFrame, *, scale: Scale) -> Disagreement:
    """Spread the hedged statements over their distance from CT; too few stay withheld."""
    certain = statements_of_certainty(scale.phrases)
    hedges = [p for p, sure in zip(scale.phrases.phrases, certain, strict=True) if not sure]
    mix = mix_columns(mix)
    said = mix[mix["phrase"].isin(hedges)]
    easy, hard = said[said["difficulty"] == EASY], said[said["difficulty"] == HARD]
    return Disagreement(
        plain=_distances(easy, scale, by_chance=True),
        hedged=_distances(hard, scale, by_chance=False),
        entropy=_entropies(hard, scale),
    )


def _errors(part: pd.DataFrame, scale: Scale) -> CaseErrors | SuppressedCell:
    settings = scale.config.reports
    if part["weight"].sum() < settings.min_exams:
        return SuppressedCell(settings.min_exams)
    if part["reader_code"].nunique() < settings.min_readers:
        return SuppressedCell(settings.min_readers, "readers")
    return phrase_disagreement(tally_of(tallied(part), scale.phrases), means=scale.phrases.means)


def _distances(
    part: pd.DataFrame, scale: Scale, *, by_chance: bool
) -> CaseHistogram | SuppressedCell:
    found = _errors(part, scale)
    if isinstance(found, SuppressedCell):
        return found
    edges = np.linspace(0.0, 1.0, _BINS + 1)
    expected = _by_chance(found, scale.phrases.means, edges) if by_chance else None
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


def _entropies(part: pd.DataFrame, scale: Scale) -> CaseHistogram | SuppressedCell:
    found = _errors(part, scale)
    if isinstance(found, SuppressedCell):
        return found
    share = np.histogram(found.entropy, bins=_ENTROPY, weights=found.weight)[0] / found.n
    mean = float(found.weight @ found.entropy / found.n)
    return CaseHistogram(edges=_ENTROPY, share=share, expected=None, mean=mean, n=round(found.n))
