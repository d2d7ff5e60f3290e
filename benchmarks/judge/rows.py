"""Annotated reports → rows for training: the evidence on every token, and what it truly is.

A rule that was grown on the texts it is trained beside is right too often: whatever learned to
trust it would be lost with the next author. So each report is shown several times, with some of
what the rules took taken away from them at random; those tokens are then to be found without a vote
of their own, and often without that of their neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.deidentify import Deidentifier, Removed
from pipeline.deidentify.audit import GoldReport
from pipeline.deidentify.judge.evidence import VOTES, Evidence, gather, hold
from pipeline.deidentify.judge.model import LABELS
from pipeline.deidentify.judge.tokens import Glossary, Shard, lay_out
from pipeline.names.grammar import as_capitals

__all__ = ["Rows", "labels", "read_rows"]

Ints = NDArray[np.int64]
SILENCED = (0.3, 0.85)
"""What share of the rules' finds is taken from them in each further showing."""
SHOWN = 0.08
"""What share of the other tokens is shown again then."""
PLAIN_SHOWN = 0.25
"""What share of the words in small letters is shown at all, away from identifiers."""
NEAR = 2
_AS = {"AGE90": "AGE", "WEEKDAY": "DATE", "MONTH": "DATE", "ROOM": "LOCATION"}
"""Labels of annotators that are called otherwise here; any other unknown one is a number."""
_NEVER = (VOTES.index("lock"), VOTES.index("guard"))


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one set; `showing` is 0 where the rules' finds are all there.

    ``own`` names the rule that took each token, '' for none.
    """

    evidence: Evidence
    own: tuple[str, ...]
    own_votes: Ints
    labels: Ints
    showing: Ints
    report: Ints


_Shown: TypeAlias = tuple[Evidence, list[str], Ints, Ints]


def read_rows(
    reports: Sequence[GoldReport], rules: Deidentifier, words: Glossary, gaps: Glossary, seed: int
) -> Rows:
    """Make the rows of a set of annotated reports."""
    rng = np.random.default_rng(seed)
    parts: list[tuple[_Shown, int, int]] = []
    for number, report in enumerate(reports):
        shard = lay_out([as_capitals(report.text)], words, gaps)
        claims = rules.read(report.text).claims
        removed = claims.removed()
        show = _shower(shard, claims.marks, labels(shard, [report]), words, gaps)
        asked = _worth_showing(shard, words, labels(shard, [report]) > 0, rng)
        parts.append((show(removed, asked), 0, number))
        for showing, share in enumerate(SILENCED, start=1):
            silent = rng.random(len(removed)) < share
            heard = [each for each, gone in zip(removed, silent, strict=True) if not gone]
            lost = _inside(
                shard, [each for each, gone in zip(removed, silent, strict=True) if gone]
            )
            chosen = np.zeros(len(shard.words), dtype=bool)
            chosen[shard.words > 0] = rng.random(shard.counts.sum()) < SHOWN
            other = ~_inside(shard, removed) & chosen
            parts.append((show(heard, asked[(lost | other)[asked]]), showing, number))
    return _joined(parts)


def _worth_showing(
    shard: Shard, words: Glossary, truth: NDArray[np.bool_], rng: np.random.Generator
) -> Ints:
    """Choose all that is capitalised, a figure, an identifier or beside one; of the rest a few."""
    plain = words.trait("plain")[shard.words]
    near = np.convolve(truth, np.ones(2 * NEAR + 1), mode="same") > 0
    few = rng.random(len(plain)) < PLAIN_SHOWN
    return np.flatnonzero((shard.words > 0) & (~plain | near | few))


def _shower(
    shard: Shard, marks: bytearray, truth: Ints, words: Glossary, gaps: Glossary
) -> Callable[[Sequence[Removed], Ints], _Shown]:
    def show(heard: Sequence[Removed], asked: Ints) -> _Shown:
        spans = [(each.start, each.end) for each in heard]
        ballot = hold(shard, marks, spans, [each.category for each in heard])
        asked = asked[~np.isin(ballot.votes[asked], _NEVER)]
        evidence = gather(shard, ballot, asked, words=words, gaps=gaps)
        rules = [*(each.rule for each in heard), ""]
        own = [rules[owner] for owner in ballot.owners[asked].tolist()]
        return evidence, own, ballot.votes[asked], truth[asked]

    return show


def labels(shard: Shard, reports: Sequence[GoldReport]) -> Ints:
    """Tell what each slot of some reports truly is, as a number into `LABELS`."""
    truth = np.zeros(len(shard.words), dtype=np.int64)
    spans = [
        (base + span.start, base + span.end, _AS.get(span.label, span.label))
        for base, report in zip(shard.bases.tolist(), reports, strict=True)
        for span in report.spans if span.label != "KEEP"
    ]  # fmt: skip
    stretches = shard.overlapping([span[:2] for span in spans])
    for (_, _, label), first, last in zip(spans, *stretches, strict=True):
        truth[first:last] = LABELS.index(label if label in LABELS else "ID")
    return truth


def _inside(shard: Shard, spans: Sequence[Removed]) -> NDArray[np.bool_]:
    inside = np.zeros(len(shard.words), dtype=bool)
    stretches = shard.overlapping([(each.start, each.end) for each in spans])
    for first, last in zip(*stretches, strict=True):
        inside[first:last] = True
    return inside


def _joined(parts: Sequence[tuple[_Shown, int, int]]) -> Rows:
    evidence, own, own_votes, truth = zip(*(shown for shown, _, _ in parts), strict=True)
    sizes = [len(each) for each in truth]
    names = ("tokens", "gaps", "votes", "facts")
    return Rows(
        Evidence(*(np.concatenate([getattr(e, name) for e in evidence]) for name in names)),
        tuple(rule for each in own for rule in each),
        np.concatenate(own_votes),
        np.concatenate(truth),
        np.repeat([showing for _, showing, _ in parts], sizes),
        np.repeat([number for _, _, number in parts], sizes),
    )
