"""What speaks for and against a token: the word, the rules' vote, its line, the report.

For n tokens of a shard (see `tokens.Shard`), `Evidence` holds numbers of table rows, not yet
weighed; 0 is no token and no gap:

    words    (n, 3)   the token itself, the label before it in its line, its section
    gaps     (n, 2)   what stands before it and behind it
    votes    (n,)     what the rules made of it
    facts    (n, 13)  place in line and report, identifiers in the line, the word elsewhere

What stands around it the network sees by itself (`model`). Nothing of another text speaks for a
token, so that a report is judged alike in any company.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.deidentify.judge.tokens import Glossary, Shard
from pipeline.deidentify.spans import CATEGORIES, GUARD, LOCK, Category

__all__ = ["FACTS", "GAPS", "VOTES", "WORDS", "Ballot", "Evidence", "gather", "hold"]

Ints: TypeAlias = NDArray[np.int64]

WORDS: Final = ("word", "label", "section")
GAPS: Final = ("gap before", "gap behind")
VOTES: Final = ("none", *CATEGORIES, "lock", "guard", "outside")
"""What the rules can have made of a token."""
_NUMBER: Final = {vote: at for at, vote in enumerate(VOTES)}
_MARKS: Final = np.zeros(256, dtype=np.int64)
_MARKS[LOCK], _MARKS[GUARD] = _NUMBER["lock"], _NUMBER["guard"]
_TAKEN: Final = len(CATEGORIES)
_BUCKETS: Final = np.digitize(np.arange(66), [1, 2, 3, 5, 9, 17, 33, 65])
_FEW: Final = np.digitize(np.arange(6), [1, 2, 3, 5])
"""The bucket of each count; that of the last of all that are more."""
FACTS: Final[tuple[tuple[str, int], ...]] = (
    ("in capitals", 2), ("tokens before", 9), ("tokens behind", 9), ("lines before", 9),
    ("lines behind", 9), ("place in line", 9), ("left in line", 9), ("identifiers in line", 5),
    ("identifiers of report", 9), ("a name elsewhere", 2), ("a place elsewhere", 2),
    ("in small letters elsewhere", 2), ("times in report", 5),
)  # fmt: skip
"""Each fact and how many values it has."""
_OPENING: Final = 3
"""Among so many first tokens of a line a label opens a section."""


@dataclass(frozen=True, slots=True)
class Ballot:
    """What the rules say of a shard's slots.

    Attributes
    ----------
    votes
        (slots,) numbers into `VOTES`.
    owners
        (slots,) which of the removed spans holds the token; -1 for none.
    """

    votes: Ints
    owners: Ints


@dataclass(frozen=True, slots=True)
class Evidence:
    """Numbers of table rows for each token (see the module), and the slots they stand in.

    ``folded`` numbers the distinct words of each text, whatever their capitals: (n,).
    """

    slots: Ints
    words: Ints
    gaps: Ints
    votes: Ints
    facts: Ints
    folded: Ints


def hold(
    shard: Shard,
    marks: bytes | bytearray,
    spans: Sequence[tuple[int, int]],
    categories: Sequence[Category],
) -> Ballot:
    """Tell what the rules made of each token.

    Parameters
    ----------
    shard
        The texts, laid out.
    marks
        Who owns each character of the texts joined (see `spans.Claims`).
    spans, categories
        What the rules took from the texts joined, in order, and as what.
    """
    votes = _MARKS[np.frombuffer(marks, dtype=np.uint8)[shard.starts]]
    owners = np.full(len(votes), -1, dtype=np.int64)
    firsts, lasts = shard.overlapping(spans)
    stretches = zip(categories, firsts.tolist(), lasts.tolist(), strict=True)
    for at, (category, first, last) in enumerate(stretches):
        votes[first:last] = _NUMBER[category]
        owners[first:last] = at
    votes[shard.words == 0] = _NUMBER["outside"]
    return Ballot(votes, owners)


def gather(shard: Shard, ballot: Ballot, *, words: Glossary, gaps: Glossary) -> Evidence:
    """Gather the evidence on every token.

    Parameters
    ----------
    shard, ballot
        The texts and the rules' votes on them.
    words, gaps
        What the numbers of the shard stand for.
    """
    slots = np.flatnonzero(shard.words)
    lines = Lines(shard, gaps)
    labels, sections = _headings(shard, gaps, lines)
    keys = shard.text * len(words) + words.trait("folded")[shard.words]
    _, every, times = np.unique(keys, return_inverse=True, return_counts=True)
    facts = [
        *_places(shard, ballot, slots, lines, words),
        *_elsewhere(ballot, slots, every, times, words.trait("small")[shard.words]),
    ]
    return Evidence(
        slots=slots,
        words=shard.words[np.column_stack([slots, labels[slots], sections[slots]])],
        gaps=shard.gaps[slots[:, None] + np.arange(2)],
        votes=ballot.votes[slots],
        facts=np.column_stack(facts).astype(np.int64),
        folded=every[slots],
    )


class Lines:
    """The lines of a shard, numbered through; no two texts and no empty slot share one."""

    def __init__(self, shard: Shard, gaps: Glossary) -> None:
        breaks = gaps.trait("breaks")[shard.gaps].astype(np.int64)
        breaks[shard.firsts] += 1
        breaks[shard.firsts + shard.counts] = 1
        self.number: Ints = np.cumsum(breaks)
        self.text_opens: Ints = self.number[shard.firsts - 1] + 1
        """The number of the line each text begins with."""
        self.text_closes: Ints = self.number[shard.firsts + shard.counts - 1]
        """The number of the line of each text's last token."""
        at = np.arange(len(breaks))
        self.opens: Ints = np.maximum.accumulate(np.where(breaks > 0, at, 0))
        """The first slot of each slot's line."""

    def closes(self, asked: Ints) -> Ints:
        """Give the last slot of each asked slot's line."""
        return np.searchsorted(self.number, self.number[asked], side="right") - 1


def _headings(shard: Shard, gaps: Glossary, lines: Lines) -> tuple[Ints, Ints]:
    """Give the token before the last colon of each token's line, and of any line's start."""
    at = np.arange(len(shard.words))
    marked = np.append(gaps.trait("heads")[shard.gaps[1:]], np.False_) & (shard.words > 0)
    last = _previous(np.where(marked, at, 0))
    opening = _previous(np.where(marked & (at - lines.opens < _OPENING), at, 0))
    return (
        np.where(last >= lines.opens, last, 0),
        np.where(opening >= shard.firsts[shard.text], opening, 0),
    )


def _previous(marks: Ints) -> Ints:
    """Give the last mark before each place, 0 for none."""
    return np.maximum.accumulate(np.concatenate([[0], marks[:-1]]))


def _places(
    shard: Shard, ballot: Ballot, asked: Ints, lines: Lines, words: Glossary
) -> list[NDArray[Any]]:
    """Tell where each asked word stands in its line and report, and beside how many identifiers."""
    text = shard.text[asked]
    line = lines.number[asked]
    place = asked - shard.firsts[text]
    taken = (ballot.votes > 0) & (ballot.votes <= _TAKEN)
    in_line = np.bincount(lines.number, weights=taken).astype(np.int64)
    in_text = np.bincount(shard.text, weights=taken).astype(np.int64)
    some_small = words.trait("some_small")[shard.words]
    capitals = np.bincount(shard.text, weights=some_small) == 0
    return [
        capitals[text],
        _BUCKETS.take(place, mode="clip"),
        _BUCKETS.take(shard.counts[text] - 1 - place, mode="clip"),
        _BUCKETS.take(line - lines.text_opens[text], mode="clip"),
        _BUCKETS.take(lines.text_closes[text] - line, mode="clip"),
        _BUCKETS.take(asked - lines.opens[asked], mode="clip"),
        _BUCKETS.take(lines.closes(asked) - asked, mode="clip"),
        _FEW.take(in_line[line] - taken[asked], mode="clip"),
        _BUCKETS.take(in_text, mode="clip")[text],
    ]


def _elsewhere(
    ballot: Ballot, asked: Ints, every: Ints, times: Ints, small: NDArray[np.bool_]
) -> list[NDArray[Any]]:
    """Tell of each asked word whether its text has it taken, or in small letters, elsewhere."""
    word, votes = every[asked], ballot.votes
    marks = (
        votes == _NUMBER["NAME"],
        (votes == _NUMBER["HOSPITAL"]) | (votes == _NUMBER["LOCATION"]),
        small,
    )
    return [
        *(np.bincount(every, weights=mark)[word] > mark[asked] for mark in marks),
        _FEW.take(times[word], mode="clip"),
    ]
