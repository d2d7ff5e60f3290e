"""Whether a report recommends a CT: a flag for one sensitivity analysis, not a finding.

A sentence counts when a word of recommending and a word for CT stand in it and nothing denies it
("no further CT is needed"). Word lists: ``recommendation.toml`` beside this file.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources

__all__ = ["recommends_ct"]


def recommends_ct(text: str) -> bool:
    """Tell whether any sentence of the text recommends a CT.

    Examples
    --------
    >>> recommends_ct("Opacity at the left base. CT of the chest is recommended.")
    True
    >>> recommends_ct("Compared with the CT of last week. Follow-up radiograph recommended.")
    False
    >>> recommends_ct("No CT follow-up is needed.")
    False
    """
    scan, advice, denial = _patterns()
    if not scan.search(text):
        return False
    sentences = re.split(r"(?<=[.;:!?])\s+|\n\s*\n", text)
    return any(
        scan.search(sentence) and advice.search(sentence) and not denial.search(sentence)
        for sentence in sentences
    )


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    file = resources.files("extraction").joinpath("recommendation.toml")
    words = tomllib.loads(file.read_text(encoding="utf-8"))

    def any_of(name: str) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{'|'.join(words[name])})\b", re.IGNORECASE)

    return any_of("scan"), any_of("advice"), any_of("denial")
