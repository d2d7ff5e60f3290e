"""A monthly export beside years of earlier ones: what its reading costs in month 1 and month 24.

``python benchmarks/formats_years.py [months] [reports a month] [every]``. Invented FHIR folders
(NDJSON, a file a kind): a report points at its order, its patient and its reader; half of the
patients and all readers stand in an earlier month alone. Each measured month (every so many, and
the last) is a fresh process, as a nightly run is: it asks for the keys of all months and reads the
newest, with the index that the months before left. Then HL7's merges as a run joins them, twice:
a hundred in every month, and ten in each of two years' nights. Prints processor seconds, peak
memory and the last month as a multiple of the second, the first that looks anything up; ends with
1 beyond `LIMIT`.
"""

from __future__ import annotations

import base64
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.config.sections import Input
from pipeline.formats.exams import Merge
from pipeline.formats.fhir.resources import Index
from pipeline.formats.sources import Sources
from pipeline.store.workspace import Workspace
from pipeline.vault.merges import merge_table, patients_joined

LIMIT = 1.5
TEXT = base64.b64encode(b"FINDINGS: Small effusion. " * 30 + b"IMPRESSION: Likely.").decode()
Resource = dict[str, Any]


def resources(month: int, reports: int) -> Iterator[Resource]:
    """Give a month's export; what it points at may stand in an earlier one."""
    if month == 0:
        for n in range(40):
            name = [{"family": f"Reader{n}", "given": ["Ann"]}]
            yield {"resourceType": "Practitioner", "id": f"d{n}", "name": name}
    for n in range(reports):
        own = month if n % 2 or not month else (n * 7) % month
        patient, order = f"p{own}-{n | 1 if own != month else n}", f"o{month}-{n}"
        if own == month:
            yield {"resourceType": "Patient", "id": patient, "birthDate": "1950-04-15",
                   "identifier": [{"system": "urn:oid:1", "value": f"M{patient}"}]}  # fmt: skip
        number = {"type": {"coding": [{"code": "ACSN"}]}, "value": f"A{month}-{n}"}
        yield {"resourceType": "ServiceRequest", "id": order, "identifier": [number]}
        yield {
            "resourceType": "DiagnosticReport", "id": f"r{month}-{n}", "status": "final",
            "code": {"text": "XR CHEST" if n % 3 else "CT CHEST"},
            "subject": {"reference": f"Patient/{patient}"},
            "effectiveDateTime": f"2024-01-01T{n % 24:02d}:00:00Z",
            "issued": f"2024-01-01T{n % 24:02d}:30:00Z",
            "basedOn": [{"reference": f"ServiceRequest/{order}"}],
            "resultsInterpreter": [{"reference": f"Practitioner/d{n % 40}"}],
            "presentedForm": [{"contentType": "text/plain", "data": TEXT}],
        }  # fmt: skip


def export(folder: Path, month: int, reports: int) -> None:
    """Write a month's folder, a file a kind."""
    folder.mkdir()
    kinds: dict[str, list[str]] = {}
    for each in resources(month, reports):
        kinds.setdefault(each["resourceType"], []).append(json.dumps(each))
    for kind, lines in kinds.items():
        (folder / f"{kind}.ndjson").write_text("\n".join(lines))


def newest(root: Path) -> None:
    """Ask for every month's key and read the newest; print what that cost."""
    months = sorted((root / "exports").iterdir())
    formats = Sources(Input(paths=("exports/*",), format="fhir"), {}, 1000)
    for month in months:
        formats.digest(month, formats.elsewhere(month, months))
    elsewhere = formats.elsewhere(months[-1], months)
    batches = list(formats.read(months[-1], elsewhere, root / "places.sqlite"))
    lost = sum(len(b.quarantined) + (b.exams["patient_birth_date"] == "").sum() for b in batches)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([time.process_time(), peak, int(lost), sum(len(b.exams) for b in batches)]))


def merges(root: Path, exports: int, each: int) -> float:
    """Join what so many exports said of patients' numbers; processor seconds."""
    store = Workspace(root / f"workspace-{exports}")
    for export in range(exports):
        said = [Merge(((f"o{export}-{n}", "N"), (f"p{export}-{n}", "N"))) for n in range(each)]
        store.write("raw", "merges", f"m{export}", merge_table([("adt", 1, s) for s in said]))
    start = time.process_time()
    joined = patients_joined(store, shared=False)
    if len(joined.stands) != exports * each:
        sys.exit("merges were lost")
    return time.process_time() - start


def main() -> None:
    """Export month after month, measure some, and compare."""
    given = [int(each) for each in sys.argv[1:]]
    months, reports, every = [*given, *(24, 5000, 11)[len(given) :]]
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "exports").mkdir()
        costs: dict[int, tuple[float, float]] = {}
        for month in range(months):
            export(root / "exports" / f"{month:03d}", month, reports)
            if month > 1 and month % every and month + 1 < months:
                files = [p for p in root.glob("exports/*/*") if p.parent.name != f"{month:03d}"]
                list(Index(root / "places.sqlite").resources({"Patient/nobody"}, files))
                continue
            called = [sys.executable, __file__, "--newest", str(root)]
            done = subprocess.run(called, capture_output=True, text=True, check=True)
            seconds, peak, lost, exams = json.loads(done.stdout)
            if lost or exams != reports:
                sys.exit(f"month {month + 1}: {lost} of {exams} lost what they point at")
            costs[month] = seconds, peak
            print(f"month {month + 1:3d}: {seconds:6.2f} s of processor time, {peak:5.0f} MiB")
        size = (root / "places.sqlite").stat().st_size / 2**20
        joined = [f"{merges(root, *of):.3f}" for of in ((1, 100), (months, 100), (730, 10))]
    told = f"merges of 1 and {months} months and of 730 nights: {', '.join(joined)} s"
    print(f"index {size:.1f} MiB; {told}")
    ratio = [late / early for late, early in zip(costs[months - 1], costs[1], strict=True)]
    print(f"month {months} : month 2: time {ratio[0]:.2f}, memory {ratio[1]:.2f} (limit {LIMIT})")
    sys.exit(1 if max(ratio) > LIMIT else 0)


if __name__ == "__main__":
    newest(Path(sys.argv[2])) if sys.argv[1:2] == ["--newest"] else main()
