"""The result of ``radcal lm calibrate``, read back and put together as pages.

What is read as a dataclass is the one that was written (`calibration.plain`); null stands for a
number that there is none of.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Final

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from calibration.curve import ReliabilityCurve
from calibration.estimate import Estimate
from calibration.neighbours.stated_confidence import MethodScore, scalar_error
from pipeline.errors import InputError
from pipeline.neighbours.lm_answers import FORMS
from reports.figures.swap_flow import Stream
from reports.neighbours.stated_confidence import StatedForm, StatedValue

_TEXTS: Final = ("failure",)


def _known(value: object) -> object:
    """Put NaN where a number is null, alone or as an entry of a written dataclass."""
    if isinstance(value, dict):
        return {k: v if k in _TEXTS else _known(v) for k, v in value.items()}
    return math.nan if value is None else value


_Number = Annotated[float, BeforeValidator(_known)]
_Estimate = Annotated[Estimate, BeforeValidator(_known)]
_Method = Annotated[MethodScore, BeforeValidator(_known)]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Stated(_Frozen):
    name: list[str]
    number: list[float]
    n: list[float]
    right: list[float]


class _Bins(_Frozen):
    edges: list[float]
    count: list[float]
    confidence: list[_Number]
    accuracy: list[_Number]


class _Curve(_Frozen):
    bin_edges: list[float]
    observed: list[_Number]
    confidence: list[_Number]
    density: list[_Number]
    low: list[_Number]
    high: list[_Number]
    band_low: list[_Number]
    band_high: list[_Number]
    expected: list[_Number]


class _Distributions(_Frozen):
    ece: _Estimate
    ece_star: _Estimate
    brier: _Estimate
    curve: _Curve


class _Form(_Frozen):
    n: float
    set_aside: dict[str, int]
    accuracy: float
    methods: list[_Method]
    maps: dict[str, list[list[float]] | None]
    stated: _Stated
    bins: _Bins
    distributions: _Distributions


class _Result(_Frozen):
    answers: int
    settings: dict[str, int | str]
    probability: _Form | None
    phrase: _Form | None
    beta: _Form | None
    own_phrase: _Form | None
    not_calibrated: dict[str, str]


def read_forms(path: Path) -> tuple[StatedForm, ...]:
    """Read what pages show of every form that holds answers.

    Raises
    ------
    InputError
        If the file is missing, is no such result, or holds no answers.
    """
    if not path.is_file():
        msg = f"{path}: no such file."
        raise InputError(msg)
    try:
        content = _Result.model_validate_json(path.read_bytes())
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"]) or "the file"
        msg = (
            f"{path.name}: not a result of radcal lm calibrate: {error.error_count()} fault(s), "
            f"first in {place}. Make it again."
        )
        raise InputError(msg) from None
    held = {name: getattr(content, name) for name in FORMS.values()}
    forms = tuple(_form(name, form) for name, form in held.items() if form is not None)
    if not forms:
        msg = f"{path.name}: holds no answers in any form."
        raise InputError(msg)
    return forms


def _form(name: str, form: _Form) -> StatedForm:
    said, ece = form.stated, form.distributions.ece
    columns = (said.name, said.number, said.n, said.right)
    n, right, number = (np.array(values) for values in (said.n, said.right, said.number))
    curve = form.distributions.curve.model_dump()
    return StatedForm(
        form=name,
        n=form.n,
        accuracy=form.accuracy,
        set_aside=sum(form.set_aside.values()),
        edges=np.array(form.bins.edges),
        count=np.array(form.bins.count),
        right=np.array(form.bins.accuracy, dtype=np.float64),
        ece=scalar_error(n, right, stated=number, bins=len(form.bins.count)),
        methods=tuple(form.methods),
        values=tuple(StatedValue(*row) for row in zip(*columns, strict=True)),
        curve=ReliabilityCurve(**{k: np.array(v) for k, v in curve.items()}, n=form.n),
        spread_ece=(ece.value, ece.low, ece.high),
        reference_level=ece.reference_level,
        swaps=_swaps(form),
    )


def _swaps(form: _Form) -> tuple[Stream, ...]:
    """Shares of answers that the transport map sends from one phrase to another."""
    weights = form.maps.get("transport")
    if weights is None:
        return ()
    names = form.stated.name
    shares = [n / form.n for n in form.stated.n]
    return tuple(
        Stream(source, target, share * weight)
        for source, share, row in zip(names, shares, weights, strict=True)
        for target, weight in zip(names, row, strict=True)
        if share * weight > 0
    )
