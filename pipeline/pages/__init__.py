"""Results in, contents of pages out; nothing is drawn here."""
