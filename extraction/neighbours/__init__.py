"""A language model says how sure it is, asked or by its layers; it is read, never repaired."""

from extraction.neighbours.answers import REASONS, Stated, Unreadable, read_answer
from extraction.neighbours.forms import FORMS, Form, Judge, Prompter, Verdict, matched
from extraction.neighbours.questions import (
    Completer,
    Completion,
    ModelCompleter,
    Question,
    QuestionError,
    RememberingCompleter,
    load_questions,
)
from extraction.neighbours.run import Elicited, Way, elicit

__all__ = [
    "FORMS",
    "REASONS",
    "Completer",
    "Completion",
    "Elicited",
    "Form",
    "Judge",
    "ModelCompleter",
    "Prompter",
    "Question",
    "QuestionError",
    "RememberingCompleter",
    "Stated",
    "Unreadable",
    "Verdict",
    "Way",
    "elicit",
    "load_questions",
    "matched",
    "read_answer",
]
