"""An audit's figures as the carriers that its pages are drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from extraction.audit.gold import NOT_MENTIONED, Score
from extraction.audit.scores import Audit
from extraction.vocabulary import Vocabulary
from pipeline.store.files import replacing
from reports.drawing.pdf import DocumentInfo, to_pdf
from reports.drawing.style import Style
from reports.pages.extraction_audit import AuditFigure, AuditPages, AuditScore, audit_pages


def write_audit_pdf(path: Path, audits: Sequence[tuple[Audit, tuple[str, Vocabulary]]]) -> None:
    """Draw the audits of one or several engines as one PDF, under the engine's name and version."""
    style, pages = Style(), []
    for audit, (engine, vocabulary) in audits:
        pages += audit_pages(_pages(audit, engine, vocabulary), style=style)
    engines = "; ".join(engine for _, (engine, _) in audits)
    content = to_pdf(pages, info=DocumentInfo(style.strings("audit.title"), "radcal", engines))
    with replacing(path) as partial:
        partial.write_bytes(content)


def _pages(audit: Audit, engine: str, vocabulary: Vocabulary) -> AuditPages:
    figures = {
        "cell accuracy, micro": audit.cells_micro,
        "cell accuracy, macro over states": audit.cells_macro,
        "finding F1 (pathology, certainty)": audit.f1,
        "hedged statements, exact certainty": audit.hedged_exact,
    }
    states = (NOT_MENTIONED, *vocabulary.phrases, "unmapped", "failed")
    confused = (*audit.phrase_confusion.items(), *audit.pathology_confusion.items())
    return AuditPages(
        engine=engine,
        reports=audit.reports,
        failed=audit.failed,
        unmapped=audit.unmapped,
        figures=tuple(AuditFigure(n, f.value, f.low, f.high) for n, f in figures.items()),
        pathologies=_scores(audit.per_pathology),
        phrases=_scores(audit.per_phrase),
        sections=_scores(audit.per_section),
        states=states,
        confusion=_grid(audit.phrase_confusion, states),
        mistakes=tuple((a, b, n) for (a, b), n in confused if a != b),
    )


def _scores(scores: Mapping[str, Score]) -> tuple[AuditScore, ...]:
    return tuple(
        AuditScore(name, s.gold, s.predicted, s.precision, s.recall, s.f1)
        for name, s in scores.items()
        if s.gold or s.predicted
    )


def _grid(counts: Mapping[tuple[str, str], int], states: tuple[str, ...]) -> np.ndarray:
    place = {state: i for i, state in enumerate(states)}
    grid = np.zeros((len(states), len(states)), dtype=np.int64)
    for (said, read), n in counts.items():
        grid[place[said], place[read]] += n
    return grid
