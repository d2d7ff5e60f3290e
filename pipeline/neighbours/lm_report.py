"""``radcal lm report``: the result of ``radcal lm calibrate`` as pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from pipeline.cli.common import JsonOption, QuietOption, emit, write_whole
from pipeline.errors import InputError

if TYPE_CHECKING:
    from calibration.curve import ReliabilityCurve
    from reports.neighbours.stated_confidence import StatedForm, Swap

_FORMS: Final = ("probability", "phrase", "beta", "own_phrase")


_Number = Annotated[float, BeforeValidator(lambda value: float("nan") if value is None else value)]
"""A number, NaN where the result could not have one."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Method(_Frozen):
    method: str
    ece: _Number
    ece_sd: _Number
    brier: _Number
    brier_sd: _Number
    halves: int
    failure: str | None


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


class _Estimate(_Frozen):
    value: _Number
    low: _Number
    high: _Number
    n: _Number
    method: str
    reference_level: _Number
    null_high: _Number
    corrected: _Number


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

    @property
    def forms(self) -> dict[str, _Form]:
        """The forms that hold answers, by name."""
        held = {name: getattr(self, name) for name in _FORMS}
        return {name: form for name, form in held.items() if form is not None}


def report(
    result: Annotated[Path, typer.Argument(help="Result of radcal lm calibrate.")],
    out: Annotated[Path, typer.Option(help="Pages, one PDF.")],
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draw reliability diagrams, recalibrations and what was stated, a page for each form."""
    from reports.neighbours.stated_confidence import to_document

    content = _read(result)
    forms = tuple(_form(name, form) for name, form in content.forms.items())
    write_whole(out, to_document(forms))
    emit({"pages": len(forms), "report": str(out)}, as_json=as_json, quiet=quiet)


def _read(path: Path) -> _Result:
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
    if not content.forms:
        msg = f"{path.name}: holds no answers in any form."
        raise InputError(msg)
    return content


def _form(name: str, form: _Form) -> StatedForm:
    import numpy as np

    from calibration.neighbours.stated_confidence import scalar_error
    from reports.neighbours.stated_confidence import RestatedBy, StatedForm, StatedValue

    said, ece = form.stated, form.distributions.ece
    columns = (said.name, said.number, said.n, said.right)
    n, right, number = (np.array(values) for values in (said.n, said.right, said.number))
    return StatedForm(
        form=name,
        n=form.n,
        accuracy=form.accuracy,
        set_aside=sum(form.set_aside.values()),
        edges=np.array(form.bins.edges),
        count=np.array(form.bins.count),
        right=np.array(form.bins.accuracy, dtype=np.float64),
        ece=scalar_error(n, right, stated=number, bins=len(form.bins.count)),
        methods=tuple(
            RestatedBy(m.method, m.ece, m.ece_sd, m.brier, m.brier_sd, m.failure or "")
            for m in form.methods
        ),
        values=tuple(StatedValue(*row) for row in zip(*columns, strict=True)),
        curve=_curve(form),
        spread_ece=(ece.value, ece.low, ece.high),
        reference_level=ece.reference_level,
        swaps=_swaps(form),
    )


def _curve(form: _Form) -> ReliabilityCurve:
    import numpy as np

    from calibration.curve import ReliabilityCurve

    columns = form.distributions.curve.model_dump()
    arrays = {name: np.array(values, dtype=np.float64) for name, values in columns.items()}
    return ReliabilityCurve(**arrays, n=form.n)


def _swaps(form: _Form) -> tuple[Swap, ...]:
    """Shares of answers that the transport map sends from one phrase to another."""
    from reports.neighbours.stated_confidence import Swap

    weights = form.maps.get("transport")
    if weights is None:
        return ()
    names = form.stated.name
    shares = [n / form.n for n in form.stated.n]
    return tuple(
        Swap(source, target, share * weight)
        for source, share, row in zip(names, shares, weights, strict=True)
        for target, weight in zip(names, row, strict=True)
        if share * weight > 0
    )
