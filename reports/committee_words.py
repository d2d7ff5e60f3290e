"""The committee's one sentence."""

from __future__ import annotations

from reports.content import CommitteeContent, SuppressedCell
from reports.numbers import points
from reports.strings import Strings

__all__ = ["headline"]


def headline(content: CommitteeContent, *, words: Strings) -> str:
    """Say how far the department's words lie from CT, what chance gives, and who is a signal."""
    department = content.department
    if isinstance(department, SuppressedCell):
        few_readers = department.of == "readers"
        key = "committee.headline_few_readers" if few_readers else "committee.headline_too_few"
        return words(key, minimum=department.minimum)
    gap = department.phrase_error
    if gap.null_high != gap.null_high:
        chance = words("committee.headline_no_chance")
    else:
        key = "within" if gap.value <= gap.null_high else "beyond"
        chance = words(f"committee.headline_{key}", null=points(gap.null_high))
    return words(
        "committee.headline",
        gap=points(gap.value),
        low=points(gap.low),
        high=points(gap.high),
        statements=words.several("unit.statements", round(department.n)),
        chance=chance,
        signals=_signals(content, words),
    ).strip()


def _signals(content: CommitteeContent, words: Strings) -> str:
    """How many readers are signals; silent where the funnel was not computed or not shown."""
    if content.funnel is None or len(content.readers) < content.minimum_readers:
        return ""
    found = sum(point.signal for point in content.funnel.points)
    if not found:
        return words("committee.signals.none")
    return words.several("committee.signals", found)
