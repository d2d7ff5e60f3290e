"""Hand-labelled reports, and cells counted against them, broken down.

What a person read in a text stands as one JSON object per line: ``{"report_id": …, "modality":
"XR"|"CT", "text": …, "findings": [{"section": …, "pathology": …, "phrase": …}, …]}``. Labels are
what the report says per section after the resolution rule inside the section; a pathology that is
not listed is not mentioned. docs/annotation-guide.md says how.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from extraction.errors import ExtractionError, explained
from extraction.finding import IMPRESSION, Extracted, Outcome
from extraction.vocabulary import NOT_KNOWN, Vocabulary


class GoldError(ExtractionError):
    """A gold file cannot be used; the message says which lines and why."""


class GoldFinding(BaseModel):
    """One label."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    section: str = "findings"
    pathology: str
    phrase: str


class GoldReport(BaseModel):
    """One labelled report."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    report_id: str
    modality: Literal["XR", "CT"]
    text: str
    findings: tuple[GoldFinding, ...] = ()

    def cells(self, strength: dict[str, int]) -> dict[str, str]:
        """Pathology → phrase for the report: the impression outranks, then the strongest wins."""
        ranked = sorted(
            self.findings, key=lambda label: (label.section == IMPRESSION, strength[label.phrase])
        )
        return {label.pathology: label.phrase for label in ranked}


def load_gold(path: Path, *, vocabulary: Vocabulary) -> list[GoldReport]:
    """Read a gold file and check every label against a vocabulary.

    Raises
    ------
    GoldError
        Naming up to five bad lines, never their text.
    """
    reports, problems = [], []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            report = GoldReport.model_validate_json(line)
        except ValidationError as error:
            problems.append(f"line {number}: {explained(error)[0]}")
            continue
        reports.append(report)
        for label in report.findings:
            unknown = vocabulary.unknown(pathology=label.pathology, phrase=label.phrase)
            problems += [f"line {number}: {problem}" for problem in unknown]
    problems += _repeated(reports)
    if problems or not reports:
        shown = "; ".join(problems[:5]) or "no labelled report"
        strange = any(NOT_KNOWN in problem for problem in problems)
        names = " `radcal vocabulary list` prints the names that are." if strange else ""
        raise GoldError(
            f"{path.name}: {len(problems)} problem(s): {shown}.{names} "
            "Correct the file and try again."
        )
    return reports


def _repeated(reports: Sequence[GoldReport]) -> list[str]:
    ids = [report.report_id for report in reports]
    count = len(ids) - len(set(ids))
    return [f"{count} report_id(s) occur more than once"] if count else []


_Cell = TypeVar("_Cell")
NOT_MENTIONED: Final = "not mentioned"
Pairs: TypeAlias = Sequence[tuple[Mapping[str, str], Mapping[str, str]]]
"""Per report: pathology → gold phrase, and pathology → predicted state."""


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1 over findings, with their counts."""

    right: int
    predicted: int
    gold: int

    def to_plain(self) -> dict[str, float]:
        """Return what is written of it."""
        return {**asdict(self), **{n: getattr(self, n) for n in ("precision", "recall", "f1")}}

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
    said = [(want, said_of(got)) for want, got in pairs]
    scores = _counted(said, lambda name, _: name)
    return {name: scores.get(name, Score(0, 0, 0)) for name in names}


def by_phrase(pairs: Pairs, phrases: Iterable[str]) -> dict[str, Score]:
    """Count by phrase, of the gold or of the prediction."""
    said = [(want, said_of(got)) for want, got in pairs]
    scores = _counted(said, lambda _, phrase: phrase)
    return {phrase: scores[phrase] for phrase in phrases if phrase in scores}


def by_section(
    gold: Sequence[GoldReport], outcomes: Sequence[Outcome], phrases: Sequence[str]
) -> dict[str, Score]:
    """Count by section, each section resolved in itself; phrases from the weakest on."""
    strength = {phrase: rank for rank, phrase in enumerate(phrases)}
    pairs = [
        (
            {(label.section, label.pathology): label.phrase for label in report.findings},
            _section_cells(outcome, strength),
        )
        for report, outcome in zip(gold, outcomes, strict=True)
    ]
    return dict(sorted(_counted(pairs, lambda cell, _: cell[0]).items()))


def _counted(
    pairs: Iterable[tuple[Mapping[_Cell, str], Mapping[_Cell, str]]],
    kind: Callable[[_Cell, str], str],
) -> dict[str, Score]:
    """Count wanted, said and right cells by a kind that cell and phrase decide."""
    right, predicted, gold = Counter[str](), Counter[str](), Counter[str]()
    for want, said in pairs:
        gold.update(kind(cell, phrase) for cell, phrase in want.items())
        predicted.update(kind(cell, phrase) for cell, phrase in said.items())
        right.update(kind(cell, p) for cell, p in want.items() if said.get(cell) == p)
    return {name: Score(right[name], predicted[name], gold[name]) for name in gold | predicted}


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
