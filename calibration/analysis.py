"""One group from tally to advice, in the order a result file lists it.

The map here is the paper's own, over every phrase in use and without guard-rails, so that it can
be compared with other implementations; advice is under the guard-rails and has its own map.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from calibration import substitution
from calibration.diagnostics import Diagnostics, diagnose
from calibration.errors import CalibrationError, number, whole
from calibration.estimate import Likeness, Options, likeness
from calibration.plain import INLINE
from calibration.result import GroupResult, calibrate, printed_error
from calibration.rounding import rounded
from calibration.substitution.effect import MapFitter, Scores
from calibration.substitution.transport import Regularisation, Regulariser, fitted_map
from calibration.survey import PhraseTable
from calibration.tally import GroupedTally, Tally

_LEAST_SPLIT = 4
"""Fewest observations that are split into a part to fit on and a part to test on."""
_LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Settings(Options):
    """Everything a result depends on beside the tally and the phrase table.

    Attributes
    ----------
    epsilon, tau, regulariser
        Of the transport problem.
    holdout
        Share of observations a map is tested on; 0.5 is cross-fitted both ways over many splits,
        another share is one split; None for no test.
    guard_rails
        Limits on advice.
    """

    epsilon: float = 1e-3
    tau: float = 1e-3
    regulariser: Regulariser = "kl"
    holdout: float | None = 0.5
    guard_rails: substitution.GuardRails = field(default_factory=substitution.GuardRails)

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        _ = self.regularisation  # refuses what it cannot use
        if self.holdout is not None and not 0 < number("holdout", self.holdout) < 1:
            raise CalibrationError(f"holdout: {self.holdout} is no share; give one, or None.")

    @property
    def regularisation(self) -> Regularisation:
        """The transport problem's ε, τ and Ω."""
        return Regularisation(self.epsilon, self.tau, self.regulariser)


@dataclass(frozen=True, slots=True, eq=False)
class MapOutcome:
    """A map with its true effect, in the sample and held out.

    Attributes
    ----------
    map
        Check ``map.converged``.
    ece_after, brier_after
        On the observations it was fitted to; NaN if it did not converge.
    held_out
        None if not asked for or too few observations to split.
    """

    map: substitution.SubstitutionMap = field(metadata=INLINE)
    ece_after: float
    brier_after: float
    held_out: substitution.HeldOutEffect | None


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """One group's result, diagnostics, map and advice."""

    result: GroupResult = field(metadata=INLINE)
    diagnostics: Diagnostics
    map: MapOutcome
    advice: substitution.Advice = field(metadata=INLINE)


@dataclass(frozen=True, slots=True)
class Study:
    """What every group of one analysis shares; the one road from a tally to a result.

    Chance is drawn from the seed, the group's name and the question asked, so that a group's
    numbers depend on nothing but its own observations: not on other groups, on the order of the
    work, or on what else is asked.

    Attributes
    ----------
    phrases
        What the phrases mean; tallies count against it.
    settings
        How it is done.
    seed
        Of all chance.
    """

    phrases: PhraseTable
    settings: Settings = field(default_factory=Settings)
    seed: int = 0

    def __post_init__(self) -> None:
        whole("seed", self.seed, least=0, most=_LARGEST_SEED)

    def with_bootstrap(self, replicates: int) -> Study:
        """Give the same study with another number of replicates."""
        return replace(self, settings=replace(self.settings, bootstrap=replicates))

    def chance(self, name: str) -> np.random.Generator:
        """Give the generator of one group's chance."""
        entropy = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8])
        return np.random.default_rng([self.seed, entropy])

    def result(
        self, tally: Tally, name: str, *, patients: GroupedTally | Likeness | None = None
    ) -> GroupResult:
        """Calibrate one group; see :func:`calibration.result.calibrate`."""
        return calibrate(
            tally,
            phrase_table=self.phrases,
            options=self.settings,
            patients=patients,
            rng=self.chance(name),
        )

    def printed(self, exact: Tally, name: str, *, alike: Likeness | None = None) -> GroupResult:
        """Calibrate a group for a page: by rounded counts; its phrase error is rounded itself."""
        found, chance = self.result(rounded(exact), name, patients=alike), self.chance(name)
        known = alike or Likeness(), self.phrases.means, self.settings, chance
        error = replace(printed_error(exact, *known), n=found.phrase_error.n)
        return replace(found, phrase_error=error)

    def advice(
        self, tally: Tally, name: str, *, share: float = 1.0, alike: Likeness | None = None
    ) -> substitution.Advice:
        """Look for advice, with a share of the chance of false advice (see `advice_shares`)."""
        rails, settings = self.settings.guard_rails, self.settings
        return substitution.advise(
            tally,
            phrase_table=self.phrases,
            guard_rails=replace(rails, family_error=rails.family_error * share),
            regularisation=settings.regularisation,
            alike=alike or Likeness(),
            rng=self.chance(f"advice/{name}"),
        )

    def diagnostics(self, tally: Tally, name: str) -> Diagnostics:
        """Secondary statistics, from at most 200 replicates."""
        settings = self.settings
        return diagnose(
            tally,
            phrase_table=self.phrases,
            options=replace(settings, bootstrap=min(settings.bootstrap, 200)),
            rng=self.chance(f"diagnostics/{name}"),
        )

    def analysis(
        self, tally: Tally, name: str, *, share: float = 1.0, patients: GroupedTally | None = None
    ) -> Analysis:
        """Everything a result file says about one group.

        Raises
        ------
        CalibrationError
            If a setting is unusable or the tally belongs to another phrase table.
        """
        alike = Likeness() if patients is None else likeness(patients)
        return Analysis(
            result=self.result(tally, name, patients=patients),
            diagnostics=self.diagnostics(tally, name),
            map=_map(tally, self.phrases, self.settings, alike.whole, self.chance(f"map/{name}")),
            advice=self.advice(tally, name, share=share, alike=alike),
        )


def advice_shares(findings: int) -> tuple[float, float]:
    """Share out one reader's chance of false advice: to all findings together, and to each.

    Half is spent on all findings together, half evenly on the single ones that have enough exams
    (Bonferroni, weighted); all on the first where no finding has.

    Examples
    --------
    >>> advice_shares(0), advice_shares(4)
    ((1.0, 0.0), (0.5, 0.125))
    """
    return (0.5, 0.5 / findings) if findings else (1.0, 0.0)


def _map(
    tally: Tally, table: PhraseTable, settings: Settings, effect: float, rng: np.random.Generator
) -> MapOutcome:
    tables = settings.tables(table.distributions)
    fit = partial(
        fitted_map, phrases=table.phrases, tables=tables, regularisation=settings.regularisation
    )
    fitted = fit(tally)
    if not fitted.converged:
        return MapOutcome(fitted, float("nan"), float("nan"), None)
    scores = Scores(tables, table.means, table.variances, effect)
    _, error, _, loss = scores.of(tally.n, tally.label_mass, fitted.weights()).tolist()
    return MapOutcome(
        map=fitted,
        ece_after=error,
        brier_after=loss,
        held_out=_held_out(
            tally, lambda part: fit(part).weights_or_identity(), scores, settings.holdout, rng
        ),
    )


def _held_out(
    tally: Tally, fit: MapFitter, scores: Scores, share: float | None, rng: np.random.Generator
) -> substitution.HeldOutEffect | None:
    if share is None or tally.total < _LEAST_SPLIT:
        return None
    if share == 0.5:
        return substitution.held_out_effect(tally, fit=fit, scores=scores, splits=10, rng=rng)
    return substitution.split_effect(tally, fit=fit, scores=scores, test_share=share, rng=rng)
