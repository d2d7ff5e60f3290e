"""Annotated reports → rows for training: the evidence on every token, and what it truly is.

A rule that was grown on the texts it is trained beside is right too often: whatever learned to
trust it would be lost with the next author. So each report is shown several times, with some of
what the rules took taken away from them at random; those tokens are then to be found without a vote
of their own, and often without that of their neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.deidentify import Deidentifier, Removed
from pipeline.deidentify.audit import GoldReport
from pipeline.deidentify.judge.ballot import hold
from pipeline.deidentify.judge.evidence import VOTES, Evidence, gather
from pipeline.deidentify.judge.model import LABELS
from pipeline.deidentify.judge.tokens import Describer, Tokens
from pipeline.names.grammar import as_capitals

__all__ = ["Numbers", "Rows", "read_rows"]

Ints = NDArray[np.int64]
SILENCED = (0.15, 0.4, 0.85)
"""What share of the rules' finds is taken from them in each further showing."""
SHOWN = 0.08
"""What share of the other tokens is shown again then."""
_AS = {"AGE90": "AGE", "WEEKDAY": "DATE", "MONTH": "DATE", "ROOM": "LOCATION"}
"""Labels of annotators that are called otherwise here; any other unknown one is a number."""
_NEVER = (VOTES.index("lock"), VOTES.index("guard"))


class Numbers(dict[str, int]):
    """Numbers for strings, from 1; 0 is none."""

    def of(self, strings: Iterable[str]) -> Ints:
        """Give the number of each string."""
        return np.array([self.setdefault(each, len(self) + 1) for each in strings], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one set; `showing` is 0 where the rules' finds are all there."""

    evidence: Evidence
    own_votes: Ints
    labels: Ints
    showing: Ints
    report: Ints


def read_rows(
    reports: Sequence[GoldReport], rules: Deidentifier, words: Numbers, gaps: Numbers, seed: int
) -> Rows:
    """Make the rows of a set of annotated reports."""
    rng = np.random.default_rng(seed)
    describer = Describer(rules.lexicon)
    parts: list[tuple[Evidence, Ints, Ints, int, int]] = []
    for number, report in enumerate(reports):
        tokens = Tokens(as_capitals(report.text))
        claims = rules.claims(report.text)
        removed, labels = claims.removed(), _labels(tokens, report)
        show = _shower(tokens, claims.marks, labels, words.of(tokens.words), gaps.of(tokens.gaps))
        asked = np.flatnonzero([describer.is_asked(word) for word in tokens.words])
        parts.append((*show(removed, asked), 0, number))
        for showing, share in enumerate(SILENCED, start=1):
            silent = rng.random(len(removed)) < share
            heard = [each for each, gone in zip(removed, silent, strict=True) if not gone]
            lost = _inside(
                tokens, [each for each, gone in zip(removed, silent, strict=True) if gone]
            )
            other = ~_inside(tokens, removed) & (rng.random(len(tokens)) < SHOWN)
            parts.append((*show(heard, asked[(lost | other)[asked]]), showing, number))
    return _joined(parts)


def _shower(
    tokens: Tokens, marks: bytearray, labels: Ints, word_rows: Ints, gap_rows: Ints
) -> Callable[[Sequence[Removed], Ints], tuple[Evidence, Ints, Ints]]:
    unmarked = bytearray(mark if mark < 3 else 0 for mark in marks)

    def show(heard: Sequence[Removed], asked: Ints) -> tuple[Evidence, Ints, Ints]:
        ballot = hold(tokens, unmarked, heard)
        asked = asked[~np.isin(ballot.votes[asked], _NEVER)]
        evidence = gather(tokens, ballot, asked, word_rows=word_rows, gap_rows=gap_rows)
        return evidence, ballot.votes[asked], labels[asked]

    return show


def _labels(tokens: Tokens, report: GoldReport) -> Ints:
    labels = np.zeros(len(tokens), dtype=np.int64)
    for span in report.spans:
        if span.label != "KEEP":
            first = np.searchsorted(tokens.ends, span.start, side="right")
            last = np.searchsorted(tokens.starts, span.end)
            label = _AS.get(span.label, span.label)
            labels[first:last] = LABELS.index(label if label in LABELS else "ID")
    return labels


def _inside(tokens: Tokens, spans: Sequence[Removed]) -> NDArray[np.bool_]:
    inside = np.zeros(len(tokens), dtype=bool)
    for each in spans:
        first = np.searchsorted(tokens.ends, each.start, side="right")
        inside[first : np.searchsorted(tokens.starts, each.end)] = True
    return inside


def _joined(parts: Sequence[tuple[Evidence, Ints, Ints, int, int]]) -> Rows:
    evidence = [part[0] for part in parts]
    sizes = [len(part[2]) for part in parts]
    return Rows(
        Evidence(
            *(np.concatenate([getattr(e, name) for e in evidence]) for name in
              ("asked", "tokens", "gaps", "votes")),
            own=tuple(rule for e in evidence for rule in e.own),
            facts=np.concatenate([e.facts for e in evidence]),
        ),
        np.concatenate([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
        np.repeat([part[3] for part in parts], sizes),
        np.repeat([part[4] for part in parts], sizes),
    )  # fmt: skip
