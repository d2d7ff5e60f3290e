"""Neighbouring questions to a language model: its stated certainty, and its layers."""
