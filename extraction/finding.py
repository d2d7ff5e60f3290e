"""What an engine is, and what it returns for one report: findings, nothing, or why it failed.

A failure and "nothing stated" are different types, so that neither can be read as "absent".
Offsets count characters of the report text exactly as it was given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol, TypeAlias, get_args

IMPRESSION: Final = "impression"
"""The section whose statements outrank all others."""

NOT_EVALUABLE: Final = "not evaluable"
"""The certainty where a report says that a pathology could not be judged."""

OTHER: Final = "other"
"""The certainty of a hedge that no canonical phrase covers."""

PLAIN: Final = ""
"""The cue of a plain assertion: no cue word was written."""

FailureReason: TypeAlias = Literal[
    "empty text", "not text", "text too long", "no readable section", "unknown modality",
    "not in English",
    "engine error", "empty answer", "unreadable answer", "ungrounded answer", "unsupported answer",
    "incomplete answer", "repeated answer", "truncated answer", "server unreachable",
    "server error", "request refused", "timed out", "model stopped", "not recorded",
]  # fmt: skip
"""Why a report could not be processed; a closed set. The last thirteen are a language
model's: seven of its answer, six of what runs it: a server, a process, a recording."""

UNREADABLE: Final = (RecursionError, MemoryError, ValueError, IndexError, KeyError, TypeError)
"""What reading a text may raise that nobody foresaw: that report fails, and no other."""

FAILURE_REASONS: Final[tuple[FailureReason, ...]] = get_args(FailureReason)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a finding carries its phrase: the words, the scope and the rule, as character offsets.

    Attributes
    ----------
    mention_start, mention_end
        The words that name the pathology.
    cue_start, cue_end
        The cue words; both equal `mention_start` for a plain assertion.
    scope_start, scope_end
        The stretch of text the cue governs.
    rule
        Name of the deciding rule, from a closed list in the engine's documentation.
    """

    mention_start: int
    mention_end: int
    cue_start: int
    cue_end: int
    scope_start: int
    scope_end: int
    rule: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement about one pathology.

    Attributes
    ----------
    section
        Canonical section name (``findings``, ``impression``).
    start, end
        The reference sentence, as offsets into the report text.
    pathology
        Canonical pathology.
    cue
        The cue words as written, or `PLAIN`; engines that cannot point at a cue leave it plain,
        and say with an unmapped statement which certainty they were given.
    phrase
        Canonical certainty phrase; None when the cue is known but maps to no phrase.
    explanation
        What decided; None for engines that cannot say.
    read_by
        The engine that read it, where several read one report; "" where one reads them all.
    """

    section: str
    start: int
    end: int
    pathology: str
    cue: str
    phrase: str | None
    explanation: Explanation | None = None
    read_by: str = ""


@dataclass(frozen=True, slots=True)
class Extracted:
    """A report with at least one finding, and the pathologies it calls not evaluable."""

    findings: tuple[Finding, ...]
    not_evaluable: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class NothingStated:
    """A report that was read and states none of the vocabulary's pathologies."""

    not_evaluable: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Failed:
    """A report that could not be processed; says nothing about any pathology."""

    reason: FailureReason


Outcome: TypeAlias = Extracted | NothingStated | Failed

Modality: TypeAlias = Literal["XR", "CT"]
"""Chest radiograph or chest CT."""


class Engine(Protocol):
    """Anything that turns report texts into outcomes."""

    @property
    def name(self) -> str:
        """Short name, as written into every row (``rules``)."""

    @property
    def version(self) -> str:
        """What produced a row: engine revision and vocabulary digest."""

    def extract(self, texts: Sequence[str], *, modality: Modality) -> list[Outcome]:
        """Read reports of one modality.

        Parameters
        ----------
        texts
            N report texts.
        modality
            All of them ``XR`` or all of them ``CT``.

        Returns
        -------
        N outcomes in the same order. A text that cannot be read gives `Failed` at its place and
        never disturbs the others.
        """
