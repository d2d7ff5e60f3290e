"""The quality committee's review: exams, department, readers, sensitivity, maps, instrument, gates.

Readers appear by code, in code order; figures by reader and for the department appear only from
``minimum_readers`` readers on. The same sections become the PDF here and HTML in ``html.py``.
"""

from __future__ import annotations

from reports import committee_cases as cases
from reports import committee_sections as later
from reports.committee_department import department, exams, pathologies
from reports.committee_people import readers
from reports.committee_words import headline
from reports.content import CommitteeContent
from reports.disclosure import guard_committee
from reports.document import Section, compose
from reports.layout import Composer, Prose
from reports.marks import Drawing
from reports.paper import DocumentInfo, to_pdf
from reports.strings import Strings
from reports.style import BODY, CAPTION, LEAD, Style, palette

__all__ = ["build", "pages", "sections"]


def build(content: CommitteeContent, *, style: Style) -> bytes:
    """Make the PDF; the same content and style give the same bytes."""
    words = style.strings
    info = DocumentInfo(
        title=words("committee.title"),
        author=content.masthead.institution,
        subject=words("committee.subject"),
        language=content.masthead.language,
    )
    return to_pdf(pages(content, style=style), info=info)


def pages(content: CommitteeContent, *, style: Style) -> list[Drawing]:
    """Lay out all pages as drawings (what the geometry tests look at)."""
    composer = Composer(style, content.masthead)
    composer.new_page()
    _opening(composer, guard_committee(content))
    compose(composer, sections(content, words=style.strings))
    return composer.finish()


def sections(content: CommitteeContent, *, words: Strings) -> tuple[Section, ...]:
    """Lay out all sections in order, whatever they become."""
    content = guard_committee(content)
    return (
        exams(content, words),
        *department(content, words),
        *_findings(content, words),
        later.instrument(content, words),
        later.gates(content, words),
        later.manifest(content, words),
        later.governance(content, words),
    )


def _findings(content: CommitteeContent, words: Strings) -> tuple[Section, ...]:
    """Lay out what rests on readers; left out whole where there are too few of them."""
    if len(content.readers) < content.minimum_readers:
        return ()
    by_pathology = (pathologies(content, words),) if content.by_pathology else ()
    return (
        *by_pathology,
        cases.disagreement(content, words),
        *readers(content, words),
        cases.case_mix(content, words),
        later.sensitivity(content, words),
        later.scale_use(content, words),
        later.maps(content, words),
    )


def _opening(composer: Composer, content: CommitteeContent) -> None:
    """Set title, the one sentence, and how to read what follows."""
    words, head = composer.style.strings, content.masthead
    subtitle = words("committee.subtitle", recipient=head.recipient, period=head.period)
    composer.title(words("committee.title"), subtitle)
    composer.skip(6.0)
    composer.add(Prose(headline(content, words=words), LEAD), after=12.0)
    for text in words.series("reading"):
        composer.add(Prose(text, BODY), after=4.0)
    contact = words("committee.contact", contact=head.contact, next_issue=head.next_issue)
    composer.add(Prose(contact, CAPTION, palette.muted), after=8.0)
