"""A hospital that never was: exams with report texts, and the truth no stage reads."""

from pipeline.simulate.department import DEFAULT, Department, departments, load_department
from pipeline.simulate.generator import Simulation, simulate, simulate_chunks
from pipeline.simulate.truth import EXAM_COLUMNS, TABLES, Truth

__all__ = [
    "DEFAULT",
    "EXAM_COLUMNS",
    "TABLES",
    "Department",
    "Simulation",
    "Truth",
    "departments",
    "load_department",
    "simulate",
    "simulate_chunks",
]
