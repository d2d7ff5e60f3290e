"""The audit's counts, broken down; every function counts cells and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from extraction.audit.gold import GoldReport
from extraction.finding import Extracted, Outcome

__all__ = [
    "NOT_MENTIONED",
    "Score",
    "by_pathology",
    "by_phrase",
    "by_section",
    "pathology_confusion_of",
    "phrase_confusion_of",
    "ratio",
    "said_of",
]

NOT_MENTIONED: Final = "not mentioned"
Pairs: TypeAlias = Sequence[tuple[Mapping[str, str], Mapping[str, str]]]
"""Per report: pathology → gold phrase, and pathology → predicted state."""


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1 over findings, with their counts."""

    right: int
    predicted: int
    gold: int

    @property
    def precision(self) -> float:
        """Share of predicted findings that are right; NaN without predictions."""
        return ratio(self.right, self.predicted)

    @property
    def recall(self) -> float:
        """Share of gold findings that were found; NaN without gold findings."""
        return ratio(self.right, self.gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of both; NaN when there is nothing on either side."""
        return ratio(2 * self.right, self.predicted + self.gold)


def ratio(part: float, whole: float) -> float:
    """Divide; NaN when there is nothing to divide by."""
    return part / whole if whole else float("nan")


def said_of(got: Mapping[str, str]) -> dict[str, str]:
    """Keep the cells that state something."""
    silent = {NOT_MENTIONED, "unmapped", "failed"}
    return {name: state for name, state in got.items() if state not in silent}


def by_pathology(pairs: Pairs, names: Iterable[str]) -> dict[str, Score]:
    """Count for every pathology."""
    scores = {}
    for name in names:
        want = [cells.get(name) for cells, _ in pairs]
        said = [said_of(got).get(name) for _, got in pairs]
        right = sum(a == b for a, b in zip(want, said, strict=True) if a is not None)
        scores[name] = Score(right, len(said) - said.count(None), len(want) - want.count(None))
    return scores


def by_phrase(pairs: Pairs, phrases: Iterable[str]) -> dict[str, Score]:
    """Count by phrase, of the gold or of the prediction."""
    right: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    for want, got in pairs:
        said = said_of(got)
        gold.update(want.values())
        predicted.update(said.values())
        right.update(phrase for name, phrase in want.items() if said.get(name) == phrase)
    return {
        phrase: Score(right[phrase], predicted[phrase], gold[phrase])
        for phrase in phrases
        if predicted[phrase] or gold[phrase]
    }


def by_section(
    gold: Sequence[GoldReport],
    outcomes: Sequence[Outcome],
    strength: Mapping[str, int],
) -> dict[str, Score]:
    """Count by section, each section resolved in itself."""
    totals: dict[str, list[int]] = {}
    for report, outcome in zip(gold, outcomes, strict=True):
        want: dict[tuple[str, str], str] = {
            (label.section, label.pathology): label.phrase for label in report.findings
        }
        got = _section_cells(outcome, strength)
        for section in {key[0] for key in (*want, *got)}:
            inside = {key: phrase for key, phrase in want.items() if key[0] == section}
            said = {key: phrase for key, phrase in got.items() if key[0] == section}
            total = totals.setdefault(section, [0, 0, 0])
            total[0] += sum(said.get(key) == phrase for key, phrase in inside.items())
            total[1] += len(said)
            total[2] += len(inside)
    return {section: Score(*counts) for section, counts in sorted(totals.items())}


def _section_cells(outcome: Outcome, strength: Mapping[str, int]) -> dict[tuple[str, str], str]:
    cells: dict[tuple[str, str], str] = {}
    for found in outcome.findings if isinstance(outcome, Extracted) else ():
        key = found.section, found.pathology
        phrase = found.phrase
        if phrase is not None and strength[phrase] >= strength.get(cells.get(key, ""), -1):
            cells[key] = phrase
    return cells


def phrase_confusion_of(pairs: Pairs) -> dict[tuple[str, str], int]:
    """(gold state, predicted state) → cells."""
    counts: Counter[tuple[str, str]] = Counter()
    for want, got in pairs:
        for name, state in got.items():
            counts[want.get(name, NOT_MENTIONED), state] += 1
    return dict(counts)


def pathology_confusion_of(pairs: Pairs) -> dict[tuple[str, str], int]:
    """Missed findings against surplus ones with the same phrase in the same report."""
    counts: Counter[tuple[str, str]] = Counter()
    for want, got in pairs:
        said = said_of(got)
        for name, phrase in want.items():
            if said.get(name) == phrase:
                counts[name, name] += 1
                continue
            others = [n for n, p in said.items() if p == phrase and n not in want]
            counts[name, others[0] if others else NOT_MENTIONED] += 1
    return dict(counts)
