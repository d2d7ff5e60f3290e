"""Findings by rules: a scoped grammar of certainty cues over spaCy tokens."""
