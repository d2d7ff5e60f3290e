"""The result of ``radcal lm calibrate``: each form's recalibrations on held-out answers."""

from __future__ import annotations

import numpy as np
import typer

from calibration.bins import bin_edges
from calibration.estimate import Options
from calibration.neighbours.binned import scalar_bins
from calibration.neighbours.stated_confidence import compare_methods, fitted_maps
from calibration.plain import Plain, plain_fields
from calibration.result import calibrate as calibrated
from pipeline.cli.common import blaming, write_result
from pipeline.errors import EXIT_QUARANTINED, InputError
from pipeline.formats.tables import read_table
from pipeline.neighbours.lm_answers import FORMS, StatedAnswers, read_answers
from pipeline.neighbours.options import Recalibration


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
