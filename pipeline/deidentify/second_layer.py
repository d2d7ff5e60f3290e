"""Presidio as an optional second layer: its hits are added to ours, never over a certainty phrase.

Nothing is fetched: the engine is built by hand (the default constructor downloads a model) around
an empty spaCy pipeline, for Presidio's own patterns, or a model in a folder of this machine. The
list of public suffixes, which an e-mail-like string would otherwise look up, is switched off.

Its dates are left out: they take durations ("3 months") and sentence-initial "May"; ours are held
to every form on gold. What it finds goes by looks alone, so clinical names stay guarded.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from pipeline.deidentify.spans import Category, Found
from pipeline.errors import ConfigurationError

_CATEGORIES: Final[Mapping[str, Category]] = {
    "PERSON": "NAME", "LOCATION": "LOCATION", "PHONE_NUMBER": "PHONE", "EMAIL_ADDRESS": "EMAIL",
    "URL": "URL", "IP_ADDRESS": "URL", "US_SSN": "ID", "US_NPI": "ID", "UK_NHS": "ID",
    "MEDICAL_LICENSE": "ID", "CREDIT_CARD": "ID", "IBAN_CODE": "ID",
}  # fmt: skip
"""Presidio's entities that identify a person → ours; the others are not asked for."""
_MIN_SCORE: Final = 0.5
_LANGUAGE: Final = "en"


class SecondLayer(Protocol):
    """Anything that finds identifiers in a text; what it finds is added to what the rules find."""

    def find(self, text: str) -> Iterator[Found]:
        """Find candidates in a report as exported."""


class Presidio:
    """Presidio's analyzer, offline.

    Parameters
    ----------
    model
        Folder of a spaCy model, or None for the patterns alone.

    Raises
    ------
    ConfigurationError
        If the package is not installed, or no model can be read from the folder.
    """

    def __init__(self, model: Path | None = None) -> None:
        if importlib.util.find_spec("presidio_analyzer") is None:
            raise ConfigurationError(
                "deidentification.second_layer: Presidio is not installed here. Install radcal "
                'with its extra (pip install "radcal[presidio]"), or set second_layer = "none".'
            )
        if model is not None and not (model / "meta.json").is_file():
            raise ConfigurationError(
                "deidentification.presidio_model: no spaCy model lies there (no meta.json). Name "
                "the folder of an installed model; nothing is downloaded."
            )
        os.environ["TLDEXTRACT_PUBLIC_SUFFIX_LIST_URLS"] = ""
        self._analyzer = _analyzer(model)
        known = set(self._analyzer.get_supported_entities(_LANGUAGE))
        self._entities = sorted(known.intersection(_CATEGORIES))

    def find(self, text: str) -> Iterator[Found]:
        """Find what Presidio is at least half sure of."""
        results = self._analyzer.analyze(
            text, language=_LANGUAGE, entities=self._entities, score_threshold=_MIN_SCORE
        )
        for each in sorted(results, key=lambda result: (result.start, -result.end)):
            category = _CATEGORIES[each.entity_type]
            yield Found(each.start, each.end, category, "presidio", sure=False)


def _analyzer(model: Path | None) -> Any:
    """Build the analyzer around a spaCy pipeline of ours, so that it has nothing to fetch."""
    import spacy
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine

    try:
        pipeline = spacy.blank(_LANGUAGE) if model is None else spacy.load(model)
    except (OSError, ValueError, KeyError) as error:
        raise ConfigurationError(
            "deidentification.presidio_model: the model there cannot be loaded "
            f"({type(error).__name__}). It must be a spaCy model of this spaCy version."
        ) from None
    engine: Any = SpacyNlpEngine()
    engine.nlp = {_LANGUAGE: pipeline}
    registry = RecognizerRegistry(supported_languages=[_LANGUAGE])
    registry.load_predefined_recognizers(languages=[_LANGUAGE], nlp_engine=engine)
    return AnalyzerEngine(nlp_engine=engine, registry=registry, supported_languages=[_LANGUAGE])
