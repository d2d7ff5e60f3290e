"""What a rule reports: a span that looks like an identifier."""

from __future__ import annotations

from typing import NamedTuple

from pipeline.deidentify.result import Category

__all__ = ["Found"]


class Found(NamedTuple):
    """A candidate; ``sure`` when a label or title says what it is (see `spans`)."""

    start: int
    end: int
    category: Category
    rule: str
    sure: bool = True
