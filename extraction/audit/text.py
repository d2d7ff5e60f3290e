"""Audits in words and as plain data, and engines side by side on one gold.

Differences have paired intervals over reports: every resample is the same for all engines, so that
what makes a report hard for both does not widen the interval of their difference.
Two vocabularies are shown by the cells in which their readings differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from calibration.arrays import FloatArray, IntArray
from calibration.plain import plain_fields
from calibration.profile import Interval
from extraction.audit.gold import NOT_MENTIONED, GoldReport, Score
from extraction.audit.scores import Audit, counts_of, percentiles
from extraction.finding import Outcome
from extraction.resolution import resolve
from extraction.vocabulary import Vocabulary

_SHOWN = 15


def as_data(audit: Audit, *, engine: str, version: str) -> dict[str, object]:
    """Plain data for JSON: NaN becomes None, confusions become triples [gold, predicted, cells]."""
    return {
        "engine": engine,
        "engine_version": version,
        **plain_fields(audit),
        "phrase_confusion": _triples(audit.phrase_confusion),
        "modality_confusion": {
            modality: _triples(counts) for modality, counts in audit.modality_confusion.items()
        },
        "pathology_confusion": _triples(audit.pathology_confusion),
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


def _triples(counts: Mapping[tuple[str, str], int]) -> list[list[str | int]]:
    return [[gold, read, cells] for (gold, read), cells in counts.items()]


_MEASURES: Final[Mapping[str, tuple[tuple[int, ...], tuple[int, ...], int]]] = {
    "cell accuracy, micro": ((3,), (4,), 1),
    "finding F1 (pathology, phrase)": ((0,), (1, 2), 2),
    "hedged statements, exact phrase": ((5,), (6,), 1),
}
"""Measure → columns of the numerator, of the denominator, and a factor."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How much more the second engine scores than the first: positive where it reads better."""

    measure: str
    first: str
    second: str
    gain: Interval

    @property
    def decided(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.gain.low > 0 or self.gain.high < 0


def differences(
    gold: Sequence[GoldReport],
    read: Mapping[str, Sequence[Outcome]],
    *,
    vocabulary: Vocabulary,
    bootstrap: int = 1000,
    rng: np.random.Generator,
) -> tuple[Difference, ...]:
    """Compare every two engines on every measure.

    Parameters
    ----------
    gold
        N labelled reports.
    read
        What each engine, by its name, returned for them, in the same order.
    vocabulary
        The vocabulary all use.
    bootstrap
        Number of resamples of reports; 0 gives differences without intervals.
    rng
        Source of chance.
    """
    counts = {name: counts_of(gold, outcomes, vocabulary) for name, outcomes in read.items()}
    draws = rng.integers(0, len(gold), size=(bootstrap, len(gold)))
    return tuple(
        Difference(measure, first, second, _gain(measure, counts[first], counts[second], draws))
        for first, second in combinations(read, 2)
        for measure in _MEASURES
    )


def as_lines(found: Sequence[Difference]) -> Iterator[str]:
    """Give a line per difference, for a terminal."""
    for each in found:
        gain = each.gain
        yield (
            f"  {each.measure:<34} {gain.value:+.3f}  [{gain.low:+.3f}, {gain.high:+.3f}]"
            f"  {each.second} against {each.first}{'' if each.decided else ', undecided'}"
        )


def _gain(measure: str, first: FloatArray, second: FloatArray, draws: IntArray) -> Interval:
    value = _share(measure, second.sum(axis=0)) - _share(measure, first.sum(axis=0))
    resampled = _share(measure, second[draws].sum(axis=1)) - _share(
        measure, first[draws].sum(axis=1)
    )
    return percentiles(float(value), resampled)


def _share(measure: str, totals: FloatArray) -> FloatArray:
    part, whole, factor = _MEASURES[measure]
    with np.errstate(invalid="ignore", divide="ignore"):
        shares: FloatArray = (
            factor * totals[..., list(part)].sum(axis=-1) / totals[..., list(whole)].sum(axis=-1)
        )
    return shares


@dataclass(frozen=True, slots=True)
class Change:
    """One cell of the sample that an edited vocabulary reads otherwise."""

    report_id: str
    pathology: str
    before: str
    after: str


def changes(
    report_ids: Sequence[str],
    before: tuple[Vocabulary, Sequence[Outcome]],
    after: tuple[Vocabulary, Sequence[Outcome]],
) -> Iterator[Change]:
    """Cells that differ between two vocabularies' outcomes on the same reports."""
    for number, report_id in enumerate(report_ids):
        old = resolve(before[1][number], vocabulary=before[0])
        new = resolve(after[1][number], vocabulary=after[0])
        for name in dict.fromkeys((*old, *new)):
            was = (old[name].phrase or old[name].outcome) if name in old else "not in vocabulary"
            now = (new[name].phrase or new[name].outcome) if name in new else "not in vocabulary"
            if was != now:
                yield Change(report_id, name, was, now)
