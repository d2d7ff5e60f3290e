"""The command line: one file per command group, each importing its work only when called."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import Final

import typer

from calibration.errors import CalibrationError
from extraction.errors import ExtractionError
from pipeline.cli.common import audit
from pipeline.errors import ConfigurationError, RadcalError

__all__ = ["app", "main"]

_GROUPS: Final = (
    "calibrate",
    "survey",
    "extract",
    "deidentify",
    "simulate",
    "run",
    "keep",
    "returns",
)
"""Modules of this package; each has ``register(app)``."""

_HOUSE: Final = Path(__file__).resolve().parents[2]

app = typer.Typer(
    name="radcal",
    help="Do a radiologist's words of certainty mean what they think they mean?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _register() -> None:
    app.add_typer(audit, name="audit")
    for group in _GROUPS:
        importlib.import_module(f"pipeline.cli.{group}").register(app)


def main() -> None:
    """Run a command; a failure becomes one message and its exit code, never a traceback.

    An unforeseen exception is named by type and place only: its message could hold report text.
    ``RADCAL_DEBUG=1`` shows the traceback, for use on data that may be seen.
    """
    os.umask(0o077)
    _register()
    try:
        app()
    except RadcalError as error:
        typer.echo(f"radcal: {error}", err=True)
        sys.exit(error.exit_code)
    except (CalibrationError, ExtractionError) as error:
        typer.echo(f"radcal: {error}", err=True)
        sys.exit(ConfigurationError.exit_code)
    except Exception as error:
        if os.environ.get("RADCAL_DEBUG"):
            raise
        typer.echo(f"radcal: unforeseen {type(error).__name__} {_place(error)}.", err=True)
        typer.echo("What was finished is kept. RADCAL_DEBUG=1 shows where it happened.", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("radcal: interrupted; what was finished is kept, run again to go on.", err=True)
        sys.exit(1)


def _place(error: BaseException) -> str:
    """Say where in our own code an exception arose, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if Path(f.filename).resolve().is_relative_to(_HOUSE)]
    if not ours:
        return "outside radcal"
    last = ours[-1]
    return f"in {Path(last.filename).resolve().relative_to(_HOUSE)}, line {last.lineno}"
