"""One sentence at a time: reworded, denied, listed, moved to the front."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from forms.ways import FORMS, Form, Report

# Sentences.
_COLON: Final = re.compile(r"[:;?]|\d[.)] ")
PLAIN: Final = re.compile(r"[A-Z][^.:;?!\n]+\.?")


def _each(report: Report, write: Callable[[str], str | None]) -> str | None:
    """Rewrite what sentences can be; None if none can."""
    text = report.text
    changed = False
    for said in (*report.findings, *report.impression):
        if not PLAIN.fullmatch(said):
            continue
        other = write(said)
        if other is not None and other != said and text.count(said) == 1:
            text = text.replace(said, other)
            changed = True
    return text if changed else None


def rewriting(name: str) -> Callable[[Callable[[str], str | None]], None]:
    """Register a form of single sentences."""

    def keep(write: Callable[[str], str | None]) -> None:
        FORMS.append(Form(name, lambda report: _each(report, write)))

    return keep


def small(words: str) -> str:
    """Begin in lower case, unless with an abbreviation."""
    return words[0].lower() + words[1:] if words[1:2].islower() or words[1:2] == " " else words


def stop(words: str) -> str:
    """Give words with one full stop."""
    return words.rstrip(". ") + "."


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
VERB: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|may|might|could|can|cannot|appears?|remains?|shows?|seen|noted|"
    r"identified|persists?|suggests?|there|no|not|without|cleared|resolved|normal|clear|which)\b",
    re.I,
)


def thing_of(said: str) -> str | None:
    """Give the thing that a bare sentence asserts; None if it does not."""
    match = _THING.fullmatch(said)
    return match[1] if match and not VERB.search(said) else None


for name, template in {
    "There is no": "There is no {}.",
    "is seen": "No {} is seen.",
    "identified": "No {} identified.",
    "is not seen": "{} is not seen.",
    "none": "{}: none.",
    "none, dash": "{} - none.",
    "No evidence of": "No evidence of {}.",
    "absent": "{} absent.",
    "negative": "Negative for {}.",
    "not present": "{} not present.",
    "nil": "Nil {}.",
    "nil, behind": "{} nil.",
    "colon no": "{}: No.",
    "ruled": "{}: absent.",
    "there is not": "There is not any {}.",
    "without": "Without {}.",
    "today": "No {} today.",
    "at this time": "At this time, no {}.",
    "visible": "No visible {}.",
    "front": "On this examination, there is no {}.",
    "parentheses": "No {} (image 12).",
    "either side": "No {} on either side.",
    "demonstrated": "There is no {} demonstrated.",
}.items():

    @rewriting(f"no: {name}")
    def _denied(said: str, template: str = template) -> str | None:
        match = _NO.fullmatch(said)
        if match is None or " or " in match[1] or " and " in match[1]:
            return None
        shown = match[1] if not template.startswith("{") else match[1].capitalize()
        return template.format(shown)


for name, template in {
    "There is": "There is {}.",
    "is seen": "{} is seen.",
    "noted": "{} noted.",
    "present": "{} present.",
    "is present": "{} is present.",
    "again": "{} again seen.",
    "unchanged": "{}, unchanged.",
    "as before": "{} as before.",
    "new": "{}, new since the prior.",
    "not seen before": "{}, not present on the prior study.",
    "unchanged, front": "Unchanged {}.",
    "parentheses": "{} (series 4, image 55).",
    "image": "{} (4/55).",
    "since": "{}, not significantly changed since 12/03/2021.",
    "compared": "Compared to prior, {}.",
    "redemonstrated": "Redemonstrated is {}.",
    "we see": "The examination shows {}.",
    "measured": "{}, 12 mm.",
    "aside": "{}, as seen on the lateral view, is present.",
    "dash": "- {}",
    "are again identified": "Again identified is {}.",
    "stable since": "{} is stable since the previous study.",
    "without change": "{} without significant change.",
    "best seen": "{}, best seen on image 45 of series 3.",
    "no change": "{}, no change.",
}.items():

    @rewriting(f"thing: {name}")
    def _asserted(said: str, template: str = template) -> str | None:
        thing = thing_of(said)
        if thing is None:
            return None
        return template.format(thing if template.startswith("{") else small(thing))


for name, template in {
    "next sentence": "{sign}. This {verb} {cause}.",
    "hedge opens a sentence": "{sign}. {Hedge} {cause}.",
    "semicolon": "{sign}; {hedge} {cause}.",
    "dash": "{sign} - {hedge} {cause}.",
    "dash, tight": "{sign}–{hedge} {cause}.",
    "comma": "{sign}, {hedge} {cause}.",
    "no comma": "{sign} {hedge} {cause}.",
    "parentheses": "{sign} ({hedge} {cause}).",
    "which": "{sign}, which {verb} {cause}.",
    "and this": "{sign}, and this {verb} {cause}.",
    "colon": "{sign}: {hedge} {cause}.",
    "line": "{sign},\n{hedge} {cause}.",
    "line after hedge": "{sign}, {hedge}\n{cause}.",
    "findings": "{sign}. Findings {are} {cause}.",
    "appearance": "{sign}. The appearance {verb} {cause}.",
    "these": "{sign}. These findings {are} {cause}.",
    "it": "{sign}. It {verb} {cause}.",
    "slash": "{sign} / {hedge} {cause}.",
    "semicolon this": "{sign}; this {verb} {cause}.",
    "dots": "{sign} ... {hedge} {cause}.",
    "brackets": "{sign} [{hedge} {cause}].",
}.items():

    @rewriting(f"hedge: {name}")
    def _hedged(said: str, template: str = template) -> str | None:
        match = _WORDED.fullmatch(said)
        if match is None or VERB.search(match["sign"]) or re.search(rf"\b{HEDGE}\b", match["sign"]):
            return None
        if not re.search(NOUNS, match["sign"]) or not re.search(NOUNS, match["cause"]):
            return None
        hedge, cause = match["hedge"], match["cause"]
        modal = hedge.split()[0] in {"may", "could", "might"}
        if hedge in {"likely representing", "suggesting"}:
            verb = {"likely representing": "likely represents", "suggesting": "suggests"}[hedge]
        else:
            verb = hedge if modal else f"is {hedge}"
        are = verb.replace("is ", "are ") if not modal else verb
        if ("{are}" in template or "{verb}" in template) and hedge in {
            "likely representing",
            "suggesting",
        }:
            are = are.replace("represents", "represent").replace("suggests", "suggest")
        return template.format(
            sign=match["sign"],
            hedge=hedge,
            Hedge=hedge[0].upper() + hedge[1:],
            cause=cause,
            verb=verb,
            are=are,
        )


@rewriting("list: or parted into sentences")
def _parted(said: str) -> str | None:
    match = _NO_LIST.fullmatch(said)
    if match is None:
        return None
    return " ".join(f"No {one.strip()}." for one in re.split(r",? or |, ", match[1]))


for name, joint, last in (
    ("no a, no b", ", no ", ", no "),
    ("no a and no b", " and no ", " and no "),
    ("no a; no b", "; no ", "; no "),
    ("no a/b", "/", "/"),
    ("no a, b, c", ", ", ", "),
    ("no a, b and c", ", ", " and "),
    ("no a or b or c", " or ", " or "),
    ("no a / b", " / ", " / "),
    ("no a, b, nor c", ", ", ", nor "),
    ("no a, b, or c", ", ", ", or "),
    ("no a, b or c", ", ", " or "),
    ("no a, or b, or c", ", or ", ", or "),
    ("no a, nor b", ", nor ", ", nor "),
    ("no a,\\nb or c", ",\n", " or "),
):

    @rewriting(f"list: {name}")
    def _rejoined(said: str, joint: str = joint, last: str = last) -> str | None:
        match = _NO_LIST.fullmatch(said)
        if match is None:
            return None
        ones = re.split(r",? or |, ", match[1])
        return "No " + joint.join(ones[:-1]) + last + ones[-1] + "."


for name, template in {
    "are clear of": "The lungs are clear of {}.",
    "or seen": "No {} is seen.",
    "evidence": "There is no evidence of {}.",
    "x free": "No radiographic evidence of {} is identified.",
}.items():

    @rewriting(f"list: {name}")
    def _of_list(said: str, template: str = template) -> str | None:
        match = _NO_LIST.fullmatch(said)
        return template.format(match[1]) if match and "clear of" not in template else None


@rewriting("list: behind, none")
def _list_behind(said: str) -> str | None:
    match = _NO_LIST.fullmatch(said)
    if match is None:
        return None
    ones = re.split(r",? or |, ", match[1])
    return " ".join(f"{one.strip().capitalize()}: none." for one in ones)
