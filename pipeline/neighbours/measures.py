"""``radcal disagreement | scalar | difficulty | lm``: each imports its work only when called."""

from __future__ import annotations

import typer

from pipeline.cli.common import taking
from pipeline.neighbours import options

_lm = typer.Typer(help="Language models that state how sure they are.")


def register(app: typer.Typer) -> None:
    """Add the three commands, and the group ``radcal lm``."""
    app.command("disagreement")(taking(disagreement))
    app.command("scalar")(taking(scalar))
    app.command("difficulty")(taking(difficulty))
    _lm.command("elicit")(taking(elicit))
    _lm.command("calibrate")(taking(calibrate))
    _lm.command("layers")(taking(layers))
    app.add_typer(_lm, name="lm")


def disagreement(given: options.Disagreement) -> None:
    """Hold predicted class probabilities against the votes of several readers."""
    from pipeline.neighbours import against_readers

    against_readers.disagreement(given)


def scalar(given: options.Scalar) -> None:
    """Calibrate a slider without bins, and hold class probabilities against one judged number."""
    from pipeline.neighbours import against_readers

    against_readers.scalar(given)


def difficulty(given: options.Difficulty) -> None:
    """Say which items are hard for a pool of models, and when its own doubt misleads."""
    from pipeline.neighbours import difficulty

    difficulty.difficulty(given)


def elicit(given: options.Elicitation) -> None:
    """Ask a model questions and how sure it is of its answers, in four forms.

    Lines that are no question, answers that cannot be read and questions that got no reply are
    counted by reason (exit code 3), never taken as wrong. Run again to go on after an interruption;
    nothing is asked twice. See docs/neighbours.md.
    """
    from pipeline.neighbours import lm_elicit

    lm_elicit.elicit(given)


def calibrate(given: options.Recalibration) -> None:
    """Compare uncalibrated, Platt, histogram, isotonic, beta, transport and monotone, held out.

    Answers nobody judged, or whose confidence cannot be read, are counted in the result
    (exit code 3). The result is described in docs/neighbours.md.
    """
    from pipeline.neighbours import lm_result

    lm_result.calibrate(given)


def layers(given: options.Layers) -> None:
    """Predict every case after every layer of local models, for radcal difficulty.

    A causal model chooses among lettered options; a sequence classifier names one of its classes.
    Both read each layer with their own last norm and head. Questions with too few wrong answers
    are left out and counted (exit code 3).
    """
    from pipeline.neighbours import difficulty

    difficulty.layers(given)
