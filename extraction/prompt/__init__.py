"""What a language model is shown and in which lines it answers; the worked examples are data."""
