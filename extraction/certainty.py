"""What a text says at a glance: its words of certainty, its language, and a CT it recommends.

De-identification locks the spans of certainty first, so that "May represent" never becomes a
month. A recommendation is a flag for one sensitivity analysis, not a finding: a sentence counts
when a word of recommending and a word for CT stand in it and nothing denies it ("no further CT is
needed"). Word lists: ``recommendation.toml`` and ``languages.toml`` beside this file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources
from itertools import accumulate, compress, count
from typing import Final

from extraction.report import SectionReader
from extraction.rules.lexicon import END, INSERTED, Node, Part, build
from extraction.vocabulary import load

_NEXT: Final = re.compile(r"[\s-]*(\w+|[^\w\s-])")
_NO_WORD: Final = re.compile(r"\W")
_BLANKED: Final = {at: chr(at) if _NO_WORD.sub("", chr(at)) else " " for at in range(128)}
"""Every sign of ASCII, but a blank for what is of no word."""
_STROKE: Final = re.compile(r"[\s-]*/")
_ABSENT: Final = "absent"
_STOPS: Final = frozenset(".,;:!?")
_AGREES: Final = frozenset(("agree", "agrees"))
_ANSWERS: Final = frozenset(("n", "y"))
"""Letters that answer a label (PTX: N) and are initials and units elsewhere (N. Hall, 95 Y)."""


class CertaintyReader:
    """Finds cue words of the shipped vocabulary."""

    def __init__(self) -> None:
        words = load()
        self._sections = SectionReader(words)
        graph = _cues_only(build(words), {})
        weighing = words.grammar.weighing  # "over" is certainty only in a clause that prefers
        no_words = _ANSWERS.union(weighing, words.grammar.everyday)
        self._root = {w: node for w, node in graph.items() if w.isalnum() and w not in no_words}

    def _cues(self, text: str) -> Iterator[tuple[int, int, str, Node]]:
        """Give where each cue begins and ends, its first word, and what the graph says of it.

        Only where a cue can begin are words followed one by one, by number where a blank parts
        them and as they are written elsewhere.
        """
        root, free = self._root, 0
        small = text.replace("İ", "ı").lower()  # as long as the text
        words = small.translate(_BLANKED).split(" ") if small.isascii() else _NO_WORD.split(small)
        ends = list(accumulate(map(len, words)))
        words.append("")
        for at in compress(count(), map(root.__contains__, words)):
            word, following, end = words[at], words[at + 1], ends[at] + at
            node = longest = root[word]
            if following not in node and END not in node and following and small[end] == " ":
                continue
            start, stop = end - len(word), 0
            while (following := words[at + 1]) and small[end] == " ":
                stop, longest = (end, node) if END in node else (stop, longest)
                if following not in node:
                    break
                at, node = at + 1, node[following]
                end = ends[at] + at
            else:
                stop, longest = _longest(small, end, node, stop, longest)
            if stop and start >= free and (len(word) > 1 or not _is_initial(small, start, end)):
                yield start, stop, word, longest
                free = stop

    def phrases(self, text: str) -> set[str]:
        """Give the phrases that cues in what states findings stand for; one of several is none.

        A cue that a denial reaches ("no line to suggest") is part of the denial, and one who agrees
        with a report says nothing of a finding.
        """
        found: set[str] = set()
        for section in self._sections.read(text):
            part = text[section.start : section.end]
            denied = -1  # where the last denial ends
            for start, end, word, node in self._cues(part):
                phrase = _meant(node)
                reached = denied >= 0 and _STOPS.isdisjoint(part[denied:start])
                denied = end if phrase == _ABSENT or reached else -1
                if phrase and word not in _AGREES and (phrase == _ABSENT or not reached):
                    found.add(phrase)
        return found

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end of every cue, in order, without overlap."""
        return [each[:2] for each in self._cues(text)]


def _is_initial(text: str, start: int, end: int) -> bool:
    """Tell whether a letter is one behind a letter (R.V.M., m.v. Levant, I V Y) or of a code."""
    before = text[start - 1 : start]
    if before == "." or text[end : end + 1] == "-":
        return True  # 14.v, V-AV
    alone = before == " " and _NO_WORD.sub("", text[start - 3 : start - 2]) == ""
    return alone and text[start - 2 : start - 1].isalpha() and not _STROKE.match(text, end)


def _longest(text: str, at: int, node: Node, stop: int, longest: Node) -> tuple[int, Node]:
    """Follow a cue from behind some words to where its longest form ends; 0 for nowhere.

    That of those words ends at `stop`. A full stop lengthens none (the rules ask for the answer
    "No.", which is not No. 4).
    """
    while True:
        ends = text[at - 1] != "." or not (stop or text[at : at + 1].isalpha())  # "D.D.L."
        if END in node and ends:
            stop, longest = at, node
        following = _NEXT.match(text, at) if len(node) > (END in node) else None
        if following is None or following[1] not in node:
            return stop, longest
        at, node = following.end(), node[following[1]]


def _meant(node: Node) -> str | None:
    phrases = {cue.phrase for cue in node[END].cues}
    return phrases.pop() if len(phrases) == 1 else None


def _cues_only(node: Node, known: dict[int, Node]) -> Node:
    """Keep only the paths that lead to cue words; of branches that are shared one stays, shared."""
    kept = known.get(id(node))
    if kept is None:
        kept = known[id(node)] = {}
        for word, child in node.items():
            if word == END:
                if child.parts & Part.CUE:
                    kept[END] = child
            elif not word.startswith(INSERTED[0]) and (branch := _cues_only(child, known)):
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


def is_foreign(text: str) -> bool:
    """Tell whether more words of one other language than of English stand in the text.

    Its words would be read as far as they are spelt alike: "Kein Pneumothorax" as a pneumothorax.

    Examples
    --------
    >>> is_foreign("Kein Pneumothorax. Herz normal."), is_foreign("Cardiomegaly. Effusion -")
    (True, False)
    """
    (english, *others), said = _languages(), {*_NO_WORD.split(text.lower())}
    return max(len(said & other) for other in others) > len(said & english)


@cache
def _languages() -> tuple[frozenset[str], ...]:
    """Give the short words of English, and of each other language."""
    file = resources.files("extraction").joinpath("languages.toml")
    words = tomllib.loads(file.read_text(encoding="utf-8"))
    return tuple(frozenset(each.split()) for each in (words["english"], *words["other"].values()))


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    file = resources.files("extraction").joinpath("recommendation.toml")
    words = tomllib.loads(file.read_text(encoding="utf-8"))

    def any_of(name: str) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{'|'.join(words[name])})\b", re.IGNORECASE)

    return any_of("scan"), any_of("advice"), any_of("denial")
