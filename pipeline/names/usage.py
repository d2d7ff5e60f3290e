"""How English at large writes a word: how often, how often with a capital, beside which words.

Each word of `FILE` (some 130,000, folded as the lists are) has five small numbers, from a million
word forms of three thousand million words of forum text (made by ``benchmarks/judge/usage.py``):

    f   how frequent it is, 0 to 4
    c   how often it has a capital to how often it has none, 0 (below .03) to 7 (above 40)
    u   how often it is all capitals to how often not, 0 (below .1) to 3 (above 2)
    b   the end of the path to its Brown cluster, 8 bits (Brown et al. 1992), 0 for none
    t   the same of the word with a capital

A surname that is a word (Price) stands in one cluster without a capital and in another with one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Final

import numpy as np

__all__ = ["FILE", "features"]

FILE: Final = Path(str(resources.files("pipeline.names").joinpath("words", "usage.npz")))
_COLUMNS: Final = ("frequency", "capital", "shouted", "cluster", "titled")
_BRANCH: Final = 32


def features(word: str) -> Iterator[str]:
    """Describe a folded word by its usage, as the judge reads it."""
    numbers = _table().get(word)
    if numbers is None:
        yield "u:none"
        return
    frequency, capital, shouted, cluster, titled = numbers
    yield from (f"u:f{frequency}", f"u:c{capital}", f"u:u{shouted}")
    for name, path in (("b", cluster), ("t", titled)):
        if path:
            yield f"u:{name}{path % _BRANCH}"
            yield f"u:{name}8-{path}"


@cache
def _table() -> Mapping[str, tuple[int, ...]]:
    with np.load(FILE, allow_pickle=False) as read:
        words = read["words"].tobytes().decode().split("\n")
        columns = [read[name].tolist() for name in _COLUMNS]
    return dict(zip(words, zip(*columns, strict=True), strict=True))
