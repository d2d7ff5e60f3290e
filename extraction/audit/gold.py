"""Hand-labelled reports: what a person read in a text, one JSON object per line.

``{"report_id": …, "modality": "XR"|"CT", "text": …, "findings": [{"section": …, "pathology": …,
"phrase": …}, …]}``. Labels are what the report says per section after the resolution rule inside
the section; a pathology that is not listed is not mentioned. docs/annotation-guide.md says how.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from extraction.errors import ExtractionError
from extraction.finding import IMPRESSION
from extraction.vocabulary import Vocabulary

__all__ = ["GoldError", "GoldFinding", "GoldReport", "load_gold"]


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
            self.findings,
            key=lambda label: (label.section == IMPRESSION, strength[label.phrase]),
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
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        try:
            report = GoldReport.model_validate_json(line)
        except ValidationError as error:
            problems.append(f"line {number}: {_first(error)}")
            continue
        reports.append(report)
        problems += [f"line {number}: {problem}" for problem in _unknown(report, vocabulary)]
    problems += _repeated(reports)
    if problems or not reports:
        shown = "; ".join(problems[:5]) or "no labelled report"
        message = (
            f"{path.name}: {len(problems)} problem(s): {shown}. Correct the file and try again."
        )
        raise GoldError(message)
    return reports


def _first(error: ValidationError) -> str:
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"]) or "the whole line"
    return f"{where}: {problem['msg']}"


def _unknown(report: GoldReport, vocabulary: Vocabulary) -> list[str]:
    return [
        f"{kind} {value!r} is not in the vocabulary"
        for label in report.findings
        for kind, value, known in (
            ("pathology", label.pathology, vocabulary.pathologies),
            ("phrase", label.phrase, vocabulary.phrases),
        )
        if value not in known
    ]


def _repeated(reports: Sequence[GoldReport]) -> list[str]:
    ids = [report.report_id for report in reports]
    count = len(ids) - len(set(ids))
    return [f"{count} report_id(s) occur more than once"] if count else []
