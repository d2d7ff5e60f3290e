"""Two sentences: joined, contrasted, and what stands between."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from forms.sentences import HEDGE, NOUNS, PLAIN, VERB, small, thing_of
from forms.ways import Report, RowVariant, family


def joined(write: Callable[..., str | None]) -> RowVariant:
    """Join neighbours once each; None if none can be."""

    def every(report: Report, row: object) -> str | None:
        text, changed = report.text, False
        for said in (report.findings, report.impression):
            free = 0
            for k, (one, two) in enumerate(pairwise(said)):
                both = f"{one} {two}"
                other = None
                plain = PLAIN.fullmatch(one) and PLAIN.fullmatch(two)
                if k >= free and plain and text.count(both) == 1:
                    other = write(one.rstrip(". "), two.rstrip(". "), row)
                if other is not None:
                    text, changed, free = text.replace(both, other.rstrip(". ") + "."), True, k + 2
        return text if changed else None

    return every


_NO_ONE: Final = re.compile(rf"(?:There (?:is|are) no|No) ((?:[a-z]+ ){{0,3}}{NOUNS})")
_FINITE: Final = re.compile(r"\b(?:is|are)\b")


@family("and_not", "join: ")
@joined
def _and_not(one: str, two: str, template: str) -> str | None:
    match = _NO_ONE.fullmatch(two)
    if match is None or one.startswith(("No ", "There is no", "There are no", "Nil")):
        return None
    if VERB.search(one) and ("with no" in template or "without" in template):
        return None
    if re.search(rf"\b{HEDGE}\b|\?|possible|probable|exclude", one) and "without" in template:
        return None
    return template.format(one, match[1])


@family("not_but", "join: ")
@joined
def _not_but(one: str, two: str, joint: str) -> str | None:
    thing = thing_of(two)
    if thing is None or _NO_ONE.fullmatch(one) is None:
        return None
    one_small = thing.lower().startswith(("small", "tiny")) and not thing.endswith("s")
    return one + joint + ("a " if one_small else "") + small(thing)


@family("both", "join: ")
@joined
def _both(one: str, two: str, joint: str) -> str | None:
    first, second = thing_of(one), thing_of(two)
    return first + joint + small(second) if first and second else None


@family("verbs", "join: sentences with verbs, ")
@joined
def _verbs(one: str, two: str, joint: str) -> str | None:
    if not (_FINITE.search(one) and _FINITE.search(two)):
        return None
    return None if two.startswith(("This", "It", "These")) else f"{one}, {joint} {small(two)}"


@family("no_two", "join: No X. No Y. as ")
@joined
def _no_two(one: str, two: str, template: str) -> str | None:
    first, second = _NO_ONE.fullmatch(one), _NO_ONE.fullmatch(two)
    if not (first and second):
        return None
    shown = first[1].capitalize() if template.startswith("{") else first[1]
    return template.format(shown, second[1])


@family("between", "between: ")
def _inserted(report: Report, row: str) -> str:
    return "\n".join(
        " ".join([header, *(f"{sentence} {row}" for sentence in said)])
        for header, said in report.sections()
    )
