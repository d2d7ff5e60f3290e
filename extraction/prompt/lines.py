"""The line grammar of an answer: ``- "sentence", "pathology", "certainty"``, or ``- none``.

Quoting the sentence first makes a model look before it judges. The same grammar is written into
examples, offered to servers as a regular expression, and parsed; parsing is linear in the line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from extraction.finding import NOT_EVALUABLE, OTHER
from extraction.vocabulary import Vocabulary

__all__ = ["NONE", "NOT_EVALUABLE", "OTHER", "Line", "parse", "regex", "written"]

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


def regex(vocabulary: Vocabulary, *, mark: str) -> str:
    """Give a regular expression that matches whole answers and closes the vocabulary.

    It counts nothing, because counted repeats make a server's automaton large; how long an answer
    may grow is the request's ``max_tokens`` and the parser's limit of lines.

    Parameters
    ----------
    vocabulary
        Its pathologies and phrases are the only ones the expression lets through.
    mark
        What ends an answer.
    """
    pathology = "|".join(map(_literal, vocabulary.pathologies))
    certainty = "|".join(map(_literal, (*vocabulary.phrases, OTHER, NOT_EVALUABLE)))
    line = rf'- "[^"\n]+", "({pathology})", "({certainty})"\n'
    return rf"({NONE}\n|({line})+){mark}"


def _literal(words: str) -> str:
    """Escape what a regular expression would read; spaces and hyphens stand for themselves."""
    return re.escape(words).replace("\\ ", " ").replace("\\-", "-")


def _last_field(body: str) -> tuple[str, str] | None:
    """Split ``…, "field"`` into what stands before the comma, and the field."""
    if not body.endswith('"'):
        return None
    opening = body.rfind('"', 0, len(body) - 1)
    before = body[: max(opening, 0)].rstrip()
    if not before.endswith(","):
        return None
    return before[:-1].rstrip(), body[opening + 1 : -1]
