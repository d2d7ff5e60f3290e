"""Unit: what is no number is refused in words or counted rightly, by every door of the numerics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calibration import (
    GuardRails,
    Options,
    Regularisation,
    Settings,
    Study,
    builtin,
    fit_survey,
    read_survey,
    transport_map,
)
from calibration.distributions import (
    Atom,
    Beta,
    fit_likelihood,
    fit_moments,
    moments_of_percentages,
    moments_of_ranges,
)
from calibration.errors import CalibrationError
from calibration.estimate import Likeness, interval
from calibration.extraction_errors import Audit
from calibration.neighbours.difficulty import strata
from calibration.neighbours.disagreement import disagreement
from calibration.tally import Tally, tally, tally_groups

WORDS = builtin("diagnostic-certainty-scale")
ROWS = pd.DataFrame({"phrase": ["a"] * 5, "percent": [10, 20, 35, 40, 50]})
SURVEY = read_survey(ROWS, name="s")
CHANCE = np.random.default_rng(0)
PROBS = [[0.7, 0.3], [0.2, 0.8]]
ODD = ("word", None, 1 + 2j, [object()], {}, object(), Decimal(2), pd.NA, pd.NaT, b"2", {1.5})
SCALARS: list[tuple[Callable[..., object], Mapping[str, Any]]] = [
    (Beta, {"alpha": 2.0, "beta": 3}),
    (Atom, {"at": 0.5}),
    (fit_moments, {"mean": 0.4, "variance": 0.02}),
    (Options, {"bins": 10, "bin_rule": "exact", "bootstrap": 100, "interval": "basic"}),
    (Settings, {"epsilon": 1e-3, "tau": 1e-3, "regulariser": "kl"}),
    (partial(Study, WORDS), {"seed": 0}),
    (partial(fit_survey, SURVEY, name="s", rng=CHANCE), {"method": "moments", "bootstrap": 100}),
    (Regularisation, {"epsilon": 1e-3, "tau": 1e-3, "regulariser": "kl"}),
    (GuardRails, {"min_n": 20, "max_step": 0.5, "min_gap": 0.05, "min_respondents": 10}),
    (Likeness, {"phrase": 1.0, "whole": 1.0}),
    (builtin, {"name": "diagnostic-certainty-scale"}),
    (strata, {"values": [1.0, 2.0], "count": 2}),
]
ARRAYS: list[tuple[Callable[..., object], Mapping[str, Any], tuple[str, ...]]] = [
    (fit_likelihood, {"edges": [0, 0.5, 0.7, 1], "counts": [3, 5, 4]}, ("edges", "counts")),
    (moments_of_percentages, {"percentages": [10, 50]}, ("percentages",)),
    (moments_of_ranges, {"edges": [0, 0.5, 1], "proportions": [1, 3]}, ("edges", "proportions")),
    (Tally, {"label_values": [0, 1], "counts": [[3, 1], [2, 4]]}, ("label_values", "counts")),
    (
        tally,
        {"phrase_index": [0, 1], "label": [0, 1], "n_phrases": 2, "weight": [1, 2]},
        ("phrase_index", "label", "weight"),
    ),
    (
        tally_groups,
        {"group_index": [0, 0], "phrase_index": [0, 1], "label": [0, 1], "n_groups": 1,
         "n_phrases": 2},
        ("group_index", "phrase_index", "label"),
    ),
    (Audit, {"phrase_confusion": [[5, 1], [0, 4]]}, ("phrase_confusion",)),
    (interval, {"value": 0.5, "replicates": [0.4, 0.6]}, ("replicates",)),
    (
        transport_map,
        {"cost": [[0, 1], [1, 0]], "phrases": ("a", "b"), "source_weights": [1, 1]},
        ("cost", "source_weights"),
    ),
    (strata, {"values": [1.0, 2.0]}, ("values",)),
    (
        disagreement,
        {"probs": PROBS, "votes": [[3, 1], [0, 4]], "bootstrap": 0, "rng": CHANCE},
        ("probs", "votes"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "given", "name"),
    [(call, given, name) for call, given in SCALARS for name in given if name != "values"]
    + [(call, given, name) for call, given, names in ARRAYS for name in names],
)
def test_what_is_none_is_refused_in_words(
    call: Callable[..., object], given: Mapping[str, Any], name: str
) -> None:
    call(**given)
    for odd in ODD:
        if odd is None and (call, name) in {(transport_map, "target_weights"), (tally, "weight")}:
            continue
        if odd is None and (call, name) == (tally_groups, "group_index"):
            continue
        with pytest.raises(CalibrationError):
            call(**{**given, name: odd})


def test_a_study_takes_every_seed_of_a_configuration_and_no_larger_one() -> None:
    assert Study(WORDS, seed=2**63 - 1).seed == 2**63 - 1
    with pytest.raises(CalibrationError, match="whole number from 0 to 92233720"):
        Study(WORDS, seed=2**63)


TIMES = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]")


@pytest.mark.parametrize("odd", [TIMES, TIMES - TIMES[0], np.array(["0", "1"]), np.array([0j, 1])])
def test_times_texts_and_complex_numbers_are_no_numbers_though_numpy_could_make_some(
    odd: np.ndarray,
) -> None:
    with pytest.raises(CalibrationError, match="weight: not an array of numbers; give one"):
        tally([0, 1], [0, 1], n_phrases=2, weight=odd)


@pytest.mark.parametrize(
    "kind",
    [
        np.float16, np.longdouble, ">f8", "<f4", np.uint8, np.uint64, np.int8, object,
        "readonly", "masked", "Float64", "Int64", "double[pyarrow]",
    ],
)  # fmt: skip
def test_numbers_of_any_make_are_counted_alike(kind: Any) -> None:
    label = np.array([0.0, 1.0, 1.0])
    other: Any
    if kind == "readonly":
        other = label.copy()
        other.flags.writeable = False
    elif kind == "masked":
        other = np.ma.array(label, mask=False)
    elif isinstance(kind, str) and kind[0] not in "<>":
        other = pd.Series(label, dtype=kind, index=[2, 1, 0])
    else:
        other = label.astype(kind)
    plain = tally([0, 0, 1], label, n_phrases=2)
    again = tally([0, 0, 1], other, n_phrases=2, weight=other)
    assert again.label_mass.tolist() == plain.label_mass.tolist() == [1.0, 1.0]
    assert Tally(other[:2], plain.counts).label_mass.tolist() == [1.0, 1.0]


def test_a_missing_value_is_missing_and_no_nought() -> None:
    for missing in (pd.Series([None, 1.0], dtype="Float64"), [None, 1.0], [pd.NA, 1.0]):
        with pytest.raises(CalibrationError, match="label: 1 of 2 values are outside"):
            tally([0, 1], missing, n_phrases=2)
