"""Checks around extraction: ``audit extraction``, ``vocabulary check``, ``annotate``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from pipeline.cli.common import JsonOption, QuietOption, emit
from pipeline.cli.extraction_options import ModelChoice, VocabularyOption
from pipeline.cli.extraction_tables import (
    closing_model,
    named_engine,
    read_reports,
    rule_engine,
    run_engine,
)
from pipeline.cli.options import Output
from pipeline.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    import pandas as pd

    from extraction.audit.gold import GoldReport
    from extraction.engines import Engine
    from extraction.engines.model import ModelEngine
    from extraction.finding import Outcome
    from extraction.rules import RuleEngine
    from extraction.vocabulary import Vocabulary

__all__ = [
    "annotate",
    "audit_extraction",
    "gold_reports",
    "outcomes_of",
    "vocabulary_check",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditGiven:
    """Options of ``radcal audit extraction``."""

    gold: Annotated[Path, typer.Option(help="Labelled reports, one JSON per line.")]
    engine: Annotated[str, typer.Option(help="rules, vllm, transformers, server or replay.")] = (
        "rules"
    )
    choice: ModelChoice
    vocabulary: VocabularyOption = None
    findings: Annotated[
        Path | None,
        typer.Option(help="Score this findings table instead of running an engine."),
    ] = None
    bootstrap: Annotated[int, typer.Option(min=0, help="Resamples of reports.")] = 1000
    seed: Annotated[int, typer.Option(help="Seed of the resamples.")] = 0
    out: Annotated[Path | None, typer.Option(help="Also write the JSON here.")] = None
    pdf: Annotated[Path | None, typer.Option(help="Also draw pages here.")] = None
    output: Output


def audit_extraction(given: AuditGiven) -> None:
    """Score an engine against reports that people labelled."""
    import numpy as np

    from extraction.audit.scores import audit
    from extraction.audit.text import as_data, as_text

    read = (
        _from_engine(
            named_engine(given.engine, given.choice, vocabulary=given.vocabulary), given.gold
        )
        if given.findings is None
        else _from_table(given.findings, given.gold, rule_engine(given.vocabulary).vocabulary)
    )
    name, version, words = read.name, read.version, read.vocabulary
    rng = np.random.default_rng(given.seed)
    result = audit(
        read.reports, read.outcomes, vocabulary=words, bootstrap=given.bootstrap, rng=rng
    )
    data = as_data(result, engine=name, version=version)
    if given.out is not None:
        given.out.write_text(json.dumps(data, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    if given.pdf is not None:
        from pipeline.cli.extraction_audit_page import write_audit_pdf

        write_audit_pdf(given.pdf, result, engine=f"{name} {version}", vocabulary=words)
    if given.output.as_json:
        typer.echo(json.dumps(data, allow_nan=False))
    elif not given.output.quiet:
        for line in as_text(result, engine=name, version=version):
            typer.echo(line)


def vocabulary_check(
    folder: Annotated[Path, typer.Argument(help="Folder with edited files, or one such file.")],
    sample: Annotated[
        Path | None, typer.Option("--sample", help="Reports on which to show what changes.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check edited vocabulary files and show what they change on a sample of reports."""
    from extraction.vocabulary import FILES
    from extraction.vocabulary.check import changes, warnings_for

    place = folder.parent if folder.is_file() else folder
    present = [name for name in FILES if (place / name).is_file()]
    if not present:
        known = ", ".join(FILES)
        message = f"{folder}: holds none of the vocabulary's files ({known})."
        raise ConfigurationError(message)
    edited, shipped = rule_engine(place), rule_engine(None)
    summary: dict[str, object] = {
        "files": present,
        "digest": edited.vocabulary.digest,
        "warnings": warnings_for(edited.vocabulary),
    }
    if sample is not None:
        frame = read_reports(sample)
        ids = frame["report_id"].astype(str).tolist()
        found = changes(
            ids,
            (shipped.vocabulary, run_engine(shipped, frame)),
            (edited.vocabulary, run_engine(edited, frame)),
        )
        rows = [f"{c.report_id}: {c.pathology}: {c.before} -> {c.after}" for c in found]
        summary |= {"sample_reports": len(ids), "cells_changed": len(rows), "changes": rows}
    if as_json:
        emit(summary, as_json=True, quiet=quiet)
    elif not quiet:
        _show(summary)


def annotate(
    reports: Annotated[
        Path, typer.Argument(help="Reports to label; with --read, the corrected sheet.")
    ],
    out: Annotated[
        Path, typer.Option("--out", help="Sheet (.csv) or, with --read, gold (.jsonl).")
    ],
    read: Annotated[
        bool, typer.Option("--read", help="Read a corrected sheet back as gold.")
    ] = False,
    partial: Annotated[
        bool, typer.Option("--partial", help="With --read: leave out reports without a verdict.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option("--html", help="Also write a page to read beside the sheet.")
    ] = None,
    vocabulary: VocabularyOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a review sheet from your own reports, or read the corrected sheet back as gold."""
    from extraction.audit.annotation import COLUMNS
    from pipeline.formats.tables import write_table

    engine = rule_engine(vocabulary)
    if read:
        gold = _read_sheet(reports, engine, partial=partial)
        lines = "".join(report.model_dump_json() + "\n" for report in gold)
        out.write_text(lines, encoding="utf-8")
        labels = sum(len(report.findings) for report in gold)
        emit({"reports": len(gold), "labels": labels}, as_json=as_json, quiet=quiet)
        return
    frame = read_reports(reports)
    rows = _sheet_rows(frame, engine)
    import pandas as pd

    write_table(pd.DataFrame(rows, columns=list(COLUMNS)), out)
    if html is not None:
        from extraction.audit.annotation import sheet_html

        html.write_text(sheet_html(rows, vocabulary=engine.vocabulary), encoding="utf-8")
    emit({"reports": len(frame), "rows": len(rows)}, as_json=as_json, quiet=quiet)


def outcomes_of(reader: Engine, reports: Sequence[GoldReport]) -> list[Outcome]:
    """Outcomes in the gold's order; each modality in one call."""
    import pandas as pd

    rows = [(report.modality, report.text) for report in reports]
    return run_engine(reader, pd.DataFrame(rows, columns=["modality", "text"]))


class _Read(NamedTuple):
    """Labelled reports, and what an engine or a table says of them, in the same order."""

    name: str
    version: str
    vocabulary: Vocabulary
    reports: list[GoldReport]
    outcomes: list[Outcome]


def _from_engine(reader: RuleEngine | ModelEngine, gold: Path) -> _Read:
    """Let an engine read the gold."""
    reports = gold_reports(gold, reader.vocabulary)
    with closing_model(reader):
        outcomes = outcomes_of(reader, reports)
    return _Read(reader.name, reader.version, reader.vocabulary, reports, outcomes)


def _from_table(path: Path, gold: Path, vocabulary: Vocabulary) -> _Read:
    """Take a findings table's word; a report without a row states nothing."""
    from extraction.finding import NothingStated
    from extraction.readings import NEEDED_COLUMNS, ReadingError
    from extraction.readings import outcomes_of as read_outcomes
    from pipeline.formats.tables import read_table, require_columns

    frame = read_table(path)
    require_columns(frame, NEEDED_COLUMNS, source=path.name)
    try:
        found = read_outcomes(frame, vocabulary=vocabulary)
    except ReadingError as error:
        message = f"{path.name}: {error}"
        raise InputError(message) from None
    reports = gold_reports(gold, vocabulary)
    if not found.keys() & {report.report_id for report in reports}:
        message = f"{path.name}: holds none of the labelled reports; give findings of the gold."
        raise InputError(message)
    outcomes = [found.get(report.report_id, NothingStated()) for report in reports]
    return _Read(path.stem, vocabulary.digest, vocabulary, reports, outcomes)


def gold_reports(path: Path, vocabulary: Vocabulary) -> list[GoldReport]:
    """Read a gold file; what is wrong with it is the user's to hear."""
    from extraction.audit.gold import GoldError, load_gold

    if not path.is_file():
        message = f"{path}: no such file."
        raise InputError(message)
    try:
        return load_gold(path, vocabulary=vocabulary)
    except GoldError as error:
        raise InputError(str(error)) from None


def _read_sheet(path: Path, engine: RuleEngine, *, partial: bool) -> list[GoldReport]:
    from extraction.audit.annotation import COLUMNS, gold_from_sheet
    from extraction.audit.gold import GoldError
    from pipeline.formats.tables import read_table, require_columns, undefused

    frame = read_table(path)
    require_columns(frame, dict.fromkeys(COLUMNS, "as the sheet was written"), source=path.name)
    try:
        columns = [frame[name].fillna("").astype(str).map(undefused).tolist() for name in COLUMNS]
        rows = [dict(zip(COLUMNS, cells, strict=True)) for cells in zip(*columns, strict=True)]
        return gold_from_sheet(rows, vocabulary=engine.vocabulary, partial=partial)
    except GoldError as error:
        message = f"{path.name}: {error}"
        raise InputError(message) from None


def _sheet_rows(frame: pd.DataFrame, engine: RuleEngine) -> list[tuple[str, ...]]:
    from extraction.audit.annotation import sheet

    outcomes = run_engine(engine, frame)
    ids = frame["report_id"].astype(str).tolist()
    modalities = frame["modality"].astype(str).str.strip().str.upper().tolist()
    return list(sheet(ids, modalities, [str(text) for text in frame["text"]], outcomes))


def _show(summary: dict[str, object]) -> None:
    for name, value in summary.items():
        if isinstance(value, list):
            typer.echo(f"{name.replace('_', ' ')}: {len(value)}")
            for line in value:
                typer.echo(f"  {line}")
        else:
            typer.echo(f"{name.replace('_', ' ')}: {value}")
