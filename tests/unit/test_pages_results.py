"""A page's results: what one page spends on chance, whatever the number of its findings."""

from __future__ import annotations

import numpy as np
import pandas as pd

from calibration.groups import Group, group_results, trend
from calibration.phrase_calibration import phrase_calibration
from calibration.profile import profile
from calibration.survey import builtin
from calibration.tally import Tally
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


def test_the_distance_of_many_small_counts_is_theirs_and_not_what_rounding_them_adds() -> None:
    """Four uses a phrase, borne out as it says, rounded one by one: .389 (.000 to .389) for .095.

    Of ten phrases at about even odds CT bears out 2 of 4; each is printed as none of 2.
    """
    means = dict(zip(PHRASES.phrases, PHRASES.means.tolist(), strict=True))
    middle = [phrase for phrase, says in means.items() if 0.3 < says < 0.7][:10]
    rows = [
        {"pathology": "hiatal hernia", "month": "2026-01", "phrase": phrase,
         "label_value": label, "count": 2.0}
        for phrase in middle for label in (0.0, 1.0)
    ]  # fmt: skip
    group, study = Group("one", pd.DataFrame(rows)), Scale(PHRASES, CONFIG).study
    exact, n = np.mean([abs(0.5 - means[phrase]) for phrase in middle]), 4 * len(middle)
    found = group_results(group, pathologies=["hiatal hernia"], study=study, minimum=10)
    ((_, _, quarter),) = trend(group, months=["2026-01"], study=study, minimum=10)
    assert found.overall is not None
    assert np.nansum(found.overall.phrases.observed) == 0.0
    for error in (found.overall.phrase_error, quarter):
        assert error is not None
        assert abs(error.value - exact) <= 1.5 / n
        assert error.low == 0.0
        grid = error.value * (n + 2) / 3
        assert abs(grid - round(grid)) < 1e-9


def test_a_certainty_nobody_else_writes_has_no_row_to_draw() -> None:
    """Reader a alone writes "absent", 30 times, and both write "likely"."""
    spoken = [("a", "absent", 30), ("a", "likely", 30), ("b", "likely", 30)]
    rows = [(reader, phrase, i % 2) for reader, phrase, n in spoken for i in range(n)]
    table = pd.DataFrame(rows, columns=["reader", "phrase", "label"])
    (one, _) = profile(table, phrases=PHRASES).readers
    assert one.absent.state == "no comparison"
    surveyed = phrase_calibration(Tally.empty(len(PHRASES)), phrase_table=PHRASES)
    drawn = profile_rows(one, table=surveyed, words=Strings.load(), minimum_n=20)
    assert [row.phrase for row in drawn] == ["likely"]
    assert not any(np.isnan(row.observed) for row in drawn)
