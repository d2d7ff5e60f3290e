"""How often a page advises: `python benchmarks/reports_advice.py [departments] [statements]`.

One reader per simulated department, 12 pathologies of very different size, advice computed as a
run does (each pathology with enough exams, and all together), and the page's own choice of at most
three actions on top. Two kinds of reader: calibrated (every hedged phrase right at its mean), and
too sure by .25 of "likely" (about 100 uses).
Printed: the share of calibrated readers without any action (wanted: 95 %) and the share of faulty
readers whose first action replaces "likely" (wanted: 80 %).
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np

from calibration.substitution import GuardRails, advise
from calibration.tally import Tally
from reports import content as c
from reports.advice import actions
from reports.strings import Strings

RAILS = GuardRails()
SHARES = np.array([20, 15, 12, 10, 9, 8, 7, 6, 5, 4, 2, 2]) / 100


def _samples():
    path = Path(__file__).parents[1] / "tests/fixtures/reports/sample_contents.py"
    spec = importlib.util.spec_from_file_location("sample_contents", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["sample_contents"] = module
    spec.loader.exec_module(module)
    return module


def _page_actions(samples, template, shift, statements: int, seed: int):
    """Draw one reader and choose the page's actions."""
    table, rng = samples.table_of(), np.random.default_rng(seed)
    sizes = rng.multinomial(statements, SHARES)
    parts = [samples.draw_tally(int(n), rng=rng, table=table, shift=shift) for n in sizes if n]
    total = sum(parts, start=Tally.empty(len(table)))
    groups = [(f"pathology {i}", part) for i, part in enumerate(parts)] + [(None, total)]
    given = tuple(
        c.PathologyAdvice(name, advise(part, phrase_table=table, guard_rails=RAILS, rng=rng))
        for name, part in groups
        if part.total >= RAILS.min_n
    )
    filled = c.RadiologistContent(
        masthead=template.masthead,
        minimum_n=20,
        overall=template.overall,
        by_pathology=(),
        department=None,
        actions=given,
        coverage=None,
        instrument=None,
    )
    return actions(filled, words=Strings.load())


def main() -> None:
    """Print both shares with the number of departments they rest on."""
    departments = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    statements = int(sys.argv[2]) if len(sys.argv) > 2 else 715
    samples = _samples()
    template = samples.radiologist(n=100)
    quiet = [_page_actions(samples, template, {}, statements, seed) for seed in range(departments)]
    silent = sum(not found for found in quiet)
    single = sum(a.pathology is not None for found in quiet for a in found)
    print(f"calibrated readers without any action: {silent} of {departments}")
    print(f"  of their actions, on single pathologies: {single} of {sum(map(len, quiet))}")
    faulty = [
        _page_actions(samples, template, {"likely": -0.25}, statements, 10_000 + seed)
        for seed in range(departments)
    ]
    first = sum(bool(found) and found[0].suggestion.source == "likely" for found in faulty)
    print(f'too sure by .25 of "likely", first action replaces it: {first} of {departments}')


if __name__ == "__main__":
    main()
