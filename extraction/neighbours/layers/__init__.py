"""What a local transformers model would say after each of its layers; torch lives in a child."""

from extraction.neighbours.layers.items import Cases, cases_of_questions, cases_of_texts
from extraction.neighbours.layers.run import Layerwise, LayerwiseError, layerwise

__all__ = [
    "Cases",
    "Layerwise",
    "LayerwiseError",
    "cases_of_questions",
    "cases_of_texts",
    "layerwise",
]
