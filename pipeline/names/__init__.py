"""How names of people and places are spelt, and the word lists that tell them from other words."""

from __future__ import annotations

from pipeline.names.lexicon import Lexicon, load, triggers, unaccented

__all__ = ["Lexicon", "load", "triggers", "unaccented"]
