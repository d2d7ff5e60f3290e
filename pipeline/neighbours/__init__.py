"""Commands and tables of the neighbouring measures."""
