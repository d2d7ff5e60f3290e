"""Mutated messages, resources, tables, reports: no crash, no hang, everything accounted for.

``python benchmarks/formats_fuzz.py [inputs] [seed] [kind …]`` (100,000 inputs for the nightly run,
shared by the kinds) mutates invented HL7 messages, FHIR resources, CSV and JSON-lines rows,
workbooks, texts, RTF and PDF. What a reader gives is validated and written to Parquet as a run
would. It prints the slowest reading of each kind (of twenty inputs at once, a report alone) and
what became of them, and ends with 1 if anything raised, took over a second of processor time, or
was not accounted for. Another seed draws other inputs: pieces add up.
"""

from __future__ import annotations

import base64
import copy
import io
import json
import random
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from pipeline.deidentify import Clean, Deidentifier, KnownIdentifiers
from pipeline.errors import InputError
from pipeline.formats.attachments import document_text
from pipeline.formats.exams import ExamBatch, FeedRow, Said, SetAside, gathered
from pipeline.formats.exports import TableOptions
from pipeline.formats.exports import read as read_table
from pipeline.formats.fhir import FhirOptions
from pipeline.formats.fhir import exams as fhir_exams
from pipeline.formats.fhir.directory import Directory
from pipeline.formats.fhir.resources import resources_of
from pipeline.formats.hl7v2 import framing
from pipeline.formats.hl7v2.exams import Hl7Options, exams
from pipeline.formats.validation import IngestOptions, validate
from pipeline.store.workspace import Workspace
from pipeline.vault.merges import merge_table, patients_joined, under_one_number
from tests.fixtures.documents import encrypted, pdf, rtf

LIMIT_S = 1.0
KINDS = (
    "message", "feed", "resource", "table", "lines", "listed", "in_lines", "mapped", "report",
    "document", "attachment", "workbook",
)  # fmt: skip
ROWS_A_TABLE = 20
TOGETHER = 20
TOLD = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
"""Invented inputs to be mutated; splices are pieces and how often each is repeated."""
MESSAGE, MERGE = ("\r".join(TOLD[kind]).encode() for kind in ("message", "merge"))
REPORT = "\n".join(TOLD["report"]) + "\n"
RESOURCE, PATIENT, CELLS, NESTED = (TOLD[k] for k in ("resource", "patient", "cells", "nested"))
PATHS = TOLD["paths"]
IN_LINES = {"text": "text by no"}
SPLICES = [(piece * n).encode("utf-8", "surrogateescape") for piece, n in TOLD["splices"]]
VALUES: tuple[Any, ...] = (
    None, True, -1, 10**400, 1e300, "", "x", "\x00", "=" * 5000, [], {}, [None], [[]], [{}],
    {"value": []}, {"coding": [None, 7]}, [{"reference": "a/b/c/d"}], [{"data": "****"}],
    [{"data": "QQ=="}], "é" * 999, "\ud800", "9999-12-31T23:59:59Z", "0001-01-01", "-5", "1e99",
    [{"contentType": "text/plain; charset=undefined", "data": "QQ=="}], "#p", "urn:uuid:x",
)  # fmt: skip
CLINICAL = (
    "<?xml version='1.0'?><ClinicalDocument><section><code code='19005-8'/><title>Impression"
    f"</title><text><paragraph>{REPORT.replace(chr(10), '<br/>')}</paragraph></text></section>"
    "</ClinicalDocument>"
).encode()
WITHIN = b'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n'
ENCLOSED = (
    CLINICAL, WITHIN + b"Content-Type: text/xml\r\n\r\n" + CLINICAL + b"\r\n--b--\r\n",
    b"<html><head><title>x</title></head><body><p>" + REPORT.encode() + b"</body></html>",
)  # fmt: skip
DOCUMENTS = (
    rtf(REPORT.splitlines()), pdf(REPORT.splitlines()), encrypted(pdf(REPORT.splitlines()), ""),
)  # fmt: skip
CLEANER = Deidentifier()
KNOWN = KnownIdentifiers(names=("DOE^JANE",), numbers=("12345678",))
CHECKS = IngestOptions(
    modalities={"XR": "XR", "CT": "CT"}, chest_pattern="chest", now=pd.Timestamp("2026-11-20T00Z")
)
Outcomes = Counter[str]


def mutated(raw: bytes, rng: random.Random) -> bytes:
    """Delete, double, move and splice pieces."""
    data = bytearray(raw)
    for _ in range(rng.randint(1, 8)):
        a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        kind = rng.random()
        if kind < 0.3:
            data[a:a] = rng.choice(SPLICES)
        elif kind < 0.5:
            del data[a : min(b, a + 40)]
        elif kind < 0.65:
            data[a:a] = data[a : min(b, a + 200)]
        elif kind < 0.8 and data:
            data[a % len(data)] = rng.randrange(256)
        else:
            data[a:b] = data[a:b][::-1]
        if not data:
            data = bytearray(b"\r")
    return bytes(data)


def changed(value: Any, rng: random.Random) -> Any:
    """Replace one to four values of a tree by something else."""
    tree: Any = json.loads(json.dumps(value))
    for _ in range(rng.randint(1, 4)):
        node: Any = tree
        while isinstance(node, dict | list) and node:
            place = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
            if rng.random() < 0.4 or not isinstance(node[place], dict | list):
                node[place] = copy.deepcopy(rng.choice(VALUES))
                break
            node = node[place]
    return tree


class Fuzz:
    """One kind of input after another, judged and stored as a run would."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder = folder
        self.rng = rng
        self.store = Workspace(folder)

    def message(self) -> tuple[int, Outcomes]:
        """Read mutated messages one by one."""
        raw = [mutated(self.rng.choice((MESSAGE, MERGE)), self.rng) for _ in range(TOGETHER)]
        return len(raw), self._judged([x for each in raw for x in exams(each, Hl7Options())])

    def feed(self) -> tuple[int, Outcomes]:
        """Read a file of mutated messages in their frames."""
        path = self.folder / "feed.hl7"
        sent = (MESSAGE, MESSAGE, MERGE)
        raw = (mutated(self.rng.choice(sent), self.rng) for _ in range(TOGETHER))
        path.write_bytes(b"".join(b"\x0b" + each + b"\x1c\r" for each in raw))
        pieces = framing.messages(path, framing.Batches())
        found = [x for each in pieces for x in exams(each, Hl7Options())]
        return TOGETHER, self._judged(found)

    def resource(self) -> tuple[int, Outcomes]:
        """Read resources of which some values are something else, and some bytes."""
        path = self.folder / "reports.ndjson"
        of = (RESOURCE, PATIENT)
        lines = [json.dumps(changed(of[n % 2], self.rng)).encode() for n in range(TOGETHER)]
        lines += [mutated(lines[0], self.rng) for _ in range(TOGETHER // 4)]
        path.write_bytes(b"\n".join(lines))
        read = [each for _, each in resources_of(path)]
        directory = Directory()
        found: list[Said] = []
        for each in read:
            if not isinstance(each, str):
                directory.add(each)
        for each in read:
            if isinstance(each, str):
                found.append(SetAside(each))
            else:
                found += fhir_exams(each, directory, FhirOptions())
                found += directory.merges(each)
        outcomes = self._judged(found)
        if outcomes.total() < TOGETHER:
            outcomes["NOT ACCOUNTED"] += 1
        return len(lines), outcomes

    def table(self) -> tuple[int, Outcomes]:
        """Read a mutated CSV of several rows."""
        return self._csv([CELLS] * ROWS_A_TABLE)

    def lines(self) -> tuple[int, Outcomes]:
        """Read JSON lines of which values or bytes are something else."""
        return self._objects(CELLS, "\n".join, cut=0.5)

    def listed(self) -> tuple[int, Outcomes]:
        """Read one JSON list of rows of which values or bytes are something else."""

        def joined(rows: list[str]) -> str:
            return json.dumps([*map(json.loads, rows)], indent=self.rng.choice((None, 1)))

        return self._objects(CELLS, joined, cut=0.5)

    def in_lines(self) -> tuple[int, Outcomes]:
        """Read a mutated CSV of which each row holds a line of a report."""
        rows = [{**CELLS, "no": n, "accession": f"A{n % 4}"} for n in range(ROWS_A_TABLE)]
        return self._csv(rows, TableOptions(columns=IN_LINES))

    def mapped(self) -> tuple[int, Outcomes]:
        """Read objects of which values are something else, through paths, joins and fallbacks."""
        return self._objects(NESTED, "\n".join, options=TableOptions(columns=PATHS))

    def report(self) -> tuple[int, Outcomes]:
        """Clean a mutated report."""
        text = mutated(REPORT.encode(), self.rng).decode("utf-8", "replace")
        found = CLEANER.clean(text, known=KNOWN)
        return 1, Counter(["clean" if isinstance(found, Clean) else found.reason])

    def document(self) -> tuple[int, Outcomes]:
        """Read a mutated RTF or PDF; its own process is bound to five seconds and one GiB."""
        raw = mutated(self.rng.choice(DOCUMENTS), self.rng)
        found = document_text(raw)
        return 1, Counter([found.reason if isinstance(found, SetAside) else "text"])

    def attachment(self) -> tuple[int, Outcomes]:
        """Read messages and resources whose report is a mutated document or mutated base64."""
        found: list[Said] = []
        for _ in range(TOGETHER // 2):
            data = base64.b64encode(mutated(self.rng.choice(DOCUMENTS + ENCLOSED), self.rng))
            if self.rng.random() < 0.3:
                data = mutated(data, self.rng)
            head, row = MESSAGE.split(b"OBX|1|")[0], b"OBX|1|ED|||^AP^PDF^Base64^" + data
            found += exams(head + row, Hl7Options())
            form = {"presentedForm": [{"data": data.decode("latin-1")}]}
            found += fhir_exams({**RESOURCE, **form}, Directory(), FhirOptions())
        return TOGETHER, self._judged(found)

    def workbook(self) -> tuple[int, Outcomes]:
        """Read a workbook of which a part, or the whole file, is mutated."""
        whole = io.BytesIO()
        pd.DataFrame([CELLS] * ROWS_A_TABLE).to_excel(whole, index=False)
        content = whole.getvalue()
        part = self.rng.random() < 0.7
        damaged = self._repacked(content) if part else mutated(content, self.rng)
        return ROWS_A_TABLE, self._table("exams.xlsx", damaged)

    def _repacked(self, content: bytes) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(packed, "w") as new:
            changed_part = self.rng.choice(old.namelist())
            for name in old.namelist():
                part = old.read(name)
                new.writestr(name, mutated(part, self.rng) if name == changed_part else part)
        return packed.getvalue()

    def _csv(
        self, rows: list[dict[str, Any]], options: TableOptions | None = None
    ) -> tuple[int, Outcomes]:
        raw = pd.DataFrame(rows).to_csv(index=False, lineterminator="\r\n").encode()
        return ROWS_A_TABLE, self._table("exams.csv", mutated(raw, self.rng), options)

    def _objects(
        self, row: dict[str, Any], joined: Callable[[list[str]], str], *,
        options: TableOptions | None = None, cut: float = 0.0,
    ) -> tuple[int, Outcomes]:  # fmt: skip
        rows = [row, *(changed(row, self.rng) for _ in range(ROWS_A_TABLE))]
        raw = joined([json.dumps(each) for each in rows]).encode()
        if cut and self.rng.random() < cut:
            raw = mutated(raw, self.rng)
        return ROWS_A_TABLE, self._table("exams.jsonl", raw, options)

    def _table(self, name: str, content: bytes, options: TableOptions | None = None) -> Outcomes:
        path = self.folder / name
        path.write_bytes(content)
        outcomes: Outcomes = Counter()
        try:
            for batch in read_table(path, options or TableOptions()):
                numbers = sorted([*batch.exams["source_row"], *batch.quarantined["row"]])
                has_all = numbers == list(range(numbers[0], numbers[0] + len(numbers)))
                if not (has_all or (options and options.columns is IN_LINES)):
                    outcomes["NOT ACCOUNTED"] += 1
                outcomes += self._stored(batch)
        except InputError:
            outcomes["file refused"] += 1
        return outcomes or Counter(["no rows"])

    def _judged(self, found: list[Said]) -> Outcomes:
        rows: Iterator[FeedRow] = ((number, each) for number, each in enumerate(found, start=1))
        outcomes: Outcomes = Counter()
        for batch in gathered((("fuzz", rows),), size=1000):
            outcomes += self._stored(batch)
        return outcomes

    def _stored(self, batch: ExamBatch) -> Outcomes:
        judged = validate(batch, source="fuzz", options=CHECKS, seen=set())
        self.store.write("raw", "exams", "fuzz", judged.exams)
        self.store.write("raw", "merges", "fuzz", merge_table(judged.merges))
        stands = patients_joined(self.store, shared=False).stands
        under_one_number(judged.exams, stands)
        before = len(batch.exams) + len(batch.quarantined)
        outcomes: Outcomes = Counter(judged.quarantined["reason"])
        outcomes["exam"] += len(judged.exams)
        outcomes["merge"] += len(judged.merges)
        if len(judged.exams) + len(judged.quarantined) != before:
            outcomes["NOT ACCOUNTED"] += 1
        return +outcomes


def run(
    fuzz: Fuzz, read: Callable[[], tuple[int, Outcomes]], inputs: int
) -> tuple[float, Outcomes]:
    """Read inputs of one kind; give the slowest reading and what became of all."""
    outcomes: Outcomes = Counter()
    slowest, done = 0.0, 0
    while done < inputs:
        start = time.process_time()
        count = 1
        try:
            count, found = read()
            outcomes += found or Counter(["NOT ACCOUNTED"])
        except Exception as error:  # noqa: BLE001 - any escape is the finding
            outcomes[f"RAISED {type(error).__name__}"] += 1
        slowest = max(slowest, time.process_time() - start)
        done += count
    return slowest, outcomes


def is_bad(slowest: float, outcomes: Outcomes) -> bool:
    """Tell whether an input raised, hung, or was lost."""
    return slowest > LIMIT_S or any(key.startswith(("RAISED", "NOT ")) for key in outcomes)


def main() -> None:
    """Run the kinds, an equal share each, and print what became of them."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    CLEANER.clean(REPORT)  # reads the vocabularies once
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        fuzz = Fuzz(Path(folder), random.Random(seed))  # noqa: S311 - mutations, not secrets
        kinds = tuple(sys.argv[3:]) or KINDS
        for name in kinds:
            slowest, outcomes = run(fuzz, getattr(fuzz, name), n // len(kinds))
            failed = failed or is_bad(slowest, outcomes)
            print(f"{name}: {n // len(kinds)} inputs, slowest {slowest * 1000:.0f} ms")
            print(f"  {dict(outcomes.most_common())}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
