"""The radiologist's fixed sentences with this issue's numbers in them."""

from __future__ import annotations

from reports.content import Coverage, Instrument, RadiologistContent, SuppressedCell
from reports.disclosure import state_of
from reports.numbers import count, percent, percent_interval, points
from reports.strings import Strings

__all__ = ["facts", "how_to_read", "what_it_is_not"]


def facts(content: RadiologistContent, *, words: Strings) -> tuple[tuple[str, str], ...]:
    """Up to three (value, label) pairs under the title."""
    shown: list[tuple[str, str]] = []
    if content.coverage is not None:
        cover = content.coverage
        of = words("radiologist.facts.of", paired=count(cover.paired), xrays=count(cover.xrays))
        label = words("radiologist.facts.paired", hours=f"{cover.window_hours:g}")
        shown.append((of, label))
    overall = content.overall
    if isinstance(overall, SuppressedCell):
        few = state_of(overall, words)
        shown.append((few, words("radiologist.facts.statements")))
        return tuple(shown)
    shown.append((count(overall.n), words("radiologist.facts.statements")))
    gap = overall.phrase_error
    if gap.value == gap.value:
        value = words("radiologist.facts.gap_points", value=points(gap.value))
        shown.append((value, words("radiologist.facts.gap", chance=points(gap.null_high))))
    return tuple(shown)


def how_to_read(content: RadiologistContent, *, words: Strings) -> tuple[str, ...]:
    """Explain the signs that are drawn, and no others."""
    shown = ["line", "tick"]
    if content.department is not None and not isinstance(content.department, SuppressedCell):
        shown.append("department")
    return tuple(words(f"how.{key}") for key in (*shown, "side"))


def what_it_is_not(content: RadiologistContent, *, words: Strings) -> tuple[str, ...]:
    """Paragraphs of the limits, with coverage and extraction accuracy as measured."""
    instrument = content.instrument
    engine = instrument.engine if instrument else words("state.not_computed")
    accuracy = _accuracy(instrument, words)
    return (
        _coverage(content.coverage, words),
        words("not.ct"),
        words("not.extraction", engine=engine, accuracy=accuracy),
        words("not.case_mix"),
    )


def _coverage(coverage: Coverage | None, words: Strings) -> str:
    if coverage is None:
        return words("not.coverage_unknown")
    text = words(
        "not.coverage",
        paired=count(coverage.paired),
        xrays=count(coverage.xrays),
        hours=f"{coverage.window_hours:g}",
    )
    return f"{text} {words('not.silence')}" if coverage.ct_silence_is_absent else text


def _accuracy(instrument: Instrument | None, words: Strings) -> str:
    if instrument is None or not instrument.figures:
        return words("state.not_audited")
    parts = []
    for figure in instrument.figures:
        if figure.estimate is None:
            parts.append(f"{figure.name}: {words('state.not_audited')}")
        else:
            estimate = figure.estimate
            span = percent_interval(estimate.low, estimate.high)
            value = percent(estimate.value)
            parts.append(words("not.accuracy", name=figure.name, value=value, interval=span))
    return "; ".join(parts)
