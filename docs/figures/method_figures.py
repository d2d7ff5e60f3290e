"""Makes every figure and table that docs/method.md shows for a departure from the paper.

Run ``python docs/figures/method_figures.py``: it writes ``method_*.svg`` and ``method_tables.md``
beside itself, always the same for the same versions. Simulation tables that take minutes come from
``benchmarks/`` and are named there.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from reportlab.graphics import renderSVG
from reportlab.graphics.shapes import Drawing, Line, PolyLine, String
from reportlab.lib.colors import HexColor

from calibration.bins import BinTables, phrase_bins
from calibration.curve import calibration_error
from calibration.distributions import Atom, Beta
from calibration.phrase_calibration import phrase_error
from calibration.scores import brier, label_values
from calibration.substitution.cost import SubstitutionMap, substitution_cost
from calibration.substitution.effect import split_tally
from calibration.substitution.programs import monotone_map
from calibration.substitution.transport import Regularisation, transport_map
from calibration.survey import builtin
from calibration.tally import Tally, tally

sys.path.insert(0, str(Path(__file__).parents[2]))
from benchmarks.other_maps import brier_map, exact_error_map

HERE = Path(__file__).parent
SCALE = builtin("diagnostic-certainty-scale")
TABLES = phrase_bins(SCALE.distributions)
OWN, OTHER, MUTED = HexColor("#0b3c6f"), HexColor("#b07a1e"), HexColor("#6d7580")


def reader(size: int, g: np.random.Generator, rate: np.ndarray | None = None) -> Tally:
    """Draw a reader who uses all phrases alike; right on average unless rates are given."""
    phrase = g.integers(0, len(SCALE), size)
    true = SCALE.means if rate is None else rate
    label = (g.random(size) < true[phrase]).astype(float)
    return tally(phrase, label, n_phrases=len(SCALE))


def too_sure() -> np.ndarray:
    """Give the rates of a reader whose words are too extreme."""
    return np.asarray(0.5 + 0.6 * (SCALE.means - 0.5))


def rows(head: Sequence[str], body: Sequence[Sequence[object]]) -> str:
    """Write a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in body]
    return "\n".join(lines)


def midpoint_table() -> str:
    """Compare the mass the midpoint rule keeps of each peaked phrase."""
    midpoint = phrase_bins(SCALE.distributions, rule="midpoint")
    paper = phrase_bins(SCALE.distributions, rule="paper")
    shown = [
        (phrase, f"{midpoint.mass[k].sum():.3f}", f"{paper.mass[k].sum():.3f}", "1.000")
        for k, phrase in enumerate(SCALE.phrases)
        if abs(midpoint.mass[k].sum() - 1.0) > 0.01
    ]
    return rows(("phrase", "midpoint", "paper", "exact"), shown)


def end_bin_table() -> str:
    """Show what dropping whole end bins drops beside the statements of certainty."""
    shown = [
        (SCALE.phrases[k], f"{TABLES.mass[k, 0] + TABLES.mass[k, -1]:.1%}")
        for k in range(len(SCALE))
        if TABLES.mass[k, 0] + TABLES.mass[k, -1] > 0.05 and not SCALE.certain[k]
    ]
    return rows(("phrase", "share in the first and last of 100 bins"), shown)


def label_table() -> str:
    """Compare the two readings of an uncertain outcome."""
    hard = label_values(SCALE.distributions)
    mean = label_values(SCALE.distributions, rule="mean")
    shown = [
        (phrase, f"{hard[k]:.3f}", f"{mean[k]:.3f}")
        for k, phrase in enumerate(SCALE.phrases)
        if abs(hard[k] - mean[k]) > 0.05
    ]
    return rows(("CT phrase", "P(c ≥ ½)", "E[c]"), shown)


def zero_point() -> tuple[str, Drawing]:
    """Follow a calibrated reader as exams accumulate."""
    sizes = (30, 100, 300, 1000, 3000, 10_000)
    g = np.random.default_rng(0)
    found = []
    for size in sizes:
        drawn = [reader(size, g) for _ in range(400)]
        n = np.array([t.n for t in drawn])
        mass = np.array([t.label_mass for t in drawn])
        means = SCALE.means
        found.append(
            (
                float(calibration_error(n, mass, tables=TABLES).mean()),
                float(calibration_error(n, n * means, tables=TABLES).mean()),
                float(phrase_error(n, mass, means=means).mean()),
            )
        )
    table = rows(
        ("exams", "mean ECE", "mean reference level", "mean phrase error"),
        [(f"{s:,}", *(f"{v:.3f}" for v in row)) for s, row in zip(sizes, found, strict=True)],
    )
    names = ("ECE", "reference level", "phrase calibration error")
    lines = {name: [row[i] for row in found] for i, name in enumerate(names)}
    return table, _log_plot(sizes, lines, "exams of a calibrated reader", "error")


def solver_table() -> tuple[str, str]:
    """Set POT's stabilised solver beside the dual Newton on one reader's cost."""
    for backend in ("PYTORCH", "JAX", "TENSORFLOW", "CUPY"):
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{backend}", "1")
    ot = importlib.import_module("ot")
    counted = reader(1000, np.random.default_rng(3), too_sure())
    a = counted.n / counted.total
    cost = substitution_cost(counted.n, counted.label_mass, source=TABLES, target=TABLES)
    shown = []
    for tau in (1e-3, 1e-2, 1e-1, 1.0, 10.0):
        solved = transport_map(
            cost, phrases=SCALE.phrases, source_weights=a, regularisation=Regularisation(tau=tau)
        )
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            theirs = ot.unbalanced.sinkhorn_stabilized_unbalanced(
                a, a, cost, 1e-3, (float("inf"), tau), reg_type="kl"
            )
        w = solved.weights()
        after = calibration_error(counted.n @ w, counted.label_mass @ w, tables=TABLES)
        shown.append(
            (
                f"{tau:g}",
                f"{theirs.sum():.1e}",
                "yes" if said else "no",
                f"{solved.plan.sum():.6f}",
                f"{solved.dual_gradient:.0e}",
                solved.steps,
                f"{float(after):.4f}",
            )
        )
    head = (
        "τ",
        "mass of POT's plan",
        "POT warned",
        "mass of ours",
        "dual gradient",
        "steps",
        "ECE after",
    )
    return rows(head, shown), _version(ot)


def _version(module: object) -> str:
    return str(getattr(module, "__version__", "unknown"))


def map_table() -> tuple[str, str]:
    """Compare maps on held-out halves, and the linear promise with the truth."""
    g = np.random.default_rng(11)
    quirks = 0.15 * g.normal(size=len(SCALE))
    rate = np.clip(too_sure() + quirks, 0.01, 0.99)
    makers: dict[str, Callable[[Tally], SubstitutionMap]] = {
        "transport (ε = τ = 1e-3)": _transport,
        "exact ECE (linear program)": lambda t: exact_error_map(
            t, phrases=SCALE.phrases, source=TABLES, target=TABLES
        ),
        "Brier, shrunk rates": lambda t: brier_map(t, phrase_table=SCALE),
        "monotone, Brier": lambda t: monotone_map(t, phrase_table=SCALE),
    }
    scores: dict[str, list[tuple[float, float]]] = {"no map": [], **{name: [] for name in makers}}
    promise: list[tuple[float, float, float]] = []
    for _ in range(100):
        first, second = split_tally(reader(1000, g, rate), rng=g)
        scores["no map"].append(_scored(second, np.eye(len(SCALE)), TABLES))
        for name, make in makers.items():
            fitted = make(first)
            scores[name].append(_scored(second, fitted.weights(), TABLES))
        fitted = _transport(first)
        base = float(calibration_error(first.n, first.label_mass, tables=TABLES))
        linear = base + float(np.nansum(np.where(fitted.plan > 0, fitted.cost * fitted.plan, 0.0)))
        truth = _scored(first, fitted.weights(), TABLES)[0]
        promise.append((base, linear, truth))
    body = [
        (name, f"{np.mean([s[0] for s in v]):.4f}", f"{np.mean([s[1] for s in v]):.4f}")
        for name, v in scores.items()
    ]
    before, linear, truth = np.mean(promise, axis=0)
    told = rows(
        ("", "mean over 100 fits"),
        [
            ("ECE before the map", f"{before:.4f}"),
            ("ECE the linear cost promises", f"{linear:.4f}"),
            ("true ECE after the map, same data", f"{truth:.4f}"),
        ],
    )
    return rows(("map", "held-out ECE", "held-out Brier"), body), told


def _transport(part: Tally) -> SubstitutionMap:
    cost = substitution_cost(part.n, part.label_mass, source=TABLES, target=TABLES)
    return transport_map(cost, phrases=SCALE.phrases, source_weights=part.n / part.total)


def _scored(part: Tally, weights: np.ndarray, tables: BinTables) -> tuple[float, float]:
    n, mass = part.n @ weights, part.label_mass @ weights
    loss = brier(n, mass, means=SCALE.means, variances=SCALE.variances)
    return float(calibration_error(n, mass, tables=tables)), float(loss)


def bias_table() -> str:
    """Show why the sample value is reported and not the bootstrap median."""
    from calibration.estimate import multinomial_moments

    g = np.random.default_rng(5)
    shown = []
    for size in (30, 100, 300, 1000):
        errors = []
        for _ in range(200):
            counted = reader(size, g)
            level = float(calibration_error(np.ones(len(SCALE)), SCALE.means, tables=TABLES))
            value = float(calibration_error(counted.n, counted.label_mass, tables=TABLES))
            n, mass = multinomial_moments(counted, replicates=200, rng=g)
            again = calibration_error(n, mass, tables=TABLES)
            errors.append(
                (
                    value - level,
                    float(np.median(again)) - level,
                    2 * value - float(again.mean()) - level,
                )
            )
        bias = np.mean(errors, axis=0)
        shown.append((size, *(f"{b:+.3f}" for b in bias)))
    return rows(("exams", "sample value", "bootstrap median", "2·value − bootstrap mean"), shown)


def density_figure() -> Drawing:
    """Draw four phrases exactly and as the midpoint rule sees them."""
    drawing = Drawing(520, 170)
    for place, phrase in enumerate(("unlikely", "may represent", "likely", "compatible with")):
        distribution = SCALE.distributions[SCALE.index(phrase)]
        left = 20 + place * 126
        drawing.add(String(left, 152, phrase, fontSize=9, fillColor=OWN))
        if isinstance(distribution, Atom):
            continue
        _pair(drawing, left, distribution)
    return drawing


def _pair(drawing: Drawing, left: float, distribution: object) -> None:
    if not isinstance(distribution, Beta):
        return
    edges = np.arange(21) / 20
    exact, _ = distribution.interval_tables(edges)
    middles = (edges[:-1] + edges[1:]) / 2
    rough = distribution.density(middles) / 20
    top = max(float(exact.max()), float(rough.max()))
    for values, colour, dash in ((exact, OWN, None), (rough, OTHER, (2, 2))):
        points: list[float] = []
        for at, value in zip(middles, values, strict=True):
            points += [left + at * 110, 20 + 120 * float(value) / top]
        drawing.add(PolyLine(points, strokeColor=colour, strokeWidth=1.4, strokeDashArray=dash))
    drawing.add(Line(left, 20, left + 110, 20, strokeColor=MUTED, strokeWidth=0.6))


def _log_plot(
    at: Sequence[float], lines: dict[str, list[float]], xlabel: str, ylabel: str
) -> Drawing:
    drawing = Drawing(420, 240)
    left, bottom, wide, tall = 48.0, 40.0, 250.0, 180.0
    low, high = np.log10(min(at)), np.log10(max(at))
    top = max(max(v) for v in lines.values()) * 1.1

    def place(x: float, y: float) -> tuple[float, float]:
        return left + (np.log10(x) - low) / (high - low) * wide, bottom + y / top * tall

    drawing.add(Line(left, bottom, left + wide, bottom, strokeColor=MUTED))
    drawing.add(Line(left, bottom, left, bottom + tall, strokeColor=MUTED))
    for x in at:
        px, _ = place(x, 0.0)
        drawing.add(
            String(px, bottom - 13, f"{x:,.0f}", fontSize=8, textAnchor="middle", fillColor=MUTED)
        )
    for step in np.arange(0.0, top, 0.05):
        _, py = place(at[0], float(step))
        drawing.add(
            String(left - 5, py - 3, f"{step:.2f}", fontSize=8, textAnchor="end", fillColor=MUTED)
        )
    drawing.add(String(left, 10, xlabel, fontSize=9, fillColor=MUTED))
    drawing.add(String(left, bottom + tall + 8, ylabel, fontSize=9, fillColor=MUTED))
    taken: list[float] = []
    for (name, values), colour, dash in zip(
        lines.items(), (OWN, MUTED, OTHER), (None, (3, 2), (6, 2)), strict=True
    ):
        points: list[float] = []
        for x, y in zip(at, values, strict=True):
            points += list(place(x, y))
        drawing.add(PolyLine(points, strokeColor=colour, strokeWidth=1.6, strokeDashArray=dash))
        height = points[-1] - 3
        while any(abs(height - other) < 11 for other in taken):
            height += 11
        taken.append(height)
        drawing.add(String(points[-2] + 6, height, name, fontSize=9, fillColor=colour))
    return drawing


def main() -> None:
    """Write all figures and tables."""
    zero, zero_plot = zero_point()
    solver, version = solver_table()
    maps, promise = map_table()
    sections = {
        "Mass each rule keeps of peaked phrases": midpoint_table(),
        "What dropping the end bins drops": end_bin_table(),
        "Two readings of an uncertain outcome": label_table(),
        "The zero point": zero,
        "Bias of the reported value, calibrated reader": bias_table(),
        f"The solver trap (POT {version}, ε = 1e-3)": solver,
        "The linear cost is a promise": promise,
        "Maps on held-out halves, 100 splits": maps,
    }
    text = "\n\n".join(f"## {title}\n\n{table}" for title, table in sections.items())
    head = "# Tables of the method\n\nMade by `python docs/figures/method_figures.py`.\n\n"
    (HERE / "method_tables.md").write_text(head + text + "\n", encoding="utf-8")
    for name, drawing in (("zero_point", zero_plot), ("midpoint", density_figure())):
        (HERE / f"method_{name}.svg").write_text(renderSVG.drawToString(drawing), encoding="utf-8")


if __name__ == "__main__":
    main()
