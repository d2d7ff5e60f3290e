"""What certainty phrases are worth, and named curves by which a reader's use of them is wrong.

A phrase without a surveyed distribution acts as the phrase named in hospital.toml ``[unsurveyed]``.
No curve is a straight line in log odds, because a reader who is off owes no model a straight line:
a profile fitted with one is judged on readers like these. Every curve is increasing, maps (0, 1)
into itself and returns what it was given at an amount of 0. Curves of opposite names mirror each
other at one half.

======  =====================================================================
symbol  meaning
======  =====================================================================
m       mean probability that a phrase expresses, 0 < m < 1, any shape
amount  how far the reader is off, from 0; :data:`CURVES` gives a usual range
======  =====================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from calibration.survey import builtin
from pipeline.simulate.lexicon import hospital, wording

__all__ = [
    "CURVES",
    "LEVELS",
    "Curve",
    "ct_labels",
    "phrase_logits",
    "phrase_means",
]

FloatArray: TypeAlias = NDArray[np.float64]
Shape: TypeAlias = Callable[[FloatArray, float], FloatArray]

LEVELS: Final = (0.01, 0.99)
"""Means are clipped to these before their logit is taken, so that absent and present have one."""


def _surveyed(phrase: str) -> str:
    return str(hospital()["unsurveyed"].get(phrase, phrase))


@cache
def phrase_means() -> NDArray[np.float64]:
    """Mean probability (K,) of each phrase of the simulator, in its order."""
    table = builtin("diagnostic-certainty-scale")
    means = [table.means[table.index(_surveyed(p))] for p in wording().phrases]
    return np.array(means, dtype=np.float64)


@cache
def phrase_logits() -> NDArray[np.float64]:
    """Log odds (K,) of the clipped means: what a reader's intercept and slope act on."""
    means = np.clip(phrase_means(), *LEVELS)
    return np.asarray(np.log(means) - np.log1p(-means), dtype=np.float64)


@cache
def ct_labels() -> NDArray[np.float64]:
    """Label (K,) that each phrase becomes in a CT report: P(c ≥ ½) of its distribution."""
    table = builtin("diagnostic-certainty-scale")
    found = [table.distributions[table.index(_surveyed(p))] for p in wording().phrases]
    return np.array([1.0 - float(d.cdf(np.nextafter(0.5, 0.0))) for d in found], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Curve:
    """One way of being wrong: its shape, what it is called, and amounts usual for it."""

    towards: str
    shape: Shape
    least: float
    most: float

    def rates(self, means: FloatArray, amount: float) -> FloatArray:
        """Return how often a phrase of each mean holds."""
        return self.shape(np.clip(means, *LEVELS), amount)


def _probit(m: FloatArray, shift: float, slope: float) -> FloatArray:
    return np.asarray(ndtr(shift + slope * ndtri(m)), dtype=np.float64)


def _power(m: FloatArray, amount: float) -> FloatArray:
    """Overcall most where the words are weak in odds: m to a power above 1."""
    return np.asarray(m ** (1.0 + amount), dtype=np.float64)


def _strong_words(m: FloatArray, amount: float) -> FloatArray:
    """Overcall with the strong half alone: up to one half the words are right."""
    return np.where(m > 0.5, 0.5 + (m - 0.5) * (1.0 - amount), m)


def _weak_words(m: FloatArray, amount: float) -> FloatArray:
    """Overcall with the weak and middle words alone: the strongest keep their rate."""
    return np.asarray(m * (1.0 - amount * (1.0 - m**3)), dtype=np.float64)


def _middle(m: FloatArray, amount: float, pull: float = 0.5) -> FloatArray:
    """Mix every word with one rate: strong words too strong and weak ones too weak."""
    return np.asarray((1.0 - amount) * m + amount * pull, dtype=np.float64)


def _ceiling(m: FloatArray, amount: float) -> FloatArray:
    """Let no word say more than a bounded rate allows, bent smoothly at both ends."""
    return np.asarray(0.5 + (m - 0.5) / np.hypot(1.0, 4.0 * amount * (m - 0.5)), dtype=np.float64)


def _levels(m: FloatArray, amount: float, levels: tuple[float, float, float]) -> FloatArray:
    """Know three degrees alone: words of one degree hold at nearly one rate."""
    step = np.interp(m, (0.0, 0.2, 0.35, 0.55, 0.72, 1.0), np.repeat(levels, 2))
    return np.asarray((1.0 - amount) * m + amount * step, dtype=np.float64)


def _smoothstep(m: FloatArray, amount: float) -> FloatArray:
    """Say less than is known: words hold nearly always above one half and hardly ever below."""
    sharp = m * m * (3.0 - 2.0 * m)
    sharper = sharp * sharp * (3.0 - 2.0 * sharp)
    return np.asarray((1.0 - amount) * m + amount * sharper, dtype=np.float64)


def _mirrored(shape: Shape) -> Shape:
    return lambda m, amount: 1.0 - shape(1.0 - m, amount)


_TOO_SURE_LEVELS: Final = (0.22, 0.45, 0.74)
_TOO_CAUTIOUS_LEVELS: Final = (0.02, 0.45, 0.97)

CURVES: Final[Mapping[str, Curve]] = MappingProxyType({
    "every word too strong": Curve("overcalls", lambda m, a: _probit(m, -a, 1.0), 0.2, 0.6),
    "odds of a power": Curve("overcalls", _power, 0.4, 1.6),
    "strong words too strong": Curve("overcalls, too sure", _strong_words, 0.2, 0.7),
    "weak words too strong": Curve("overcalls", _weak_words, 0.2, 0.5),
    "every word too weak": Curve("undercalls", lambda m, a: _probit(m, a, 1.0), 0.2, 0.6),
    "odds of a root": Curve("undercalls", _mirrored(_power), 0.4, 1.6),
    "weak words too weak": Curve("undercalls, too sure", _mirrored(_strong_words), 0.2, 0.7),
    "strong words too weak": Curve("undercalls", _mirrored(_weak_words), 0.2, 0.5),
    "drawn to one half": Curve("too sure", _middle, 0.15, 0.5),
    "a ceiling and a floor": Curve("too sure", _ceiling, 0.2, 0.8),
    "flat probit": Curve("too sure", lambda m, a: _probit(m, 0.0, 1.0 - a), 0.15, 0.5),
    "three weak degrees": Curve("too sure", lambda m, a: _levels(m, a, _TOO_SURE_LEVELS), 0.5, 1.0),
    "steep probit": Curve("too cautious", lambda m, a: _probit(m, 0.0, 1.0 + a), 0.2, 0.8),
    "knows more than said": Curve("too cautious", _smoothstep, 0.4, 0.9),
    "three strong degrees": Curve(
        "too cautious", lambda m, a: _levels(m, a, _TOO_CAUTIOUS_LEVELS), 0.5, 0.9
    ),
    "drawn to a low rate": Curve("overcalls, too sure", lambda m, a: _middle(m, a, 0.15), 0.2, 0.5),
    "drawn to a high rate": Curve(
        "undercalls, too sure", lambda m, a: _middle(m, a, 0.85), 0.2, 0.5
    ),
    "steep and low": Curve(
        "overcalls, too cautious", lambda m, a: _probit(m, -a, 1.0 + a), 0.25, 0.6
    ),
    "steep and high": Curve(
        "undercalls, too cautious", lambda m, a: _probit(m, a, 1.0 + a), 0.25, 0.6
    ),
})  # fmt: skip
"""Curves by name; ``towards`` is where a curve leads, not a promise about one reader's rates."""
