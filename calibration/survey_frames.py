"""A survey as a table in any of its usual shapes → answers per phrase.

Shapes understood (names of columns in any case):

1. one row per phrase, a column ``phrase`` and one column per range: ``0``, ``0-5``, ``5-25``, …,
   ``100`` in per cent (or ``0.05-0.25`` as probabilities), or the seven names of the diagnostic
   certainty scale; cells are counts or proportions, which need not sum to 1;
2. one row per range: ``phrase, low, high, count``;
3. one row per answer: ``phrase`` and one of ``percentage, percent, value, answer, response,
   probability``;
4. one row per respondent, one column per phrase.

Answers are per cent where one has a % behind it or is above 1; then a bare one between 0 and 1
could be either and is refused. A range that starts where the last ended, or at the next whole
per cent, continues it. A blank among counts is nobody; a blank answer is somebody who gave none,
and is left out, never an answer of 0 %. In shape 4 a column that holds no number, numbers the
rows or whose title tells of the respondent is no phrase; in shape 1 one that names no range is
none. `columns_left_out` says which these are.
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
_WHO = re.compile(
    r"(?:(?:respondent|participant|reader|rater|radiologist|user|subject|person|befunder|teilnehmer)"
    r"s?[ _-]?)?(?:id|nr|no|number|code|initials|name|kürzel|)[.]?"
    r"|(?:your[ _])?"
    r"(?:age|alter|date|datum|timestamp|zeitstempel|experience|berufsjahre|years?|jahre)"
    r"(?:[ _-]?(?:group|band)|[ _(]+(?:in[ _])?(?:years?|jahren?)[)]?"
    r"|[ _](?:of|in|since|as|der)[ _].*)?"
)
"""The whole title of a column that tells of the respondent."""
_COMMA = r"\s*\d+,\d+\s*"
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


def columns_left_out(frame: pd.DataFrame) -> tuple[str, ...]:
    """Name the columns of a survey table of which `read_survey` reads nothing."""
    named = {str(c).strip().lower(): str(c) for c in frame.columns}
    read = {"phrase", "low", "high", "count"}
    if "phrase" not in named:
        read = {str(c).strip().lower() for c in _asked(frame)}
    elif not read <= set(named):
        answer = {*[c for c in _ANSWER_COLUMNS if c in named][:1]}
        ranges = {c for c in named if c in _COUNT_COLUMNS or _range_of(c) is not None}
        read = {"phrase"} | (answer or ranges)
    return tuple(title for name, title in named.items() if name not in read)


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
    people = _people(cells, cells.sum(axis=1), respondents)
    if stated is not None:
        said = _numbers(frame[[stated]], name)[:, 0]
        people = [None if np.isnan(n) else int(n) for n in said]
    return tuple(
        PhraseSurvey(_phrase(phrase), edges, row, _NONE, n)
        for phrase, row, n in zip(frame["phrase"], cells, people, strict=True)
    )


def _people(cells: FloatArray, totals: FloatArray, respondents: int | None) -> list[int | None]:
    """Count each phrase's respondents: a table's counts sum to them, proportions are of all asked.

    Whole cells are counts where any phrase's add up to more than one respondent.
    """
    if totals.max(initial=0.0) > 1.5 and np.all(cells == np.round(cells)):
        return [round(total) for total in totals.tolist()]
    asked = 0 if respondents is None else respondents
    return [round(total * asked) or None for total in totals.tolist()]


def _from_long_ranges(frame: pd.DataFrame, name: str) -> tuple[PhraseSurvey, ...]:
    ends = frame[["low", "high"]]
    _refuse(_blank(ends), ends, "are blank where a range ends", name)
    values = np.nan_to_num(_numbers(frame[["low", "high", "count"]], name))
    scale = 100.0 if values[:, 1].max() > 1.0 else 1.0
    surveys, groups = [], frame.groupby("phrase", sort=False).indices
    totals = np.array([values[rows, 2].sum() for rows in groups.values()])
    people = _people(values[:, 2], totals, None)
    for (phrase, rows), n in zip(groups.items(), people, strict=True):
        part = values[rows][np.lexsort((values[rows, 1], values[rows, 0]))]
        edges = _edges([(low, high) for low, high, _ in part], scale, f"{name}, {phrase}")
        surveys.append(PhraseSurvey(_phrase(phrase), edges, part[:, 2], _NONE, n))
    return tuple(surveys)


def _from_answers(frame: pd.DataFrame, column: str, name: str) -> tuple[PhraseSurvey, ...]:
    answers = _probabilities(frame[[column]], name)[:, 0]
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
    kept = _asked(frame)
    if not kept:
        raise SurveyError(
            f"{name}: no column named phrase and no column of numbers; "
            "see the shapes a survey may have in docs/method.md."
        )
    scaled = _probabilities(frame[kept], name)
    return tuple(
        PhraseSurvey(_phrase(column), _NONE, _NONE, answers, len(answers))
        for column, values in zip(kept, scaled.T, strict=True)
        for answers in [values[np.isfinite(values)]]
    )


def _asked(frame: pd.DataFrame) -> list[object]:
    """Columns that may hold answers: some number, and no respondent's; no first one of row numbers.

    One of decimal commas is among them, to be refused and not left out.
    """
    bare, _ = _bare(frame)
    numeric = bare.apply(pd.to_numeric, errors="coerce")
    some = numeric.notna().any() | bare.apply(lambda c: c.astype(str).str.fullmatch(_COMMA).any())
    first = numeric.iloc[:, 0]
    counts = bool((first.diff().iloc[1:] == 1.0).all()) and first.iloc[0] <= 1.0
    some.iloc[0] &= not (counts and len(frame) > 2)
    return [c for c in frame.columns if some[c] and not _WHO.fullmatch(str(c).strip().lower())]


def _bare(frame: pd.DataFrame) -> tuple[pd.DataFrame, BoolArray]:
    """Cells without the % behind them, and where it stood."""
    text = frame.astype(str).apply(lambda c: c.str.strip())
    signed = text.apply(lambda c: c.str.endswith("%"))
    return frame.mask(signed, text.apply(lambda c: c.str.rstrip("% "))), signed.to_numpy()


def _probabilities(frame: pd.DataFrame, name: str) -> FloatArray:
    """Answers as probabilities, NaN where blank."""
    bare, signed = _bare(frame)
    values = _numbers(bare, name)
    scale = 100.0 if signed.any() or np.nanmax(values, initial=0.0) > 1.0 else 1.0
    _refuse(values > scale, frame, f"are outside 0 to {scale:g}", name)
    unclear = (scale > 1.0) & (values > 0.0) & (values < 1.0) & ~signed
    fault = "lie between 0 and 1 where others are per cent (write half a per cent as 0.5%)"
    _refuse(unclear, frame, fault, name)
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
