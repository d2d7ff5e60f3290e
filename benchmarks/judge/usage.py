"""Make the table of how English writes its words, from the counts of spaCy's lookups.

``pip install spacy-lookups-data`` into an environment of its own, then ``python
benchmarks/judge/usage.py FOLDER/spacy_lookups_data/data``. Read are the log-probabilities and Brown
clusters of a million word forms of English (MIT licence, (c) 2019 ExplosionAI GmbH); kept are
words of letters in two to twenty letters and of at least `RARE`, folded as our lists are written.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
from collections import defaultdict
from pathlib import Path

import numpy as np

from pipeline.deidentify.judge.tokens import USAGE
from pipeline.names.lexicon import unaccented

RARE = -17.5
"""The log-probability below which a word is not kept."""
FREQUENCIES = (-16.5, -15, -13, -11)
CAPITALS = (0.03, 0.1, 0.3, 1, 3, 10, 40)
SHOUTED = (0.1, 0.5, 2)


def read(folder: Path, name: str) -> dict[str, float]:
    """Read one table of the lookups."""
    with gzip.open(folder / f"en_lexeme_{name}.json.gz") as file:
        table: dict[str, float] = json.load(file)
    return table


def main() -> None:
    """Fold the forms of each word together, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    clusters = read(folder, "cluster")
    shares: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    best: dict[str, tuple[float, int]] = {}
    titled: dict[str, tuple[float, int]] = {}
    for form, odds in read(folder, "prob").items():
        word = unaccented(form)
        if not (form.isalpha() and word.isalpha() and 2 <= len(form) <= 20):
            continue
        share, cluster = math.exp(odds), int(clusters.get(form, 0))
        shares[word][0 if form.islower() else 2 if form.isupper() else 1] += share
        for found, fits in ((best, True), (titled, form.istitle())):
            if cluster and fits:
                found[word] = max(found.get(word, (0.0, 0)), (share, cluster))
    kept = sorted(word for word, each in shares.items() if math.log(sum(each)) > RARE)
    small, large, capitals = np.array([shares[word] for word in kept]).T
    np.savez_compressed(
        USAGE,
        words=np.frombuffer("\n".join(kept).encode(), dtype=np.uint8),
        frequency=np.digitize(np.log(small + large + capitals), FREQUENCIES).astype(np.uint8),
        capital=np.digitize(large / (small + 1e-9), CAPITALS).astype(np.uint8),
        shouted=np.digitize(capitals / (small + large + 1e-9), SHOUTED).astype(np.uint8),
        cluster=np.array([best.get(word, (0, 0))[1] % 256 for word in kept], np.uint8),
        titled=np.array([titled.get(word, (0, 0))[1] % 256 for word in kept], np.uint8),
    )
    print(len(kept), "words,", USAGE.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
