"""Numbers made elsewhere: 40-digit Beta moments, worked tallies, the surveys' published fits.

The worked tallies restate the inputs here and are made again by the slow arithmetic of the
property tests; the file beside the checkout, where present, holds the Beta moments to 40 digits.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks.other_maps import exact_error_map
from calibration.bins import BinTables, bin_edges, bin_tables
from calibration.curve import (
    calibration_error,
    calibration_error_without_end_bins,
    curve_points,
)
from calibration.distributions import Atom, Beta
from calibration.substitution.cost import substituted_error, substitution_cost
from calibration.substitution.transport import Regularisation, transport_map
from calibration.survey import builtin
from calibration.tally import Tally

FITS = {
    "likely": (3.91506, 1.14547),
    "may represent": (2.02408, 2.56690),
    "possibly": (0.90143, 2.16451),
    "unlikely": (1.29130, 12.41919),
    "very unlikely": (1.33721, 47.92448),
    "most likely": (7.36198, 1.24592),
    "highly suggestive of": (14.90121, 1.29217),
    "probably": (1.20519, 0.55724),
    "suggestive of": (1.81759, 1.10107),
    "suspicious for": (1.38160, 0.69599),
    "worrisome for": (2.41321, 0.76905),
    "question of": (1.34706, 12.62238),
    "maybe": (1.26866, 4.82090),
    "compatible with": (2.23480, 0.10881),
    "consistent with": (4.24993, 0.14679),
}


def shared(name: str) -> dict[str, object]:
    root = os.environ.get("RADCAL_SHARED_DATA")
    here = Path(root) if root else Path(__file__).parents[3] / "shared" / "data"
    path = here / "worked" / name
    if not path.is_file():
        pytest.skip(f"{name} is not at hand")
    worked: dict[str, object] = json.loads(path.read_text("utf-8"))
    return worked


@pytest.fixture(scope="module")
def tiny() -> tuple[BinTables, np.ndarray, np.ndarray]:
    tables = bin_tables([Beta(2, 8), Beta(5, 5), Beta(9, 1)], edges=bin_edges(4))
    return tables, np.array([4.0, 3.0, 5.0]), np.array([1.2, 1.0, 3.5])


@pytest.mark.parametrize(("phrase", "fit"), FITS.items(), ids=FITS)
def test_survey_moments_give_the_published_betas(phrase: str, fit: tuple[float, float]) -> None:
    table = builtin("diagnostic-certainty-scale")
    found = table.distributions[table.index(phrase)]
    assert isinstance(found, Beta)
    assert (round(found.alpha, 5), round(found.beta, 5)) == fit


def test_beta_moments_match_forty_digit_arithmetic() -> None:
    cases = shared("calibration.json")["beta_partial_moments_40digits"]
    assert isinstance(cases, list)
    for case in cases:
        edges = np.array([case["lo"], case["hi"]])
        mass, moment = Beta(case["alpha"], case["beta"]).interval_tables(edges)
        for found, wanted in ((mass[0], float(case["P"])), (moment[0], float(case["E"]))):
            assert found == pytest.approx(wanted, rel=1e-12, abs=1e-40)


def test_tiny_soft_labels_give_the_worked_curve(
    tiny: tuple[BinTables, np.ndarray, np.ndarray],
) -> None:
    tables, n, y = tiny
    r, g, p = curve_points(n, y, tables=tables)
    assert r == pytest.approx([0.301663707, 0.319711204, 0.406519648, 0.688685381], abs=1e-9)
    assert g == pytest.approx([0.138899714, 0.368817713, 0.617738995, 0.914565831], abs=1e-9)
    assert p == pytest.approx([0.245453835, 0.207182884, 0.149714470, 0.397648811], abs=1e-9)
    error = calibration_error(n, y, tables=tables)
    assert float(error) == pytest.approx(0.17156875928242998, abs=1e-14)
    without_ends = calibration_error_without_end_bins(n, y, tables=tables)
    assert float(without_ends) == pytest.approx(0.11711104104205748, abs=1e-14)
    means = np.array([0.2, 0.5, 0.9])
    level = calibration_error(n, n * means, tables=tables)
    assert float(level) == pytest.approx(0.037335920333862314, abs=1e-14)


def test_midpoint_rule_gives_the_worked_number(
    tiny: tuple[BinTables, np.ndarray, np.ndarray],
) -> None:
    _, n, y = tiny
    midpoint = bin_tables([Beta(2, 8), Beta(5, 5), Beta(9, 1)], edges=bin_edges(4), rule="midpoint")
    error = calibration_error(n, y, tables=midpoint)
    assert float(error) == pytest.approx(0.16150838042270563, abs=1e-14)


def test_tiny_soft_labels_give_the_worked_map(
    tiny: tuple[BinTables, np.ndarray, np.ndarray],
) -> None:
    tables, n, y = tiny
    swapped = substituted_error(n, y, source=tables, target=tables)
    assert swapped[0, 2] == pytest.approx(0.3282243251800538, abs=1e-14)
    cost = substitution_cost(n, y, source=tables, target=tables)
    assert cost[2, 1] == pytest.approx(-0.12676502227783193, abs=1e-14)
    solved = transport_map(
        cost,
        phrases=("a", "b", "c"),
        source_weights=n / 12,
        regularisation=Regularisation(epsilon=0.05, tau=0.1),
    )
    assert solved.plan[0] == pytest.approx(
        [0.28520037933664444, 0.04789657279412518, 0.00023638120256373876], abs=1e-13
    )
    assert solved.objective == pytest.approx(0.009199498519360578, abs=1e-13)
    weights = solved.weights()
    assert n @ weights == pytest.approx([5.5640038786, 3.9785636686, 2.4574324528], abs=1e-9)
    after = calibration_error(n @ weights, y @ weights, tables=tables)
    assert float(after) == pytest.approx(0.13903052882328606, abs=1e-12)
    entropic = transport_map(
        cost,
        phrases=("a", "b", "c"),
        source_weights=n / 12,
        regularisation=Regularisation(epsilon=0.05, tau=0.1, regulariser="entropy"),
    )
    assert entropic.plan[2] == pytest.approx(
        [0.00015070047642525488, 0.23021028427215662, 0.18630568191808483], abs=1e-13
    )
    best = exact_error_map(
        Tally.from_moments(n, y), phrases=("a", "b", "c"), source=tables, target=tables
    )
    assert best.objective == pytest.approx(0.11875, abs=1e-9)


def test_atoms_give_the_error_summed_by_hand() -> None:
    tables = bin_tables([Atom(s) for s in (0.3, 0.5, 1.0, 0.0)], edges=bin_edges(4))
    # bin 1: 5 uses, 1 true, stated 0; bin 2: 14 uses, 5 true, stated 5; bin 4: all right → 1/25
    error = calibration_error(
        np.array([10.0, 4.0, 6.0, 5.0]), np.array([4.0, 1.0, 6.0, 1.0]), tables=tables
    )
    assert float(error) == pytest.approx(0.04, abs=1e-15)


def test_worked_file_agrees_in_every_number(tiny: tuple[BinTables, np.ndarray, np.ndarray]) -> None:
    worked = shared("calibration.json")["tiny_soft_labels"]
    assert isinstance(worked, dict)
    tables, n, y = tiny
    cost = substitution_cost(n, y, source=tables, target=tables)
    assert np.allclose(tables.mass, worked["P"], atol=1e-15)
    assert np.allclose(tables.moment, worked["E"], atol=1e-15)
    assert np.allclose(cost, worked["C"], atol=1e-14)
    for rule in ("kl", "entropy"):
        solved = transport_map(
            cost,
            phrases=("a", "b", "c"),
            source_weights=n / 12,
            regularisation=Regularisation(
                epsilon=worked["uot_eps"], tau=worked["uot_tau2"], regulariser=rule
            ),
        )
        assert np.allclose(solved.plan, worked[f"T_{rule}"], atol=1e-13)
