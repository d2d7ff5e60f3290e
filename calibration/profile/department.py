"""Observations of a department → its profile: count, fit, look for habits, judge, advise.

rows → effective counts → fit → patients' correlation → fit → habits → line → verdicts, advice
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict

import numpy as np
import pandas as pd

from calibration.errors import CalibrationError, NotConvergedError
from calibration.profile.atoms import judge_both
from calibration.profile.habits import ROUNDS, HabitFit, fit_with_habits, without_word
from calibration.profile.lately import lately
from calibration.profile.line import elsewhere, in_the_large, leaned, lines
from calibration.profile.order import Certainties, Order, Own, Slopes, order, with_aside
from calibration.profile.rates import posterior
from calibration.profile.readings import (
    Reading,
    all_rates,
    department_line,
    read_reader,
    with_rest,
    with_sides,
)
from calibration.profile.results import Part, ReaderProfile
from calibration.profile.rows import Rows, read_rows
from calibration.profile.settings import ProfileSettings
from calibration.profile.shared import STATED, instrument, instruments, shared_line
from calibration.profile.shown import as_shown, as_standard, with_doubted
from calibration.profile.sites import sites
from calibration.profile.swaps import Uses
from calibration.profile.tables import USUAL, Correlation, Hedged, both_certain, hedged, opposed
from calibration.profile.variances import fit, readers_apart
from calibration.profile.vocabulary import Vocabulary, vocabulary
from calibration.profile.whole import DepartmentProfile, Diagnostics
from calibration.survey import PhraseTable

_INDEPENDENT = Correlation(0.0, 0.0)
STEPS = 1 + ROUNDS + 1


def profile(
    observations: pd.DataFrame,
    *,
    phrases: PhraseTable,
    settings: ProfileSettings | None = None,
    never: Collection[str] = (),
    before: Mapping[str, tuple[Part, ...]] | None = None,
    advance: Callable[[int], None] = lambda _: None,
) -> DepartmentProfile:
    """Judge every reader of a department from one posterior.

    Parameters
    ----------
    observations
        Columns ``reader, phrase, label`` (0 to 1) and, where known, ``pathology``, ``patient``,
        ``exam``, ``site``, ``month`` and ``count``; see `calibration.profile.rows`.
    phrases
        What the phrases mean.
    settings
        Margins, thresholds and priors.
    never
        Phrases that are never suggested, such as those an institution discourages.
    before
        What the issue before told of every reader it judged, where most of its exams are these.
    advance
        Takes how many of the `STEPS` more are done.

    Raises
    ------
    CalibrationError
        If the table is empty, a column is missing, a label is missing or outside [0, 1], or a
        reader was told before what no profile says.
    NotConvergedError
        If the mode of the posterior was not found, or the deviations did not settle.
    """
    rules = ProfileSettings() if settings is None else settings
    if observations.empty:
        raise CalibrationError("observations: the table has no rows; nothing can be profiled.")
    told = {} if before is None else before
    wrong = [each for each in told.values() if each and each not in STATED]
    if wrong:
        raise CalibrationError(
            f"before: {len(wrong)} of {len(told)} readers were told what no profile says "
            f"({', '.join(wrong[0])!r}); give the parts of a verdict, in its order."
        )
    words = vocabulary(phrases, settings=rules)
    return _judged(read_rows(observations, table=phrases), words, never, told, rules, advance)


def _judged(
    rows: Rows,
    words: Vocabulary,
    never: Collection[str],
    before: Mapping[str, tuple[Part, ...]],
    rules: ProfileSettings,
    advance: Callable[[int], None],
) -> DepartmentProfile:
    """Fit the department, and read every reader off the fit."""
    every = hedged(rows, words, misread=rules.misread)
    alike = bool(len(rows.label)) and float(np.ptp(rows.label)) == 0.0
    # Of one label nothing is asked: no row is left to ask it of.
    asked = rows.take(np.full(len(rows.label), not alike))
    own, aside, every_certain = set_aside(hedged(asked, words, misread=0.0), asked, rules)
    rising = every.without(aside.out)
    doubted = rising.doubted & (not alike)
    hedges = every.without(out := aside.out | doubted[:, None])
    between, found, less = _fitted(hedges, rules, advance)
    error, line = (found.posterior.survey_error, found.posterior.survey_variance), lines(found)
    judged = (hedges.uses >= rules.least_statements) & (not alike)
    kept = rows.take(~out[rows.reader, rows.finding])
    certain, sure = (both_certain(each, words, between) for each in (kept, kept.leaning()))
    n, mass = hedges.total(hedges.rows.count), hedges.total(hedges.rows.count * hedges.rows.label)
    choice = words.chosen_by_doubt(n.sum(axis=(0, 1)), ratio=rules.plausible_doubt)
    soft = bool(kept.soft.any())
    reach = instruments(*certain, soft=soft, doubted=choice, settings=rules)
    lean = leaned(found, leaning := hedges.leaning(n))
    shared = shared_line(line, judged, lean=lean, reach=reach, settings=rules)
    done = instrument(line, judged, reach=reach, settings=rules)
    choices = words.choices(rows.findings, error, done.mean, never, rules)
    others, besides = elsewhere(found, n)
    uses = Uses(n, mass, found.counts, *all_rates(found, others, uses=n))
    large, together = in_the_large(found, uses=n, mass=mass, meaning=words.meaning)
    reading = Reading(
        rows, found, choices, line, lines(less), besides, found.suspected(), uses, large,
        shared, done, lean, leaning, before, sites(hedges, found, between, rules),
        lately(hedges, found, between, rules), rules,
        one_label=alike,
    )  # fmt: skip
    read = with_doubted(_read(reading, certain, sure), doubted, own.of(~aside.out), every_certain)
    read = as_standard(read, rising.plain)
    readers = with_aside(read, aside, own, every_certain, settings=rules)
    advance(1)
    shift, slope = department_line(found.fitted)
    return DepartmentProfile(
        readers=readers, phrases=words.hedges, findings=rows.findings, shift=shift, slope=slope,
        shared=shared, large=together, expected_false=_expected_false(readers),
        unmapped=rows.unmapped, diagnostics=_diagnostics(rising, found, between), settings=rules,
        spread=readers_apart(found.fitted, judged, least=rules.least_shared),
    )  # fmt: skip


def _read(reading: Reading, certain: Certainties, sure: Certainties) -> tuple[ReaderProfile, ...]:
    """Say of every reader what the fit holds; ``sure`` are certainties by what labels lean to."""
    rows, rules = reading.rows, reading.settings
    atoms = [judge_both(*each, settings=rules) for each in zip(certain, sure, strict=True)]
    said = rows.total(rows.count).sum(axis=1)
    readers = tuple(
        read_reader(reading, r, n=float(said[r]), atoms=(atoms[0][r], atoms[1][r]))
        for r in range(len(rows.readers))
    )
    return tuple(map(as_shown, with_sides(with_rest(readers, reading), reading)))


def set_aside(every: Hedged, rows: Rows, rules: ProfileSettings) -> tuple[Own, Order, Certainties]:
    """Count all hedges and certainties, and find what does not rise with CT."""
    words, count = every.words, every.rows.count
    between = _INDEPENDENT if rows.patient is None else USUAL
    worth = every.counts(between)
    n, mass = every.total(count), every.total(count * every.rows.label)
    own = Own(n, mass, worth.n, worth.mass, words.hedges, rows.findings, words.meaning, words.doubt)
    atoms = both_certain(rows, words, between)
    leaning = both_certain(rows.leaning(), words, between)
    together = Slopes(*opposed(rows, phrases=len(words.phrases)))
    found = order(own, atoms, leaning, together, meaning=words.log_odds, settings=rules)
    return own, found, atoms


def _expected_false(readers: Iterable[ReaderProfile]) -> float:
    verdicts = (each.pattern.verdict for each in readers)
    return sum(1.0 - each.sound for each in verdicts if each.state == "pattern")


def _fitted(
    hedges: Hedged, settings: ProfileSettings, advance: Callable[[int], None]
) -> tuple[Correlation, HabitFit, HabitFit]:
    """Fit once as if outcomes were independent, learn how patients' go together, fit again.

    The last is the fit without the word that each reader is suspected of.
    """
    between, start = _INDEPENDENT, None
    if hedges.rows.patient is not None:
        counts = hedges.counts(_INDEPENDENT)
        start = fit(counts, priors=settings.priors)
        between = hedges.correlation(posterior(start).chance)
    advance(1)
    counts = hedges.counts(between)
    found = fit_with_habits(counts, settings=settings, advance=advance, start=start)
    mode = found.fitted.mode
    if not (mode.converged and found.fitted.settled):
        alone = hedges.rows.patient is None
        raise NotConvergedError(
            f"profile: after {found.fitted.rounds} rounds, {mode.steps} steps in the last, the "
            f"mode was not found or the deviations still move (gradient {mode.gradient:.1e}); "
            f"no verdict is given. Look for extreme counts in the table{_REPEATS[alone]}."
        )
    return between, found, without_word(found, counts, settings)


_REPEATS = (
    "",
    ", and for exams of one patient that come again: without a column patient each counts as new",
)

# What lies below it is the processor's rounding, and differs with it.
_ROUNDING = 1e-9


def _diagnostics(hedges: Hedged, found: HabitFit, between: Correlation) -> Diagnostics:
    fitted, words = found.fitted, hedges.words
    soft = hedges.spread[hedges.rows.reader, hedges.rows.phrase]
    return Diagnostics(
        converged=fitted.mode.converged and fitted.settled,
        gradient=max(fitted.mode.gradient, _ROUNDING),
        newton_steps=fitted.mode.steps,
        rounds=fitted.rounds,
        deviations=asdict(fitted.held.deviations),
        same_finding=between.same,
        other_finding=between.other,
        patients=hedges.rows.patient is not None,
        label_dispersion=float(soft.mean()) if len(soft) else 1.0,
        unsurveyed=tuple(
            name for name, n in zip(words.hedges, words.respondents, strict=True) if np.isnan(n)
        ),
    )
