"""Ask what the reading engine's own mistakes do to the department's figures."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from calibration.errors import CalibrationError
from calibration.extraction_errors import Audit, corrected_errors
from calibration.tally import Tally
from pipeline.site.audited import PhraseErrors, SiteAudit, phrase_errors
from pipeline.tables.observations import ct_labels
from pipeline.tables.results import Scale
from reports.review_content import SensitivityRow, SensitivityTable

__all__ = ["extraction_tables"]

_REPLICATES: Final = 200
_NAMED: Final = 6
_WORTH_SAYING: Final = 0.001


def extraction_tables(
    counted: Tally, audited: SiteAudit | None, *, scale: Scale
) -> tuple[SensitivityTable, ...]:
    """Correct the department's figures by an audit's confusions; no table where there is none.

    Parameters
    ----------
    counted
        The department's tally.
    audited
        Result of ``radcal audit extraction``.
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
    plain = scale.study.with_bootstrap(_REPLICATES).result(counted, "sensitivity/as read")
    rows = [
        SensitivityRow(
            "as the engine read them", round(counted.total), plain.ece, plain.phrase_error,
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
        found = corrected_errors(
            counted,
            audit=audit,
            phrase_table=scale.phrases,
            options=options,
            rng=scale.study.chance(f"sensitivity/{name}"),
        )
    except CalibrationError:
        return SensitivityRow(f"{name}: the audit is too small", 0, None, None)
    if found.moved > _WORTH_SAYING * found.n:
        name = f"{name} ({found.moved / found.n:.1%} of the mass moved into the possible range)"
    return SensitivityRow(name, round(found.n), found.ece, found.phrase_error)


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
