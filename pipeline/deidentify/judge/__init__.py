"""The rules' claims on a text in, the same claims weighed by what annotated reports taught.

The weights are data (`weights.npz`, its card `weights.toml`), made by `benchmarks/judge/train.py`.
"""

from __future__ import annotations

from pipeline.deidentify.judge.judge import CAUTION, Hearing, Judge, Opinion
from pipeline.deidentify.judge.model import Weights

__all__ = ["CAUTION", "Hearing", "Judge", "Opinion", "Weights"]
