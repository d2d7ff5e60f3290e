"""How well an engine reads: its outcomes against a gold file.

| name | meaning |
|---|---|
| cell | one (report, pathology), after resolution; its state is a phrase or "not mentioned" |
| cell accuracy, micro | share of cells whose state agrees |
| cell accuracy, macro | mean over the gold's states of the share of their cells that agree |
| finding | one stated cell; right when report, pathology and phrase all agree |
| hedged exact | share of gold findings neither absent nor present that were found so worded |

"Not evaluable" counts as not mentioned; "unmapped" and "failed" agree with nothing. Intervals are
percentile bootstraps over reports, because statements of one report are not independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from calibration.arrays import FloatArray, IntArray
from calibration.estimate import interval
from calibration.plain import LEFT_OUT, named
from calibration.profile import Interval
from extraction.audit.gold import (
    NOT_MENTIONED,
    GoldReport,
    Pairs,
    Score,
    by_pathology,
    by_phrase,
    by_section,
    pathology_confusion_of,
    phrase_confusion_of,
    ratio,
    said_of,
)
from extraction.finding import Outcome
from extraction.resolution import resolve
from extraction.vocabulary import Vocabulary

PLAIN: Final = frozenset({"absent", "present"})
_SILENT: Final = frozenset({"not mentioned", "not evaluable"})


@dataclass(frozen=True, slots=True)
class Audit:
    """The figures of one engine on one gold file.

    Attributes
    ----------
    reports
        Number of gold reports.
    failed, unmapped
        Reports that failed, and cells left unmapped.
    cells_micro, cells_macro, f1, hedged_exact
        See the module's table; each with an interval over reports.
    findings
        Counts behind `f1`.
    per_pathology, per_phrase, per_section
        The same counts broken down; per phrase by the gold's or the prediction's phrase.
    phrase_confusion, pathology_confusion
        (gold, predicted) → number of cells; for pathologies, phrases agreeing under another name.
    modality_confusion
        `phrase_confusion` of each modality's reports: X-rays forecast and CTs answer, so their
        errors do different things to a calibration.
    """

    reports: int
    failed: int
    unmapped: int
    cells_micro: Interval = field(metadata=named("cell_accuracy_micro"))
    cells_macro: Interval = field(metadata=named("cell_accuracy_macro"))
    f1: Interval = field(metadata=named("finding_f1"))
    hedged_exact: Interval
    findings: Score
    per_pathology: Mapping[str, Score]
    per_phrase: Mapping[str, Score]
    per_section: Mapping[str, Score]
    phrase_confusion: Mapping[tuple[str, str], int] = field(metadata=LEFT_OUT)
    pathology_confusion: Mapping[tuple[str, str], int] = field(metadata=LEFT_OUT)
    modality_confusion: Mapping[str, Mapping[tuple[str, str], int]] = field(metadata=LEFT_OUT)


def audit(
    gold: Sequence[GoldReport],
    outcomes: Sequence[Outcome],
    *,
    vocabulary: Vocabulary,
    bootstrap: int = 1000,
    rng: np.random.Generator,
) -> Audit:
    """Score an engine's outcomes.

    Parameters
    ----------
    gold, outcomes
        N labelled reports and what the engine returned for each, in the same order.
    vocabulary
        The vocabulary both use.
    bootstrap
        Number of resamples of reports.
    rng
        Source of chance for the resamples.
    """
    pairs = _pairs(gold, outcomes, vocabulary)
    counts, states = _counted(pairs), [got for _, got in pairs]
    per_state = _state_counts(pairs, vocabulary)
    draws = rng.integers(0, len(gold), size=(bootstrap, len(gold)))
    return Audit(
        reports=len(gold),
        cells_micro=_interval(counts[:, 3], counts[:, 4], draws),
        cells_macro=_macro(per_state, draws),
        f1=_interval(2 * counts[:, 0], counts[:, 1] + counts[:, 2], draws),
        hedged_exact=_interval(counts[:, 5], counts[:, 6], draws),
        findings=Score(*(int(total) for total in counts[:, :3].sum(axis=0))),
        per_pathology=by_pathology(pairs, vocabulary.pathologies),
        per_phrase=by_phrase(pairs, vocabulary.phrases),
        per_section=by_section(gold, outcomes, vocabulary.phrases),
        phrase_confusion=phrase_confusion_of(pairs),
        pathology_confusion=pathology_confusion_of(pairs),
        modality_confusion=_by_modality(gold, pairs),
        failed=sum("failed" in got.values() for got in states),
        unmapped=sum(list(got.values()).count("unmapped") for got in states),
    )


def _by_modality(gold: Sequence[GoldReport], pairs: Pairs) -> dict[str, dict[tuple[str, str], int]]:
    of: dict[str, list[tuple[Mapping[str, str], Mapping[str, str]]]] = {}
    for report, pair in zip(gold, pairs, strict=True):
        of.setdefault(report.modality, []).append(pair)
    return {modality: phrase_confusion_of(of[modality]) for modality in sorted(of)}


def counts_of(
    gold: Sequence[GoldReport], outcomes: Sequence[Outcome], vocabulary: Vocabulary
) -> FloatArray:
    """Count for each report what the shares are made of.

    Returns
    -------
    (N, 7): findings right, read, in the gold; cells agreeing, all; hedged findings exact, all.
    """
    return _counted(_pairs(gold, outcomes, vocabulary))


def _counted(pairs: Pairs) -> FloatArray:
    return np.array([_report_counts(want, got) for want, got in pairs], dtype=np.float64)


def _states(outcome: Outcome, vocabulary: Vocabulary) -> dict[str, str]:
    rows = resolve(outcome, vocabulary=vocabulary)
    return {
        name: (row.phrase or row.outcome) if row.outcome not in _SILENT else NOT_MENTIONED
        for name, row in rows.items()
    }


def _report_counts(want: Mapping[str, str], got: Mapping[str, str]) -> tuple[int, ...]:
    said = said_of(got)
    right = sum(said.get(name) == phrase for name, phrase in want.items())
    agreeing = sum(want.get(name, NOT_MENTIONED) == state for name, state in got.items())
    hedged = {name: phrase for name, phrase in want.items() if phrase not in PLAIN}
    exact = sum(said.get(name) == phrase for name, phrase in hedged.items())
    return right, len(said), len(want), agreeing, len(got), exact, len(hedged)


def _state_counts(pairs: Pairs, vocabulary: Vocabulary) -> FloatArray:
    """Count gold cells by (report, state, agreeing | all)."""
    number = {state: i for i, state in enumerate((NOT_MENTIONED, *vocabulary.phrases))}
    counts = np.zeros((len(pairs), len(number), 2))
    for row, (want, got) in enumerate(pairs):
        for name, state in got.items():
            expected = want.get(name, NOT_MENTIONED)
            counts[row, number[expected]] += (expected == state, 1)
    return counts


def _interval(part: FloatArray, whole: FloatArray, draws: IntArray) -> Interval:
    resampled = whole[draws].sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = part[draws].sum(axis=1) / resampled
    return percentiles(ratio(float(part.sum()), float(whole.sum())), ratios)


def _macro(counts: FloatArray, draws: IntArray) -> Interval:
    return percentiles(
        _mean_recall(counts.sum(axis=0)),
        np.array([_mean_recall(counts[draw].sum(axis=0)) for draw in draws]),
    )


def _mean_recall(totals: FloatArray) -> float:
    seen = totals[:, 1] > 0
    return float((totals[seen, 0] / totals[seen, 1]).mean()) if seen.any() else float("nan")


def percentiles(value: float, draws: FloatArray) -> Interval:
    """Give a value with the middle 95 % of its resamples."""
    return Interval(value, *interval(value, draws))


def _pairs(
    gold: Sequence[GoldReport], outcomes: Sequence[Outcome], vocabulary: Vocabulary
) -> Pairs:
    """Give what is wanted and what was read of each report."""
    strength = {phrase: rank for rank, phrase in enumerate(vocabulary.phrases)}
    wanted = [report.cells(strength) for report in gold]
    return list(zip(wanted, [_states(o, vocabulary) for o in outcomes], strict=True))
