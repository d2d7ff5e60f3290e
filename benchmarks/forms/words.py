"""Words: spellings, abbreviations, slips of the keyboard."""

from __future__ import annotations

import re
from typing import Final

from forms.text import stepped
from forms.ways import Report, family, form

family("words", "words: ")(stepped)
_KEYS: Final = "qwertyuiop asdfghjkl zxcvbnm"


def _neighbour(letter: str) -> str:
    at = _KEYS.find(letter)
    return _KEYS[at + 1 : at + 2].strip() or _KEYS[at - 1]


for _kind in ("dropped", "doubled", "swapped", "wrong"):

    @form(f"slip: a letter {_kind}")
    def _slipped(report: Report, kind: str = _kind) -> str:
        def slip(match: re.Match[str]) -> str:
            word = match[0]
            k = int(report.rng.integers(2, len(word) - 2))
            now = {
                "dropped": word[k + 1 :],
                "doubled": word[k] + word[k:],
                "swapped": word[k + 1] + word[k] + word[k + 2 :],
                "wrong": _neighbour(word[k]) + word[k + 1 :],
            }
            return word[:k] + now[kind]

        return re.sub(r"\b[A-Za-z][a-z]{7,}\b(?!:)", slip, report.text)
