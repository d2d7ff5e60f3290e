"""What a profile takes as given: margins of indifference, thresholds and the priors' scales."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from calibration.plain import LEFT_OUT
from calibration.survey import CERTAIN


@dataclass(frozen=True, slots=True)
class Priors:
    """Scales of the hierarchy on the log-odds scale; the data move those that are estimated.

    Each estimated standard deviation has a scaled inverse χ² prior of ``worth`` observations
    at its scale; department means and the slab of habits are fixed.

    Attributes
    ----------
    common
        Standard deviations of the department's common shift, slope − 1, bend and twist (fixed).
    shift, slope, bend, twist
        Between readers. Bend and twist are a curve's departures from its line: at both ends
        alike (x²), or with the steep and the flat of an S (x³).
    quirk
        Of one phrase in one reader's hands.
    phrase
        Of a phrase in the whole department's hands, beyond the survey's sampling error.
    finding, reader_finding
        Of a finding, and of a finding in one reader's hands.
    remainder
        Of one phrase in one finding in one reader's hands, beyond all these.
    worth
        Observations each scale is worth, in the order shift, slope, bend, twist, quirk, phrase,
        finding, reader × finding, remainder.
    tails
        Degrees of freedom of a reader's effects taken together, in the same order: one far off is
        not pulled in, and one may be less regular than others.
    habit_size, habit_spread
        A habit's log-odds are ± ``habit_size`` with standard deviation ``habit_spread``.
    habit_share, habit_worth
        Prior share of readers with a habit, and how many readers it is worth.
    """

    common: tuple[float, ...] = (0.3, 0.15, 0.1, 0.1)
    shift: float = 0.35
    slope: float = 0.25
    bend: float = 0.1
    twist: float = 0.1
    quirk: float = 0.2
    phrase: float = 0.12
    finding: float = 0.15
    reader_finding: float = 0.12
    remainder: float = 0.08
    worth: tuple[float, ...] = (4.0, 4.0, 6.0, 6.0, 12.0, 6.0, 6.0, 12.0, 12.0)
    tails: tuple[float, ...] = (4.0, 4.0, 4.0, 4.0, 4.0, inf, inf, 2.0, 2.0)
    habit_size: float = 1.2
    habit_spread: float = 0.6
    habit_share: float = 0.4
    habit_worth: float = 6.0


@dataclass(frozen=True, slots=True)
class ProfileSettings:
    """Rules of decision; ``docs/profile-json.md`` prints each beside its default.

    Attributes
    ----------
    shift_margin, slope_margin
        Half-widths of indifference about shift 0 and slope 1.
    pattern_probability, own_probability
        Posterior probabilities of being sound at which a pattern is stated (`pattern`): of the line
        as it stands, and of what is left of it without what the instrument may have done.
    asked_probability
        The same for a shift that could only be asked about.
    again_probability, kept_probability
        The same for a reader judged in the issue before: for anything else than was told then,
        and for what was.
    clear_shift, clear_slope
        What counts as clearly off; slopes beyond 1 − and 1 + these.
    too_few_probability, none_probability
        "None" is said only if being clearly off is at most this likely and no part of a pattern
        likelier than the second; or, naming that part as slight, if it is .4 times as likely.
    habit_probability
        Posterior probability at which a habit is let into the fit and stated.
    swap_probability, most_swaps, least_gain
        A swap needs P(substitute nearer) of at least this, and an expected gain per use.
    contradiction
        An all-findings swap is not given where one finding's own data say the opposite with
        this probability.
    least_step, largest_step, least_respondents
        Smallest change of meaning that is worth a reader's habit, and largest a swap may ask for;
        people asked about a suggested word.
    least_uses, least_statements
        Uses behind a swap or habit; hedged statements behind any pattern.
    falls_probability, flat_probability, flat_slope, rest_probability
        Posterior probabilities at which a reader's words are said to fall (slope below 0), or to be
        flat (below ``flat_slope``), and at which those of all other findings are said to rise
        (above it), so that one finding alone is set aside (`order`).
    plausible_ordering, plausible_slope
        Range of λ (odds of a CT given disease over without) a department may have; the lowest
        slope that misreading and a CT that misses disease may make of 1.
    plausible_doubt
        How many times as likely, at most, a CT may be where the writer of a word is in doubt
        (`vocabulary`).
    least_shared
        Readers without whom nothing is called shared.
    certain
        Phrases whose meaning is below this or above 1 − this are atoms.
    misread
        Share of phrases that extraction misreads, as an audit measured it.
    priors
        Scales of the hierarchy.
    """

    shift_margin: float = 0.2
    slope_margin: float = 0.15
    pattern_probability: float = 0.82
    own_probability: float = 0.8
    asked_probability: float = 0.92
    again_probability: float = 0.95
    kept_probability: float = 0.6
    clear_shift: float = 0.5
    clear_slope: tuple[float, float] = (0.3, 0.4)
    too_few_probability: float = 0.05
    none_probability: float = 0.6
    habit_probability: float = 0.15
    swap_probability: float = 0.9
    most_swaps: int = 3
    least_gain: float = 0.0025
    contradiction: float = 0.8
    least_step: float = 0.05
    largest_step: float = 0.5
    least_respondents: int = 10
    least_uses: int = 20
    least_statements: int = 30
    falls_probability: float = 0.995
    flat_probability: float = 0.99
    flat_slope: float = 0.3
    rest_probability: float = 0.9
    plausible_ordering: tuple[float, float] = (0.8, 1.5)
    plausible_slope: float = 0.75
    plausible_doubt: float = 4.0
    least_shared: int = 5
    certain: float = CERTAIN
    misread: float = 0.0
    priors: Priors = field(default=Priors(), metadata=LEFT_OUT)
