"""Numerics only: surveys to distributions, tallies, curves, intervals and substitution maps.

Follow a number: ``survey`` (what the words mean) and ``tally`` (how often each was used and how
often it was right) meet in ``result.calibrate``; ``substitution.advise`` turns the same tally
into suggestions. Nothing here reads a row of data after the tally, a path, a clock or the
environment. Import from the modules; this package imports nothing by itself, so it costs nothing.
"""

__all__: list[str] = []
