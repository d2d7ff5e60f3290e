"""An audit in words and as plain data, for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from extraction.audit.scores import NOT_MENTIONED, Audit, Interval, Score

__all__ = ["as_data", "as_text"]

_SHOWN = 15


def as_data(audit: Audit, *, engine: str, version: str) -> dict[str, object]:
    """Plain data for JSON: NaN becomes None, confusions become triples [gold, predicted, cells]."""
    return {
        "engine": engine,
        "engine_version": version,
        "reports": audit.reports,
        "failed": audit.failed,
        "unmapped": audit.unmapped,
        "cell_accuracy_micro": _interval(audit.cells_micro),
        "cell_accuracy_macro": _interval(audit.cells_macro),
        "finding_f1": _interval(audit.f1),
        "hedged_exact": _interval(audit.hedged_exact),
        "findings": _score(audit.findings),
        "per_pathology": {name: _score(score) for name, score in audit.per_pathology.items()},
        "per_phrase": {name: _score(score) for name, score in audit.per_phrase.items()},
        "per_section": {name: _score(score) for name, score in audit.per_section.items()},
        "phrase_confusion": [[a, b, n] for (a, b), n in audit.phrase_confusion.items()],
        "modality_confusion": {
            modality: [[a, b, n] for (a, b), n in counts.items()]
            for modality, counts in audit.modality_confusion.items()
        },
        "pathology_confusion": [[a, b, n] for (a, b), n in audit.pathology_confusion.items()],
    }


def as_text(audit: Audit, *, engine: str, version: str) -> Iterator[str]:
    """Lines of a report a person can read at a terminal."""
    yield f"{engine} {version}: {audit.reports} reports, {audit.failed} failed"
    for label, value in (
        ("cell accuracy, micro", audit.cells_micro),
        ("cell accuracy, macro over states", audit.cells_macro),
        ("finding F1 (pathology, phrase)", audit.f1),
        ("hedged statements, exact phrase", audit.hedged_exact),
    ):
        yield f"  {label:<34} {value.value:.3f}  [{value.low:.3f}, {value.high:.3f}]"
    yield f"  {'unmapped cells':<34} {audit.unmapped}"
    for title, scores in (
        ("pathology", audit.per_pathology),
        ("phrase", audit.per_phrase),
        ("section", audit.per_section),
    ):
        yield from _table(title, scores)
    yield from _confusions("phrases taken for others (gold -> read)", audit.phrase_confusion)
    yield from _confusions("pathologies taken for others", audit.pathology_confusion)


def _table(title: str, scores: Mapping[str, Score]) -> Iterator[str]:
    yield f"\n  {title:<24} {'gold':>5} {'read':>5} {'P':>6} {'R':>6} {'F1':>6}"
    for name, score in scores.items():
        if score.gold or score.predicted:
            figures = " ".join(
                f"{value:6.3f}" if math.isfinite(value) else "     -"
                for value in (score.precision, score.recall, score.f1)
            )
            yield f"  {name:<24} {score.gold:>5} {score.predicted:>5} {figures}"


def _confusions(title: str, counts: Mapping[tuple[str, str], int]) -> Iterator[str]:
    mistakes = [(n, a, b) for (a, b), n in counts.items() if a != b]
    yield f"\n  {title}: {sum(n for n, _, _ in mistakes)} cells"
    for count, gold, read in sorted(mistakes, reverse=True)[:_SHOWN]:
        yield f"    {count:>4}  {gold or NOT_MENTIONED} -> {read or NOT_MENTIONED}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _interval(interval: Interval) -> dict[str, float | None]:
    return {
        "value": _finite(interval.value),
        "low": _finite(interval.low),
        "high": _finite(interval.high),
    }


def _score(score: Score) -> dict[str, float | None]:
    return {
        "right": score.right,
        "predicted": score.predicted,
        "gold": score.gold,
        "precision": _finite(score.precision),
        "recall": _finite(score.recall),
        "f1": _finite(score.f1),
    }
