r"""In which form a model answers: lines or JSON, the sentence quoted by its words or by its number.

| quoted | as lines | as JSON |
|---|---|---|
| by words | ``- "No effusion.", "pleural effusion", "absent"`` | ``{"statements": [{"sentence": "No effusion.", ...}]}`` |
| by number | ``- 7, pleural effusion, absent`` | ``{"statements": [{"sentence": 7, ...}]}`` |

What a chat model writes around its answer is passed over: code fences, a preamble, a closing remark.
"""  # noqa: E501

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from extraction.finding import NOT_EVALUABLE, OTHER
from extraction.prompt.examples import NONE, Line, parse, written
from extraction.vocabulary import Vocabulary

_FENCE: Final = re.compile(r"\s*(?:```|~~~)\w*\s*")
_CELL: Final = r"\s*,\s*\"?([^,\"]+)\"?"
_NUMBERED: Final = re.compile(rf"[\s\-–*•]*#?(\d{{1,4}})[.)]?{_CELL}{_CELL}")
_BULLET: Final = re.compile(r"\s*\d{1,3}[.)]\s+(?=[\"“„«\-])")
_OPENS: Final = ("-", '"', "“", "{")
_LONGEST: Final = 4_000


@dataclass(frozen=True, slots=True)
class Parsed:
    """An answer's lines as written, each with what it says; None for one that is broken.

    Attributes
    ----------
    nones
        Lines that say that nothing is stated.
    stops
        Whether the answer stops in the middle of a line.
    """

    lines: tuple[tuple[str, Line | None], ...] = ()
    nones: int = 0
    stops: bool = False


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """One of the four forms.

    Attributes
    ----------
    quoted
        How the sentence is named.
    shape
        ``lines`` or ``json``.
    """

    quoted: Literal["words", "number"] = "words"
    shape: Literal["lines", "json"] = "lines"

    @property
    def asks(self) -> str:
        """How the form is asked for, in the instruction's words."""
        numbered = self.quoted == "number"
        sentence = "its sentence's number" if numbered else "the sentence word for word"
        if self.shape == "json":
            return (
                f"Answer in JSON, one entry per statement and pathology: {sentence}, the "
                "pathology, the certainty the report gives it. A report that states none: "
                '{"statements": []}'
            )
        return (
            f"One line per statement and pathology: {sentence}, the pathology, the certainty the "
            f"report gives it. A report that states none has the line {NONE}"
        )

    def written(self, lines: Sequence[Line]) -> str:
        """Write an answer as a model is to write it."""
        if self.shape == "json":
            return json.dumps({"statements": [self._entry(line) for line in lines]}) + "\n"
        shown = [
            written(line)
            if self.quoted == "words"
            else f"- {line.sentence}, {line.pathology}, {line.certainty}"
            for line in lines
        ]
        return "\n".join(shown or [NONE]) + "\n"

    def parsed(self, body: str, *, most: int) -> Parsed:
        """Read an answer; of lines no more than `most`."""
        if self.shape == "json" or body.lstrip("`json\n\r\t ").startswith("{"):
            return _from_json(body)
        lines = [line for line in body.splitlines() if line.strip() and not _FENCE.fullmatch(line)]
        said = [(line, self._line(line)) for line in lines[:most] if not says_none(line)]
        whole = [n for n, (shown, line) in enumerate(said) if line is not None or _opens(shown)]
        if any(line is not None for _, line in said):
            said = said[whole[0] : whole[-1] + 1]
        stops = bool(said) and said[-1][1] is None and _opens(said[-1][0])
        return Parsed(tuple(said), sum(map(says_none, lines[:most])), stops or len(lines) > most)

    def regex(self, vocabulary: Vocabulary, *, sentences: int, mark: str) -> str:
        """Give a regular expression that matches whole answers of this form.

        It counts nothing, because counted repeats make a server's automaton large; how long an
        answer may grow is the request's ``max_tokens`` and the parser's limit of lines.

        Parameters
        ----------
        vocabulary
            Its pathologies and phrases are the only ones the expression lets through.
        sentences
            Number of sentences of the report; a number beyond it does not match.
        mark
            What ends an answer; "" where the model's own end does.
        """
        pathology, certainty = (
            "|".join(re.escape(word).replace("\\ ", " ").replace("\\-", "-") for word in words)
            for words in (vocabulary.pathologies, _certainties(vocabulary))
        )
        numbers = "|".join(str(n) for n in range(1, max(sentences, 1) + 1))
        line = rf"- ({numbers}), ({pathology}), ({certainty})\n"
        if self.quoted == "words":
            line = rf'- "[^"\n]+", "({pathology})", "({certainty})"\n'
        return rf"({NONE}\n|({line})+){mark}"

    def schema(self, vocabulary: Vocabulary, *, sentences: int) -> dict[str, object]:
        """Give a JSON schema that whole answers of this form fulfil."""
        quoted: dict[str, object] = {"type": "string"}
        if self.quoted == "number":
            quoted = {"type": "integer", "minimum": 1, "maximum": max(sentences, 1)}
        entry = {
            "type": "object",
            "properties": {
                "sentence": quoted,
                "pathology": {"enum": list(vocabulary.pathologies)},
                "certainty": {"enum": list(_certainties(vocabulary))},
            },
            "required": ["sentence", "pathology", "certainty"],
            "additionalProperties": False,
        }
        return {
            "type": "object",
            "properties": {"statements": {"type": "array", "items": entry}},
            "required": ["statements"],
            "additionalProperties": False,
        }

    def _line(self, text: str) -> Line | None:
        if self.quoted == "words":
            return parse(_BULLET.sub("", text, count=1))
        match = _NUMBERED.match(text[:_LONGEST])
        if match is None:
            return None
        number, *cells = match.groups()
        pathology, certainty = (" ".join(c.lower().strip(" .\r").split()) for c in cells)
        return Line(number, pathology, certainty)

    def _entry(self, line: Line) -> dict[str, object]:
        sentence = int(line.sentence) if self.quoted == "number" else line.sentence
        return {"sentence": sentence, "pathology": line.pathology, "certainty": line.certainty}


BY_WORDS: Final = AnswerForm()
"""Lines that quote by words: the form that base models follow best."""


def says_none(line: str) -> bool:
    """Whether a line says that nothing is stated."""
    return line.strip(" \t\r-–*•.\"'").lower() == NONE.strip("- ")


def _opens(line: str) -> bool:
    return line.lstrip().startswith(_OPENS)


def _certainties(vocabulary: Vocabulary) -> tuple[str, ...]:
    return (*vocabulary.phrases, OTHER, NOT_EVALUABLE)


def _from_json(body: str) -> Parsed:
    start, end = body.find("{"), body.rfind("}")
    try:
        found = json.loads(body[start : end + 1]) if 0 <= start < end else None
    except (ValueError, RecursionError):
        found = None
    entries = found.get("statements") if isinstance(found, Mapping) else None
    if not isinstance(entries, list):
        shown = body.strip()
        return Parsed(((shown, None),), stops=start >= 0) if shown else Parsed()
    lines = tuple((json.dumps(entry), _from_entry(entry)) for entry in entries)
    return Parsed(lines, nones=int(not entries))


def _from_entry(entry: object) -> Line | None:
    if not isinstance(entry, Mapping):
        return None
    cells = [entry.get(name) for name in ("sentence", "pathology", "certainty")]
    if not isinstance(cells[0], str | int) or not all(isinstance(c, str) for c in cells[1:]):
        return None
    sentence, *words = map(str, cells)
    pathology, certainty = (" ".join(word.lower().split()) for word in words)
    return Line(sentence.strip(), pathology, certainty)
