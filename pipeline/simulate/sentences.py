"""Sentences that state findings: from (pathology, phrase) cells to the words of a section.

Cells that share a certainty may share a sentence ("may represent atelectasis or pneumonia"), two
certainties may share one ("probably atelectasis, less likely pneumonia"), negations are gathered
into disjunctions. Every sentence states its cells and nothing else of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple, TypeAlias

from pipeline.simulate.lexicon import Noun, Wording

Cell: TypeAlias = tuple[int, int]
"""Index of a pathology and index of a canonical phrase."""

_SHARE_PAIR, _SHARE_MIXED, _SHARE_SPECIAL, _SHARE_OTHER_SIDE = 0.55, 0.45, 0.4, 0.2

_NEEDS_A_VERB = ("the ", "findings", "patchy changes")


class Sentence(NamedTuple):
    """One sentence and the body compartment it belongs under."""

    compartment: str
    text: str


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


@dataclass(slots=True)
class Speaker:
    """The voice of one report: which templates it uses and which side each finding is on.

    Parameters
    ----------
    wording
        Templates and nouns.
    mode
        ``"xray"``, ``"ct"`` or ``"translated"``.
    rng
        Source of chance of this report.
    lungs_empty
        Whether the whole report finds nothing in the lungs, so that it may call them clear.
    """

    wording: Wording
    mode: str
    rng: Random
    lungs_empty: bool = False
    sides: dict[int, int] = field(default_factory=dict)

    def section(self, cells: Sequence[Cell]) -> list[Sentence]:
        """Return the sentences that state all the cells, each pathology once, in mixed order."""
        left = list(cells)
        self.rng.shuffle(left)
        sentences = self._clear(left) + self._mixed(left) + self._paired(left)
        absent = [cell for cell in left if cell[1] == 0]
        sentences += self._negations([p for p, _ in absent])
        for p, k in left:
            if k:
                sentences += self._single(p, k)
        return sentences

    def sign(self, p: int) -> Sentence:
        """Return a sentence that describes an appearance and names no pathology."""
        pathology = self.wording.pathologies[p]
        signs = pathology.signs[self._side(p)]
        alone = [s for s in signs if not s.startswith(_NEEDS_A_VERB)] or signs
        return Sentence(pathology.compartment, _capital(self._choose(alone)) + ".")

    def _choose(self, items: Sequence[str]) -> str:
        return items[int(self.rng.random() * len(items))]

    def _side(self, p: int) -> int:
        return self.sides.setdefault(p, int(self.rng.random() * 2))

    def _sign(self, p: int) -> str:
        return self._choose(self.wording.pathologies[p].signs[self._side(p)])

    def _noun(self, p: int, *, detailed: bool) -> Noun:
        pathology = self.wording.pathologies[p]
        pool = pathology.detailed[self._side(p)] if detailed else pathology.nouns
        return pool[int(self.rng.random() * len(pool))]

    def _single(self, p: int, k: int) -> list[Sentence]:
        pathology = self.wording.pathologies[p]
        special = pathology.present if k == len(self.wording.phrases) - 1 else ()
        if special and self.rng.random() < _SHARE_SPECIAL:
            return [Sentence(pathology.compartment, self._choose(special))]
        text = self._fill(self._choose(self.wording.single[self.mode][k]), p, k)
        sentence = Sentence(pathology.compartment, text)
        this, other = (("left", "right"), ("right", "left"))[self._side(p)]
        if pathology.sided and k > 1 and this in text and self.rng.random() < _SHARE_OTHER_SIDE:
            return [Sentence(pathology.compartment, f"No {other} {pathology.name}."), sentence]
        return [sentence]

    def _fill(self, template: str, p: int, k: int) -> str:
        noun = self._noun(p, detailed=k > 1 and self.rng.random() < 0.7)
        sign, article = self._sign(p), noun.with_article
        return template.format(
            a=article,
            A=_capital(article),
            f=noun.words,
            F=_capital(noun.words),
            s=sign,
            S=_capital(sign),
            r=self._choose(self.wording.pathologies[p].rivals),
        )

    def _fill_two(self, template: str, first: Cell, second: Cell) -> Sentence:
        n1 = self._noun(first[0], detailed=first[1] > 1 and self.rng.random() < 0.5)
        n2 = self._noun(second[0], detailed=second[1] > 1 and self.rng.random() < 0.3)
        a1, a2 = n1.with_article, n2.with_article
        text = template.format(
            a1=a1, A1=_capital(a1), f1=n1.words, F1=_capital(n1.words),
            a2=a2, f2=n2.words, S=_capital(self._sign(first[0])),
        )  # fmt: skip
        return Sentence(self.wording.pathologies[first[0]].compartment, text)

    def _clear(self, left: list[Cell]) -> list[Sentence]:
        """Say "the lungs are clear" for an absent opacity where the lungs hold nothing else."""
        if not self.lungs_empty or self.mode != "xray":
            return []
        for p, k in left:
            pathology = self.wording.pathologies[p]
            if k == 0 and pathology.clear and self.rng.random() < _SHARE_SPECIAL:
                left.remove((p, k))
                return [Sentence(pathology.compartment, self._choose(pathology.clear))]
        return []

    def _airspace(self, p: int) -> bool:
        return self.wording.pathologies[p].airspace

    def _mixed(self, left: list[Cell]) -> list[Sentence]:
        """Put two different certainties into one sentence, at most twice per section."""
        sentences: list[Sentence] = []
        for first in list(left):
            if len(sentences) == 2 or self.rng.random() > _SHARE_MIXED or first not in left:
                continue
            second = next((c for c in left if self._may_mix(first, c)), None)
            if second is not None:
                template = self._choose(self.wording.mixed[first[1], second[1]])
                sentences.append(self._fill_two(template, first, second))
                left.remove(first)
                left.remove(second)
        return sentences

    def _may_mix(self, first: Cell, second: Cell) -> bool:
        if first[0] == second[0] or (first[1], second[1]) not in self.wording.mixed:
            return False
        if first[1] == len(self.wording.phrases) - 1 and second[1]:
            name = self.wording.pathologies[first[0]].name
            cause = self.wording.pathologies[second[0]]
            return name == "lung opacity" and cause.airspace and cause.compartment == "lungs"
        return second[1] == 0 or (self._airspace(first[0]) and self._airspace(second[0]))

    def _paired(self, left: list[Cell]) -> list[Sentence]:
        """Coordinate two or three findings of one certainty under one cue."""
        sentences: list[Sentence] = []
        by_phrase: dict[int, list[Cell]] = {}
        for cell in left:
            if cell[1] and self._airspace(cell[0]):
                by_phrase.setdefault(cell[1], []).append(cell)
        for k, cells in by_phrase.items():
            pairs, triples = self.wording.pair[self.mode][k], self.wording.triple[self.mode][k]
            if len(cells) < 2 or not pairs or self.rng.random() > _SHARE_PAIR:
                continue
            together = cells[:3] if len(cells) > 2 and triples else cells[:2]
            if len(together) == 3:
                sentences.append(self._fill_three(self._choose(triples), [p for p, _ in together]))
            else:
                sentences.append(self._fill_two(self._choose(pairs), *together))
            for cell in together:
                left.remove(cell)
        return sentences

    def _fill_three(self, template: str, group: list[int]) -> Sentence:
        nouns = [self._noun(p, detailed=False).words for p in group]
        sign = _capital(self._sign(group[0]))
        text = template.format(f1=nouns[0], f2=nouns[1], f3=nouns[2], S=sign)
        return Sentence(self.wording.pathologies[group[0]].compartment, text)

    def _negations(self, absent: list[int]) -> list[Sentence]:
        sentences: list[Sentence] = []
        while absent:
            size = min(1 + int(self.rng.random() * 3), len(absent))
            group, absent = absent[:size], absent[size:]
            sentences.append(self._negation(group))
        return sentences

    def _negation(self, group: list[int]) -> Sentence:
        first = self.wording.pathologies[group[0]]
        if len(group) == 1:
            if first.absent and self.rng.random() < _SHARE_SPECIAL:
                return Sentence(first.compartment, self._choose(first.absent))
            template = self._choose(self.wording.single[self.mode][0])
            return Sentence(first.compartment, self._fill(template, group[0], 0))
        if len(group) == 2:
            template = self._choose(self.wording.pair[self.mode][0])
            return self._fill_two(template, (group[0], 0), (group[1], 0))
        return self._fill_three(self._choose(self.wording.triple[self.mode][0]), group)
