"""Calibration gained against words changed: the department's maps on a held-out half."""

from __future__ import annotations

from typing import Final

import numpy as np

from calibration.bins import phrase_bins
from calibration.curve import calibration_error
from calibration.substitution.effect import split_tally
from calibration.substitution.guardrails import allowed_cells
from calibration.substitution.variation import frontier
from calibration.tally import Tally
from pipeline.tables.results import Scale
from reports.content import FrontierPoint

__all__ = ["held_out_frontier"]

_EPSILONS: Final = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)


def held_out_frontier(counted: Tally, *, scale: Scale) -> tuple[FrontierPoint, ...]:
    """Fit one map per ε on one half of the observations and test it on the other.

    ECE is averaged over both ways round; settings whose solver did not converge are left out.
    """
    settings = scale.config.advice
    epsilons = sorted({*_EPSILONS, settings.epsilon})
    halves = split_tally(counted, rng=scale.study.chance("frontier"))
    allowed = allowed_cells(scale.phrases, guard_rails=scale.guard_rails)
    rounds = [
        frontier(
            fit,
            tested_on=test,
            phrase_table=scale.phrases,
            epsilons=epsilons,
            taus=(settings.tau,),
            regulariser=settings.regulariser,
            allowed=allowed,
        )
        for fit, test in (halves, halves[::-1])
    ]
    tables = phrase_bins(scale.phrases.distributions)
    before = [calibration_error(part.n, part.label_mass, tables=tables) for part in halves]
    kept_words = FrontierPoint(0.0, float(np.mean(before)), "no word changed")
    return kept_words, *(
        FrontierPoint(
            words_changed=float(np.mean([p.words_changed for p in both])),
            ece_after=float(np.mean([p.ece_after for p in both])),
            label=f"\N{GREEK SMALL LETTER EPSILON} = {epsilon:g}",
            chosen=epsilon == settings.epsilon,
        )
        for epsilon, *both in zip(epsilons, *rounds, strict=True)
        if all(p.converged for p in both)
    )
