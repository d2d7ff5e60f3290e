"""Numerics only: surveys to distributions, tallies, curves, intervals and substitution maps.

Follow a number: ``survey`` (what the words mean) and ``tally`` (how often each was used and how
often it was right) meet in ``calibrate``; ``advise`` turns the same tally into suggestions, and
``Study`` is the road that the command line and the hospital's job take to both. What is true of a
reader among others comes from ``calibration.profile``. Nothing here reads a row of data after the
tally, a path, a clock or the environment.

>>> import numpy as np
>>> from calibration import Study, builtin
>>> from calibration.tally import tally
>>> words, chance = builtin("diagnostic-certainty-scale"), np.random.default_rng(0)
>>> said = chance.choice([words.index("likely"), words.index("unlikely")], 400)
>>> right = chance.random(400) < np.where(said == words.index("likely"), 0.35, 0.09)
>>> counted = tally(said, right, n_phrases=len(words))
>>> study = Study(words)
>>> study.result(counted, "Dr A").phrase_error.summary()
'0.213 (0.173 to 0.244, n = 400)'
>>> [(each.source, each.target) for each in study.advice(counted, "Dr A").suggestions]
[('likely', 'may represent')]

Names are loaded when they are first asked for, so that importing the package costs nothing; what
has the name of its module (``tally``, ``plain``, ``profile``) is imported from there.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calibration.analysis import Settings, Study
    from calibration.estimate import Options
    from calibration.result import GroupResult, calibrate
    from calibration.substitution import Advice, GuardRails, Regularisation, advise, transport_map
    from calibration.survey import PhraseTable, builtin
    from calibration.survey_fit import fit_survey
    from calibration.survey_frames import read_survey
    from calibration.tally import Tally, tally_groups

__all__ = [
    "Advice", "GroupResult", "GuardRails", "Options", "PhraseTable", "Regularisation", "Settings",
    "Study", "Tally", "advise", "builtin", "calibrate", "fit_survey", "read_survey", "tally_groups",
    "transport_map",
]  # fmt: skip

_HOMES = {
    "analysis": ("Settings", "Study"),
    "estimate": ("Options",),
    "result": ("GroupResult", "calibrate"),
    "substitution": ("Advice", "GuardRails", "Regularisation", "advise", "transport_map"),
    "survey": ("PhraseTable", "builtin"),
    "survey_fit": ("fit_survey",),
    "survey_frames": ("read_survey",),
    "tally": ("Tally", "tally_groups"),
}


def __getattr__(name: str) -> object:
    """Load a name from the module it lives in."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"calibration.{home}"), name)
    raise AttributeError(f"module 'calibration' has no attribute {name!r}")
