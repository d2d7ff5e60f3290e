"""Results in, PDF bytes out; nothing is computed here."""
