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
worth on authors left out of the training: logit q' = s logit q + t (Platt 1999), a pair for each
kind of token (`tokens.KINDS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.blas import sgemm
from threadpoolctl import ThreadpoolController

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
_LIBRARIES: Final = ThreadpoolController()  # the threaded ones that numpy and scipy have loaded
_BLOCK: Final = 1024  # so many slots are weighed at once, for the processor's nearest memory


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
        (kinds, 2): s and t (see the module) of each of `tokens.KINDS`.
    runs
        (1 + features of a run,): the line that weighs a run of tokens (`Judge._features`).
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
    runs: Floats


@cache
def load_weights(path: Path | None = None) -> Weights:
    """Read the shipped weights, or those of a file."""
    place = path or resources.files("pipeline.deidentify.judge").joinpath("weights.npz")
    with place.open("rb") as file, np.load(file, allow_pickle=False) as read:
        arrays = {name: read[name] for name in Weights.__dataclass_fields__}
    tables: dict[str, Any] = {
        name: tuple(each.tolist()) if each.dtype.kind == "U" else each.astype(np.float32)
        for name, each in arrays.items()
    }
    return Weights(**tables)


_Describe: TypeAlias = Callable[[Sequence[str]], Iterable[Iterable[str]]]


class Rows:
    """The summed weights of each string of a glossary, by its number, in K networks."""

    def __init__(self, features: Sequence[str], weights: Floats, describe: _Describe) -> None:
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
        number = self._number
        new = [
            [number[feature] for feature in features if feature in number]
            for features in self._describe(strings[self._filled :])
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
_TOGETHER: Final = ((0,), (1,), (2, 3, 4), (5, 6, 10), (7, 8, 9), (11, 12, 13, 14))
"""The vote, its rule and the facts (see `evidence.FACTS`) whose values are looked up together."""


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
    with _LIBRARIES.limit(limits=1):  # more threads are slower here, and round otherwise
        known, others = _known(weights, case, without), _Others.of(case)
        for at, own in enumerate(np.split(known, len(weights.bias), axis=1)):
            logits += _logits(weights, case, at, own, others)
        return _softmax(logits / np.float32(len(weights.bias)))


def reasons(weights: Weights, case: Case) -> Floats:
    """Give how much likelier each input makes an identifier: (asked, inputs), named by `INPUTS`.

    An input's worth is the fall of the probability where the text is read without it.
    """
    whole = probabilities(weights, case)[:, 0]
    hidden = [probabilities(weights, case, without=at)[:, 0] for at in range(len(INPUTS))]
    return np.column_stack(hidden) - whole[:, None]


def _logits(weights: Weights, case: Case, at: int, known: Floats, others: _Others) -> Floats:
    """Give the logits of one network."""
    slots, units, here = case.evidence.slots + REACH, weights.enter.shape[2], case.asked
    seen = np.zeros((_size(slots), units), dtype=np.float32)
    empty = np.flatnonzero(np.bincount(slots, minlength=len(seen)) == 0)
    entered = known @ weights.enter[at]
    entered += weights.enter_bias[at]
    seen[slots] = entered
    for step, mix, bias in zip(STEPS, weights.steps[at], weights.steps_bias[at], strict=True):
        seen = _looked(seen, step, mix, bias)
        seen[empty] = 0
    mix = weights.middle[at]
    middle = seen[slots[here]] @ mix[:units] + known[here] @ mix[2 * units :]
    middle[others.asked] += others.mean(seen) @ mix[units : 2 * units]
    middle = np.maximum(middle + weights.middle_bias[at], 0)
    logits: Floats = middle @ weights.out[at] + weights.out_bias[at]
    return logits


def _looked(seen: Floats, step: int, mix: Floats, bias: Floats) -> Floats:
    """Add to slots what a layer makes of them and of those a step before and behind.

    As h + relu(z) is the larger of h and h + z, the middle weights pass h on. What lies beyond, in
    the first and last empty slots, is left as it comes.
    """
    further = np.full_like(seen, bias)
    itself = np.eye(3 * len(bias), len(bias), -len(bias), dtype=np.float32)
    parts = list(zip(np.split(mix + itself, 3), (-step, 0, step), strict=True))
    for first in range(step, len(seen) - step, _BLOCK):
        last = min(first + _BLOCK, len(seen) - step)
        made = further[first:last]
        for part, far in parts:
            sgemm(1, part.T, seen[first + far : last + far].T, 1, made.T, overwrite_c=True)
        np.maximum(made, seen[first:last], out=made)
    return further


def _known(weights: Weights, case: Case, without: int | None) -> Floats:
    """Give what is known of each token by itself: (n, K X), one network beside the other."""
    tables, rows = zip(
        *_strings(weights, case, without), *_values(weights, case, without), strict=True
    )
    bases = np.cumsum([0, *map(len, tables)])
    numbers = np.column_stack(rows) + bases[:-1]
    ends = np.arange(0, numbers.size + 1, len(tables))
    known = _sums(ends, numbers.ravel(), np.concatenate(tables))
    return np.maximum(known, 0, out=known)


def _strings(weights: Weights, case: Case, without: int | None) -> Iterator[tuple[Floats, Ints]]:
    """Give a table of the distinct words or gaps of each kind, mixed, and each token's row."""
    tables = [case.words] * len(WORDS) + [case.gaps] * len(GAPS)
    columns = (*case.evidence.words.T, *case.evidence.gaps.T)
    mixes = (*np.swapaxes(weights.token_mix, 0, 1), *np.swapaxes(weights.gap_mix, 0, 1))
    for at, (rows, numbers, mix) in enumerate(zip(tables, columns, mixes, strict=True)):
        if at != without:
            held = np.zeros(rows.shape[1], dtype=bool)
            held[numbers] = True
            mixed = np.concatenate(rows[:, np.flatnonzero(held)] @ mix, axis=1)
            yield mixed, (np.cumsum(held) - 1)[numbers]


def _values(weights: Weights, case: Case, without: int | None) -> Iterator[tuple[Floats, Ints]]:
    """Give a table of all values that some inputs take together, and each token's row."""
    votes, own, facts = (
        np.concatenate(each, axis=1) for each in (weights.votes, weights.own, weights.facts)
    )
    first, evidence = weights.bias.reshape(1, -1), case.evidence
    none = np.zeros_like(first)
    columns = [(votes, evidence.votes), (np.concatenate([none, own]), case.own + 1)]
    columns += zip(np.split(facts, _FACT_BASES[1:]), evidence.facts.T, strict=True)
    for group in _TOGETHER:
        table, rows = first, np.zeros(len(case.own), dtype=np.int64)
        for at in group:
            values, numbers = columns[at]
            shown = values if max(_VOTES, at + _VOTES - 1) != without else np.zeros_like(values)
            table = (table[:, None] + shown).reshape(-1, table.shape[1])
            rows = rows * len(values) + numbers
        yield table, rows
        first = none


@dataclass(frozen=True, slots=True)
class _Others:
    """Where the words of the asked tokens stand elsewhere in their texts.

    Attributes
    ----------
    asked
        The places among the asked of those whose word stands elsewhere.
    slots, words
        In which slot each of these stands, and the number of its word.
    times
        How often its word stands elsewhere.
    sums
        (words, slots) adds up the tokens of each such word.
    """

    asked: Ints
    slots: Ints
    words: Ints
    times: Floats
    sums: sparse.csr_matrix

    @classmethod
    def of(cls, case: Case) -> _Others:
        """Find the words that stand twice."""
        folded = case.evidence.folded
        counts = np.bincount(folded, minlength=1)
        wanted = np.zeros(len(counts), dtype=bool)
        wanted[folded[case.asked]] = True
        wanted &= counts > 1
        number = np.cumsum(wanted) - 1
        twice, slots = np.flatnonzero(wanted[folded]), case.evidence.slots + REACH
        entries = np.ones(len(twice), np.float32), (number[folded[twice]], slots[twice])
        asked = np.flatnonzero(wanted[folded[case.asked]])
        words = folded[case.asked[asked]]
        return cls(
            asked, slots[case.asked[asked]], number[words],
            (counts[words, None] - 1).astype(np.float32),
            sparse.csr_matrix(entries, shape=(int(wanted.sum()), _size(slots))),
        )  # fmt: skip

    def mean(self, seen: Floats) -> Floats:
        """Average what was seen of the others."""
        mean: Floats = ((self.sums @ seen)[self.words] - seen[self.slots]) / self.times
        return mean


def _size(slots: Ints) -> int:
    """Count slots up to the last one and as many behind it as a layer looks at."""
    return int(slots.max(initial=0)) + 1 + REACH


def _softmax(logits: Floats) -> Floats:
    labels = np.ascontiguousarray(logits.T)  # to look along few labels is slow
    exponents = np.exp(labels - labels.max(axis=0))
    shares: Floats = (exponents / exponents.sum(axis=0)).T
    return shares


def calibrated(chances: Floats, kinds: Ints, weights: Weights) -> Floats:
    """Move chances to what they were worth on authors left out.

    Parameters
    ----------
    chances
        (n,) probabilities of an identifier.
    kinds
        (n,) what each token is, as a number into `tokens.KINDS`.
    """
    slope, shift = weights.calibration[kinds].T
    moved: Floats = 1 / (1 + np.exp(-(slope * log_odds(chances) + shift)))
    return moved


def log_odds(chances: Floats) -> Floats:
    """Give log p / (1 - p), within fourteen of 0."""
    clipped = np.clip(chances, 1e-6, 1 - 1e-6)
    odds: Floats = np.log(clipped / (1 - clipped))
    return odds
