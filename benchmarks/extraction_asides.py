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
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from extraction.finding import Extracted
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
            joins = opening.endswith((" but", " and", ";", "."))
            yield (
                "in front",
                opening,
                f"{opening}{'' if joins else ','} {thing} {hedge} {cause}",
                stated,
            )


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
    every = [
        (place, aside, f"{text[0].upper()}{text[1:].rstrip()}.", stated)
        for place, aside, text, stated in cases()
    ]
    outcomes = RuleEngine().extract([text for _, _, text, _ in every], modality="XR")
    told, broken = Counter(place for place, *_ in every), Counter[str]()
    breaks: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for (place, aside, text, stated), outcome in zip(every, outcomes, strict=True):
        read: defaultdict[str, set[str]] = defaultdict(set)
        for finding in outcome.findings if isinstance(outcome, Extracted) else ():
            read[finding.pathology].add(finding.phrase or "unmapped")
        if read != stated:
            broken[place] += 1
            breaks[place, aside].append(f"{text} {dict(read)}")
    for place, number in told.items():
        print(f"{place:18} {broken[place]:5} of {number:5} break")
    print(f"{'all':18} {broken.total():5} of {told.total():5}")
    for (place, aside), texts in sorted(breaks.items(), key=lambda each: -len(each[1]))[:show]:
        print(f"{len(texts):4} {place}: {aside}\n       {texts[0]}")


if __name__ == "__main__":
    main()
