"""Checks around extraction: ``vocabulary check``, ``vocabulary list``, ``annotate``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.common import JsonOption, Output, QuietOption, emit
from pipeline.cli.extraction_shared import (
    VocabularyOption,
    read_reports,
    rule_engine,
    run_engine,
)
from pipeline.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    import pandas as pd

    from extraction.audit.gold import GoldReport
    from extraction.rules.engine import RuleEngine

__all__ = ["annotate", "vocabulary_check", "vocabulary_list"]


def vocabulary_check(
    folder: Annotated[Path, typer.Argument(help="Folder with edited files, or one such file.")],
    sample: Annotated[
        Path | None, typer.Option("--sample", help="Reports on which to show what changes.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check edited vocabulary files and show what they change on a sample of reports."""
    from extraction.audit.text import changes
    from extraction.vocabulary import FILES
    from extraction.vocabulary.patterns import warnings_for

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


def vocabulary_list(
    vocabulary: VocabularyOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Print every name a label or a table may use: pathologies, and phrases weakest first."""
    words = rule_engine(vocabulary).vocabulary
    names: dict[str, object] = {
        "pathologies": list(words.pathologies),
        "phrases": list(words.phrases),
    }
    if as_json:
        emit(names, as_json=True, quiet=quiet)
    elif not quiet:
        _show(names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotate:
    """Options of ``radcal annotate``."""

    reports: Annotated[
        Path, typer.Argument(help="Reports to label; with --read, the corrected sheet.")
    ]
    out: Annotated[Path, typer.Option("--out", help="Sheet (.csv) or, with --read, gold (.jsonl).")]
    read: Annotated[bool, typer.Option("--read", help="Read a corrected sheet back as gold.")] = (
        False
    )
    partial: Annotated[
        bool, typer.Option("--partial", help="With --read: leave out reports without a verdict.")
    ] = False
    html: Annotated[
        Path | None, typer.Option("--html", help="Also write a page to read beside the sheet.")
    ] = None
    vocabulary: VocabularyOption = None
    output: Output


def annotate(given: Annotate) -> None:
    """Write a review sheet from your own reports, or read the corrected sheet back as gold."""
    from extraction.audit.annotation import COLUMNS
    from pipeline.formats.tables import write_table

    engine = rule_engine(given.vocabulary)
    if given.read:
        gold = _read_sheet(given.reports, engine, partial=given.partial)
        lines = "".join(report.model_dump_json() + "\n" for report in gold)
        given.out.write_text(lines, encoding="utf-8")
        labels = sum(len(report.findings) for report in gold)
        given.output.tell({"reports": len(gold), "labels": labels})
        return
    frame = read_reports(given.reports)
    rows = _sheet_rows(frame, engine)
    import pandas as pd

    write_table(pd.DataFrame(rows, columns=list(COLUMNS)), given.out)
    if given.html is not None:
        from extraction.audit.annotation import sheet_html

        given.html.write_text(sheet_html(rows, vocabulary=engine.vocabulary), encoding="utf-8")
    given.output.tell({"reports": len(frame), "rows": len(rows)})


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
