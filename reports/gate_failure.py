"""The page that takes the place of an issue when a gate did not pass."""

from __future__ import annotations

from reports.committee_tables import gate_table, manifest_table
from reports.content import GateFailureContent
from reports.layout import Composer, Prose
from reports.marks import Bookmark, Drawing
from reports.paper import DocumentInfo, to_pdf
from reports.style import BODY, LEAD, TITLE, Style, palette
from reports.typeset import fit, put

__all__ = ["build", "pages"]


def build(content: GateFailureContent, *, style: Style) -> bytes:
    """Make the PDF; the same content and style give the same bytes."""
    words = style.strings
    info = DocumentInfo(
        title=words("gate_failure.title"),
        author=content.masthead.institution,
        subject=words("gate_failure.subject"),
        language=content.masthead.language,
    )
    return to_pdf(pages(content, style=style), info=info)


def pages(content: GateFailureContent, *, style: Style) -> list[Drawing]:
    """Lay out what failed first, then all checks, then the manifest."""
    words, head = style.strings, content.masthead
    composer = Composer(style, head)
    box = composer.claim(50.0)
    composer.page.bookmarks.append(Bookmark(words("gate_failure.title"), 0, box.y))
    text, kind = fit(words("gate_failure.title"), TITLE, box.width)
    put(composer.page, box.x, box.y + 20.0, text, kind, id="title")
    subtitle = words("gate_failure.subtitle", recipient=head.recipient, period=head.period)
    text, kind = fit(subtitle, BODY, box.width)
    put(composer.page, box.x, box.y + 36.0, text, kind, colour=palette.muted)
    stopped = tuple(gate for gate in content.gates if gate.passed is not True)
    passed = tuple(gate for gate in content.gates if gate.passed is True)
    lead = words("gate_failure.lead", failed=len(stopped), total=len(content.gates))
    composer.add(Prose(lead, LEAD), after=10.0)
    composer.add(Prose(words("gate_failure.next"), BODY))
    composer.heading(words("committee.gates"), room=80.0)
    composer.flow(gate_table(stopped + passed, words=words))
    composer.heading(words("committee.manifest"), room=80.0)
    composer.flow(manifest_table(content.manifest, words=words))
    return composer.finish()
