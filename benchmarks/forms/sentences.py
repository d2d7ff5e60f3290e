"""One sentence at a time: reworded, denied, listed, its place moved to the front."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from forms.ways import Report, RowVariant, family

PLAIN: Final = re.compile(r"[A-Z][^.:;?!\n]+\.?")
NOUNS: Final = (
    r"(?:effusions?|pneumothorax|opacit(?:y|ies)|consolidations?|atelectasis|nodules?|mass(?:es)?|"
    r"edema|oedema|cardiomegaly|emphysema|fractures?|collapse|pneumonia|infiltrates?|lymphadenopathy|"
    r"adenopathy|bronchiectasis|fibrosis|scarring|hernia|congestion|granulomas?|thickening)"
)
_NO: Final = re.compile(rf"No ([a-z ]*{NOUNS})\.?")
_NO_LIST: Final = re.compile(
    rf"(?:There (?:is|are) no|No) ((?:[a-z]+ ){{0,3}}{NOUNS}"
    rf"(?:, (?:[a-z]+ ){{0,3}}{NOUNS})*,? or (?:[a-z]+ ){{0,3}}{NOUNS})\.?"
)
_THING: Final = re.compile(rf"(?!No |Nil )([A-Z][a-z]*(?: [a-z\-]+)* ?{NOUNS})\.?")
HEDGE: Final = (
    r"(?:likely|probably|possibly|suggestive of|suspicious for|concerning for|consistent with|"
    r"compatible with|in keeping with|may represent|could represent|might represent|"
    r"may reflect|could reflect|likely representing|favou?red to represent|suggesting)"
)
_WORDED: Final = re.compile(
    rf"(?P<sign>(?!No )[A-Z][^,.]*?),? (?P<hedge>{HEDGE}) (?P<cause>[^.,]+)\.?"
)
_FINITE: Final = {"likely representing": "represent", "suggesting": "suggest"}
VERB: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|may|might|could|can|cannot|appears?|remains?|shows?|seen|noted|"
    r"identified|persists?|suggests?|there|no|not|without|cleared|resolved|normal|clear|which)\b",
    re.I,
)
_PLACE: Final = re.compile(
    r"(?P<before>[A-Z][^,.]*?) (?P<place>(?:in|at|within) (?:the|both) [a-z ]*?"
    r"(?:base|bases|lobe|lobes|zone|zones|"
    r"apex|lung|lungs|field|lingula|hemithorax))(?P<after>(?:[ ,].*)?)\.?"
)


def rewritten(write: Callable[..., str | None]) -> RowVariant:
    """Rewrite what sentences of a report can be; None if none can."""

    def every(report: Report, row: object) -> str | None:
        text = report.text
        for said in (*report.findings, *report.impression):
            other = write(said, row) if PLAIN.fullmatch(said) else None
            if other is not None and text.count(said) == 1:
                text = text.replace(said, other)
        return text if text != report.text else None

    return every


def small(words: str) -> str:
    """Begin in lower case, unless with an abbreviation."""
    return words[0].lower() + words[1:] if words[1:2].islower() or words[1:2] == " " else words


def thing_of(said: str) -> str | None:
    """Give the thing that a bare sentence asserts; None if it does not."""
    match = _THING.fullmatch(said)
    return match[1] if match and not VERB.search(said) else None


@family("no", "no: ")
@rewritten
def _denied(said: str, template: str) -> str | None:
    match = _NO.fullmatch(said)
    if match is None or " or " in match[1] or " and " in match[1]:
        return None
    return template.format(match[1].capitalize() if template.startswith("{") else match[1])


@family("thing", "thing: ")
@rewritten
def _asserted(said: str, template: str) -> str | None:
    thing = thing_of(said)
    if thing is None:
        return None
    return template.format(thing if template.startswith("{") else small(thing))


@family("hedge", "hedge: ")
@rewritten
def _hedged(said: str, template: str) -> str | None:
    match = _WORDED.fullmatch(said)
    if match is None or VERB.search(match["sign"]) or re.search(rf"\b{HEDGE}\b", match["sign"]):
        return None
    if not re.search(NOUNS, match["sign"]) or not re.search(NOUNS, match["cause"]):
        return None
    hedge = match["hedge"]
    modal = hedge.split()[0] in {"may", "could", "might"}
    verb, are = (hedge, hedge) if modal else (f"is {hedge}", f"are {hedge}")
    if hedge in _FINITE:
        are = "likely " * hedge.startswith("likely") + _FINITE[hedge]
        verb = are + "s"
    capital = hedge[0].upper() + hedge[1:]
    return template.format(**match.groupdict(), Hedge=capital, verb=verb, are=are)


def _ones(said: str) -> list[str]:
    """Give the findings of a list that is denied."""
    match = _NO_LIST.fullmatch(said)
    return re.split(r",? or |, ", match[1]) if match else []


@family("parted", "list: ")
@rewritten
def _parted(said: str, template: str) -> str | None:
    """Give each finding of a list a sentence of its own."""
    shown = [one.strip() for one in _ones(said)]
    ones = [one.capitalize() if template.startswith("{") else one for one in shown]
    return " ".join(template.format(one) for one in ones) or None


@family("joined", "list: ")
@rewritten
def _rejoined(said: str, row: list[str]) -> str | None:
    ones = _ones(said)
    return f"No {row[0].join(ones[:-1])}{row[1]}{ones[-1]}." if ones else None


@family("of_list", "list: ")
@rewritten
def _of_list(said: str, template: str) -> str | None:
    match = _NO_LIST.fullmatch(said)
    return template.format(match[1]) if match else None


@family("place", "place in front: ")
@rewritten
def _placed(said: str, template: str) -> str | None:
    match = _PLACE.fullmatch(said)
    if match is None:
        return None
    before, after = match["before"], match["after"].strip(", ")
    has_verb = VERB.search(before) or VERB.search(after)
    takes_verb = "there is" in template or "seen" in template or template.startswith("{Where}")
    if not re.search(rf"{NOUNS}$", before) or (has_verb and takes_verb):
        return None
    if "seen" in template and after:
        return None
    joint = " " if match["after"].startswith(" ") else ", "
    rest = small(before) + (joint + after if match["after"].startswith(" ") or after else "")
    where = re.sub(r"^(?:in|at|within) (?:the )?", "", match["place"])
    return template.format(Place=match["place"].capitalize(), Where=where.capitalize(), rest=rest)
