"""Which version of a report counts, files to pairs: whatever the vault, order, split and form."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.site.site import Site
from pipeline.stages.pair import PAIR, blocks
from pipeline.vault.codes import readable
from pipeline.vault.key import new_key
from tests.fixtures.here import coded

VAULTS = 6


def row(accession: str, text: str, **more: str) -> dict[str, str]:
    kind = "CT" if accession.startswith("C") else "XR"
    return {
        "accession": accession, "patient_id": f"M{accession[1]}", "reader_id": "D5",
        "reader_name": "HOPE^FAITH", "modality": kind, "exam_name": f"{kind} CHEST",
        "performed_at": "2026-03-04T14:00" if kind == "CT" else "2026-03-04T10:00",
        "signed_at": "2026-03-04T15:00" if kind == "CT" else "2026-03-04T11:00",
        "status": "final", "version": "", "sent_at": "", "patient_age_years": "50", "text": text,
    } | more  # fmt: skip


MATES = ("Okonjo", "Brightly", "Fenwick", "Marlowe", "Quill", "Tansy", "Oskar", "Dunmore",
         "Ashby", "Winslet", "Harrow", "Calloway")  # fmt: skip
"""Names that the reports of a shard share or do not, as files and shards are cut."""
NAMED = (
    "Likely nodule. "
    + " ".join(f"{who} called, compare {who} of the outside study at Lower Field." for who in MATES)
    + " Small opacity seen in the left upper zone, stable in size and shape since then."
)
EXPORT = [
    row("X1", "Likely pneumonia."), row("X1", "Pneumonia is unlikely."), row("C1", "No opacity."),
    row("X2", "Likely pneumonia.", version="1"), row("X2", "Pneumonia is unlikely.", version="2"),
    row("C2", "No opacity."),
    row("X3", "Likely effusion.", sent_at="2026-03-04T11:02"),
    row("X3", "Effusion is unlikely.", sent_at="2026-03-04T11:09"), row("C3", "No effusion."),
    row("X4", "Likely effusion."), row("C4", "Effusion."), row("C4", "No effusion."),
    row("X5", "Likely nodule.", exam_name="XR CHEST PA"),
    row("X5", "Likely nodule.", exam_name="XR CHEST AP"), row("C5", "Nodule."),
    row("X6", "Likely mass.", status="corrected"), row("X6", "Mass is unlikely."),
    row("C6", "Mass."),
    row("X7", NAMED, exam_name="XR CHEST PA"), row("X7", NAMED, exam_name="XR CHEST AP"),
    row("C7", "Nodule."),
    row("X8", "Likely nodule."), row("C8", "No nodule.", signed_at="2026-03-04T14:50"),
    row("C8b", "Nodule."), row("C8c", "Nodules.", signed_at="2026-03-04T15:40"),
    *(row(f"C{n}", f"{who} told of the {what}. Findings discussed at the ward by {who}.",
          patient_id=f"N{n}")
      for n, (who, what) in enumerate(product(MATES, ("nodule", "effusion")), 10)),
]  # fmt: skip


FORMS = ("csv", "csv.gz", "jsonl", "jsonl.gz", "parquet", "xlsx")


def written(table: pd.DataFrame, folder: Path, number: int, form: str) -> None:
    """Write some rows as a file of a form."""
    path = folder / f"part{number}.{form}"
    if form.startswith("csv"):
        table.to_csv(path, index=False)
    elif form.startswith("jsonl"):
        table.to_json(path, orient="records", lines=True)
    elif form == "parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_excel(path, index=False)


def decided(folder: Path, rng: np.random.Generator, nodule: str) -> list[tuple[str, ...]]:
    """Run a shuffled, split and partly repeated export: each X-ray's fate and what was read."""
    table = pd.DataFrame(EXPORT)
    table["text"] = table["text"].replace(NAMED, nodule)
    table = pd.concat([table, table.sample(frac=0.4, random_state=rng)])
    table = table.sample(frac=1, random_state=rng)
    folder.mkdir()
    files = int(rng.integers(1, 4))
    for n in range(files):
        written(table.iloc[n::files], folder, n, str(rng.choice(FORMS)))
    rows = int(rng.integers(10, 40))
    (folder / "radcal.toml").write_text(
        f'[input]\npaths = ["part*"]\n[execution]\nshard_rows = {rows}\n'
    )
    Site.forget()
    site = Site.open(str(folder / "radcal.toml"))
    clean = coded(site)
    (block,) = blocks(site, clean)
    key = PAIR.do(site, block).found.key
    read = site.workspace.read
    texts = read("analysis", "clean_exams", [each.key for each in clean])
    texts = texts.drop_duplicates("exam_key").set_index("exam_key")["text"]
    # Which names the judge takes may depend on a text's shard-mates; what it states may not.
    texts = texts.str.replace(r"(?<=nodule\.) .*(?= Small opacity)", "", regex=True)
    pairs = read("analysis", "pairs", [key]).set_index("xr_study_code")
    said = pairs[["xr_exam_key", "ct_exam_key"]].apply(lambda keys: keys.map(texts))
    with site.open_vault(read_only=True) as vault:
        fates = read("analysis", "fates", [key])[["study_code", "fate"]].to_numpy()
        lines = [
            (
                readable(vault.identifier_for("study", code)),
                fate,
                *said.reindex([code]).fillna("").iloc[0],
            )
            for code, fate in fates
        ]
        apart = read("analysis", "contradictory", [key])["study_code"]
        named = [readable(vault.identifier_for("study", code)) for code in apart]
        lines += [(name, "contradicts") for name in named]
    return sorted(lines)


@pytest.mark.parametrize("nodule", ["Likely nodule. Small opacity in the left upper zone.", NAMED])
def test_six_vaults_and_any_order_split_and_repetition_choose_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodule: str
) -> None:
    rng = np.random.default_rng(17)
    found = []
    for n in range(VAULTS):
        monkeypatch.setenv("RADCAL_VAULT_KEY", new_key())
        found.append(decided(tmp_path / f"vault{n}", rng, nodule))
    differ = [sorted(set(each) ^ set(found[0])) for each in found]
    assert differ == [[]] * VAULTS
    apart = "versions of a report contradict each other"
    forecasts = {line[0][:2]: line[1:3] for line in found[0] if len(line) == 4}
    assert (
        forecasts
        == {
            "X1": (apart, ""),
            "X2": ("paired", "Likely pneumonia."),  # when version 2 came nobody tells
            "X3": ("paired", "Effusion is unlikely."),
            "X4": (apart, ""),
            "X5": ("paired", "Likely nodule."),
            "X6": ("paired", "Mass is unlikely."),  # nor the correction
            "X8": ("paired", "Likely nodule."),
            "X7": ("paired", found[0][[line[0][:2] for line in found[0]].index("X7")][2]),
        }
    )
    assert next(line[3] for line in found[0] if line[0] == "X8") == "No nodule."
    assert [line[0][:2] for line in found[0] if len(line) == 2] == ["C4", "C4", "X1", "X1"]
