"""Whether two checkouts of this project give the same results, to the byte, from the same input.

    python benchmarks/same_results.py OLD_CHECKOUT NEW_CHECKOUT FOLDER

Each checkout needs its environment (`make install`). Compared are: the demonstration (both run it
with one vault, so that codes and shifted dates agree): every table of the analysis zone, row for
row, every delivered page and sheet; what `radcal extract` finds and `radcal deidentify` removes in
the invented gold and blind sets, and in the shared data where that lies beside the checkout. Names
of shards and runs are hashes of the code and are meant to differ: they are masked. Prints one
line per comparison and exits with 1 if any differs. FOLDER must be new or empty.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pikepdf

KEYS = {"shard", "engine_version"}
HASH = re.compile(rb"(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])")
MARK = re.compile(r"⟦[A-Z0-9]+:([^⟧]*)⟧")
FIXTURES = Path(__file__).resolve().parents[1] / "tests" / "fixtures"
SHARED = Path(
    os.environ.get("RADCAL_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")
)


def main(old: Path, new: Path, folder: Path) -> int:
    """Run both, compare everything; gives the number of differences."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        sys.exit(f"{folder}: holds files of another comparison, which would count; name a new one.")
    differences = 0
    texts = dict(_texts(folder))
    runs = []
    for name, checkout in (("old", old), ("new", new)):
        place = folder / name
        _demo(checkout, place, vault=folder / "old" if name == "new" else None)
        for title, table in texts.items():
            _extract_and_clean(checkout, table, place / title)
        runs.append(place)
    for title, same in _compared(*runs, titles=sorted(texts)):
        differences += not same
        print(f"{'same     ' if same else 'DIFFERENT'}  {title}", flush=True)
    return differences


def _demo(checkout: Path, place: Path, *, vault: Path | None) -> None:
    """Run the demonstration; a second time with the first one's hospital and vault."""
    if vault is None:
        _radcal(checkout, "demo", "--out", place / "demo", "--pairs", "900", "--readers", "9")
        return
    workspace = place / "demo" / "workspace" / "raw"
    workspace.mkdir(parents=True, mode=0o700)
    shutil.copy(vault / "demo" / "workspace" / "raw" / "vault.sqlite", workspace)
    for name in ("hospital", "radcal.toml", "vault.key"):
        source, target = vault / "demo" / name, place / "demo" / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    _radcal(checkout, "run", place / "demo" / "radcal.toml", key=place / "demo" / "vault.key")


def _extract_and_clean(checkout: Path, table: Path, place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    _radcal(checkout, "extract", table, "--out", place / "findings.csv")
    spans = place / "spans.jsonl"
    _radcal(checkout, "deidentify", table, "--out", place / "clean.csv", "--spans", spans)


def _radcal(checkout: Path, *arguments: object, key: Path | None = None) -> None:
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    if key is not None:
        environment["RADCAL_VAULT_KEY_FILE"] = str(key)
    command = [checkout / ".venv" / "bin" / "radcal", *arguments]
    done = subprocess.run(
        [str(part) for part in command],
        cwd=checkout, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr[-2000:]}")


def _compared(old: Path, new: Path, *, titles: list[str]) -> Iterator[tuple[str, bool]]:
    analysis = [place / "demo" / "workspace" / "analysis" for place in (old, new)]
    tables = sorted({p.parent.name for zone in analysis for p in zone.glob("*/*.parquet")})
    for name in tables:
        first, second = (_rows(zone / name) for zone in analysis)
        yield f"table {name} ({len(first):,} rows)", first == second
    delivered = [place / "demo" / "workspace" / "delivery" for place in (old, new)]
    pages = sorted(
        {p.relative_to(root) for root in delivered for p in root.glob("*/*/*") if p.is_file()}
    )
    for page in pages:
        first, second = (_page(root / page) for root in delivered)
        yield f"page {page}", first == second
    for title in titles:
        for name in ("findings.csv", "clean.csv", "spans.jsonl"):
            first, second = ((place / title / name) for place in (old, new))
            yield f"{title} {name}", _masked(first) == _masked(second)


def _rows(folder: Path) -> list[str]:
    """Give a table's rows as text, sorted: shards lie in the order of their keys."""
    frames = [pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))]
    rows: list[str] = []
    for frame in frames:
        kept = frame.drop(columns=[c for c in frame.columns if c in KEYS])
        text = kept.to_csv(index=False, float_format="%.17g")
        head, *lines = text.splitlines()
        rows += [f"{head}|{line}" for line in lines]
    return sorted(rows)


def _page(path: Path) -> list[bytes]:
    """Give all that a page draws or says, hashes of code and configuration masked."""
    if not path.exists():
        return []
    if path.suffix != ".pdf":
        return [_masked(path)]
    with pikepdf.open(path) as pdf:
        return [HASH.sub(b"#", page.Contents.read_bytes()) for page in pdf.pages]


def _masked(path: Path) -> bytes:
    return HASH.sub(b"#", path.read_bytes()) if path.exists() else b"absent"


def _texts(folder: Path) -> Iterator[tuple[str, Path]]:
    """Give tables of report_id, modality, text: invented sets, and the shared ones if present."""
    for path in sorted((FIXTURES / "deid" / "blind").glob("*.txt.gz")):
        whole = gzip.decompress(path.read_bytes()).decode()
        plain = MARK.sub(r"\1", whole).split("\x1e")
        yield _table(folder, f"blind-{path.name[0]}", plain)
    for path in sorted((FIXTURES / "extraction").glob("gold_*.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        yield _table(folder, path.stem, [json.loads(line)["text"] for line in lines if line])
    if not SHARED.exists():
        print(f"passed over: no shared data in {SHARED}")
        return
    gold = (SHARED / "deid" / "synthetic_gold.jsonl").read_text(encoding="utf-8").splitlines()
    yield _table(folder, "shared-deid", [json.loads(line)["text"] for line in gold])
    openi = pd.read_csv(SHARED / "xr" / "openi.csv", dtype=str).fillna("")
    joined = "FINDINGS: " + openi["findings"] + "\nIMPRESSION: " + openi["impression"]
    yield _table(folder, "shared-openi", joined.tolist())
    ct = pd.read_csv(SHARED / "ct" / "ctrate_labelled.csv", dtype=str).fillna("")
    yield _table(folder, "shared-ct", ct["report_text"].tolist())


def _table(folder: Path, name: str, texts: list[str]) -> tuple[str, Path]:
    path = folder / f"{name}.csv"
    frame = pd.DataFrame({"text": texts})
    frame.insert(0, "report_id", [f"{name}-{i:05d}" for i in range(len(texts))])
    frame.insert(1, "modality", "CT" if "ct" in name.split("-")[-1].split("_") else "XR")
    frame.to_csv(path, index=False)
    return name, path


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(min(main(*(Path(a).resolve() for a in sys.argv[1:])), 1))
