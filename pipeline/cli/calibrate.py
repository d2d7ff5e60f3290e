"""``radcal calibrate``: any table of (phrase, label) → one JSON of results per group.

Numbers come from the one road that the hospital's job takes too (``calibration.analysis.Study``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from calibration.errors import CalibrationError
from pipeline.cli.common import (
    Advance,
    Output,
    argument,
    blaming,
    option,
    phrase_table,
    taking,
    write_result,
)
from pipeline.errors import ConfigurationError

if TYPE_CHECKING:
    from calibration.analysis import Study
    from calibration.extraction_errors import Audit
    from calibration.plain import Plain
    from calibration.survey import PhraseTable
    from calibration.tally import Tally
    from pipeline.tables.counted import Columns, Counted


def register(app: typer.Typer) -> None:
    """Add ``radcal calibrate``."""
    app.command("calibrate")(taking(calibrate))


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Options that say what the observations are."""

    phrases: str = option(
        "diagnostic-certainty-scale", "Phrase table file, or the name of a built-in one."
    )
    by: str = option("", "Grouping columns, comma-separated.")
    weight: str = option("", "Column of weights.")
    patient: str = option("", "Column of patients, to resample them whole.")

    def columns(self, most_groups: int) -> Columns:
        """Say which columns mean what."""
        from pipeline.tables.counted import Columns

        by = tuple(name.strip() for name in self.by.split(",") if name.strip())
        return Columns(by, self.weight.strip(), self.patient.strip(), most_groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Options that decide a number."""

    bins: int = option(100, min=1)
    bin_rule: str = option("exact", "exact, midpoint or paper.")
    bootstrap: int = option(1000, min=0)
    interval: str = option("percentile", "percentile, basic or bias-corrected.")
    seed: int = option(0, min=0)
    epsilon: float = option(1e-3)
    tau: float = option(1e-3)
    regulariser: str = option("kl", "kl or entropy.")
    holdout: str = option("0.5", "Share used for testing a map, or none.")

    def study(self, phrases: str) -> Study:
        """Put phrases, settings and seed together."""
        from calibration.analysis import Settings, Study

        given = {each.name: getattr(self, each.name) for each in fields(self)}
        seed = given.pop("seed")
        settings = Settings(**given | {"holdout": _holdout(self.holdout)})
        return Study(phrase_table(phrases), settings, seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrate:
    """Options of ``radcal calibrate``."""

    observations: Path = argument(..., "Table with columns phrase and label.")
    out: Path = option(..., "Result, one JSON file.")
    table: Table
    statistics: Statistics
    audit: Path | None = option(
        None, "Result of radcal audit extraction: also undo its reading mistakes."
    )
    most_groups: int = option(20_000, "Refuse more groups than this.", min=1)
    output: Output


def calibrate(given: Calibrate) -> None:
    """Calibrate groups of (phrase, label) observations against what the phrases mean.

    Rows whose phrase the table does not know are set aside and counted in the result
    (exit code 3); a label outside 0 to 1 or missing stops the command (exit code 2).
    The result is described in docs/result-json.md.
    """
    from pipeline.formats.tables import read_table
    from pipeline.tables.counted import count

    source = given.observations.name
    with blaming(source):
        study = given.statistics.study(given.table.phrases)
        columns = given.table.columns(given.most_groups)
        counted = count(read_table(given.observations), study.phrases, columns, source)
        with given.output.bar("calibrating", len(counted.groups)) as advance:
            groups = list(_groups(counted, study, given.audit, advance))
    write_result(given.out, _document(study, counted, groups))
    given.output.tell(_summary(counted, given.out), set_aside=counted.unmapped)


def _holdout(text: str) -> float | None:
    if text.strip().lower() == "none":
        return None
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0.0 < share < 1.0:
        raise ConfigurationError(
            f"--holdout {text}: give the share to test on, between 0 and 1, or none."
        )
    return share


def _groups(
    counted: Counted, study: Study, audit: Path | None, advance: Advance
) -> Iterator[dict[str, Plain]]:
    """Analyse every group; with an audit, also without the engine's reading mistakes."""
    from calibration.plain import plain_fields

    audited = None if audit is None else _phrase_audit(audit, study.phrases)
    minimum = study.settings.guard_rails.min_n
    for index in range(len(counted.groups)):
        tally, name = counted.tallies.group(index), counted.name_of(index)
        share, patients = counted.share_of(index, minimum=minimum), counted.patients_of(index)
        analysis = study.analysis(tally, name, share=share, patients=patients)
        beside: dict[str, Plain] = {}
        if audited is not None:
            beside["extraction_corrected"] = _corrected(tally, name, audited, study)
        key = dict(zip(counted.by, counted.groups[index], strict=True))
        advance(1)
        yield {"group": plain_fields(key), **plain_fields(analysis), **beside}


def _phrase_audit(path: Path, table: PhraseTable) -> Audit:
    """Give the confusion of the X-ray's words; the labels of the table are taken as they are."""
    from pipeline.site.audited import phrase_errors, read_audit

    confusion = read_audit(path, option="--audit").confusion
    errors = phrase_errors(confusion, phrases=table.phrases, labels={}, silence_is_absent=False)
    if errors is None:
        raise ConfigurationError(
            f"--audit: {path.name}: no X-ray statement in phrases of {table.name!r} was audited."
        )
    return replace(errors.audit, label_confusion=None)


def _corrected(tally: Tally, name: str, audit: Audit, study: Study) -> Plain:
    """Give one group's corrected errors as plain data; None where the audit cannot be inverted."""
    from calibration.extraction_errors import corrected_errors
    from calibration.plain import plain

    try:
        found = corrected_errors(
            tally,
            audit=audit,
            phrase_table=study.phrases,
            options=study.settings,
            rng=study.chance(f"extraction/{name}"),
        )
    except CalibrationError:
        return None
    return plain(found)


def _document(study: Study, counted: Counted, groups: list[dict[str, Plain]]) -> dict[str, Plain]:
    from calibration.plain import plain_fields

    table, settings = study.phrases, study.settings
    named = [each.name for each in fields(settings) if each.name != "guard_rails"]
    return plain_fields(
        {
            "phrases": table.phrases,
            "phrase_source": {
                "name": table.name,
                "source": table.source,
                "mean": table.means,
                "variance": table.variances,
            },
            "settings": {**{name: getattr(settings, name) for name in named}, "seed": study.seed},
            "unmapped": counted.unmapped,
        }
    ) | {"groups": list(groups)}


def _summary(counted: Counted, out: Path) -> dict[str, object]:
    names = ", ".join(f"{phrase} ({n})" for phrase, n in counted.unmapped.items())
    return {
        "groups": len(counted.groups),
        "observations": counted.tallies.pooled().total,
        "unmapped_observations": sum(counted.unmapped.values()),
        "unmapped_phrases": names or "none",
        "result": str(out),
    }
