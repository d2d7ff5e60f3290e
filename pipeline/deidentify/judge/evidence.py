"""What speaks for and against a token: its neighbours, the rules' votes, its line, the report.

For n asked tokens of a text, `Evidence` holds numbers of table rows, not yet weighed:

    tokens   (n, 11)  the tokens at offsets -4..4, the label before it in its line, its section
    gaps     (n, 8)   the gaps at offsets -3..4 (offset 0 stands before the token)
    votes    (n, 8)   what the rules made of the tokens at offsets -4..-1 and 1..4
    own      (n,)     the rule that took the token itself, as a number of its name
    facts    (n, 13)  place in line and report, identifiers in the line, the word elsewhere
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pipeline.deidentify.judge.tokens import Tokens
from pipeline.deidentify.result import CATEGORIES

__all__ = [
    "FACTS", "GAP_OFFSETS", "TOKEN_OFFSETS", "VOTES", "VOTE_OFFSETS",
    "Ballot", "Evidence", "gather",
]  # fmt: skip

Ints = NDArray[np.int64]

_REACH: Final = 4
TOKEN_OFFSETS: Final = (*range(-_REACH, _REACH + 1), "label", "section")
GAP_OFFSETS: Final = tuple(range(1 - _REACH, _REACH + 1))
VOTE_OFFSETS: Final = tuple(o for o in range(-_REACH, _REACH + 1) if o)
VOTES: Final = ("none", *CATEGORIES, "lock", "guard", "outside")
"""What the rules can have made of a token."""
_NAME: Final = VOTES.index("NAME")
_PLACES: Final = (VOTES.index("HOSPITAL"), VOTES.index("LOCATION"))
_TAKEN: Final = len(CATEGORIES)
_PERSON_OR_PLACE: Final = np.array([at == _NAME or at in _PLACES for at in range(len(VOTES))])
_BUCKETS: Final = np.array([1, 2, 3, 5, 9, 17, 33, 65])
_FEW: Final = np.array([1, 2, 3, 5])
FACTS: Final[tuple[tuple[str, int], ...]] = (
    ("in capitals", 2), ("tokens before", 9), ("tokens behind", 9), ("lines before", 9),
    ("lines behind", 9), ("place in line", 9), ("left in line", 9), ("identifiers in line", 5),
    ("identifiers of report", 9), ("a name elsewhere", 2), ("a place elsewhere", 2),
    ("in small letters elsewhere", 2), ("times in report", 5),
)  # fmt: skip
"""Each fact and how many values it has."""


@dataclass(frozen=True, slots=True)
class Ballot:
    """What the rules say of a text's tokens.

    Attributes
    ----------
    votes
        A number into `VOTES` for each token.
    rules
        The rule that took each token, or ''.
    """

    votes: Ints
    rules: Sequence[str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Numbers of table rows for each asked token (see the module)."""

    asked: Ints
    tokens: Ints
    gaps: Ints
    votes: Ints
    own: tuple[str, ...]
    facts: Ints


def gather(
    tokens: Tokens, ballot: Ballot, asked: Ints, *, word_rows: Ints, gap_rows: Ints
) -> Evidence:
    """Gather the evidence on the asked tokens.

    Parameters
    ----------
    tokens, ballot
        The text's tokens and the rules' votes on them.
    asked
        Numbers of the tokens to judge.
    word_rows
        The table row of each token; row 0 stands for no token.
    gap_rows
        The table row of each gap, one more than tokens.
    """
    n = len(tokens)
    lines = np.cumsum(
        np.fromiter(("\n" in gap for gap in tokens.gaps[:-1]), dtype=np.int64, count=n)
    )
    labels, sections = _headings(tokens, lines)
    padded = np.concatenate([np.zeros(_REACH, np.int64), word_rows, np.zeros(_REACH, np.int64)])
    around = asked[:, None] + np.arange(2 * _REACH + 1)[None, :]
    named = np.concatenate([word_rows, [0]])  # -1 is no label
    gaps = np.concatenate([np.zeros(_REACH, np.int64), gap_rows, np.zeros(_REACH, np.int64)])
    outside = np.full(_REACH, VOTES.index("outside"))
    votes = np.concatenate([outside, ballot.votes, outside])
    return Evidence(
        asked=asked,
        tokens=np.column_stack([padded[around], named[labels[asked]], named[sections[asked]]]),
        gaps=gaps[asked[:, None] + np.array(GAP_OFFSETS)[None, :] + _REACH],
        votes=votes[asked[:, None] + np.array(VOTE_OFFSETS)[None, :] + _REACH],
        own=tuple(ballot.rules[at] for at in asked.tolist()),
        facts=_facts(tokens, ballot, asked, lines),
    )


def _headings(tokens: Tokens, lines: Ints) -> tuple[Ints, Ints]:
    """Give the token before the last colon of each token's line, and of any line's start."""
    n = len(tokens)
    at = np.arange(n)
    marked = np.fromiter(
        (gap.lstrip(" \t")[:1] in (":", "=") for gap in tokens.gaps[1:]), dtype=bool, count=n
    )
    opens = np.searchsorted(lines, lines)  # the first token of each token's line
    last = _previous(np.where(marked, at, -1))
    labels = np.where(last >= opens, last, -1)
    return labels, _previous(np.where(marked & (at - opens < _OPENING), at, -1))


def _previous(marks: Ints) -> Ints:
    """Give the last mark before each place, -1 for none."""
    shifted = np.concatenate([[-1], marks[:-1]]) if len(marks) else marks
    return np.maximum.accumulate(shifted)


_OPENING: Final = 3


def _facts(tokens: Tokens, ballot: Ballot, asked: Ints, lines: Ints) -> Ints:
    n = len(tokens)
    total = int(lines[-1]) if n else 0
    opens = np.searchsorted(lines, lines)
    closes = np.searchsorted(lines, lines, side="right") - 1
    taken = (ballot.votes > 0) & (ballot.votes <= _TAKEN)
    in_line = np.bincount(lines, weights=taken, minlength=total + 1).astype(np.int64)
    others = in_line[lines[asked]] - taken[asked]
    names, places, small, times = _elsewhere(tokens, ballot, asked)
    capitals = not any(map(str.islower, "".join(tokens.words)))
    columns = [
        np.full(len(asked), int(capitals)),
        np.digitize(asked, _BUCKETS),
        np.digitize(n - 1 - asked, _BUCKETS),
        np.digitize(lines[asked], _BUCKETS),
        np.digitize(total - lines[asked], _BUCKETS),
        np.digitize(asked - opens[asked], _BUCKETS),
        np.digitize(closes[asked] - asked, _BUCKETS),
        np.digitize(others, _FEW),
        np.full(len(asked), int(np.digitize(int(taken.sum()), _BUCKETS))),
        names, places, small, np.digitize(times, _FEW),
    ]  # fmt: skip
    return np.column_stack(columns).astype(np.int64)


def _elsewhere(tokens: Tokens, ballot: Ballot, asked: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Tell of each asked word whether it is taken, or in small letters, at another place."""
    folded = list(map(str.casefold, tokens.words))
    times = Counter(folded)
    taken, small = _seen_elsewhere(tokens, folded, times, ballot)
    votes = ballot.votes.tolist()
    table = np.zeros((4, len(asked)), dtype=np.int64)
    table[3] = [times[folded[at]] for at in asked.tolist()]
    for column in np.flatnonzero(table[3] > 1).tolist():
        at = int(asked[column])
        word, vote = folded[at], votes[at]
        table[0, column] = taken[word, True] > (vote == _NAME)
        table[1, column] = taken[word, False] > (vote in _PLACES)
        table[2, column] = small[word] > tokens.words[at].islower()
    return table[0], table[1], table[2], table[3]


def _seen_elsewhere(
    tokens: Tokens, folded: Sequence[str], times: Counter[str], ballot: Ballot
) -> tuple[Counter[tuple[str, bool]], Counter[str]]:
    """Count how often each repeated word is a name (True) or place, and in small letters."""
    taken: Counter[tuple[str, bool]] = Counter()
    for at in np.flatnonzero(_PERSON_OR_PLACE[ballot.votes]).tolist():
        if times[folded[at]] > 1:
            taken[folded[at], bool(ballot.votes[at] == _NAME)] += 1
    small = Counter(
        word
        for word, shown in zip(folded, tokens.words, strict=True)
        if times[word] > 1 and shown.islower()
    )
    return taken, small
