"""Reports whose identifiers were exchanged for others' of the same kind, by authors of one fold.

A judge that only sees an author's own names in the author's own places may learn the pair. Here a
name, date or number of another author stands there, in the letters' case of what it replaces;
parts of a name that stand alone follow it. Who is left out together is exchanged together, so that
nothing of a left-out author is seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from pipeline.deidentify.audit import GoldReport, GoldSpan

__all__ = ["exchanged"]

SHARE = 0.7
"""So many of a report's identifiers are exchanged."""
_MANY = 4
"""Identifiers of so many words or more are of one kind."""
_INITIALS = 3


def exchanged(sets: Mapping[str, Sequence[GoldReport]], seed: int) -> dict[str, list[GoldReport]]:
    """Exchange the identifiers of some authors' reports among them."""
    rng = np.random.default_rng(seed)
    pool: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for reports in sets.values():
        for report in reports:
            for span in report.spans:
                shown = report.text[span.start : span.end]
                pool[_kind(span.label, shown)].append(shown)
    return {name: [_with_others(each, pool, rng) for each in some] for name, some in sets.items()}


def _kind(label: str, shown: str) -> tuple[object, ...]:
    words = shown.split()
    initials = label == "NAME" and len(words) == 1 and len(shown) <= _INITIALS
    return label, min(len(words), _MANY), initials, "\n" in shown


def _with_others(
    report: GoldReport, pool: Mapping[tuple[object, ...], list[str]], rng: np.random.Generator
) -> GoldReport:
    known: dict[str, str] = {}
    chosen: dict[GoldSpan, str] = {}
    spans = sorted(report.spans, key=lambda span: span.start)
    if any(after.start < span.end for span, after in pairwise(spans)):
        return report
    for span in sorted(spans, key=lambda span: (span.start - span.end, span.start)):
        shown = report.text[span.start : span.end]
        if span.label == "KEEP":
            continue
        other = known.get(shown.casefold())
        if other is None:
            some = pool[_kind(span.label, shown)]
            other = some[int(rng.integers(len(some)))] if rng.random() < SHARE else shown
            known[shown.casefold()] = other
            if span.label == "NAME":
                for end in (0, -1):
                    known.setdefault(shown.split()[end].casefold(), other.split()[end])
        chosen[span] = _as_written(other, shown)
    text, at, moved = "", 0, []
    for span in spans:
        text += report.text[at : span.start]
        start = len(text)
        text += chosen.get(span, report.text[span.start : span.end])
        moved.append(GoldSpan(start=start, end=len(text), label=span.label))
        at = span.end
    return GoldReport(id=report.id, text=text + report.text[at:], spans=tuple(moved))


def _as_written(other: str, shown: str) -> str:
    """Give an identifier the letters' case of the one that it replaces."""
    for is_so, change in ((str.isupper, str.upper), (str.islower, str.lower)):
        changed = change(other)
        if is_so(shown) and len(changed) == len(other):
            return changed
    return other
