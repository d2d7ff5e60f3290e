"""Rows → weights: which features are kept, and the network's fit.

A feature is kept where several authors use it; a word of a single hand teaches nothing about the
next. Each epoch hides a share of all inputs, so that no decision hangs on one of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rows import Rows
from scipy import sparse
from sklearn.neural_network import MLPClassifier

from pipeline.deidentify.judge.evidence import FACTS, VOTES
from pipeline.deidentify.judge.model import LABELS, Weights
from pipeline.deidentify.judge.tokens import Describer, Glossary

HIDDEN = 32
EPOCHS = 6
RATE = 2e-3
DECAY = 3e-4
HIDE = 0.4
"""What share of the inputs each epoch hides."""
EASY = 0.3
"""What share of the words that nobody takes each epoch shows."""
AUTHORS = 3
TIMES = 8
MOST_WORDS = 900
GAP_AUTHORS = 2
EQUAL = 30_000
"""So many rows of an author weigh one each; more weigh less, fewer more."""
MISSED, NEEDLESS = 4.0, 3.0
"""What a row weighs that the rules missed, and that they took needlessly."""


@dataclass(frozen=True, slots=True)
class Space:
    """The columns of the design matrix."""

    tokens: tuple[str, ...]
    gaps: tuple[str, ...]
    rules: tuple[str, ...]
    token_table: sparse.csr_matrix
    gap_table: sparse.csr_matrix

    def matrix(self, rows: Rows) -> sparse.csr_matrix:
        """Give the inputs of each row: tokens, gaps, votes, own, own votes, facts."""
        evidence = rows.evidence
        number = {rule: at for at, rule in enumerate(self.rules)}
        own = np.array([number.get(rule, -1) for rule in rows.own])
        parts = [self.token_table[column] for column in evidence.tokens.T]
        parts += [self.gap_table[column] for column in evidence.gaps.T]
        parts += [_indicator(column, len(VOTES)) for column in evidence.votes.T]
        parts += [_indicator(own, len(self.rules)), _indicator(rows.own_votes, len(VOTES))]
        parts += [
            _indicator(column, size)
            for column, (_, size) in zip(evidence.facts.T, FACTS, strict=True)
        ]
        return sparse.hstack(parts, format="csr", dtype=np.float32)


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
        tables.append(_table(described, features))
    rules = sorted({rule for rows in sets.values() for rule in rows.own if rule})
    return Space(*kept, tuple(rules), *tables)


def fit(sets: Mapping[str, Rows], space: Space, seed: int) -> MLPClassifier:
    """Fit the network to the rows of several sets."""
    rng = np.random.default_rng(seed)
    inputs = sparse.vstack([space.matrix(rows) for rows in sets.values()], format="csr")
    labels = np.concatenate([rows.labels for rows in sets.values()])
    weights = np.concatenate([_weights(rows) for rows in sets.values()])
    easy = (labels == 0) & (weights == 1)
    weights *= np.concatenate([_author_weight(rows) for rows in sets.values()])
    network = MLPClassifier(
        (HIDDEN,), alpha=DECAY, batch_size=512, learning_rate_init=RATE, random_state=seed
    )
    for epoch in range(EPOCHS):
        chosen = np.flatnonzero(~easy | (rng.random(len(labels)) < EASY))
        rng.shuffle(chosen)
        shown = inputs[chosen]
        shown.data *= (rng.random(len(shown.data)) >= HIDE) / (1 - HIDE)
        if epoch >= EPOCHS - 2 and epoch:
            network._optimizer.learning_rate_init = RATE * (0.1 if epoch == EPOCHS - 1 else 0.3)
        network.partial_fit(
            shown, labels[chosen], classes=np.arange(len(LABELS)), sample_weight=weights[chosen]
        )
    return network


def exported(network: MLPClassifier, space: Space) -> Weights:
    """Give the fitted network as tables, its chances as they are (`calibrate.py` moves them)."""
    first, out = (each.astype(np.float32) for each in network.coefs_)
    bias, out_bias = (each.astype(np.float32) for each in network.intercepts_)
    offsets = 11, 8, 8
    sizes = [len(space.tokens), len(space.gaps), len(VOTES)]
    ends = np.cumsum(
        [o * s for o, s in zip(offsets, sizes, strict=True)] + [len(space.rules), len(VOTES)]
    )
    tokens, gaps, votes, own, own_votes, facts = np.split(first, ends)
    turned = [
        table.reshape(o, s, HIDDEN).transpose(1, 0, 2)
        for table, o, s in zip((tokens, gaps, votes), offsets, sizes, strict=True)
    ]
    plain = np.eye(1, 5, dtype=np.float32)
    return Weights(
        space.tokens, space.gaps, space.rules, *turned, own, own_votes, facts,
        bias, out, out_bias, np.repeat(plain[:, :2], 2, axis=0), plain[0],
    )  # fmt: skip


def _author_weight(rows: Rows) -> NDArray[np.float64]:
    """Give every row what brings its author halfway to the weight of all others."""
    size = len(rows.labels)
    return np.full(size, (EQUAL / size) ** 0.6)


def _weights(rows: Rows) -> NDArray[np.float64]:
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


def _table(described: Sequence[Sequence[str]], features: Sequence[str]) -> sparse.csr_matrix:
    number = {feature: at for at, feature in enumerate(features)}
    columns = [[number[f] for f in each if f in number] for each in described]
    ends = np.cumsum([0, *map(len, columns)])
    flat = np.array([c for each in columns for c in each], dtype=np.int32)
    shape = (len(described), len(features))
    return sparse.csr_matrix((np.ones(len(flat), np.float32), flat, ends), shape=shape)


def _indicator(values: NDArray[np.int64], size: int) -> sparse.csr_matrix:
    there = values >= 0
    ends = np.concatenate([[0], np.cumsum(there)])
    ones = np.ones(int(there.sum()), np.float32)
    return sparse.csr_matrix((ones, values[there], ends), shape=(len(values), size))
