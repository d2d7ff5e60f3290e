"""Observations of a period → every reader's profile, judged together once an issue.

One posterior needs all readers at once, so it is fitted with the issue, and each page takes its
own row. A department of fewer readers than may be shown together is judged reader by reader: what
is drawn toward the others would tell of them.

``profiles``: ``reader_code`` ("" for the department without its readers), ``profile`` (JSON of the
dataclass). No rows: the posterior was not found, and nobody is judged.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Final

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals
from pydantic import TypeAdapter

from calibration.arrays import settled
from calibration.errors import NotConvergedError
from calibration.profile import (
    Change,
    DepartmentProfile,
    Part,
    ProfileSettings,
    ReaderProfile,
    changes,
    profile,
)
from calibration.survey import PhraseTable
from pipeline.tables.pairing import UNKNOWN

OBSERVED: Final = ("pair_id", "patient_code", "reader_code", "pathology", "phrase", "label",
                   "site_code", "performed_month", "weight")  # fmt: skip
"""Columns of the observations that a profile needs."""

_DEPARTMENT: Final = ""
_LEAST: Final = ProfileSettings().least_statements
_WORDS: Final = ("reader", "pathology", "phrase", "site", "month")
_READER: Final = TypeAdapter(ReaderProfile)
_WHOLE: Final = TypeAdapter(DepartmentProfile)


@dataclass(frozen=True, slots=True)
class Past:
    """What came before an issue: observations of the months before its own, and its last profiles.

    ``profiles`` are those of the newest issue that shares some of this one's months.
    """

    observations: pd.DataFrame | None = None
    profiles: pd.DataFrame | None = None

    def told(self) -> dict[str, tuple[Part, ...]]:
        """Give the parts that the issue before stated of each reader it judged.

        Read key by key: another version may have written it, with other fields than
        `ReaderProfile`.
        """
        rows = () if self.profiles is None else self.profiles.itertuples(index=False)
        found = {str(row.reader_code): json.loads(str(row.profile)) for row in rows}
        return {
            code: tuple(each["pattern"]["verdict"]["parts"])
            for code, each in found.items()
            if code != _DEPARTMENT and each["hedges"] >= _LEAST
            if each["pattern"]["verdict"]["state"] != "no rise"
            if each["pattern"]["verdict"].get("untold") != "no standard"
        }


def compact(rows: pd.DataFrame) -> pd.DataFrame:
    """Give one block's observations in the columns of a profile, as categories and numbers."""
    return pd.DataFrame(
        {
            "reader": pd.Categorical(rows["reader_code"]),
            "pathology": pd.Categorical(rows["pathology"]),
            "phrase": pd.Categorical(rows["phrase"]),
            "site": pd.Categorical(rows["site_code"].where(rows["site_code"] != UNKNOWN, "")),
            "month": pd.Categorical(rows["performed_month"]),
            "label": rows["label"].to_numpy(np.float64),
            "count": rows["weight"].to_numpy(np.float64),
            "patient": pd.factorize(rows["patient_code"])[0],
            "exam": pd.factorize(rows["pair_id"])[0],
        }
    )


def joined(blocks: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate compact blocks; numbers of patients and exams are made unique across blocks."""
    kept = [block for block in blocks if len(block)]
    if not kept:
        return pd.DataFrame()
    numbered: dict[str, list[np.ndarray]] = {"patient": [], "exam": []}
    start = {"patient": 0, "exam": 0}
    for block in kept:
        for name, parts in numbered.items():
            parts.append(block[name].to_numpy() + start[name])
            start[name] += int(block[name].max()) + 1
    return pd.DataFrame(
        {name: union_categoricals([block[name] for block in kept]) for name in _WORDS}
        | {name: np.concatenate([block[name] for block in kept]) for name in ("label", "count")}
        | {name: np.concatenate(parts) for name, parts in numbered.items()}
    )


def profile_table(
    observations: pd.DataFrame,
    *,
    phrases: PhraseTable,
    never: Collection[str],
    min_readers: int,
    settings: ProfileSettings | None = None,
    past: Past | None = None,
) -> pd.DataFrame:
    """Judge all readers; one row a reader, and one for the department where it may be shown.

    Parameters
    ----------
    observations
        As `joined` gives them.
    never
        Phrases that are never suggested.
    settings
        Rules of decision, with the share of phrases that extraction misreads.
    past
        What came before, to say what changed in a department that may be shown, and so that
        patterns are not told anew for what most of the same exams have told before.
    """
    before = Past() if past is None else past
    rules = ProfileSettings() if settings is None else settings
    readers = observations["reader"].unique() if len(observations) else ()
    groups = [observations] if len(readers) >= max(min_readers, 2) else [
        observations[observations["reader"] == reader] for reader in sorted(readers)
    ]  # fmt: skip
    found: list[tuple[str, object]] = []
    for group in groups:
        try:
            judged = profile(
                group, phrases=phrases, settings=rules, never=never, before=before.told()
            )
        except NotConvergedError:
            continue
        if len(groups) == 1 and len(judged.readers) > 1:
            moved = _changes(judged, before.observations, phrases, rules)
            found.append((_DEPARTMENT, replace(judged, readers=(), changes=moved)))
        found += [(each.reader, each) for each in judged]
    rows = [(code, json.dumps(_settled(asdict(each)))) for code, each in found]  # type: ignore[call-overload]
    return pd.DataFrame(rows, columns=["reader_code", "profile"], dtype="object")


def _changes(
    judged: DepartmentProfile,
    earlier: pd.DataFrame | None,
    phrases: PhraseTable,
    rules: ProfileSettings,
) -> tuple[Change, ...] | None:
    """Say what changed since the period before: of nobody where too little is known of it.

    None where nothing was to be compared, or it can't be judged.
    """
    if earlier is None or earlier.empty:
        return None if earlier is None else ()
    try:
        return changes(profile(earlier, phrases=phrases, settings=rules), judged)
    except NotConvergedError:
        return None


def _settled(value: object) -> object:
    """Drop the digits in which two processors differ from every number of a nested value."""
    if isinstance(value, float):
        return float(settled(np.array([value]))[0])
    if isinstance(value, dict):
        return {key: _settled(each) for key, each in value.items()}
    return [_settled(each) for each in value] if isinstance(value, list | tuple) else value


def profile_of(table: pd.DataFrame, reader: str) -> ReaderProfile | None:
    """Read one reader's profile; None where the reader was not judged."""
    text = _text(table, reader)
    return None if text is None else _READER.validate_python(json.loads(text))


def department_of(table: pd.DataFrame) -> DepartmentProfile | None:
    """Read the department's profile with its readers; None where it was not judged as one."""
    text = _text(table, _DEPARTMENT)
    if text is None:
        return None
    whole = _WHOLE.validate_python(json.loads(text))
    codes = sorted(code for code in table["reader_code"] if code != _DEPARTMENT)
    readers = (profile_of(table, code) for code in codes)
    return replace(whole, readers=tuple(each for each in readers if each is not None))


def to_check(table: pd.DataFrame) -> int | None:
    """Count the readers of whom something does not rise with CT; None where not judged as one."""
    if (found := department_of(table)) is None:
        return None
    return sum(bool(reader.aside) for reader in found.readers)


def _text(table: pd.DataFrame, code: str) -> str | None:
    rows = table.loc[table["reader_code"] == code, "profile"]
    return None if rows.empty else str(rows.iloc[0])
