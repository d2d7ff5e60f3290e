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
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from extraction.audit.gold import GoldFinding, GoldReport
from extraction.audit.scores import Audit, audit
from extraction.finding import Extracted, Outcome
from extraction.resolution import resolve
from extraction.rules.engine import RuleEngine
from extraction.vocabulary import Vocabulary

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


def score(
    title: str, outcomes: Sequence[Outcome], gold: pd.DataFrame, labels: Mapping[str, Sequence[str]]
) -> Iterator[pd.Series]:
    """Print P, R and F1 of each label under each convention; give the F1 of the labels."""
    read = [strongest(outcome) for outcome in outcomes]
    true = gold[[*labels]].apply(lambda column: column.str.strip().str.startswith("1"))
    for convention, accepted in CONVENTIONS.items():
        said = pd.DataFrame(
            {
                label: [any(cells.get(name) in accepted for name in names) for cells in read]
                for label, names in labels.items()
            },
            index=true.index,
        )
        table = pd.DataFrame({"gold": true.sum(), "read": said.sum(), "right": (said & true).sum()})
        table.loc["all, micro"] = table.sum()
        table["P"], table["R"] = table["right"] / table["read"], table["right"] / table["gold"]
        table["F1"] = 2 * table["right"] / (table["read"] + table["gold"])
        f1s = table["F1"].iloc[:-1]
        print(f"{title}, {len(gold)} reports, {convention}")
        print(table.drop(columns="right").to_string(float_format="%.3f"))
        print(f"  {'all, macro':<28} {f1s.mean(skipna=False):.3f}")
        yield f1s


def rows_of(path: Path) -> pd.DataFrame | None:
    """Rows of a CSV file; none, with a message, where it is absent."""
    if not path.is_file():
        print(f"{path}: absent, skipped")
        return None
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def openi(folder: Path) -> None:
    """Score the 14-finding labels of the Open-i reports."""
    gold, reports = rows_of(folder / "openi_findings_gold.csv"), rows_of(folder / "openi.csv")
    if gold is None or reports is None:
        return
    gold = gold.merge(reports[["report_id", "findings", "impression"]], on="report_id")
    texts = ("FINDINGS: " + gold["findings"] + "\nIMPRESSION: " + gold["impression"]).tolist()
    outcomes = ENGINE.extract(texts, modality="XR")
    infiltrates = [only_infiltrates(*each) for each in zip(texts, outcomes, strict=True)]
    for _ in score("Open-i", infiltrates, gold, OPENI):
        pass


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


def rollup(vocabulary: Vocabulary) -> dict[str, tuple[str, ...]]:
    """Give the labels of CT-RATE and the pathologies that roll up to each."""
    labels: dict[str, list[str]] = {}
    for entry in vocabulary.entries:
        if entry.ctrate:
            labels.setdefault(entry.ctrate, []).append(entry.name)
    return {label: tuple(names) for label, names in labels.items()}


def ctrate(folder: Path) -> None:
    """Score the CT-RATE labels that our vocabulary has."""
    gold = rows_of(folder / "ctrate_labelled.csv")
    if gold is None:
        return
    outcomes = ENGINE.extract(gold["report_text"].tolist(), modality="CT")
    for f1s in score("CT-RATE", outcomes, gold, rollup(ENGINE.vocabulary)):
        rest = f1s.drop("Lymphadenopathy").mean(skipna=False)
        print(f"  {'macro without lymph nodes':<28} {rest:.3f}")


LABELS = Path(__file__).parents[1] / "tests" / "fixtures" / "extraction" / "public" / "labels.jsonl"
"""A report a line: set, source, row from 0, digest of the text, labels, pathologies in doubt."""


def labelled(folder: Path) -> dict[str, list[GoldReport]]:
    """Put the labels of our own to their texts, by set; a text that is another is refused."""
    paths = folder / "ct" / "ctrate_labelled.csv", folder / "xr" / "openi.csv"
    ct, xr = (pd.read_csv(path, dtype=str, keep_default_na=False) for path in paths)
    cmc = (folder / "xr" / "cmc2007_chest.jsonl").read_text(encoding="utf-8").splitlines()
    texts: dict[str, Sequence[str]] = {
        "cmc": [json.loads(line)["impression"] for line in cmc],
        "openi": ("FINDINGS: " + xr["findings"] + "\nIMPRESSION: " + xr["impression"]).tolist(),
        "ctrate": ct["report_text"].tolist(),
    }
    sets: dict[str, list[GoldReport]] = {}
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text = texts[row["source"]][row["row"]]
        if hashlib.sha256(text.encode()).hexdigest()[:12] != row["digest"]:
            message = f"{row['source']}, row {row['row']}: another text than was labelled"
            raise SystemExit(message)
        findings = tuple(
            GoldFinding(section=section, pathology=name, phrase=phrase)
            for section, name, phrase in row["labels"]
        )
        sets.setdefault(row["set"], []).append(
            GoldReport(
                report_id=f"{row['source']}{row['row']}",
                modality="CT" if row["source"] == "ctrate" else "XR",
                text=text,
                findings=findings,
            )
        )
    return sets


def audited(reports: Sequence[GoldReport], bootstrap: int = 1000) -> Audit:
    """Score the rules on reports that were labelled by the guide."""
    outcomes = [ENGINE.extract([report.text], modality=report.modality)[0] for report in reports]
    rng = np.random.default_rng(0)
    vocabulary = ENGINE.vocabulary
    return audit(reports, outcomes, vocabulary=vocabulary, bootstrap=bootstrap, rng=rng)


def ours(folder: Path) -> None:
    """Score the labels of our own, set by set and together."""
    files = "xr/openi.csv", "xr/cmc2007_chest.jsonl", "ct/ctrate_labelled.csv"
    if not all((folder / file).is_file() for file in files):
        print(f"{folder}: not all of {', '.join(files)} are there; our own labels skipped")
        return
    sets = labelled(folder)
    together = [report for reports in sets.values() for report in reports]
    print("labelled by our guide: reports, labels, F1, hedges exact, unmapped cells")
    for name, reports in {**sets, "all": together}.items():
        result = audited(reports)
        labels = sum(len(report.findings) for report in reports)
        shown = (
            f"{each.value:.3f} ({each.low:.3f} to {each.high:.3f})"
            for each in (result.f1, result.hedged_exact)
        )
        print(f"  {name:<4} {len(reports)}, {labels}:", *shown, result.unmapped)


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
    ours(folder)


if __name__ == "__main__":
    main()
