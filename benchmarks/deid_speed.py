"""De-identification in reports per second of one core: reports filled up, and the fixtures' whole.

Last, how the time grows with the length of adversarial texts, one piece repeated to the longest
that a report may be: no rule may follow a run to its end. Printed are the pieces of which ten times
as much takes longest, as a multiple of ten times as long.

Made reports are filled up with findings to about 290 words, `blind` ones stand as written.
``python benchmarks/deid_speed.py [reports] [seed]``. Peers as measured elsewhere on 1,000 synthetic
chest reports and one core: Presidio without a model 68/s, Philter about 10/s, pyDeid 5/s.
"""

from __future__ import annotations

import os
import sys
import time
import timeit
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from pipeline.deidentify import Clean, Deidentifier, KnownIdentifiers
from pipeline.deidentify.known import LeakScan
from tests.fixtures.deid import blind, generator

SETS = Path(blind.__file__).with_name("blind")
TARGET, WORDS, LONGEST = 500.0, 290, 20_000
PIECES = (
    " ", "  ", "\t", "\n\n", "12-34-", "1/2/", "12.", "1.2.3 ", "a1b2", "(1", "1,", "12 34 ",
    "+1 ", "1:2:", "x1x", "Jan 1 ", "A-", "A.", "O'", "'s ", "^A", "--", "[", "A  1", "A, B",
    "No. 1 ", "tel 1 ", "@a", "a@", "a.com@", ".com", "/", "x/y.uk/", "www.", "St. A ", "van der ",
    "Dr ", "by A ", "signed A 1:1 ", "Hospital of A ", "A and B, ", "May ", "é", "N\u0301",
    "van ", "12-", "- . ", "J. ", "9M ", "one two ", "T7 ", "E11.9 ",
)  # fmt: skip


def whole(n: int) -> list[str]:
    """Give whole reports of the fixtures, as many of each set."""
    sets = [blind.read(path.name.partition(".")[0]) for path in sorted(SETS.glob("*.txt.gz"))]
    return [str(row["text"]) for rows in sets for row in rows[: -(-n // len(sets))]][:n]


def invented(n: int, seed: int) -> list[str]:
    """Write reports, each filled up with findings to about 290 words."""
    texts = []
    for row in generator.generate(n, seed):
        text = str(row["text"])
        bodies = [b for b in generator.BODIES if b not in text]
        filler = " ".join(bodies * 3).split()[: max(0, WORDS - len(text.split()))]
        cut = text.rindex("IMPRESSION:")
        texts.append(f"{text[:cut]}{' '.join(filler)}\n{text[cut:]}")
    return texts


def growth(cleaner: Deidentifier) -> None:
    """Print of which pieces the time grows most beyond their length."""
    grown = []
    for piece in PIECES:
        seconds = []
        for size in (LONGEST // 10, LONGEST):
            text = f"Clear lungs. {(piece * size)[:size]}Okafor."
            timer = timeit.Timer(lambda text=text: cleaner.clean(text), timer=time.process_time)
            seconds.append(min(timer.repeat(repeat=2, number=1)))
        grown.append((seconds[1] / (10 * max(seconds[0], 0.001)), seconds[1], piece))
    for times, took, piece in sorted(grown, reverse=True)[:5]:
        print(f"{piece!r}: {took:.2f} s for {LONGEST:,} characters, {times:.1f} times as long")


def report(what: str, cleaner: Deidentifier, texts: list[str]) -> None:
    """Print the rates of some texts, read once before, with and without a batch's leak scan."""
    n = len(texts)
    people = [
        KnownIdentifiers(names=(f"Quillfeather{i}^Zed{i}",), numbers=(f"QX{i:07d}", f"{i:09d}"))
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


def main() -> None:
    """Clean the reports and the adversarial texts, and print the rates."""
    n, seed = (*map(int, sys.argv[1:3]), *(2000, 1)[len(sys.argv) - 1 :])
    cleaner = Deidentifier()
    print(f"{os.cpu_count()} cores, one used")
    report("filled up", cleaner, invented(n, seed))
    report("as written", cleaner, whole(n))
    growth(cleaner)


if __name__ == "__main__":
    main()
