"""The rule engine: text → sections → sentences → clauses → decisions → findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Final, NamedTuple, TypeVar

from extraction.finding import (
    UNREADABLE,
    Explanation,
    Extracted,
    Failed,
    Finding,
    Modality,
    NothingStated,
    Outcome,
)
from extraction.report import FINDINGS, Place, SectionReader, own_words
from extraction.rules.clauses import clauses
from extraction.rules.decide import Decision, carry_back, decide, settled
from extraction.rules.doubts import guarded
from extraction.rules.ellipsis import completed, corrected, with_stand_ins
from extraction.rules.lexicon import Part, Root, build
from extraction.rules.mentions import MentionFinder
from extraction.rules.runon import at_capitals, is_run_on, opens_within, pieces
from extraction.rules.scan import Clause, Item, is_finite, scan
from extraction.rules.sentences import split
from extraction.rules.tokens import Spelling, Token, TokenReader
from extraction.vocabulary import Vocabulary, load
from extraction.vocabulary.patterns import expand

# Raised whenever the rules change what any report yields.
REVISION: Final = "26"

_BATCH: Final = 256
# A mark of correction is of so many words at most.
_MARKED: Final = 4
_APART: Final = frozenset({",", ";", ":", "and", "or", "with"})
Read = TypeVar("Read")


class Spoken(NamedTuple):
    """A pathology that a sentence speaks of, whether or not it states anything about it.

    `section` is where the sentence stands;
    `start` and `end` are the sentence, `mention_start` and `mention_end` the words that name the
    pathology; `states` is False for a question, a history, a recommendation or what could not be
    judged; `phrase` is the certainty, None where a cue maps to none or nothing is stated.
    """

    section: str
    start: int
    end: int
    pathology: str
    mention_start: int
    mention_end: int
    states: bool
    phrase: str | None


class RuleEngine:
    """Reads findings by rules alone: no model, no weights, and every finding explains itself.

    Parameters
    ----------
    vocabulary
        Words to use; None for the shipped ones.

    Examples
    --------
    >>> outcome, = RuleEngine().extract(["No effusion. Possible pneumonia."], modality="XR")
    >>> [(f.pathology, f.phrase) for f in outcome.findings]
    [('pleural effusion', 'absent'), ('pneumonia', 'possibly')]
    """

    name = "rules"

    def __init__(self, vocabulary: Vocabulary | None = None) -> None:
        self.vocabulary = vocabulary or load()
        self.version = f"{REVISION}+{self.vocabulary.digest}"
        self._sections = SectionReader(self.vocabulary)
        self._mentions = MentionFinder(self.vocabulary)

    # Made when first read by: most processes of a run ask an engine only for its name.
    @cached_property
    def _root(self) -> Root:
        return build(self.vocabulary)

    @cached_property
    def _correcting(self) -> tuple[tuple[str, ...], ...]:
        patterns = self.vocabulary.grammar.correcting
        return tuple({said for each in patterns for said in expand(each) if said[0] != ","})

    @cached_property
    def _reader(self) -> TokenReader:
        return TokenReader(lambda: Spelling(self.vocabulary.grammar.spelling, self._root.words))

    def extract(self, texts: Sequence[str], *, modality: Modality) -> list[Outcome]:
        """Read reports; see `extraction.finding.Engine.extract`."""
        del modality  # one grammar reads both: the hedges of both are in the vocabulary
        return list(self._each(texts, self._outcome))

    def sentences(self, text: str) -> list[Place]:
        """Give the place of every sentence of a report that is read."""
        clean = own_words(text)
        with self._reader.session():
            return [
                Place(section.section, tokens[0].start, tokens[-1].end)
                for section in self._sections.read(clean)
                for tokens in split(
                    self._reader.read(clean[section.start : section.end], offset=section.start),
                    clean,
                    self.vocabulary.grammar,
                )
            ]

    def spoken(self, texts: Sequence[str]) -> list[list[Spoken]]:
        """Give all that the sentences of each report speak of, in reading order."""
        return list(self._each(texts, lambda text: list(self._spoken(text))))

    def _each(self, texts: Sequence[str], read: Callable[[str], Read]) -> Iterator[Read]:
        for start in range(0, len(texts), _BATCH):
            with self._reader.session():
                yield from map(read, texts[start : start + _BATCH])

    def _spoken(self, text: str) -> Iterator[Spoken]:
        clean = own_words(text)
        for section in self._sections.read(clean):
            for tokens, decisions in self._sentences(clean, section):
                for decision in decisions:
                    named, states = decision.mention, decision.states
                    where = section.section, tokens[0].start, tokens[-1].end, named.pathology
                    phrase = decision.cue.phrase if states else None
                    at = _span(tokens, named.first, named.last)
                    yield Spoken(*where, *at, states, phrase)

    def _outcome(self, text: object) -> Outcome:
        try:
            return self._read(text)
        except UNREADABLE:
            return Failed("engine error")

    def _read(self, text: object) -> Outcome:
        opened = self._sections.opened(text)
        if isinstance(opened, Failed):
            return opened
        clean, sections = opened
        findings: list[Finding] = []
        not_evaluable: set[str] = set()
        corrects = told = False
        for section in sections:
            for tokens, decisions in self._sentences(clean, section):
                stating = [each for each in decisions if each.states]
                said = [_finding(section.section, str(text), tokens, d) for d in stating]
                opens = tuple(token.word for token in tokens[:_MARKED])
                begun = any(opens[: len(mark)] == mark for mark in self._correcting)
                corrects = begun or (corrects and not told)
                told = bool(decisions)
                above = clean[: tokens[0].start if corrects else section.start]
                if section.amends or corrects:
                    sides = self._sides(tokens)
                    findings = _amended(findings, said, above, sides, corrects=corrects)
                findings += said
                unseen = [d for d in decisions if d.rule == "not evaluable" and not d.states]
                not_evaluable.update(each.mention.pathology for each in unseen)
        if findings:
            return Extracted(tuple(findings), frozenset(not_evaluable))
        return NothingStated(frozenset(not_evaluable))

    def _sides(self, tokens: Sequence[Token]) -> frozenset[str]:
        return self.vocabulary.grammar.sides.intersection(token.word for token in tokens)

    def _sentences(self, text: str, section: Place) -> Iterator[tuple[list[Token], list[Decision]]]:
        grammar = self.vocabulary.grammar
        tokens = self._reader.read(text[section.start : section.end], offset=section.start)
        # Where no capital tells, "no pe" is read as "no PE"; "cm" stays a unit.
        raised = text.upper().replace(" CM", " cm") if text.islower() else text
        shown = raised if len(raised) == len(text) else text
        label, told = list[Item](), section.start
        before: tuple[list[Decision], list[Token]] = [], []
        for whole in split(tokens, text, grammar):
            items = scan(whole, self._root, shown)
            label = label if text.find("\n", told, whole[0].start) < 0 else []
            above = label if self._holds(label, items, whole) else []
            label, told = above or _label(items), whole[-1].end
            within_it = opens_within(whole, text)
            for sentence in at_capitals(whole, items, text, grammar) if within_it else [whole]:
                said = items if sentence is whole else scan(sentence, self._root, shown)
                run_on = is_run_on(sentence)
                for piece in pieces(sentence, said, grammar) if run_on else [sentence]:
                    within = said if piece is sentence else scan(piece, self._root, shown)
                    within = with_stand_ins(within, piece, grammar, before)
                    before = self._decisions(within, piece, above), piece
                    yield piece, before[0]

    def _holds(self, label: list[Item], items: list[Item], tokens: Sequence[Token]) -> bool:
        """Whether a line's label holds for a sentence: no heart sac has a left effusion.

        What is named in place of a label may be one's finding: "Pleura: … Thickening: none."
        """
        if not label:
            return False
        within = {*label[0].lexeme.splits}
        if any(item.lexeme.parts & Part.COLON for item in items[:2]):
            named = items[0].lexeme
            return bool(named.parts & Part.MENTION or within & {*named.splits})
        return bool(within) or not self._sides(tokens)

    def _is_of_another(self, clause: Clause) -> bool:
        """Whether a clause has a subject that has no name of ours: "malignancy is less likely"."""
        verb = next((item.first for item in clause.items if is_finite(item)), clause.first)
        words = [token.word for token in clause.tokens[clause.first : verb]]
        return any(word.isalpha() and word not in self.vocabulary.grammar.fillers for word in words)

    def _decisions(
        self, items: list[Item], tokens: list[Token], label: list[Item]
    ) -> list[Decision]:
        decisions: list[Decision] = []
        previous: list[Decision] = []
        parted = False
        for clause in clauses(items, tokens, self.vocabulary.grammar):
            mentions = self._mentions.find(clause.items, [*label, *items], tokens)
            found, dangling = decide(clause, mentions)
            told = previous if not clause.aside else _beside(decisions, clause)
            if (
                dangling is not None
                and told
                and not (parted and clause.items[dangling.at].first == clause.first)
            ):  # "malignancy is likely but not proven"
                first = decisions.index(told[0])
                decisions[first : first + len(told)] = carry_back(told, clause, dangling)
            if clause.aside and mentions and mentions[0].at == 0:
                found = _in_apposition(found, decisions)
            decisions += found
            if mentions and not clause.aside:
                previous = found
            parted = not clause.aside and not mentions and self._is_of_another(clause)
        grammar = self.vocabulary.grammar
        said = corrected(completed(decisions, tokens, grammar), items, tokens, grammar)
        said = settled(said, tokens, grammar)
        return guarded(said, items, tokens, self._root, grammar)


def _label(items: list[Item]) -> list[Item]:
    """Give a line's label, under which its sentences stand: "Pleura: no effusion. …"."""
    return items[:2] if len(items) > 1 and items[1].lexeme.parts & Part.COLON else []


def _amended(
    findings: list[Finding],
    said: list[Finding],
    above: str,
    sides: frozenset[str],
    *,
    corrects: bool,
) -> list[Finding]:
    """Make findings of what an impression said of what an addendum below it says anew.

    What an addendum says of one side, it says only to what was said of that side. What a
    correction says anew was not meant ("Scratch that, no effusion").
    """
    anew, kept = {each.pathology for each in said}, list[Finding]()
    for each in findings:
        told = above[each.start : each.end].lower().replace(".", " ").split()
        same = each.pathology in anew and each.end <= len(above) and sides.issubset(told)
        if not same:
            kept.append(each)
        elif not corrects:
            kept.append(replace(each, section=FINDINGS))
    return kept


def _beside(decisions: list[Decision], aside: Clause) -> list[Decision]:
    """Give what a cue alone in parentheses speaks of: "a small left effusion (possible)"."""
    item, opens = aside.items[0], aside.items[0].first - 1
    if [aside.tokens[opens].word, *(t.word for t in aside.tokens[item.last : item.last + 1])] != [
        "(",
        ")",
    ]:
        return []
    ends = [said.mention.last for said in decisions if said.mention.last <= opens]
    near = [said for said in decisions if ends and said.mention.last == max(ends)]
    apart = any(t.word in _APART for t in aside.tokens[max(ends, default=0) : opens])
    return [] if apart else near


def _in_apposition(aside: list[Decision], before: list[Decision]) -> list[Decision]:
    """Let a bare name in parentheses share the certainty of the name it follows: "(PJP)"."""
    first = aside[0].mention.first - 1
    host = next((said for said in before if said.mention.last == first), None)
    if host is None or host.mention.base or any(s.rule != "plain assertion" for s in aside):
        return aside
    return [
        host._replace(mention=m, scope_last=max(host.scope_last, m.last), rule="in apposition")
        for m in (said.mention for said in aside)
    ]


def _finding(section: str, text: str, tokens: list[Token], decision: Decision) -> Finding:
    cue = _span(tokens, decision.cue_first, decision.cue_last)
    scope = _span(tokens, decision.scope_first, decision.scope_last)
    mention = _span(tokens, decision.mention.first, decision.mention.last)
    said = decision.mention.pathology, text[slice(*cue)], decision.cue.phrase
    why = Explanation(*mention, *cue, *scope, decision.rule)
    return Finding(section, tokens[0].start, tokens[-1].end, *said, why)


def _span(tokens: list[Token], first: int, last: int) -> tuple[int, int]:
    start = tokens[min(first, len(tokens) - 1)].start
    return start, (tokens[last - 1].end if last > first else start)
