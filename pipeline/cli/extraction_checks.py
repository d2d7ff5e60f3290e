"""Around extraction: ``vocabulary check | list``, ``annotate``, ``pool`` over several engines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.common import (
    JsonOption,
    Output,
    QuietOption,
    argument,
    blaming,
    emit,
    flag,
    option,
    write_whole,
)
from pipeline.cli.extraction_shared import VocabularyOption, read_reports, rule_engine, run_engine
from pipeline.errors import EXIT_QUARANTINED, ConfigurationError, InputError

if TYPE_CHECKING:
    import pandas as pd

    from extraction.audit.gold import GoldReport
    from extraction.pool import Disputed, PooledCell, Vote
    from extraction.resolution import ReportFinding
    from extraction.rules.engine import RuleEngine
    from extraction.vocabulary import Vocabulary


def vocabulary_check(
    folder: Annotated[Path, typer.Argument(help="Folder with edited files, or one such file.")],
    sample: Annotated[
        Path | None, typer.Option(help="Reports on which to show what changes.")
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
        frame, output = read_reports(sample), Output(as_json=as_json, quiet=quiet)
        ids = frame["report_id"].astype(str).tolist()
        found = changes(
            ids,
            (shipped.vocabulary, run_engine(shipped, frame, output)),
            (edited.vocabulary, run_engine(edited, frame, output)),
        )
        rows = [f"{c.report_id}: {c.pathology}: {c.before} -> {c.after}" for c in found]
        summary |= {"sample_reports": len(ids), "cells_changed": len(rows), "changes": rows}
    _show(summary, as_json=as_json, quiet=quiet)


def vocabulary_list(
    vocabulary: VocabularyOption = None, as_json: JsonOption = False, quiet: QuietOption = False
) -> None:
    """Print every name a label or a table may use: pathologies, and phrases weakest first."""
    words = rule_engine(vocabulary).vocabulary
    names = {"pathologies": list(words.pathologies), "phrases": list(words.phrases)}
    _show(names, as_json=as_json, quiet=quiet)


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotate:
    """Options of ``radcal annotate``."""

    reports: Path = argument(..., "Reports to label; with --read, the corrected sheet.")
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
        labels = sum(len(report.findings) for report in gold)
        given.output.tell({"reports": len(gold), "labels": labels})
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


def _show(summary: Mapping[str, object], *, as_json: bool, quiet: bool) -> None:
    """Print a summary, its lists a line an entry."""
    if as_json or quiet:
        emit(summary, as_json=as_json, quiet=quiet)
        return
    for name, value in summary.items():
        lines = value if isinstance(value, list) else []
        typer.echo(f"{name.replace('_', ' ')}: {len(lines) if value is lines else value}")
        for line in lines:
            typer.echo(f"  {line}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Options of ``radcal pool``."""

    findings: list[Path] = argument(..., "Findings of two or more engines, the most trusted first.")
    out: Path = option(..., "Voted table, one row per pathology stated.")
    queue: Path | None = option(None, "Reports to read again, hardest first.")
    reports: Path | None = option(
        None, "The reports every engine was given: one without a row then states nothing."
    )
    vocabulary: VocabularyOption = None
    every_state: bool = flag("--every-state", "Also the cells nobody stated anything about.")
    output: Output


def pool(given: Pool) -> None:
    """Let several engines' findings vote; what divides them ranks a queue for review.

    A report that an engine failed on, or that its file does not hold, casts no vote: it never
    counts as "absent". A tie goes to the engine named first.
    """
    import pandas as pd

    from extraction.pool import review_queue, vote
    from pipeline.formats.tables import write_table

    if len(given.findings) < 2:
        msg = "radcal pool: give the findings of at least two engines."
        raise ConfigurationError(msg)
    words = rule_engine(given.vocabulary).vocabulary
    readings = [_reading(path, words) for path in given.output.each("reading", given.findings)]
    ids = _report_ids(readings, given.reports)
    if given.reports is not None:
        readings = [{name: reading.get(name, {}) for name in ids} for reading in readings]
    voted = vote(readings, report_ids=ids, pathologies=words.pathologies)
    ranked = review_queue(voted)
    write_table(
        pd.DataFrame(_rows(voted, every_state=given.every_state), columns=_COLUMNS), given.out
    )
    if given.queue is not None:
        write_table(pd.DataFrame(map(_queued, ranked), columns=_QUEUE_COLUMNS), given.queue)
    counts = _counts(voted, ranked)
    given.output.tell(counts)
    if counts["reports_no_engine_read"]:
        raise typer.Exit(EXIT_QUARANTINED)


_COLUMNS = (
    "report_id", "pathology", "cue", "phrase", "outcome", "reason", "decided", "agreement", "votes",
    "engines",
)  # fmt: skip
_QUEUE_COLUMNS = (
    "rank", "report_id", "dissensus", "entropy", "disputed_cells", "engines_without_vote", "why",
)  # fmt: skip


def _reading(path: Path, vocabulary: Vocabulary) -> dict[str, dict[str, ReportFinding]]:
    from extraction.resolution import NEEDED_COLUMNS, readings_of
    from pipeline.formats.tables import read_table

    frame = read_table(path, NEEDED_COLUMNS)
    with blaming(path.name):
        return readings_of(frame, vocabulary=vocabulary)


def _report_ids(
    readings: Sequence[Mapping[str, Mapping[str, ReportFinding]]], reports: Path | None
) -> list[str]:
    """List the reports to vote on: those given, or every one that some engine has a row for."""
    found = list(dict.fromkeys(name for reading in readings for name in reading))
    if reports is None:
        return found
    from pipeline.formats.tables import read_table

    frame = read_table(reports, {"report_id": "the report's name"})
    listed = list(dict.fromkeys(frame["report_id"].astype(str)))
    strange = len(set(found) - set(listed))
    if strange:
        msg = (
            f"{reports.name}: {strange} of {len(found)} reports in the findings are not listed; "
            "give the table that the engines read."
        )
        raise InputError(msg)
    return listed


def _rows(voted: Vote, *, every_state: bool) -> list[tuple[object, ...]]:
    """Cells with something in them; a report no engine read is one row."""
    rows: list[tuple[object, ...]] = []
    unread: set[str] = set()
    for cell in voted.cells:
        if cell.decided == "no vote":
            if cell.report_id not in unread:
                unread.add(cell.report_id)
                rows.append(_unread(cell))
        elif every_state or cell.disputed or cell.outcome != "not mentioned":
            rows.append(_row(cell))
    return rows


def _unread(cell: PooledCell) -> tuple[object, ...]:
    reason = "no engine read the report"
    return cell.report_id, "", "", "", "failed", reason, cell.decided, None, "", 0


def _row(cell: PooledCell) -> tuple[object, ...]:
    return (
        cell.report_id, cell.pathology, "", cell.phrase or "", cell.outcome, "", cell.decided,
        round(cell.agreement, 4), _ballots(cell), cell.engines,
    )  # fmt: skip


def _ballots(cell: PooledCell) -> str:
    return ", ".join(f"{said} {n}" for said, n in cell.votes)


def _queued(item: Disputed) -> tuple[object, ...]:
    why = "; ".join(f"{cell.pathology}: {_ballots(cell)}" for cell in item.cells)
    if item.without and not item.cells:
        why = f"no vote from {item.without} engine(s)"
    return (
        item.rank, item.report_id, round(item.dissensus, 4), round(item.entropy, 4),
        len(item.cells), item.without, why,
    )  # fmt: skip


def _counts(voted: Vote, ranked: Sequence[Disputed]) -> dict[str, object]:
    how = Counter(
        cell.decided for cell in voted.cells if cell.disputed or cell.outcome != "not mentioned"
    )
    return {
        "reports": len(voted.without),
        "engines": voted.engines,
        "cells_with_a_statement": how.total() - how["no vote"],
        "unanimous": how["unanimous"],
        "most_votes": how["most votes"],
        "tie_first_engine": how["tie: first engine"],
        "one_vote": how["one vote"],
        "reports_no_engine_read": sum(n == voted.engines for n in voted.without.values()),
        "reports_some_engine_did_not_read": sum(n > 0 for n in voted.without.values()),
        "queued": len(ranked),
    }
