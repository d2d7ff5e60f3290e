"""What can go wrong in the numerics; every message says what, where, how many and what next."""

from __future__ import annotations

from typing import get_args


class CalibrationError(ValueError):
    """Any input these numerics refuse."""


def check_option(name: str, value: str, known: object) -> None:
    """Refuse an option that is none of a Literal's.

    Raises
    ------
    CalibrationError
        Naming those that there are.
    """
    if value not in get_args(known):
        msg = f"{name} {value!r}: use one of {', '.join(get_args(known))}."
        raise CalibrationError(msg)


class SurveyError(CalibrationError):
    """A survey or phrase table that cannot give a distribution."""


class TallyError(CalibrationError):
    """Observations that cannot be counted."""


class NotConvergedError(CalibrationError):
    """A solver stopped before its certificate held; its last iterate must not be used as a plan."""
