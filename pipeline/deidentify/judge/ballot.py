"""The rules' claims on a text, told token by token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from pipeline.deidentify.judge.evidence import VOTES, Ballot
from pipeline.deidentify.judge.tokens import Tokens
from pipeline.deidentify.result import Removed
from pipeline.deidentify.spans import GUARD, LOCK

__all__ = ["hold"]

_NUMBER: Final = {vote: at for at, vote in enumerate(VOTES)}
_MARKS: Final = np.zeros(256, dtype=np.int64)
_MARKS[LOCK], _MARKS[GUARD] = _NUMBER["lock"], _NUMBER["guard"]


def hold(tokens: Tokens, marks: bytes | bytearray, removed: Sequence[Removed]) -> Ballot:
    """Tell what the rules made of each token.

    Parameters
    ----------
    tokens
        The text's tokens.
    marks
        Who owns each character (see `spans.Claims`).
    removed
        What the rules took, in order.
    """
    votes = _MARKS[np.frombuffer(marks, dtype=np.uint8)[tokens.starts]]
    rules = [""] * len(tokens)
    if removed:
        firsts = np.searchsorted(tokens.ends, [each.start for each in removed], side="right")
        lasts = np.searchsorted(tokens.starts, [each.end for each in removed])
        for each, first, last in zip(removed, firsts.tolist(), lasts.tolist(), strict=True):
            votes[first:last] = _NUMBER[each.category]
            rules[first:last] = [each.rule] * (last - first)
    return Ballot(votes, rules)
