"""A hospital that never was: exams with report texts, and the truth no stage reads."""

from pipeline.simulate.department import load_department
from pipeline.simulate.generator import Simulation, simulate, simulate_chunks

__all__ = ["Simulation", "load_department", "simulate", "simulate_chunks"]
