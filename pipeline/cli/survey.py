"""``radcal survey fit``: a hospital's own survey of what its phrases mean → a phrase table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.common import JsonOption, QuietOption, emit
from pipeline.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from calibration.survey import PhraseTable

__all__ = ["register"]

survey = typer.Typer(help="What phrases mean: fit a survey, or write a built-in table.")


def register(app: typer.Typer) -> None:
    """Add ``radcal survey``."""
    app.add_typer(survey, name="survey")


@survey.callback()
def _group() -> None:
    """Surveys of what phrases mean."""


@survey.command("fit")
def fit(
    out: Annotated[Path, typer.Option("--out", help="Phrase table: .csv, .parquet or .jsonl.")],
    answers: Annotated[Path | None, typer.Argument(help="Survey file.")] = None,
    builtin: Annotated[str, typer.Option("--builtin", help="A built-in table by name.")] = "",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Fit one distribution per phrase and write the phrase table."""
    from calibration.errors import CalibrationError
    from pipeline.formats.tables import write_table

    if (answers is None) == (not builtin):
        msg = "survey fit: give either a survey file or --builtin NAME."
        raise ConfigurationError(msg)
    try:
        table = _fit(answers) if answers is not None else _builtin(builtin)
    except CalibrationError as error:
        raise InputError(str(error)) from None
    write_table(table.to_frame(), out)
    emit(
        {"phrases": len(table), "source": table.source, "phrase_table": str(out)},
        as_json=as_json,
        quiet=quiet,
    )


def _builtin(name: str) -> PhraseTable:
    from calibration.survey import builtin

    return builtin(name)


def _fit(path: Path) -> PhraseTable:
    msg = f"{path.name}: survey files come next; use --builtin for now."
    raise InputError(msg)
