"""Vocabularies are data files edited by clinicians; here they are read, checked and named."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from extraction.errors import VocabularyError
from extraction.vocabulary.schema import (
    CueEntry,
    GrammarFile,
    PathologyEntry,
    SectionEntry,
    VocabularyFiles,
)

__all__ = ["FILES", "NOT_KNOWN", "Vocabulary", "load"]

FILES: Final = tuple(f"{name}.toml" for name in VocabularyFiles.model_fields)
"""The five files of a vocabulary."""

NOT_KNOWN: Final = "is not in the vocabulary"
"""How the message about an unknown name ends."""

_HERE: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Everything the engines know about words.

    Attributes
    ----------
    phrases
        Canonical certainty phrases, weakest first.
    entries
        Canonical pathologies with their words, codes and roll-ups.
    cues, sections, grammar
        Cue words, section headers, and the small words of the scope rules.
    digest
        Hash over the five files; part of every row's provenance.
    """

    phrases: tuple[str, ...]
    entries: tuple[PathologyEntry, ...]
    cues: tuple[CueEntry, ...]
    sections: tuple[SectionEntry, ...]
    grammar: GrammarFile
    digest: str

    @property
    def pathologies(self) -> tuple[str, ...]:
        """Names of the canonical pathologies, in the file's order."""
        return tuple(entry.name for entry in self.entries)

    def unknown(self, *, pathology: str, phrase: str) -> list[str]:
        """Say which of the two names it does not know."""
        named = (("pathology", pathology, self.pathologies), ("phrase", phrase, self.phrases))
        return [f"{kind} {name!r} {NOT_KNOWN}" for kind, name, known in named if name not in known]


def load(path: Path | None = None) -> Vocabulary:
    """Read a vocabulary: the shipped one, with any file found in `path` in place of its own.

    Parameters
    ----------
    path
        A folder with some of the five files of `FILES`; None for the shipped vocabulary.

    Raises
    ------
    VocabularyError
        Listing every problem in every file.
    """
    return _shipped() if path is None else _load(path)


@lru_cache(maxsize=1)
def _shipped() -> Vocabulary:
    return _load(_HERE)


def _load(folder: Path) -> Vocabulary:
    if not any((folder / name).is_file() for name in FILES):
        raise VocabularyError(f"{folder}: holds none of {', '.join(FILES)}.")
    problems: list[str] = []
    texts, tables = {}, {}
    for name in FILES:
        file = folder / name
        try:
            texts[name] = (file if file.is_file() else _HERE / name).read_text(encoding="utf-8")
            tables[name.removesuffix(".toml")] = tomllib.loads(texts[name])
        except UnicodeDecodeError:
            problems.append(f"{name}: not valid UTF-8; save it as UTF-8.")
        except tomllib.TOMLDecodeError as error:
            problems.append(f"{name}: not valid TOML: {error}.")
    files = _validated(tables, problems)
    if files is not None and not problems:
        problems = _cross_checks(files)
    if files is None or problems:
        raise VocabularyError(f"{len(problems)} problem(s):\n- " + "\n- ".join(problems))
    digest = hashlib.sha256("\0".join(texts[name] for name in FILES).encode()).hexdigest()
    return Vocabulary(
        phrases=files.phrases.phrases,
        entries=files.pathologies.pathology,
        cues=files.cues.cue,
        sections=files.sections.section,
        grammar=files.grammar,
        digest=digest[:16],
    )


def _validated(tables: Mapping[str, object], problems: list[str]) -> VocabularyFiles | None:
    """Check the files that could be read; add what is wrong with them to the problems."""
    try:
        return VocabularyFiles.model_validate(tables)
    except ValidationError as error:
        for problem in error.errors():
            stem, *where = map(str, problem["loc"])
            if stem in tables:
                problems.append(f"{stem}.toml: {'.'.join(where)}: {problem['msg']}.")
    return None


def _cross_checks(files: VocabularyFiles) -> list[str]:
    phrases, entries, grammar = files.phrases.phrases, files.pathologies.pathology, files.grammar
    names = [entry.name for entry in entries]
    problems = [f"pathologies.toml: {name!r} is defined twice." for name in _repeated(names)]
    problems += [f"phrases.toml: {phrase!r} is listed twice." for phrase in _repeated(phrases)]
    problems += [
        f"phrases.toml: {p!r} is missing." for p in ("absent", "present") if p not in phrases
    ]
    for cue in files.cues.cue:
        if cue.phrase and cue.phrase not in phrases:
            problems.append(f"cues.toml: phrase {cue.phrase!r} is not in phrases.toml.")
    for entry in entries:
        for group in entry.elsewhere:
            if group not in grammar.context.groups:
                problems.append(
                    f"pathologies.toml: {entry.name}: no group {group!r} in grammar.toml."
                )
    ruled = [entry.pathology for entry in grammar.attribute]
    ruled += [*(entry.pathology for entry in grammar.split), *sorted(grammar.signs)]
    problems += [f"grammar.toml: pathology {n!r} is not defined." for n in ruled if n not in names]
    return problems


def _repeated(names: list[str] | tuple[str, ...]) -> list[str]:
    return sorted({name for name in names if list(names).count(name) > 1})
