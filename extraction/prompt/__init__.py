"""What a language model is shown and in which lines it answers; the worked examples are data."""

from extraction.finding import NOT_EVALUABLE, OTHER
from extraction.prompt.examples import NONE, Example, Line, Prompts, load, parse, regex, written
from extraction.prompt.forms import AnswerForm, Parsed
from extraction.prompt.template import (
    MARK,
    RAW,
    Manner,
    Template,
    Turn,
    Worked,
    estimated_tokens,
    fitting,
    ordered,
)

__all__ = [
    "MARK",
    "NONE",
    "NOT_EVALUABLE",
    "OTHER",
    "RAW",
    "AnswerForm",
    "Example",
    "Line",
    "Manner",
    "Parsed",
    "Prompts",
    "Template",
    "Turn",
    "Worked",
    "estimated_tokens",
    "fitting",
    "load",
    "ordered",
    "parse",
    "regex",
    "written",
]
