"""Numerics only: surveys to distributions, tallies, curves, intervals and substitution maps."""
