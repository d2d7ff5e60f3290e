"""One radiologist's feedback: two core pages, then appendices with pathologies, numbers and cases.

Page 1: the one sentence with its picture, at most three actions with the reader's own cases, the
phrase chart where it fits (else page 2). Page 2: curve, trend, how to read it, what it is not.
Appendices are left out where there is nothing to put into them.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Final

from reports.content import Case, Masthead, RadiologistContent
from reports.disclosure import guard_radiologist
from reports.drawing.layout import Composer, composed
from reports.drawing.marks import Drawing
from reports.drawing.pdf import published
from reports.drawing.style import Style, in_language
from reports.drawing.web import to_html
from reports.marked import swaps_in_order
from reports.pages import return_sheet
from reports.pages.radiologist.chart import PhraseChart
from reports.pages.radiologist.first import first_page
from reports.pages.radiologist.later import appendices, second_page
from reports.pages.return_sheet import Sheet
from reports.strings import Strings, translated

# Share of the last page below which its lines had better stand on the page before.
_HALF: Final = 0.5

__all__ = ["build_both", "pages", "sheet_of"]


@in_language
def build_both(content: RadiologistContent, *, style: Style) -> tuple[bytes, bytes]:
    """Make the PDF, and the same pages as one HTML file; equal contents give equal bytes."""
    words, head = style.strings, content.masthead
    title, drawn = words("radiologist.title"), pages(content, style=style)
    sheet = json.dumps(asdict(sheet_of(content, style=style)), ensure_ascii=False)
    page = to_html(drawn, title=title, head=head, words=words, sheet=sheet)
    return published("radiologist", drawn, head, words), page


def sheet_of(content: RadiologistContent, *, style: Style) -> Sheet:
    """Make the return sheet: the page's cases, and the swaps of its cards."""
    words, head = style.strings, content.masthead
    profile = _in_words(content, words).profile
    swaps = swaps_in_order(profile) if profile else ()
    return return_sheet.build(content.cases or (), swaps, reader=head.recipient, words=words)


def _in_words(content: RadiologistContent, words: Strings) -> RadiologistContent:
    """Withhold what may not be shown, and name the rest in the words' language."""
    return translated(guard_radiologist(content), words, keep=(Case, Masthead))


@in_language
def pages(content: RadiologistContent, *, style: Style) -> list[Drawing]:
    """Lay out all pages as drawings (what the geometry tests look at)."""
    content = _in_words(content, style.strings)
    chart = PhraseChart.of(content, style.strings)

    def lay_out(composer: Composer) -> None:
        spread, composer.spread, composer.last = composer.spread, 1.0, _HALF
        left = first_page(composer, chart)  # the core pages fill themselves
        second_page(composer, chart, drawn=left.drawn)
        composer.spread = spread
        appendices(composer, chart, left.unswapped)

    return composed(lay_out, style=style, masthead=content.masthead)
