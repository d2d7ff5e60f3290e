"""Addresses and hospitals with the word for the kind in front: Rua Verde 8 · Hospital San Roque."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Rule, Word
from pipeline.names.grammar import NAME_WORD
from pipeline.names.lexicon import Lexicon

__all__ = ["RULES"]

_SMALL: Final = (
    r"(?:(?i:de[lr]?|du|des|da|do|dos|das|di|la|las|los|le|les|el|und|e|y|von|zum|zur|sur)[ ])"
)
_WORDS: Final = rf"{_SMALL}{{0,2}}{NAME_WORD}(?:[ ]{_SMALL}{{0,2}}{NAME_WORD}){{0,3}}"
_STREET: Final = re.compile(
    rf"\.?[ ]{_WORDS},?[ ](?:[nN][°º.]?[ ]?)?\d{{1,5}}[a-zA-Z]?(?!\w|[.:/]\d)"
    r"(?:,?[ ](?i:apt?o?|depto|piso|esc|bloco|int)\.?[ ]?\w{1,5})?"
    rf"(?:,[ ](?:[A-Z]{{1,2}}-)?(?:\d{{4,5}}[ ])?{_WORDS}(?:[ ]\d{{5}}(?:-\d{{3,4}})?)?)?"
)
_BLOCK: Final = re.compile(
    rf"\.?[ ]\d{{1,4}}[A-Z]?,?[ ](?:{NAME_WORD}[ ]){{1,4}}(?:\d{{1,3}},?[ ])?\#\d{{1,3}}-\d{{1,4}}"
    r"(?:,?[ ](?:Singapore|SINGAPORE|S)[ ]?\(?\d{6}\)?)?"
)
_UNIT: Final = re.compile(r"(?i:PSC|CMR|HC|RR|unit)[ \n]\d{1,5},?[ ]$")
_BOX: Final = re.compile(
    r"[ ]\d{1,6}\b(?:,[ ](?:APO|FPO|DPO)(?:,?[ ]A[AEP])?(?:[ ]\d{5}(?:-\d{4})?)?)?", re.IGNORECASE
)
_NAMED: Final = re.compile(
    rf"[ ](?P<small>{_SMALL}{{0,2}})(?P<first>{NAME_WORD})(?:[ -]{_SMALL}{{0,2}}{NAME_WORD}){{0,4}}"
)
_KINDS_ABROAD: Final = frozenset(
    {"universitario", "universitaria", "universitaire", "general", "regional", "nacional", "civil"}
    | {"militar", "infantil", "clinico", "provincial", "municipal", "das", "central", "real"}
    | {"san", "santa", "santo", "sao", "saint", "sant", "sri", "ste", "st"}
)


def _street(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find Rua das Flores 88, ap. 302, São Paulo and Calle 12 de Octubre 5."""
    match = _STREET.match(text, word.end)
    if match:
        yield Found(word.start, match.end(), "LOCATION", "street-abroad")


def _block(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find Blk 13 Serangoon Ave 2 #07-11, Singapore 550213."""
    match = _BLOCK.match(text, word.end)
    if match:
        yield Found(word.start, match.end(), "LOCATION", "street-abroad")


def _box(text: str, word: Word, _: Lexicon) -> Iterator[Found]:
    """Find PSC 560 Box 31, APO AP 96376 and the route of HC 01 Box 7742."""
    unit = _UNIT.search(text, max(0, word.start - 12), word.start)
    match = _BOX.match(text, word.end) if unit else None
    if unit and match:
        yield Found(unit.start(), match.end(), "LOCATION", "box")


def _hospital(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    """Find Hospital San Roque and Hospital del Mar, where no sentence goes on."""
    match = _NAMED.match(text, word.end)
    if match is None:
        return
    first = match.group("first").casefold()
    small = match.group("small").casefold().split()
    goes_on = match.end() > match.end("first")
    named = bool(small) and first != "novo" and not lexicon.is_ordinary(first)
    if named or (goes_on and first in _KINDS_ABROAD) or lexicon.is_stranger(first):
        yield Found(word.start, match.end(), "HOSPITAL", "hospital-abroad", sure=True)


RULES: Final = (
    Rule(
        frozenset(
            {"rua", "calle", "avenida", "rue", "carrera", "piazza", "jalan", "praca", "travessa"}
        )
        | {"corso", "viale", "ulica", "ul", "chemin", "impasse", "paseo", "carrer", "strada"},
        _street,
        capital=True,
    ),
    Rule(frozenset({"blk", "block"}), _block, capital=True, then="0123456789"),
    Rule(frozenset({"box"}), _box, then="0123456789"),
    Rule(frozenset({"hospital", "hospitais"}), _hospital, capital=True),
)
