"""A language model answers, and says how sure it is; what it says is read, never repaired."""

from extraction.neighbours.elicitation.answers import REASONS, Stated, Unreadable, read_answer
from extraction.neighbours.elicitation.asking import (
    Completer,
    Completion,
    ModelCompleter,
    RememberingCompleter,
)
from extraction.neighbours.elicitation.forms import FORMS, Form, Judge, Prompter, Verdict, matched
from extraction.neighbours.elicitation.questions import Question, QuestionError, load_questions
from extraction.neighbours.elicitation.run import Elicited, Way, elicit

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
