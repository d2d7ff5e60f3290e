"""What can go wrong in the numerics; every message says what, where, how many and what next."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, get_args

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike


_WORD = 20
_MOST = 2**31 - 1
"""No count of bins, phrases or replicates is larger."""


class CalibrationError(ValueError):
    """Any input these numerics refuse."""


def check_option(name: str, value: str, known: object) -> None:
    """Refuse an option that is none of a Literal's.

    Raises
    ------
    CalibrationError
        Naming those that there are.
    """
    if not isinstance(value, str) or value not in get_args(known):
        raise CalibrationError(f"{name} {value!r}: use one of {', '.join(get_args(known))}.")


def whole(
    name: str,
    value: object,
    *,
    least: int,
    most: int = _MOST,
    error: type[CalibrationError] | None = None,
) -> int:
    """Return a number of bins, phrases or replicates, or refuse what is not one.

    Examples
    --------
    >>> whole("bins", 2.5, least=1)
    Traceback (most recent call last):
    ...
    calibration.errors.CalibrationError: bins: 2.5 is not a whole number from 1. Give another.
    """
    counted = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
    if counted is None or not least <= counted <= most:
        wanted = f"{least}" if counted is None or counted < least else f"{least} to {most}"
        fault = f"{name}: {_shown(value)} is not a whole number from {wanted}. Give another."
        raise (error or CalibrationError)(fault)
    return counted


def number(name: str, value: object) -> float:
    """Return a number as a float, or refuse what is none.

    Examples
    --------
    >>> number("alpha", "2")
    Traceback (most recent call last):
    ...
    calibration.errors.CalibrationError: alpha: '2' is not a number. Give one.
    """
    try:
        if isinstance(value, Real) and not isinstance(value, bool):
            return float(value)
    except OverflowError:
        pass
    raise CalibrationError(f"{name}: {_shown(value)} is not a number. Give one.")


def _shown(value: object) -> str:
    """Show a small number or a word; of anything else only what type it is of."""
    small = isinstance(value, float) or (isinstance(value, int) and abs(value) <= _MOST)
    word = isinstance(value, str) and len(value) <= _WORD
    plain = small or word or value is None
    return repr(value) if plain else f"a value of type {type(value).__name__}"


def refuse(
    name: str,
    wrong: ArrayLike,
    fault: str,
    *,
    shown: np.ndarray | None = None,
    first_row: int = 0,
    error: type[CalibrationError] = CalibrationError,
) -> None:
    """Refuse an array some rows of which are wrong.

    Parameters
    ----------
    name
        What messages call the array.
    wrong
        Which rows are wrong, shape (N,).
    fault
        What is wrong with them, after their number; a second sentence says what to do about it.
    shown
        Values of which the first wrong one is told, shape (N,).
    first_row
        The number of the first row.
    error
        Which error.

    Examples
    --------
    >>> import numpy as np
    >>> refuse("label", [False, True], "values are above 1", shown=np.array([0.5, 1.4]))
    Traceback (most recent call last):
    ...
    calibration.errors.CalibrationError: label: 1 of 2 values are above 1; first at row 1 (1.4). \
Drop or correct them before calling.
    """
    # Here: the command line knows these errors before it settles how many threads numpy takes.
    import numpy as np

    rows = np.flatnonzero(wrong)
    if not rows.size:
        return
    value = "" if shown is None else f" ({shown[rows[0]]:g})"
    said, _, advice = fault.partition(". ")
    raise error(
        f"{name}: {rows.size} of {np.size(wrong)} {said}; first at row {rows[0] + first_row}"
        f"{value}. {advice or 'Drop or correct them before calling.'}"
    )


class SurveyError(CalibrationError):
    """A survey or phrase table that cannot give a distribution."""


class TallyError(CalibrationError):
    """Observations that cannot be counted."""


class NotConvergedError(CalibrationError):
    """A solver stopped before its certificate held; its last iterate must not be used as a plan."""
