"""What an audit of extraction adds to ``radcal calibrate``: errors with reading mistakes undone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from calibration.errors import CalibrationError
from calibration.extraction_errors import corrected_errors
from calibration.plain import Plain, plain
from pipeline.errors import ConfigurationError
from pipeline.site.audited import phrase_errors, read_audit

if TYPE_CHECKING:
    from calibration.analysis import Study
    from calibration.extraction_errors import Audit
    from calibration.survey import PhraseTable
    from calibration.tally import Tally

__all__ = ["corrected_data", "phrase_audit"]


def phrase_audit(path: Path, table: PhraseTable) -> Audit:
    """Give the confusion of the X-ray's words; the labels of the table are taken as they are.

    Raises
    ------
    ConfigurationError
        If the file is no audit, or no X-ray statement in the table's phrases was audited.
    """
    confusion = read_audit(path, option="--audit").confusion
    errors = phrase_errors(confusion, phrases=table.phrases, labels={}, silence_is_absent=False)
    if errors is None:
        msg = f"--audit: {path.name}: no X-ray statement in phrases of {table.name!r} was audited."
        raise ConfigurationError(msg)
    return replace(errors.audit, label_confusion=None)


def corrected_data(tally: Tally, name: str, audit: Audit, study: Study) -> Plain:
    """Give one group's corrected errors as plain data; None where the audit cannot be inverted."""
    settings = study.settings
    try:
        found = corrected_errors(
            tally,
            audit=audit,
            phrase_table=study.phrases,
            bins=settings.bins,
            bin_rule=settings.bin_rule,
            bootstrap=settings.bootstrap,
            rng=study.chance(f"extraction/{name}"),
        )
    except CalibrationError:
        return None
    return plain(found)
