"""Make the table of how names, places and words are spelt, from our lists and English at large.

``python benchmarks/judge/spelling.py``. A linear model over hashed runs of letters (`letters`)
tells names of people, names of places and words apart. It is fit twice, each time to a half of the
words, and a word is scored by the half it is not in (`grammar.spelling_features`): what the judge
is shown of a listed name is what it will be shown of a stranger's.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score

from pipeline.deidentify.judge.tokens import usage
from pipeline.names import lexicon as lexicons
from pipeline.names.grammar import RUNS, SPELLING, half, letters

SHOWN = 6
"""How often all words are shown."""
DECAY = 2e-6
SMALL = 1
"""The greatest share of capitals, as a column of the usage table, of a word that is no name."""
WORD, NAME, PLACE = 0, 1, 2
FEWEST = 3
MOST = 127


def classes() -> dict[str, int]:
    """Give the words that our lists call by one name only, and by which."""
    lists = lexicons.load()
    rare = _plain(lists.rare_names)
    small = {word for word, (_, capital, *_) in usage().items() if capital <= SMALL}
    words = _plain(lists.known | lists.ordinary | small)
    names = (rare | _plain(lists.names)) - words
    places = _plain({part for place in lists.cities | lists.towns for part in place.split()})
    return (
        dict.fromkeys(places - words - names, PLACE)
        | dict.fromkeys(names, NAME)
        | dict.fromkeys(words - rare, WORD)
    )


def _plain(words: frozenset[str] | set[str]) -> set[str]:
    return {each for each in words if each.isalpha() and each.isascii() and len(each) >= FEWEST}


def table(kinds: dict[str, int], size: int) -> sparse.csr_matrix:
    """Give the runs of letters of every word, each word of length one."""
    runs, ends = letters(kinds)
    times = np.diff(ends)
    weights = np.repeat(1 / np.sqrt(times), times)
    return sparse.csr_matrix((weights, runs, ends), shape=(len(kinds), size))


def main() -> None:
    """Fit both halves, tell how well each scores the other, and write the table."""
    kinds = dict(sorted(classes().items()))
    truth, halves = np.array(list(kinds.values())), np.array([half(word) for word in kinds])
    runs, columns, shifts = table(kinds, RUNS), [], []
    share = np.array([1, 1, np.mean(truth == WORD) / np.mean(truth == PLACE) / 4])
    for side in (0, 1):
        learned = halves != side
        model = SGDClassifier(
            "log_loss", alpha=DECAY, max_iter=SHOWN, tol=None, random_state=0, average=True
        ).fit(runs[learned], truth[learned], sample_weight=share[truth[learned]])
        scores = runs[~learned] @ model.coef_.T + model.intercept_
        kept, two = truth[~learned], truth[~learned] != PLACE
        name = scores[:, NAME] - scores[:, WORD]
        place = scores[:, PLACE] - scores[:, NAME]
        print(
            len(kept), "words, name or word", round(roc_auc_score(kept[two], name[two]), 3),
            "place or name", round(roc_auc_score(kept[kept > 0] == PLACE, place[kept > 0]), 3),
        )  # fmt: skip
        steps = np.array([[-1.0, 1, 0], [0, -1, 1]])
        columns.append(steps @ model.coef_)
        shifts.append(steps @ model.intercept_)
    odds = np.array(columns).transpose(0, 2, 1)
    scale = np.quantile(np.abs(odds), 0.9995) / MOST
    np.savez_compressed(
        SPELLING,
        odds=np.clip(np.round(odds / scale), -MOST, MOST).astype(np.int8),
        shifts=np.array(shifts, dtype=np.float32),
        scale=np.float32(scale),
    )
    print(SPELLING.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
