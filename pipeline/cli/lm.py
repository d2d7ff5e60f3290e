"""``radcal lm calibrate``: answers with a stated confidence → recalibrations, held out.

A table of answers, one row each: ``correct`` (0 or 1, blank if nobody judged it), ``probability``
(0 to 1) and/or ``phrase``. What cannot be read as such is counted, never repaired.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.common import JsonOption, QuietOption, emit
from pipeline.cli.lm_report import report
from pipeline.errors import EXIT_QUARANTINED, InputError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from calibration.export import Plain
    from calibration.stated_confidence import MethodScore
    from calibration.survey import PhraseTable
    from calibration.tally import Tally

__all__ = ["register"]

_lm = typer.Typer(help="Language models that state how sure they are.")


@dataclass(frozen=True, slots=True, eq=False)
class _Form:
    """Answers that state confidence in one form.

    ``set_aside`` counts answers by why they are not in the tally.
    """

    tally: Tally
    stated: NDArray[np.float64]
    names: tuple[str, ...]
    table: PhraseTable | None
    set_aside: dict[str, int]


def register(app: typer.Typer) -> None:
    """Add ``radcal lm``."""
    _lm.command("calibrate")(calibrate)
    _lm.command("report")(report)
    _lm.callback()(_about)
    app.add_typer(_lm, name="lm")


def _about() -> None:
    """Language models that state how sure they are."""


def calibrate(
    answers: Annotated[
        Path, typer.Argument(help="Table with correct, and probability or phrase or both.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Result, one JSON file.")],
    phrases: Annotated[
        str, typer.Option("--phrases", help="Phrase table file, or the name of a built-in one.")
    ] = "diagnostic-certainty-scale",
    bins: Annotated[int, typer.Option("--bins", min=1)] = 10,
    splits: Annotated[
        int, typer.Option("--splits", min=1, help="Random splits in halves, each used both ways.")
    ] = 10,
    seed: Annotated[int, typer.Option("--seed", min=0)] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Compare uncalibrated, Platt, histogram, isotonic, beta, transport and monotone, held out.

    Answers nobody judged, or whose confidence cannot be read, are counted in the result
    (exit code 3). The result is described in docs/neighbours.md.
    """
    from calibration.errors import CalibrationError
    from pipeline.files import replacing
    from pipeline.formats.tables import read_table, require_columns

    frame = read_table(answers)
    require_columns(frame, {"correct": "1 if the answer is right, 0 if not"}, source=answers.name)
    forms = {name for name in ("probability", "phrase") if name in frame.columns}
    if not forms or frame.empty:
        msg = f"{answers.name}: no answers with a column probability or phrase."
        raise InputError(msg)
    right, unjudged = _judged(frame["correct"], answers.name)
    content: dict[str, Plain] = {
        "answers": len(frame),
        "unjudged": unjudged,
        "settings": {"bins": bins, "splits": splits, "seed": seed, "phrases": phrases},
        "probability": None,
        "phrase": None,
    }
    set_aside = unjudged
    try:
        for name in sorted(forms):
            read = _phrases if name == "phrase" else _probabilities
            form = read(frame[name], right, phrases)
            set_aside += sum(form.set_aside.values())
            content[name] = _compared(form, bins=bins, splits=splits, seed=seed)
    except CalibrationError as error:
        msg = f"{answers.name}: {error}"
        raise InputError(msg) from None
    with replacing(out) as partial:
        partial.write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
    summary = {"answers": len(frame), "set_aside": set_aside, "result": str(out)}
    emit(summary, as_json=as_json, quiet=quiet)
    if set_aside:
        raise typer.Exit(EXIT_QUARANTINED)


def _judged(column: pd.Series, source: str) -> tuple[NDArray[np.float64], int]:
    """1, 0 or NaN per answer; a blank is an answer nobody judged, anything else an error."""
    import numpy as np
    import pandas as pd

    text = column.astype(str).str.strip()
    blank = np.asarray((text == "") | column.isna(), dtype=np.bool_)
    right = np.asarray(pd.to_numeric(text, errors="coerce"), dtype=np.float64)
    wrong = np.flatnonzero(~blank & ~np.isin(right, [0.0, 1.0]))
    if wrong.size:
        msg = (
            f"{source}: correct: {len(wrong)} of {len(right)} values are neither 0 nor 1 nor "
            f"blank; first at row {wrong[0] + 1}. Judge or blank them."
        )
        raise InputError(msg)
    return np.where(blank, np.nan, right), int(blank.sum())


def _probabilities(column: pd.Series, right: NDArray[np.float64], _: str) -> _Form:
    """Every distinct stated probability by itself."""
    import numpy as np
    import pandas as pd

    from calibration.tally import tally

    said = np.asarray(pd.to_numeric(column, errors="coerce"), dtype=np.float64)
    legible = (said >= 0.0) & (said <= 1.0)
    kept = legible & ~np.isnan(right)
    stated, place = np.unique(said[kept], return_inverse=True)
    counted = tally(place.astype(np.int64), right[kept], n_phrases=len(stated))
    names = tuple(f"{value:g}" for value in stated)
    lost = int((~legible & ~np.isnan(right)).sum())
    return _Form(counted, stated, names, None, {"unparseable": lost})


def _phrases(column: pd.Series, right: NDArray[np.float64], name: str) -> _Form:
    """Phrases of the table, in any case of letters; blank ones and unknown ones set aside."""
    import numpy as np
    import pandas as pd

    from calibration.tally import tally
    from pipeline.cli.neighbours_scalar import phrase_table

    table = phrase_table(name)
    spoken = column.astype(str).str.strip().str.lower()
    lower = pd.Index([phrase.lower() for phrase in table.phrases])
    code = lower.get_indexer(pd.Index(spoken))
    judged = ~np.isnan(right)
    kept = (code >= 0) & judged
    counted = tally(code[kept].astype(np.int64), right[kept], n_phrases=len(table))
    blank = np.asarray((spoken == "") | column.isna(), dtype=np.bool_)
    aside = {
        "unparseable": int((blank & judged).sum()),
        "unmapped": int(((code < 0) & ~blank & judged).sum()),
    }
    return _Form(counted, table.means, table.phrases, table, aside)


def _compared(form: _Form, *, bins: int, splits: int, seed: int) -> dict[str, Plain]:
    import numpy as np

    from calibration.bins import bin_edges
    from calibration.export import number, vector
    from calibration.stated_confidence import compare_methods, fitted_maps, scalar_bins

    counted = form.tally
    methods = compare_methods(
        counted,
        means=form.stated,
        phrase_table=form.table,
        bins=bins,
        splits=splits,
        rng=np.random.default_rng(seed),
    )
    count, confidence, accuracy = scalar_bins(
        counted.n, counted.label_mass, stated=form.stated, bins=bins
    )
    set_aside: dict[str, Plain] = dict(form.set_aside)
    maps: dict[str, Plain] = {}
    if form.table is not None:
        fitted = fitted_maps(counted, phrase_table=form.table)
        maps = {name: vector(m.weights()) if m.converged else None for name, m in fitted.items()}
    names: list[Plain] = list(form.names)
    return {
        "n": number(counted.total),
        "set_aside": set_aside,
        "accuracy": number(float(counted.label_mass.sum()) / counted.total),
        "methods": [_method(score) for score in methods],
        "maps": maps,
        "stated": {
            "name": names,
            "number": vector(form.stated),
            "n": vector(counted.n),
            "right": vector(counted.label_mass),
        },
        "bins": {
            "edges": vector(bin_edges(bins)),
            "count": vector(count),
            "confidence": vector(confidence),
            "accuracy": vector(accuracy),
        },
    }


def _method(score: MethodScore) -> dict[str, Plain]:
    from calibration.export import number

    return {
        "method": score.method,
        "ece": number(score.ece),
        "ece_sd": number(score.ece_sd),
        "brier": number(score.brier),
        "brier_sd": number(score.brier_sd),
        "halves": score.halves,
        "failure": score.failure or None,
    }
