"""``radcal lm report``: the result of ``radcal lm calibrate`` as pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.cli.common import JsonOption, QuietOption, emit
from pipeline.errors import InputError

if TYPE_CHECKING:
    from reports.stated_confidence import StatedForm

__all__ = ["report"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Method(_Frozen):
    method: str
    ece: float | None
    ece_sd: float | None
    brier: float | None
    brier_sd: float | None
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
    confidence: list[float | None]
    accuracy: list[float | None]


class _Form(_Frozen):
    n: float
    set_aside: dict[str, int]
    accuracy: float
    methods: list[_Method]
    maps: dict[str, list[list[float]] | None]
    stated: _Stated
    bins: _Bins


class _Result(_Frozen):
    answers: int
    unjudged: int
    settings: dict[str, int | str]
    probability: _Form | None
    phrase: _Form | None


def report(
    result: Annotated[Path, typer.Argument(help="Result of radcal lm calibrate.")],
    out: Annotated[Path, typer.Option("--out", help="Pages, one PDF.")],
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draw reliability diagrams, recalibrations and what was stated, a page for each form."""
    from pipeline.files import replacing
    from reports.stated_confidence import to_document

    content = _read(result)
    held: dict[Literal["probability", "phrase"], _Form | None] = {
        "probability": content.probability,
        "phrase": content.phrase,
    }
    forms = tuple(
        _form(name, form, content.unjudged) for name, form in held.items() if form is not None
    )
    with replacing(out) as partial:
        partial.write_bytes(to_document(forms))
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
    if content.probability is None and content.phrase is None:
        msg = f"{path.name}: holds neither probabilities nor phrases."
        raise InputError(msg)
    return content


def _form(name: str, form: _Form, unjudged: int) -> StatedForm:
    import numpy as np

    from calibration.stated_confidence import scalar_error
    from reports.stated_confidence import RestatedBy, StatedForm, StatedValue

    said = form.stated
    columns = (said.name, said.number, said.n, said.right)
    n, right, number = (np.array(values) for values in (said.n, said.right, said.number))
    return StatedForm(
        form=name,
        n=form.n,
        accuracy=form.accuracy,
        set_aside=sum(form.set_aside.values()) + unjudged,
        edges=np.array(form.bins.edges),
        count=np.array(form.bins.count),
        right=np.array(form.bins.accuracy, dtype=np.float64),
        ece=scalar_error(n, right, stated=number, bins=len(form.bins.count)),
        methods=tuple(
            RestatedBy(
                m.method, _value(m.ece), _value(m.ece_sd), _value(m.brier), _value(m.brier_sd),
                m.failure or "",
            )
            for m in form.methods
        ),
        values=tuple(StatedValue(*row) for row in zip(*columns, strict=True)),
    )  # fmt: skip


def _value(value: float | None) -> float:
    return float("nan") if value is None else value
