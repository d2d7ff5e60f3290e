"""The judge's networks: numbers for each word and gap, two hidden layers, a chance by label.

For token i with features f (see `tokens`, `evidence`) of the words and gaps at offsets o, in each
of K networks that differ by what chance showed them:

    e(w) = Σ_f E[f]                        what a word is, the same wherever it stands
    g_i = relu(b + Σ_o e(w_io) M_o + votes + rule + facts)      (H units)
    h_i = relu(d + N g_i)
    l_i = c + V h_i                        over `LABELS`, the first of which is no identifier
    p_i = softmax(mean of l_i over the networks)

A word is described by few numbers and its offset by a matrix, so that what is learned of a word
before a name serves it two words away as well (Bengio et al. 2003). Each distinct word or gap is
summed once. What these probabilities are, of a token
and of those around it, is weighed again (`second`); the result is then moved to what it was worth
on authors left out of the training: logit p' = a logit p + b (Platt 1999), one pair for tokens no
rule took and one for those that a rule took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pipeline.deidentify.judge.evidence import (
    FACTS,
    GAP_OFFSETS,
    TOKEN_OFFSETS,
    VOTE_OFFSETS,
    Evidence,
)
from pipeline.deidentify.spans import CATEGORIES

__all__ = [
    "INPUTS", "LABELS", "Case", "Rows", "Weights",
    "calibrated", "load_weights", "probabilities", "reasons", "shares_of",
]  # fmt: skip

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

LABELS: Final = ("NONE", *CATEGORIES)
_PAD: Final = "pad"
_FILE: Final = "weights.npz"
_SMALL: Final = 128
"""An array of so many numbers is kept in full precision."""
_BLOCK: Final = 512
"""So many tokens are weighed at once: 1 MB."""
_EXPLAINED: Final = 256
"""So many are explained at once: 4 MB."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The network as trained.

    Attributes
    ----------
    token_features, gap_features, rules
        What the rows of the three tables stand for.
    tokens, gaps
        (K, features, E) and (K, features, G): the numbers of each feature.
    token_mix, gap_mix
        (K, offsets, E, H) and (K, offsets, G, H).
    votes
        (votes, offsets, K * H), network after network.
    own, own_votes
        (rules, K * H) and (votes, K * H): the rule that took the token itself, and its category.
    facts
        (values of all facts, K * H), fact after fact.
    bias
        (K * H,).
    middle, middle_bias, out, out_bias
        (K, H, I), (K, I), (K, I, labels), (K, labels).
    second_features, second_words, second_numbers, second_bias, second_out, second_out_bias
        The second look's: (features, 3, H), (numbers, H), (H,), (H, labels), (labels,).
    calibration
        (2, 2): a and b (see the module) of tokens no rule took and of those one took.
    """

    token_features: tuple[str, ...]
    gap_features: tuple[str, ...]
    rules: tuple[str, ...]
    tokens: Floats
    gaps: Floats
    token_mix: Floats
    gap_mix: Floats
    votes: Floats
    own: Floats
    own_votes: Floats
    facts: Floats
    bias: Floats
    middle: Floats
    middle_bias: Floats
    out: Floats
    out_bias: Floats
    second_features: tuple[str, ...]
    second_words: Floats
    second_numbers: Floats
    second_bias: Floats
    second_out: Floats
    second_out_bias: Floats
    calibration: Floats

    def save(self, path: Path) -> None:
        """Write all tables, rounded to half precision, without pickle."""
        arrays = {}
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            arrays[name] = (
                np.array(value) if isinstance(value, tuple)
                else value.astype(np.float16 if value.size > _SMALL else np.float32)
            )  # fmt: skip
        with path.open("wb") as file:
            np.savez_compressed(file, allow_pickle=False, **arrays)


@cache
def load_weights(path: Path | None = None) -> Weights:
    """Read the shipped weights, or those of a file."""
    place = resources.files("pipeline.deidentify.judge").joinpath(_FILE) if path is None else path
    with place.open("rb") as file, np.load(file, allow_pickle=False) as read:
        arrays = {name: read[name] for name in Weights.__dataclass_fields__}
    tables: dict[str, Any] = {
        name: tuple(each.tolist()) if each.dtype.kind == "U" else each.astype(np.float32)
        for name, each in arrays.items()
    }
    return Weights(**tables)


class Rows:
    """The summed weights of each string of a glossary, by its number, in K networks."""

    def __init__(
        self, features: Sequence[str], weights: Floats, describe: Callable[[str], Iterable[str]]
    ) -> None:
        self._number = {feature: at for at, feature in enumerate(features)}
        self._weights = weights
        self._describe = describe
        self._summed = np.zeros((len(weights), 1, weights.shape[2]), dtype=np.float32)
        self._filled = 1
        if _PAD in self._number:
            self._summed[:, 0] = weights[:, self._number[_PAD]]

    def of(self, strings: Sequence[str]) -> Floats:
        """Give the sums of a glossary's strings and some spare rows, (K, rows, numbers)."""
        if len(strings) > self._filled:
            self._fill(strings)
        return self._summed

    def _fill(self, strings: Sequence[str]) -> None:
        networks, rows, width = self._summed.shape
        if len(strings) > rows:  # twice as many, so that growing costs no more
            spare = np.zeros((networks, 2 * len(strings) - rows, width), dtype=np.float32)
            self._summed = np.concatenate([self._summed, spare], axis=1)
        number, describe = self._number, self._describe
        new = [
            [number[feature] for feature in describe(string) if feature in number]
            for string in strings[self._filled :]
        ]
        ends = np.cumsum([0, *map(len, new)])
        flat = np.array([each for some in new for each in some], dtype=np.int64)
        for summed, weights in zip(self._summed, self._weights, strict=True):
            summed[self._filled : len(strings)] = _sums(ends, flat, weights)
        self._filled = len(strings)


def _sums(ends: Ints, numbers: Ints, table: Floats) -> Floats:
    """Add up rows of a table: the sum of those before each end and behind the one before."""
    shape = (len(ends) - 1, len(table))
    ones = np.ones(len(numbers), dtype=np.float32)
    added: Floats = sparse.csr_matrix((ones, numbers, ends), shape=shape) @ table
    return added


INPUTS: Final = (
    *(f"token {offset}" for offset in TOKEN_OFFSETS),
    *(f"gap {offset}" for offset in GAP_OFFSETS),
    *(f"rules at {offset}" for offset in VOTE_OFFSETS),
    "rules at 0",
    *(name for name, _ in FACTS),
)
"""What each input is called where a decision is explained."""
_FACT_BASES: Final = np.cumsum([0, *(size for _, size in FACTS)])[:-1]


@dataclass(frozen=True, slots=True)
class Case:
    """What is known of the asked tokens of a shard, with the tables that its numbers point into.

    Attributes
    ----------
    evidence
        As `evidence.gather` gives it.
    tokens, gaps
        The rows of the two glossaries (`Rows.of`).
    own, own_votes
        The number of the rule that took each token, -1 for none, and what the rules made of it.
    """

    evidence: Evidence
    tokens: Floats
    gaps: Floats
    own: Ints
    own_votes: Ints


def probabilities(weights: Weights, case: Case) -> Floats:
    """Give each asked token's probability of each label, (n, labels)."""
    evidence = case.evidence
    hidden = _own(weights, case) + weights.bias
    for table, numbers in (
        (weights.votes, evidence.votes),
        (weights.facts[:, None], evidence.facts + _FACT_BASES),
    ):
        offsets, width = numbers.shape[1], table.shape[1]
        flat = (numbers * width + np.arange(offsets) % width).ravel()
        ends = np.arange(0, len(flat) + 1, offsets)
        hidden += _sums(ends, flat, table.reshape(len(table) * width, -1))
    for first in range(0, len(hidden), _BLOCK):
        some = slice(first, first + _BLOCK)
        for rows, numbers, mix in _spoken(weights, case):
            for at, one in enumerate(mix):
                units = one.shape[-1]
                around = rows[at][numbers[some]].reshape(len(numbers[some]), -1)
                hidden[some, at * units : (at + 1) * units] += around @ one.reshape(-1, units)
    return _shares(weights, hidden)


def reasons(weights: Weights, case: Case) -> Floats:
    """Give how much likelier each input makes an identifier: (n, inputs), named by `INPUTS`.

    An input's worth is the fall of the probability where it is taken out and all others stay.
    """
    worth = np.zeros((len(case.own), len(INPUTS)), dtype=np.float32)
    own, votes = _own(weights, case), np.arange(len(VOTE_OFFSETS))
    for first in range(0, len(worth), _EXPLAINED):
        some = slice(first, first + _EXPLAINED)
        spoken = [
            np.einsum("knoe,koeh->nokh", rows[:, numbers[some]], mix).reshape(
                *numbers[some].shape, -1
            )
            for rows, numbers, mix in _spoken(weights, case)
        ]
        given = (
            weights.votes[case.evidence.votes[some], votes],
            own[some, None, :],
            weights.facts[case.evidence.facts[some] + _FACT_BASES],
        )
        parts = np.concatenate([*spoken, *given], axis=1)
        hidden = weights.bias + parts.sum(axis=1)
        without = _shares(weights, hidden[:, None, :] - parts)[..., 0]
        worth[some] = without - _shares(weights, hidden)[:, None, 0]
    return worth


def _spoken(weights: Weights, case: Case) -> tuple[tuple[Floats, Ints, Floats], ...]:
    """Give the rows of words and of gaps, the numbers of those around, and what mixes them."""
    return (
        (case.tokens, case.evidence.tokens, weights.token_mix),
        (case.gaps, case.evidence.gaps, weights.gap_mix),
    )


def _own(weights: Weights, case: Case) -> Floats:
    """Give what the rule that took each token itself speaks for."""
    own = weights.own_votes[case.own_votes]
    taken = case.own >= 0
    own[taken] += weights.own[case.own[taken]]
    return own


def _shares(weights: Weights, hidden: Floats) -> Floats:
    networks, units, _ = weights.middle.shape
    shown = np.maximum(hidden, 0).reshape(*hidden.shape[:-1], networks, units)
    total = weights.out_bias.sum(axis=0)
    for at in range(networks):
        middle = shown[..., at, :] @ weights.middle[at] + weights.middle_bias[at]
        total = total + np.maximum(middle, 0) @ weights.out[at]
    return _softmax(total / networks)


def shares_of(hidden: Floats, out: Floats, bias: Floats) -> Floats:
    """Give the probabilities of the labels for hidden units before their threshold."""
    return _softmax(np.maximum(hidden, 0) @ out + bias)


def _softmax(logits: Floats) -> Floats:
    logits -= logits.max(axis=-1, keepdims=True)
    exponents = np.exp(logits)
    shares: Floats = exponents / exponents.sum(axis=-1, keepdims=True)
    return shares


def calibrated(chances: Floats, taken: NDArray[np.bool_], weights: Weights) -> Floats:
    """Move chances to what they were worth on authors left out.

    Parameters
    ----------
    chances
        (n,) probabilities of an identifier.
    taken
        (n,) whether a rule took the token.
    """
    clipped = np.clip(chances, 1e-6, 1 - 1e-6)
    slope, shift = weights.calibration[taken.astype(np.int64)].T
    moved: Floats = 1 / (1 + np.exp(-(slope * np.log(clipped / (1 - clipped)) + shift)))
    return moved
