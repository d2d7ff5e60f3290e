"""Marks, type and paper: what pages and figures are drawn with, as PDF and SVG."""

__all__: list[str] = []
