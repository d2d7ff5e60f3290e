"""Report text in, the same text without identifiers out; words of certainty stay untouched."""

from __future__ import annotations

from pipeline.deidentify.engine import Deidentifier, Options
from pipeline.deidentify.known import KnownIdentifiers, LeakScan
from pipeline.deidentify.second_layer import Presidio, SecondLayer
from pipeline.deidentify.spans import CATEGORIES, Clean, Outcome, Quarantined, Removed
from pipeline.deidentify.surrogates import Surrogates

__all__ = [
    "CATEGORIES", "Clean", "Deidentifier", "KnownIdentifiers", "LeakScan", "Options", "Outcome",
    "Presidio", "Quarantined", "Removed", "SecondLayer", "Surrogates",
]  # fmt: skip
