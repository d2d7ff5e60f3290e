"""How many statements are lost when a labelled report only changes its form.

Run: ``python benchmarks/extraction_forms.py [--gold FILE ...] [--only NAME ...] [--show 3]
[--seed 0]``. Every labelled report is written anew in ways that change no label: other cases, line
ends, wraps, bullets, headers, marks, spellings and slips of the keyboard, joined and parted
sentences, words moved to the front. Counted is, per way, what the rules read rightly in the report
as it was written and no longer in its variant (lost), and what they read into the variant alone
(new). A wrong label cannot count, because the report as written is read too; a variant that a
person would read otherwise can, so look at them (``--show``) before a rule is changed.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from forms import FORMS, Form, Report

from extraction.audit.gold import GoldReport, load_gold
from extraction.finding import IMPRESSION, Extracted, Outcome
from extraction.rules.engine import RuleEngine

FIXTURES: Final = Path(__file__).parent.parent / "tests" / "fixtures" / "extraction"
Cells = dict[tuple[str, str], str]


def cells(outcome: Outcome, strength: Mapping[str, int], *, flat: bool) -> Cells:
    """(section, pathology) → phrase, the strongest within a section; one section where `flat`."""
    found: Cells = {}
    for each in outcome.findings if isinstance(outcome, Extracted) else ():
        key = "" if flat else each.section, each.pathology
        phrase = each.phrase or "unmapped"
        if strength.get(phrase, -1) >= strength.get(found.get(key, ""), -1):
            found[key] = phrase
    return found


def labels(report: GoldReport, strength: Mapping[str, int], *, flat: bool) -> Cells:
    """(section, pathology) → label."""
    found: Cells = {}
    for each in sorted(report.findings, key=lambda label: strength[label.phrase]):
        found["" if flat else each.section, each.pathology] = each.phrase
    return found


def parts_of(engine: RuleEngine, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Sentences of findings and of impression, without list marks."""
    found: dict[bool, list[str]] = {False: [], True: []}
    if text.islower():  # speech: its lines are all that parts it
        return (), ()
    for place in engine.sentences(text):
        said = " ".join(text[place.start : place.end].split())
        said = re.sub(r"^(?:[-–•*>]\s*|\d{1,2}[.)]\s+)+", "", said)
        if re.search(r"[A-Za-z]", said):
            shown = said if said[-1] in ".?!:;" else said + "."
            found[place.section == IMPRESSION].append(shown)
    return tuple(found[False]), tuple(found[True])


def compare(
    engine: RuleEngine, golds: Sequence[GoldReport], chosen: Sequence[Form], seed: int
) -> Iterator[dict[str, Any]]:
    """Write every report in every form; give what is lost and what is new of each."""
    strength = {phrase: rank for rank, phrase in enumerate(engine.vocabulary.phrases)}
    split = {report.report_id: parts_of(engine, report.text) for report in golds}
    for number, each in enumerate(chosen):
        for k, report in enumerate(golds):
            source = Report(
                report.text, *split[report.report_id], np.random.default_rng([seed, number, k])
            )
            text = each.write(source)
            if text is None or len(text.strip()) < len(report.text) // 3 or text == report.text:
                continue
            before, after = engine.extract([report.text, text], modality=report.modality)
            want = labels(report, strength, flat=each.flat)
            had = cells(before, strength, flat=each.flat)
            got = cells(after, strength, flat=each.flat)
            right = {key for key, phrase in want.items() if had.get(key) == phrase}
            lost = sorted(key for key in right if got.get(key) != want[key])
            new = sorted(key for key in got if key not in want and key not in had)
            wrong = [f"{k[0]}/{k[1]}: {want[k]} -> {got.get(k)}" for k in lost]
            wrong += [f"new {k[0]}/{k[1]}: {got[k]}" for k in new]
            yield {
                "form": each.name, "stated": len(right), "lost": len(lost), "new": len(new),
                "wrong": f"{text!r}\n        {'; '.join(wrong)}" if wrong else None,
            }  # fmt: skip


def main() -> None:
    """Count, rank and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gold", type=Path, nargs="*", help="labelled files; all of the fixtures")
    parser.add_argument("--only", nargs="*", help="forms whose name contains one of these")
    parser.add_argument("--show", type=int, default=0, help="so many failures of each form")
    parser.add_argument(
        "--sample", type=int, default=0, help="so many reports of each file; 0: all"
    )
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    engine = RuleEngine()
    golds: list[GoldReport] = []
    rng = np.random.default_rng(arguments.seed)
    for path in arguments.gold or sorted(FIXTURES.glob("*.jsonl")):
        reports = load_gold(path, vocabulary=engine.vocabulary)
        if arguments.sample:
            chosen = rng.permutation(len(reports))[: arguments.sample]
            reports = [reports[k] for k in sorted(chosen)]
        golds += [r.model_copy(update={"report_id": f"{path.stem}:{r.report_id}"}) for r in reports]
    only = arguments.only
    forms = [each for each in FORMS if not only or any(part in each.name for part in only)]
    found = pd.DataFrame(compare(engine, golds, forms, arguments.seed))
    table = found.groupby("form", sort=False).agg(
        variants=("form", "size"), stated=("stated", "sum"), lost=("lost", "sum"),
        new=("new", "sum"), reports=("wrong", "count"),
    )  # fmt: skip
    print(f"{len(golds)} reports, {len(forms)} forms")
    print(table.sort_values("reports", ascending=False, kind="stable").to_string())
    for name, wrong in found.dropna().groupby("form", sort=False)["wrong"]:
        for text in wrong.head(arguments.show):
            print(f"{name}\n    {text}")
    total = table.sum()
    print(f"all: {total.to_dict()}; lost {100 * total['lost'] / max(total['stated'], 1):.2f} %")


if __name__ == "__main__":
    main()
