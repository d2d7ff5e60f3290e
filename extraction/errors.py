"""What can go wrong in extraction as a whole; a single report never raises."""

from __future__ import annotations

from pydantic import ValidationError


class ExtractionError(Exception):
    """Root of this package's errors."""


class VocabularyError(ExtractionError):
    """A vocabulary file cannot be used; the message lists every problem found."""


class ModelSettingsError(ExtractionError):
    """A model cannot be used as it was named: its address, folder, environment or a limit."""


class ModelOutageError(ExtractionError):
    """The model failed more of a batch than is tolerated; nothing of the batch is to be kept."""


class ModelRefusedError(ModelOutageError):
    """A server lets nobody in, knows no such model or no such address; its own words say which."""


def explained(error: ValidationError) -> list[str]:
    """Say where each problem lies and what it is; its value may be a report's, and is not told."""
    return [
        f"{'.'.join(map(str, problem['loc'])) or 'the whole line'}: {problem['msg']}"
        for problem in error.errors(include_input=False, include_url=False)
    ]
