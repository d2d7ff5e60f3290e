"""What a clause speaks about: a pathology's name, a subject and predicate, or a split expression.

"Heart size is normal" is a mention of cardiomegaly that carries its own answer (`base` = absent);
"lymph nodes … in pathological size" is one mention spread over the clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from extraction.rules.lexicon import Part
from extraction.rules.scan import Item, denies, is_finite
from extraction.rules.tokens import Token
from extraction.vocabulary import Vocabulary

_NEAR: Final = 3
_MEASURED: Final = 6
"""So many words may a size in parentheses have: "enlarged hilar (1.9 cm) and axillary nodes"."""
_PARTING: Final = frozenset({"with", "in", "on", "at", "for", "since", "of", "from"})
_BESIDE_IT: Final = frozenset(
    {"aorta", "aortic", "azygos", "pulmonary", "esophagus", "thyroid", "thymus"}
)
"""What else a label of the heart or mediastinum is said of."""
_LISTED: Final = (
    Part.COMMA | Part.AND | Part.OR | Part.COORDINATOR | Part.LUNG | Part.ELSEWHERE | Part.ASSERTING
)


class Mention(NamedTuple):
    """One pathology spoken about.

    `at` is the item that carries it for the scopes; `first` and `last` are tokens; `base` is the
    phrase the words themselves carry ("" for most), `cue_first`/`cue_last` the tokens saying so.
    """

    pathology: str
    at: int
    first: int
    last: int
    base: str = ""
    cue_first: int = 0
    cue_last: int = 0


class MentionFinder:
    """Finds the mentions of a clause."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._attributes = [entry.pathology for entry in vocabulary.grammar.attribute]
        self._leading = {entry.pathology for entry in vocabulary.grammar.split if entry.leads}
        self._grammar = vocabulary.grammar
        self._entries = {entry.name: entry for entry in vocabulary.entries}

    def find(
        self, items: Sequence[Item], sentence: Sequence[Item], tokens: Sequence[Token]
    ) -> list[Mention]:
        """Mentions of a clause in order.

        `sentence` are all items, for the place they speak of, behind those of the line's label.
        """
        found: list[Mention] = []
        seen = 0
        for at, item in enumerate(items):
            seen |= item.lexeme.parts
            if item.lexeme.parts & Part.MENTION:
                named = self._named(item, items, sentence, tokens)
                found += [Mention(name, at, item.first, item.last) for name in named]
        if seen & Part.SUBJECT and seen & Part.PREDICATE:
            found += self._attributed(items, sentence, tokens)
        if seen & Part.SPLIT_SUBJECT:
            titled = len(sentence) > 1 and sentence[1].lexeme.parts & Part.COLON
            found += self._split(items, tokens, sentence[0] if titled else items[0])
        return sorted(found, key=lambda mention: mention.first)

    def _named(
        self, item: Item, items: Sequence[Item], sentence: Sequence[Item], tokens: Sequence[Token]
    ) -> Iterator[str]:
        """Give what an item that names something is here: a finding, or nothing of the lung's."""
        behind = tokens[item.last].word if item.last < len(tokens) else ""
        measured = tokens[item.first].word == "cm" and _measured(item, tokens)
        if measured or behind in self._grammar.services:
            return
        resembles = _resembles(item, tokens)
        for name in item.lexeme.pathologies:
            meant = name if item.lexeme.placed else self._meant(name, (items, sentence), tokens)
            if meant and not (resembles and name not in self._grammar.shapes):
                yield meant

    def _meant(self, name: str, within: Sequence[Sequence[Item]], tokens: Sequence[Token]) -> str:
        """Return the pathology a word means where it stands; "" when it is none of the lung's."""
        entry = self._entries[name]
        if not entry.elsewhere:
            return name
        for items in within:
            groups: set[str] = set()
            lung = False
            for k, item in enumerate(items):
                parts = item.lexeme.parts
                lung = lung or bool(parts & Part.LUNG) or item.lexeme.placed
                alone = self._instead(items, k, tokens) or _denied_alone(items, k)
                if parts & Part.ELSEWHERE and not alone:
                    groups.update(item.lexeme.groups)
            there = [group for group in entry.elsewhere if group in groups]
            if lung:
                return name
            if there:
                return entry.elsewhere_is.get(there[0], "")
        return name

    def _instead(self, items: Sequence[Item], k: int, tokens: Sequence[Token]) -> bool:
        """Whether it is what the finding may be instead: "versus nipple", "could be cartilage"."""
        at = next((j for j in range(k - 1, -1, -1) if items[j].lexeme.cues), 0)
        cues, last = items[at].lexeme.cues, items[at].last
        if not last <= items[k].first < len(tokens):  # a label's words are of another sentence
            return False
        if at == k - 1 and any(cue.side == "around" for cue in cues):
            return True
        named = any(item.lexeme.parts & Part.MENTION for item in items[:at])
        between = {token.word for token in tokens[last : items[k].first]}
        ends = tokens[last - 1].word in self._grammar.transitive - {"in", "for", "with"}
        close = ends and named and between.isdisjoint(self._grammar.prepositions)
        return close and any(cue.kind == "hedge" and cue.side == "before" for cue in cues)

    def _attributed(
        self, items: Sequence[Item], sentence: Sequence[Item], tokens: Sequence[Token]
    ) -> list[Mention]:
        found = []
        for at, item in enumerate(items):
            for number in item.lexeme.subjects:
                alone = number in item.lexeme.absent
                told = None if alone else self._predicate(items, at, number, tokens)
                predicate = self._alone(at, number, sentence) if alone else told
                said = items[predicate or 0]
                absent = number in said.lexeme.absent
                if predicate is None or (absent and _denied(items, predicate)):
                    continue
                name, base = self._attributes[number], "absent" if absent else ""
                first, last = min(item.first, said.first), max(item.last, said.last)
                found.append(Mention(name, predicate, first, last, base, said.first, said.last))
        return found

    def _alone(self, at: int, number: int, sentence: Sequence[Item]) -> int | None:
        """Tell where subject and answer are one expression: "no filling defect".

        It states nothing in a sentence that names the pathology too, or another organ.
        """
        name = self._attributes[number]
        other = any(
            item.lexeme.parts & Part.ELSEWHERE or name in item.lexeme.pathologies
            for item in sentence
        )
        return None if other else at

    def _predicate(
        self, items: Sequence[Item], at: int, number: int, tokens: Sequence[Token]
    ) -> int | None:
        """Find what is said of a subject; None for nothing, or what states nothing ("blunted")."""
        found = self._before(items, at, number, tokens)
        if found is None:
            found = _after(items, at, number, tokens)
        return None if found is None or number in items[found].lexeme.silent else found

    def _before(
        self, items: Sequence[Item], at: int, number: int, tokens: Sequence[Token]
    ) -> int | None:
        """Find what is said of the subject right before it: "normal heart size"."""
        subject = items[at]
        for j in range(at - 1, -1, -1):
            between = tokens[items[j].last : subject.first]
            if len(between) <= _NEAR and _denies(items[j], number):
                return j
            apart = any(token.word in self._grammar.prepositions for token in between)
            if apart or len(between) > _NEAR or is_finite(items[j]):
                return None
            if _says(items[j], number):
                return j
            if items[j].lexeme.parts & (Part.COMMA | Part.SUBJECT):
                return None
        return None

    def _split(self, items: Sequence[Item], tokens: Sequence[Token], label: Item) -> list[Mention]:
        found = []
        for at, item in enumerate(items):
            if not item.lexeme.parts & Part.SPLIT_SUBJECT:
                continue
            ahead = items[at - 1] if at else None
            if not self._leading.isdisjoint(item.lexeme.splits):
                ahead = _ahead(items, at)
            if ahead is not None and _qualifies(ahead, item):
                found += [self._led(n, at, ahead, item, tokens) for n in item.lexeme.splits]
                continue
            found += self._labelled(items, at, label)
            for j in range(at + 1, len(items)):
                other = items[j]
                if other.lexeme.parts & Part.SPLIT_SUBJECT:
                    break
                if not other.lexeme.parts & Part.SPLIT_PROPERTY:
                    continue
                shared = [name for name in item.lexeme.splits if name in other.lexeme.splits]
                if not self._of_some(item, other, tokens):
                    found += [self._spread(name, at, item, other, tokens) for name in shared]
                break
        return found

    def _labelled(self, items: Sequence[Item], at: int, label: Item) -> list[Mention]:
        """Give a part named under its label: "Pleura: no thickening", "Pleura: … Thickening"."""
        item, before = items[at], items[at - 1]
        if label is items[0] and (
            at < 2 or before.last != item.first or before.lexeme.parts & Part.LUNG
        ):
            return []
        named = {*label.lexeme.splits} - self._leading
        return [Mention(n, at, *item[:2]) for n in item.lexeme.splits if n in named]

    def _led(self, name: str, at: int, ahead: Item, item: Item, tokens: Sequence[Token]) -> Mention:
        """Give the mention of a property in front: "not enlarged hilar nodes"."""
        if tokens[ahead.first].word in self._grammar.limiting:
            return Mention(name, at, ahead.first, item.last, "absent", ahead.first, ahead.last)
        return Mention(name, at, ahead.first, item.last)

    def _of_some(self, item: Item, other: Item, tokens: Sequence[Token]) -> bool:
        """Whether it is denied of some alone: "nodes, some of which do not reach …"."""
        words = [token.word for token in tokens[item.last : other.last]]
        return "of which" in " ".join(words) and not self._grammar.limiting.isdisjoint(words)

    def _spread(
        self, name: str, at: int, item: Item, other: Item, tokens: Sequence[Token]
    ) -> Mention:
        between = range(item.last, other.last)
        denied = next((k for k in between if tokens[k].word in self._grammar.limiting), 0)
        base = ("absent", denied, other.last) if denied else ()
        return Mention(name, at, item.first, other.last, *base)


def _measured(item: Item, tokens: Sequence[Token]) -> bool:
    """Whether "cm" is a unit behind a number: "NODULE OF 2 CM" names no cardiomegaly."""
    first = item.first
    return first > 0 and tokens[first - 1].word[-1].isdigit()


def _resembles(item: Item, tokens: Sequence[Token]) -> bool:
    """Whether the words only compare: "pneumonia-like", "a nodule-like opacity"."""
    behind = [token.word for token in tokens[item.last : item.last + 2]]
    return behind[:1] == ["like"] or behind == ["-", "like"]


def _denied_alone(items: Sequence[Item], k: int) -> bool:
    """Whether another organ is denied for itself: "no collapse and no bony destruction"."""
    behind = items[k + 1 : k + 2]
    named = any(i.lexeme.parts & Part.MENTION or i.lexeme.parts & Part.OR for i in behind)
    return k > 1 and denies(items[k - 1]) and items[k - 1].last == items[k].first and not named


def _says(item: Item, number: int) -> bool:
    said = item.lexeme
    return number in said.absent or number in said.present or number in said.silent


def _denies(item: Item, number: int) -> bool:
    """Whether the words deny the subject's pathology as a cue does: "no filling defect is seen"."""
    return bool(item.lexeme.parts & Part.CUE) and number in item.lexeme.absent


def _after(items: Sequence[Item], at: int, number: int, tokens: Sequence[Token]) -> int | None:
    """Find what is said of the subject behind it: "heart size and contours are normal"."""
    verb, comma = False, -1
    for j in range(at + 1, len(items)):
        item = items[j]
        verb = verb or is_finite(item)
        if item.lexeme.parts & Part.COMMA:
            comma, verb = j, False
        if number in item.lexeme.silent:
            return j
        if number in item.lexeme.absent:
            return None if _is_of_another(items, at, j, tokens) else j
        if number in item.lexeme.present and not _is_of_another(items, at, j, tokens):
            return j if comma < 0 or verb or _closes(items, j, tokens) else None
        if number in item.lexeme.subjects and verb:
            return None
    return None


def _is_of_another(items: Sequence[Item], at: int, j: int, tokens: Sequence[Token]) -> bool:
    """Whether a quality under a label is of a finding beside it: "Heart: effusion, small"."""
    labels = items[at + 1].lexeme.parts & Part.COLON or tokens[items[at].last - 1].word == ":"
    if not labels:
        return False
    if _leads(items, j, tokens):
        return True
    sized = tokens[items[j].first].word in {"small", "large", "big", "increased", "enlarged"}
    return sized and any(item.lexeme.parts & Part.MENTION for item in items[at + 2 : j])


def _leads(items: Sequence[Item], j: int, tokens: Sequence[Token]) -> bool:
    """Whether a quality stands before another thing: "Heart: Enlarged left hilar nodes"."""
    if tokens[items[j].last].word in _BESIDE_IT:
        return True
    for k in range(j + 1, len(items)):
        between = tokens[items[k - 1].last : items[k].first]
        if len(between) > 1 or any(t.word in _PARTING or not t.word.isalpha() for t in between):
            return False
        if items[k].lexeme.parts & (Part.MENTION | Part.SPLIT_SUBJECT | Part.ELSEWHERE):
            return True
        if not items[k].lexeme.parts & (Part.LUNG | Part.ASSERTING):
            return False
    return False


def _closes(items: Sequence[Item], j: int, tokens: Sequence[Token]) -> bool:
    """Whether nothing that a quality could qualify follows it."""
    last = items[j].last
    return last >= len(tokens) or not tokens[last].word.isalpha()


def _ahead(items: Sequence[Item], at: int) -> Item | None:
    """Give what leads a thing and its places: "enlarged hilar and axillary nodes"."""
    for j in range(at - 1, -1, -1):
        if items[j + 1].first - items[j].last > _MEASURED:
            return None
        parts = items[j].lexeme.parts
        if parts & Part.SPLIT_PROPERTY or not parts & _LISTED:
            return items[j]
    return None


def _qualifies(ahead: Item, subject: Item) -> bool:
    """Whether the property stands just before its thing: "enlarged subcarinal lymph node"."""
    shared = {*ahead.lexeme.splits} & {*subject.lexeme.splits}
    return bool(ahead.lexeme.parts & Part.SPLIT_PROPERTY and shared)


def _denied(items: Sequence[Item], at: int) -> bool:
    """Whether "not" stands right before the predicate."""
    before = items[max(at - 1, 0)]
    denies = any(cue.kind == "negation" for cue in before.lexeme.cues)
    return at > 0 and denies and items[at].first - before.last <= 1
