"""The order rail: after advice, a phrase that meant more still means at least as much.

Swaps are taken best first; one that would leave two phrases in use in reversed order, given the
swaps already taken, is held back. Phrases without a swap keep their meaning. The whole monotone map
is another thing (``programs.monotone_map``); this holds advice on single phrases to the same rule.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration.arrays import FloatArray
from calibration.substitution.suggestion import Suggestion, Suppressed
from calibration.survey import PhraseTable

__all__ = ["hold_order"]


def hold_order(
    suggestions: Sequence[Suggestion], *, n: FloatArray, phrase_table: PhraseTable
) -> tuple[tuple[Suggestion, ...], tuple[Suppressed, ...]]:
    """Keep the suggestions, best first, that together preserve the phrases' order.

    Parameters
    ----------
    suggestions
        Best first.
    n
        Uses of each phrase, shape (K,); a phrase nobody used cannot be out of order.
    phrase_table
        Gives the means.
    """
    means = phrase_table.means
    used = np.flatnonzero(n > 0)
    after = means.copy()
    kept: list[Suggestion] = []
    held: list[Suppressed] = []
    for suggestion in suggestions:
        tried = after.copy()
        tried[phrase_table.index(suggestion.source)] = suggestion.target_expected
        if _in_order(means[used], tried[used]):
            after = tried
            kept.append(suggestion)
        else:
            detail = "another phrase in use would then mean more than one it meant less than"
            held.append(Suppressed(suggestion.source, suggestion.target, "out of order", detail))
    return tuple(kept), tuple(held)


def _in_order(before: FloatArray, after: FloatArray) -> bool:
    """Whether no pair that differed before is reversed after."""
    order = np.argsort(before, kind="stable")
    return bool(np.all(np.diff(after[order]) >= -1e-12))
