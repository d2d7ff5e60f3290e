"""Family names with particles before them: Van 't Hoff · af Klint · S.P. de Vries · EL IDRISSI."""

from __future__ import annotations

import re
from collections.abc import Iterator
from string import ascii_uppercase
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.words import Rule, Word
from pipeline.names.grammar import LOWER, NAME_WORD, UPPER
from pipeline.names.lexicon import Lexicon, unaccented

__all__ = ["RULES"]

_GAP: Final = r"(?:[ ]|[ ]?\n[ ]{0,8})"
_STARTS: Final = (
    r"(?:[Vv]an|[Vv]on|[Oo]p|[Ii]n|[Aa]an|[Aa]f|[Aa]v|[Dd]e|[Dd]en|[Dd]er|[Tt]en|[Tt]er|[Ee]l|[Aa]l"
    r"|[Zz]u[mr]?|[Dd]el|[Dd]os|[Dd]as|VAN|VON|OP|IN|AAN|AF|AV|DE|DEN|DER|TEN|TER|EL|AL|ZU|DEL|DOS)"
)
_TAIL: Final = re.compile(
    rf"(?:{_GAP}(?:['’][tT]|de[nr]?|la|los|het|DE[NR]?|LA|LOS|HET)){{0,2}}{_GAP}({NAME_WORD})"
    rf"(?:-{NAME_WORD}|(?:(?<=-[dD][eE])|(?<=-[vV][aA][nN]))[ ]{NAME_WORD})?"
    rf"(?:,(?:(?<=[{UPPER}],)|(?=[ ]?[{UPPER}][{LOWER}]))[ ]?{NAME_WORD}(?:[ ][{UPPER}]\b\.?)?)?"
)
_HEAD: Final = re.compile(
    rf"(?<![\w'’-])((?:[{UPPER}]\.[ ]?){{1,3}}|{NAME_WORD}{_GAP}(?:[{UPPER}]\.?[ ])?)$"
)
_STRONG: Final = frozenset({"van", "von", "af"})
_TWO: Final = re.compile(r"(?:[Oo]p|[Ii]n|[Aa]an|OP|IN|AAN)[ ](?:['’][tT]|de[nr]|DE[NR])[ ]")
_ROLE: Final = re.compile(
    r"(?:\b(?:Dr|Prof|Mr|Mrs|Ms|radiologist|registrar|practitioner|nurse)\.?|:|[\"“,/])[ ]$", re.I
)
_SMALL: Final = frozenset({"in", "op", "aan", "av", "al"})
"""Words that are more often no particle."""
_TOLD: Final = re.compile(r"[ ](?:notified|informed|aware|called|paged|told)\b", re.IGNORECASE)
_DISEASES: Final = frozenset(
    {"willebrand", "hippel", "recklinghausen", "gierke", "meyenburg", "kossa", "quervain", "novo"}
    | {"buchem", "toni", "musset", "lange", "bakey", "morsier", "humphrey"}
)


def _particle(text: str, word: Word, lexicon: Lexicon) -> Iterator[Found]:
    tail = _TAIL.match(text, word.end)
    if tail is None:
        return
    folded = unaccented(tail.group(1)).replace("'", "").replace("’", "")
    if folded in _DISEASES or lexicon.is_report_word(folded):
        return
    head = _HEAD.search(text, max(0, word.start - 32), word.start)
    cued = _ROLE.search(text, max(0, word.start - 24), word.start) is not None
    is_name = folded in lexicon.all_names or lexicon.is_stranger(folded)
    shouted = tail.group(1).isupper()
    if shouted or word.folded not in _STRONG:
        initials = head is not None and "." in head.group()
        strong = _TWO.match(text, word.start) is not None or cued or initials
        strong = strong or (word.folded not in _SMALL and _is_between(text, head, tail, lexicon))
        if not is_name or not strong or (shouted and lexicon.is_ordinary(folded)):
            return
    elif lexicon.is_word(folded) and not (cued or head):
        return
    start = head.start(1) if head and _is_given(head.group(1), lexicon) else word.start
    yield Found(start, tail.end(), "NAME", "name-particle", sure=False)


def _is_between(
    text: str, head: re.Match[str] | None, tail: re.Match[str], lexicon: Lexicon
) -> bool:
    """Tell whether a listed given name stands before it or a word of telling behind it."""
    if head is not None and unaccented(head.group(1).split()[0]) in lexicon.given_names:
        return True
    return _TOLD.match(text, tail.end()) is not None


def _is_given(head: str, lexicon: Lexicon) -> bool:
    """Tell whether what stands before the particle is a given name or initials."""
    first = unaccented(head.split()[0].strip("."))
    return len(first) == 1 or "." in head or first in lexicon.all_names


RULES: Final = (
    Rule(
        frozenset({"van", "von", "aan", "af", "av", "de", "den", "der", "ten", "ter"})
        | {"el", "al", "zu", "del", "dos"},
        _particle,
    ),
    Rule(frozenset({"in", "op"}), _particle, then=ascii_uppercase + UPPER[3:] + "dh'’\n"),
)
