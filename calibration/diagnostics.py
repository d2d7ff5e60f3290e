"""Everything else one can say about a group, in one object: for an appendix, not for page one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.bins import BinRule, phrase_bins
from calibration.curve import calibration_error_without_end_bins, maximum_calibration_error
from calibration.discrimination import auroc, order_probabilities
from calibration.estimate import Estimate
from calibration.goodness import Corp, FitTest, corp, phrase_chi_squared, spiegelhalter_z
from calibration.resample import estimate_from_replicates, multinomial_moments
from calibration.smooth import smooth_calibration_error
from calibration.survey import PhraseTable
from calibration.tally import Tally

__all__ = ["Diagnostics", "diagnose"]


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Secondary statistics of one group.

    Attributes
    ----------
    auroc
        With its interval; NaN where all labels agree.
    ece_star_end_bins
        ECE without the first and last bin, as the paper's released code has it.
    maximum_error
        Largest |observed − confidence| over bins that hold at least 1 in 10,000 of the use.
    smooth_ece
        Of the phrase means.
    spiegelhalter, chi_squared
        Tests that every phrase means what the table says.
    corp
        Decomposition of the Brier score of the phrase means.
    """

    auroc: Estimate
    ece_star_end_bins: float
    maximum_error: float
    smooth_ece: float
    spiegelhalter: FitTest
    chi_squared: FitTest
    corp: Corp


def diagnose(
    tally: Tally,
    *,
    phrase_table: PhraseTable,
    bins: int = 100,
    bin_rule: BinRule = "exact",
    bootstrap: int = 200,
    rng: np.random.Generator,
) -> Diagnostics:
    """Compute them all; parameters as for :func:`calibration.result.calibrate`."""
    tables = phrase_bins(phrase_table.distributions, bins=bins, rule=bin_rule)
    n, mass, means = tally.n, tally.label_mass, phrase_table.means
    order = order_probabilities(phrase_table.distributions)
    boot_n, boot_mass = multinomial_moments(tally, replicates=bootstrap, rng=rng)
    return Diagnostics(
        auroc=estimate_from_replicates(
            float(auroc(n, mass, order=order)),
            auroc(boot_n, boot_mass, order=order),
            n=tally.total,
            rule="percentile",
        ),
        ece_star_end_bins=float(calibration_error_without_end_bins(n, mass, tables=tables)),
        maximum_error=maximum_calibration_error(n, mass, tables=tables, min_density=1e-4),
        smooth_ece=smooth_calibration_error(tally, means=means),
        spiegelhalter=spiegelhalter_z(tally, means=means),
        chi_squared=phrase_chi_squared(tally, means=means),
        corp=corp(tally, means=means),
    )
