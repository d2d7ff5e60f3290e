"""Results → rows: the `results` and `advice` tables, one row a group and one a suggestion."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

import pandas as pd

from calibration.estimate import Estimate
from calibration.profile import ReaderProfile
from calibration.result import GroupResult
from pipeline.tables.results import GroupResults

__all__ = ["advice_table", "result_table", "swap_table"]

_MEASURES: Final = ("ece", "ece_star", "phrase_error", "brier", "accuracy")
_ALL: Final = "(all)"


def result_table(group: str, results: GroupResults) -> pd.DataFrame:
    """Give one row per group, pathology and measure; ``state`` is estimated or suppressed."""
    rows = list(_measures(group, _ALL, results.overall))
    for pathology, result in results.by_pathology.items():
        rows.extend(_measures(group, pathology, result))
    return pd.DataFrame(rows)


def advice_table(group: str, results: GroupResults) -> pd.DataFrame:
    """Give one row per suggestion or suppressed suggestion, with its reason."""
    rows: list[dict[str, object]] = []
    for pathology, advice in results.advice.items():
        shared = {"reader_code": group, "pathology": pathology or _ALL}
        for s in advice.suggestions:
            facts = {
                f.name: getattr(s, f.name) for f in dataclasses.fields(s) if f.name != "effect"
            }
            rows.append({**shared, "state": "suggested", **facts})
        for w in advice.suppressed:
            rows.append(
                {
                    **shared,
                    "state": "suppressed",
                    "source": w.source,
                    "target": w.target or "",
                    "reason": w.reason,
                }
            )
    return pd.DataFrame(rows, columns=None if rows else ["reader_code", "pathology", "state"])


def swap_table(profile: ReaderProfile | None, reader: str) -> pd.DataFrame:
    """Give one row per swap advised to a reader, in the columns of `advice_table`."""
    rows = [
        {
            "reader_code": reader,
            "pathology": swap.finding or _ALL,
            "state": "suggested",
            "source": swap.phrase,
            "target": swap.instead,
            "n": swap.n,
            "observed": swap.rate.value,
            "low": swap.rate.low,
            "high": swap.rate.high,
            "expected": swap.meaning,
            "target_expected": swap.instead_meaning,
            "probability": swap.probability,
        }
        for swap in (profile.advice if profile else ())
    ]
    return pd.DataFrame(rows, columns=None if rows else ["reader_code", "pathology", "state"])


def _measures(
    group: str, pathology: str, result: GroupResult | None
) -> Iterator[dict[str, object]]:
    for measure in _MEASURES:
        row: dict[str, object] = {
            "reader_code": group, "pathology": pathology, "measure": measure,
            "state": "suppressed", "n": None, "value": None, "low": None, "high": None,
            "reference_level": None,
        }  # fmt: skip
        if result is not None:
            found: Estimate = getattr(result, measure)
            row |= {
                "state": "estimated", "n": found.n, "value": found.value, "low": found.low,
                "high": found.high, "reference_level": found.reference_level,
            }  # fmt: skip
        yield row
