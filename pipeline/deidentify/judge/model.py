"""The judge's network: sums of table rows, one hidden layer, a probability for each category.

For token i with features f (see `tokens`, `evidence`) at offsets o:

    h_i = relu(b + Σ_o Σ_f W[f, o])        (H units; all inputs are zero or one)
    p_i = softmax(c + V h_i)               over `LABELS`, the first of which is no identifier

Since the first layer only adds, each distinct token or gap is summed once into a row for every
offset, and a text costs a few gathers. The probabilities are then moved to what they were worth on
authors left out of the training: logit p' = slope · logit p + shift (Platt 1999), one pair for
tokens no rule took and one for those that a rule took.
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

from pipeline.deidentify.judge.evidence import (
    FACTS,
    GAP_OFFSETS,
    TOKEN_OFFSETS,
    VOTE_OFFSETS,
    Evidence,
)
from pipeline.deidentify.result import CATEGORIES

__all__ = [
    "INPUTS", "LABELS", "Case", "Rows", "Weights",
    "calibrated", "load_weights", "probabilities", "reasons",
]  # fmt: skip

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

LABELS: Final = ("NONE", *CATEGORIES)
_PAD: Final = "pad"
_MOST: Final = 20_000
"""How many distinct strings a table keeps before it begins anew: 30 MB."""
_FILE: Final = "weights.npz"


@dataclass(frozen=True, slots=True)
class Weights:
    """The network as trained.

    Attributes
    ----------
    token_features, gap_features, rules
        What the rows of the three tables stand for.
    tokens, gaps, votes
        (features, offsets, H).
    own, own_votes
        (rules, H) and (votes, H): the rule that took the token itself, and its category.
    facts
        (values of all facts, H), fact after fact.
    bias, out, out_bias
        (H,), (H, labels), (labels,).
    calibration
        ((slope, shift) of tokens no rule took, (slope, shift) of those one took).
    """

    token_features: tuple[str, ...]
    gap_features: tuple[str, ...]
    rules: tuple[str, ...]
    tokens: Floats
    gaps: Floats
    votes: Floats
    own: Floats
    own_votes: Floats
    facts: Floats
    bias: Floats
    out: Floats
    out_bias: Floats
    calibration: Floats

    def save(self, path: Path) -> None:
        """Write all tables, rounded to half precision, without pickle."""
        arrays = {}
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            arrays[name] = (
                np.array(value) if isinstance(value, tuple)
                else value.astype(np.float16 if value.ndim > 1 else np.float32)
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
    """The summed weights of each distinct string, by number; number 0 is no string at all."""

    def __init__(
        self,
        features: Sequence[str],
        weights: Floats,
        describe: Callable[[str], Iterable[str]],
    ) -> None:
        self._number = {feature: at for at, feature in enumerate(features)}
        self._weights = weights
        self._describe = describe
        self._empty()

    @property
    def summed(self) -> Floats:
        """(strings and spare rows, offsets, H)."""
        return self._summed

    def numbers(self, strings: Sequence[str]) -> Ints:
        """Give the number of each string, making rows for those not met before."""
        if len(self._known) > _MOST:
            self._empty()
        known = self._known
        new = [each for each in dict.fromkeys(strings) if each not in known]
        if new:
            self._add(new)
        return np.fromiter(map(known.__getitem__, strings), dtype=np.int64, count=len(strings))

    def _empty(self) -> None:
        self._known: dict[str, int] = {}
        self._summed = np.zeros((1, *self._weights.shape[1:]), dtype=np.float32)
        if _PAD in self._number:
            self._summed[0] = self._weights[self._number[_PAD]]

    def _add(self, new: Sequence[str]) -> None:
        first = len(self._known) + 1
        if first + len(new) > len(self._summed):  # twice as many, so that growing costs no more
            spare = np.zeros((first + 2 * len(new), *self._weights.shape[1:]), dtype=np.float32)
            self._summed = np.concatenate([self._summed, spare])
        for at, string in enumerate(new, start=first):
            rows = [self._number[each] for each in self._describe(string) if each in self._number]
            self._summed[at] = self._weights[rows].sum(axis=0)
            self._known[string] = at


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
    """What is known of the asked tokens of one text, with the tables that its numbers point into.

    Attributes
    ----------
    evidence
        As `evidence.gather` gives it.
    tokens, gaps
        `Rows.summed` of the two tables.
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
    hidden = weights.bias + sum(part.sum(axis=1) for part in _parts(weights, case))
    return _shares(weights, hidden)


def reasons(weights: Weights, case: Case) -> Floats:
    """Give how much likelier each input makes an identifier: (n, inputs), named by `INPUTS`.

    An input's worth is the fall of the probability where it is taken out and all others stay.
    """
    parts = np.concatenate(_parts(weights, case), axis=1)
    hidden = weights.bias + parts.sum(axis=1)
    without = _shares(weights, hidden[:, None, :] - parts)
    worth: Floats = without[..., 0] - _shares(weights, hidden)[:, None, 0]
    return worth


def _parts(weights: Weights, case: Case) -> list[Floats]:
    """Give the rows that each token's sum is made of, (n, inputs, H) for each kind of input."""
    evidence = case.evidence
    own = weights.own_votes[case.own_votes]
    taken = case.own >= 0
    own[taken] += weights.own[case.own[taken]]
    return [
        _gathered(case.tokens, evidence.tokens),
        _gathered(case.gaps, evidence.gaps),
        _gathered(weights.votes, evidence.votes),
        own[:, None, :],
        weights.facts[evidence.facts + _FACT_BASES],
    ]


def _gathered(rows: Floats, numbers: Ints) -> Floats:
    gathered: Floats = rows[numbers, np.arange(numbers.shape[1])]
    return gathered


def _shares(weights: Weights, hidden: Floats) -> Floats:
    logits = np.maximum(hidden, 0) @ weights.out + weights.out_bias
    logits -= logits.max(axis=-1, keepdims=True)
    exponents = np.exp(logits)
    shares: Floats = exponents / exponents.sum(axis=-1, keepdims=True)
    return shares


def calibrated(chances: Floats, taken: NDArray[np.bool_], pairs: Floats) -> Floats:
    """Move chances to what they were worth on authors left out.

    Parameters
    ----------
    chances
        (n,) probabilities.
    taken
        (n,) whether a rule took the token.
    pairs
        `Weights.calibration`.
    """
    clipped = np.clip(chances, 1e-6, 1 - 1e-6)
    slopes, shifts = pairs[taken.astype(np.int64)].T
    moved: Floats = 1 / (1 + np.exp(-(slopes * np.log(clipped / (1 - clipped)) + shifts)))
    return moved
