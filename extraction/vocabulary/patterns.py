"""The small notation of the vocabulary files, expanded to token sequences, and its traps.

``[x|y]`` may be left out, ``{x|y}`` is a choice, both nest; ``=PE`` demands that spelling and case.
Tokens are words or single punctuation marks, lower case; hyphens are dropped, because a hyphen and
a space between two words mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import prod
from typing import Final, TypeAlias

from extraction.errors import VocabularyError
from extraction.vocabulary import Vocabulary

Pattern: TypeAlias = tuple[str | tuple["Pattern", ...], ...]
"""A sequence of tokens and of choices between patterns."""
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
    return tuple(variant for variant in dict.fromkeys(_variants(parsed(pattern))) if variant)


def parsed(pattern: str) -> Pattern:
    """Read a pattern as its tokens and choices.

    Raises
    ------
    VocabularyError
        As for `expand`.

    Examples
    --------
    >>> parsed("no [definite] {sign|evidence} of")
    ('no', (('definite',), ()), (('sign',), ('evidence',)), 'of')
    """
    found, rest = _sequence(pattern, 0, pattern)
    if rest != len(pattern):
        raise VocabularyError(f"pattern {pattern!r}: unmatched bracket at character {rest + 1}.")
    if _count(found) > MAX_VARIANTS:
        raise VocabularyError(f"pattern {pattern!r}: more than {MAX_VARIANTS} variants.")
    return found


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


def _sequence(pattern: str, at: int, whole: str) -> tuple[Pattern, int]:
    pieces: list[str | tuple[Pattern, ...]] = []
    while at < len(pattern) and pattern[at] not in "]}|":
        if pattern[at] in "[{":
            optional = pattern[at] == "["
            options, at = _options(pattern, at + 1, "]" if optional else "}", whole)
            pieces.append((*options, ()) if optional else options)
        else:
            bracket = _BRACKET.search(pattern, at)
            end = bracket.start() if bracket else len(pattern)
            pieces += _tokens(pattern[at:end])
            at = end
    return tuple(pieces), at


def _options(pattern: str, at: int, closing: str, whole: str) -> tuple[tuple[Pattern, ...], int]:
    options: list[Pattern] = []
    while True:
        found, at = _sequence(pattern, at, whole)
        options.append(found)
        if at < len(pattern) and pattern[at] == "|":
            at += 1
            continue
        if at < len(pattern) and pattern[at] == closing:
            return tuple(options), at + 1
        raise VocabularyError(f"pattern {whole!r}: a bracket is not closed by {closing!r}.")


def _variants(pattern: Pattern) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [()]
    for piece in pattern:
        options = (
            [(piece,)]
            if isinstance(piece, str)
            else [variant for option in piece for variant in _variants(option)]
        )
        found = [variant + option for variant in found for option in options]
    return found


def _count(pattern: Pattern) -> int:
    return prod(sum(map(_count, piece)) for piece in pattern if not isinstance(piece, str))


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
