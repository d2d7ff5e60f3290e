"""Around extraction: ``vocabulary check | list`` and ``annotate``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.common import Output, argument, blaming, flag, option
from pipeline.cli.extraction_shared import VocabularyOption, read_reports, rule_engine, run_engine
from pipeline.store.files import write_whole

if TYPE_CHECKING:
    import pandas as pd

    from extraction.audit.gold import GoldReport
    from extraction.rules.engine import RuleEngine


def vocabulary_check(
    folder: Annotated[Path, typer.Argument(help="Folder with edited files, or one such file.")],
    sample: Annotated[
        Path | None, typer.Option(help="Reports on which to show what changes.")
    ] = None,
    *,
    output: Output,
) -> None:
    """Check edited vocabulary files and show what they change on a sample of reports."""
    from extraction.audit.text import changes
    from extraction.vocabulary import FILES
    from extraction.vocabulary.patterns import warnings_for

    place = folder.parent if folder.is_file() else folder
    edited, shipped = rule_engine(place), rule_engine(None)
    summary: dict[str, object] = {
        "files": [name for name in FILES if (place / name).is_file()],
        "digest": edited.vocabulary.digest,
        "warnings": warnings_for(edited.vocabulary),
    }
    if sample is not None:
        frame = read_reports(sample)
        ids = frame["report_id"].astype(str).tolist()
        found = changes(
            ids,
            (shipped.vocabulary, run_engine(shipped, frame, output)),
            (edited.vocabulary, run_engine(edited, frame, output)),
        )
        rows = [f"{c.report_id}: {c.pathology}: {c.before} -> {c.after}" for c in found]
        summary |= {"sample_reports": len(ids), "cells_changed": len(rows), "changes": rows}
    output.show(summary, _lines(summary))


def vocabulary_list(vocabulary: VocabularyOption = None, *, output: Output) -> None:
    """Print every name a label or a table may use: pathologies, and phrases weakest first."""
    words = rule_engine(vocabulary).vocabulary
    names = {"pathologies": list(words.pathologies), "phrases": list(words.phrases)}
    output.show(names, _lines(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotate:
    """Options of ``radcal annotate``."""

    reports: Path = argument(..., "Table: report_id, modality, text; with --read, the sheet.")
    out: Path = option(..., "Sheet (.csv) or, with --read, gold (.jsonl).")
    read: bool = flag("--read", "Read a corrected sheet back as gold.")
    partial: bool = flag("--partial", "With --read: leave out reports without a verdict.")
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
        write_whole(given.out, lines.encode())
        given.output.tell({"reports": len(gold), "labels": sum(len(r.findings) for r in gold)})
        return
    frame = read_reports(given.reports)
    rows = _sheet_rows(frame, engine, given.output)
    import pandas as pd

    write_table(pd.DataFrame(rows, columns=list(COLUMNS)), given.out)
    given.output.tell({"reports": len(frame), "rows": len(rows)})


def _read_sheet(path: Path, engine: RuleEngine, *, partial: bool) -> list[GoldReport]:
    from extraction.audit.annotation import COLUMNS, gold_from_sheet
    from pipeline.formats.tables import read_table, undefused

    frame = read_table(path, dict.fromkeys(COLUMNS, "as the sheet was written"))
    with blaming(path.name):
        columns = [frame[name].fillna("").astype(str).map(undefused).tolist() for name in COLUMNS]
        rows = [dict(zip(COLUMNS, cells, strict=True)) for cells in zip(*columns, strict=True)]
        return gold_from_sheet(rows, vocabulary=engine.vocabulary, partial=partial)


def _sheet_rows(frame: pd.DataFrame, engine: RuleEngine, output: Output) -> list[tuple[str, ...]]:
    from extraction.audit.annotation import sheet

    outcomes = run_engine(engine, frame, output)
    ids = frame["report_id"].astype(str).tolist()
    modalities = frame["modality"].astype(str).str.strip().str.upper().tolist()
    return list(sheet(ids, modalities, [str(text) for text in frame["text"]], outcomes))


def _lines(summary: Mapping[str, object]) -> Iterator[str]:
    """Write a summary, its lists a line an entry."""
    for name, value in summary.items():
        lines = value if isinstance(value, list) else []
        yield f"{name.replace('_', ' ')}: {len(lines) if value is lines else value}"
        yield from (f"  {line}" for line in lines)
