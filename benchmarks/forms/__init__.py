"""Ways to write a labelled report anew that change no label, in the order of registering."""

from importlib import import_module

from forms.ways import FORMS, Form, Report

for _kind in ("text", "sections", "words", "sentences", "pairs"):
    import_module(f"forms.{_kind}")

__all__ = ["FORMS", "Form", "Report"]
