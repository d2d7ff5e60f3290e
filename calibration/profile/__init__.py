"""A department's observations in, the one posterior behind every word about a reader out.

The types of the answer are in ``results``; ``rows`` and ``tables`` make effective counts of a
table of observations, ``model`` and ``variances`` fit the hierarchy, ``readings`` asks it.
"""

from calibration.profile.change import changes
from calibration.profile.department import STEPS, profile
from calibration.profile.results import (
    AtomJudgement,
    Change,
    Coordinate,
    Habit,
    Interval,
    Large,
    Part,
    Pattern,
    PhraseRate,
    ReaderProfile,
    Shared,
    Swap,
    Verdict,
)
from calibration.profile.settings import Priors, ProfileSettings
from calibration.profile.whole import DepartmentProfile, Diagnostics

__all__ = [
    "STEPS",
    "AtomJudgement",
    "Change",
    "Coordinate",
    "DepartmentProfile",
    "Diagnostics",
    "Habit",
    "Interval",
    "Large",
    "Part",
    "Pattern",
    "PhraseRate",
    "Priors",
    "ProfileSettings",
    "ReaderProfile",
    "Shared",
    "Swap",
    "Verdict",
    "changes",
    "profile",
]
