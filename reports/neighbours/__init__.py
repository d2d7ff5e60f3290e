"""Pages of the neighbouring measures."""
