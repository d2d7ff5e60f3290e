"""Rounding for print: bounded, blind within its classes, and never across a minimum or from 0."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from calibration.rounding import BASE, STEP, counted, measured, part, rounded
from calibration.tally import Tally

counts = st.lists(
    st.integers(0, 3000).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
    min_size=1,
    max_size=12,
)


def drawn(rows: list[tuple[int, int]]) -> Tally:
    cells = np.array([(n - y, y) for n, y in rows], dtype=float)
    return Tally(np.array([0.0, 1.0]), cells)


@given(counts)
def test_a_rounded_tally_is_near_the_exact_one_and_rounding_it_again_changes_nothing(
    rows: list[tuple[int, int]],
) -> None:
    exact = drawn(rows)
    shown = rounded(exact)
    assert np.all(np.abs(shown.n - exact.n) <= BASE // 2)
    assert ((shown.n == 0) == (exact.n == 0)).all()
    used = exact.n > 0
    off = shown.label_mass[used] / shown.n[used] - exact.label_mass[used] / exact.n[used]
    assert np.all(np.abs(off) <= STEP / 2 / shown.n[used] + 1e-9)
    assert np.array_equal(rounded(shown).counts, shown.counts)


@given(n=st.integers(1, 5000), minimum=st.integers(1, 20).map(lambda k: BASE * k))
def test_no_count_crosses_a_minimum(n: int, minimum: int) -> None:
    assert (counted(n) >= minimum) == (n >= minimum)


@given(n=st.integers(BASE, 3000))
def test_a_positive_among_negatives_cannot_be_told_from_none(n: int) -> None:
    for y in (0, 1):
        assert rounded(drawn([(n, y)])).label_mass[0] in (0.0, STEP)
    whole = BASE * (n // BASE)
    alike = {tuple(rounded(drawn([(m, y)])).counts[0]) for m in range(whole, whole + BASE)
             for y in (0, 1)}  # fmt: skip
    assert len(alike) == 1


def test_withheld_numbers_stay_withheld() -> None:
    assert np.isnan(counted(np.nan))
    assert np.isnan(measured(np.nan, 30))
    assert np.isnan(part(np.nan, 30))
