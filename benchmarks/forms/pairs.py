"""Two sentences: joined, contrasted, and what stands between."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from forms.sentences import HEDGE, NOUNS, PLAIN, VERB, rewriting, small, stop, thing_of
from forms.ways import FORMS, Form, Report


def _pairs(report: Report, write: Callable[[str, str], str | None]) -> str | None:
    """Join neighbours once each; None if none can be."""
    text, changed = report.text, False
    for said in (report.findings, report.impression):
        k = 0
        while k + 1 < len(said):
            one, two = said[k : k + 2]
            both = f"{one} {two}"
            other = None
            if PLAIN.fullmatch(one) and PLAIN.fullmatch(two) and text.count(both) == 1:
                other = write(one.rstrip(". "), two.rstrip(". "))
            if other is not None:
                text, changed = text.replace(both, stop(other)), True
                k += 1
            k += 1
    return text if changed else None


def joining(name: str) -> Callable[[Callable[[str, str], str | None]], None]:
    """Register a form of two neighbouring sentences."""

    def keep(write: Callable[[str, str], str | None]) -> None:
        FORMS.append(Form(name, lambda report: _pairs(report, write)))

    return keep


_NO_ONE: Final = re.compile(rf"(?:There (?:is|are) no|No) ((?:[a-z]+ ){{0,3}}{NOUNS})")
for name, joint in (
    ("X, no Y", ", no "),
    ("X but no Y", " but no "),
    ("X, but no Y", ", but no "),
    ("X and no Y", " and no "),
    ("X with no Y", " with no "),
    ("X without Y", " without "),
    ("X, without Y", ", without "),
    ("X; no Y", "; no "),
    ("X - no Y", " - no "),
    ("X however no Y", "; however, no "),
    ("X, with no Y", ", with no "),
    ("X, and there is no Y", ", and there is no "),
    ("X, no Y seen", ", no "),
    ("X; without Y", "; without "),
    ("X, although no Y", ", although no "),
    ("X (no Y)", " (no "),
):

    @joining(f"join: {name}")
    def _and_not(one: str, two: str, joint: str = joint, name: str = name) -> str | None:
        match = _NO_ONE.fullmatch(two)
        if match is None or one.startswith(("No ", "There is no", "There are no", "Nil")):
            return None
        if VERB.search(one) and ("with no" in joint or "without" in joint):
            return None
        if re.search(rf"\b{HEDGE}\b|\?|possible|probable|exclude", one) and "without" in joint:
            return None
        tail = " seen" if name.endswith("seen") else ")" if joint == " (no " else ""
        return one + joint + match[1] + tail


for name, joint in (
    ("No X but Y", " but "),
    ("No X, but Y", ", but "),
    ("No X; Y", "; "),
    ("No X however Y", ". However, "),
    ("No X - Y", " - "),
    ("No X, there is Y", ", there is "),
    ("No X but there is Y", " but there is "),
    ("No X, although there is Y", ", although there is "),
    ("No X; there is Y", "; there is "),
    ("No X and there is Y", " and there is "),
):

    @joining(f"join: {name}")
    def _not_but(one: str, two: str, joint: str = joint) -> str | None:
        thing = thing_of(two)
        if thing is None or _NO_ONE.fullmatch(one) is None:
            return None
        one_small = thing.lower().startswith(("small", "tiny")) and not thing.endswith("s")
        return one + joint + ("a " if one_small else "") + small(thing)


for name, joint in (
    ("X and Y", " and "),
    ("X, and Y", ", and "),
    ("X with Y", " with "),
    ("X, with Y", ", with "),
    ("X plus Y", " plus "),
    ("X, Y", ", "),
    ("X; Y", "; "),
    ("X as well as Y", " as well as "),
    ("X & Y", " & "),
    ("X + Y", " + "),
    ("X. There is also Y", ". There is also "),
    ("X. Also Y", ". Also "),
    ("X along with Y", " along with "),
    ("X. In addition, Y", ". In addition, "),
):

    @joining(f"join: {name}")
    def _both(one: str, two: str, joint: str = joint) -> str | None:
        first, second = thing_of(one), thing_of(two)
        return first + joint + small(second) if first and second else None


_FINITE: Final = re.compile(r"\b(?:is|are)\b")
for joint in ("and", "while"):

    @joining(f"join: sentences with verbs, {joint}")
    def _verbs(one: str, two: str, joint: str = joint) -> str | None:
        if not (_FINITE.search(one) and _FINITE.search(two)):
            return None
        return None if two.startswith(("This", "It", "These")) else f"{one}, {joint} {small(two)}"


@joining("join: No X. No Y. as neither")
def _neither(one: str, two: str) -> str | None:
    first, second = _NO_ONE.fullmatch(one), _NO_ONE.fullmatch(two)
    return f"Neither {first[1]} nor {second[1]} is seen" if first and second else None


for name, template in {
    "or": "No {} or {}",
    "and": "No {} and no {}",
    "comma": "No {}, no {}",
    "slash": "No {}/{}",
    "behind": "{} and {} are absent",
    "nor": "No {}, nor {}",
    "not seen": "{} or {} is not seen",
    "bare comma": "No {}, {}",
    "there is": "There is no {} and no {}",
    "either": "There is no {} or {} on either side",
}.items():

    @joining(f"join: No X. No Y. as {name}")
    def _no_two(one: str, two: str, template: str = template) -> str | None:
        first, second = _NO_ONE.fullmatch(one), _NO_ONE.fullmatch(two)
        if not (first and second):
            return None
        shown = first[1].capitalize() if template.startswith("{") else first[1]
        return template.format(shown, second[1])


_PLACE: Final = re.compile(
    r"(?P<before>[A-Z][^,.]*?) (?P<place>(?:in|at|within) (?:the|both) [a-z ]*?"
    r"(?:base|bases|lobe|lobes|zone|zones|"
    r"apex|lung|lungs|field|lingula|hemithorax))(?P<after>(?:[ ,].*)?)\.?"
)
for name, template in {
    "comma": "{Place}, {rest}.",
    "no comma": "{Place} {rest}.",
    "there is": "{Place} there is {rest}.",
    "colon": "{Where}: {rest}.",
    "is seen": "{Place}, {rest} is seen.",
}.items():

    @rewriting(f"place in front: {name}")
    def _placed(said: str, template: str = template) -> str | None:
        match = _PLACE.fullmatch(said)
        if match is None:
            return None
        before, after = match["before"], match["after"].strip(", ")
        verb = VERB.search(before) or VERB.search(after)
        if not re.search(rf"{NOUNS}$", before) or (
            verb and ("there is" in template or "seen" in template)
        ):
            return None
        if "seen" in template and after:
            return None
        if verb and (before.startswith("There") and "there is" in template):
            return None
        if template.startswith("{Where}") and verb:
            return None
        rest = small(before) + (
            f" {after}" if match["after"].startswith(" ") else f", {after}" if after else ""
        )
        place = match["place"]
        where = re.sub(r"^(?:in|at|within) (?:the )?", "", place)
        return template.format(Place=place.capitalize(), Where=where.capitalize(), rest=rest)


def _inserted(name: str, extra: str) -> None:
    def write(report: Report) -> str | None:
        return "\n".join(
            " ".join([header, *(f"{sentence} {extra}" for sentence in said)])
            for header, said in report.sections()
        )

    FORMS.append(Form(f"between: {name}", write))


_inserted("tube", "The endotracheal tube ends 3 cm above the carina.")
_inserted("no acute", "No acute abnormality.")
_inserted("limits", "The examination is limited by rotation.")
_inserted("image", "(Image 34.)")
_inserted("recommendation", "Follow-up is recommended.")
_inserted("bones", "The bones are unremarkable.")
_inserted("telegram", "ETT ok")
