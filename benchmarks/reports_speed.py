"""Pages per second on one core: `python benchmarks/reports_speed.py [reports]`.

The contents are the tests' samples (a reader with 900 statements, 12 pathologies and 14 cases; a
department of 30 readers). Only drawing is timed. The limit for a radiologist's feedback is 5 per
second and core; the ratio to it is printed.
"""

from __future__ import annotations

import importlib
import os
import resource
import sys
import time
from pathlib import Path

from reports.drawing.style import Style
from reports.pages import committee, radiologist

LIMIT = 5.0
sys.path.append(str(Path(__file__).parents[1] / "tests" / "fixtures" / "reports"))


def _rate(draw, repeats: int) -> float:
    draw()
    start = time.process_time()
    for _ in range(repeats):
        draw()
    return repeats / (time.process_time() - start)


def main() -> None:
    """Draw many pages and print rates, ratios and the growth of memory."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    samples, style = importlib.import_module("sample_contents"), Style()
    readers = [samples.radiologist(seed=i, n=900, shift={"likely": -0.35}) for i in range(10)]
    review = samples.committee(readers=30)
    turn = iter(range(10**9))
    rate = _rate(lambda: radiologist.build_both(readers[next(turn) % 10], style=style)[0], repeats)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for i in range(repeats):
        radiologist.build_both(readers[i % 10], style=style)[0]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before
    pages = len(radiologist.pages(readers[0], style=style))
    print(f"cores on this machine: {os.cpu_count()}; one is used")
    print(f"radiologist PDF ({pages} pages): {rate:.1f}/s = {rate / LIMIT:.1f} x the limit")
    print(f"memory grown over {repeats} further PDFs: {grown:.1f} MiB (at {before:.0f} MiB)")
    slow = max(repeats // 5, 1)
    both = _rate(lambda: committee.build_both(review, style=style), slow)
    print(f"committee PDF and HTML (30 readers): {both:.2f}/s")


if __name__ == "__main__":
    main()
