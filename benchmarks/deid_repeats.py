"""Texts of one piece repeated to the longest a report may be: no rule may follow a run to its end.

    python benchmarks/deid_repeats.py [CHARACTERS]

Prints the slowest pieces and the limit: as much again per character as a text of ordinary length.
"""

from __future__ import annotations

import sys
import time

from pipeline.deidentify import Deidentifier

PIECES = (
    *(" ", "  ", "\t", "\n\n", "12-34-", "1/2/", "12.", "1.2.3 ", "a1b2", "(1", "1,", "12 34 "),
    *("+1 ", "1:2:", "x1x", "Jan 1 ", "A-", "A.", "O'", "'s ", "^A", "--", "[", "A  1", "A, B"),
    *(
        "No. 1 ",
        "tel 1 ",
        "@a",
        "a@",
        "a.com@",
        ".com",
        "/",
        "x/y.uk/",
        "www.",
        "St. A ",
        "van der ",
    ),
    *("Dr ", "by A ", "signed A 1:1 ", "Hospital of A ", "A and B, ", "May ", "é", "N\u0301"),
)
LIMIT = 10.0


def main() -> None:
    """Clean each text at a tenth of the length and at the whole, and compare."""
    length = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    cleaner = Deidentifier()
    cleaner.clean("warm up")
    grown = []
    for piece in PIECES:
        seconds = []
        for size in (length // 10, length):
            text = (piece * size)[:size]
            start = time.process_time()
            cleaner.clean(text)
            seconds.append(time.process_time() - start)
        grown.append((seconds[1] / (10 * max(seconds[0], 0.001)), seconds[1], piece))
    for growth, took, piece in sorted(grown, reverse=True)[:5]:
        print(
            f"{piece!r}: {took:.2f} s for {length:,} characters, {growth:.1f} of {LIMIT:.0f} times"
        )


if __name__ == "__main__":
    main()
