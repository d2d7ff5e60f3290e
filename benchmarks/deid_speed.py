"""De-identification in reports per second of one core, on invented reports of about 290 words.

``python benchmarks/deid_speed.py [reports] [seed]``. Peers as measured elsewhere on 1,000 synthetic
chest reports and one core: Presidio without a model 68/s, Philter about 10/s, pyDeid 5/s.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from pathlib import Path

from pipeline.deidentify import Clean, Deidentifier, KnownIdentifiers
from pipeline.deidentify.known import LeakScan

GENERATOR = Path(__file__).parents[1] / "tests" / "fixtures" / "deid" / "generator.py"
TARGET = 500.0
WORDS = 290


def invented(n: int, seed: int) -> list[str]:
    """Write reports, each filled up with findings to about 290 words."""
    spec = importlib.util.spec_from_file_location("deid_gold_generator", GENERATOR)
    if spec is None or spec.loader is None:
        sys.exit(f"{GENERATOR}: not found")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    texts = []
    for row in module.generate(n, seed):
        text = str(row["text"])
        bodies = [b for b in module.BODIES if b not in text]
        missing = WORDS - len(text.split())
        filler = " ".join(bodies * 3).split()[: max(0, missing)]
        cut = text.rindex("IMPRESSION:")
        texts.append(f"{text[:cut]}{' '.join(filler)}\n{text[cut:]}")
    return texts


def main() -> None:
    """Clean the reports, with and without a batch's leak scan, and print the rates."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    texts = invented(n, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    words = sum(len(text.split()) for text in texts) / n
    people = [
        KnownIdentifiers(
            names=(f"Quillfeather{i}^Zed{i}",),
            numbers=(f"QX{i:07d}", f"{i:09d}"),
        )
        for i in range(n)
    ]
    scan = LeakScan.from_known(people)
    cleaner = Deidentifier()
    cleaner.clean("warm up")
    print(f"{n} reports of {words:.0f} words; {os.cpu_count()} cores, one used")
    for name, known, whole in (
        ("text alone", [KnownIdentifiers()] * n, LeakScan.from_known([])),
        ("with known and leak scan", people, scan),
    ):
        start = time.process_time()
        done = cleaner.batch(texts, known=known, scan=whole)
        rate = n / (time.process_time() - start)
        kept = sum(isinstance(each, Clean) for each in done)
        share = rate / TARGET
        print(f"{name}: {rate:.0f} reports/s, {share:.2f} of {TARGET:.0f}/s; {kept} kept")


if __name__ == "__main__":
    main()
