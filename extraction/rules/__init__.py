"""Findings by rules: a scoped grammar of certainty cues over spaCy tokens."""

from __future__ import annotations

from extraction.rules.engine import RuleEngine

__all__ = ["RuleEngine"]
