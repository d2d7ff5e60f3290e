"""Every word list as one graph of tokens, so that a report is scanned once, longest match first.

The key `END` of a node (see `graph`) holds the lexeme that ends there. One expression may play
several parts ("bibasilar" places a statement in the lung and starts a new assertion), so a lexeme
carries all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from extraction.rules.graph import END, Merge, Node, Weaver
from extraction.vocabulary import Vocabulary
from extraction.vocabulary.schema import CueKind, CueSide

__all__ = [
    "DOUBTING",
    "END",
    "INSERTED",
    "TENSES",
    "Cue",
    "Lexeme",
    "Node",
    "Part",
    "Root",
    "build",
]

# The root's keys for the words that may stand inside a cue and for the other tenses of its verbs,
# and for the words that doubt, which have a graph of their own.
INSERTED, TENSES, DOUBTING = "\0inserted", "\0tenses", "\0doubting"


_Any = TypeVar("_Any")


class Root(Node):
    """The first node, which knows every word of the graph."""

    def __init__(self, branches: Node) -> None:
        super().__init__(branches)
        self.words = _words(branches)


_BUILT: Final[dict[str, Root]] = {}
_KEPT: Final = 4


class Part:
    """What an expression does in a sentence, as bits.

    Plain integers, because an enumeration's operators take a third of the engine's time.
    """

    (
        MENTION, CUE, BOUNDARY, COMPANION, OPENER, VERB, PRONOUN, ASSERTING, COORDINATOR,
        RECOMMENDING, SUBJECT, PREDICATE, LUNG, ELSEWHERE, SPLIT_SUBJECT, SPLIT_PROPERTY, COMMA,
        OPENING, CLOSING, OR, COLON, AND, PARTICIPLE, CAUSE, JUDGING, SIGN, CORRECTING,
    ) = (1 << bit for bit in range(27))  # fmt: skip


_STATING: Final = (
    ("subjects", Part.SUBJECT), ("absent", Part.PREDICATE), ("present", Part.PREDICATE),
    ("silent", Part.SIGN),
)  # fmt: skip
"""What the lists of an attribute make of their words."""


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue's meaning: canonical phrase (None: unmapped), kind, and the side it stands on."""

    phrase: str | None
    kind: CueKind
    side: CueSide


@dataclass(frozen=True, slots=True)
class Lexeme:
    """All parts one expression plays; unless `loose`, only the `exact` spellings count.

    ``said`` is the expression where the grammar asks for it by name, and the last word of one that
    ends in none.
    """

    parts: int = 0
    pathologies: tuple[str, ...] = ()
    placed: bool = False
    cues: tuple[Cue, ...] = ()
    subjects: tuple[int, ...] = ()
    absent: tuple[int, ...] = ()
    present: tuple[int, ...] = ()
    silent: tuple[int, ...] = ()
    groups: tuple[str, ...] = ()
    splits: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    loose: bool = False
    finite: bool = False
    answers: bool = False
    said: str = ""


_NO_PART: Final = Lexeme()


def build(vocabulary: Vocabulary) -> Root:
    """Return the token graph of a vocabulary, built once per digest and never changed after.

    Raises
    ------
    VocabularyError
        If a pattern in the vocabulary is malformed.
    """
    known = _BUILT.get(vocabulary.digest)
    if known is not None:
        return known
    lists = _Lists(vocabulary)
    for add in (lists.add_grammar, lists.add_cues, lists.add_answers, lists.add_pathologies):
        add()
    if len(_BUILT) >= _KEPT:
        _BUILT.clear()
    _BUILT[vocabulary.digest] = root = lists.root()
    return root


class _Way(NamedTuple):
    """What the tokens before a place tell of a cue that ends there.

    ``said`` is all of them while the grammar may still ask for them by name.
    """

    first: str = ""
    last: str = ""
    said: str | None = ""
    judges: bool = False
    finite: bool = False
    favors: bool = False
    in_favor: bool = False


class _Lists:
    """The word lists of a vocabulary, added to one graph one behind the other."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary, self._grammar = vocabulary, vocabulary.grammar
        self._weaver = Weaver()
        self._root: Node = {}
        named = *self._grammar.yielding, *self._grammar.awaiting, *self._grammar.weighing
        self._named = frozenset(named)
        self._begun = {said[:at] for said in named for at in range(len(said) + 1)}

    def add_grammar(self) -> None:
        grammar = self._grammar
        simple = (
            (grammar.boundaries, Part.BOUNDARY), (grammar.companions, Part.CAUSE),
            (("with", "w /"), Part.COMPANION), (grammar.causes, Part.CAUSE),
            (grammar.participles, Part.PARTICIPLE), (("and", "&"), Part.AND),
            (grammar.openers, Part.OPENER | Part.VERB), (grammar.verbs, Part.VERB),
            (grammar.pronouns, Part.PRONOUN), (grammar.asserting, Part.ASSERTING),
            (grammar.coordinators, Part.COORDINATOR), (grammar.recommending, Part.RECOMMENDING),
            (grammar.context.lung, Part.LUNG), ((",",), Part.COMMA), ((":",), Part.COLON),
            (("(",), Part.OPENING), ((")",), Part.CLOSING), (("or", "nor", "and / or"), Part.OR),
            ((";",), Part.BOUNDARY), (grammar.correcting, Part.BOUNDARY | Part.CORRECTING),
        )  # fmt: skip
        for patterns, part in simple:
            self._add(patterns, parts=part)
        for group, patterns in grammar.context.groups.items():
            self._add(patterns, parts=Part.ELSEWHERE, groups=(group,))
        for name, patterns in grammar.referring.items():
            self._add(patterns, parts=Part.MENTION, pathologies=(name,), placed=True)
        for number, attribute in enumerate(grammar.attribute):
            self._add(attribute.not_subjects)  # without a part it only hides shorter ones inside it
            for kind, part in _STATING:
                self._add(getattr(attribute, kind), parts=part, **{kind: (number,)})
        for split in grammar.split:
            self._add(split.subjects, parts=Part.SPLIT_SUBJECT, splits=(split.pathology,))
            self._add(split.properties, parts=Part.SPLIT_PROPERTY, splits=(split.pathology,))

    def add_cues(self) -> None:
        for entry in self._vocabulary.cues:
            cue = Cue(entry.phrase or None, entry.kind, entry.side)
            words = self._expressions(entry.words)
            self._join(self._weaver.told(words, _Way(), self._step, partial(self._cue, cue)))

    def add_answers(self) -> None:
        """Make of every answer a cue that looks back to its question: "? not convincing ."."""
        weaver = self._weaver
        for phrase, patterns in self._grammar.answers.items():
            cue = Cue(phrase, _ANSWERING.get(phrase, "hedge"), "after")
            answers = weaver.told(
                self._expressions(patterns), _Way(), self._step, partial(self._answer, cue)
            )
            self._join({"?": weaver.node(answers)}, _answered)

    def add_pathologies(self) -> None:
        """Name every pathology, then take from each the expressions that it excludes."""
        entries = self._vocabulary.entries
        lung = frozenset(word for word in self._grammar.context.lung if word.isalpha())

        def in_lung(way: str, word: str) -> str:
            return way or (word if word in lung else "")

        for entry in entries:
            words = self._expressions(entry.words, plurals=True)
            named = partial(_named, entry.name)
            self._join(self._weaver.told(words, "", in_lung, named))
        for entry in entries:
            words = self._expressions(entry.excludes, plurals=True)
            self._join(words, partial(_excluding, entry.name))

    def root(self) -> Root:
        """Let each verb open what its like opens, and keep what may stand inside a cue."""
        rows = [*self._grammar.alike.items()] * 2  # what is like one may be like others
        for said, others in rows:
            for other in others:
                first, *rest = said.split()
                like = self._root.get(other, {})
                self._root[first] = self._opened(self._root.get(first, {}), rest, like)
        root = Root(self._root)
        inserted = self._expressions(self._grammar.inserted)
        root[INSERTED], root[TENSES] = inserted, self._grammar.tenses
        root[DOUBTING] = self._doubts()
        return root

    def _opened(self, node: Node, said: list[str], like: Node) -> Node:
        """Give the branches of another to the node behind some words."""
        if not said:
            return self._weaver.joined(node, {w: n for w, n in like.items() if w != END}, _first)
        word, *rest = said
        opened = {word: self._opened(node.get(word, {}), rest, like)}
        return self._weaver.node(node | opened)

    def _doubts(self) -> tuple[frozenset[str], Root]:
        """Give the first words of what doubts, and it with what holds such words and does not."""
        doubts = self._expressions(self._grammar.doubting, Lexeme(Part.CUE))
        first = frozenset(doubts)
        self._weaver.add(doubts, self._expressions(self._grammar.assured), _both)
        root = Root(doubts)
        root[INSERTED] = root[TENSES] = {}
        return first, root

    def _add(self, patterns: Iterable[str], **told: Any) -> None:
        """Add a list whose every expression plays the same part."""
        self._join(self._expressions(patterns, Lexeme(**told)))

    def _join(self, words: Node, merge: Merge | None = None) -> None:
        self._weaver.add(self._root, words, merge or _both)

    def _expressions(
        self, patterns: Iterable[str], plain: Lexeme = _NO_PART, *, plurals: bool = False
    ) -> Node:
        """Give all that patterns stand for, as `plain` says, in any spelling or in their own."""
        whole: Node = {}
        for pattern in patterns:
            shown = pattern.removeprefix("=")
            loose = shown == pattern
            own = (shown, shown.upper()) if " " in shown else (shown,)
            lexeme = replace(plain, loose=loose, exact=() if loose else own)
            words = self._weaver.expressions(shown, lexeme, plurals=plurals and loose)
            self._weaver.add(whole, words, _both)
        return whole

    def _step(self, way: _Way, word: str) -> _Way:
        said = None if way.said is None else f"{way.said} {word}".lstrip()
        return _Way(
            way.first or (word if word in {",", "to"} else "other"),
            word if word in {"in", "none"} else "",
            said if said in self._begun else None,
            way.judges or word in self._grammar.judging,
            way.finite or (word in self._grammar.finite and word != "favor"),
            way.favors or word == "favor",
            way.in_favor or (word == "favor" and way.last == "in"),
        )

    def _cue(self, cue: Cue, way: _Way, lexeme: Lexeme) -> Node:
        judging = way.judges and cue.phrase in {"likely", "possibly", "present"}
        favors = "favor" in self._grammar.finite and way.favors and not way.in_favor
        cued = replace(
            lexeme,
            parts=Part.CUE | Part.COMMA * (way.first == ",") | Part.JUDGING * judging,
            cues=(cue,),
            finite=way.first != "to" and (way.finite or favors),
            said=self._said(way),
        )
        return {END: cued}

    def _answer(self, cue: Cue, way: _Way, lexeme: Lexeme) -> Node:
        answer = replace(lexeme, parts=Part.CUE, cues=(cue,), said=self._said(way), answers=True)
        ends = self._weaver.node({END: answer})
        return dict.fromkeys(self._grammar.answered, ends)

    def _said(self, way: _Way) -> str:
        if way.said in self._named:
            return way.said or ""
        return way.last if way.last == "none" else ""


_ANSWERING: Final[dict[str, CueKind]] = {
    "absent": "negation", "present": "assertion", "cannot exclude": "denial",
}  # fmt: skip


def _named(pathology: str, lung: str, lexeme: Lexeme) -> Node:
    named = replace(lexeme, parts=Part.MENTION, pathologies=(pathology,), placed=bool(lung))
    return {END: named}


def _both(one: Lexeme, other: Lexeme) -> Lexeme:
    """Make one lexeme of what two lists say of an expression; of each side the first cue counts."""
    sides = {cue.side for cue in one.cues}
    return Lexeme(
        parts=one.parts | other.parts,
        pathologies=_all(one.pathologies, other.pathologies),
        placed=one.placed or other.placed,
        cues=(*one.cues, *(cue for cue in other.cues if cue.side not in sides)),
        subjects=_all(one.subjects, other.subjects),
        absent=_all(one.absent, other.absent),
        present=_all(one.present, other.present),
        silent=_all(one.silent, other.silent),
        groups=_all(one.groups, other.groups),
        splits=_all(one.splits, other.splits),
        exact=_all(one.exact, other.exact),
        loose=one.loose or other.loose,
        finite=one.finite or other.finite,
        answers=one.answers or other.answers,
        said=other.said or one.said,
    )


def _all(one: tuple[_Any, ...], other: tuple[_Any, ...]) -> tuple[_Any, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def _answered(one: Lexeme, other: Lexeme) -> Lexeme:
    """Let an answer be nothing else."""
    alone = replace(one, parts=other.parts, cues=other.cues, said=other.said)
    return replace(alone, loose=True, answers=True)


def _excluding(name: str, one: Lexeme, other: Lexeme) -> Lexeme:
    """Take a pathology from an expression."""
    kept = tuple(each for each in one.pathologies if each != name)
    return _both(replace(one, pathologies=kept), other)


def _first(one: Lexeme, other: Lexeme) -> Lexeme:
    return one


def _words(root: Node) -> set[str]:
    """Give every token of a graph."""
    met, words, ahead = set[int](), set[str](), [root]
    while ahead:
        node = ahead.pop()
        if id(node) not in met:
            met.add(id(node))
            words.update(node)
            ahead += [branch for word, branch in node.items() if word != END]
    return words - {END}
