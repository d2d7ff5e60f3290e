"""How closely true months beside shifted times tell a patient's date shift.

An exam performed at t, shifted by s days, is known by t + s and by the month of t. A shift fits an
exam if it leads back into that month; it fits a patient if it fits all of the patient's exams. One
exam leaves 28 to 31 shifts (the vault's lie between -365 and 365 and are never 0); exams on several
days of a month, or either side of its end, leave fewer.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

__all__ = ["FEW", "feasible_shifts", "shift_summary"]

_MOST_DAYS: Final = 365
FEW: Final = 28
"""Shifts that one exam leaves at least."""


def feasible_shifts(exams: pd.DataFrame) -> pd.Series:
    """Count the date shifts that fit each patient's exams.

    Parameters
    ----------
    exams
        ``patient_code, performed_at`` (shifted, UTC) and ``performed_month`` (true, ``YYYY-MM``).

    Returns
    -------
    pd.Series
        Whole days, by ``patient_code``.

    Examples
    --------
    >>> exams = pd.DataFrame({"patient_code": ["A", "B", "B"]})
    >>> days = ["2026-03-10", "2026-03-01", "2026-03-31"]
    >>> exams["performed_at"] = pd.to_datetime(days, utc=True) + pd.Timedelta(days=100)
    >>> exams["performed_month"] = "2026-03"
    >>> feasible_shifts(exams).tolist()
    [31, 1]
    """
    start = pd.to_datetime(exams["performed_month"], format="%Y-%m", utc=True)
    end = start + pd.offsets.MonthBegin(1)
    day = pd.Timedelta(days=1)
    limits = pd.DataFrame(
        {
            "patient_code": exams["patient_code"],
            # Back into the month: start <= t - s < end.
            "least": np.floor((exams["performed_at"] - end) / day) + 1,
            "most": np.floor((exams["performed_at"] - start) / day),
        }
    )
    by_patient = limits.groupby("patient_code", sort=True)
    least = by_patient["least"].max().clip(lower=-_MOST_DAYS)
    most = by_patient["most"].min().clip(upper=_MOST_DAYS)
    none = (least <= 0) & (most >= 0)
    return (most - least + 1 - none).astype(np.int64)


def shift_summary(exams: pd.DataFrame) -> dict[str, int]:
    """Count patients by how many shifts fit their exams."""
    left = feasible_shifts(exams)
    return {
        "patients": len(left),
        f"{FEW} or more": int((left >= FEW).sum()),
        f"8 to {FEW - 1}": int(left.between(8, FEW - 1).sum()),
        "2 to 7": int(left.between(2, 7).sum()),
        "exactly 1": int((left == 1).sum()),
    }
