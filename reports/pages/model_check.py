"""One page that says go or no-go for a language model, and why."""

from __future__ import annotations

from collections.abc import Sequence

from reports.content import Gate
from reports.drawing.marks import Box, Drawing
from reports.drawing.pdf import DocumentInfo, to_pdf
from reports.drawing.style import CAPTION, LEAD, TITLE, Style, palette
from reports.drawing.typeset import fit, paragraph, put
from reports.pages.run_tables import gate_table

__all__ = ["to_document"]


def to_document(model: str, gates: Sequence[Gate], *, style: Style | None = None) -> bytes:
    """Make the page a PDF.

    Parameters
    ----------
    model
        Engine, model and version as one line.
    gates
        What was tried; only one that failed stands against the model, one that could not be tried
        is shown.
    """
    style = style or Style()
    drawing, body, words = Drawing(*style.size), style.body, style.strings
    failed = sum(gate.passed is False for gate in gates)
    verdict = (
        words("model_check.no_go", failed=str(failed), total=str(len(gates)))
        if failed
        else words("model_check.go")
    )
    put(drawing, body.x, body.y + 18.0, words("model_check.title"), TITLE)
    line, kind = fit(model, CAPTION, body.width)
    put(drawing, body.x, body.y + 34.0, line, kind, colour=palette.muted)
    y = paragraph(drawing, Box(body.x, body.y + 48.0, body.width, 40.0), verdict, LEAD)
    table = gate_table(tuple(gates), words=words)
    table.draw(drawing, Box(body.x, y + 14.0, body.width, table.height(body.width)))
    return to_pdf([drawing], info=DocumentInfo(words("model_check.title"), "radcal", model))
