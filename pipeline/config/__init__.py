"""``radcal.toml``: what may stand in it, its defaults, and every error at once."""

from pipeline.config.document import Configuration, load, template
from pipeline.config.sections import (
    Advice,
    Calibration,
    Deidentification,
    Execution,
    Extraction,
    Input,
    Notify,
    Pairing,
    Phrases,
    Reports,
    Store,
)

__all__ = [
    "Advice",
    "Calibration",
    "Configuration",
    "Deidentification",
    "Execution",
    "Extraction",
    "Input",
    "Notify",
    "Pairing",
    "Phrases",
    "Reports",
    "Store",
    "load",
    "template",
]
