"""Uncertain outcomes: a CT phrase → a label between 0 and 1.

With c the distribution a CT phrase expresses, the label is P(c ≥ ½) ("probability",
Wang et al. 2025, section 3.2 and appendix A.2; the default) or E[c] ("mean"). The first hardens:
"likely" is .774 on average but lies above ½ with probability .918. Results state which was used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from calibration.arrays import FloatArray
from calibration.distributions import Distribution
from calibration.errors import CalibrationError

__all__ = ["LabelRule", "label_values"]

LabelRule = Literal["probability", "mean"]


def label_values(
    distributions: Sequence[Distribution], *, rule: LabelRule = "probability"
) -> FloatArray:
    """Label of every CT phrase, shape (K,).

    Parameters
    ----------
    distributions
        What the CT phrases express.
    rule
        See the module.

    Raises
    ------
    CalibrationError
        If the rule is unknown.

    Examples
    --------
    >>> from calibration.distributions import Atom, Beta
    >>> label_values([Atom(0.0), Beta(2, 2), Atom(1.0)]).tolist()
    [0.0, 0.5, 1.0]
    """
    if rule not in get_args(LabelRule):
        known = ", ".join(get_args(LabelRule))
        msg = f"label rule {rule!r}: use one of {known}."
        raise CalibrationError(msg)
    if rule == "mean":
        return np.array([d.mean for d in distributions])
    return np.array([d.probability_positive() for d in distributions])
