"""POT, scipy and scikit-learn as second opinions, and the solver that must not come back."""

from __future__ import annotations

import importlib
import os
import warnings
from types import ModuleType

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binomtest

from calibration.bins import phrase_bins
from calibration.distributions import Atom
from calibration.phrase_calibration import wilson
from calibration.regression import logistic_calibration
from calibration.scores import auroc, order_probabilities
from calibration.substitution.cost import substitution_cost
from calibration.substitution.transport import Regularisation, transport_map
from calibration.survey import builtin
from calibration.tally import Tally, tally

SCALE = builtin("diagnostic-certainty-scale")


@pytest.fixture(scope="module")
def pot() -> ModuleType:
    for backend in ("PYTORCH", "JAX", "TENSORFLOW", "CUPY"):
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{backend}", "1")
    return importlib.import_module("ot")


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, np.ndarray]:
    """Weights and costs of a reader somewhat too sure of everything."""
    g = np.random.default_rng(0)
    use = g.dirichlet(np.ones(len(SCALE)))
    phrase = g.choice(len(SCALE), size=1000, p=use)
    label = (g.random(1000) < 0.8 * SCALE.means[phrase] + 0.05).astype(float)
    counted = tally(phrase, label, n_phrases=len(SCALE))
    used = np.flatnonzero(counted.n)
    tables = phrase_bins(SCALE.distributions)
    cost = substitution_cost(counted.n, counted.label_mass, source=tables, target=tables)
    return counted.n[used] / counted.total, cost[np.ix_(used, used)]


def solve(
    cost: np.ndarray, a: np.ndarray, epsilon: float, tau: float, rule: str = "kl"
) -> np.ndarray:
    solved = transport_map(
        cost,
        phrases=tuple(map(str, range(len(a)))),
        source_weights=a,
        regularisation=Regularisation(epsilon=epsilon, tau=tau, regulariser=rule),
    )
    assert solved.converged
    return solved.plan


@pytest.mark.parametrize("tau", [1e-2, 1e-1])
def test_stabilised_sinkhorn_of_pot_loses_the_plan_without_a_word(
    pot: ModuleType, problem: tuple[np.ndarray, np.ndarray], tau: float
) -> None:
    """Why this project has its own solver: do not replace it by this call.

    If this test fails because POT got it right, POT was mended; check the whole range of ε and τ
    before using it.
    """
    a, cost = problem
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # not one warning
        lost = pot.unbalanced.sinkhorn_stabilized_unbalanced(
            a, a, cost, 1e-3, (float("inf"), tau), reg_type="kl"
        )
    assert lost.sum() < 1e-6
    assert solve(cost, a, 1e-3, tau).sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("rule", ["kl", "entropy"])
@pytest.mark.parametrize("tau", [1e-2, 1.0])
def test_plain_sinkhorn_of_pot_agrees_where_it_converges(
    pot: ModuleType, problem: tuple[np.ndarray, np.ndarray], tau: float, rule: str
) -> None:
    a, cost = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = pot.unbalanced.sinkhorn_unbalanced(
            a,
            a,
            cost,
            0.05,
            (float("inf"), tau),
            reg_type=rule,
            numItermax=100_000,
            stopThr=1e-15,
        )
    assert np.allclose(solve(cost, a, 0.05, tau, rule), theirs, atol=1e-8)


def test_scaling_iterations_in_the_log_domain_agree_at_small_epsilon(
    problem: tuple[np.ndarray, np.ndarray],
) -> None:
    a, cost = problem
    epsilon, tau = 1e-3, 1e-2
    g = np.zeros(len(a))
    for _ in range(20_000):
        scores = (g - cost) / epsilon + np.log(a)
        top = scores.max(axis=1, keepdims=True)
        f = top[:, 0] + np.log(np.exp(scores - top).sum(axis=1))
        inner = -cost / epsilon + (np.log(a) - f)[:, None] + np.log(a)
        top = inner.max(axis=0)
        mass = top + np.log(np.exp(inner - top).sum(axis=0))
        # b exp(−g/τ) = exp(g/ε) mass  ⇒  g = (log b − log mass) / (1/ε + 1/τ)
        g = (np.log(a) - mass) / (1 / epsilon + 1 / tau)
    scores = (g - cost) / epsilon + np.log(a)
    kernel = np.exp(scores - scores.max(axis=1, keepdims=True))
    plan = a[:, None] * kernel / kernel.sum(axis=1, keepdims=True)
    assert np.allclose(solve(cost, a, epsilon, tau), plan, atol=1e-7)


def test_balanced_limit_is_the_network_simplex_of_pot(
    pot: ModuleType, problem: tuple[np.ndarray, np.ndarray]
) -> None:
    a, cost = problem
    ours = solve(cost, a, 1e-4, 1e3)
    exact = pot.emd2(a, a, cost)
    assert float(np.sum(ours * cost)) == pytest.approx(float(exact), abs=2e-3)


def test_wilson_interval_is_scipys() -> None:
    low, high = wilson(np.array([3.0, 0.0, 10.0]), np.array([20.0, 5.0, 10.0]))
    for row, (k, n) in enumerate([(3, 20), (0, 5), (10, 10)]):
        theirs = binomtest(k, n).proportion_ci(method="wilson")
        assert (low[row], high[row]) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_auroc_of_atoms_is_scikit_learns() -> None:
    from sklearn.metrics import roc_auc_score

    g = np.random.default_rng(1)
    scores = np.array([0.0, 0.2, 0.5, 0.9, 1.0])
    phrase = g.integers(0, 5, 400)
    label = (g.random(400) < scores[phrase]).astype(int)
    counted = tally(phrase, label, n_phrases=5)
    order = order_probabilities(tuple(Atom(float(s)) for s in scores))
    ours = auroc(counted.n, counted.label_mass, order=order)
    assert float(ours) == pytest.approx(roc_auc_score(label, scores[phrase]), abs=1e-12)


def test_calibration_line_maximises_the_likelihood_scipy_sees() -> None:
    g = np.random.default_rng(4)
    n = g.integers(5, 50, len(SCALE)).astype(float)
    counted = Tally.from_moments(n, np.floor(n * (0.7 * SCALE.means + 0.1)))
    m = np.clip(SCALE.means, 0.01, 0.99)
    x = np.log(m / (1 - m))

    def loss(theta: np.ndarray) -> float:
        eta = theta[0] + theta[1] * x
        return float(np.sum(n * np.logaddexp(0, eta) - counted.label_mass * eta))

    theirs = minimize(loss, [0.0, 1.0], method="BFGS", options={"gtol": 1e-8}).x
    ours = logistic_calibration(counted, phrase_table=SCALE)
    assert (ours.intercept.value, ours.slope.value) == pytest.approx(tuple(theirs), abs=1e-5)
