"""Use of the institution's scale over time: which of its terms X-ray reports use, per quarter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
import pandas as pd

from pipeline.config import Phrases
from pipeline.stages.results import quarters
from reports.content import ScaleUse

__all__ = ["scale_use"]

_CERTAIN: Final = ("absent", "present")


def scale_use(
    pairs: pd.DataFrame,
    report_findings: pd.DataFrame,
    *,
    months: Sequence[str],
    phrases: Phrases,
    minimum: int,
) -> ScaleUse | None:
    """Count hedged phrases of paired X-ray reports; None where there is none in the period.

    Statements of 0 % and 100 % are no use of the scale and are left out. A share of fewer than
    `minimum` phrases, and a term used less often, is withheld.
    """
    stated = report_findings[
        (report_findings["outcome"] == "stated") & ~report_findings["phrase"].isin(_CERTAIN)
    ]
    used = pairs[["xr_exam_key", "performed_month"]].merge(
        stated, left_on="xr_exam_key", right_on="exam_key"
    )
    used = used[used["performed_month"].isin(list(months))]
    if used.empty:
        return None
    spans = {
        q: used[used["performed_month"].isin(inside)] for q, inside in quarters(months).items()
    }
    spans = {name: part for name, part in spans.items() if len(part)}
    terms = used["phrase"].value_counts().sort_index(kind="stable")
    terms = terms.sort_values(ascending=False, kind="stable")
    return ScaleUse(
        periods=tuple(spans),
        n=np.array([len(part) for part in spans.values()], dtype=np.int64),
        recommended=_shares(spans, phrases.recommended, minimum),
        discouraged=_shares(spans, phrases.discouraged, minimum),
        terms=tuple(
            (str(term), int(count), _kind(str(term), phrases))
            for term, count in terms.items()
            if count >= minimum
        ),
    )


def _shares(
    spans: dict[str, pd.DataFrame], named: tuple[str, ...], minimum: int
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(
        [
            float(part["phrase"].isin(list(named)).mean()) if len(part) >= minimum else np.nan
            for part in spans.values()
        ]
    )


def _kind(term: str, phrases: Phrases) -> Literal["recommended", "discouraged", "other"]:
    if term in phrases.recommended:
        return "recommended"
    return "discouraged" if term in phrases.discouraged else "other"
