"""The acceptance table: shares of yes by question, with binomial intervals and what is wanted."""

from __future__ import annotations

from typing import Final

import numpy as np
import pandas as pd

from benchmarks.departments.judge import NO_VERDICT
from calibration.phrase_calibration import wilson

__all__ = ["WANTED", "acceptance", "shares"]

_RIGHT: Final = "clearly off: told so, and nothing false"

WANTED: Final = (
    (NO_VERDICT, None, "never"),
    (_RIGHT, 1000, ">= 95 %"),
    (_RIGHT, 300, ">= 85 %"),
    (_RIGHT, 185, ">= 60 %"),
    (_RIGHT, 100, ">= 40 %"),
    ("clearly off: told part of it, and nothing false", None, ""),
    ("clearly off: told something false", None, ""),
    ("clearly off: told of no pattern", None, ""),
    ("clearly off in disease: told part of it, nothing false", None, ""),
    ("told what disease does not bear out", None, ""),
    ("calibrated: told of a pattern", None, "<= 5 %"),
    ("calibrated: told of a pattern, and not as a question", None, ""),
    ("calibrated: told a pattern that CT does not bear out", None, ""),
    ("calibrated with a habit: told a false pattern", None, ""),
    ("told to move away from the truth", None, "never"),
    ("of all readers: something stated", None, ""),
    ("of all readers: stated what disease does not bear out", None, ""),
    ("first swap is worse in truth", None, "<= 5 %"),
    ("second or third swap is worse in truth", None, "<= 8 %"),
    ("habit found at its own scope", None, ">= 80 %"),
    ("without a habit: told of one that is none", None, ""),
    ("given a swap (clearly off)", None, ""),
    ("given a swap (slightly off)", None, ""),
    ("given a swap (calibrated)", None, ""),
    ("given a swap (calibrated with a habit)", None, ""),
    ("interval of shift covers", None, "93-97 %"),
    ("interval of slope covers", None, "93-97 %"),
    ("interval of rate of an advised word covers", None, "93-97 %"),
    ("interval of rate of a hedge covers", None, "93-97 %"),
    ("interval of rate of a hedge far off covers", None, ""),
)
"""Questions in order, the volume they are asked at (None: all), and what is wanted."""


def shares(answers: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Return n, yes, share and its 95 % Wilson interval by columns of the answers."""
    counted = answers.groupby(by, sort=False)["yes"].agg(n="size", yes="sum").reset_index()
    yes, n = (counted[name].to_numpy(dtype=np.float64) for name in ("yes", "n"))
    low, high = wilson(yes, n)
    return counted.assign(share=yes / n, low=low, high=high)


def acceptance(answers: pd.DataFrame) -> str:
    """Return the table as text; a question nobody was asked says so."""
    lines = []
    for question, exams, wanted in WANTED:
        asked = answers[answers["question"] == question]
        if exams is not None:
            asked = asked[asked["exams"] == exams]
        name = question if exams is None else f"{question}, {exams} exams"
        lines.append(f"{name:58s} {_share(asked)}  {wanted}".rstrip())
    return "\n".join(lines)


def _share(asked: pd.DataFrame) -> str:
    if asked.empty:
        return f"{'not asked':>28s}"
    row = shares(asked, ["question"]).iloc[0]
    return (
        f"{row['share']:6.1%} ({row['low']:.1%} to {row['high']:.1%})".ljust(24)
        + f" of {int(row['n']):5d}"
    )
