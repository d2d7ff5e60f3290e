"""Which features of words and gaps the networks know: a word of one hand teaches nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from rows import Showing
from scipy import sparse

from pipeline.deidentify.judge.tokens import Describer, Glossary

AUTHORS = 3
TIMES = 8
MOST_WORDS = 2500
GAP_AUTHORS = 2


@dataclass(frozen=True, slots=True)
class Space:
    """What is known of words, gaps and rules.

    ``token_table`` and ``gap_table`` tell which features each string of the glossaries has.
    """

    tokens: tuple[str, ...]
    gaps: tuple[str, ...]
    rules: tuple[str, ...]
    token_table: sparse.csr_matrix
    gap_table: sparse.csr_matrix


def find_space(
    sets: Mapping[str, Sequence[Showing]], words: Glossary, gaps: Glossary, describer: Describer
) -> Space:
    """Choose the features that several authors use."""
    kept, tables = [], []
    for numbers, describe, column, authors in (
        (words, describer.tokens, "words", AUTHORS),
        (gaps, partial(map, describer.gap), "gaps", GAP_AUTHORS),
    ):
        described = [list(each) for each in describe(numbers.strings)]
        if column == "gaps":
            described[0] = []
        times, used_by = _uses(sets, described, column)
        features = [
            f for f in times if f[:2] == "l:" or (times[f] >= TIMES and used_by[f] >= authors)
        ]
        ours = sorted((f for f in features if f[:2] == "w:"), key=lambda f: -times[f])[:MOST_WORDS]
        features = sorted(f for f in features if f[:2] != "w:") + ours
        kept.append(tuple(features))
        tables.append(_table(described, features))
    rules = sorted({rule for shown in sets.values() for rule in shown[0].own if rule})
    return Space(*kept, tuple(rules), *tables)


def _uses(
    sets: Mapping[str, Sequence[Showing]], described: Sequence[Sequence[str]], column: str
) -> tuple[Counter[str], Counter[str]]:
    """Count how often each feature is used, and by how many authors."""
    times: Counter[str] = Counter()
    used_by: Counter[str] = Counter()
    for shown in sets.values():
        numbers = getattr(shown[0].evidence, column)[:, 0]
        counts = np.bincount(numbers, minlength=len(described))
        own: Counter[str] = Counter({"pad": TIMES} if column == "words" else {})
        for at in np.flatnonzero(counts).tolist():
            own.update(dict.fromkeys(described[at], int(counts[at])))
        times.update(own)
        used_by.update(own.keys())
    return times, used_by


def _table(described: Sequence[Sequence[str]], features: Sequence[str]) -> sparse.csr_matrix:
    """Tell which of some features each string has."""
    number = {feature: at for at, feature in enumerate(features)}
    columns = [[number[f] for f in each if f in number] for each in described]
    ends = np.cumsum([0, *map(len, columns)])
    flat = np.array([c for each in columns for c in each], dtype=np.int32)
    shape = (len(described), len(features))
    return sparse.csr_matrix((np.ones(len(flat), np.float32), flat, ends), shape=shape)
