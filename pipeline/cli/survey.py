"""``radcal survey fit``: a hospital's own survey of what its phrases mean → a phrase table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

import typer

from pipeline.cli.common import Output, argument, group, one_of, option, taking
from pipeline.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    import pandas as pd

    from calibration.distributions import UniformMixture
    from calibration.survey import PhraseTable
    from calibration.survey_fit import FittedPhrase

_STANDALONE: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" font-family="DejaVu Sans Condensed, sans-serif"'
)


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """A phrase table with what is known about its making."""

    table: PhraseTable
    answers: list[UniformMixture | None]
    intervals: pd.DataFrame | None


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
    plot: Path | None = option(None, "Fits over the answers: .svg or .pdf.")
    output: Output


def fit(given: Given) -> None:
    """Fit one distribution per phrase and write the phrase table.

    The survey may count respondents per range or list raw percentages, in any of the shapes that
    docs/method.md describes. The phrases absent and present become atoms.
    """
    from calibration.errors import CalibrationError
    from pipeline.formats.tables import write_table

    _check(given)
    try:
        fitted = _builtin(given.builtin) if given.answers is None else _fit(given, given.answers)
    except CalibrationError as error:
        raise InputError(str(error)) from None
    write_table(_frame(fitted), given.out)
    summary: dict[str, object] = {
        "phrases": len(fitted.table),
        "source": fitted.table.source,
        "phrase_table": str(given.out),
    }
    if given.plot is not None:
        _draw(fitted, given.plot)
        summary["plot"] = str(given.plot)
    given.output.tell(summary)


def _check(given: Given) -> None:
    """Refuse options that do not go together."""
    if (given.answers is None) == (not given.builtin):
        message = "survey fit: give either a survey file or --builtin NAME."
        raise ConfigurationError(message)
    if given.plot is not None and given.plot.suffix.lower() not in {".svg", ".pdf"}:
        message = f"--plot {given.plot.name}: use a name that ends in .svg or .pdf."
        raise ConfigurationError(message)


def _builtin(name: str) -> _Fitted:
    from calibration.survey import builtin, builtin_answers

    table = builtin(name)
    known = builtin_answers(name)
    return _Fitted(table, [known.get(phrase) for phrase in table.phrases], None)


def _fit(given: Given, path: Path) -> _Fitted:
    import numpy as np

    from calibration.survey_fit import FitMethod, fit_survey
    from calibration.survey_frames import read_survey
    from pipeline.formats.tables import read_table

    method, bootstrap = given.method, given.bootstrap
    one_of("--method", method, get_args(FitMethod))
    surveys = read_survey(read_table(path), name=path.name, respondents=given.respondents or None)
    rng = np.random.default_rng(given.seed)
    table, fits = fit_survey(
        given.output.each("fitting", surveys),
        name=path.name,
        method=method,  # type: ignore[arg-type]
        bootstrap=bootstrap,
        rng=rng,
    )
    shown = [s.histogram() if s.is_raw or s.counts.sum() > 0 else None for s in surveys]
    return _Fitted(table, shown, _intervals(fits) if bootstrap else None)


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


def _frame(fitted: _Fitted) -> pd.DataFrame:
    import pandas as pd

    frame = fitted.table.to_frame()
    return frame if fitted.intervals is None else pd.concat([frame, fitted.intervals], axis=1)


def _draw(fitted: _Fitted, path: Path) -> None:
    from reports.drawing.pdf import DocumentInfo, to_pdf
    from reports.drawing.web import to_svg
    from reports.figures.counts import Surveyed, survey_fit

    table = fitted.table
    asked = zip(table.phrases, table.respondents, strict=True)
    titles = [phrase if n is None else f"{phrase} (n = {n})" for phrase, n in asked]
    drawing = survey_fit(
        [Surveyed(*each) for each in zip(titles, table.distributions, fitted.answers, strict=True)]
    )
    if path.suffix.lower() == ".svg":
        svg = to_svg(drawing, label=table.source, values="whole")
        path.write_text(svg.replace("<svg", _STANDALONE, 1), encoding="utf-8")
    else:
        path.write_bytes(to_pdf([drawing], info=DocumentInfo(table.source, "radcal", "Survey")))
