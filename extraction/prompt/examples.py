"""The line of an answer, and worked examples that consist of such lines.

Quoting the sentence first makes a model look before it judges. The same grammar is written into
examples, offered to servers as a regular expression, and parsed; parsing is linear in the line.
Examples are data files, one per modality, edited by people who read reports.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from extraction.errors import ExtractionError, explained
from extraction.finding import Modality

NONE: Final = "- none"
"""The answer for a report that states nothing; an empty answer is a failure instead."""

_MAX_CHARACTERS: Final = 4_000
_BULLETS: Final = " \t-–*•"
_QUOTES: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"'})


@dataclass(frozen=True, slots=True)
class Line:
    """One line of an answer, as the model wrote it."""

    sentence: str
    pathology: str
    certainty: str


def written(line: Line) -> str:
    r"""Write a line as a model is to write it.

    Examples
    --------
    >>> written(Line('The "mass"\nis gone.', "lung mass", "absent"))
    '- "The \'mass\' is gone.", "lung mass", "absent"'
    """
    sentence = " ".join(line.sentence.replace('"', "'").split())
    return f'- "{sentence}", "{line.pathology}", "{line.certainty}"'


def parse(text: str) -> Line | None:
    """Read one line; None where it is no whole line of the grammar.

    The last two quoted fields are taken from the right, so that a sentence may hold quotation
    marks of its own.

    Examples
    --------
    >>> parse('- "Called "small" effusion.", "pleural effusion", "present"').sentence
    'Called "small" effusion.'
    >>> parse('- "No effusion.", "pleural eff') is None
    True
    """
    if len(text) > _MAX_CHARACTERS:
        return None
    body = text.translate(_QUOTES).strip(_BULLETS + "\r,.")
    fields = []
    for _ in range(2):
        last = _last_field(body)
        if last is None:
            return None
        body, field = last
        fields.append(field)
    if len(body) < len('""') or body[0] != '"' or body[-1] != '"':
        return None
    certainty, pathology = (" ".join(field.lower().split()) for field in fields)
    return Line(body[1:-1].strip(), pathology, certainty)


def _last_field(body: str) -> tuple[str, str] | None:
    """Split ``…, "field"`` into what stands before the comma, and the field."""
    if not body.endswith('"'):
        return None
    opening = body.rfind('"', 0, len(body) - 1)
    before = body[: max(opening, 0)].rstrip()
    if not before.endswith(","):
        return None
    return before[:-1].rstrip(), body[opening + 1 : -1]


FILES: Final[Mapping[Modality, str]] = {"XR": "xr.toml", "CT": "ct.toml"}
"""The example file of each modality."""

_HERE: Final = Path(__file__).parent


class PromptError(ExtractionError):
    """A file of examples cannot be used; the message says which example and why."""


class Example(BaseModel):
    """A report and the answer a person gave, in reading order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    report: str = Field(min_length=1)
    answer: tuple[tuple[str, str, str], ...]

    @property
    def lines(self) -> tuple[Line, ...]:
        """The answer's lines."""
        return tuple(Line(*cells) for cells in self.answer)

    @model_validator(mode="after")
    def _quotes_the_report(self) -> Example:
        strange = [n for n, (s, _, _) in enumerate(self.answer, start=1) if s not in self.report]
        if strange:
            raise ValueError(
                f"answer row(s) {strange}: the sentence is not in the report word for word"
            )
        return self


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    example: tuple[Example, ...]

    @model_validator(mode="after")
    def _holds_an_example(self) -> _File:
        if not self.example:
            raise ValueError("no example; give at least one")
        return self


@dataclass(frozen=True, slots=True)
class Prompts:
    """The examples of both modalities, and the hash of their files."""

    examples: Mapping[Modality, tuple[Example, ...]]
    digest: str


def load(path: Path | None = None) -> Prompts:
    """Read examples: the shipped ones, with any file found in `path` in place of its own.

    Parameters
    ----------
    path
        A folder with ``xr.toml``, ``ct.toml`` or both; None for the shipped examples.

    Raises
    ------
    PromptError
        Listing every problem in every file; report text is not quoted.
    """
    return _shipped() if path is None else _load(path)


@lru_cache(maxsize=1)
def _shipped() -> Prompts:
    return _load(_HERE)


def _load(folder: Path) -> Prompts:
    if not any((folder / name).is_file() for name in FILES.values()):
        raise PromptError(f"{folder}: holds neither xr.toml nor ct.toml.")
    examples: dict[Modality, tuple[Example, ...]] = {}
    problems: list[str] = []
    digest = hashlib.sha256()
    for modality, name in FILES.items():
        file = folder / name
        content = (file if file.is_file() else _HERE / name).read_bytes()
        digest.update(content + b"\0")
        try:
            examples[modality] = _File.model_validate(tomllib.loads(content.decode())).example
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            problems.append(f"{name}: not valid TOML in UTF-8.")
        except ValidationError as error:
            problems += [f"{name}: {problem}." for problem in explained(error)]
    if problems:
        raise PromptError(f"{len(problems)} problem(s):\n- " + "\n- ".join(problems))
    return Prompts(examples, digest.hexdigest()[:16])
