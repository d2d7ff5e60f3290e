"""What each stage's results depend on, by name: the keys of shards, and why a stage is stale.

A stage's key is a hash of its ingredients and of the keys it builds on. So what changed re-does
what depends on it and nothing else: an option of the pages redraws pages; the few-shot prompt of a
language model re-reads reports where such a model reads them, and de-identifies nothing again.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from pipeline.config import digest_of
from pipeline.names.own_lists import contents
from pipeline.store.provenance import code_digest
from pipeline.store.shards import SCHEMA_VERSION

if TYPE_CHECKING:
    from pipeline.site.site import Site

__all__ = ["KEYED", "ingredients"]

Named = dict[str, str]

KEYED: Final = ("ingest", "de-identify", "pair", "extract", "tally", "pages")
"""Stages whose results are kept under keys of their own, in order."""

_READING: Final = (
    "extraction.report", "extraction.finding", "extraction.resolution", "extraction.recommendation",
    "extraction.vocabulary", "pipeline.tables.readings", "pipeline.tables.addenda",
)  # fmt: skip
_MODELS: Final = ("extraction.prompt", "extraction.engines", "extraction.rules")
_ENGINES: Final = {
    "rules": ("extraction.rules",),
    "server": _MODELS,
    "vllm": _MODELS,
    "transformers": _MODELS,
    "replay": _MODELS,
}
"""The code of each engine; of one that is not named here, all of extraction counts."""


def ingredients(site: Site, stage: str) -> Named:
    """Give what a stage's results depend on: name → value or hash."""
    return {"schema of shards": SCHEMA_VERSION, **_OF[stage](site)}


def _ingest(site: Site) -> Named:
    settings = site.config.input.model_dump(mode="json", exclude={"paths", "exam_codes", "query"})
    return {
        **_code("pipeline.formats", "pipeline.names", "pipeline.tables.validation"),
        **_options("input", settings),
        "exam codes": digest_of(sorted(site.chest_codes.items())),
    }


def _deidentify(site: Site) -> Named:
    options = site.config.deidentification.model_dump(
        mode="json", exclude={"max_quarantined_share", "word_lists"}
    )
    lists = site.word_lists
    own = contents(lists, option="deidentification.word_lists") if lists else {}
    return {
        **_code(
            "pipeline.deidentify", "pipeline.names", "pipeline.tables.coding",
            "extraction.certainty", "extraction.rules", "extraction.vocabulary",
        ),
        **_options("deidentification", options),
        "own word lists": digest_of(sorted(own.items())),
        "pairing.min_age_years": str(site.config.pairing.min_age_years),
        "reader codes' epoch": str(site.reader_epoch),
    }  # fmt: skip


def _pair(site: Site) -> Named:
    settings = site.config.pairing.model_dump(mode="json")
    return {
        **_code("pipeline.tables.pairing", "pipeline.tables.addenda", "pipeline.tables.sums"),
        **_options("pairing", settings),
    }


def _extract(site: Site) -> Named:
    engine = site.config.extraction.engine
    own = _ENGINES.get(engine)
    code = (*_READING, *own) if own else ("extraction", "pipeline.tables.readings")
    return {
        **_code(*code),
        "extraction engine": f"{site.engine.name} {site.engine.version}",
    }


def _tally(site: Site) -> Named:
    settings = site.config.calibration
    return {
        **_code("pipeline.tables.observations", "pipeline.tables.sums"),
        "meaning of phrases": site.phrases_digest,
        "calibration.label": settings.label,
        "calibration.ct_silence": settings.ct_silence,
    }


def _pages(site: Site) -> Named:
    material = site.config.material()
    options = {
        name: value
        for section, settings in material.items()
        for name, value in _options(section, settings).items()
    }
    audited = "none" if site.audited is None else site.audited.digest
    return {
        **_code("calibration", "reports", "pipeline.pages", "pipeline.tables", "pipeline.work"),
        **options,
        "audit of the engine": str(audited),
        "logo": "none" if site.logo is None else hashlib.sha256(site.logo).hexdigest(),
    }


_OF: Final = {
    "ingest": _ingest,
    "de-identify": _deidentify,
    "pair": _pair,
    "extract": _extract,
    "tally": _tally,
    "pages": _pages,
}


def _code(*names: str) -> Named:
    return {f"code of {name}": code_digest(name) for name in names}


def _options(section: str, settings: dict[str, Any]) -> Named:
    return {f"{section}.{name}": str(value) for name, value in settings.items()}
