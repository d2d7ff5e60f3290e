"""The page that takes the place of an issue when a gate did not pass."""

from __future__ import annotations

from reports.content import GateFailureContent
from reports.drawing.layout import Composer, Prose
from reports.drawing.marks import Drawing
from reports.drawing.pdf import DocumentInfo, to_pdf
from reports.drawing.style import BODY, LEAD, Style
from reports.pages.run_tables import gate_table, manifest_table

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
    subtitle = words("gate_failure.subtitle", recipient=head.recipient, period=head.period)
    composer.title(words("gate_failure.title"), subtitle)
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
