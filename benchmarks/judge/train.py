"""Train the learned judge, each author left out in turn, and write its weights and their card.

``python benchmarks/judge/train.py --out DIR [--seed N]``. For each author, features and network
from all others; the chances of all left-out tokens give the calibration (an author's own network is
calibrated without that author). The network that is written is then fit to everyone. One core,
about fifteen minutes; `score.py` then audits each author under the network that never saw them.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from fit import calibration, exported, find_space, fit
from gold import AUTHORS, authors, ours
from rows import Rows, read_rows

from pipeline.deidentify import Deidentifier, Options
from pipeline.deidentify.judge.tokens import Describer, Glossary


def all_rows(seed: int) -> tuple[dict[str, Rows], Glossary, Glossary, Describer]:
    """Make the rows of every set."""
    rules = Deidentifier(Options(caution=0))
    describer = Describer(rules.lexicon)
    words, gaps = describer.glossaries()
    sets = {
        name: read_rows(reports, rules, words, gaps, seed)
        for name, reports in (authors() | ours()).items()
    }
    return sets, words, gaps, describer


def left_out(sets: dict[str, Rows], words: Glossary, gaps: Glossary, describer: Describer,
             author: str, seed: int):  # fmt: skip
    """Fit to everyone but an author; give the weights and that author's chances."""
    others = {name: rows for name, rows in sets.items() if name != author}
    space = find_space(others, words, gaps, describer)
    network = fit(others, space, seed)
    rows = sets[author]
    chances = 1 - network.predict_proba(space.matrix(rows))[:, 0]
    whole = rows.showing == 0
    taken = np.array([rule != "" for rule in rows.own])
    return exported(network, space), chances[whole], taken[whole], (rows.labels > 0)[whole]


def main() -> None:
    """Leave each author out, calibrate, fit to all, write weights and the left-out networks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    sets, words, gaps, describer = all_rows(asked.seed)
    print({name: len(rows.labels) for name, rows in sets.items()}, flush=True)
    folds = {}
    for author in AUTHORS:
        folds[author] = left_out(sets, words, gaps, describer, author, asked.seed)
        print("left out", author, flush=True)
    for author in AUTHORS:
        others = [fold for name, fold in folds.items() if name != author]
        pairs = calibration(*(np.concatenate([fold[at] for fold in others]) for at in (1, 2, 3)))
        replace(folds[author][0], calibration=pairs).save(asked.out / f"without_{author}.npz")
    pairs = calibration(
        *(np.concatenate([fold[at] for fold in folds.values()]) for at in (1, 2, 3))
    )
    space = find_space(sets, words, gaps, describer)
    exported(fit(sets, space, asked.seed), space, pairs).save(asked.out / "weights.npz")
    print("calibration", pairs.tolist(), "bytes", (asked.out / "weights.npz").stat().st_size)


if __name__ == "__main__":
    main()
