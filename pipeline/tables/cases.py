"""Observations → the few cases that a reader should look at again, ranked.

A **miss** lies as far from its word as its CT can show; a **good call** is as near. Of both the
plainest come first, ties by study code. Each function gives rows of the observations, in the order
in which they are shown, with ``agreed``: whether X-ray and CT agreed, None where CT left it open.
"""

from __future__ import annotations

from typing import Final

import pandas as pd

from calibration.profile import Swap
from calibration.survey import PhraseTable

__all__ = ["for_swap", "plainest"]

_GOOD, _POOR = 0.25, 0.5
_OF_EACH: Final = 4
_MISSES, _MOST = 3, 5


def plainest(observations: pd.DataFrame, phrases: PhraseTable) -> pd.DataFrame:
    """Choose the plainest misses and as many plain good calls.

    The distance between the phrase's mean and the CT's label orders them. A hedge that was right
    is the call worth a look, so "present" comes after it, and "absent" not.
    """
    means = dict(zip(phrases.phrases, phrases.means, strict=True))
    gap = (observations["phrase"].map(means) - observations["label"]).abs()
    ordered = observations.assign(_gap=gap).sort_values(
        ["_gap", "pair_id", "pathology"], kind="stable"
    )
    missed = ordered[ordered["_gap"] >= _POOR].tail(_OF_EACH)
    good = ordered[ordered["_gap"] <= _GOOD]
    hedged = good[~good["phrase"].isin(["absent", "present"])]
    sure = good[good["phrase"] == "present"]
    good = pd.concat([hedged, sure]).head(_OF_EACH)
    chosen = pd.concat([missed[::-1], good])
    agreed = [True if gap <= _GOOD else False if gap >= _POOR else None for gap in chosen["_gap"]]
    return chosen.drop(columns="_gap").assign(agreed=pd.Series(agreed, chosen.index, dtype=object))


def for_swap(observations: pd.DataFrame, swap: Swap) -> pd.DataFrame:
    """Choose up to five cases of an advised swap, misses first.

    A miss is a case whose CT lies as far from the word as the swap says CT does on the whole: for
    a swap upwards, CT showed the finding (label ≥ ½); downwards, it did not.
    """
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
    agreed = [False] * len(missed) + [True] * len(good)
    chosen = pd.concat([missed, good]).drop(columns="_toward")
    return chosen.assign(agreed=pd.Series(agreed, chosen.index, dtype=object))
