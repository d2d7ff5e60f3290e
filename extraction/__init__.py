"""Report text in, (pathology, certainty phrase) out; no probability is known here."""
