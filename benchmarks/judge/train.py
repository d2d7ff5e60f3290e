"""Train the learned judge, each fold of authors left out in turn.

``python benchmarks/judge/train.py --out DIR [--seed N]``, then `calibrate.py`, `line.py` and
`score.py` on DIR; its ``weights.npz``, fit to everyone, are those for use. ``--only
0 3`` trains without these folds alone, 4 without none, so that several processes can share the
work; ``--networks`` says how many are fit side by side. PyTorch is needed (``pip install
radcal[transformers]``) for this script alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from exchange import exchanged
from fit import find_space
from gold import FOLDS, NEWER, OLDER, REPORTS, authors, file_of, ours, save
from network import exported, train
from rows import Showing, read_showings

from pipeline.deidentify import Deidentifier, Options
from pipeline.deidentify.audit import GoldReport
from pipeline.deidentify.judge.tokens import Describer, Glossary

NETWORKS, DRAWS = 2, 3
"""So many networks, each from a seed of its own, are asked side by side; and so often each report's
identifiers are exchanged anew."""


def all_showings(seed: int) -> tuple[dict[str, list[Showing]], Glossary, Glossary, Describer]:
    """Lay out every set."""
    rules = Deidentifier(Options(caution=0))
    describer = Describer(rules.lexicon)
    words, gaps = describer.glossaries()
    shown = authors(OLDER) | ours() | authors(NEWER)
    every = {name: reports[:REPORTS] for name, reports in shown.items()}
    others: dict[str, list[Sequence[GoldReport]]] = {name: [] for name in every}
    for draw, group in product(range(DRAWS), (OLDER, *FOLDS)):
        for name, reports in exchanged({name: every[name] for name in group}, seed + draw).items():
            others[name].append(reports)
    sets = {
        name: read_showings(reports, others[name] or [reports] * DRAWS, rules, words, gaps, seed)
        for name, reports in every.items()
    }
    return sets, words, gaps, describer


def main() -> None:
    """Leave each fold out, then nobody, and write the networks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--networks", type=int, default=NETWORKS)
    parser.add_argument("--only", type=int, nargs="+", default=range(len(FOLDS) + 1))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    sets, words, gaps, describer = all_showings(asked.seed)
    print({name: len(shown[0].labels) for name, shown in sets.items()}, flush=True)
    for fold in (FOLDS[at] if at < len(FOLDS) else () for at in asked.only):
        others = {name: shown for name, shown in sets.items() if name not in fold}
        space = find_space(others, words, gaps, describer)
        seeds = range(asked.seed, asked.seed + asked.networks)
        place = asked.out / file_of(fold)
        save(exported([train(others, space, seed) for seed in seeds], space), place)
        print(place.name, place.stat().st_size, "bytes", flush=True)


if __name__ == "__main__":
    main()
