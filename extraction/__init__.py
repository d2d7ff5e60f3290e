"""Report text in, (pathology, certainty phrase) out; no probability is known here."""

from __future__ import annotations

from extraction.certainty import certainty_spans
from extraction.finding import Extracted, Failed, Finding, NothingStated, Outcome

__all__ = ["Extracted", "Failed", "Finding", "NothingStated", "Outcome", "certainty_spans"]
