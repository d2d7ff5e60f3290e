"""Rows → weights: which features are kept, what rows weigh, and the fit of the second look.

A feature is kept where several authors use it; a word of a single hand teaches nothing about the
next. Each epoch hides a share of all inputs, so that no decision hangs on one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from rows import Rows
from scipy import sparse
from sklearn.neural_network import MLPClassifier

from pipeline.deidentify.judge.model import LABELS, Weights
from pipeline.deidentify.judge.second import INPUTS, WORD_OFFSETS
from pipeline.deidentify.judge.tokens import Describer, Glossary

BATCH = 1024
RATE = 3e-3
DECAY = 3e-4
AUTHORS = 3
TIMES = 8
MOST_WORDS = 900
SHORT = ("l:", "s:", "u:", "m:", "n:", "pad")
"""How the features of words begin that the second look weighs: none of them is a word."""
GAP_AUTHORS = 2
EQUAL = 30_000
"""So many rows of an author weigh one each; more weigh less, fewer more."""
MISSED, NEEDLESS = 4.0, 3.0
"""What a row weighs that the rules missed, and that they took needlessly."""


@dataclass(frozen=True, slots=True)
class Space:
    """What is known of words, gaps and rules."""

    tokens: tuple[str, ...]
    gaps: tuple[str, ...]
    rules: tuple[str, ...]
    token_table: sparse.csr_matrix
    gap_table: sparse.csr_matrix


def find_space(
    sets: Mapping[str, Rows], words: Glossary, gaps: Glossary, describer: Describer
) -> Space:
    """Choose the features that several authors use."""
    kept, tables = [], []
    for numbers, describe, column, least, authors in (
        (words, describer.token, "tokens", TIMES, AUTHORS),
        (gaps, describer.gap, "gaps", TIMES, GAP_AUTHORS),
    ):
        described = [list(describe(each)) for each in numbers.strings]
        if column == "gaps":
            described[0] = []
        times, used_by = _uses(sets, described, column)
        features = [
            f for f in times if f[:2] == "l:" or (times[f] >= least and used_by[f] >= authors)
        ]
        ours = sorted((f for f in features if f[:2] == "w:"), key=lambda f: -times[f])[:MOST_WORDS]
        features = sorted(f for f in features if f[:2] != "w:") + ours
        kept.append(tuple(features))
        tables.append(feature_table(described, features))
    rules = sorted({rule for rows in sets.values() for rule in rows.own if rule})
    return Space(*kept, tuple(rules), *tables)


@dataclass(frozen=True, slots=True)
class SecondLesson:
    """What the second look is fit to.

    Attributes
    ----------
    inputs
        (n, columns), sparse.
    labels, weights
        (n,) what each row truly is, and how much it counts.
    easy
        (n,) which rows each epoch shows a share of only.
    """

    inputs: sparse.csr_matrix
    labels: NDArray[np.int64]
    weights: NDArray[np.float64]
    easy: NDArray[np.bool_]


UNITS, EPOCHS, HIDE, EASY = 24, 12, 0.3, 0.1
"""The second look's units and epochs, and in each the shares of inputs hidden, easy rows shown."""


def fit(lesson: SecondLesson, seed: int) -> MLPClassifier:
    """Fit a network of one hidden layer."""
    rng = np.random.default_rng(seed)
    network = MLPClassifier(
        (UNITS,), alpha=DECAY, batch_size=BATCH, learning_rate_init=RATE, random_state=seed
    )
    for epoch in range(EPOCHS):
        chosen = np.flatnonzero(~lesson.easy | (rng.random(len(lesson.easy)) < EASY))
        rng.shuffle(chosen)
        shown = lesson.inputs[chosen]
        shown.data *= (rng.random(len(shown.data)) >= HIDE) / (1 - HIDE)
        if epoch >= EPOCHS - 2 and epoch:
            last = epoch == EPOCHS - 1
            network._optimizer.learning_rate_init = RATE * (0.1 if last else 0.3)
        network.partial_fit(
            shown, lesson.labels[chosen], classes=np.arange(len(LABELS)),
            sample_weight=lesson.weights[chosen],
        )  # fmt: skip
    return network


def layers(networks: Sequence[MLPClassifier]) -> tuple[NDArray[np.float32], ...]:
    """Give inputs, bias, outputs and their bias of networks side by side, their logits averaged."""
    firsts, outs = zip(*(each.coefs_ for each in networks), strict=True)
    biases, out_biases = zip(*(each.intercepts_ for each in networks), strict=True)
    parts = (
        np.concatenate(firsts, axis=1), np.concatenate(biases),
        np.concatenate(outs) / len(networks), np.mean(out_biases, axis=0),
    )  # fmt: skip
    return tuple(part.astype(np.float32) for part in parts)


def second_features(every: Iterable[Weights]) -> tuple[str, ...]:
    """Give the features of words that the second look weighs: what all first looks know."""
    known = set.intersection(*(set(each.token_features) for each in every))
    return tuple(sorted(feature for feature in known if feature.startswith(SHORT)))


def with_second(
    weights: Weights, look: tuple[NDArray[np.float32], ...], features: tuple[str, ...]
) -> Weights:
    """Give weights with the layers of the second look, its chances as they are."""
    first, bias, out, out_bias = look
    words = first[INPUTS:].reshape(len(WORD_OFFSETS), len(features), -1).transpose(1, 0, 2)
    return replace(
        weights, second_features=features, second_words=words, second_numbers=first[:INPUTS],
        second_bias=bias, second_out=out, second_out_bias=out_bias,
    )  # fmt: skip


def author_weight(size: int) -> NDArray[np.float64]:
    """Give every row what brings its author halfway to the weight of all others."""
    return np.full(size, (EQUAL / size) ** 0.6)


def row_weights(rows: Rows) -> NDArray[np.float64]:
    """Weigh rows by what a mistake there costs, and by whether the rules' finds are all there."""
    taken = np.array([rule != "" for rule in rows.own])
    whole = rows.showing == 0
    weights = np.where(whole, 1.0, 0.7)
    weights[whole & ~taken & (rows.labels > 0)] = MISSED
    weights[whole & taken & (rows.labels == 0)] = NEEDLESS
    return weights


def _uses(
    sets: Mapping[str, Rows], described: Sequence[Sequence[str]], column: str
) -> tuple[Counter[str], Counter[str]]:
    """Count how often each feature is used, and by how many authors."""
    times: Counter[str] = Counter()
    used_by: Counter[str] = Counter()
    for rows in sets.values():
        counts = np.bincount(getattr(rows.evidence, column).ravel(), minlength=len(described))
        own: Counter[str] = Counter()
        for at in np.flatnonzero(counts).tolist():
            own.update(dict.fromkeys(described[at], int(counts[at])))
        times.update(own)
        used_by.update(own.keys())
    return times, used_by


def feature_table(described: Sequence[Sequence[str]], features: Sequence[str]) -> sparse.csr_matrix:
    """Tell which of some features each string has."""
    number = {feature: at for at, feature in enumerate(features)}
    columns = [[number[f] for f in each if f in number] for each in described]
    ends = np.cumsum([0, *map(len, columns)])
    flat = np.array([c for each in columns for c in each], dtype=np.int32)
    shape = (len(described), len(features))
    return sparse.csr_matrix((np.ones(len(flat), np.float32), flat, ends), shape=shape)
