"""Use of the institution's scale over time: which of its terms X-ray reports use, per quarter."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from calibration.groups import quarters
from pipeline.pages.small_cells import few_users
from reports.content import SuppressedCell
from reports.review_content import ScaleUse

if TYPE_CHECKING:
    from pipeline.config import Phrases

__all__ = ["scale_use"]


def scale_use(
    words: pd.DataFrame,
    *,
    months: Sequence[str],
    phrases: Phrases,
    minimum: int,
    minimum_readers: int,
    withheld: Collection[str] = (),
) -> ScaleUse | None:
    """Share out the hedges of paired X-ray reports (`sums.words`); None where there is none.

    Statements of 0 % and 100 % are no use of the scale and are not among them. A share of fewer
    than `minimum` phrases is withheld, and so is the count of a term used less often, or by fewer
    than `minimum_readers`, or named in `withheld` by another table of the same page.
    """
    used = words[words["performed_month"].isin(list(months))]
    if used.empty:
        return None
    spans = {
        q: used[used["performed_month"].isin(inside)] for q, inside in quarters(months).items()
    }
    spans = {name: part for name, part in spans.items() if len(part)}
    terms = used.groupby("phrase")["n"].sum()
    terms = terms.sort_values(ascending=False, kind="stable")
    counts = {str(term): int(count) for term, count in terms.items()}
    users = used.groupby("phrase")["reader_code"].nunique()
    cells = _withheld(
        counts,
        {str(term): int(n) for term, n in users.items()},
        minimum=minimum,
        minimum_readers=minimum_readers,
        named=withheld,
    )
    return ScaleUse(
        periods=tuple(spans),
        n=np.array([part["n"].sum() for part in spans.values()], dtype=np.int64),
        recommended=_shares(spans, phrases.recommended, minimum),
        discouraged=_shares(spans, phrases.discouraged, minimum),
        terms=tuple(
            (term, cells.get(term, count), _kind(term, phrases)) for term, count in counts.items()
        ),
    )


def _withheld(
    counts: Mapping[str, int],
    users: Mapping[str, int],
    *,
    minimum: int,
    minimum_readers: int,
    named: Collection[str],
) -> dict[str, SuppressedCell]:
    """Give the terms whose count may not be printed, and why."""
    few = few_users(
        {term: n for term, n in counts.items() if term not in named},
        users,
        minimum_n=minimum,
        minimum_readers=minimum_readers,
    )
    cells = {term: SuppressedCell(minimum) for term, n in counts.items() if n < minimum}
    for term in (*few, *(term for term in named if term in counts)):
        cells.setdefault(term, SuppressedCell(minimum_readers, "readers"))
    return cells


def _shares(
    spans: dict[str, pd.DataFrame], named: tuple[str, ...], minimum: int
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(
        [
            float(part.loc[part["phrase"].isin(list(named)), "n"].sum() / part["n"].sum())
            if part["n"].sum() >= minimum
            else np.nan
            for part in spans.values()
        ]
    )


def _kind(term: str, phrases: Phrases) -> Literal["recommended", "discouraged", "other"]:
    if term in phrases.recommended:
        return "recommended"
    return "discouraged" if term in phrases.discouraged else "other"
