"""Whether extraction reads well: ``audit extraction``, ``annotate`` for it, ``vocabulary``."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.common import Output, argument, blaming, flag, option
from pipeline.cli.extraction_shared import (
    ModelChoice,
    VocabularyOption,
    closing_model,
    gold_reports,
    named_engine,
    outcomes_of,
    read_reports,
    rule_engine,
    run_engine,
)
from pipeline.errors import InputError
from pipeline.store.files import write_whole

if TYPE_CHECKING:
    import pandas as pd

    from extraction.audit.gold import GoldReport
    from extraction.audit.scores import Audit
    from extraction.engines.model import ModelEngine
    from extraction.finding import Outcome
    from extraction.rules.engine import RuleEngine
    from extraction.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditGiven:
    """Options of ``radcal audit extraction``."""

    gold: Path = option(..., "Labelled reports, one JSON per line.")
    engine: list[str] | None = option(
        None,
        "rules, vllm, transformers, server or replay; repeat to compare. ENGINE:MODEL names a "
        "model for this one alone (vllm:/models/A, replay:kept.jsonl).",
        show_default="rules",
    )
    choice: ModelChoice
    vocabulary: VocabularyOption = None
    findings: Path | None = option(None, "Score this findings table instead of running an engine.")
    bootstrap: int = option(1000, "Resamples of reports.", min=0)
    seed: int = option(0, "Seed of the resamples.")
    out: Path | None = option(None, "Also write the JSON here.")
    output: Output


@dataclass(frozen=True, slots=True)
class _Read:
    """What one engine or table says of the labelled reports, and what it was asked for that."""

    label: str
    name: str
    version: str
    vocabulary: Vocabulary
    reports: list[GoldReport]
    outcomes: list[Outcome]
    asked: Mapping[str, object] = field(default_factory=dict)


def audit_extraction(given: AuditGiven) -> None:
    """Score engines against reports that people labelled; several are compared pairwise."""
    from extraction.audit.text import as_data, as_text

    read = list(_reads(given))
    told = [(each, _audited(each, given)) for each in read]
    data = [as_data(found, engine=each.name, version=each.version) for each, found in told]
    lines = [
        line
        for each, found in told
        for line in as_text(found, engine=each.label, version=each.version)
    ]
    content: dict[str, object] = data[0]
    if len(read) > 1:
        content, more = _side_by_side(given, read, data)
        lines += more
    if given.out is not None:
        write_whole(given.out, f"{json.dumps(content, indent=2, allow_nan=False)}\n".encode())
    given.output.show(content, lines)


def _audited(read: _Read, given: AuditGiven) -> Audit:
    import numpy as np

    from extraction.audit.scores import audit

    return audit(
        read.reports,
        read.outcomes,
        vocabulary=read.vocabulary,
        bootstrap=given.bootstrap,
        rng=np.random.default_rng(given.seed),
    )


def _side_by_side(
    given: AuditGiven, read: Sequence[_Read], data: Sequence[dict[str, object]]
) -> tuple[dict[str, object], list[str]]:
    """Compare every two engines, report by report."""
    import numpy as np

    from calibration.plain import plain
    from extraction.audit.text import as_lines, differences

    found = differences(
        read[0].reports,
        {each.label: each.outcomes for each in read},
        vocabulary=read[0].vocabulary,
        bootstrap=given.bootstrap,
        rng=np.random.default_rng(given.seed),
    )
    rows = [
        {
            "measure": each.measure, "first": each.first, "second": each.second,
            "gain": each.gain.value, "low": each.gain.low, "high": each.gain.high,
            "decided": each.decided,
        }
        for each in found
    ]  # fmt: skip
    engines = [
        {"label": each.label, "asked": dict(each.asked)} | scored
        for each, scored in zip(read, data, strict=True)
    ]
    lines = ["", "gains of the second engine over the first", *as_lines(found)]
    lines += [f"  {each.label}: {_cost(each.asked)}" for each in read]
    return {"engines": engines, "differences": plain(rows)}, lines


def _cost(asked: Mapping[str, object]) -> str:
    """Say what reading cost."""
    parts = [f"{asked['seconds_per_report']} s a report"]
    if "answer_tokens" in asked:
        parts += [
            f"{asked['prompt_tokens']} tokens read, {asked['answer_tokens']} written",
            f"{asked['answer_tokens_per_second']} written a second",
            f"lines left out {asked['answer_lines_left_out']}",
        ]
    return ", ".join(parts)


def _reads(given: AuditGiven) -> Iterator[_Read]:
    """Let every engine named read the gold, once for each set of examples."""
    if given.findings is not None:
        yield _from_table(given.findings, given.gold, rule_engine(given.vocabulary).vocabulary)
        return
    for named in given.engine or ["rules"]:
        engine, _, model = named.partition(":")
        choice = replace(given.choice, model=model) if model else given.choice
        if engine == "rules" and len(given.engine or ()) > 1:
            choice = ModelChoice()
        folders = choice.examples or []
        for examples in folders if len(folders) > 1 else [None]:
            label = f"{named} {examples.name}" if examples else named
            one = replace(choice, examples=[examples]) if examples else choice
            reader = named_engine(engine, one, vocabulary=given.vocabulary)
            with closing_model(reader):
                yield _from_engine(reader, given.gold, label, given.output)


def _from_engine(reader: RuleEngine | ModelEngine, gold: Path, label: str, output: Output) -> _Read:
    from extraction.engines.model import ModelEngine

    vocabulary = reader.vocabulary
    reports = gold_reports(gold, vocabulary)
    began = time.perf_counter()
    outcomes = outcomes_of(reader, reports, output)
    seconds = (time.perf_counter() - began) / len(reports)
    counts: dict[str, object] = reader.counts() if isinstance(reader, ModelEngine) else {}
    asked = {"seconds_per_report": round(seconds, 5)} | counts
    return _Read(label, reader.name, reader.version, vocabulary, reports, outcomes, asked)


def _from_table(path: Path, gold: Path, vocabulary: Vocabulary) -> _Read:
    """Take a findings table's word; a report without a row states nothing."""
    from extraction.finding import NothingStated
    from extraction.resolution import NEEDED_COLUMNS
    from extraction.resolution import outcomes_of as read_outcomes
    from pipeline.formats.tables import read_table

    frame = read_table(path, NEEDED_COLUMNS)
    with blaming(path.name):
        found = read_outcomes(frame, vocabulary=vocabulary)
    reports = gold_reports(gold, vocabulary)
    if not found.keys() & {report.report_id for report in reports}:
        raise InputError(
            f"{path.name}: holds none of the labelled reports; give findings of the gold."
        )
    outcomes = [found.get(report.report_id, NothingStated()) for report in reports]
    return _Read(path.stem, path.stem, vocabulary.digest, vocabulary, reports, outcomes)


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
