"""``radcal profile``: a department's observations → one true thing about each reader, as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pipeline.cli import common
from pipeline.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from calibration.profile import DepartmentProfile, Part
    from calibration.survey import PhraseTable


def register(app: typer.Typer) -> None:
    """Add ``radcal profile``."""
    app.command("profile")(common.taking(profile))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Options of ``radcal profile``."""

    observations: Path = common.argument(
        ..., "Table with columns reader, phrase, label; pathology, patient, exam if known."
    )
    out: Path = common.option(..., "Profile, one JSON file.")
    phrases: str = common.option(
        "diagnostic-certainty-scale", "Phrase table file, or the name of a built-in one."
    )
    never: str = common.option("", "Phrases never to suggest, comma-separated.")
    misread: float = common.option(0.0, "Share of phrases misread, as audited.", min=0.0, max=0.5)
    earlier: Path | None = common.option(
        None, "Observations of a period before, to say what changed since."
    )
    told: Path | None = common.option(
        None,
        "Profile of the issue before, most of whose exams are these: what it told stands "
        "unless refuted, and what is new takes more.",
    )
    output: common.Output


def profile(given: Given) -> None:
    """Judge every reader of a department from one posterior: pattern, habits, certainties, swaps.

    Rows whose phrase the table does not know are counted and set aside (exit code 3); a label
    outside 0 to 1 or missing stops the command (exit code 2). The file is described in
    docs/profile-json.md.
    """
    from calibration.profile.whole import profile_data
    from reports.strings import Strings
    from reports.verdict import message

    found, words = _judged(given), Strings.load()
    messages = {each.reader: message(each, words=words) for each in found}
    common.write_result(given.out, profile_data(found, messages=messages), indent=1)
    set_aside = sum(found.unmapped.values())
    few = found.changes is not None and not found.changes
    why = "not judged: fewer than 3 readers in both periods with hedges enough to compare"
    unjudged = {"changes": why} if few else {}
    directions = [each.pattern.direction for each in found]
    given.output.tell(
        {
            "readers": len(found.readers),
            "directions": {name: directions.count(name) for name in sorted(set(directions))},
            "expected_false": round(found.expected_false, 2),
            **unjudged,
            "unmapped_observations": set_aside,
            "unmapped_phrases": dict(found.unmapped),
            "result": str(given.out),
        },
        set_aside=set_aside,
    )


def _judged(given: Given) -> DepartmentProfile:
    from calibration.profile import changes
    from pipeline.formats.tables import read_table

    table = read_table(given.observations)
    before = None if given.earlier is None else read_table(given.earlier)
    if before is not None and _rows_of(before) == _rows_of(table):
        raise InputError(
            f"--earlier {given.earlier}: holds the same observations; give a period before."
        )
    told = _told(given.told)
    now = _profiled(given.observations, table, given, told)
    if told and not told.keys() & {each.reader for each in now}:
        raise InputError(
            f"--told {given.told}: none of its {len(told)} readers is in {given.observations}; are "
            "the readers named alike?"
        )
    if before is None or given.earlier is None:
        return now
    then = _profiled(given.earlier, before, given, {})
    if not {each.reader for each in then} & {each.reader for each in now}:
        raise InputError(
            f"--earlier {given.earlier}: no reader is in both tables ({len(then.readers)} before, "
            f"{len(now.readers)} now); are the readers named alike?"
        )
    return replace(now, changes=changes(then, now))


def _rows_of(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """Rows in an order of their own, whatever that of rows and columns."""
    columns = sorted(map(str, table.columns))
    return sorted(table[columns].astype(str).itertuples(index=False, name=None))


def _barred(given: Given, table: PhraseTable) -> tuple[str, ...]:
    """Phrases never to suggest, as the table writes them."""
    known = {phrase.casefold(): phrase for phrase in table.phrases}
    names = [name.strip() for name in given.never.split(",") if name.strip()]
    for name in names:
        if name.casefold() not in known:
            like = get_close_matches(name.casefold(), known, n=1)
            meant = f"; did you mean {known[like[0]]!r}?" if like else "."
            raise InputError(f"--never: {name!r} is no phrase of the table {given.phrases}{meant}")
    return tuple(known[name.casefold()] for name in names)


def _told(path: Path | None) -> dict[str, tuple[Part, ...]]:
    """Read what a profile file told of every reader whom it judged."""
    from calibration.profile import ProfileSettings

    if path is None:
        return {}
    try:
        readers = json.loads(path.read_text(encoding="utf-8"))["readers"]
        verdicts = {str(r["reader"]): (r["hedges"], r["pattern"]) for r in readers}
        return {
            name: tuple(pattern["direction"].split(", ")) if pattern["state"] == "pattern" else ()
            for name, (hedges, pattern) in verdicts.items()
            if hedges >= ProfileSettings().least_statements
            if pattern["state"] != "no rise" and pattern.get("untold") != "no standard"
        }
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise InputError(
            f"--told {path}: no file that `radcal profile` writes; give the issue before's."
        ) from None


def _profiled(
    path: Path, observed: pd.DataFrame, given: Given, told: dict[str, tuple[Part, ...]]
) -> DepartmentProfile:
    from calibration.profile import STEPS, ProfileSettings
    from calibration.profile import profile as judge

    table, rules = common.phrase_table(given.phrases), ProfileSettings(misread=given.misread)
    barred = _barred(given, table)
    with common.blaming(path.name), given.output.bar(f"steps of {path.name}", STEPS) as advance:
        return judge(
            observed, phrases=table, settings=rules, never=barred, before=told, advance=advance
        )
