"""What cannot change a profile: the order of rows, names, and a case told twice."""

from __future__ import annotations

import pandas as pd
import pytest

from calibration.profile import DepartmentProfile, profile
from tests.fixtures.department import SCALE, department

FRAME = department([(0.0, 1.0), (0.7, 1.0), (0.0, 0.6), (-0.3, 1.2)], statements=700, seed=17)


def lines(found: DepartmentProfile) -> list[float]:
    return [
        value
        for each in found
        for part in (each.pattern.shift, each.pattern.slope)
        for value in (part.value, part.low, part.high)
    ]


@pytest.fixture(scope="module")
def plain() -> DepartmentProfile:
    return profile(FRAME, phrases=SCALE)


@pytest.mark.parametrize("seed", range(3))
def test_order_of_rows_and_columns_changes_nothing(plain: DepartmentProfile, seed: int) -> None:
    mixed = FRAME.sample(frac=1.0, random_state=seed)[sorted(FRAME.columns)]
    found = profile(mixed, phrases=SCALE)
    assert found.readers == plain.readers or lines(found) == pytest.approx(lines(plain), abs=1e-9)


def test_names_of_readers_findings_and_patients_change_nothing_but_names(
    plain: DepartmentProfile,
) -> None:
    renamed = FRAME.assign(
        reader=FRAME["reader"].map({f"r0{i}": f"z{9 - i}" for i in range(4)}),
        pathology=FRAME["pathology"].str[::-1],
        patient=FRAME["patient"].str[::-1],
    )
    found = profile(renamed, phrases=SCALE)
    back = sorted(found, key=lambda each: each.reader, reverse=True)
    assert [each.pattern.direction for each in back] == [e.pattern.direction for e in plain]
    for one, other in zip(back, plain, strict=True):
        assert one.pattern.shift.value == pytest.approx(other.pattern.shift.value, abs=1e-7)
        assert one.pattern.slope.low == pytest.approx(other.pattern.slope.low, abs=1e-7)


def test_readers_far_from_others_do_not_decide_them(plain: DepartmentProfile) -> None:
    more = pd.concat([FRAME, department([(3.0, 0.2)], statements=700, seed=4).assign(reader="zz")])
    found = profile(more, phrases=SCALE)
    for one, other in zip(found, plain, strict=False):
        assert one.pattern.direction == other.pattern.direction


def test_every_case_told_twice_adds_nothing_where_patients_are_known() -> None:
    twice = pd.concat([FRAME, FRAME], ignore_index=True)
    known = profile(twice, phrases=SCALE)
    blind = profile(twice.drop(columns="patient"), phrases=SCALE)
    once = profile(FRAME, phrases=SCALE)
    for told, unknown, single in zip(known, blind, once, strict=True):
        width = [e.pattern.shift.high - e.pattern.shift.low for e in (told, unknown, single)]
        assert width[0] == pytest.approx(width[2], rel=0.05)
        assert width[1] < 0.9 * width[2]


def test_count_column_is_as_good_as_rows() -> None:
    bare = FRAME.drop(columns=["patient", "exam"])
    counted = bare.value_counts().rename("count").reset_index()
    assert len(counted) < len(bare)
    found, plain = profile(counted, phrases=SCALE), profile(bare, phrases=SCALE)
    assert lines(found) == pytest.approx(lines(plain), abs=1e-8)
    assert [e.advice for e in found] == [e.advice for e in plain] or [
        [(s.phrase, s.instead) for s in e.advice] for e in found
    ] == [[(s.phrase, s.instead) for s in e.advice] for e in plain]
