"""What a text says at a glance, without being read: its words of certainty, and a CT it recommends.

De-identification locks the spans of certainty first, so that "May represent" never becomes a
month. A recommendation is a flag for one sensitivity analysis, not a finding: a sentence counts
when a word of recommending and a word for CT stand in it and nothing denies it ("no further CT is
needed"). Word lists: ``recommendation.toml`` beside this file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources
from itertools import compress, count
from typing import Final

from extraction.report import SectionReader
from extraction.rules.lexicon import END, Node, Part, build
from extraction.vocabulary import load

_WORD: Final = re.compile(r"(\w+|[^\w\s-])")
_ASCII_WORD: Final = re.compile(r"([a-z0-9_]+|[^a-z0-9_\s-])")
"""The same in small letters where every character is one of ASCII, and faster."""
_ABSENT: Final = "absent"
_STOPS: Final = frozenset(".,;:!?")
_AGREES: Final = frozenset(("agree", "agrees"))


class CertaintyReader:
    """Finds cue words of the shipped vocabulary."""

    def __init__(self) -> None:
        words = load()
        self._sections = SectionReader(words)
        tree = _cues_only(build(words))
        weighing = words.grammar.weighing  # "over" is certainty only in a clause that prefers
        self._root = {w: node for w, node in tree.items() if w.isalnum() and w not in weighing}

    def _places(self, text: str) -> tuple[list[str], list[str], list[tuple[int, int]]]:
        """Give pieces and words of a text, and where cues begin and end among the words."""
        root, free = self._root, 0
        if text.isascii():  # then small letters are as long as capitals
            pieces = _ASCII_WORD.split(text.lower())  # gap, word, gap, word, ..., gap
            words = pieces[1::2]
        else:
            pieces = _WORD.split(text)
            words = list(map(str.lower, pieces[1::2]))
        found, last = [], len(words) - 1
        for at in compress(count(), map(root.__contains__, words)):
            node = root[words[at]]
            if at >= free and (END in node or (at < last and words[at + 1] in node)):
                after = _longest(words, at, root)
                if after > at and (len(words[at]) > 1 or not _is_initial(pieces, at)):
                    found.append((at, after))
                    free = after
        return pieces, words, found

    def phrases(self, text: str) -> set[str]:
        """Give the phrases that cues in what states findings stand for; one of several is none.

        A cue that a denial reaches ("no line to suggest") is part of the denial, and one who agrees
        with a report says nothing of a finding.
        """
        found: set[str] = set()
        for section in self._sections.read(text):
            _, words, places = self._places(text[section.start : section.end])
            denied = -1  # where the last denial ends
            for at, after in places:
                phrase = _meant(words[at:after], self._root)
                reached = denied >= 0 and _STOPS.isdisjoint(words[denied:at])
                denied = after if phrase == _ABSENT or reached else -1
                if phrase and words[at] not in _AGREES and (phrase == _ABSENT or not reached):
                    found.add(phrase)
        return found

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end of every cue, in order, without overlap."""
        pieces, _, found = self._places(text)
        spans, passed, start = [], 0, 0
        for at, after in found:  # a piece's length counts once, on the way to the next cue
            start += sum(map(len, pieces[passed : 2 * at + 1]))
            passed = 2 * at + 1
            spans.append((start, start + sum(map(len, pieces[passed : 2 * after]))))
        return spans


def _is_initial(pieces: Sequence[str], at: int) -> bool:
    """Tell whether a letter is one behind a letter (R.V.M., m.v. Levant, I V Y) or of a code."""
    if pieces[2 * at - 1 : 2 * at + 1] == [".", ""] or pieces[2 * at + 2].startswith("-"):
        return True  # 14.v, V-AV
    behind = pieces[2 * at + 3 : 2 * at + 4]
    letter, gap = pieces[max(0, 2 * at - 1)], pieces[2 * at]
    return at > 0 and behind != ["/"] and gap == " " and len(letter) == 1 and letter.isalpha()


def _longest(words: list[str], at: int, root: Node) -> int:
    node, after = root, at
    for position in range(at, len(words)):
        following = node.get(words[position])
        if following is None:
            break
        node = following
        if END in node:
            after = position + 1
    return after


def _meant(words: Sequence[str], root: Node) -> str | None:
    node = root
    for word in words:
        node = node[word]
    phrases = {cue.phrase for cue in node[END].cues}
    return phrases.pop() if len(phrases) == 1 else None


def _cues_only(node: Node) -> Node:
    """Keep only the paths that lead to cue words."""
    kept: Node = {}
    for word, child in node.items():
        if word == END:
            if child.parts & Part.CUE:
                kept[END] = child
        else:
            branch = _cues_only(child)
            if branch:
                kept[word] = branch
    return kept


@lru_cache(maxsize=1)
def _shipped() -> CertaintyReader:
    return CertaintyReader()


def certainty_spans(text: str) -> list[tuple[int, int]]:
    """Find certainty words in any text, by the shipped vocabulary.

    Parameters
    ----------
    text
        Any text; sections and sentences do not matter.

    Returns
    -------
    Offsets ``(start, end)`` in order, without overlap.

    Examples
    --------
    >>> text = "May represent atelectasis; no evidence of effusion."
    >>> [text[start:end] for start, end in certainty_spans(text)]
    ['May represent', 'no evidence of']
    """
    return _shipped().spans(text)


def phrases_in(text: str) -> set[str]:
    """Name the shipped vocabulary's phrases whose words stand where a report states findings.

    Examples
    --------
    >>> sorted(phrases_in("May represent atelectasis; no line to suggest pneumothorax."))
    ['absent', 'may represent']
    """
    return _shipped().phrases(text)


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
