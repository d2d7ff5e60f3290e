"""The small notation of the vocabulary files, expanded to token sequences, and its traps.

``[x|y]`` may be left out, ``{x|y}`` is a choice, both nest; ``=PE`` demands that spelling and case.
Tokens are words or single punctuation marks, lower case; hyphens are dropped, because a hyphen and
a space between two words mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from extraction.errors import VocabularyError
from extraction.vocabulary import Vocabulary

MAX_VARIANTS: Final = 20_000
"""A single pattern that expands to more is refused: it is a mistake, and would cost memory."""

_TOKEN: Final = re.compile(r"[^\W_]+|_+|[^\w\s]")
_BRACKET: Final = re.compile(r"[\[{\]}|]")
_IRREGULAR: Final = (("sis", "ses"), ("ss", "sses"), ("opacity", "opacities"), ("y", "ies"))
_NO_PLURAL: Final = ("s", "x", "ic", "glass", "ed", "ies")
_SIDES = {"either": {"before", "after"}, "before": {"before"}, "after": {"after"}}


def expand(pattern: str) -> tuple[tuple[str, ...], ...]:
    """Every token sequence a pattern stands for, without repeats.

    Raises
    ------
    VocabularyError
        If brackets do not match or the pattern has too many variants.

    Examples
    --------
    >>> expand("no [definite] {sign|evidence} of")[0]
    ('no', 'definite', 'sign', 'of')
    >>> len(expand("no [definite] {sign|evidence} of"))
    4
    """
    found, rest = _sequence(pattern, 0, pattern)
    if rest != len(pattern):
        raise VocabularyError(f"pattern {pattern!r}: unmatched bracket at character {rest + 1}.")
    return tuple(variant for variant in dict.fromkeys(found) if variant)


def plural(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Put the last word of an expression in the plural.

    Examples
    --------
    >>> plural(("ground", "glass", "opacity"))
    ('ground', 'glass', 'opacities')
    >>> plural(("mass",))
    ('masses',)
    """
    *head, last = tokens
    for singular, ending in _IRREGULAR:
        if last.endswith(singular):
            return (*head, last[: len(last) - len(singular)] + ending)
    if last.endswith(_NO_PLURAL) or not last.isalpha():
        return tokens
    return (*head, last + "s")


def warnings_for(vocabulary: Vocabulary) -> list[str]:
    """Find what is legal but surely not meant.

    Returns
    -------
    One line each: cue expressions with two meanings on the same side, of which only the first
    counts; patterns that do not expand; words listed for a pathology and excluded from it at once.
    """
    return [*_malformed(vocabulary), *_two_meanings(vocabulary), *_excluded_words(vocabulary)]


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(piece for piece in _TOKEN.findall(text.lower()) if piece != "-")


def _sequence(pattern: str, at: int, whole: str) -> tuple[list[tuple[str, ...]], int]:
    found: list[tuple[str, ...]] = [()]
    while at < len(pattern) and pattern[at] not in "]}|":
        if pattern[at] in "[{":
            closing = "]" if pattern[at] == "[" else "}"
            options, at = _options(pattern, at + 1, closing, whole)
            if closing == "]":
                options.append(())
        else:
            bracket = _BRACKET.search(pattern, at)
            end = bracket.start() if bracket else len(pattern)
            options, at = [_tokens(pattern[at:end])], end
        found = [variant + option for variant in found for option in options]
        if len(found) > MAX_VARIANTS:
            raise VocabularyError(f"pattern {whole!r}: more than {MAX_VARIANTS} variants.")
    return found, at


def _options(pattern: str, at: int, closing: str, whole: str) -> tuple[list[tuple[str, ...]], int]:
    options: list[tuple[str, ...]] = []
    while True:
        found, at = _sequence(pattern, at, whole)
        options.extend(found)
        if at < len(pattern) and pattern[at] == "|":
            at += 1
            continue
        if at < len(pattern) and pattern[at] == closing:
            return options, at + 1
        raise VocabularyError(f"pattern {whole!r}: a bracket is not closed by {closing!r}.")


def _expressions(patterns: Iterable[str]) -> Iterator[tuple[str, ...]]:
    for pattern in patterns:
        try:
            yield from expand(pattern.removeprefix("="))
        except VocabularyError:
            continue


def _malformed(vocabulary: Vocabulary) -> Iterator[str]:
    lists = [(f"cue {cue.phrase or cue.kind!r}", cue.words) for cue in vocabulary.cues]
    lists += [(entry.name, (*entry.words, *entry.excludes)) for entry in vocabulary.entries]
    for owner, patterns in lists:
        for pattern in patterns:
            try:
                expand(pattern.removeprefix("="))
            except VocabularyError as error:
                yield f"{owner}: {error}"


def _two_meanings(vocabulary: Vocabulary) -> Iterator[str]:
    seen: dict[tuple[tuple[str, ...], str], str] = {}
    told: set[tuple[str, ...]] = set()
    for cue in vocabulary.cues:
        meaning = cue.phrase or cue.kind
        for tokens in _expressions(cue.words):
            for side in _SIDES.get(cue.side, {"around"}):
                first = seen.setdefault((tokens, side), meaning)
                if first != meaning and tokens not in told:
                    told.add(tokens)
                    words = " ".join(tokens)
                    yield f"cue {words!r}: means {first!r}, so {meaning!r} never applies."


def _excluded_words(vocabulary: Vocabulary) -> Iterator[str]:
    for entry in vocabulary.entries:
        both = set(_expressions(entry.words)) & set(_expressions(entry.excludes))
        for tokens in sorted(both):
            yield f"{entry.name}: {' '.join(tokens)!r} is both a word and excluded; it is excluded."
