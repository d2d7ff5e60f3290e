"""What holds for every tally and every phrase table, and equality with a slow twin."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.bins import BinRule, bin_edges, bin_tables
from calibration.curve import calibration_error, curve_points
from calibration.distributions import Atom, Beta, Distribution
from calibration.phrase_calibration import phrase_error, wilson
from calibration.scores import brier
from calibration.substitution.cost import substituted_error, substitution_cost
from calibration.substitution.transport import Regularisation, transport_map
from calibration.tally import tally

SETTINGS = settings(max_examples=60)

parameters = st.floats(0.05, 60.0)
betas = st.builds(Beta, parameters, parameters)
atoms = st.builds(Atom, st.sampled_from([0.0, 0.3, 0.5, 1.0]) | st.floats(0.0, 1.0))
distributions = betas | atoms
tables = st.lists(distributions, min_size=1, max_size=5)


@st.composite
def observed(draw: st.DrawFn) -> tuple[list[Distribution], np.ndarray, np.ndarray]:
    chosen = draw(tables)
    size = draw(st.integers(1, 40))
    phrase = draw(st.lists(st.integers(0, len(chosen) - 1), min_size=size, max_size=size))
    label = draw(st.lists(st.sampled_from([0.0, 1.0, 0.25, 0.918]), min_size=size, max_size=size))
    return chosen, np.array(phrase), np.array(label)


def slow_error(
    chosen: list[Distribution], phrase: np.ndarray, label: np.ndarray, bins: int
) -> float:
    """Eq. 4, 6 and 7 as they stand: per observation and per bin, with division per bin."""
    edges = bin_edges(bins)
    total = 0.0
    for low, high in itertools.pairwise(edges):
        weight = hit = stated = 0.0
        for k, y in zip(phrase, label, strict=True):
            p, e = chosen[k].interval_tables(
                np.array([0.0, low, high, 1.0])
                if low > 0 and high < 1
                else np.unique([0.0, low, high, 1.0])
            )
            place = 1 if low > 0 else 0
            weight += p[place]
            hit += p[place] * y
            stated += e[place]
        if weight > 0:
            total += weight * abs(hit / weight - stated / weight)
    return total / len(phrase)


@SETTINGS
@given(observed(), st.integers(1, 7))
def test_error_from_the_tally_equals_the_slow_twin(
    case: tuple[list[Distribution], np.ndarray, np.ndarray], bins: int
) -> None:
    chosen, phrase, label = case
    counted = tally(phrase, label, n_phrases=len(chosen))
    fast = calibration_error(
        counted.n, counted.label_mass, tables=bin_tables(chosen, edges=bin_edges(bins))
    )
    assert float(fast) == pytest.approx(slow_error(chosen, phrase, label, bins), abs=1e-12)


@SETTINGS
@given(distributions, st.integers(1, 120))
def test_bins_hold_all_the_mass_and_all_of_the_mean(chosen: Distribution, bins: int) -> None:
    table = bin_tables([chosen], edges=bin_edges(bins))
    assert table.mass.sum() == pytest.approx(1.0, abs=1e-12)
    assert table.moment.sum() == pytest.approx(chosen.mean, abs=1e-12)
    edges = bin_edges(bins)
    assert np.all(table.moment <= table.mass * edges[1:] + 1e-15)
    assert np.all(table.moment >= table.mass * edges[:-1] - 1e-15)


@SETTINGS
@given(distributions)
def test_quantile_inverts_the_distribution_function(chosen: Distribution) -> None:
    for q in (0.1, 0.5, 0.9):
        x = chosen.quantile(q)
        assert 0.0 <= x <= 1.0
        assert float(chosen.cdf(np.asarray(x))) >= q - 1e-9


@SETTINGS
@given(observed())
def test_tallies_add_over_any_split(
    case: tuple[list[Distribution], np.ndarray, np.ndarray],
) -> None:
    chosen, phrase, label = case
    cut = len(phrase) // 2
    parts = [
        tally(phrase[s], label[s], n_phrases=len(chosen)) for s in (slice(cut), slice(cut, None))
    ]
    whole = tally(phrase, label, n_phrases=len(chosen))
    together = sum(parts)
    assert np.allclose(together.n, whole.n)
    assert np.allclose(together.label_mass, whole.label_mass)


@SETTINGS
@given(observed(), st.randoms(use_true_random=False))
def test_order_and_duplication_of_observations_change_nothing(
    case: tuple[list[Distribution], np.ndarray, np.ndarray], shuffler: object
) -> None:
    chosen, phrase, label = case
    order = list(range(len(phrase)))
    shuffler.shuffle(order)  # type: ignore[attr-defined]
    table = bin_tables(chosen, edges=bin_edges(10))
    one = tally(phrase, label, n_phrases=len(chosen))
    two = tally(np.tile(phrase[order], 2), np.tile(label[order], 2), n_phrases=len(chosen))
    assert np.allclose(two.counts, 2 * one.counts)
    assert float(calibration_error(two.n, two.label_mass, tables=table)) == pytest.approx(
        float(calibration_error(one.n, one.label_mass, tables=table)), abs=1e-12
    )


@SETTINGS
@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.73, 1.0]), min_size=1, max_size=30),
    st.integers(1, 12),
    st.integers(0, 2**32 - 1),
)
def test_with_atoms_the_estimator_is_the_classical_binned_error(
    scores: list[float], bins: int, seed: int
) -> None:
    labels = np.random.default_rng(seed).integers(0, 2, len(scores)).astype(float)
    values, phrase = np.unique(scores, return_inverse=True)
    counted = tally(phrase, labels, n_phrases=len(values))
    table = bin_tables([Atom(float(v)) for v in values], edges=bin_edges(bins))
    place = np.clip(np.ceil(np.array(scores) * bins - 1e-9).astype(int) - 1, 0, None)
    classical = sum(
        abs(labels[place == m].sum() - np.array(scores)[place == m].sum()) for m in range(bins)
    ) / len(scores)
    error = calibration_error(counted.n, counted.label_mass, tables=table)
    assert float(error) == pytest.approx(classical, abs=1e-12)


@SETTINGS
@given(observed())
def test_curve_error_and_phrase_error_stay_in_range(
    case: tuple[list[Distribution], np.ndarray, np.ndarray],
) -> None:
    chosen, phrase, label = case
    counted = tally(phrase, label, n_phrases=len(chosen))
    table = bin_tables(chosen, edges=bin_edges(20))
    r, g, p = curve_points(counted.n, counted.label_mass, tables=table)
    seen = ~np.isnan(r)
    assert np.all((r[seen] >= 0) & (r[seen] <= 1 + 1e-12))
    assert p.sum() == pytest.approx(1.0)
    error = float(calibration_error(counted.n, counted.label_mass, tables=table))
    assert error == pytest.approx(float(np.nansum(p * np.abs(r - g))), abs=1e-12)
    means = np.array([d.mean for d in chosen])
    assert 0 <= float(phrase_error(counted.n, counted.label_mass, means=means)) <= 1
    low, high = wilson(counted.label_mass, counted.n)
    used = counted.n > 0
    rate = counted.label_mass[used] / counted.n[used]
    assert np.all((low[used] <= rate + 1e-12) & (rate <= high[used] + 1e-12))


@SETTINGS
@given(observed())
def test_finer_bins_never_lower_the_error(
    case: tuple[list[Distribution], np.ndarray, np.ndarray],
) -> None:
    chosen, phrase, label = case
    counted = tally(phrase, label, n_phrases=len(chosen))
    coarse, fine = (
        float(
            calibration_error(
                counted.n, counted.label_mass, tables=bin_tables(chosen, edges=bin_edges(m))
            )
        )
        for m in (5, 20)
    )
    assert fine >= coarse - 1e-12


@SETTINGS
@given(observed(), st.integers(1, 6), st.sampled_from(["exact", "midpoint", "paper"]))
def test_substitution_equals_recounting_under_the_other_phrase(
    case: tuple[list[Distribution], np.ndarray, np.ndarray], bins: int, rule: BinRule
) -> None:
    """Also where a phrase's bins do not add up to one, so that the denominator moves with it."""
    chosen, phrase, label = case
    table = bin_tables(chosen, edges=bin_edges(bins if rule == "exact" else 20 * bins), rule=rule)
    counted = tally(phrase, label, n_phrases=len(chosen))
    errors = substituted_error(counted.n, counted.label_mass, source=table, target=table)
    for k in range(len(chosen)):
        for other in range(len(chosen)):
            moved = tally(np.where(phrase == k, other, phrase), label, n_phrases=len(chosen))
            again = float(calibration_error(moved.n, moved.label_mass, tables=table))
            if not np.isnan(again):  # by the midpoints an atom has no mass, and so no error
                assert errors[k, other] == pytest.approx(again, abs=1e-12)


@SETTINGS
@given(observed(), st.sampled_from(["exact", "midpoint", "paper"]))
def test_expected_brier_equals_the_slow_sum(
    case: tuple[list[Distribution], np.ndarray, np.ndarray], rule: str
) -> None:
    chosen, phrase, label = case
    counted = tally(phrase, label, n_phrases=len(chosen))
    means = np.array([d.mean for d in chosen])
    variances = np.array([d.variance for d in chosen])
    slow = np.mean(
        [
            variances[k] + (1 - y) * means[k] ** 2 + y * (1 - means[k]) ** 2
            for k, y in zip(phrase, label, strict=True)
        ]
    )
    fast = brier(counted.n, counted.label_mass, means=means, variances=variances)
    assert float(fast) == pytest.approx(float(slow), abs=1e-12)


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, float, float, str]:
    size = draw(st.integers(1, 8))
    seed = draw(st.integers(0, 2**32 - 1))
    g = np.random.default_rng(seed)
    weights = g.dirichlet(np.ones(size))
    cost = g.normal(0.0, draw(st.sampled_from([0.05, 0.5])), (size, size))
    np.fill_diagonal(cost, 0.0)
    epsilon = draw(st.sampled_from([1e-4, 1e-3, 1e-2, 0.1, 1.0]))
    tau = draw(st.sampled_from([1e-3, 1e-2, 0.1, 1.0, 10.0]))
    return cost, weights, epsilon, tau, draw(st.sampled_from(["kl", "entropy"]))


def objective(
    plan: np.ndarray, cost: np.ndarray, a: np.ndarray, epsilon: float, tau: float, rule: str
) -> float:
    """Eq. 13 with its sign corrected, written out."""

    def kl(p: np.ndarray, q: np.ndarray) -> float:
        inside = p > 0
        return float(np.sum(p[inside] * np.log(p[inside] / q[inside])) - p.sum() + q.sum())

    if rule == "kl":
        spread = kl(plan, np.outer(a, a))
    else:
        inside = plan[plan > 0]
        spread = float(np.sum(inside * np.log(inside)) - plan.sum())
    return float(np.sum(cost * plan)) + epsilon * spread + tau * kl(plan.sum(axis=0), a)


@SETTINGS
@given(problems(), st.integers(0, 2**32 - 1))
def test_transport_meets_its_rows_and_beats_the_identity_and_random_plans(
    problem: tuple[np.ndarray, np.ndarray, float, float, str], seed: int
) -> None:
    cost, a, epsilon, tau, rule = problem
    names = tuple(map(str, range(len(a))))
    solved = transport_map(
        cost,
        phrases=names,
        source_weights=a,
        regularisation=Regularisation(epsilon=epsilon, tau=tau, regulariser=rule),
    )
    assert solved.converged
    assert np.abs(solved.plan.sum(axis=1) - a).max() < 1e-10
    found = objective(solved.plan, cost, a, epsilon, tau, rule)
    assert solved.objective == pytest.approx(found, abs=1e-12)
    g = np.random.default_rng(seed)
    rivals = [np.diag(a), a[:, None] * a] + [
        a[:, None] * g.dirichlet(np.full(len(a), alpha), len(a)) for alpha in (0.1, 1.0, 10.0)
    ]
    for rival in rivals:
        assert found <= objective(rival, cost, a, epsilon, tau, rule) + 1e-9
        mixed = 0.999 * solved.plan + 0.001 * rival
        assert found <= objective(mixed, cost, a, epsilon, tau, rule) + 1e-9


@SETTINGS
@given(problems())
def test_transport_satisfies_its_optimality_conditions(
    problem: tuple[np.ndarray, np.ndarray, float, float, str],
) -> None:
    cost, a, epsilon, tau, rule = problem
    solved = transport_map(
        cost,
        phrases=tuple(map(str, range(len(a)))),
        source_weights=a,
        regularisation=Regularisation(epsilon=epsilon, tau=tau, regulariser=rule),
    )
    # ∂/∂T_kl = C_kl + ε log(T_kl / prior_kl) + τ log(c_l / b_l) is the same for all l of a row
    with np.errstate(divide="ignore"):
        prior = np.outer(a, a) if rule == "kl" else np.ones_like(cost)
        slope = cost + epsilon * np.log(solved.plan / prior)
        slope = slope + tau * np.log(solved.plan.sum(axis=0) / a)
    # a column of less mass than the dual gradient's tolerance is not determined
    reached = solved.plan.sum(axis=0) > 1e-7
    resolved = reached & (solved.plan > 1e-300)
    for row, kept in zip(slope, resolved, strict=True):
        seen = row[kept]
        assert np.ptp(seen) < 1e-4 * max(1.0, tau)


@SETTINGS
@given(problems(), st.randoms(use_true_random=False))
def test_transport_does_not_care_how_phrases_are_numbered(
    problem: tuple[np.ndarray, np.ndarray, float, float, str], shuffler: object
) -> None:
    cost, a, epsilon, tau, rule = problem
    order = list(range(len(a)))
    shuffler.shuffle(order)  # type: ignore[attr-defined]
    names = tuple(map(str, order))
    plain, moved = (
        transport_map(
            c,
            phrases=names,
            source_weights=w,
            regularisation=Regularisation(epsilon=epsilon, tau=tau, regulariser=rule),
        )
        for c, w in ((cost, a), (cost[np.ix_(order, order)], a[order]))
    )
    assert np.allclose(moved.plan, plain.plan[np.ix_(order, order)], atol=1e-9)


@SETTINGS
@given(observed(), st.sampled_from([0, 600]))
def test_bootstrap_rows_cost_what_they_cost_alone(
    case: tuple[list[Distribution], np.ndarray, np.ndarray], copies: int
) -> None:
    """Few rows, and more than are computed at a time."""
    chosen, phrase, label = case
    table = bin_tables(chosen, edges=bin_edges(9))
    counted = tally(phrase, label, n_phrases=len(chosen))
    n = np.stack([counted.n, 2 * counted.n, 0 * counted.n, *[3 * counted.n] * copies])
    mass = np.stack([counted.label_mass, counted.label_mass, 0 * counted.label_mass,
                     *[counted.label_mass] * copies])  # fmt: skip
    together = substitution_cost(n, mass, source=table, target=table)
    for row in (0, 1, 2, len(n) - 1):
        alone = substitution_cost(n[row], mass[row], source=table, target=table)
        assert np.allclose(together[row], alone, atol=1e-12, equal_nan=True)
