"""The first look's networks and their training, in PyTorch on one thread (equations in `model`).

What a word is, is the sum of its features' numbers; each batch hides a share of the features of
every word and gap, and then of all inputs of every row, so that no decision hangs on one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from fit import Space, author_weight, row_weights
from numpy.typing import NDArray
from rows import Rows
from scipy import sparse
from torch import Tensor, nn

from pipeline.deidentify.judge.evidence import (
    FACTS,
    GAP_OFFSETS,
    TOKEN_OFFSETS,
    VOTE_OFFSETS,
    VOTES,
)
from pipeline.deidentify.judge.model import LABELS, Weights
from pipeline.deidentify.judge.second import INPUTS, WORD_OFFSETS

WORD, GAP, HIDDEN, MIDDLE = 24, 12, 96, 32
"""How many numbers describe a word and a gap, and the units of both layers."""
BATCH, RATE, DECAY = 1024, 3e-3, 1e-4
EPOCHS, EASY, HIDE = 12, 0.3, 0.3
"""How often all rows are shown, what share of the easy ones each time, and of all inputs hidden."""
_FACTS = np.cumsum([0, *(size for _, size in FACTS)])


@dataclass(frozen=True, slots=True)
class Lesson:
    """What the network is fit to.

    Attributes
    ----------
    words, gaps, votes, facts, own, own_votes
        (n, ...) as `evidence.Evidence` and `model.Case` have them.
    labels, weights
        (n,) what each row truly is, and how much it counts.
    easy
        (n,) which rows each epoch shows a share of only.
    word_table, gap_table
        (strings, features) which features each string has.
    rules
        How many rules there are.
    """

    words: NDArray[np.int64]
    gaps: NDArray[np.int64]
    votes: NDArray[np.int64]
    facts: NDArray[np.int64]
    own: NDArray[np.int64]
    own_votes: NDArray[np.int64]
    labels: NDArray[np.int64]
    weights: NDArray[np.float64]
    easy: NDArray[np.bool_]
    word_table: sparse.csr_matrix
    gap_table: sparse.csr_matrix
    rules: int


class Hiding:
    """Draws what is hidden of the inputs; what is shown weighs the more for it."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, shape: Sequence[int], share: float) -> Tensor:
        """Give a factor for each input: 0, or 1 / (1 - share)."""
        shown = self.rng.random(tuple(shape)) >= share
        return torch.from_numpy((shown / (1 - share)).astype(np.float32))


class First(nn.Module):
    """The first look."""

    def __init__(self, lesson: Lesson) -> None:
        super().__init__()
        self.words = nn.EmbeddingBag(lesson.word_table.shape[1], WORD, mode="sum")
        self.gaps = nn.EmbeddingBag(lesson.gap_table.shape[1], GAP, mode="sum")
        self.word_mix = nn.Linear(len(TOKEN_OFFSETS) * WORD, HIDDEN)
        self.gap_mix = nn.Linear(len(GAP_OFFSETS) * GAP, HIDDEN, bias=False)
        self.votes = nn.EmbeddingBag(len(VOTE_OFFSETS) * len(VOTES), HIDDEN, mode="sum")
        self.facts = nn.EmbeddingBag(int(_FACTS[-1]), HIDDEN, mode="sum")
        self.own = nn.EmbeddingBag(lesson.rules + 1, HIDDEN, mode="sum")
        self.own_votes = nn.EmbeddingBag(len(VOTES), HIDDEN, mode="sum")
        self.middle = nn.Linear(HIDDEN, MIDDLE)
        self.out = nn.Linear(MIDDLE, len(LABELS))
        for table in (self.words, self.gaps):
            nn.init.normal_(table.weight, std=0.1)
        for table in (self.votes, self.facts, self.own, self.own_votes):
            nn.init.normal_(table.weight, std=0.05)

    def forward(self, lesson: Lesson, rows: NDArray[np.int64], hide: Hiding) -> Tensor:
        """Give the logits of some rows, with a share of their inputs hidden."""
        words = _around(self.words, lesson.word_table, lesson.words[rows], hide)
        gaps = _around(self.gaps, lesson.gap_table, lesson.gaps[rows], hide)
        votes = lesson.votes[rows] + np.arange(len(VOTE_OFFSETS)) * len(VOTES)
        hidden = self.word_mix(words) + self.gap_mix(gaps)
        for table, numbers in (
            (self.votes, votes),
            (self.facts, lesson.facts[rows] + _FACTS[:-1]),
            (self.own, lesson.own[rows, None] + 1),
            (self.own_votes, lesson.own_votes[rows, None]),
        ):
            shown = hide(numbers.shape, HIDE)
            hidden = hidden + table(torch.from_numpy(numbers), per_sample_weights=shown)
        logits: Tensor = self.out(torch.relu(self.middle(torch.relu(hidden))))
        return logits

    def tables(self) -> dict[str, NDArray[np.float32]]:
        """Give the weights as `model.Weights` names them; own rules without the row for none."""
        word, gap = self.word_mix.weight.T, self.gap_mix.weight.T
        none, own, votes = self.own.weight[0], self.own.weight[1:], self.votes.weight
        given = {
            "tokens": self.words.weight, "gaps": self.gaps.weight,
            "token_mix": word.reshape(len(TOKEN_OFFSETS), WORD, HIDDEN),
            "gap_mix": gap.reshape(len(GAP_OFFSETS), GAP, HIDDEN),
            "votes": votes.reshape(len(VOTE_OFFSETS), len(VOTES), HIDDEN).transpose(0, 1),
            "own": own - none, "own_votes": self.own_votes.weight, "facts": self.facts.weight,
            "bias": self.word_mix.bias + none,
            "middle": self.middle.weight.T, "middle_bias": self.middle.bias,
            "out": self.out.weight.T, "out_bias": self.out.bias,
        }  # fmt: skip
        return {name: each.detach().contiguous().numpy() for name, each in given.items()}


def _around(
    table: nn.EmbeddingBag, features: sparse.csr_matrix, numbers: NDArray[np.int64], hide: Hiding
) -> Tensor:
    """Give the numbers of the strings around each row, side by side."""
    distinct, places = np.unique(numbers, return_inverse=True)
    some = features[distinct]
    described = table(
        torch.from_numpy(some.indices.astype(np.int64)),
        torch.from_numpy(some.indptr[:-1].astype(np.int64)),
        per_sample_weights=hide(some.indices.shape, HIDE),
    )
    around = described[torch.from_numpy(places.reshape(numbers.shape))]
    return (around * hide(numbers.shape, HIDE / 2)[..., None]).flatten(1)


def train(lesson: Lesson, seed: int) -> First:
    """Fit the first look; the rate rises for a seventh of the time and then falls."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    hide, network = Hiding(seed), First(lesson)
    truth = torch.from_numpy(lesson.labels)
    weights = torch.from_numpy(lesson.weights.astype(np.float32))
    batches = [batch for _ in range(EPOCHS) for batch in _batches(lesson, hide.rng)]
    optimiser = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    rate = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, RATE, total_steps=len(batches) + 1, pct_start=0.15
    )
    for rows in batches:
        at = torch.from_numpy(rows)
        losses = nn.functional.cross_entropy(
            network(lesson, rows, hide), truth[at], reduction="none"
        )
        optimiser.zero_grad()
        (losses * weights[at]).mean().backward()
        optimiser.step()
        rate.step()
    return network


def _batches(lesson: Lesson, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Give the rows of an epoch: all but some of the easy ones."""
    shares = np.where(lesson.easy, EASY, 1.0)
    rows = np.flatnonzero(rng.random(len(shares)) < shares)
    rng.shuffle(rows)
    return np.split(rows, range(BATCH, len(rows), BATCH))


def first_lesson(sets: Mapping[str, Rows], space: Space) -> Lesson:
    """Put the rows of several sets together for the first look."""
    number = {rule: at for at, rule in enumerate(space.rules)}
    every = list(sets.values())
    labels = np.concatenate([rows.labels for rows in every])
    weights = np.concatenate([row_weights(rows) for rows in every])
    authors = np.concatenate([author_weight(len(rows.labels)) for rows in every])
    names = ("tokens", "gaps", "votes", "facts")
    return Lesson(
        *(np.concatenate([getattr(rows.evidence, name) for rows in every]) for name in names),
        own=np.array([number.get(rule, -1) for rows in every for rule in rows.own]),
        own_votes=np.concatenate([rows.own_votes for rows in every]),
        labels=labels,
        weights=weights * authors,
        easy=(labels == 0) & (weights == 1),
        word_table=space.token_table,
        gap_table=space.gap_table,
        rules=len(space.rules),
    )


def exported(networks: Sequence[First], space: Space) -> Weights:
    """Give fitted first looks as tables side by side; the second, and calibration, are none yet."""
    shapes = {
        "second_words": (0, len(WORD_OFFSETS), 1), "second_numbers": (INPUTS, 1),
        "second_bias": (1,), "second_out": (1, len(LABELS)), "second_out_bias": (len(LABELS),),
    }  # fmt: skip
    every = [network.tables() for network in networks]
    joined = {name: _side_by_side(name, [each[name] for each in every]) for name in every[0]}
    return Weights(
        token_features=space.tokens, gap_features=space.gaps, rules=space.rules,
        second_features=(), calibration=np.eye(1, 2, dtype=np.float32).repeat(2, axis=0),
        **joined,
        **{name: np.zeros(shape, np.float32) for name, shape in shapes.items()},
    )  # fmt: skip


def _side_by_side(name: str, parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Join the same table of several networks as `Weights` has it."""
    if name in ("votes", "own", "own_votes", "facts", "bias"):
        return np.concatenate(parts, axis=-1)
    return np.stack(parts)
