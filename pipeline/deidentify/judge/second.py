"""The second look: each token again, by what the first look made of the tokens around it.

The first look sees the rules' finds, but not the judge's own. Here every slot of a shard has five
**groups** of chances, G = any, name, place, number, time: those of the first look, one and nothing
where a rule is sure, nothing where nobody may be asked. For token i, in order (`INPUTS`):

    own       log-odds of each group, and whether a rule took it
    near      G but *any* at the offsets -2..2, where all gaps between may stand in an identifier
    around    *any* at the offsets -3..3, and whether the gaps on both sides join
    line      what the other tokens of the line have of *any*: log(1 + sum), mean
    elsewhere the mean of *any*, name and place where else the report has the word, log count

    h_i = relu(b + X x_i + sum over o = -1, 0, 1 of W[f, o] for the features f of token i + o)
    p_i = softmax(c + V h_i)

It is fit to what networks that never saw an author made of that author's reports (Wolpert 1992,
stacked generalisation), so that it learns how far the first look can be trusted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.deidentify.judge.evidence import Ballot, Lines
from pipeline.deidentify.judge.model import LABELS, Floats, Weights, shares_of
from pipeline.deidentify.judge.tokens import Glossary, Shard

__all__ = ["INPUTS", "WORD_OFFSETS", "second_inputs", "second_look"]

Ints: TypeAlias = NDArray[np.int64]
WORD_OFFSETS: Final = (-1, 0, 1)
_KINDS: Final = {
    "NAME": 1, "HOSPITAL": 2, "LOCATION": 2, "ID": 3, "PHONE": 3, "EMAIL": 3, "URL": 3,
    "DATE": 4, "TIME": 4, "AGE": 4,
}  # fmt: skip
"""The group of each category beside *any*, which is the first."""
_GROUPS: Final = np.zeros((len(LABELS), 5), dtype=np.float32)
for _at, _label in enumerate(LABELS[1:], start=1):
    _GROUPS[_at, [0, _KINDS[_label]]] = 1
_NEAR: Final = (-2, -1, 1, 2)
_AROUND: Final = (-3, -2, -1, 1, 2, 3)
_LEAST: Final = 1e-4
INPUTS: Final = 6 + 4 * len(_NEAR) + len(_AROUND) + 2 + 2 + 4
"""How many numbers are known of each token, beside the features of three words."""


def second_inputs(
    shard: Shard, ballot: Ballot, asked: Ints, shares: Floats, *, words: Glossary, gaps: Glossary
) -> Floats:
    """Give the numbers that the second look weighs of each asked slot, (n, `INPUTS`).

    Parameters
    ----------
    shard, ballot, words, gaps
        As for `evidence.gather`.
    asked
        The slots in question: not those that a rule took surely.
    shares
        (n, labels) what the first look made of them.
    """
    groups = np.zeros((len(shard.words), _GROUPS.shape[1]), dtype=np.float32)
    taken = ballot.owners >= 0
    groups[taken] = _GROUPS[ballot.votes[taken]]
    groups[asked] = shares @ _GROUPS
    columns = [
        *_own(groups, taken, asked),
        *_around(groups, gaps.trait("joins")[shard.gaps], asked),
        *_line(groups[:, 0], Lines(shard, gaps).number, asked),
        *_elsewhere(groups, shard, words, asked),
    ]
    return np.column_stack(columns).astype(np.float32)


def second_look(weights: Weights, numbers: Floats, words: Floats, near: Ints) -> Floats:
    """Give each asked token's probability of each label, (n, labels).

    Parameters
    ----------
    numbers
        From `second_inputs`.
    words
        (glossary, 3 * H) the summed weights of each word (`model.Rows`) at `WORD_OFFSETS`.
    near
        (n, 3) the numbers of the words there.
    """
    hidden = numbers @ weights.second_numbers + weights.second_bias
    units = hidden.shape[1]
    for at in range(len(WORD_OFFSETS)):
        hidden += words[:, at * units : (at + 1) * units][near[:, at]]
    return shares_of(hidden, weights.second_out, weights.second_out_bias)


def _own(groups: Floats, taken: NDArray[np.bool_], asked: Ints) -> Iterator[NDArray[np.floating]]:
    clipped = np.clip(groups[asked], _LEAST, 1 - _LEAST)
    yield from (np.log(clipped / (1 - clipped)) / 4).T
    yield taken[asked].astype(np.float32)


def _around(
    groups: Floats, joins: NDArray[np.bool_], asked: Ints
) -> Iterator[NDArray[np.floating]]:
    """Give the neighbours' groups, those of joined ones, and whether the gaps beside join."""
    through = {
        -1: joins[asked],
        -2: joins[asked] & joins[asked - 1],
        1: joins[asked + 1],
        2: joins[asked + 1] & joins[asked + 2],
    }
    for offset in _NEAR:
        yield from (groups[asked + offset, 1:] * through[offset][:, None]).T
    for offset in _AROUND:
        yield groups[asked + offset, 0]
    yield from (through[-1].astype(np.float32), through[1].astype(np.float32))


def _line(chances: Floats, lines: Ints, asked: Ints) -> Iterator[NDArray[np.floating]]:
    line = lines[asked]
    among = np.bincount(lines, weights=chances)[line] - chances[asked]
    yield np.log1p(np.maximum(among, 0))
    yield among / np.maximum(np.bincount(lines)[line] - 1, 1)


def _elsewhere(
    groups: Floats, shard: Shard, words: Glossary, asked: Ints
) -> Iterator[NDArray[np.floating]]:
    folded = words.trait("folded")[shard.words]
    _, word, times = np.unique(
        shard.text * len(words) + folded, return_inverse=True, return_counts=True
    )
    others = times[word[asked]] - 1
    for group in range(3):
        total = np.bincount(word, weights=groups[:, group])[word[asked]] - groups[asked, group]
        yield total / np.maximum(others, 1)
    yield np.log1p(others)
