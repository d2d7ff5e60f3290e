"""Mutated messages, resources and reports: nothing crashes, nothing hangs, all is accounted for.

``python benchmarks/formats_fuzz.py [inputs] [seed]`` (100,000 inputs for the nightly run) mutates
invented HL7 messages, FHIR resources and report texts, and prints the slowest of each kind and what
became of them. It ends with 1 if anything raised, took over a second of processor time, or was not
accounted for.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from pipeline.deidentify import Clean, Deidentifier, KnownIdentifiers
from pipeline.formats.fhir.reports import exam as fhir_exam
from pipeline.formats.fhir.resources import Directory
from pipeline.formats.hl7v2.exams import MessageOptions, exams
from pipeline.formats.rows import SetAside

LIMIT_S = 1.0
MESSAGE = b"\r".join(
    (
        b"MSH|^~\\&|RIS|SITE|X|Y|20260301120000||ORU^R01|1|P|2.7",
        b"PID|1||M1^^^NM^MR~E2||DOE^JANE^Q||19500415|F",
        b"PV1||E",
        b"ORC|RE",
        b"OBR|1|O1|ACC77|XR100^XR CHEST 1 VIEW||20260301100000||||||||||D9^REF^RAY||CHEST||||"
        b"20260301113000||CR|Final||||||||D5^HOPE^FAITH",
        b"OBX|1|ST|&GDT|1|FINDINGS: Clear \\T\\ dry.||||||Final",
        b"OBX|2|ST|&IMP|1|Likely normal.~Signed by: Faith Hope, MD||||||Final",
    )
)
REPORT = (
    "PATIENT: DOE, JANE Q  MRN: 12345678 DOB: 3/3/1930\nHISTORY: Jane Doe is a 96 y.o. woman.\n"
    "COMPARISON: CT of March 3, 2021 at 14:05.\n"
    "FINDINGS: May represent edema with Kerley B lines, 1.2 x 0.9 cm.\n"
    "D/w Dr. O'Brien at (440) 555-0101, j.doe@example.org.\nDictated by: HOPE, FAITH MD\n"
)
RESOURCE = {
    "resourceType": "DiagnosticReport", "id": "r", "status": "final",
    "issued": "2026-03-01T11:00:00Z",
    "identifier": [{"type": {"coding": [{"code": "ACSN"}]}, "value": "A1"}],
    "code": {"coding": [{"code": "X", "display": "XR CHEST"}], "text": "XR CHEST"},
    "subject": {"reference": "Patient/p", "display": "Jane Doe"}, "effectiveDateTime": "2026-03-01",
    "resultsInterpreter": [{"reference": "Practitioner/d", "display": "Dr Faith Hope"}],
    "presentedForm": [{"contentType": "text/html", "data": "PHA+Q2xlYXIuPC9wPg=="}],
    "conclusion": "Likely normal.",
}  # fmt: skip
SPLICES = (
    b"|", b"^", b"~", b"\\", b"&", b"\r", b"\n", b"\x00", b"\x0b", b"\x1c", b"\xff", b"MSH|",
    b"OBR|", b"OBX|1|TX|", b"|" * 300, b"^" * 500, b"A" * 3000, b"1" * 3000, b" " * 3000,
    b"(" * 500, b"\\X" * 400, b"3/" * 800, b"Dr. " * 400,
    b"a@" * 500, b"<" * 800, b"&#" * 400, "é".encode() * 300,
)  # fmt: skip
VALUES = (
    None, True, -1, 1e300, "", "x", "\x00", "=" * 5000, [], {}, [None], [[]], [{}], {"value": []},
    {"coding": [None, 7]}, [{"reference": "a/b/c/d"}], [{"data": "****"}],
    [{"data": "QQ=="}], "é" * 999,
)  # fmt: skip
CLEANER = Deidentifier()
KNOWN = KnownIdentifiers(patient_names=("DOE^JANE",), patient_ids=("12345678",))


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


def message(rng: random.Random) -> str:
    """Read a mutated message."""
    found = exams(mutated(MESSAGE, rng), MessageOptions())
    return ", ".join(sorted({f.reason if isinstance(f, SetAside) else "exam" for f in found}))


def resource(rng: random.Random) -> str:
    """Read a resource with one to four of its values replaced by something else."""
    changed: Any = json.loads(json.dumps(RESOURCE))
    for _ in range(rng.randint(1, 4)):
        node: Any = changed
        while isinstance(node, dict | list) and node:
            place = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
            if rng.random() < 0.4 or not isinstance(node[place], dict | list):
                node[place] = rng.choice(VALUES)
                break
            node = node[place]
    found = fhir_exam(changed, Directory(), {})
    return found.reason if isinstance(found, SetAside) else "exam"


def report(rng: random.Random) -> str:
    """Clean a mutated report."""
    found = CLEANER.clean(mutated(REPORT.encode(), rng).decode("utf-8", "replace"), known=KNOWN)
    return "clean" if isinstance(found, Clean) else found.reason


def main() -> None:
    """Run all three, a third each, and print what became of them."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    CLEANER.clean(REPORT)  # reads the vocabularies once
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    rng = random.Random(seed)  # noqa: S311 - mutations, not secrets
    kinds: dict[str, Callable[[random.Random], str]] = {
        "message": message, "resource": resource, "report": report,
    }  # fmt: skip
    failed = False
    for name, read in kinds.items():
        outcomes: Counter[str] = Counter()
        slowest = 0.0
        for _ in range(n // len(kinds)):
            start = time.process_time()
            try:
                outcomes[read(rng) or "NOTHING"] += 1
            except Exception as error:  # noqa: BLE001 - any escape is the finding
                outcomes[f"RAISED {type(error).__name__}"] += 1
            slowest = max(slowest, time.process_time() - start)
        bad = slowest > LIMIT_S or any(key.startswith(("RAISED", "NOTHING")) for key in outcomes)
        failed = failed or bad
        print(f"{name}: {sum(outcomes.values())} inputs, slowest {slowest * 1000:.0f} ms")
        print(f"  {dict(outcomes)}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
