"""Whether an aside changes what the rules read: it stands between a finding and what is said of it.

Asides stand behind a thing, before its hedge ("an opacity, not seen before, may be edema"), inside
the hedge ("may, given the history, represent"), between a finding and its verb ("edema, with no
fever, is unlikely") and in front of the sentence. The thing must be read as present, and the
finding by its hedge or verb alone. The words are in ``extraction_asides.toml``.

Run: ``python benchmarks/extraction_asides.py [--show 20]``.
"""

from __future__ import annotations

import argparse
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pandas as pd

from extraction.finding import Extracted, Outcome
from extraction.rules.engine import RuleEngine

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
Case = tuple[str, str, str, dict[str, set[str]]]
"""The place of the aside, the aside, the sentence, and as what its pathologies must be read."""


def cases() -> Iterator[Case]:
    """Give every aside in every place."""
    every, turn = WORDS["asides"] + WORDS["judgements"], count()
    for aside in every:
        for hedge, phrase in WORDS["hedges"]:
            thing, cause, stated = pair(next(turn), phrase)
            yield "before the hedge", aside, f"{thing}, {aside}, {hedge} {cause}", stated
            yield "without its comma", aside, f"{thing} {aside}, {hedge} {cause}", stated
    for aside in [*(f", {each}," for each in every), *(f" {each}" for each in WORDS["marked"])]:
        for torn, phrase in WORDS["torn"]:
            thing, cause, stated = pair(next(turn), phrase)
            said = torn.replace("|", f"{aside} ").strip()
            yield "inside the hedge", aside, f"{thing} {said} {cause}", stated
    for aside in (*(f", {each}," for each in WORDS["asides"]), *(f" {w}" for w in WORDS["marked"])):
        for verb, phrase in WORDS["predicates"]:
            finding, pathology = turned("findings", next(turn))
            yield "before the verb", aside, f"{finding}{aside} {verb}", {pathology: {phrase}}
    for opening in WORDS["openings"]:
        for hedge, phrase in WORDS["hedges"][:-1]:
            thing, cause, stated = pair(next(turn) % 2, phrase)
            comma = "" if opening.endswith((" but", " and", ";", ".")) else ","
            yield "in front", opening, f"{opening}{comma} {thing} {hedge} {cause}", stated


def turned(what: str, turn: int) -> tuple[str, str]:
    """Give the next of a list, with its pathology."""
    words, pathology = WORDS[what][turn % len(WORDS[what])]
    return words, pathology


def pair(turn: int, phrase: str) -> tuple[str, str, dict[str, set[str]]]:
    """Give a thing, what it may be, and what both must be read as."""
    (thing, there), (cause, graded) = turned("things", turn), turned("causes", turn // 3)
    return thing, cause, {there: {"present"}, graded: {phrase}}


def main() -> None:
    """Read every case, and print by place how many break, then the asides that break most."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", type=int, default=20)
    show = parser.parse_args().show
    told = pd.DataFrame(cases(), columns=["place", "aside", "text", "stated"])
    told["text"] = told["text"].map(lambda text: f"{text[0].upper()}{text[1:].rstrip()}.")
    told["read"] = [
        read_as(each) for each in RuleEngine().extract(told["text"].tolist(), modality="XR")
    ]
    told["broken"] = told["read"] != told["stated"]
    for place, each in [*told.groupby("place", sort=False)["broken"], ("all", told["broken"])]:
        print(f"{place:18} {each.sum():5} of {len(each):5} break")
    breaks = told[told["broken"]].groupby(["place", "aside"], sort=False)
    for (place, aside), each in sorted(breaks, key=lambda pair: -len(pair[1]))[:show]:
        print(
            f"{len(each):4} {place}: {aside}\n       {each['text'].iloc[0]} {each['read'].iloc[0]}"
        )


def read_as(outcome: Outcome) -> dict[str, set[str]]:
    """Give the phrases by pathology that were read."""
    read: defaultdict[str, set[str]] = defaultdict(set)
    for finding in outcome.findings if isinstance(outcome, Extracted) else ():
        read[finding.pathology].add(finding.phrase or "unmapped")
    return dict(read)


if __name__ == "__main__":
    main()
