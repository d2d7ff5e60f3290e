"""``radcal profile``: a department's observations → one true thing about each reader, as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.common import JsonOption, QuietOption, emit, phrase_table
from pipeline.errors import EXIT_QUARANTINED, InputError

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add ``radcal profile``."""
    app.command("profile")(profile)


def profile(
    observations: Annotated[
        Path,
        typer.Argument(
            help="Table with columns reader, phrase, label; pathology, patient, exam if known."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", help="Profile, one JSON file.")],
    phrases: Annotated[
        str, typer.Option("--phrases", help="Phrase table file, or the name of a built-in one.")
    ] = "diagnostic-certainty-scale",
    never: Annotated[
        str, typer.Option("--never", help="Phrases never to suggest, comma-separated.")
    ] = "",
    misread: Annotated[
        float,
        typer.Option("--misread", min=0.0, max=0.5, help="Share of phrases misread, as audited."),
    ] = 0.0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Judge every reader of a department from one posterior: pattern, habits, certainties, swaps.

    Rows whose phrase the table does not know are counted and set aside (exit code 3); a label
    outside 0 to 1 or missing stops the command (exit code 2). The file is described in
    docs/profile-json.md.
    """
    from calibration.errors import CalibrationError
    from calibration.profile import ProfileSettings
    from calibration.profile import profile as judge
    from calibration.profile.whole import profile_data
    from pipeline.formats.tables import read_table
    from pipeline.store.files import replacing
    from reports.strings import Strings
    from reports.verdict import message

    table, words = phrase_table(phrases), Strings.load()
    barred = tuple(name.strip() for name in never.split(",") if name.strip())
    try:
        rows, rules = read_table(observations), ProfileSettings(misread=misread)
        found = judge(rows, phrases=table, settings=rules, never=barred)
    except CalibrationError as error:
        msg = f"{observations.name}: {error}"
        raise InputError(msg) from None
    messages = {each.reader: message(each, words=words) for each in found}
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as partial:
        text = json.dumps(profile_data(found, messages=messages), allow_nan=False, indent=1)
        partial.write_text(text, encoding="utf-8")
    set_aside = sum(found.unmapped.values())
    summary: dict[str, object] = {
        "readers": len(found.readers),
        "directions": _tally([each.pattern.direction for each in found]),
        "expected_false": round(found.expected_false, 2),
        "unmapped_observations": set_aside,
        "unmapped_phrases": dict(found.unmapped),
        "result": str(out),
    }
    emit(summary, as_json=as_json, quiet=quiet)
    if set_aside:
        raise typer.Exit(EXIT_QUARANTINED)


def _tally(directions: list[str]) -> dict[str, int]:
    return {name: directions.count(name) for name in sorted(set(directions))}
