r"""Clinical: one annotated sentence per case; the expected answer sits on the words.

``[words](pathology: phrase)`` marks a statement and where it is made; nothing unmarked may be
stated; ``\n`` is a line's end. The sentences are invented.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from extraction.finding import Extracted
from extraction.rules.engine import RuleEngine

ENGINE = RuleEngine()
MARK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
FOLDER = Path(__file__).parent / "sentences"
CASES = [
    line
    for file in sorted(FOLDER.glob("*.txt"))
    for line in file.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def expected(case: str) -> tuple[str, set[tuple[str, str, int]]]:
    """Split a case into its plain sentence and (pathology, phrase, offset) of every mark."""
    case = case.replace("\\n", "\n")
    text, wanted, after = "", set(), 0
    for mark in MARK.finditer(case):
        text += case[after : mark.start()]
        for answer in mark[2].split(", "):
            pathology, phrase = answer.split(": ")
            wanted.add((pathology, phrase, len(text)))
        text += mark[1]
        after = mark.end()
    return text + case[after:], wanted


def plain(case: str) -> str:
    return expected(case)[0]


@pytest.mark.parametrize("case", CASES, ids=plain)
def test_sentence_states_what_is_marked_and_nothing_else(case: str) -> None:
    text, wanted = expected(case)
    (outcome,) = ENGINE.extract([text], modality="XR")
    found = outcome.findings if isinstance(outcome, Extracted) else ()
    starts = {start for _, _, start in wanted}
    got = {
        (finding.pathology, finding.phrase or "unmapped", _marked(finding, starts))
        for finding in found
        if finding.explanation is not None
    }
    assert got == wanted


def _marked(finding: object, starts: set[int]) -> int:
    """Find the mark a mention belongs to: the last one that starts before the mention ends."""
    end = finding.explanation.mention_end  # type: ignore[attr-defined]
    return max((start for start in starts if start < end), default=-1)


def test_there_is_a_case_for_every_rule_and_enough_of_them() -> None:
    assert len(CASES) >= 400
    assert len(set(CASES)) == len(CASES)
