"""Clinical expressions that look like names, dates or numbers and must stay."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.grammar import NAME_WORD
from pipeline.deidentify.lexicon import Lexicon

__all__ = ["find"]

_NOUN: Final = (
    r"(?:sign|syndrome|disease|catheters?|tubes?|lines?|fractures?|hernias?|cysts?|tumou?rs?|lymphoma|classification"
    r"|criteria|scor(?:e|ing)|phenomenon|space|nodes?|ducts?|fissures?|lobe|valves?|procedure|operation|repair|shunt|rods?"
    r"|plates?|screws?|ligament|artery|vein|tubercle|hump|index|guidelines?|scale|stents?|filters?|port|pump|drains?|prosthes[ie]s"
    r"|grade|stage|view|method|deformity|lesions?|type|glands?|bod(?:y|ies)|cells?|contracture|nodules?|angle|granulomatosis|arthritis"
    r"|sarcoma|carcinoma|esophagus|oesophagus|contractures?|matter|lung|lungs|fields?|anomaly|malformation|complex|pouch|ring|sac"
    r"|diverticulum|triad|membrane|reflux|gastrectomy|esophagectomy|bypass|thrombosis|purpura|thyroiditis|dermatitis|lymphadenopathy|units?"
    r"|technique|maneuver|position|system|recommendations|society|lines|needles?|wires?|clips?|device|mitral|edema|oedema|[ABC][ \t]lines?)"
)
_EPONYM_NOUN: Final = re.compile(rf"(?<![\w.^])(?:{NAME_WORD}(?:['’]s)?[ \t]){{1,2}}{_NOUN}\b")
_MEASURES: Final = re.compile(
    r"\b\d{1,3}(?:\.\d{1,2})?[ \t]?(?:x|×|by)[ \t]?\d{1,3}(?:\.\d{1,2})?(?:[ \t]?(?:x|×|by)[ \t]?\d{1,3}(?:\.\d{1,2})?)?(?:[ \t]?(?:mm|cm))?\b"
    r"|\b[CTLS]\d{1,2}(?:[ \t]?[-/–][ \t]?[CTLS]?\d{1,2})?\b(?!\w)"
    r"|\b(?:series|image|img|se|im|slice)s?[ \t]?[:#]?[ \t]?\d{1,4}(?:[ \t]?[-/,][ \t]?\d{1,4})?\b"
    r"|\b(?:Lung|LI|BI|TI|PI|CAD|O|NI|C)-RADS(?:[ \t](?:category|score))?[ \t:]{0,2}\w{1,3}\b"
    r"|\b(?:Omnipaque|Isovue|Visipaque|Ultravist|Optiray|Gastrografin|Omniscan|Gadavist|Isovue-M)[ -]?\d{2,3}\b"
    r"|\b\d{1,4}(?:\.\d{1,3})?[ \t]?(?:mGy(?:[*·. -]?cm)?|HU|mSv|kVp?|mAs?|mL|ml|cc|mg|mcg|Fr|French|gauge|mm|cm|%)(?!\w)"
    r"|\b\d[ \t]of[ \t]\d\b|\bx[ \t]?[1-9]\b(?!\d)"
)


def find(text: str, lexicon: Lexicon) -> Iterator[tuple[int, int]]:
    """Find the spans that rules going by looks alone must leave."""
    for match in _MEASURES.finditer(text):
        yield match.span()
    for match in _EPONYM_NOUN.finditer(text):
        yield match.span()
    for match in _word_pattern(lexicon).finditer(text):
        yield match.span()


def _word_pattern(lexicon: Lexicon) -> re.Pattern[str]:
    pattern = _PATTERNS.get(lexicon.eponyms)
    if pattern is None:
        words = "|".join(sorted(map(re.escape, lexicon.eponyms), key=len, reverse=True))
        pattern = re.compile(rf"(?<![\w^])(?:{words})(?:['’]s)?(?!\w)", re.IGNORECASE)
        _PATTERNS[lexicon.eponyms] = pattern
    return pattern


_PATTERNS: dict[frozenset[str], re.Pattern[str]] = {}
