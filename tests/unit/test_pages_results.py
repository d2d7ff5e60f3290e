"""A page's results: what one page spends on chance, whatever the number of its findings."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calibration.groups import Group, group_results
from calibration.profile import profile
from calibration.survey import builtin
from pipeline.config import Configuration
from pipeline.tables.results import Scale
from reports.figures.phrase_rows import profile_rows
from reports.strings import Strings

CONFIG = Configuration(input={"paths": ["none"]}, calibration={"bootstrap": 100})
PHRASES = builtin("diagnostic-certainty-scale").with_borrowed(CONFIG.phrases.borrow)


def cells(pathology: str, *, right: int, wrong: int) -> list[dict[str, object]]:
    """Write "possibly" about one finding; CT bears some out."""
    row = {"pathology": pathology, "phrase": "possibly"}
    return [
        row | {"label_value": 1.0, "count": float(right)},
        row | {"label_value": 0.0, "count": float(wrong)},
    ]


def test_a_page_spends_its_chance_of_false_advice_once() -> None:
    # "possibly" means .294; 2 right of 30 has P = .0052: below .025, above .025 / 9
    scale, alone = Scale(PHRASES, CONFIG), cells("fracture", right=2, wrong=28)
    calm = [row for k in range(8) for row in cells(f"finding {k}", right=9, wrong=21)]
    said = {}
    for name, rows in (("one", alone), ("nine", alone + calm)):
        found = sorted({str(row["pathology"]) for row in rows})
        results = group_results(
            Group(name, pd.DataFrame(rows)),
            pathologies=found,
            study=scale.study,
            minimum=CONFIG.reports.min_exams,
            advised=True,
        )
        advice = results.advice["fracture"]
        said[name] = [s.source for s in advice.suggestions] or [advice.suppressed[0].reason]
    assert said == {"one": ["possibly"], "nine": ["matches expectation"]}


def test_a_certainty_nobody_else_writes_has_no_row_to_draw() -> None:
    """Reader a alone writes "absent", 30 times, and both write "likely"."""
    spoken = [("a", "absent", 30), ("a", "likely", 30), ("b", "likely", 30)]
    rows = [(reader, phrase, i % 2) for reader, phrase, n in spoken for i in range(n)]
    table = pd.DataFrame(rows, columns=["reader", "phrase", "label"])
    (one, _) = profile(table, phrases=PHRASES).readers
    assert one.absent.state == "no comparison"
    drawn = profile_rows(one, words=Strings.load(), minimum_n=20)
    assert [row.phrase for row in drawn] == ["likely"]
    assert not any(np.isnan(row.observed) for row in drawn)
