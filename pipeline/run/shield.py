"""Keep what an unforeseen exception says away from logs, databases and terminals.

The message of an exception nobody foresaw may hold report text (a ``KeyError`` quotes its key), and
Prefect stores messages. So work is run behind this shield: errors written for users pass, others
are replaced by their type and the place in our code. ``RADCAL_DEBUG=1`` lets everything through,
for use on data that may be seen.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

from calibration.errors import CalibrationError
from extraction.errors import ExtractionError, ModelOutageError
from pipeline.errors import ConfigurationError, RadcalError
from pipeline.store.files import storage_error

__all__ = ["UnforeseenError", "in_words", "shielded"]

P = ParamSpec("P")
R = TypeVar("R")

_HOUSE: Final = Path(__file__).resolve().parents[2]
_FORESEEN: Final = (RadcalError, CalibrationError, ExtractionError, BrokenProcessPool)


class UnforeseenError(RadcalError):
    """Something nobody foresaw, named by its type and place only."""

    @classmethod
    def of(cls, error: BaseException) -> UnforeseenError:
        """Describe an exception without its message."""
        place = place_of(error)
        return cls(
            f"unforeseen {type(error).__name__} {place}. What was finished is kept. "
            "RADCAL_DEBUG=1 shows the whole traceback."
        )


def shielded(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function; let foreseen errors pass and replace all others.

    Raises
    ------
    StorageError
        In place of what the system says of a full, read-only or failing disk.
    UnforeseenError
        In place of any other exception not written for users.
    """
    try:
        return function(*args, **kwargs)
    except _FORESEEN:
        raise
    except Exception as error:
        if known := storage_error(error):
            raise known from None
        if os.environ.get("RADCAL_DEBUG"):
            raise
        raise UnforeseenError.of(error) from None


def in_words(error: BaseException) -> tuple[str, int]:
    """Give what may be told of any exception, and its exit code."""
    if isinstance(error, RadcalError):
        return str(error), error.exit_code
    if isinstance(error, ModelOutageError):
        return str(error), RadcalError.exit_code
    if isinstance(error, (CalibrationError, ExtractionError)):
        return str(error), ConfigurationError.exit_code
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; what was finished is kept, run again to go on.", RadcalError.exit_code
    return str(UnforeseenError.of(error)), UnforeseenError.exit_code


def place_of(error: BaseException) -> str:
    """Say where in our own code an exception arose."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if Path(f.filename).resolve().is_relative_to(_HOUSE)]
    inside = [f for f in ours if ".venv" not in f.filename]
    if not inside:
        return "outside radcal"
    last = inside[-1]
    return f"in {Path(last.filename).resolve().relative_to(_HOUSE)}, line {last.lineno}"
