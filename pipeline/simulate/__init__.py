"""A hospital that never was: exams with report texts, and the truth no stage reads."""

from pipeline.simulate.generator import Simulation, simulate, simulate_chunks
from pipeline.simulate.truth import EXAM_COLUMNS, TABLES, Truth

__all__ = ["EXAM_COLUMNS", "TABLES", "Simulation", "Truth", "simulate", "simulate_chunks"]
