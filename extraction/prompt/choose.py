"""Which worked examples to show: those that cover most, first, as many as the context holds.

The order is fixed once, and a smaller budget takes fewer from its end, so that all prompts of a
modality share a prefix that a server reads once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from extraction.prompt.examples import Example

__all__ = ["TokenCounter", "estimated_tokens", "fitting", "ordered"]

TokenCounter: TypeAlias = Callable[[str], int]
"""Tokens of a text."""

_CHARACTERS_PER_TOKEN: Final = 3


def estimated_tokens(text: str) -> int:
    """Estimate tokens from above: English prose has more than three characters a token.

    Examples
    --------
    >>> estimated_tokens("No effusion.")
    4
    """
    return -(-len(text) // _CHARACTERS_PER_TOKEN)


def ordered(examples: Sequence[Example]) -> tuple[Example, ...]:
    """Put examples so that each adds the most pathologies and certainties not yet shown.

    An empty answer comes second: without one to copy, a model finds something in every report.
    Ties keep the order of the file.
    """
    left, shown = list(examples), set[str]()
    chosen: list[Example] = []
    while left:
        gain = [len(_shows(example) - shown) for example in left]
        empty = [n for n, example in enumerate(left) if not example.answer]
        best = empty[0] if len(chosen) == 1 and empty else gain.index(max(gain))
        chosen.append(left.pop(best))
        shown |= _shows(chosen[-1])
    return tuple(chosen)


def fitting(costs: Sequence[int], *, budget: int) -> int:
    """Count how many blocks from the start stay within a budget.

    Parameters
    ----------
    costs
        Tokens of each block, in the order they are shown.
    budget
        Tokens they may take together.

    Examples
    --------
    >>> fitting([300, 200, 100], budget=550)
    2
    """
    used = 0
    for number, cost in enumerate(costs):
        used += cost
        if used > budget:
            return number
    return len(costs)


def _shows(example: Example) -> set[str]:
    return {word for _, *words in example.answer for word in words}
