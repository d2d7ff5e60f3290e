"""An addendum sent by itself → the report as it stood with it.

Some systems send an addendum with the whole report above it, others the addendum alone. Read alone,
an addendum that only names who was called would make a CT silent about everything it showed. So a
version that is an addendum is read with the versions before it, back to the last that is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import pandas as pd

from pipeline.tables.versions import VERSION_COLUMNS, in_time

__all__ = ["joined", "parts"]

_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_SHARE: Final = 0.6
"""An addendum with this share of the report's different words holds the report itself."""
_SIGNED: Final = ("final", "corrected")
_HEADING: Final = re.compile(r"\s{0,8}addend", re.IGNORECASE)


def parts(exams: pd.DataFrame, chosen: Sequence[str]) -> pd.DataFrame:
    """Find what each chosen addendum is to be read with.

    Parameters
    ----------
    exams
        ``exam_key, study_code, reader_code, status, signed_at, shard``, `versions.VERSION_COLUMNS`.
    chosen
        Keys of the versions that will be read.

    Returns
    -------
    pd.DataFrame
        ``exam_key, part_key, shard`` in the order of signing, the addendum itself last; nothing
        for versions that are no addendum or have no signed version before them.
    """
    columns = ["exam_key", "study_code", "reader_code", "status", "signed_at", "shard"]
    columns += VERSION_COLUMNS
    wanted = exams["exam_key"].isin(set(chosen)) & (exams["status"] == "addendum")
    studies = exams.loc[exams["study_code"].isin(exams.loc[wanted, "study_code"]), columns]
    signed = studies[studies["status"].isin((*_SIGNED, "addendum")) & studies["signed_at"].notna()]
    keys = set(exams.loc[wanted, "exam_key"])
    rows: list[tuple[str, str, str]] = []
    for _, versions in in_time(signed).groupby("study_code"):
        whole: list[tuple[str, str]] = []
        for key, status, shard in versions[["exam_key", "status", "shard"]].itertuples(index=False):
            whole = [*(whole if status == "addendum" else []), (key, shard)]
            if key in keys and len(whole) > 1:
                rows += [(key, part, place) for part, place in whole]
    return pd.DataFrame(rows, columns=["exam_key", "part_key", "shard"], dtype="str")


def joined(texts: Sequence[str]) -> str:
    r"""Put a report and its addenda together; an addendum that holds the report replaces it.

    Examples
    --------
    >>> joined(["Small effusion.", "Called to the ward."])
    'Small effusion.\n\nADDENDUM:\nCalled to the ward.'
    """
    report, *addenda = texts
    for addendum in addenda:
        known = set(map(str.casefold, _WORD.findall(report)))
        kept = known & set(map(str.casefold, _WORD.findall(addendum)))
        if len(kept) >= _SHARE * len(known):
            report = addendum
        else:
            heading = "" if _HEADING.match(addendum) else "ADDENDUM:\n"
            report = f"{report}\n\n{heading}{addendum}"
    return report
