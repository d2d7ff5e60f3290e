"""De-identification in reports per second of one core: reports filled up, and the fixtures' whole.

Last, how the time grows with the length of adversarial texts: about as the length does.

Made reports are filled up with findings to about 290 words, `blind` ones stand as written.
``python benchmarks/deid_speed.py [reports] [seed]``. Peers as measured elsewhere on 1,000 synthetic
chest reports and one core: Presidio without a model 68/s, Philter about 10/s, pyDeid 5/s.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
import timeit
from pathlib import Path

from pipeline.deidentify import Clean, Deidentifier, KnownIdentifiers
from pipeline.deidentify.known import LeakScan

FIXTURES = Path(__file__).parents[1] / "tests" / "fixtures" / "deid"
TARGET = 500.0
WORDS = 290
sys.path.append(str(FIXTURES))
ENDLESS = ("van ", "O'", "12-", "- . ", "J. ", "9M ", "one two ", "T7 ", "E11.9 ")


def whole(n: int) -> list[str]:
    """Give whole reports of the fixtures, as many of each set."""
    blind, files = importlib.import_module("blind"), sorted((FIXTURES / "blind").glob("*.txt.gz"))
    sets = [blind.read(path.name.partition(".")[0]) for path in files]
    return [str(row["text"]) for rows in sets for row in rows[: -(-n // len(sets))]][:n]


def invented(n: int, seed: int) -> list[str]:
    """Write reports, each filled up with findings to about 290 words."""
    module = importlib.import_module("generator")
    texts = []
    for row in module.generate(n, seed):
        text = str(row["text"])
        bodies = [b for b in module.BODIES if b not in text]
        missing = WORDS - len(text.split())
        filler = " ".join(bodies * 3).split()[: max(0, missing)]
        cut = text.rindex("IMPRESSION:")
        texts.append(f"{text[:cut]}{' '.join(filler)}\n{text[cut:]}")
    return texts


def growth(cleaner: Deidentifier) -> None:
    """Print how many times as long four times as much takes of what hangs together without end."""

    def seconds(text: str) -> float:
        timer = timeit.Timer(lambda: cleaner.clean(text), timer=time.process_time)
        return min(timer.repeat(repeat=3, number=1))

    for piece in ENDLESS:
        short, long = (seconds(f"Clear lungs. {piece * n}Okafor.") for n in (1_000, 4_000))
        print(f"four times as much {piece!r}: {long / short:.1f} times as long")


def main() -> None:
    """Clean the reports, with and without a batch's leak scan, and print the rates."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    cleaner = Deidentifier()
    print(f"{os.cpu_count()} cores, one used")
    report("filled up", cleaner, invented(n, int(sys.argv[2]) if len(sys.argv) > 2 else 1))
    report("as written", cleaner, whole(n))
    growth(cleaner)


def report(what: str, cleaner: Deidentifier, texts: list[str]) -> None:
    """Print the rates of some texts, read once before."""
    n = len(texts)
    people = [
        KnownIdentifiers(
            names=(f"Quillfeather{i}^Zed{i}",),
            numbers=(f"QX{i:07d}", f"{i:09d}"),
        )
        for i in range(n)
    ]
    print(f"{what}: {n} reports of {sum(len(text.split()) for text in texts) / n:.0f} words")
    cleaner.batch(texts, scan=LeakScan.from_known([]))
    for name, known, scan in (
        ("text alone", [KnownIdentifiers()] * n, LeakScan.from_known([])),
        ("with known and leak scan", people, LeakScan.from_known(people)),
    ):
        start = time.process_time()
        done = cleaner.batch(texts, known=known, scan=scan)
        rate = n / (time.process_time() - start)
        kept = sum(isinstance(each, Clean) for each in done)
        share = rate / TARGET
        print(f"  {name}: {rate:.0f} reports/s, {share:.2f} of {TARGET:.0f}/s; {kept} kept")


if __name__ == "__main__":
    main()
