"""One module per kind of identifier; each says where it may stand, none decides who wins."""

from __future__ import annotations

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Index, Word, Words

__all__ = ["Found", "Index", "Word", "Words"]
