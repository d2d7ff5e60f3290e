"""How fast the rules read, and whether memory stays flat (`scale_workers.py`: over processes).

Run: ``python benchmarks/extraction_rules.py [--reports 20000] [--stream 200000]``. The reports are
the labelled ones of the fixtures, repeated with changing numbers so that no cache helps; their
median length is printed. Targets: 1,500 X-ray reports/s of 40 words and 250 CT reports/s of 250
words per core.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from extraction.rules.engine import RuleEngine

FIXTURES = Path(__file__).parent.parent / "tests" / "fixtures" / "extraction"
TARGETS = {"XR": (40, 1500), "CT": (250, 250)}
BATCH = 500


def texts(modality: str, words: int) -> Iterator[str]:
    """Endless reports of about `words` words, made by joining labelled ones; no two are alike."""
    lines = (FIXTURES / f"gold_{modality.lower()}.jsonl").read_text(encoding="utf-8").splitlines()
    pieces = [json.loads(line)["text"] for line in lines]
    number = 0
    while True:
        parts: list[str] = []
        while sum(len(part.split()) for part in parts) < words - 15:
            parts.append(pieces[number % len(pieces)])
            number += 1
        yield f"{' '.join(parts)} Image {number}."


def speed(modality: str, size: int) -> None:
    """Measure one core on one modality."""
    words, target = TARGETS[modality]
    reports = list(islice(texts(modality, words), size))
    engine = RuleEngine()
    engine.extract(reports[:50], modality=modality)
    start = time.process_time()
    engine.extract(reports, modality=modality)
    rate = size / (time.process_time() - start)
    length = sum(len(text.split()) for text in reports) / size
    print(
        f"{modality}: {rate:8.0f} reports/s per core ({length:.0f} words), "
        f"{rate / target:.2f} x target"
    )


def memory(total: int) -> None:
    """Stream reports and watch the peak."""
    engine = RuleEngine()
    source = texts("XR", 40)
    marks = []
    for done in range(0, total, BATCH):
        engine.extract(list(islice(source, BATCH)), modality="XR")
        if done % max(BATCH, total // 5 // BATCH * BATCH) == 0:
            marks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(f"memory over {total} reports, MiB: " + " ".join(f"{mark:.0f}" for mark in marks))


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", type=int, default=4000)
    parser.add_argument("--stream", type=int, default=50_000)
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores")
    speed("XR", arguments.reports)
    speed("CT", arguments.reports // 4)
    memory(arguments.stream)


if __name__ == "__main__":
    main()
