"""What kind of department a simulated hospital has: its readers, and how they are observed.

Departments come by name from ``data/departments.toml`` or from a file of the same form. Everything
here is a declaration; `readers.py`, `cases.py` and `rates.py` make it true.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from pipeline.errors import ConfigurationError
from pipeline.simulate.lexicon import wording
from pipeline.simulate.scale import CURVES

__all__ = [
    "DEFAULT",
    "Department",
    "Kind",
    "Observation",
    "PlannedHabit",
    "Variation",
    "departments",
    "load_department",
]

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

    @property
    def is_ordered(self) -> bool:
        """Whether a CT depends on anything."""
        return self.disease != 1.0 or self.wording > 0.0


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
            msg = f"{curve!r} is no curve; there are: {', '.join(CURVES)}"
            raise ValueError(msg)
        return curve


class PlannedHabit(_Declared):
    """One phrase for one pathology that holds at a rate of its own.

    ``reader`` is the place in the order of kinds; ``boost`` multiplies how often the reader reaches
    for the phrase there.
    """

    reader: Annotated[int, Field(ge=0)]
    pathology: str
    phrase: str
    probability: Annotated[float, Field(gt=0.0, lt=1.0)]
    boost: Annotated[float, Field(gt=0.0, le=100.0)] = 1.0

    @field_validator("pathology")
    @classmethod
    def _pathology(cls, name: str) -> str:
        return _one_of(name, [p.name for p in wording().pathologies])

    @field_validator("phrase")
    @classmethod
    def _phrase(cls, name: str) -> str:
        return _one_of(name, list(wording().phrases))


def _one_of(name: str, known: list[str]) -> str:
    if name not in known:
        msg = f"{name!r} is unknown; there are: {', '.join(known)}"
        raise ValueError(msg)
    return name


class Department(_Declared):
    """A department: kinds of readers, dealt in order and repeated, and all that is hard in it."""

    about: str
    kind: Annotated[tuple[Kind, ...], Field(min_length=1)]
    habit: tuple[PlannedHabit, ...] = ()
    habits_repeat: Annotated[int, Field(ge=1)] = 12
    variation: Variation = Variation()
    observation: Observation = Observation()


@cache
def _shipped() -> dict[str, Any]:
    source = files(__package__) / "data" / "departments.toml"
    return tomllib.loads(source.read_text(encoding="utf-8"))


def departments() -> tuple[str, ...]:
    """Return the names of the departments that come with the package."""
    return tuple(_shipped())


def load_department(name: str) -> Department:
    """Return a department by its name, or from a TOML file of one department.

    Raises
    ------
    ConfigurationError
        If it is neither, or if the file declares what cannot be; all faults at once.
    """
    if name in _shipped():
        return Department(**_shipped()[name])
    path = Path(name)
    if path.suffix != ".toml" or not path.is_file():
        msg = f"--department {name}: neither one of {', '.join(_shipped())} nor a .toml file."
        raise ConfigurationError(msg)
    try:
        return Department(**tomllib.loads(path.read_text(encoding="utf-8")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        msg = f"{path.name}: not valid TOML: {error}"
        raise ConfigurationError(msg) from None
    except OSError as error:
        msg = f"{path.name}: cannot be read ({error.strerror})."
        raise ConfigurationError(msg) from None
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        msg = f"{path.name}: {len(faults)} fault(s): {'; '.join(faults)}."
        raise ConfigurationError(msg) from None
