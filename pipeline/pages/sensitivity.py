"""Whether another choice, or the reading engine's own mistakes, would have changed the answer.

Each table recomputes calibration under other choices: the window between X-ray and CT, which
X-rays come to be compared (verification bias), what a silent CT counts as, and the label an
uncertain CT phrase stands for. Intervals here rest on fewer bootstrap replicates than elsewhere;
the captions say so. As on all pages, every figure comes of a rounded tally, so that the choice made
has the figures of the rest of the review.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import pandas as pd

from calibration.errors import CalibrationError
from calibration.estimate import Likeness
from calibration.extraction_errors import Audit, corrected_errors
from calibration.groups import Likenesses, tally_of
from calibration.regression import indicators, logistic_calibration, selection_weights
from calibration.rounding import estimate, rounded
from calibration.tally import Tally
from pipeline.site.audited import PhraseErrors, SiteAudit, phrase_errors
from pipeline.tables.observations import OTHERS, QUIET, Label, Silence, ct_labels, tallied
from pipeline.tables.pairing import INELIGIBLE
from pipeline.tables.results import Scale
from reports.content import SuppressedCell
from reports.numbers import decimal, written
from reports.review_content import SensitivityRow, SensitivityTable

_REPLICATES: Final = 200
_FEATURES: Final = ["patient_class", "age_band", "reader_code", "performed_month"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A period's sums, all readers (`tables.observations`).

    Attributes
    ----------
    cells
        The tally table.
    alternatives
        The tally table under each choice not made.
    mix
        Cases by what describes them.
    words
        Hedges of paired X-ray reports by month, reader and phrase.
    coverage
        Every X-ray by what became of it.
    written
        X-ray reports by hedge, and by whether a CT answered.
    alike
        How alike a patient's statements turn out, by pathology and in all (None).
    alike_by_reader
        Design effect of all of a reader's statements.
    """

    cells: pd.DataFrame
    alternatives: pd.DataFrame
    mix: pd.DataFrame
    words: pd.DataFrame
    coverage: pd.DataFrame
    written: pd.DataFrame
    alike: Likenesses = field(default_factory=dict)
    alike_by_reader: Mapping[str, float] = field(default_factory=dict)

    @property
    def together(self) -> Likeness:
        """How alike a patient's statements of all findings are."""
        return self.alike.get(None, Likeness())


@dataclass(frozen=True, slots=True)
class _Question:
    """Makes the rows of the tables from one body of evidence."""

    evidence: Evidence
    scale: Scale

    def chosen(self, name: str) -> SensitivityRow:
        """Calibrate the choice made for this issue."""
        return self.row(name, self.evidence.cells, reference=True)

    def other(self, name: str, choice: str) -> SensitivityRow:
        """Calibrate one of the choices not made."""
        return self.row(name, self._of(choice))

    def _of(self, choice: str) -> pd.DataFrame:
        rows = self.evidence.alternatives
        return rows[rows["choice"] == choice]

    def without(self, what: str, choice: str) -> SensitivityRow:
        """Calibrate without some exams; of none, or so few that nothing printed moves, say so."""
        left = self.other(f"without {what}", choice)
        tables = (self.evidence.cells, self._of(choice))
        every, kept = (rounded(tally_of(each, self.scale.phrases)) for each in tables)
        alike = np.array_equal(every.counts, kept.counts)
        return replace(left, name=left.name + " (none known, or too few to tell)" * alike)

    def either(self, made: str, choices: Iterable[tuple[str, str]]) -> tuple[SensitivityRow, ...]:
        """Calibrate under each of a setting's values, (value, name); ``made`` is the issue's."""
        return tuple(
            self.chosen(name) if choice == made else self.other(name, choice)
            for choice, name in choices
        )

    def row(self, name: str, cells: pd.DataFrame, *, reference: bool = False) -> SensitivityRow:
        """Calibrate one choice's tally table."""
        minimum = self.scale.config.reports.min_exams
        counted = tally_of(cells, self.scale.phrases)
        if counted.total < minimum:
            few = SuppressedCell(minimum)
            return SensitivityRow(name, 0, few, few, few, reference)
        shown, study = rounded(counted), self.scale.study.with_bootstrap(_REPLICATES)
        alike = self.evidence.together
        result = study.printed(counted, f"sensitivity/{name}", alike=alike)
        # Words as sure as "absent" and "present" would decide the slope by where they are clipped.
        hedges = replace(shown, counts=shown.counts * ~self.scale.phrases.certain[:, None])
        line = logistic_calibration(hedges, phrase_table=self.scale.phrases)
        return SensitivityRow(
            name, round(shown.total), result.ece, result.phrase_error, line.slope, reference
        )


def sensitivity_tables(evidence: Evidence, *, scale: Scale) -> tuple[SensitivityTable, ...]:
    """Ask every question; each table marks the choice made for this issue."""
    ask = _Question(evidence, scale)
    return (_windows(ask), _verification(ask), _silence(ask), _labels(ask))


def _windows(ask: _Question) -> SensitivityTable:
    settings = ask.scale.config.pairing
    windows = sorted({settings.window_hours, *settings.other_windows_hours})
    names = ((f"{hours:g}", f"CT within {hours:g} h") for hours in windows)
    rows = ask.either(f"{settings.window_hours:g}", names)
    caption = (
        "A longer window brings in patients who were not sent to CT at once, and gives disease "
        f"time to change. Intervals in these tables: {_REPLICATES} bootstrap replicates."
    )
    return SensitivityTable("Window between X-ray and CT", caption, rows)


def _verification(ask: _Question) -> SensitivityTable:
    rows = [
        ask.chosen("every X-ray with a CT in time"),
        ask.without("X-ray reports that recommend a CT", QUIET),
        ask.without("CTs that the X-ray's reader signed too", OTHERS),
    ]
    weighted = _weighted(ask.evidence)
    if weighted is not None:
        rows.append(ask.row("weighted to all adult chest X-rays", weighted))
    caption = (
        "Only some X-rays are followed by a CT, and who reads it may know what the X-ray's report "
        "says: its own reader does. If words lie nearer to CT with those CTs than without them, CT "
        "may follow the words. Weights: inverse probability of having a CT, "
        "fitted on all adult chest X-rays of the period by patient class, age band, reader and "
        "month, at most 10; n is then the effective number. What was not recorded cannot be "
        "weighted away."
    )
    return SensitivityTable("Which X-rays are compared", caption, tuple(rows))


def _weighted(evidence: Evidence) -> pd.DataFrame | None:
    """Tally the cases weighted to all eligible X-rays, scaled to their effective number."""
    coverage = evidence.coverage
    eligible = coverage[~coverage["fate"].isin(INELIGIBLE)].reset_index(drop=True)
    taken = (eligible["fate"] == "paired").to_numpy()
    n = eligible["n"].to_numpy(np.float64)
    try:
        weight = selection_weights(indicators(eligible[_FEATURES], n=n), taken, n=n)
    except CalibrationError:
        return None
    weights = eligible[_FEATURES].assign(each=weight)[taken]
    cases = evidence.mix.merge(weights, on=_FEATURES)
    if cases.empty:
        return None
    count, each = cases["weight"].to_numpy(np.float64), cases["each"].to_numpy(np.float64)
    scale = (count @ each) / (count @ each**2)
    return tallied(cases.assign(weight=count * each * scale))


def _silence(ask: _Question) -> SensitivityTable:
    names: dict[Silence, str] = {
        "absent": "counts as absent",
        "exclude": "leaves the observation out",
    }
    caption = "Left out, the observations that remain are those the CT thought worth a mention."
    rows = ask.either(ask.scale.config.calibration.ct_silence, names.items())
    return SensitivityTable("A CT that does not mention the finding", caption, rows)


def _labels(ask: _Question) -> SensitivityTable:
    names: dict[Label, str] = {
        "probability": "chance that the finding is more likely than not",
        "mean": "mean of the phrase",
    }
    rows = ask.either(ask.scale.config.calibration.label, names.items())
    caption = "A CT can be uncertain too; its phrase then stands for a label between 0 and 1."
    return SensitivityTable("Label of an uncertain CT phrase", caption, rows)


_NAMED: Final = 6
_WORTH_SAYING: Final = 0.001


def extraction_tables(
    counted: Tally, audited: SiteAudit | None, *, scale: Scale, alike: Likeness | None = None
) -> tuple[SensitivityTable, ...]:
    """Correct the department's figures by an audit's confusions; no table where there is none.

    Parameters
    ----------
    counted
        The department's tally.
    audited
        Result of ``radcal audit extraction``.
    alike
        How alike a patient's statements turn out; they are independent if it is not given.
    """
    settings = scale.config.calibration
    if audited is None or counted.total < scale.config.reports.min_exams:
        return ()
    errors = phrase_errors(
        audited.confusion,
        phrases=scale.phrases.phrases,
        labels=ct_labels(scale.phrases, rule=settings.label),
        silence_is_absent=settings.ct_silence == "absent",
    )
    if errors is None:
        return ()
    study = scale.study.with_bootstrap(_REPLICATES)
    plain = study.printed(counted, "sensitivity/as read", alike=alike)
    rows = [
        SensitivityRow(
            "as the engine read them", round(plain.n), plain.ece, plain.phrase_error,
            reference=True,
        ),
        _row("X-ray words corrected", counted, replace(errors.audit, label_confusion=None), scale),
    ]  # fmt: skip
    if errors.audit.label_confusion is not None:
        rows.append(_row("X-ray words and CT answers corrected", counted, errors.audit, scale))
    caption = _caption(audited, errors)
    return (SensitivityTable("Errors of the reading engine", caption, tuple(rows)),)


def _row(name: str, counted: Tally, audit: Audit, scale: Scale) -> SensitivityRow:
    """Give one correction's row; one that cannot be made says so and has no figures."""
    options = replace(scale.study.settings, bootstrap=_REPLICATES)
    try:
        found, exact = (
            corrected_errors(
                each,
                audit=audit,
                phrase_table=scale.phrases,
                options=options,
                rng=scale.study.chance(f"sensitivity/{name}"),
            )
            for each in (rounded(counted), counted)
        )
    except CalibrationError:
        return SensitivityRow(f"{name}: the audit is too small", 0, None, None)
    if found.moved > _WORTH_SAYING * found.n:
        with written(scale.config.reports.language):
            share = decimal(100.0 * found.moved / found.n, 1)
        name = f"{name} ({share}\u00a0% of the mass moved into the possible range)"
    error = estimate(exact.phrase_error, exact.n)
    return SensitivityRow(name, round(found.n), found.ece, error)


def _caption(audited: SiteAudit, errors: PhraseErrors) -> str:
    shown = ", ".join(errors.unchecked[:_NAMED])
    more = len(errors.unchecked) - _NAMED
    unchecked = (
        f" Taken as read without error, for want of audited statements: {shown}"
        f"{f' and {more} more' if more > 0 else ''}."
        if errors.unchecked
        else ""
    )
    return (
        f"Confusion matrix of {audited.engine} on {audited.reports} reports labelled by people, "
        f"inverted; intervals carry the audit's own sampling. Of {errors.statements} audited X-ray "
        f"statements {errors.missed} were missed and {errors.surplus} were read where people "
        f"labelled none: no correction of words puts these right.{unchecked}"
    )
