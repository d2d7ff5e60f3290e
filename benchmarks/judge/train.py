"""Train the first look of the learned judge, each fold of authors left out in turn.

``python benchmarks/judge/train.py --out DIR [--seed N]``, then `calibrate.py` and `score.py` on
DIR. The network for use (``weights.npz``) is fit to everyone. ``--only 0 3`` trains without these
folds alone, 6 without none, so that several processes can share the work. PyTorch is needed (``pip
install radcal[transformers]``) for this script alone; one core, about a quarter of an hour.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fit import find_space
from gold import FOLDS, REPORTS, authors, file_of, ours
from network import exported, first_lesson, train
from rows import Rows, read_rows

from pipeline.deidentify import Deidentifier, Options
from pipeline.deidentify.judge.tokens import Describer, Glossary

NETWORKS = 3
"""So many networks, each from a seed of its own, are asked side by side."""


def all_rows(seed: int) -> tuple[dict[str, Rows], Glossary, Glossary, Describer]:
    """Make the rows of every set."""
    rules = Deidentifier(Options(caution=0))
    describer = Describer(rules.lexicon)
    words, gaps = describer.glossaries()
    every = {name: reports[:REPORTS] for name, reports in (authors() | ours()).items()}
    sets = {name: read_rows(reports, rules, words, gaps, seed) for name, reports in every.items()}
    return sets, words, gaps, describer


def main() -> None:
    """Leave each author out, then nobody, and write the networks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="+", default=range(len(FOLDS) + 1))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    sets, words, gaps, describer = all_rows(asked.seed)
    print({name: len(rows.labels) for name, rows in sets.items()}, flush=True)
    for fold in (FOLDS[at] if at < len(FOLDS) else () for at in asked.only):
        others = {name: rows for name, rows in sets.items() if name not in fold}
        space = find_space(others, words, gaps, describer)
        lesson = first_lesson(others, space)
        seeds = range(asked.seed, asked.seed + NETWORKS)
        place = asked.out / file_of(fold)
        exported([train(lesson, seed) for seed in seeds], space).save(place)
        print(place.name, place.stat().st_size, "bytes", flush=True)


if __name__ == "__main__":
    main()
