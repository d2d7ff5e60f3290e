"""The result of ``radcal audit extraction`` as the whole job uses it: figures and confusions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from calibration.estimate import Estimate
from calibration.extraction_errors import Audit
from pipeline.config.basis import sha256
from pipeline.errors import ConfigurationError

Triples = tuple[tuple[str, str, int], ...]
NOT_MENTIONED = "not mentioned"
_MOST_MISREAD = 0.5


class _Interval(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float | None
    low: float | None
    high: float | None


class _Result(BaseModel):
    """The fields used here; the rest of the file is for readers of the audit."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    engine: str
    engine_version: str
    reports: int
    cell_accuracy_micro: _Interval
    modality_confusion: Mapping[str, Triples]


@dataclass(frozen=True, slots=True)
class SiteAudit:
    """An engine's measured reading.

    Attributes
    ----------
    engine
        Name and version that were audited.
    reports
        Labelled reports.
    cells
        Share of (report, pathology) cells that agreed, with its interval.
    confusion
        Per modality (people's state, engine's state, cells).
    digest
        Hash of the file.
    """

    engine: str
    reports: int
    cells: Estimate
    confusion: Mapping[str, Triples]
    digest: str


@dataclass(frozen=True, slots=True, eq=False)
class PhraseErrors:
    """A confusion in calibration's terms, and what it cannot express.

    Attributes
    ----------
    audit
        Counts over the phrases of a table.
    statements
        Audited X-ray statements in phrases of the table.
    missed, surplus
        Statements that were not read as any phrase of the table, and readings without a statement:
        a correction of words cannot put them back.
    unchecked
        Phrases that no audited statement used.
    """

    audit: Audit
    statements: int
    missed: int
    surplus: int
    unchecked: tuple[str, ...]


def read_audit(path: Path, *, option: str = "extraction.audit.scores") -> SiteAudit:
    """Read what ``radcal audit extraction --out`` wrote; `option` names it in messages.

    Raises
    ------
    ConfigurationError
        If the file is missing or is no such result.
    """
    try:
        content = path.read_bytes()
        result = _Result.model_validate_json(content)
    except OSError as error:
        raise ConfigurationError(f"{option}: {path}: cannot be read ({error.strerror}).") from None
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"]) or "the file"
        raise ConfigurationError(
            f"{option}: {path.name}: not a result of radcal audit extraction: "
            f"{error.error_count()} fault(s), first in {place}. Make it again with --out."
        ) from None
    cells = result.cell_accuracy_micro
    value, low, high = (math.nan if v is None else v for v in (cells.value, cells.low, cells.high))
    return SiteAudit(
        engine=f"{result.engine} {result.engine_version}",
        reports=result.reports,
        cells=Estimate(
            value, low, high, float(result.reports), method="percentile bootstrap of reports"
        ),
        confusion=result.modality_confusion,
        digest=sha256(content)[:16],
    )


def phrase_errors(
    confusion: Mapping[str, Triples],
    *,
    phrases: Sequence[str],
    labels: Mapping[str, float],
    silence_is_absent: bool,
) -> PhraseErrors | None:
    """Count X-ray phrases taken for others, and CT answers taken for their opposite.

    Parameters
    ----------
    confusion
        Per modality (people's state, engine's state, cells).
    phrases
        The phrase table's, K of them.
    labels
        Label that each CT phrase stands for; at ½ and above it counts as disease.
    silence_is_absent
        Whether a CT that does not mention a finding counts as one without it.

    Returns
    -------
    None where no X-ray statement was audited.
    """
    place = {phrase: k for k, phrase in enumerate(phrases)}
    counts = np.zeros((len(phrases), len(phrases)))
    missed = surplus = 0
    for said, read, n in confusion.get("XR", ()):
        if said in place and read in place:
            counts[place[said], place[read]] += n
        elif said in place:
            missed += n
        elif read in place:
            surplus += n
    if not counts.any():
        return None
    unchecked = tuple(p for p, row in zip(phrases, counts, strict=True) if not row.any())
    answers = {**labels, NOT_MENTIONED: 0.0} if silence_is_absent else dict(labels)
    return PhraseErrors(
        audit=Audit(counts, _label_counts(confusion.get("CT", ()), answers)),
        statements=int(counts.sum()) + missed,
        missed=missed,
        surplus=surplus,
        unchecked=unchecked,
    )


def misread_share(confusion: Mapping[str, Triples], *, means: Mapping[str, float]) -> float:
    """Share of X-ray words that were misread, by what their misreading does to calibration.

    With t the meaning of the word written and m of the word read, over audited statements, the
    share is 1 − Cov(t, m) / Var(m): the regression dilution of the words read. It is the plain
    share of misread words if they are any others, and less if they are taken for words that mean
    nearly the same. A word read where none was written says nothing of m. At most one half; 0
    where nothing was audited.

    Parameters
    ----------
    confusion
        Per modality (people's state, engine's state, cells).
    means
        Mean of every phrase of the table.
    """
    kept = [(said, read, n) for said, read, n in confusion.get("XR", ()) if read in means]
    if not kept:
        return 0.0
    n = np.array([cells for _, _, cells in kept], dtype=np.float64)
    read = np.array([means[word] for _, word, _ in kept])
    written = np.array([word in means for word, _, _ in kept])
    meant = np.array([means.get(word, 0.0) for word, _, _ in kept])
    off, uses = read - np.average(read, weights=n), n * written
    spread = float(n @ off**2)
    if spread <= 0.0 or not uses.any():
        return 0.0
    meant = np.where(written, meant - np.average(meant, weights=uses), 0.0)
    return float(np.clip(1.0 - (n @ (meant * off)) / spread, 0.0, _MOST_MISREAD))


def _label_counts(triples: Triples, answers: Mapping[str, float]) -> np.ndarray | None:
    """[[0 → 0, 0 → 1], [1 → 0, 1 → 1]]; None unless both labels were audited."""
    counts = np.zeros((2, 2))
    for said, read, n in triples:
        if said in answers and read in answers:
            counts[int(answers[said] >= 0.5), int(answers[read] >= 0.5)] += n
    return counts if counts.any(axis=1).all() else None
