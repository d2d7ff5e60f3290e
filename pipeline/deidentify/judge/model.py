"""The judge's networks: numbers for each word and gap, layers that look further each, a chance.

For token i with what is known of it (see `tokens`, `evidence`), in each of K networks that differ
by what chance showed them:

    e(w) = Σ_f E[f]                          what a word is, wherever it stands
    x_i = relu(b + Σ_r e(w_ir) M_r + votes + rule + facts)      (X units)
    h_i = a + A x_i                          (H units)
    h_i ← h_i + relu(c_d + Σ_o h_(i+o) C_do)  for d = 1, 2, 4, 8 in turn; o = -d, 0, d
    p_i = mean of h_j, the same word elsewhere in the text
    l_i = n + N relu(m + M [h_i, p_i, x_i])  over `LABELS`, the first of which is no identifier
    q_i = softmax(mean of l_i over the networks)

so that fifteen tokens on either side bear on each, and every other use of its word in the text: a
network of dilated convolutions over all tokens (Yu and Koltun 2016, Strubell et al. 2017) instead
of a window. Empty slots stay 0, so that no text sees another. The result is moved to what it was
worth on authors left out of the training: logit q' = s logit q + t (Platt 1999), one pair for
tokens no rule took and one for those that a rule took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pipeline.deidentify.judge.evidence import FACTS, GAPS, WORDS, Evidence
from pipeline.deidentify.judge.tokens import REACH
from pipeline.deidentify.spans import CATEGORIES

__all__ = [
    "INPUTS", "LABELS", "STEPS", "Case", "Rows", "Weights",
    "calibrated", "load_weights", "probabilities", "reasons",
]  # fmt: skip

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

LABELS: Final = ("NONE", *CATEGORIES)
STEPS: Final = (1, 2, 4, REACH)
"""How far each layer looks to either side."""
_PAD: Final = "pad"
_FILE: Final = "weights.npz"
_SMALL: Final = 128
"""An array of so many numbers is kept in full precision."""
_BLOCK: Final = 1024
"""So many slots are weighed at once: 1 MB."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The networks as trained.

    Attributes
    ----------
    token_features, gap_features, rules
        What the rows of the three tables stand for.
    tokens, gaps
        (K, features, E) and (K, features, G): the numbers of each feature.
    token_mix, gap_mix
        (K, 3, E, X) and (K, 2, G, X): by what the word or gap is to the token.
    votes, own
        (K, votes, X) and (K, rules, X): what the rules made of the token, and the rule that did.
    facts
        (K, values of all facts, X), fact after fact.
    bias
        (K, X).
    enter, enter_bias
        (K, X, H), (K, H).
    steps, steps_bias
        (K, layers, 3 H, H), (K, layers, H): the rows before, at, and behind a token.
    middle, middle_bias, out, out_bias
        (K, 2 H + X, I), (K, I), (K, I, labels), (K, labels).
    calibration
        (2, 2): s and t (see the module) of tokens no rule took and of those one took.
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
    facts: Floats
    bias: Floats
    enter: Floats
    enter_bias: Floats
    steps: Floats
    steps_bias: Floats
    middle: Floats
    middle_bias: Floats
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


INPUTS: Final = (*WORDS, *GAPS, "rules", *(name for name, _ in FACTS))
"""What each input is called where a decision is explained."""
_FACT_BASES: Final = np.cumsum([0, *(size for _, size in FACTS)])[:-1]
_VOTES: Final = INPUTS.index("rules")


@dataclass(frozen=True, slots=True)
class Case:
    """What is known of the tokens of a shard, with the tables that its numbers point into.

    Attributes
    ----------
    evidence
        As `evidence.gather` gives it.
    words, gaps
        The rows of the two glossaries (`Rows.of`).
    own
        (n,) the number of the rule that took each token, -1 for none.
    asked
        Which of the tokens are in question; the others are heard only.
    """

    evidence: Evidence
    words: Floats
    gaps: Floats
    own: Ints
    asked: Ints


def probabilities(weights: Weights, case: Case, *, without: int | None = None) -> Floats:
    """Give each asked token's probability of each label, (asked, labels).

    Parameters
    ----------
    without
        One of `INPUTS`, by its number, that is hidden from all tokens.
    """
    logits = np.zeros((len(case.asked), len(LABELS)), dtype=np.float32)
    strings = _Strings.of(case)
    for at in range(len(weights.bias)):
        logits += _logits(weights, case, at, _known(weights, case, at, strings, without))
    return _softmax(logits / np.float32(len(weights.bias)))


def reasons(weights: Weights, case: Case) -> Floats:
    """Give how much likelier each input makes an identifier: (asked, inputs), named by `INPUTS`.

    An input's worth is the fall of the probability where the text is read without it.
    """
    whole = probabilities(weights, case)[:, 0]
    hidden = [probabilities(weights, case, without=at)[:, 0] for at in range(len(INPUTS))]
    return np.column_stack(hidden) - whole[:, None]


def _logits(weights: Weights, case: Case, at: int, known: Floats) -> Floats:
    """Give the logits of one network."""
    evidence, units = case.evidence, weights.enter.shape[2]
    slots = evidence.slots + REACH
    seen = np.zeros((int(slots.max(initial=0)) + 1 + REACH, units), dtype=np.float32)
    seen[slots] = known @ weights.enter[at] + weights.enter_bias[at]
    full = np.zeros((len(seen), 1), dtype=np.float32)
    full[slots] = 1
    for step, mix, bias in zip(STEPS, weights.steps[at], weights.steps_bias[at], strict=True):
        seen = _looked(seen, step, mix, bias) * full
    own, asked = seen[slots], case.asked
    parts = own, _elsewhere(evidence.folded, own), known
    joined = np.concatenate([part[asked] for part in parts], axis=1)
    middle = np.maximum(joined @ weights.middle[at] + weights.middle_bias[at], 0)
    logits: Floats = middle @ weights.out[at] + weights.out_bias[at]
    return logits


def _looked(seen: Floats, step: int, mix: Floats, bias: Floats) -> Floats:
    """Add to every slot what a layer makes of it and of those a step before and behind."""
    further, units = seen.copy(), seen.shape[1]
    for first in range(REACH, len(seen) - REACH, _BLOCK):
        last = min(first + _BLOCK, len(seen) - REACH)
        heard = bias + sum(
            seen[first + offset : last + offset] @ mix[row * units : (row + 1) * units]
            for row, offset in enumerate((-step, 0, step))
        )
        further[first:last] += np.maximum(heard, 0, out=heard)
    return further


class _Strings(NamedTuple):
    """The distinct words and gaps of a shard by what they are to a token, and each token's own."""

    words: list[tuple[Ints, Ints]]
    gaps: list[tuple[Ints, Ints]]

    @classmethod
    def of(cls, case: Case) -> _Strings:
        """Find the strings of a shard."""
        numbers = case.evidence.words, case.evidence.gaps
        return cls(*([np.unique(each, return_inverse=True) for each in some.T] for some in numbers))


def _known(weights: Weights, case: Case, at: int, strings: _Strings, without: int | None) -> Floats:
    """Give what is known of each token by itself, in one network."""
    evidence = case.evidence
    given = [
        *(
            (case.words[at], one, mix)
            for one, mix in zip(strings.words, weights.token_mix[at], strict=True)
        ),
        *(
            (case.gaps[at], one, mix)
            for one, mix in zip(strings.gaps, weights.gap_mix[at], strict=True)
        ),
    ]
    total = np.tile(weights.bias[at], (len(case.own), 1))
    for number, (rows, (distinct, places), mix) in enumerate(given):
        if number != without:
            total += (rows[distinct] @ mix)[places]
    if without != _VOTES:
        total += weights.votes[at, evidence.votes]
        taken = case.own >= 0
        total[taken] += weights.own[at, case.own[taken]]
    shown = [fact for fact in range(len(FACTS)) if _VOTES + 1 + fact != without]
    flat = (evidence.facts + _FACT_BASES)[:, shown].ravel()
    total += _sums(np.arange(0, len(flat) + 1, len(shown)), flat, weights.facts[at])
    known: Floats = np.maximum(total, 0)
    return known


def _elsewhere(folded: Ints, seen: Floats) -> Floats:
    """Average over the other tokens of each token's word in its text; 0 where there is none."""
    size = len(folded)
    of_word = (np.ones(size, np.float32), (folded, np.arange(size)))
    words = sparse.csr_matrix(of_word, shape=(int(folded.max(initial=-1)) + 1, size))
    others = np.bincount(folded, minlength=1)[folded, None] - 1
    sums: Floats = words @ seen
    mean: Floats = np.divide(sums[folded] - seen, np.maximum(others, 1), dtype=np.float32)
    mean[others[:, 0] == 0] = 0
    return mean


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
