"""The panels of Baan et al. (2022, appendix B) on one page: a prediction against several readers.

Rows: each class's probability, the k-th guess and the entropy; errors of single items; reliability
against the majority. Up to four panels stand in a row; more continue below, on further pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np

from calibration.neighbours.control import Marginals, Pair
from calibration.neighbours.disagreement import Disagreement
from calibration.neighbours.score import BinnedScore
from reports.drawing.axes import Ticks, nice_ticks
from reports.drawing.layout import Composer, Figure, Prose, Section, compose
from reports.drawing.marks import Box, Drawing
from reports.drawing.pdf import DocumentInfo, to_pdf
from reports.drawing.style import CAPTION, Style
from reports.figures.counts import Binned, Histogram, histogram_panel, reliability_bars
from reports.numbers import count, decimal
from reports.strings import Strings

_MOST_COLUMNS: Final = 4
_BETWEEN: Final = 12.0
_TALL: Final = 96.0
_BINS: Final = 20

Panel: TypeAlias = Callable[[Drawing, Box], None]


def disagreement_pdf(found: Disagreement, views: Marginals, *, classes: Sequence[str]) -> bytes:
    """Make the pages a PDF; the same results give the same bytes."""
    say = Style().strings.under("disagreement")
    pages = disagreement_pages(found, views, classes=classes)
    return to_pdf(pages, info=DocumentInfo(say("page.title"), "radcal", found.summary()))


def disagreement_pages(
    found: Disagreement, views: Marginals, *, classes: Sequence[str], style: Style | None = None
) -> list[Drawing]:
    """Draw every panel, flowing over as many pages as the classes need.

    Parameters
    ----------
    found
        The measures.
    views
        Histograms of prediction and votes.
    classes
        Names of the classes, C of them.
    style
        Paper.
    """
    style = style or Style()
    say = style.strings.under("disagreement")
    votes = {"fewest": count(found.fewest_votes), "most": count(found.most_votes)}
    composer = Composer(style, None)
    composer.new_page()
    composer.title(say("page.title"), say("page.items", n=count(found.n), **votes))
    compose(composer, _sections(found, views, classes, say))
    return composer.finish()


def _sections(
    found: Disagreement, views: Marginals, classes: Sequence[str], say: Strings
) -> tuple[Section, ...]:
    by_class = tuple(
        _pair_panel(views.edges, pair, name, f"class.{name}")
        for name, pair in zip(classes, views.classes, strict=True)
    )
    guesses = tuple(
        _pair_panel(views.edges, pair, say("page.guess", k=k), f"guess.{k}")
        for k, pair in enumerate(views.guesses, start=1)
    )
    entropy = _pair_panel(views.edges, views.entropy, say("panel.entropy"), "entropy")
    return (
        _section(say("heading.classes"), by_class, note=say("note.what")),
        _section(say("heading.guesses"), (*guesses, entropy)),
        _section(say("heading.errors"), _errors(found, say), note=say("note.errors")),
        _section(
            say("heading.reliability"), _reliability(found, classes, say), tall=138.0,
            note=say("note.reliability"),
        ),
    )  # fmt: skip


def _section(
    title: str, panels: Sequence[Panel], *, tall: float = _TALL, note: str = ""
) -> Section:
    """Set panels in rows below a heading, the note under the last of them."""
    across = min(_MOST_COLUMNS, max(2, len(panels)))

    def painted(start: int) -> Panel:
        def paint(drawing: Drawing, box: Box) -> None:
            columns = box.columns(across, gutter=_BETWEEN)
            for panel, column in zip(panels[start:], columns, strict=False):
                panel(drawing, column)

        return paint

    rows = [Figure(painted(start), tall) for start in range(0, len(panels), across)]
    below = [Prose(note, CAPTION.muted)] if note else []
    return Section(title, (*rows, *below), room=tall)


def _errors(found: Disagreement, say: Strings) -> tuple[Panel, ...]:
    edges = np.linspace(0.0, 1.0, _BINS + 1)
    control = None if found.control is None else found.control.distance.per_item
    far = float(np.log(found.classes))
    across = np.linspace(-far, far, _BINS + 1)
    title = f"{say('panel.distance')}, {say('panel.mean', value=decimal(float(found.distance)))}"

    def distance(drawing: Drawing, box: Box) -> None:
        line = None if control is None else _shares(control, edges)
        shown = Histogram(edges, _shares(found.distance.per_item, edges), line)
        ticks = Ticks((0.0, 0.5, 1.0), lambda v: decimal(v, 1))
        histogram_panel(drawing, box, shown, title=title, name="distance", ticks=ticks)

    def signed(drawing: Drawing, box: Box) -> None:
        shown = Histogram(across, _shares(found.entropy.signed, across))
        inside = [t for t in nice_ticks(-far, far, about=4) if abs(t) <= far]
        ticks, title = Ticks(inside, lambda v: decimal(v, 1)), say("panel.signed")
        histogram_panel(drawing, box, shown, title=title, name="entropy_error", ticks=ticks)

    return distance, signed


def _reliability(found: Disagreement, classes: Sequence[str], say: Strings) -> tuple[Panel, ...]:
    overall = say("panel.confidence", value=decimal(float(found.confidence)))
    panels = [_bars_panel(found.confidence, 0, overall, "reliability")]
    panels += [
        _bars_panel(found.classwise, k, name, f"reliability.{name}")
        for k, name in enumerate(classes)
    ]
    return tuple(panels)


def _bars_panel(score: BinnedScore, row: int, title: str, name: str) -> Panel:
    def draw(drawing: Drawing, box: Box) -> None:
        binned = Binned(score.edges, score.count[row], score.accuracy[row])
        reliability_bars(drawing, box, binned, title=title, name=name)

    return draw


def _pair_panel(edges: np.ndarray, pair: Pair, title: str, name: str) -> Panel:
    def draw(drawing: Drawing, box: Box) -> None:
        shown = Histogram(edges, pair.predicted, pair.voted)
        histogram_panel(drawing, box, shown, title=title, name=name)

    return draw


def _shares(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    inside = np.clip(values, edges[0], edges[-1])
    return np.asarray(np.histogram(inside, bins=edges)[0] / len(values))
