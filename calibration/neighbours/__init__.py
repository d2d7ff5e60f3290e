"""Neighbouring measures: disagreement, scalar annotation, difficulty, stated confidence."""
