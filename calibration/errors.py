"""What can go wrong in the numerics; every message says what, where, how many and what next."""

from __future__ import annotations


class CalibrationError(ValueError):
    """Any input these numerics refuse."""


class SurveyError(CalibrationError):
    """A survey or phrase table that cannot give a distribution."""


class TallyError(CalibrationError):
    """Observations that cannot be counted."""


class NotConvergedError(CalibrationError):
    """A solver stopped before its certificate held; its last iterate must not be used as a plan."""
