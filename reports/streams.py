"""From maps and actions to the streams that the flow diagram draws."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from calibration.phrase_calibration import PhraseCalibration
from reports.advice import Action
from reports.figures.swap_flow import Stream

if TYPE_CHECKING:
    from calibration.substitution import SubstitutionMap

__all__ = ["streams_of_actions", "streams_of_map"]


_WITHHELD: Final = "phrases not shown"


def _order(table: PhraseCalibration) -> list[str]:
    return [table.phrases[k] for k in np.argsort(-np.nan_to_num(table.expected), kind="stable")]


def streams_of_actions(
    table: PhraseCalibration, chosen: tuple[Action, ...]
) -> tuple[list[Stream], list[str]]:
    """Say where the reader's phrases would go if every action were taken.

    An action for one pathology moves that pathology's exams only (its ``n``), the rest stays.
    """
    streams: list[Stream] = []
    left = {phrase: float(n) for phrase, n in zip(table.phrases, table.n, strict=True)}
    for action in chosen:
        swap = action.suggestion
        moved = min(float(swap.n), left.get(swap.source, 0.0))
        if moved > 0:
            streams.append(Stream(swap.source, swap.target, moved))
            left[swap.source] -= moved
    streams.extend(Stream(p, p, n) for p, n in left.items() if n > 0)
    merged: dict[tuple[str, str], float] = {}
    for s in streams:
        merged[s.source, s.target] = merged.get((s.source, s.target), 0.0) + s.share
    return [Stream(a, b, share) for (a, b), share in merged.items()], _order(table)


def streams_of_map(
    fitted: SubstitutionMap, table: PhraseCalibration, *, least: float = 1e-3
) -> tuple[list[Stream], list[str]]:
    """List a fitted plan's cells above ``least`` of its mass; withheld phrases go as one."""
    plan = np.nan_to_num(fitted.plan)
    cells = np.argwhere(plan > least * max(float(plan.sum()), 1e-300))
    hidden = {p for p, n in zip(table.phrases, table.n, strict=True) if math.isnan(n)}
    names = [_WITHHELD if phrase in hidden else phrase for phrase in fitted.phrases]
    merged: dict[tuple[str, str], float] = {}
    for k, j in cells:
        pair = names[k], names[j]
        merged[pair] = merged.get(pair, 0.0) + float(plan[k, j])
    return [Stream(a, b, share) for (a, b), share in merged.items()], [*_order(table), _WITHHELD]
