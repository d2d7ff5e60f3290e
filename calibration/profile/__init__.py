"""A department's observations in, the one posterior behind every word about a reader out.

The types of the answer are in ``results``; ``rows`` and ``tables`` make effective counts of a
table of observations, ``model`` and ``variances`` fit the hierarchy, ``readings`` asks it.
"""

from calibration.profile.change import changes
from calibration.profile.department import STEPS, profile
from calibration.profile.results import (
    Aside,
    AtomJudgement,
    Coordinate,
    Habit,
    Interval,
    Large,
    Part,
    Pattern,
    PhraseRate,
    ReaderProfile,
    Swap,
)
from calibration.profile.settings import ProfileSettings
from calibration.profile.whole import Change, DepartmentProfile

__all__ = [
    "STEPS",
    "Aside",
    "AtomJudgement",
    "Change",
    "Coordinate",
    "DepartmentProfile",
    "Habit",
    "Interval",
    "Large",
    "Part",
    "Pattern",
    "PhraseRate",
    "ProfileSettings",
    "ReaderProfile",
    "Swap",
    "changes",
    "profile",
]
