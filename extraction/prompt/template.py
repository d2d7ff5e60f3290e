"""The prompt's text: a short instruction, worked blocks, then the report to read.

    instruction · ### report, statements · ### report, statements · … · ### report, statements:

The mark before each block is where an answer stops. A report's own words cannot open a block: the
mark is taken out of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from extraction.engines import Modality
from extraction.prompt.examples import Example
from extraction.prompt.lines import NONE, NOT_EVALUABLE, OTHER, written
from extraction.vocabulary import Vocabulary

__all__ = ["MARK", "REVISION", "Template"]

MARK: Final = "###"
"""What stands before every block, and so where an answer stops."""

REVISION: Final = "1"
"""Raised whenever the words below change; part of the prompt's digest."""

_KINDS: Final[dict[Modality, str]] = {"XR": "X-ray", "CT": "CT"}


class Template:
    """Writes prompts for one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._known = frozenset(vocabulary.pathologies)
        self._certainties = (*vocabulary.phrases, OTHER, NOT_EVALUABLE)
        self._pathologies = "; ".join(vocabulary.pathologies)

    def instruction(self, modality: Modality) -> str:
        """Say what is asked, and the closed lists of words."""
        return (
            f"Chest {_KINDS[modality]} reports, each followed by every statement it makes about "
            "a pathology, in reading order. One line per statement and pathology: the sentence "
            "word for word, the pathology, the certainty the report gives it. "
            f"A report that states none has the line {NONE}\n"
            f"Pathologies: {self._pathologies}\n"
            f"Certainties: {'; '.join(self._certainties)}\n"
        )

    def worked(self, example: Example) -> str:
        """Write one worked block; lines about pathologies that are not asked for are left out."""
        lines = [
            written(line)
            for line in example.lines
            if line.pathology in self._known and line.certainty in self._certainties
        ]
        return self.asked(example.report) + "\n".join(lines or [NONE]) + "\n"

    def asked(self, report: str) -> str:
        """Write the block of a report whose statements are to follow."""
        return f"{MARK}\nReport:\n{_plain(report)}\nStatements:\n"

    def prompt(self, report: str, worked: Sequence[str], modality: Modality) -> str:
        """Write the whole prompt around worked blocks."""
        return self.instruction(modality) + "".join(worked) + self.asked(report)


def _plain(report: str) -> str:
    """Give a report's lines without blank ones, the mark, and marks that end a quoted field."""
    report = report.encode("utf-8", "replace").decode()
    while MARK in report:
        report = report.replace(MARK, "#")
    lines = (" ".join(line.split()) for line in report.replace('"', "'").splitlines())
    return "\n".join(line for line in lines if line)
