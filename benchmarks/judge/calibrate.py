"""Fit what the networks' chances are worth to the reports of the author that each was spared.

``python benchmarks/judge/calibrate.py --weights DIR``; DIR is what `train.py` wrote. An author's
own network is calibrated without that author. The weights for what the other reports of a shard say
are fit to shards of several sizes at once, so that one set serves a single report and a thousand.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from gold import AUTHORS, authors
from numpy.typing import NDArray
from rows import labels
from sklearn.linear_model import LogisticRegression

from pipeline.deidentify import Deidentifier
from pipeline.deidentify.audit import GoldReport
from pipeline.deidentify.judge import Judge
from pipeline.deidentify.judge.model import load_weights

SIZES = (1, 30, 150)
"""Reports in a shard."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What calibration weighs of an author's tokens, and which of them are identifiers."""

    inputs: NDArray[np.float32]
    taken: NDArray[np.bool_]
    truth: NDArray[np.bool_]
    size: int


def seen(reports: Sequence[GoldReport], rules: Deidentifier, judge: Judge) -> list[Seen]:
    """Show an author's reports to the judge in shards of each size."""
    heard = [rules.read(report.text) for report in reports]
    shown = []
    for size in SIZES:
        for first in range(0, len(reports), size):
            shard, weighed = judge.weigh(heard[first : first + size])
            truth = labels(shard, reports[first : first + size])[weighed.asked] > 0
            shown.append(Seen(weighed.inputs, weighed.taken, truth, size))
    return shown


def fitted(all_seen: Sequence[Seen]) -> dict[str, NDArray[np.float32]]:
    """Fit the weights of calibration, for a report alone and for one in a shard."""
    alone = [each for each in all_seen if each.size == 1]
    pairs = [_weights(alone, taken=taken, columns=2) for taken in (False, True)]
    return {"calibration": np.array(pairs), "shard": _weights(all_seen, taken=False, columns=5)}


def _weights(every: Sequence[Seen], *, taken: bool, columns: int) -> NDArray[np.float32]:
    inputs = np.concatenate([each.inputs[each.taken == taken, :columns] for each in every])
    truth = np.concatenate([each.truth[each.taken == taken] for each in every])
    line = LogisticRegression(C=1e6, fit_intercept=False, max_iter=1000).fit(inputs, truth)
    weights: NDArray[np.float32] = line.coef_[0].astype(np.float32)
    return weights


def main() -> None:
    """Calibrate the network of each author by all others, and the one for use by everyone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True)
    folder = parser.parse_args().weights
    rules = Deidentifier()
    names = {author: folder / f"without_{author}.npz" for author in AUTHORS}
    shown = {
        author: seen(reports, rules, Judge(rules.lexicon, weights=load_weights(names[author])))
        for author, reports in authors().items()
    }
    for author in (*AUTHORS, None):
        path = names[author] if author else folder / "weights.npz"
        others = [each for name, some in shown.items() if name != author for each in some]
        worth = fitted(others)
        replace(load_weights(path), **worth).save(path)
        print(path.name, {name: np.round(each, 3).tolist() for name, each in worth.items()})


if __name__ == "__main__":
    main()
