"""Hospitals by their initials: CT from LUMC · usually under RBH · Frimley Park (FPH).

A few capitals that neither English nor medicine has are a hospital's behind a word of place, alone
in brackets behind a date or the hospital's full name, and behind a member of its staff. What
medicine shortens (RCA, NSIP) is listed in `words/acronyms.txt` and known beforehand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pipeline.deidentify.rules.found import Found
from pipeline.deidentify.rules.placenames import KINDS
from pipeline.deidentify.rules.words import Words
from pipeline.names.lexicon import Lexicon

__all__ = ["find"]

_LONGEST: Final = 6
_REACH: Final = 60
_PLACE: Final = re.compile(
    r"(?:\b(?:from|at|under|via|behalf[ ]of"
    r"|(?:known|referred|transferred|transfer|sent|copy|copied|phoned|faxed|back|returned)[ ]to"
    r"|(?:seen|done|performed|made|taken|admitted)[ ](?:in|at|to)|discuss[ ]with|inpatient[ ]of)"
    r"[ ](?:the[ ])?|\b(?:registrar|consultant|sho|matron|sister)[ ])$",
    re.IGNORECASE,
)
_DATE: Final = re.compile(r"(?:\d[-/.]\d{2,4}|[A-Za-z]{3}[ ]\d{2,4}|\d{4}-\d\d-\d\d)[ ]\($")
_STAFF: Final = re.compile(
    r"\b(?:Dr|Prof|Mr|Mrs|Ms|Miss|Capt|Maj|LCDR|CDR|Lt|Sgt|Matron|Sister)\.?[ ][^.;:\n]{2,30},[ ]$",
    re.IGNORECASE,
)
_CLOSES: Final = re.compile(r"[,;.)\n:]|\Z|[ ]\(|[ ]\d")
_CAPITALS: Final = re.compile(r"[^\W\d_][\w'’]*")


def find(text: str, found_words: Words, lexicon: Lexicon) -> Iterator[Found]:
    """Find hospitals by their initials."""
    for at in found_words.strangers(lexicon.familiar):
        word = found_words.plain[at]
        if not 1 < len(word) <= _LONGEST or word in lexicon.acronyms or len(set(word)) == 1:
            continue
        start, end, _, capital = found_words[at]
        shown = text[start:end]
        if not capital or not shown.isupper() or not shown.isalpha():
            continue
        before = text[max(0, start - _REACH) : start]
        if text[end : end + 1] not in "-'’/" and _is_cued(text, before, shown, end, lexicon):
            yield Found(start, end, "HOSPITAL", "hospital-initials", sure=False)


def _is_cued(text: str, before: str, shown: str, end: int, lexicon: Lexicon) -> bool:
    if _PLACE.search(before):
        return not text.isupper() or _CLOSES.match(text, end) is not None
    if before.endswith("(") and text[end : end + 1] == ")":
        return _DATE.search(before) is not None or _abbreviates(before, shown, lexicon)
    return _STAFF.search(before) is not None and _CLOSES.match(text, end) is not None


def _abbreviates(before: str, shown: str, lexicon: Lexicon) -> bool:
    """Tell whether initials stand behind the full name of a place (Frimley Park (FPH))."""
    words = _CAPITALS.findall(before.rsplit("\n", 1)[-1].rsplit(":", 1)[-1])[-len(shown) :]
    names = [word for word in words if word[0].isupper()]
    if len(names) < len(words) or len(words) < 2 or words[0][0] != shown[0]:
        return False
    folded = [word.casefold() for word in names]
    return not KINDS.isdisjoint(folded) or not all(map(lexicon.is_ordinary, folded))
