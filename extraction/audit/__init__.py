"""Engines against annotated reports: gold in, scores and their text out."""
