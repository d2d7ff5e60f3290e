"""``radcal survey fit``: a hospital's own survey of what its phrases mean → a phrase table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import typer

from calibration.errors import CalibrationError
from pipeline.cli.common import Output, argument, group, one_of, option, taking
from pipeline.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    import pandas as pd

    from calibration.survey import PhraseTable
    from calibration.survey_fit import FittedPhrase


def register(app: typer.Typer) -> None:
    """Add ``radcal survey``."""
    survey = group("What phrases mean: fit a survey, or write a built-in table.")
    survey.command("fit")(taking(fit))
    app.add_typer(survey, name="survey")


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """Options of ``radcal survey fit``."""

    out: Path = option(..., "Phrase table: .csv, .parquet or .jsonl.")
    answers: Path | None = argument(None, "Survey file.")
    builtin: str = option("", "A built-in table by name.")
    method: str = option("moments", "moments or likelihood.")
    respondents: int = option(0, "People asked, if cells are proportions.", min=0)
    bootstrap: int = option(0, "Respondent resamples for intervals.", min=0)
    seed: int = option(0, min=0)
    output: Output


def fit(given: Given) -> None:
    """Fit one distribution per phrase and write the phrase table.

    The survey may count respondents per range or list raw percentages, in any of the shapes that
    docs/method.md describes. The phrases absent and present become atoms.
    """
    from calibration.survey import builtin
    from pipeline.formats.tables import write_table

    left_out: tuple[str, ...] = ()
    if (given.answers is None) == (not given.builtin):
        raise ConfigurationError("survey fit: give either a survey file or --builtin NAME.")
    try:
        if given.answers is None:
            table = builtin(given.builtin)
            frame = table.to_frame()
        else:
            table, frame, left_out = _fit(given, given.answers)
    except CalibrationError as error:
        raise InputError(str(error)) from None
    write_table(frame, given.out)
    told = {"phrases": len(table), "source": table.source, "phrase_table": str(given.out)}
    given.output.tell(told | ({"columns_left_out": list(left_out)} if left_out else {}))


def _fit(given: Given, path: Path) -> tuple[PhraseTable, pd.DataFrame, tuple[str, ...]]:
    """Fit a survey's answers; give the table, its frame, and the columns left out."""
    import numpy as np
    import pandas as pd

    from calibration.survey_fit import FitMethod, fit_survey
    from calibration.survey_frames import columns_left_out, read_survey
    from pipeline.formats.tables import read_table

    one_of("--method", given.method, get_args(FitMethod))
    answers = read_table(path)
    surveys = read_survey(answers, name=path.name, respondents=given.respondents or None)
    table, fits = fit_survey(
        given.output.each("fitting", surveys),
        name=path.name,
        method=given.method,  # type: ignore[arg-type]
        bootstrap=given.bootstrap,
        rng=np.random.default_rng(given.seed),
    )
    frame = table.to_frame()
    frame = pd.concat([frame, _intervals(fits)], axis=1) if given.bootstrap else frame
    return table, frame, columns_left_out(answers)


def _intervals(fits: Sequence[FittedPhrase]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        {
            f"{name}_{end}": getattr(fitted, name)[place]
            for name in ("alpha", "beta", "mean")
            for place, end in enumerate(("low", "high"))
        }
        for fitted in fits
    ]
    return pd.DataFrame(rows)
