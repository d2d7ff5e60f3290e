"""Small multiples over pages: rows of panels, and the pathologies with too few exams by name."""

from __future__ import annotations

from reports.content import PathologyResult, SuppressedCell
from reports.figures.small_multiples import COLUMNS, panel_row, panel_row_height
from reports.layout import Composer, Prose
from reports.style import CAPTION, palette

__all__ = ["add_panels"]


def add_panels(composer: Composer, results: tuple[PathologyResult, ...], *, minimum_n: int) -> None:
    """Draw what may be shown in the order given; name what may not."""
    words = composer.style.strings
    shown = tuple(
        (r.pathology, r.result) for r in results if not isinstance(r.result, SuppressedCell)
    )
    for start in range(0, len(shown), COLUMNS):
        box = composer.claim(panel_row_height(composer.body.width))
        panels = shown[start : start + COLUMNS]
        panel_row(composer.page, box, panels=panels, minimum_n=minimum_n, words=words)
        composer.skip(8.0)
    few = ", ".join(r.pathology for r in results if isinstance(r.result, SuppressedCell))
    if few:
        state = words("state.too_few", minimum=minimum_n)
        text = words("committee.pathologies_few", state=state.capitalize(), names=few)
        composer.add(Prose(text, CAPTION, palette.muted))
