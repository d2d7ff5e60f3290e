"""Fit the second look, and what its chances are worth, to authors that the first look was spared.

``python benchmarks/judge/calibrate.py --weights DIR [--jobs N]``; DIR is what `train.py` wrote.
The networks of a fold are fit to what the networks of the other folds made of their own left-out
authors, so that no part of them has seen an author of the fold but through another's network.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from fit import (
    MISSED,
    NEEDLESS,
    SecondLesson,
    author_weight,
    feature_table,
    fit,
    layers,
    second_features,
    with_second,
)
from gold import FOLDS, REPORTS, authors, file_of
from numpy.typing import NDArray
from rows import labels
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from pipeline.deidentify import Deidentifier
from pipeline.deidentify.audit import GoldReport
from pipeline.deidentify.judge import Judge
from pipeline.deidentify.judge.model import load_weights, shares_of
from pipeline.deidentify.judge.tokens import Describer

Look: TypeAlias = tuple[NDArray[np.float32], ...]
NETWORKS = 3
PLAIN = -6 / 4
"""Below such log-odds, as the second look has them, a token is easy."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the second look weighs of an author's tokens, and what they truly are."""

    inputs: sparse.csr_matrix
    labels: NDArray[np.int64]
    taken: NDArray[np.bool_]
    plain: NDArray[np.bool_]


def seen(
    reports: Sequence[GoldReport], rules: Deidentifier, judge: Judge, features: Sequence[str]
) -> Seen:
    """Show an author's reports to the judge."""
    shard, weighed = judge.weigh([rules.read(report.text) for report in reports])
    describe = Describer(rules.lexicon).token
    described = [list(describe(word)) for word in judge.words.strings]
    table = feature_table(described, features)
    columns = [sparse.csr_matrix(weighed.numbers), *(table[near] for near in weighed.near.T)]
    return Seen(
        sparse.hstack(columns, format="csr", dtype=np.float32),
        labels(shard, reports)[weighed.asked],
        weighed.taken,
        weighed.numbers[:, 0] < PLAIN,
    )


def second(every: Iterable[Seen]) -> Look:
    """Fit the second look to several authors: some networks side by side."""
    parts = [(each, author_weight(len(each.labels)) * _worth(each)) for each in every]
    lesson = SecondLesson(
        sparse.vstack([each.inputs for each, _ in parts], format="csr"),
        np.concatenate([each.labels for each, _ in parts]),
        np.concatenate([weights for _, weights in parts]),
        np.concatenate([each.plain & (each.labels == 0) for each, _ in parts]),
    )
    return layers([fit(lesson, seed) for seed in range(NETWORKS)])


def _worth(each: Seen) -> NDArray[np.float64]:
    """Weigh rows by what a mistake there costs."""
    wrong = np.where(each.labels > 0, MISSED, NEEDLESS)
    return np.where((each.labels > 0) == each.taken, 1.0, wrong)


def slopes(shown: Sequence[tuple[Seen, NDArray[np.float64]]]) -> NDArray[np.float32]:
    """Fit slope and shift of the log-odds, for tokens no rule took and for those one took."""
    pairs = []
    for taken in (False, True):
        odds = np.concatenate([odds[each.taken == taken] for each, odds in shown])
        truth = np.concatenate([each.labels[each.taken == taken] > 0 for each, _ in shown])
        inputs = np.column_stack([odds, np.ones(len(odds))])
        line = LogisticRegression(C=1e6, fit_intercept=False, max_iter=1000).fit(inputs, truth)
        pairs.append(line.coef_[0])
    return np.array(pairs, dtype=np.float32)


def odds_of(look: Look, each: Seen) -> NDArray[np.float64]:
    """Give the log-odds of an identifier."""
    first, bias, out, out_bias = look
    none = np.clip(shares_of(each.inputs @ first + bias, out, out_bias)[:, 0], 1e-6, 1 - 1e-6)
    odds: NDArray[np.float64] = np.log((1 - none) / none)
    return odds


def main() -> None:
    """Fit the second look of each fold by all others, and the one for use by everyone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    folder = asked.weights
    rules, gold = Deidentifier(), authors()
    looks = {fold: load_weights(folder / file_of(fold)) for fold in (*FOLDS, ())}
    features = second_features(looks.values())
    shown = {}
    for fold in FOLDS:
        judge = Judge(rules.lexicon, weights=looks[fold])
        shown |= {name: seen(gold[name][:REPORTS], rules, judge, features) for name in fold}
    folds = (*FOLDS, ())
    others = [[each for author, each in shown.items() if author not in fold] for fold in folds]
    with ProcessPoolExecutor(asked.jobs) as several:
        seconds = dict(zip(folds, several.map(second, others), strict=True))
    odds = {author: odds_of(seconds[fold], shown[author]) for fold in FOLDS for author in fold}
    for fold, look in seconds.items():
        worth = slopes([(shown[a], odds[a]) for a in shown if a not in fold])
        weights = with_second(looks[fold], look, features)
        replace(weights, calibration=worth).save(folder / file_of(fold))
        print(file_of(fold), np.round(worth, 3).tolist(), flush=True)


if __name__ == "__main__":
    main()
