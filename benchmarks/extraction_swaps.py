"""Whether the rules read alike what is said alike: labelled sentences with one part exchanged.

A sentence that is read right is a frame. In it the finding, the words of certainty or the denial
give way to others of the same grammatical slot; the label follows. Counted is how often a reading
breaks, by frame, by what came in, and by the slot it came into: a word that breaks in most frames
is missing, a frame that breaks for some words treats them unevenly.

Run: ``python benchmarks/extraction_swaps.py [GOLD ...] [--each 8] [--seed 0] [--show 20]``. Frames
written for the purpose come first, then the sentences of the labelled reports; without a file
those of the fixtures, less the sets from which nothing may be learned. The words are in
``extraction_swaps.toml``. Not every break is a fault: some exchanges say what nobody would.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from extraction.audit.gold import load_gold
from extraction.finding import Extracted, Finding
from extraction.rules.engine import RuleEngine
from extraction.vocabulary.patterns import expand

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "tests" / "fixtures" / "extraction"
WORDS = tomllib.loads((HERE / "extraction_swaps.toml").read_text(encoding="utf-8"))
UNPLACED = frozenset(WORDS["unplaced"]["names"])
SINGULAR = {
    "are": "is",
    "were": "was",
    "have": "has",
    "do": "does",
    "match": "matches",
    "imply": "implies",
}
INFLECTED = re.compile(r"< (\w+) >")
APART = re.compile(r" (?=[,:])")
CONTRACTED = re.compile(r" ' (?=t\b)")
ARTICLE = re.compile(r"\b([Aa])n? $")
SEALED = {FIXTURES / f"authors_{name}.jsonl" for name in "gjp"}
AGREEING = frozenset({"predicate", "denied", "rank", "longer", "unjudged"})
"""Slots whose verb has the finding as its subject."""
SILENT = "nothing"
"""What a slot of the list calls a certainty where no statement is to be read."""
BATCH = 4000


@dataclass(frozen=True, slots=True)
class Words:
    """A finding as it is named: its pathology, the words, and count, mass or plural."""

    pathology: str
    text: str
    number: str

    def with_article(self) -> str:
        """Give the words with the article that their number asks for."""
        if self.number != "count":
            return self.text
        return f"{'an' if self.text[0] in 'aeiou' else 'a'} {self.text}"


@dataclass(frozen=True, slots=True)
class Variant:
    """A sentence, where its finding stands, what is to be read, and what was exchanged."""

    text: str
    start: int
    end: int
    pathology: str
    phrase: str
    also: tuple[tuple[str, str], ...]
    frame: str
    slot: str
    cue: str
    finding: str
    kind: str = ""


@cache
def findings() -> list[Words]:
    """Every finding in every form."""
    return [
        Words(pathology, text, number)
        for number, named in WORDS["finding"].items()
        for pathology, texts in named.items()
        for text in texts
    ]


@cache
def cues(slot: str, *, plural: bool) -> list[tuple[str, str]]:
    """Pairs of phrase and words of a slot, its verbs agreeing with their subject."""
    told = [
        (phrase, APART.sub("", CONTRACTED.sub("'", _agreed(" ".join(said), plural=plural))))
        for phrase, patterns in WORDS["slot"][slot].items()
        for pattern in patterns
        for said in expand(pattern)
    ]
    return list(dict.fromkeys(told))


def _agreed(words: str, *, plural: bool) -> str:
    single = r"\1" if plural else lambda match: SINGULAR.get(match[1], match[1] + "s")
    return INFLECTED.sub(single, words)


def written(each: int, rng: np.random.Generator) -> Iterator[Variant]:
    """Every frame with every finding and, for each of the two, so many phrases of each slot."""
    named = findings()
    for frame in WORDS["frame"]:
        also = tuple(frame.get("also", {}).items())
        barred = {pathology for pathology, _ in also}
        for slot in frame["slots"]:
            forms = {plural: cues(slot, plural=plural) for plural in (False, True)}
            for text in frame["text"]:
                for words in named:
                    only = frame.get("only", [words.pathology])
                    if words.pathology in barred or words.pathology not in only:
                        continue
                    if frame.get("placed") and words.pathology in UNPLACED:
                        continue
                    ours = slot in AGREEING
                    number = words.number == "plural" if ours else "{P}" in text
                    told = forms[number]
                    for k in rng.choice(len(told), min(each, len(told)), replace=False):
                        filled = _filled(text, words, told[k][1], told[k][0], slot, also)
                        yield replace(filled, kind=frame.get("class", ""))


def _filled(
    frame: str, words: Words, cue: str, phrase: str, slot: str, also: tuple[tuple[str, str], ...]
) -> Variant:
    text = re.sub(r"\{[pP]\}", cue, frame.replace("{C}", cue[0].upper() + cue[1:])).replace(
        "@", "{a F}" if words.number == "count" else "{F}"
    )
    said = words.with_article() if "{a F}" in text and slot != "deny" else words.text
    at = text.index("{a F}" if "{a F}" in text else "{F}")
    text = text.replace("{a F}", said).replace("{F}", said)
    start, end = at + len(said) - len(words.text), at + len(said)
    text = text[0].upper() + text[1:]
    return Variant(text, start, end, words.pathology, phrase, also, frame, slot, cue, words.text)


def broken(found: Iterable[Finding], variant: Variant) -> str:
    """Say how the reading breaks: what was read instead, or "" for a right reading."""
    here: set[str] = set()
    elsewhere: set[tuple[str, str]] = set()
    for finding in found:
        why = finding.explanation
        phrase = finding.phrase or "unmapped"
        if why is not None and why.mention_start < variant.end and why.mention_end > variant.start:
            same = finding.pathology == variant.pathology
            here.add(phrase if same else f"{finding.pathology}: {phrase}")
        else:
            elsewhere.add((finding.pathology, phrase))
    if here != {variant.phrase} - {SILENT}:
        return " + ".join(sorted(here)) or "nothing"
    if elsewhere != set(variant.also):
        return "beside it: " + ", ".join(f"{n} {p}" for n, p in sorted(elsewhere))
    return ""


def labelled(files: Iterable[Path], engine: RuleEngine) -> Iterator[tuple[str, list[Finding]]]:
    """Give the sentences of reports that are read as labelled, each with its findings.

    A sentence that is read otherwise where it stands alone is no frame.
    """
    for file in files:
        for report in load_gold(file, vocabulary=engine.vocabulary):
            (outcome,) = engine.extract([report.text], modality=report.modality)
            found = outcome.findings if isinstance(outcome, Extracted) else ()
            rows = resolve_sections(found, engine.vocabulary.phrases)
            if rows != {(f.section, f.pathology): f.phrase for f in report.findings}:
                continue
            for start, end in dict.fromkeys((f.start, f.end) for f in found):
                sentence = " ".join(report.text[start:end].split())
                here = Counter((f.pathology, f.phrase) for f in found if f.start == start)
                alone = _read(engine, [sentence])[0]
                if here == Counter((f.pathology, f.phrase) for f in alone):
                    yield sentence, list(alone)


def resolve_sections(
    found: Iterable[Finding], phrases: Sequence[str]
) -> dict[tuple[str, str], str | None]:
    """Give the strongest certainty by section and pathology, as labels have it."""
    rows: dict[tuple[str, str], str | None] = {}
    for finding in sorted(found, key=lambda f: phrases.index(f.phrase) if f.phrase else -1):
        rows[finding.section, finding.pathology] = finding.phrase
    return rows


def exchanged(
    sentence: str, found: Sequence[Finding], each: int, rng: np.random.Generator
) -> Iterator[Variant]:
    """Give a sentence with its first named finding exchanged, then with its words of certainty."""
    for finding in found:
        why, rest = finding.explanation, [f for f in found if f is not finding]
        if why is None or why.rule == "said of the subject":
            continue
        name = sentence[why.mention_start : why.mention_end]
        alike = next((w.number for w in findings() if w.text == name.lower()), None)
        if alike is None or any(f.explanation.mention_start == why.mention_start for f in rest):
            continue
        also = tuple((f.pathology, f.phrase or "unmapped") for f in rest)
        barred = {name for name, _ in also}
        named = [w for w in findings() if w.number == alike and w.pathology not in barred]
        for k in rng.choice(len(named), min(each, len(named)), replace=False):
            yield _renamed(sentence, finding, named[k], also)
        if not any(f.explanation.cue_start == why.cue_start for f in rest):
            yield from _reworded(sentence, finding, also, each, rng)
        return


def _renamed(
    sentence: str, finding: Finding, words: Words, also: tuple[tuple[str, str], ...]
) -> Variant:
    why, article = finding.explanation, "n " if words.text[0] in "aeiou" else " "
    ahead = ARTICLE.sub(rf"\g<1>{article}", sentence[: why.mention_start])
    text = ahead + words.text + sentence[why.mention_end :]
    return Variant(
        text, len(ahead), len(ahead) + len(words.text), words.pathology,
        finding.phrase or "unmapped", also, sentence, "finding",
        sentence[why.cue_start : why.cue_end], words.text,
    )  # fmt: skip


def _reworded(
    sentence: str, finding: Finding, also: tuple[tuple[str, str], ...], each: int,
    rng: np.random.Generator,
) -> Iterator[Variant]:  # fmt: skip
    why = finding.explanation
    said = finding.phrase, " ".join(sentence[why.cue_start : why.cue_end].lower().split())
    slots = ((slot, cues(slot, plural=n)) for slot in WORDS["slot"] for n in (False, True))
    slot, told = next((each for each in slots if said in each[1]), ("", []))
    if not told or slot in {"deny", "nominal"}:
        return
    for k in rng.choice(len(told), min(each, len(told)), replace=False):
        phrase, words = told[k]
        text = sentence[: why.cue_start] + words + sentence[why.cue_end :]
        ahead = why.cue_end <= why.mention_start
        moved = len(words) - (why.cue_end - why.cue_start) if ahead else 0
        yield Variant(
            text, why.mention_start + moved, why.mention_end + moved, finding.pathology, phrase,
            also, sentence, slot, words, finding.pathology,
        )  # fmt: skip


def _read(engine: RuleEngine, texts: list[str]) -> list[tuple[Finding, ...]]:
    outcomes = engine.extract(texts, modality="XR")
    return [o.findings if isinstance(o, Extracted) else () for o in outcomes]


def count(variants: Iterable[Variant], engine: RuleEngine, show: int) -> None:
    """Read every variant and print what breaks, by slot, frame, words of certainty and finding."""
    tried: dict[str, Counter[str]] = defaultdict(Counter)
    failed: dict[str, Counter[str]] = defaultdict(Counter)
    example: dict[tuple[str, str], str] = {}
    for batch in batched(variants, BATCH):
        for variant, found in zip(batch, _read(engine, [v.text for v in batch]), strict=True):
            keys = {
                "slot": variant.slot, "finding": variant.finding, "frame": variant.frame,
                "words of certainty": f"{variant.slot}: {variant.cue} ({variant.phrase})",
            } | ({"class": variant.kind} if variant.kind else {})  # fmt: skip
            wrong = broken(found, variant)
            for kind, key in keys.items():
                tried[kind][key] += 1
                failed[kind][key] += bool(wrong)
                if wrong:
                    example.setdefault((kind, key), f"{variant.text!r} -> {wrong}")
    for kind, counts in failed.items():
        total = sum(tried[kind].values())
        print(f"\n{kind}: {sum(counts.values())} of {total} broken")
        rows = sorted(counts, key=lambda key: -counts[key] / (tried[kind][key] + 2))
        for key in [key for key in rows if counts[key]][:show]:
            print(
                f"  {counts[key]:4d} of {tried[kind][key]:4d}  {key[:70]:70}  {example[kind, key]}"
            )


def batched(variants: Iterable[Variant], size: int) -> Iterator[list[Variant]]:
    """Give the variants in lists of one size."""
    rest = iter(variants)
    while some := list(islice(rest, size)):
        yield some


def main() -> None:
    """Read the written frames, then the labelled sentences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "gold", nargs="*", type=Path, help="labelled reports; ours if none is given"
    )
    parser.add_argument("--each", type=int, default=8, help="exchanges per frame and finding")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=20)
    parser.add_argument("--kind", nargs="*", help="only frames whose class contains one of these")
    arguments = parser.parse_args()
    engine, rng = RuleEngine(), np.random.default_rng(arguments.seed)
    print("== written frames")
    kinds = arguments.kind
    frames = written(arguments.each, rng)
    some = (v for v in frames if v.kind and any(part in v.kind for part in kinds or ("",)))
    count(frames if kinds is None else some, engine, arguments.show)
    if kinds is not None:
        return
    files = arguments.gold or sorted(set(FIXTURES.glob("*.jsonl")) - SEALED)
    said = labelled(files, engine)
    print("\n== labelled sentences")
    swaps = (v for sentence, found in said for v in exchanged(sentence, found, arguments.each, rng))
    count(swaps, engine, arguments.show)


if __name__ == "__main__":
    main()
