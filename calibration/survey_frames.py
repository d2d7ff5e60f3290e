"""A survey as a table in any of its usual shapes → answers per phrase.

Shapes understood (names of columns in any case):

1. one row per phrase, a column ``phrase`` and one column per range: ``0``, ``0-5``, ``5-25``, …,
   ``100`` in per cent (or ``0.05-0.25`` as probabilities), or the seven names of the diagnostic
   certainty scale; cells are counts or proportions, which need not sum to 1;
2. one row per range: ``phrase, low, high, count``;
3. one row per answer: ``phrase`` and one of ``percentage, percent, value, answer, response,
   probability``;
4. one row per respondent, one column per phrase; columns that hold no numbers are left out.

Raw answers above 1 are per cent. A range that starts where the last ended, or at the next whole
per cent, continues it. A blank among counts is nobody; a blank answer is somebody who gave none,
and is left out, never an answer of 0 %.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
import pandas as pd

from calibration.arrays import BoolArray, FloatArray
from calibration.distributions import RANGE_END
from calibration.errors import SurveyError
from calibration.survey import builtin_source
from calibration.survey_fit import PhraseSurvey

_ANSWER_COLUMNS = ("percentage", "percent", "value", "answer", "response", "probability")
_COUNT_COLUMNS = ("n", "respondents")
_NONE = np.zeros(0)


def read_survey(
    frame: pd.DataFrame, *, name: str, respondents: int | None = None
) -> tuple[PhraseSurvey, ...]:
    """Understand a survey table; cells may be text.

    Parameters
    ----------
    frame
        The table.
    name
        Its name, for messages.
    respondents
        People asked, where cells are proportions and the table does not say.

    Raises
    ------
    SurveyError
        If the shape is not one of those above, or cells are not usable, naming what is wrong.
    """
    named = frame.rename(columns=lambda c: str(c).strip().lower())
    columns = set(named.columns)
    if named.empty:
        raise SurveyError(f"{name}: the survey has no rows.")
    if "phrase" in columns:
        _refuse(_blank(named[["phrase"]]), named[["phrase"]], "name no phrase", name)
    if {"phrase", "low", "high", "count"} <= columns:
        return _from_long_ranges(named, name)
    answer = next((c for c in _ANSWER_COLUMNS if c in columns), None)
    if "phrase" in columns and answer is not None:
        return _from_answers(named, answer, name)
    if "phrase" in columns:
        return _from_wide_ranges(named, name, respondents)
    return _from_respondents(frame, name)


def _from_wide_ranges(
    frame: pd.DataFrame, name: str, respondents: int | None
) -> tuple[PhraseSurvey, ...]:
    ranges = {c: _range_of(str(c)) for c in frame.columns if c not in ("phrase", *_COUNT_COLUMNS)}
    found = {c: r for c, r in ranges.items() if r is not None}
    if len(found) < 2:
        raise SurveyError(
            f"{name}: no probability ranges among the columns "
            f"({', '.join(map(str, frame.columns))}); name them like 0-5, 5-25, 100."
        )
    order = sorted(found, key=lambda c: found[c])
    percent = max(high for _, high in found.values()) > 1.0
    edges = _edges([found[c] for c in order], 100.0 if percent else 1.0, name)
    cells = np.nan_to_num(_numbers(frame[order], name))
    stated = next((c for c in _COUNT_COLUMNS if c in frame.columns), None)
    people = [_people(row, respondents) for row in cells]
    if stated is not None:
        said = _numbers(frame[[stated]], name)[:, 0]
        people = [None if np.isnan(n) else int(n) for n in said]
    return tuple(
        PhraseSurvey(_phrase(phrase), edges, row, _NONE, n)
        for phrase, row, n in zip(frame["phrase"], cells, people, strict=True)
    )


def _people(row: FloatArray, respondents: int | None) -> int | None:
    """Count respondents: counts sum to them, proportions are shares of all who were asked."""
    total = float(row.sum())
    if total > 1.5 and np.all(row == np.round(row)):
        return round(total)
    return None if respondents is None or not total else round(total * respondents)


def _from_long_ranges(frame: pd.DataFrame, name: str) -> tuple[PhraseSurvey, ...]:
    ends = frame[["low", "high"]]
    _refuse(_blank(ends), ends, "are blank where a range ends", name)
    values = np.nan_to_num(_numbers(frame[["low", "high", "count"]], name))
    scale = 100.0 if values[:, 1].max() > 1.0 else 1.0
    surveys = []
    for phrase, rows in frame.groupby("phrase", sort=False).indices.items():
        part = values[rows][np.lexsort((values[rows, 1], values[rows, 0]))]
        edges = _edges([(low, high) for low, high, _ in part], scale, f"{name}, {phrase}")
        people = _people(part[:, 2], None)
        surveys.append(PhraseSurvey(_phrase(phrase), edges, part[:, 2], _NONE, people))
    return tuple(surveys)


def _from_answers(frame: pd.DataFrame, column: str, name: str) -> tuple[PhraseSurvey, ...]:
    answers = _probabilities(_numbers(frame[[column]], name)[:, 0], name)
    groups = frame.groupby("phrase", sort=False).indices
    given = {phrase: answers[rows] for phrase, rows in groups.items()}
    given = {phrase: said[np.isfinite(said)] for phrase, said in given.items()}
    silent = [str(phrase) for phrase, said in given.items() if not len(said)]
    if silent:
        raise SurveyError(
            f"{name}: no answer is given for {', '.join(silent)}; leave such phrases out."
        )
    return tuple(
        PhraseSurvey(_phrase(phrase), _NONE, _NONE, said, len(said))
        for phrase, said in given.items()
    )


def _from_respondents(frame: pd.DataFrame, name: str) -> tuple[PhraseSurvey, ...]:
    numeric = frame.apply(pd.to_numeric, errors="coerce")
    kept = [c for c in numeric.columns if numeric[c].notna().mean() >= 0.5]
    if not kept:
        raise SurveyError(
            f"{name}: no column named phrase and no column of numbers; "
            "see the shapes a survey may have in docs/method.md."
        )
    everything = numeric[kept].to_numpy(dtype=np.float64)
    scaled = _probabilities(everything, name)
    return tuple(
        PhraseSurvey(_phrase(column), _NONE, _NONE, answers, len(answers))
        for column, values in zip(kept, scaled.T, strict=True)
        for answers in [values[np.isfinite(values)]]
    )


def _probabilities(values: FloatArray, name: str) -> FloatArray:
    known = values[np.isfinite(values)]
    scale = 100.0 if known.max(initial=0.0) > 1.0 else 1.0
    wrong = int(np.sum((known < 0.0) | (known > scale)))
    if wrong:
        raise SurveyError(
            f"{name}: {wrong} of {known.size} answers are outside 0 to {scale:g}; correct them."
        )
    return values / scale


def _phrase(cell: object) -> str:
    return re.sub(r"\s+", " ", str(cell).replace('"', " ")).strip().lower()


@cache
def _scale() -> dict[str, str]:
    """Ranges of the diagnostic certainty scale by the names that they have in its survey."""
    _, facts = builtin_source("diagnostic-certainty-scale")
    return dict(zip(facts["range_names"], facts["range_columns"], strict=True))


def _range_of(column: str) -> tuple[float, float] | None:
    """Low and high of a column's name in its own scale, None if it names no range."""
    text = _scale().get(column, column)
    numbers = [float(x) for x in re.findall(r"\d*\.?\d+", text)]
    if not numbers or len(numbers) > 2 or re.search(r"[a-z]{4,}", text):
        return None
    if text.lstrip(" (").startswith("<"):
        return 0.0, numbers[0]
    return numbers[0], numbers[-1]


def _edges(ranges: Sequence[tuple[float, float]], scale: float, name: str) -> FloatArray:
    """Increasing edges of ranges sorted by their ends; statements of 0 and 1 get a small width."""
    pairs = [(low / scale, high / scale) for low, high in ranges]
    edges = [pairs[0][0]]
    for low, high in pairs:
        start = edges[-1] if low < edges[-1] <= low + 2 * RANGE_END else low
        if not -1e-9 <= start - edges[-1] <= 0.010001:
            raise SurveyError(
                f"{name}: the ranges leave a gap or overlap near {100 * low:g} %; "
                "they must follow one another."
            )
        end = high
        if low == high:
            end = min(edges[-1] + RANGE_END, 1.0)
            if high >= 1.0:
                edges[-1], end = 1.0 - RANGE_END, 1.0
        edges.append(end)
    return np.array(edges)


def _numbers(frame: pd.DataFrame, name: str) -> FloatArray:
    """Cells as numbers, NaN where blank; anything else is refused."""
    numeric = frame.apply(pd.to_numeric, errors="coerce")
    bad = (numeric.isna().to_numpy() & ~_blank(frame)) | (numeric < 0).to_numpy()
    _refuse(bad, frame, "are not numbers of 0 or more", name)
    return np.asarray(numeric.to_numpy(dtype=np.float64))


def _blank(frame: pd.DataFrame) -> BoolArray:
    stripped = frame.astype(str).apply(lambda c: c.str.strip())
    return np.asarray(frame.isna() | (stripped == ""), dtype=np.bool_)


def _refuse(wrong: BoolArray, frame: pd.DataFrame, fault: str, name: str) -> None:
    places = np.argwhere(wrong)
    if len(places):
        row, column = places[0]
        raise SurveyError(
            f"{name}: {len(places)} cells {fault}; first at row {row + 1}, "
            f"column {frame.columns[column]}."
        )
