"""Whatever was counted, a group's analysis ends, warns of nothing and is strict JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.analysis import Settings, Study
from calibration.distributions import Atom, Beta
from calibration.plain import plain_fields
from calibration.substitution import GuardRails
from calibration.survey import PhraseTable
from calibration.tally import Tally

distributions = st.one_of(
    st.builds(Beta, st.floats(0.05, 1e4), st.floats(0.05, 1e4)),
    st.builds(Atom, st.sampled_from([0.0, 0.5, 1.0])),
)


@st.composite
def groups(draw: st.DrawFn) -> tuple[PhraseTable, Tally]:
    chosen = draw(st.lists(distributions, min_size=1, max_size=5))
    names = tuple(f"phrase {k}" for k in range(len(chosen)))
    table = PhraseTable("drawn", names, tuple(chosen), (None,) * len(chosen))
    values = np.array(draw(st.sampled_from([[0.0, 1.0], [0.0, 0.3, 1.0], [0.5]])))
    cell = st.sampled_from([0.0, 0.0, 1.0, 2.0, 25.0, 400.0, 0.5, 7.25])
    counts = draw(
        st.lists(cell, min_size=len(chosen) * len(values), max_size=len(chosen) * len(values))
    )
    return table, Tally(values, np.array(counts).reshape(len(chosen), len(values)))


@pytest.mark.slow
@settings(max_examples=40)
@given(groups(), st.sampled_from([0.5, 0.8, None]), st.sampled_from(["kl", "entropy"]))
def test_every_group_is_analysed_to_strict_json(
    group: tuple[PhraseTable, Tally], holdout: float | None, regulariser: str
) -> None:
    table, counted = group
    study = Study(
        table,
        Settings(
            bins=20,
            bootstrap=20,
            holdout=holdout,
            regulariser=regulariser,  # type: ignore[arg-type]
            guard_rails=GuardRails(max_step=1.0, min_n=5),
        ),
    )
    found = study.analysis(counted, "drawn")
    text = json.dumps(plain_fields(found), allow_nan=False)
    again = json.loads(text)
    assert again["n"] == counted.total
    if counted.total == 0:
        assert again["ece"]["value"] is None
        assert again["map"]["weights"] is None
    else:
        assert 0.0 <= again["ece"]["value"] <= 1.0
        assert again["map"]["converged"]
        rows = np.array(again["map"]["weights"]).sum(axis=1)
        assert np.allclose(rows, 1.0)
