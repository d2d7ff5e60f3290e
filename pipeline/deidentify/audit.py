"""De-identification against a gold file: what was missed, what was harmed, each with its interval.

A gold span counts as **found** when every letter and figure of it was removed, as **left whole**
when none was, and is otherwise left in part. **Nothing identifying is left** of it when it was
found, or was left in part and only such of its words stand, whole, as ``words/nobody.toml`` lists:
titles, credentials and particles of a name, generic nouns of a place, units of a date, time or age;
never a figure, a letter of a cut word or a part of a number. A report counts as **leaking** when
any of its spans was not found. Intervals are Wilson's at 95 %; where nothing was missed
in n, the bound is the rule of three, 3/n (Hanley and Lippman-Hand, JAMA 1983;249:1743).

A gold line is ``{"id", "text", "spans": [{"start", "end", "label"}]}``, with one of `LABELS`. A
span labelled ``KEEP`` is a hard negative: it must stay. Beside those, every expression of
``words/hard_negatives.txt`` that stands in a text outside the gold spans is one.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from calibration.phrase_calibration import wilson
from extraction.certainty import certainty_spans
from pipeline.deidentify.engine import Deidentifier
from pipeline.deidentify.spans import CATEGORIES, Clean, Removed
from pipeline.errors import InputError
from pipeline.formats.decoding import require_file
from pipeline.names.lexicon import unaccented

_KEEP: Final = "KEEP"
LABELS: Final = (*CATEGORIES, "AGE90", _KEEP)
"""What a gold span may be labelled; ``AGE90`` is an age over 89, as ``AGE``."""
WRONGS: Final = ("report_id", "start", "end", "label", "verdict")
"""What is said of each wrong: ``verdict`` is left whole, left in part, phrase harmed, or clinical
expression harmed; the last two have no label."""
_WORD: Final = re.compile(r"[^\W_]+")
_CLASSES: Final = {
    "NAME": "NAME", "HOSPITAL": "PLACE", "LOCATION": "PLACE",
    "DATE": "TIME", "TIME": "TIME", "AGE": "TIME", "AGE90": "TIME",
}  # fmt: skip
"""Whose words in ``words/nobody.toml`` name nobody when they alone are left; of others, none do."""


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
        low, high = wilson(np.array([self.count], dtype=float), np.array([self.n], dtype=float))
        return float(low[0]), float(high[0])

    def to_dict(self, name: str) -> dict[str, float | int | None]:
        """Give the entries of a JSON summary; NaN as null."""
        measured = zip(("share", "low", "high"), (self.value, *self.interval), strict=True)
        return {"n": self.n, name: self.count, **{k: v if self.n else None for k, v in measured}}


@dataclass(frozen=True, slots=True)
class DeidAudit:
    """What a gold file says about the instrument.

    Attributes
    ----------
    recall
        Gold label → spans found of spans seen, ``ALL`` included.
    untouched
        Gold label → spans left whole of spans seen, ``ALL`` included.
    unidentified
        Gold label → spans of which nothing identifying is left of spans seen, ``ALL`` included.
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
    wrongs
        What was missed or harmed, as `WRONGS`; no text.
    """

    reports: int
    recall: dict[str, Share]
    untouched: dict[str, Share]
    unidentified: dict[str, Share]
    precision: dict[str, Share]
    leaking: Share
    withheld: dict[str, int]
    phrases_before: int
    phrases_harmed: int
    kept_before: int
    kept_harmed: int
    superfluous: Share
    wrongs: tuple[tuple[str, int, int, str, str], ...]

    def summary(self) -> dict[str, object]:
        """Give the numbers as JSON."""
        return {
            "reports": self.reports,
            "withheld": self.withheld,
            "recall": {label: each.to_dict("found") for label, each in self.recall.items()},
            "left_whole": {label: each.to_dict("left") for label, each in self.untouched.items()},
            "nothing_identifying_left": {
                label: each.to_dict("unidentified") for label, each in self.unidentified.items()
            },
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
    require_file(path)
    lines = enumerate(path.read_bytes().splitlines(), start=1)
    reports = [_gold(path.name, number, line) for number, line in lines if line.strip()]
    if not reports:
        raise InputError(f"{path.name}: no reports in it.")
    return reports


class _Tally:
    """What was counted so far."""

    def __init__(self) -> None:
        self.shares: dict[str, dict[str, list[int]]] = defaultdict(dict)
        self.phrases, self.kept = [0, 0], [0, 0]
        self.wrongs: list[tuple[str, int, int, str, str]] = []
        self.leaking = 0

    def add(self, report: GoldReport, removed: Sequence[Removed]) -> None:
        """Count one report that was not withheld."""
        text, wanted = report.text, [span for span in report.spans if span.label != _KEEP]
        gone, gold = marked(text, removed), marked(text, wanted)
        verdicts = [self._seen(report, span, gone) for span in wanted]
        self.leaking += any(verdicts)
        for counts, spans, verdict in (
            (self.phrases, certainty_spans(text), "phrase harmed"),
            (self.kept, _hard_negatives(report), "clinical expression harmed"),
        ):
            for start, end in _harmed(counts, spans, gold, gone):
                self.wrongs.append((report.id, start, end, "", verdict))
        for each in removed:
            self._count("right", each.category, is_so=any(gold[each.start : each.end]))

    def _seen(self, report: GoldReport, span: GoldSpan, gone: bytearray) -> str:
        """Count one identifier; say what is wrong, if anything is."""
        found = is_gone(report.text, span, gone)
        untouched = not found and not any(
            gone[at] for at in range(span.start, span.end) if report.text[at].isalnum()
        )
        unidentified = found or (not untouched and names_nobody(report.text, span, gone))
        self._count("found", span.label, is_so=found)
        self._count("untouched", span.label, is_so=untouched)
        self._count("unidentified", span.label, is_so=unidentified)
        if found:
            return ""
        verdict = "left whole" if untouched else "left in part"
        self.wrongs.append((report.id, span.start, span.end, span.label, verdict))
        return verdict

    def _count(self, what: str, label: str, *, is_so: bool) -> None:
        for each in (label, "ALL"):
            counts = self.shares[what].setdefault(each, [0, 0])
            counts[0] += is_so
            counts[1] += 1

    def by_label(self, what: str) -> dict[str, Share]:
        """Give the share of each label, ``ALL`` included."""
        counts = {"ALL": [0, 0], **self.shares[what]}
        return {label: Share(*counts[label]) for label in sorted(counts)}


def audit(
    gold: Iterable[GoldReport],
    deidentifier: Deidentifier | None = None,
    advance: Callable[[int], None] | None = None,
) -> DeidAudit:
    """Clean every gold report, without known identifiers, and compare; tell how many are clean."""
    instrument = deidentifier or Deidentifier()
    withheld: dict[str, int] = defaultdict(int)
    tally = _Tally()
    reports = list(gold)
    outcomes = instrument.batch([report.text for report in reports], advance=advance)
    for report, outcome in zip(reports, outcomes, strict=True):
        if isinstance(outcome, Clean):
            tally.add(report, outcome.removed)
        else:
            withheld[outcome.reason] += 1
    precision = tally.by_label("right")
    removals = precision["ALL"].n
    return DeidAudit(
        reports=len(reports),
        recall=tally.by_label("found"),
        untouched=tally.by_label("untouched"),
        unidentified=tally.by_label("unidentified"),
        precision=precision,
        leaking=Share(tally.leaking, len(reports) - sum(withheld.values())),
        withheld=dict(withheld),
        phrases_before=tally.phrases[0],
        phrases_harmed=tally.phrases[1],
        kept_before=tally.kept[0],
        kept_harmed=tally.kept[1],
        superfluous=Share(removals - precision["ALL"].count, removals),
        wrongs=tuple(tally.wrongs),
    )


def _gold(source: str, number: int, line: bytes) -> GoldReport:
    try:
        report = GoldReport.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{source}, line {number}: {where or 'line'}: {first['msg']}.") from None
    if any(not span.start < span.end <= len(report.text) for span in report.spans):
        raise InputError(
            f"{source}, line {number}: a span lies outside the text. Offsets count characters."
        )
    unknown = next((at for at, span in enumerate(report.spans) if span.label not in LABELS), None)
    if unknown is not None:
        raise InputError(
            f"{source}, line {number}: span {unknown + 1} has a label that is none. "
            f"Valid labels: {', '.join(LABELS)}."
        )
    return report


def marked(text: str, spans: Sequence[Removed] | Sequence[GoldSpan]) -> bytearray:
    """Give 1 for every character inside a span."""
    marks = bytearray(len(text))
    for span in spans:
        marks[span.start : span.end] = b"\x01" * (span.end - span.start)
    return marks


def is_gone(text: str, span: GoldSpan, gone: bytearray) -> bool:
    """Tell whether every letter and figure of a span was removed."""
    return all(gone[at] for at in range(span.start, span.end) if text[at].isalnum())


def names_nobody(text: str, span: GoldSpan, gone: bytearray) -> bool:
    """Tell whether only whole words that name nobody are left of an identifier."""
    left = (
        word for word in _WORD.finditer(text, span.start, span.end)
        if not all(gone[word.start() : word.end()])
    )  # fmt: skip
    harmless = _naming_nobody(span.label)
    return all(
        unaccented(word.group()) in harmless and not any(gone[word.start() : word.end()])
        for word in left
    )


@cache
def _naming_nobody(label: str) -> frozenset[str]:
    path = resources.files("pipeline.names").joinpath("words", "nobody.toml")
    classes = tomllib.loads(path.read_text(encoding="utf-8"))
    return frozenset(classes.get(_CLASSES.get(label, ""), ()))


def _harmed(
    counts: list[int], spans: Iterable[tuple[int, int]], gold: bytearray, gone: bytearray
) -> Iterator[tuple[int, int]]:
    """Count the expressions outside gold spans; give those that were touched."""
    for start, end in spans:
        if not any(gold[start:end]):
            counts[0] += 1
            if any(gone[start:end]):
                counts[1] += 1
                yield start, end


def _hard_negatives(report: GoldReport) -> list[tuple[int, int]]:
    spans = [(span.start, span.end) for span in report.spans if span.label == _KEEP]
    return spans + [match.span() for match in _kept_pattern().finditer(report.text)]


@cache
def _kept_pattern() -> re.Pattern[str]:
    path = resources.files("pipeline.names").joinpath("words", "hard_negatives.txt")
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    patterns = [line for line in lines if line and not line.startswith("#")]
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)")
