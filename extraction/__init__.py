"""Report text in, findings out: which pathology was stated, and with which certainty phrase."""
