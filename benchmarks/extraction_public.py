"""How well the rules read public labelled reports, by the labels those sets define.

Run: ``python benchmarks/extraction_public.py FOLDER`` with ``xr/openi.csv``,
``xr/openi_findings_gold.csv`` and ``ct/ctrate_labelled.csv`` in FOLDER; what is absent is skipped
with a message. The sets are not part of this project and their licences vary. A label is positive
where any of its pathologies is stated, anywhere in the report. Neither set says what a hedged
statement counts as, so three conventions are shown side by side. Targets: Open-i micro F1 .87 with
hedged as negative and Hernia left out, CT-RATE macro F1 .85 over the classes of our vocabulary. The
hard sentences are held by ``tests/clinical/test_extraction_gold.py``.

CT-RATE calls any lymph node that is described Lymphadenopathy, also "millimetric" and "not
pathological" ones; we read it only where nodes are called enlarged, so our recall there is the
share of such reports and no measure of reading. A macro without that class is printed beside.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from extraction.finding import Extracted, Outcome
from extraction.resolution import resolve
from extraction.rules.engine import RuleEngine

ENGINE = RuleEngine()
OPENI = {
    "Atelectasis": ("atelectasis",),
    "Cardiomegaly": ("cardiomegaly",),
    "Effusion": ("pleural effusion",),
    "Infiltration": ("lung opacity",),
    "Mass": ("lung mass",),
    "Nodule": ("lung nodule",),
    "Pneumonia": ("pneumonia",),
    "Pneumothorax": ("pneumothorax",),
    "Consolidation": ("consolidation",),
    "Edema": ("pulmonary edema",),
    "Emphysema": ("emphysema",),
    "Fibrosis": ("fibrosis",),
    "Pleural_Thickening": ("pleural thickening",),
}
"""Label → our pathologies; Hernia is left out, its column is empty."""
_FIRM = {"compatible with", "consistent with", "diagnostic of", "present"}
CONVENTIONS = {
    "every hedge counts as negative": {"present"},
    "hedges weaker than 'compatible with' count as negative": _FIRM,
    "hedges count as positive": set(ENGINE.vocabulary.phrases)
    - {"absent", "very unlikely", "unlikely"},
}
INFILTRATE = re.compile("infiltrat", re.IGNORECASE)
"""That set's Infiltration is the word; an opacity called otherwise has no label in it."""


class Counts(NamedTuple):
    """True positives, false positives, false negatives."""

    right: int
    surplus: int
    missed: int

    def line(self, name: str) -> str:
        """One line of the table."""
        read, gold = self.right + self.surplus, self.right + self.missed
        precision = self.right / read if read else float("nan")
        recall = self.right / gold if gold else float("nan")
        return (
            f"  {name:<28} {gold:>5} {read:>5}  P {precision:.3f}  R {recall:.3f}  F1 {self.f1:.3f}"
        )

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        whole = 2 * self.right + self.surplus + self.missed
        return 2 * self.right / whole if whole else float("nan")


def count(
    read: Sequence[Mapping[str, str]],
    gold: Sequence[Mapping[str, str]],
    labels: Mapping[str, Sequence[str]],
    *,
    accepted: Set[str],
) -> dict[str, Counts]:
    """Score each label over all reports; only `accepted` phrases make it positive."""
    counts = {}
    for label, names in labels.items():
        said = [any(cells.get(name) in accepted for name in names) for cells in read]
        true = [row[label].strip().startswith("1") for row in gold]
        pairs = list(zip(said, true, strict=True))
        counts[label] = Counts(
            *(pairs.count(p) for p in ((True, True), (True, False), (False, True)))
        )
    return counts


def show(title: str, counts: Mapping[str, Counts]) -> None:
    """Print a table with micro and macro F1."""
    print(title)
    for label, one in counts.items():
        print(one.line(label))
    total = Counts(*(sum(column) for column in zip(*counts.values(), strict=True)))
    print(total.line("all, micro"))
    f1s = [one.f1 for one in counts.values()]
    print(f"  {'all, macro':<28} {sum(f1s) / len(f1s):.3f}")


def rows_of(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV file; none, with a message, where it is absent."""
    if not path.is_file():
        print(f"{path}: absent, skipped")
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def openi(folder: Path) -> None:
    """Score the 14-finding labels of the Open-i reports."""
    gold = rows_of(folder / "openi_findings_gold.csv")
    reports = {row["report_id"]: row for row in rows_of(folder / "openi.csv")}
    gold = [row for row in gold if row["report_id"] in reports]
    if not gold:
        return
    texts = [
        f"FINDINGS: {row['findings']}\nIMPRESSION: {row['impression']}"
        for row in (reports[one["report_id"]] for one in gold)
    ]
    outcomes = ENGINE.extract(texts, modality="XR")
    read = [
        strongest(only_infiltrates(text, outcome))
        for text, outcome in zip(texts, outcomes, strict=True)
    ]
    for convention, accepted in CONVENTIONS.items():
        counts = count(read, gold, OPENI, accepted=accepted)
        show(f"Open-i, {len(gold)} reports, {convention}", counts)


def only_infiltrates(text: str, outcome: Outcome) -> Outcome:
    """Leave out the opacities that are not called infiltrates."""
    if not isinstance(outcome, Extracted):
        return outcome
    kept = tuple(
        found
        for found in outcome.findings
        if found.pathology != "lung opacity"
        or (
            found.explanation is not None
            and INFILTRATE.search(
                text[found.explanation.mention_start : found.explanation.mention_end]
            )
        )
    )
    return Extracted(kept, outcome.not_evaluable)


def strongest(outcome: Outcome) -> dict[str, str]:
    """Pathology → strongest phrase anywhere: those labels are of the whole report."""
    rows = resolve(outcome, vocabulary=ENGINE.vocabulary, rule="strongest")
    return {name: row.phrase for name, row in rows.items() if row.phrase}


def ctrate(folder: Path) -> None:
    """Score the CT-RATE labels that our vocabulary has."""
    gold = rows_of(folder / "ctrate_labelled.csv")
    if not gold:
        return
    labels = ENGINE.vocabulary.rollup("ctrate")
    outcomes = ENGINE.extract([row["report_text"] for row in gold], modality="CT")
    read = [strongest(outcome) for outcome in outcomes]
    for convention, accepted in CONVENTIONS.items():
        counts = count(read, gold, labels, accepted=accepted)
        show(f"CT-RATE, {len(gold)} reports, {convention}", counts)
        rest = [one.f1 for label, one in counts.items() if label != "Lymphadenopathy"]
        print(f"  {'macro without lymph nodes':<28} {sum(rest) / len(rest):.3f}")


def main() -> None:
    """Run whatever data is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    folder = parser.parse_args().folder
    if folder is None:
        print("no folder with the public sets was given: nothing measured")
        return
    openi(folder / "xr")
    ctrate(folder / "ct")


if __name__ == "__main__":
    main()
