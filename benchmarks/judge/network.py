"""The judge's networks and their training, in PyTorch on one thread (equations in `model`).

What a word is, is the sum of its features' numbers; each batch of reports hides a share of the
features of every word and gap, and then of all inputs of every token, so that no decision hangs on
one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from fit import Space
from numpy.typing import NDArray
from rows import Showing
from scipy import sparse
from torch import Tensor, nn

from pipeline.deidentify.judge.evidence import FACTS, GAPS, VOTES, WORDS
from pipeline.deidentify.judge.model import LABELS, STEPS, Weights, load_weights
from pipeline.deidentify.judge.tokens import KINDS, REACH

WORD, GAP, KNOWN, UNITS, MIDDLE = 32, 16, 64, 40, 32
"""How many numbers describe a word, a gap and a token, and the units of the layers."""
REPORTS, RATE, DECAY, EPOCHS = 24, 4e-3, 1e-4, 24
"""Reports of a batch, the highest rate, the decay of weights, how often every report is shown."""
HIDE, DROP = 0.3, 0.2
"""What share of inputs is hidden, and of the units that have looked around."""
SHOWN = (0.26, 0.14, 0.12, 0.09, 0.04, 0.04, *(0.06, 0.045) * 2, 0.06, 0.04)
"""How often a report is shown in each of its showings."""
EQUAL = 20_000
"""Tokens of an author that weigh one each; of more each weighs less, of fewer more."""
_FACTS = np.cumsum([0, *(size for _, size in FACTS)])

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Tokens of some reports in order, numbers into the tables of `Space` and `evidence`.

    ``places`` are rows of a table in which `REACH` empty rows part the reports; ``same`` numbers
    the distinct words of each report.
    """

    words: Ints
    gaps: Ints
    votes: Ints
    facts: Ints
    own: Ints
    labels: Ints
    weights: NDArray[np.float32]
    places: Ints
    same: Ints


class Hiding:
    """Draws what is hidden of the inputs; what is shown weighs the more for it."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, shape: Sequence[int], share: float) -> Tensor:
        """Give a factor for each input: 0, or 1 / (1 - share)."""
        shown = self.rng.random(tuple(shape), dtype=np.float32) >= share
        return torch.from_numpy((shown / (1 - share)).astype(np.float32))


class Network(nn.Module):
    """One network."""

    def __init__(self, space: Space) -> None:
        super().__init__()
        self.space = space
        self.words = nn.EmbeddingBag(len(space.tokens), WORD, mode="sum")
        self.gaps = nn.EmbeddingBag(len(space.gaps), GAP, mode="sum")
        self.word_mix = nn.Linear(len(WORDS) * WORD, KNOWN)
        self.gap_mix = nn.Linear(len(GAPS) * GAP, KNOWN, bias=False)
        self.votes = nn.EmbeddingBag(len(VOTES), KNOWN, mode="sum")
        self.own = nn.EmbeddingBag(len(space.rules) + 1, KNOWN, mode="sum")
        self.facts = nn.EmbeddingBag(int(_FACTS[-1]), KNOWN, mode="sum")
        self.enter = nn.Linear(KNOWN, UNITS)
        self.steps = nn.ModuleList([nn.Linear(3 * UNITS, UNITS) for _ in STEPS])
        self.middle = nn.Linear(2 * UNITS + KNOWN, MIDDLE)
        self.out = nn.Linear(MIDDLE, len(LABELS))
        for table in (self.words, self.gaps):
            nn.init.normal_(table.weight, std=0.1)
        for table in (self.votes, self.own, self.facts):
            nn.init.normal_(table.weight, std=0.05)

    def forward(self, batch: Batch, hide: Hiding) -> Tensor:
        """Give the logits of a batch, with a share of the inputs hidden."""
        words = _described(self.words, self.space.token_table, batch.words, hide)
        gaps = _described(self.gaps, self.space.gap_table, batch.gaps, hide)
        known = self.word_mix(words) + self.gap_mix(gaps)
        for table, numbers, share in (
            (self.votes, batch.votes[:, None], HIDE / 2),
            (self.own, batch.own[:, None] + 1, HIDE),
            (self.facts, batch.facts + _FACTS[:-1], HIDE),
        ):
            shown = hide(numbers.shape, share)
            known = known + table(torch.from_numpy(numbers), per_sample_weights=shown)
        known = torch.relu(known)
        own = self._around(known, torch.from_numpy(batch.places))
        joined = torch.cat([own, _elsewhere(own, torch.from_numpy(batch.same)), known], dim=1)
        shown = torch.cat([hide((len(own), 2 * UNITS), DROP), torch.ones_like(known)], dim=1)
        joined = joined * shown
        logits: Tensor = self.out(torch.relu(self.middle(joined)))
        return logits

    def _around(self, known: Tensor, places: Tensor) -> Tensor:
        size = int(places[-1]) + 1 + REACH
        full = torch.zeros(size, 1).index_fill(0, places, 1.0)
        seen = torch.zeros(size, UNITS).index_copy(0, places, self.enter(known))
        for step, layer in zip(STEPS, self.steps, strict=True):
            wide = nn.functional.pad(seen, (0, 0, step, step))
            around = torch.cat([wide[:size], seen, wide[2 * step :]], dim=1)
            seen = (seen + torch.relu(layer(around))) * full
        return seen[places]

    def tables(self) -> dict[str, NDArray[np.float32]]:
        """Give the weights as `model.Weights` names them; own rules without the row for none."""
        word, gap = self.word_mix.weight.T, self.gap_mix.weight.T
        none, own = self.own.weight[0], self.own.weight[1:]
        given = {
            "tokens": self.words.weight, "gaps": self.gaps.weight,
            "token_mix": word.reshape(len(WORDS), WORD, KNOWN),
            "gap_mix": gap.reshape(len(GAPS), GAP, KNOWN),
            "votes": self.votes.weight, "own": own - none, "facts": self.facts.weight,
            "bias": self.word_mix.bias + none,
            "enter": self.enter.weight.T, "enter_bias": self.enter.bias,
            "steps": torch.stack([each.weight.T for each in self.steps]),
            "steps_bias": torch.stack([each.bias for each in self.steps]),
            "middle": self.middle.weight.T, "middle_bias": self.middle.bias,
            "out": self.out.weight.T, "out_bias": self.out.bias,
        }  # fmt: skip
        return {name: each.detach().contiguous().numpy() for name, each in given.items()}


def _described(
    table: nn.EmbeddingBag, features: sparse.csr_matrix, numbers: Ints, hide: Hiding
) -> Tensor:
    """Give the numbers of each token's strings, side by side."""
    distinct, places = np.unique(numbers, return_inverse=True)
    some = features[distinct]
    described = table(
        torch.from_numpy(some.indices.astype(np.int64)),
        torch.from_numpy(some.indptr[:-1].astype(np.int64)),
        per_sample_weights=hide(some.indices.shape, HIDE),
    )
    given = described[torch.from_numpy(places.reshape(numbers.shape))]
    return (given * hide(numbers.shape, HIDE / 2)[..., None]).flatten(1)


def _elsewhere(own: Tensor, same: Tensor) -> Tensor:
    """Average over the other tokens of each token's word; 0 where there is none."""
    size = int(same.max()) + 1
    many = torch.bincount(same, minlength=size)[same][:, None].float()
    sums = torch.zeros(size, own.shape[1]).index_add(0, same, own)
    return (sums[same] - own) / (many - 1).clamp(min=1) * (many > 1)


def train(sets: Mapping[str, Sequence[Showing]], space: Space, seed: int) -> Network:
    """Fit a network; the rate rises for a seventh of the time and then falls."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    hide, network = Hiding(seed), Network(space)
    number = {rule: at for at, rule in enumerate(space.rules)}
    own = {
        name: [np.array([number.get(rule, -1) for rule in each.own]) for each in shown]
        for name, shown in sets.items()
    }
    reports = [(name, at) for name, shown in sets.items() for at in range(len(shown[0].texts) - 1)]
    steps = EPOCHS * -(-len(reports) // REPORTS)
    optimiser = torch.optim.AdamW(network.parameters(), lr=RATE, weight_decay=DECAY)
    rate = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, RATE, total_steps=steps + 1, pct_start=0.15
    )
    for _ in range(EPOCHS):
        order = hide.rng.permutation(len(reports))
        for some in np.split(order, range(REPORTS, len(order), REPORTS)):
            batch = _batch(sets, own, [reports[at] for at in some.tolist()], hide.rng)
            losses = nn.functional.cross_entropy(
                network(batch, hide), torch.from_numpy(batch.labels), reduction="none"
            )
            weights = torch.from_numpy(batch.weights)
            optimiser.zero_grad()
            ((losses * weights).sum() / weights.sum()).backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            rate.step()
    return network


def _batch(
    sets: Mapping[str, Sequence[Showing]],
    own: Mapping[str, Sequence[Ints]],
    reports: Sequence[tuple[str, int]],
    rng: np.random.Generator,
) -> Batch:
    parts: list[tuple[NDArray[np.generic], ...]] = []
    place = same = 0
    for name, report in reports:
        at = int(rng.choice(len(SHOWN), p=SHOWN))
        showing = sets[name][at]
        some = slice(*showing.texts[report : report + 2])
        size = some.stop - some.start
        if not size:
            continue
        evidence = showing.evidence
        words = np.unique(evidence.folded[some], return_inverse=True)[1]
        share = np.float32((EQUAL / len(showing.labels)) ** 0.6)
        parts.append(
            (
                evidence.words[some], evidence.gaps[some], evidence.votes[some],
                evidence.facts[some], own[name][at][some], showing.labels[some],
                showing.weights[some] * share,
                REACH + place + np.arange(size), same + words,
            )
        )  # fmt: skip
        place, same = place + size + REACH, same + int(words.max()) + 1
    return Batch(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def exported(networks: Sequence[Network], space: Space) -> Weights:
    """Give fitted networks as tables; their chances, and runs by their likeliest, as they are."""
    every = [network.tables() for network in networks]
    joined = {name: np.stack([each[name] for each in every]) for name in every[0]}
    return Weights(
        token_features=space.tokens, gap_features=space.gaps, rules=space.rules, **joined,
        calibration=np.eye(1, 2, dtype=np.float32).repeat(len(KINDS), axis=0),
        runs=np.eye(1, len(load_weights().runs), 1, dtype=np.float32)[0],
    )  # fmt: skip
