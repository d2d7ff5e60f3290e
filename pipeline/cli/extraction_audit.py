"""``radcal audit extraction``: one engine, or several side by side, against labelled reports."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.cli.common import Output, blaming, option
from pipeline.cli.extraction_shared import (
    ModelChoice,
    VocabularyOption,
    closing_model,
    gold_reports,
    named_engine,
    outcomes_of,
    rule_engine,
)
from pipeline.errors import InputError
from pipeline.store.files import write_whole

if TYPE_CHECKING:
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
