"""Makes every figure and number that docs/neighbours.md shows.

Run ``python docs/figures/neighbours_figures.py``: it writes ``neighbours_*.svg`` and
``neighbours_tables.md`` beside itself, always the same for the same versions. All data are drawn
from seeded generators; nothing comes from a patient or a published data set.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from calibration.neighbours.binned import classwise_ece, confidence_ece, majority_accuracy
from calibration.neighbours.difficulty import difficulty
from calibration.neighbours.per_item import (
    brier_of_votes,
    distribution_calibration_error,
    entropy_calibration_error,
    noise_floor,
    ranking_calibration_score,
)
from reports.drawing.axes import Scale, Ticks, nice_ticks, x_axis, y_axis
from reports.drawing.marks import Box, Disc, Drawing, Polygon
from reports.drawing.style import NOTE, palette
from reports.drawing.typeset import put
from reports.drawing.web import to_svg
from reports.numbers import decimal

HERE = Path(__file__).parent
CLASSES = ("present", "uncertain", "absent")


def readers_and_models() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Draw 40 readers of 1,500 borderline exams, and three predictions."""
    g = np.random.default_rng(2022)
    pi = g.dirichlet([1.2, 0.9, 1.0], 1500)
    votes = np.array([g.multinomial(40, p) for p in pi])
    logits = 2.2 * np.log(pi + 0.02) + g.normal(0.0, 0.9, pi.shape)
    return votes, {
        "tuned to the majority": _softmax(logits),
        "softened (temperature 2)": _softmax(logits / 2.0),
        "oracle": votes / votes.sum(axis=1, keepdims=True),
    }


def _softmax(logits: np.ndarray) -> np.ndarray:
    weight = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def measures_table() -> str:
    """Every measure of three predictions."""
    votes, models = readers_and_models()
    head = ["", *models]
    rows = [
        ["accuracy", *_each(models, votes, majority_accuracy)],
        ["confidence ECE", *_each(models, votes, confidence_ece)],
        ["class-wise ECE", *_each(models, votes, classwise_ece)],
        ["RankCS", *_each(models, votes, ranking_calibration_score)],
        ["mean abs. EntCE (nats)", *_each(models, votes, entropy_calibration_error)],
        ["DistCE", *_each(models, votes, distribution_calibration_error)],
        ["its noise floor", *_each(models, votes, noise_floor)],
        ["Brier score of votes", *_each(models, votes, brier_of_votes)],
    ]
    return _table(head, rows)


def _each(models: dict[str, np.ndarray], votes: np.ndarray, measure: object) -> list[str]:
    return [f"{float(measure(probs=p, votes=votes)):.3f}" for p in models.values()]  # type: ignore[operator]


def _table(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in body)])


def few_votes_table() -> str:
    """Which prediction scores best on average, by number of votes, when π = (.6, .3, .1)."""
    pi = np.array([0.6, 0.3, 0.1])
    grid = np.array([[i, j, 50 - i - j] for i in range(51) for j in range(51 - i)]) / 50
    rows = []
    for size in (1, 2, 3, 5, 10):
        best = [
            grid[int(np.argmin(_expected(measure, grid, pi, size)))]
            for measure in (distribution_calibration_error, brier_of_votes)
        ]
        truth = float(_expected(distribution_calibration_error, pi[None], pi, size)[0])
        shown = [", ".join(f"{share:.2f}" for share in f) for f in best]
        rows.append([str(size), *shown, f"{truth:.3f}"])
    head = ["votes", "least DistCE at", "least Brier score at", "DistCE of the truth itself"]
    return _table(head, rows)


def _expected(measure: object, grid: np.ndarray, pi: np.ndarray, size: int) -> np.ndarray:
    """Mean of a measure over all outcomes of ``size`` votes, for every row of the grid."""
    total = np.zeros(len(grid))
    for counts in itertools.product(range(size + 1), repeat=3):
        if sum(counts) != size:
            continue
        ways = math.factorial(size) / math.prod(math.factorial(c) for c in counts)
        chance = ways * math.prod(p**c for p, c in zip(pi, counts, strict=True))
        votes = np.tile(counts, (len(grid), 1))
        total += chance * measure(probs=grid, votes=votes).per_item  # type: ignore[operator]
    return total


def misleading() -> tuple[Drawing, str]:
    """Make a pool that is sure of its errors: doubt rises and falls again with the failure rate."""
    g = np.random.default_rng(2025)
    size, models = 500, 15
    ease = g.normal(0.5, 1.3, size)
    logit = 1.6 * ease + g.normal(0.0, 0.8, (models, size))
    right = 1.0 / (1.0 + np.exp(-logit))
    pool = np.stack([right, 1.0 - right], axis=2)
    found = difficulty(probs=pool, reference=np.zeros(size, dtype=int))
    if found.split is None:
        message = "the pool has a reference"
        raise ValueError(message)
    rows = [
        [
            name,
            f"{found.correlations[name, 'M_fail'].value:+.2f}",
            f"{found.split.success[name, 'M_fail'].value:+.2f}",
            f"{found.split.failure[name, 'M_fail'].value:+.2f}",
        ]
        for name in found.free
    ]
    table = _table(["against M_fail", "all items", "pool right", "pool wrong"], rows)
    doubt, failed = found.free["M_avg_ent"], found.dependent["M_fail"]
    return _scatter(failed, doubt), table


def _scatter(failed: np.ndarray, doubt: np.ndarray) -> Drawing:
    drawing = Drawing(330.0, 190.0)
    plot = Box(34.0, 20.0, 286.0, 138.0)
    ticks = nice_ticks(0.0, float(doubt.max()), about=4)
    x = Scale(0.0, 1.0, plot.x, plot.right)
    y = Scale(0.0, ticks[-1], plot.bottom, plot.y)
    up = Ticks(ticks, lambda v: decimal(v, 1))
    y_axis(drawing, plot, y, up, title="mean entropy of the models, nats")
    across = Ticks((0.0, 0.5, 1.0), lambda v: decimal(v, 1))
    x_axis(drawing, plot, x, across, title="share of the pool that is wrong")
    for share, value in zip(failed.tolist(), doubt.tolist(), strict=True):
        ink = palette.own if share <= 0.5 else palette.department
        drawing.add(Disc(x(share), y(value), 1.6, "circle", ink))
    means = [(x(s), y(float(doubt[failed == s].mean()))) for s in np.unique(failed)]
    drawing.add(Polygon(tuple(means), stroke=palette.ink, stroke_width=1.0))
    key = "dark: pool right; ochre: pool wrong; line: mean"
    put(drawing, (plot.right, plot.y - 8.0), key, NOTE.muted, anchor="end")
    return drawing


def save(drawing: Drawing, name: str, label: str) -> None:
    """Write one drawing as a file that stands by itself, on white."""
    look = 'style="background:#fff;font-family:DejaVu Sans Condensed,sans-serif"'
    body = to_svg(drawing, label=label)
    whole = body.replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" {look} ', 1)
    (HERE / name).write_text(whole + "\n", encoding="utf-8")


def main() -> None:
    """Write everything."""
    drawing, split = misleading()
    save(drawing, "neighbours_misleading.svg", "Doubt of a pool against its failures")
    parts = {
        "Three predictions, 1,500 exams, 40 readers": measures_table(),
        "Few votes": few_votes_table(),
        "When doubt misleads": split,
    }
    text = "\n\n".join(f"## {title}\n\n{table}" for title, table in parts.items())
    (HERE / "neighbours_tables.md").write_text(
        "# Tables of docs/neighbours.md\n\nMade by `python docs/figures/neighbours_figures.py`.\n\n"
        + text + "\n",
        encoding="utf-8",
    )  # fmt: skip


if __name__ == "__main__":
    main()
