"""What a language model is shown and in which lines it answers; the worked examples are data."""

from extraction.prompt.choose import estimated_tokens, fitting, ordered
from extraction.prompt.examples import Example, Prompts, load
from extraction.prompt.lines import NONE, NOT_EVALUABLE, OTHER, Line, parse, regex, written
from extraction.prompt.template import MARK, Template

__all__ = [
    "MARK",
    "NONE",
    "NOT_EVALUABLE",
    "OTHER",
    "Example",
    "Line",
    "Prompts",
    "Template",
    "estimated_tokens",
    "fitting",
    "load",
    "ordered",
    "parse",
    "regex",
    "written",
]
