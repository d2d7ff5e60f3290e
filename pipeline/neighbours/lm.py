"""``radcal lm``: ask a model how sure it is, compare recalibrations held out, draw the pages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.common import (
    JsonOption,
    Output,
    QuietOption,
    argument,
    blaming,
    emit,
    option,
    taking,
    write_result,
    write_whole,
)
from pipeline.errors import EXIT_QUARANTINED, InputError
from pipeline.neighbours.lm_elicit import audit, elicit
from pipeline.neighbours.lm_layers import layers

if TYPE_CHECKING:
    from calibration.plain import Plain
    from pipeline.neighbours.lm_answers import StatedAnswers

_lm = typer.Typer(help="Language models that state how sure they are.")


def register(app: typer.Typer) -> None:
    """Add ``radcal lm``."""
    _lm.command("elicit")(taking(elicit))
    _lm.command("audit")(taking(audit))
    _lm.command("calibrate")(taking(calibrate))
    _lm.command("report")(report)
    _lm.command("layers")(taking(layers))
    app.add_typer(_lm, name="lm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalibration:
    """Options of ``radcal lm calibrate``."""

    answers: Path = argument(
        ..., "Table of lm elicit; or one with correct, and probability, phrase or alpha, beta."
    )
    out: Path = option(..., "Result, one JSON file.")
    phrases: str | None = option(
        None,
        "Phrase table file, or the name of a built-in one; else the answers' own, or "
        "diagnostic-certainty-scale.",
    )
    bins: int = option(10, min=1)
    splits: int = option(10, "Random splits in halves, each used both ways.", min=1)
    bootstrap: int = option(1000, "Resamples behind the intervals.", min=0)
    seed: int = option(0, min=0)
    output: Output


def calibrate(given: Recalibration) -> None:
    """Compare uncalibrated, Platt, histogram, isotonic, beta, transport and monotone, held out.

    Answers nobody judged, or whose confidence cannot be read, are counted in the result
    (exit code 3). The result is described in docs/neighbours.md.
    """
    from pipeline.formats.tables import read_table
    from pipeline.neighbours.lm_answers import FORMS, read_answers

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


def report(
    result: Annotated[Path, typer.Argument(help="Result of radcal lm calibrate.")],
    out: Annotated[Path, typer.Option(help="Pages, one PDF.")],
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draw reliability diagrams, recalibrations and what was stated, a page for each form."""
    from pipeline.neighbours.lm_report import read_forms
    from reports.neighbours.stated_confidence import to_document

    forms = read_forms(result)
    write_whole(out, to_document(forms))
    emit({"pages": len(forms), "report": str(out)}, as_json=as_json, quiet=quiet)


def _problems(held: dict[str, StatedAnswers], source: str) -> dict[str, str]:
    """Say why forms cannot be calibrated; one that can is enough."""
    problems = {name: form.problem for name, form in held.items() if form.problem}
    if len(problems) == len(held):
        msg = f"{source}: {'; '.join(f'{name}: {why}' for name, why in problems.items())}."
        raise InputError(msg)
    return problems


def _compared(form: StatedAnswers, given: Recalibration) -> dict[str, Plain]:
    import numpy as np

    from calibration.neighbours.stated_confidence import compare_methods
    from calibration.plain import plain_fields

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
    from calibration.neighbours.stated_confidence import fitted_maps

    if not form.between:
        return {}
    fitted = fitted_maps(form.tally, phrase_table=form.table)
    return {name: m.weights() if m.converged else None for name, m in fitted.items()}


def _bins(form: StatedAnswers, bins: int) -> dict[str, object]:
    """Reliability diagram of the numbers the statements come down to."""
    from calibration.bins import bin_edges
    from calibration.neighbours.stated_confidence import scalar_bins

    counted = form.tally
    count, confidence, accuracy = scalar_bins(
        counted.n, counted.label_mass, stated=form.table.means, bins=bins
    )
    edges = bin_edges(bins)
    return {"edges": edges, "count": count, "confidence": confidence, "accuracy": accuracy}


def _distributions(form: StatedAnswers, *, bootstrap: int, seed: int) -> dict[str, object]:
    """Scores of the statements as the distributions they stand for (Eq. 4), and their curve."""
    import numpy as np

    from calibration.estimate import Options
    from calibration.result import calibrate as calibrated

    found = calibrated(
        form.tally,
        phrase_table=form.table,
        options=Options(bootstrap=bootstrap),
        rng=np.random.default_rng(seed),
    )
    return {name: getattr(found, name) for name in ("ece", "ece_star", "brier", "curve")}
