"""De-identification against a gold file: what was missed, what was harmed, each with its interval.

A gold span counts as **found** when every letter and figure of it was removed. A report counts as
**leaking** when any of its spans was not. Intervals are Wilson's at 95 %; where nothing was missed
in n, the bound is the rule of three, 3/n (Hanley and Lippman-Hand, JAMA 1983;249:1743).

A gold line is ``{"id", "text", "spans": [{"start", "end", "label"}]}``. A span labelled ``KEEP``
is a hard negative: it must stay. Beside those, every expression of ``words/hard_negatives.txt``
that stands in a text outside the gold spans is one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from extraction.certainty import certainty_spans
from pipeline.deidentify.engine import Deidentifier
from pipeline.deidentify.spans import Clean, Removed
from pipeline.errors import InputError

__all__ = ["DeidAudit", "GoldReport", "GoldSpan", "Share", "audit", "read_gold"]

_KEEP: Final = "KEEP"
_Z: Final = 1.959963984540054


class GoldSpan(BaseModel):
    """One annotated identifier; offsets in characters."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    start: int = Field(ge=0)
    end: int = Field(ge=1)
    label: str = Field(min_length=1)


class GoldReport(BaseModel):
    """One annotated report."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    id: str
    text: str
    spans: tuple[GoldSpan, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """A count out of n, with a 95 % interval."""

    count: int
    n: int

    @property
    def value(self) -> float:
        """The share; NaN without observations."""
        return self.count / self.n if self.n else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval, or the rule of three where the count is 0 or n."""
        if not self.n:
            return float("nan"), float("nan")
        if self.count in (0, self.n):
            margin = min(1.0, 3 / self.n)
            return (0.0, margin) if self.count == 0 else (1 - margin, 1.0)
        p, n = self.value, self.n
        centre = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z / (1 + _Z**2 / n) * (p * (1 - p) / n + _Z**2 / (4 * n**2)) ** 0.5
        return centre - half, centre + half

    def to_dict(self, name: str) -> dict[str, float | int | None]:
        """Give the entries of a JSON summary; NaN as null."""
        low, high = self.interval
        return {
            "n": self.n,
            name: self.count,
            "share": None if not self.n else self.value,
            "low": None if not self.n else low,
            "high": None if not self.n else high,
        }


@dataclass(frozen=True, slots=True)
class DeidAudit:
    """What a gold file says about the instrument.

    Attributes
    ----------
    recall
        Gold label → spans found of spans seen, ``ALL`` included.
    precision
        Category → removed spans that touch a gold span, of all removed, ``ALL`` included.
    leaking
        Reports with something left, of reports that were not withheld.
    withheld
        Reports quarantined, by reason.
    phrases_before, phrases_harmed
        Certainty phrases outside gold spans, and how many of them were touched.
    kept_before, kept_harmed
        Hard negatives, and how many of them were touched.
    superfluous
        Removed spans that touch no gold span, of all removed.
    missed
        Report id, start, end and label of what was missed; no text.
    """

    reports: int
    recall: dict[str, Share]
    precision: dict[str, Share]
    leaking: Share
    withheld: dict[str, int]
    phrases_before: int
    phrases_harmed: int
    kept_before: int
    kept_harmed: int
    superfluous: Share
    missed: tuple[tuple[str, int, int, str], ...]

    def summary(self) -> dict[str, object]:
        """Give the numbers as JSON."""
        return {
            "reports": self.reports,
            "withheld": self.withheld,
            "recall": {label: each.to_dict("found") for label, each in self.recall.items()},
            "precision": {label: each.to_dict("right") for label, each in self.precision.items()},
            "reports_with_a_leak": self.leaking.to_dict("leaking"),
            "certainty_phrases": self.phrases_before,
            "certainty_phrases_harmed": self.phrases_harmed,
            "hard_negatives": self.kept_before,
            "hard_negatives_touched": self.kept_harmed,
            "superfluous_removals": self.superfluous.to_dict("superfluous"),
        }


def read_gold(path: Path) -> list[GoldReport]:
    """Read a gold file.

    Raises
    ------
    InputError
        If it is missing or empty, or a line is not as it should be.
    """
    if not path.is_file():
        msg = f"{path}: no such file."
        raise InputError(msg)
    reports = []
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if line.strip():
            reports.append(_gold(path.name, number, line))
    if not reports:
        msg = f"{path.name}: no reports in it."
        raise InputError(msg)
    return reports


def audit(gold: Iterable[GoldReport], deidentifier: Deidentifier | None = None) -> DeidAudit:
    """Clean every gold report, without known identifiers, and compare."""
    instrument = deidentifier or Deidentifier()
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    right: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    withheld: dict[str, int] = defaultdict(int)
    phrases, kept = [0, 0], [0, 0]
    missed: list[tuple[str, int, int, str]] = []
    leaking: set[int] = set()
    clean = 0
    reports = list(gold)
    outcomes = instrument.batch([report.text for report in reports])
    for number, (report, outcome) in enumerate(zip(reports, outcomes, strict=True), start=1):
        if not isinstance(outcome, Clean):
            withheld[outcome.reason] += 1
            continue
        clean += 1
        gone = _marked(report.text, outcome.removed)
        wanted = [span for span in report.spans if span.label != _KEEP]
        for span in wanted:
            found = _is_gone(report.text, gone, span.start, span.end)
            for label in (span.label, "ALL"):
                counts[label][0] += found
                counts[label][1] += 1
            if not found:
                missed.append((report.id, span.start, span.end, span.label))
                leaking.add(number)
        gold_marks = _marked(report.text, wanted)
        _count_harm(phrases, certainty_spans(report.text), gold_marks, gone)
        _count_harm(kept, _hard_negatives(report), gold_marks, gone)
        for removed in outcome.removed:
            for label in (removed.category, "ALL"):
                right[label][0] += any(gold_marks[removed.start : removed.end])
                right[label][1] += 1
    true, removals = right["ALL"]
    return DeidAudit(
        reports=len(reports),
        recall={label: Share(*counts[label]) for label in sorted(counts)},
        precision={label: Share(*right[label]) for label in sorted(right)},
        leaking=Share(len(leaking), clean),
        withheld=dict(withheld),
        phrases_before=phrases[0],
        phrases_harmed=phrases[1],
        kept_before=kept[0],
        kept_harmed=kept[1],
        superfluous=Share(removals - true, removals),
        missed=tuple(missed),
    )


def _gold(source: str, number: int, line: bytes) -> GoldReport:
    try:
        report = GoldReport.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        msg = f"{source}, line {number}: {where or 'line'}: {first['msg']}."
        raise InputError(msg) from None
    if any(not span.start < span.end <= len(report.text) for span in report.spans):
        msg = f"{source}, line {number}: a span lies outside the text. Offsets count characters."
        raise InputError(msg)
    return report


def _marked(text: str, spans: Sequence[Removed] | Sequence[GoldSpan]) -> bytearray:
    marks = bytearray(len(text))
    for span in spans:
        marks[span.start : span.end] = b"\x01" * (span.end - span.start)
    return marks


def _is_gone(text: str, gone: bytearray, start: int, end: int) -> bool:
    return all(gone[at] for at in range(start, end) if text[at].isalnum())


def _count_harm(
    counts: list[int], spans: Iterable[tuple[int, int]], gold: bytearray, gone: bytearray
) -> None:
    for start, end in spans:
        if not any(gold[start:end]):
            counts[0] += 1
            counts[1] += any(gone[start:end])


def _hard_negatives(report: GoldReport) -> list[tuple[int, int]]:
    spans = [(span.start, span.end) for span in report.spans if span.label == _KEEP]
    return spans + [match.span() for match in _kept_pattern().finditer(report.text)]


@cache
def _kept_pattern() -> re.Pattern[str]:
    path = resources.files("pipeline.names").joinpath("words", "hard_negatives.txt")
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    patterns = [line for line in lines if line and not line.startswith("#")]
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)")
