"""One module per kind of identifier; each says where it may stand, none decides who wins."""

from __future__ import annotations

from pipeline.deidentify.rules import ages, contacts, dates, guards, names, numbers, places
from pipeline.deidentify.rules.found import Found

__all__ = ["Found", "ages", "contacts", "dates", "guards", "names", "numbers", "places"]
