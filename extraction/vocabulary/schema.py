"""Shape of the vocabulary files, checked when they are read: they are edited by hand."""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

CueKind: TypeAlias = Literal["negation", "hedge", "denial", "assertion", "ignore", "not evaluable"]
CueSide: TypeAlias = Literal["before", "after", "either", "around"]
_NAMED = re.compile(r"<(\w+)>")
Words: TypeAlias = Annotated[tuple[str, ...], Field(min_length=1)]


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PathologyEntry(_Entry):
    """One canonical pathology."""

    name: str
    words: Words
    excludes: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    elsewhere_is: dict[str, str] = {}
    codes: dict[Literal["snomed", "radlex"], str] = {}
    chexpert: str = ""
    ctrate: str = ""


class PathologyFile(_Entry):
    """``pathologies.toml``."""

    pathology: tuple[PathologyEntry, ...]


class CueEntry(_Entry):
    """Cue words with one meaning."""

    phrase: str
    kind: CueKind
    side: CueSide
    words: Words


class CueFile(_Entry):
    """``cues.toml``; `fragment` names choices that cue words take up as ``<name>``."""

    fragment: dict[str, str] = {}
    cue: tuple[CueEntry, ...]

    @model_validator(mode="after")
    def _filled(self) -> CueFile:
        cues = [
            each.model_copy(update={"words": tuple(map(self._written_out, each.words))})
            for each in self.cue
        ]
        return self.model_copy(update={"cue": tuple(cues)})

    def _written_out(self, pattern: str) -> str:
        """Put its choice in the place of each name."""
        unknown = set(_NAMED.findall(pattern)).difference(self.fragment)
        if unknown:
            raise ValueError(f"{pattern!r}: no fragment {sorted(unknown)[0]!r}")
        return _NAMED.sub(
            lambda name: "{" + self._written_out(self.fragment[name[1]]) + "}", pattern
        )


class SectionEntry(_Entry):
    """One canonical section and its headers."""

    name: str
    read: bool
    keep: bool = False
    closing: bool = False
    amends: bool = False
    titles: bool = False
    headers: Words
    openings: tuple[str, ...] = ()
    spoken: tuple[str, ...] = ()
    initials: tuple[str, ...] = ()


class SectionFile(_Entry):
    """``sections.toml``."""

    section: tuple[SectionEntry, ...]


class PhraseFile(_Entry):
    """``phrases.toml``: canonical phrases, weakest first."""

    phrases: Words


class AttributeEntry(_Entry):
    """A pathology stated by a subject and a predicate ("heart size … normal")."""

    pathology: str
    subjects: Words
    not_subjects: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    present: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


class SplitEntry(_Entry):
    """A pathology named by a thing and a property apart from it."""

    pathology: str
    leads: bool = False
    subjects: Words
    properties: Words


class ContextTable(_Entry):
    """Words that place a statement in the lung, or elsewhere by group."""

    lung: Words
    groups: dict[str, Words]


class GrammarFile(_Entry):
    """``grammar.toml``: the small words of the scope rules."""

    boundaries: Words
    companions: Words
    causes: Words
    openers: Words
    participles: Words
    verbs: Words
    pronouns: Words
    asserting: Words
    coordinators: Words
    recommending: Words
    finite: frozenset[str]
    restarts: frozenset[str]
    asked: frozenset[str] = frozenset()
    abbreviations: frozenset[str]
    limiting: frozenset[str]
    transitive: frozenset[str]
    adjuncts: frozenset[str]
    predicative: frozenset[str] = frozenset()
    fillers: frozenset[str]
    signs: frozenset[str]
    undenied: frozenset[str] = frozenset()
    things: frozenset[str] = frozenset()
    prepositions: frozenset[str]
    earlier: frozenset[str]
    attribute: tuple[AttributeEntry, ...] = ()
    split: tuple[SplitEntry, ...] = ()
    context: ContextTable
    trailing: frozenset[str] = frozenset()
    examinations: frozenset[str] = frozenset()
    judging: frozenset[str] = frozenset()
    vague: frozenset[str] = frozenset()
    opening: frozenset[str] = frozenset()
    articles: frozenset[str] = frozenset()
    qualities: frozenset[str] = frozenset()
    closing: frozenset[str] = frozenset()
    unending: frozenset[str] = frozenset()
    copulas: frozenset[str] = frozenset()
    devices: frozenset[str] = frozenset()
    shapes: frozenset[str] = frozenset()
    proving: frozenset[str] = frozenset()
    services: frozenset[str] = frozenset()
    nesting: frozenset[str] = frozenset()
    definite: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()
    sides: frozenset[str] = frozenset()
    lasting: frozenset[str] = frozenset()
    going: frozenset[str] = frozenset()
    partly: tuple[str, ...] = ()
    quantities: frozenset[str] = frozenset()
    correcting: tuple[str, ...] = ()
    changes: frozenset[str] = frozenset()
    helping: frozenset[str] = frozenset()
    everyday: frozenset[str] = frozenset()
    doubting: tuple[str, ...] = ()
    assured: tuple[str, ...] = ()
    compared: frozenset[str] = frozenset()
    differentials: frozenset[str] = frozenset()
    weighing: dict[str, frozenset[str]] = {}
    opposite: dict[str, str] = {}
    awaiting: dict[str, frozenset[str]] = {}
    yielding: dict[str, frozenset[str]] = {}
    referring: dict[str, tuple[str, ...]] = {}
    answered: frozenset[str] = frozenset()
    answers: dict[str, tuple[str, ...]] = {}
    spelling: dict[str, str] = {}
    inserted: tuple[str, ...] = ()
    alike: dict[str, tuple[str, ...]] = {}
    tenses: dict[str, tuple[str, ...]] = {}


class VocabularyFiles(_Entry):
    """The five files, each by its name."""

    phrases: PhraseFile
    pathologies: PathologyFile
    cues: CueFile
    sections: SectionFile
    grammar: GrammarFile
