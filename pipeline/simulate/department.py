"""What kind of department a simulated hospital has: readers, how they err, how they are observed.

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

Departments come by name from ``data/departments.toml`` or from a file of the same form. Everything
here is a declaration; `readers.py`, `cases.py` and `rates.py` make it true.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from scipy.special import ndtr, ndtri

from calibration.arrays import FloatArray
from calibration.survey import builtin
from pipeline.errors import ConfigurationError
from pipeline.simulate.lexicon import hospital, load, wording

Shape: TypeAlias = Callable[[FloatArray, float], FloatArray]

LEVELS: Final = (0.01, 0.99)
"""Means are clipped to these before their logit is taken, so that absent and present have one."""


def _surveyed(phrase: str) -> str:
    return str(hospital()["unsurveyed"].get(phrase, phrase))


@cache
def phrase_means() -> FloatArray:
    """Mean probability (K,) of each phrase of the simulator, in its order."""
    table = builtin("diagnostic-certainty-scale")
    means = [table.means[table.index(_surveyed(p))] for p in wording().phrases]
    return np.array(means, dtype=np.float64)


@cache
def phrase_logits() -> FloatArray:
    """Log odds (K,) of the clipped means: what a reader's intercept and slope act on."""
    means = np.clip(phrase_means(), *LEVELS)
    return np.asarray(np.log(means) - np.log1p(-means), dtype=np.float64)


@cache
def ct_labels() -> FloatArray:
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


def _probit(m: FloatArray, amount: float, shift: float = 0.0, slope: float = 0.0) -> FloatArray:
    """Move every word, stretch all of them, or both: a line in probits."""
    return np.asarray(ndtr(shift * amount + (1.0 + slope * amount) * ndtri(m)), dtype=np.float64)


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


def _levels(m: FloatArray, amount: float, levels: Sequence[float]) -> FloatArray:
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


_SHAPES: Final[Mapping[str, Callable[..., FloatArray]]] = {
    shape.__name__.removeprefix("_"): shape
    for shape in (
        _probit, _power, _strong_words, _weak_words, _middle, _ceiling, _levels, _smoothstep,
    )
}  # fmt: skip


def _curve(
    towards: str, shape: str, least: float, most: float, *, mirrored: bool = False, **how: Any
) -> Curve:
    drawn = partial(_SHAPES[shape], **how)
    return Curve(towards, _mirrored(drawn) if mirrored else drawn, least, most)


CURVES: Final = MappingProxyType({name: _curve(**each) for name, each in load("curves").items()})
"""Curves by name (``data/curves.toml``)."""


DEFAULT: Final = "clustered"
"""The department simulated unless another is named."""

_Share = Annotated[float, Field(ge=0.0, le=1.0)]
_Spread = Annotated[float, Field(ge=0.0, le=2.0)]


class _Declared(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Variation(_Declared):
    """How much rates scatter beside what is declared, as standard deviations in log odds."""

    quirk: _Spread = 0.0
    """Of one phrase of one reader."""
    shared: _Spread = 0.0
    """Of one phrase, the same for all readers."""
    finding: _Spread = 0.0
    """Of one finding, the same for all readers."""
    reader_finding: _Spread = 0.0
    """Of one finding of one reader."""
    form: Literal["normal", "uniform", "laplace"] = "normal"


class Observation(_Declared):
    """How what readers say is observed."""

    repeated: Annotated[float, Field(ge=0.0, le=0.8)] = 0.0
    """Share of exams that are one of three, all but the same, of one patient and reader."""
    patients: _Share = 0.0
    """Share of the chance behind a finding that belongs to the patient."""
    hedged: _Share = 0.0
    """Share of CT statements that a hedge may take; labels then lie between 0 and 1."""
    missed: Annotated[float, Field(ge=0.0, le=0.4)] = 0.0
    """Mean share of disease that CT doesn't show; findings differ from 0 to twice that."""
    disease: Annotated[float, Field(ge=1.0, le=10.0)] = 1.0
    """How many times as likely a CT is if the finding it is asked about is there."""
    wording: Annotated[float, Field(ge=0.0, le=0.95)] = 0.0
    """Share by which sure words lower the chance of a CT."""
    misworded: Annotated[float, Field(ge=0.0, le=0.5)] = 0.0
    """Share of statements whose word was shuffled with another's: slips, misreadings."""


class Kind(_Declared):
    """One kind of reader: off by a named curve of hedges, or by a line through all words."""

    name: str
    curve: str | None = None
    amount: Annotated[float, Field(ge=0.0, le=2.0)] = 0.0
    intercept: Annotated[float, Field(ge=-2.0, le=2.0)] = 0.0
    slope: Annotated[float, Field(ge=0.2, le=3.0)] = 1.0

    @field_validator("curve")
    @classmethod
    def _known(cls, curve: str | None) -> str | None:
        if curve is not None and curve not in CURVES:
            raise ValueError(f"{curve!r} is no curve; there are: {', '.join(CURVES)}")
        return curve


class Habit(_Declared):
    """One phrase for one pathology that holds at a rate of its own.

    ``reader`` is the place in the order of kinds; ``boost`` multiplies how often the reader reaches
    for the phrase there.
    """

    reader: Annotated[int, Field(ge=0)]
    pathology: str
    phrase: str
    probability: Annotated[float, Field(gt=0.0, lt=1.0)]
    boost: Annotated[float, Field(gt=0.0, le=100.0)] = 1.0

    @field_validator("pathology", "phrase")
    @classmethod
    def _known(cls, name: str, info: ValidationInfo) -> str:
        findings = [pathology.name for pathology in wording().pathologies]
        known = findings if info.field_name == "pathology" else wording().phrases
        if name not in known:
            raise ValueError(f"{name!r} is unknown; there are: {', '.join(known)}")
        return name

    @property
    def cell(self) -> tuple[int, int]:
        """Its pathology and its phrase, by their places in the simulator's order."""
        findings = [pathology.name for pathology in wording().pathologies]
        return findings.index(self.pathology), wording().phrases.index(self.phrase)


class Department(_Declared):
    """A department: kinds of readers, dealt in order and repeated, and all that is hard in it."""

    about: str
    kind: Annotated[tuple[Kind, ...], Field(min_length=1)]
    habit: tuple[Habit, ...] = ()
    habits_repeat: Annotated[int, Field(ge=1)] = 12
    variation: Variation = Variation()
    observation: Observation = Observation()


def load_department(name: str) -> Department:
    """Return a department by its name, or from a TOML file of one department.

    Raises
    ------
    ConfigurationError
        If it is neither, or if the file declares what cannot be; all faults at once.
    """
    shipped = load("departments")
    if name in shipped:
        return Department(**shipped[name])
    path = Path(name)
    if path.suffix != ".toml" or not path.is_file():
        raise ConfigurationError(
            f"--department {name}: neither one of {', '.join(shipped)} nor a .toml file."
        )
    try:
        return Department(**tomllib.loads(path.read_text(encoding="utf-8")))
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        why = f"{len(faults)} fault(s): {'; '.join(faults)}."
    except OSError as error:
        why = f"cannot be read ({error.strerror})."
    except ValueError as error:  # of TOML, or of its letters
        why = f"not valid TOML: {error}"
    raise ConfigurationError(f"{path.name}: {why}")
