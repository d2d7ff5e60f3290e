"""Is an edited vocabulary sound, and what would it change? For people who edit word lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from extraction.errors import VocabularyError
from extraction.finding import Outcome
from extraction.resolution import resolve
from extraction.vocabulary import Vocabulary
from extraction.vocabulary.patterns import expand

__all__ = ["Change", "changes", "warnings_for"]

_SIDES = {"either": {"before", "after"}, "before": {"before"}, "after": {"after"}}


@dataclass(frozen=True, slots=True)
class Change:
    """One cell of the sample that an edited vocabulary reads otherwise."""

    report_id: str
    pathology: str
    before: str
    after: str


def warnings_for(vocabulary: Vocabulary) -> list[str]:
    """Find what is legal but surely not meant.

    Returns
    -------
    One line each: cue expressions with two meanings on the same side, of which only the first
    counts; patterns that do not expand; words listed for a pathology and excluded from it at once.
    """
    return [
        *_malformed(vocabulary),
        *_two_meanings(vocabulary),
        *_excluded_words(vocabulary),
    ]


def changes(
    report_ids: Sequence[str],
    before: tuple[Vocabulary, Sequence[Outcome]],
    after: tuple[Vocabulary, Sequence[Outcome]],
) -> Iterator[Change]:
    """Cells that differ between two vocabularies' outcomes on the same reports."""
    for number, report_id in enumerate(report_ids):
        old = resolve(before[1][number], vocabulary=before[0])
        new = resolve(after[1][number], vocabulary=after[0])
        for name in dict.fromkeys((*old, *new)):
            was = (old[name].phrase or old[name].outcome) if name in old else "not in vocabulary"
            now = (new[name].phrase or new[name].outcome) if name in new else "not in vocabulary"
            if was != now:
                yield Change(report_id, name, was, now)


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
