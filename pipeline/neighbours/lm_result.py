"""The result of ``radcal lm calibrate``: made, and read back for its pages.

What is read as a dataclass is the one that was written (`calibration.plain`); null stands for a
number that there is none of.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import typer
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from calibration.bins import bin_edges
from calibration.curve import ReliabilityCurve
from calibration.estimate import Estimate, Options
from calibration.neighbours.binned import scalar_bins, scalar_error
from calibration.neighbours.stated_confidence import (
    MethodScore,
    compare_methods,
    fitted_maps,
)
from calibration.plain import Plain, plain_fields
from calibration.result import calibrate as calibrated
from pipeline.cli.common import blaming, write_result
from pipeline.errors import EXIT_QUARANTINED, InputError
from pipeline.formats.tables import read_table
from pipeline.neighbours.lm_answers import FORMS, StatedAnswers, read_answers
from pipeline.neighbours.options import Recalibration
from reports.figures.swap_flow import Stream
from reports.neighbours.stated_confidence import StatedForm, StatedValue


def calibrate(given: Recalibration) -> None:
    """Compare recalibrations of every form of answers, and write the result."""
    frame = read_table(given.answers)
    content: dict[str, Plain] = {"answers": len(frame), **dict.fromkeys(FORMS.values())}
    with blaming(given.answers.name):
        held, named = read_answers(frame, phrases=given.phrases, source=given.answers.name)
        problems = _problems(held, given.answers.name)
        for name in held.keys() - problems.keys():
            content[name] = _compared(held[name], given)
    content["settings"] = {
        "bins": given.bins,
        "splits": given.splits,
        "bootstrap": given.bootstrap,
        "seed": given.seed,
        "phrases": named,
    }
    content["not_calibrated"] = dict(problems)
    write_result(given.out, content)
    set_aside = sum(sum(form.set_aside.values()) for form in held.values())
    summary = {
        "answers": len(frame),
        "forms": ", ".join(name for name in held if name not in problems),
        **({"not_calibrated": problems} if problems else {}),
        "set_aside": set_aside,
        "result": str(given.out),
    }
    given.output.tell(summary)
    if set_aside or problems:
        raise typer.Exit(EXIT_QUARANTINED)


def _problems(held: dict[str, StatedAnswers], source: str) -> dict[str, str]:
    """Say why forms cannot be calibrated; one that can is enough."""
    problems = {name: form.problem for name, form in held.items() if form.problem}
    if len(problems) == len(held):
        msg = f"{source}: {'; '.join(f'{name}: {why}' for name, why in problems.items())}."
        raise InputError(msg)
    return problems


def _compared(form: StatedAnswers, given: Recalibration) -> dict[str, Plain]:
    counted = form.tally
    methods = compare_methods(
        counted,
        means=form.table.means,
        phrase_table=form.table if form.between else None,
        bins=given.bins,
        splits=given.splits,
        rng=np.random.default_rng(given.seed),
    )
    return plain_fields(
        {
            "n": counted.total,
            "set_aside": form.set_aside,
            "accuracy": float(counted.label_mass.sum()) / counted.total,
            "methods": methods,
            "maps": _maps(form),
            "stated": {
                "name": form.table.phrases,
                "number": form.table.means,
                "n": counted.n,
                "right": counted.label_mass,
            },
            "bins": _bins(form, given.bins),
            "distributions": _distributions(form, bootstrap=given.bootstrap, seed=given.seed),
        }
    )


def _maps(form: StatedAnswers) -> dict[str, object]:
    if not form.between:
        return {}
    fitted = fitted_maps(form.tally, phrase_table=form.table)
    return {name: m.weights() if m.converged else None for name, m in fitted.items()}


def _bins(form: StatedAnswers, bins: int) -> dict[str, object]:
    """Reliability diagram of the numbers the statements come down to."""
    counted = form.tally
    count, confidence, accuracy = scalar_bins(
        counted.n, counted.label_mass, stated=form.table.means, bins=bins
    )
    edges = bin_edges(bins)
    return {"edges": edges, "count": count, "confidence": confidence, "accuracy": accuracy}


def _distributions(form: StatedAnswers, *, bootstrap: int, seed: int) -> dict[str, object]:
    """Scores of the statements as the distributions they stand for (Eq. 4), and their curve."""
    found = calibrated(
        form.tally,
        phrase_table=form.table,
        options=Options(bootstrap=bootstrap),
        rng=np.random.default_rng(seed),
    )
    return {name: getattr(found, name) for name in ("ece", "ece_star", "brier", "curve")}


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
