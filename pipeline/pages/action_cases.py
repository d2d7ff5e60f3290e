"""The reader's own cases for each advised swap: misses first, then good calls.

A miss is a case whose CT lies as far from the word as the swap says CT does on the whole: for a
swap upwards, CT showed the finding (label ≥ ½); downwards, it did not. Of misses and good calls
alike the plainest come first, ties by study code.
"""

from __future__ import annotations

import pandas as pd

from calibration.profile import ReaderProfile, Swap
from pipeline.pages import content
from reports.content import ActionCases, Case
from reports.swaps import kept_swaps

__all__ = ["action_cases"]

_MISSES, _MOST = 3, 5


def action_cases(
    observations: pd.DataFrame, profile: ReaderProfile | None
) -> tuple[ActionCases, ...]:
    """Choose up to five cases for every swap that the page will show."""
    if profile is None:
        return ()
    return tuple(
        ActionCases(swap.phrase, swap.finding, _chosen(observations, swap))
        for swap in kept_swaps(profile)
    )


def _chosen(observations: pd.DataFrame, swap: Swap) -> tuple[Case, ...]:
    mine = observations["phrase"] == swap.phrase
    if swap.finding:
        mine &= observations["pathology"] == swap.finding
    rows = observations[mine].sort_values(["pair_id", "pathology"], kind="stable")
    up = swap.instead_meaning > swap.meaning
    rows = rows.assign(_toward=rows["label"] if up else 1.0 - rows["label"])
    rows = rows.sort_values("_toward", ascending=False, kind="stable")
    missed = rows[rows["_toward"] >= 0.5].head(_MISSES)
    good = rows[rows["_toward"] < 0.5][::-1].head(_MOST - len(missed))
    if len(missed) + len(good) < _MOST:
        missed = rows[rows["_toward"] >= 0.5].head(_MOST - len(good))
    shown = [(missed, False), (good, True)]
    return tuple(
        content.case_of(row, agreed=agreed)
        for part, agreed in shown
        for row in part.to_dict("records")
    )
