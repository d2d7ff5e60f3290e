"""Every word list as one tree of tokens, so that a report is scanned once, longest match first.

A node is a dict from the next token to the next node; the key `END` holds the lexeme that ends
there. One expression may play several parts ("bibasilar" places a statement in the lung and starts
a new assertion), so a lexeme carries all of them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from extraction.rules.tokens import uncontracted
from extraction.vocabulary import Vocabulary
from extraction.vocabulary.patterns import expand, plural
from extraction.vocabulary.schema import CueKind, CueSide

END: Final = ""
# The root's keys for the words that may stand inside a cue and for the other tenses of its verbs,
# and for the words that doubt, which have a tree of their own.
INSERTED, TENSES, DOUBTING = "\0inserted", "\0tenses", "\0doubting"
Node: TypeAlias = dict[str, Any]


class Tree(Node):
    """The first node, which knows every word of the tree."""

    def __init__(self) -> None:
        super().__init__()
        self.words: set[str] = set()


_BUILT: Final[dict[str, Tree]] = {}
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


@dataclass(slots=True)
class Lexeme:
    """All parts one expression plays; unless `loose`, only the `exact` spellings count."""

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


def build(vocabulary: Vocabulary) -> Tree:
    """Return the token tree of a vocabulary, built once per digest and never changed after.

    Raises
    ------
    VocabularyError
        If a pattern in the vocabulary is malformed.
    """
    known = _BUILT.get(vocabulary.digest)
    if known is not None:
        return known
    root = Tree()
    with _uncollected():
        _add_grammar(root, vocabulary)
        _add_cues(root, vocabulary)
        _add_answers(root, vocabulary)
        _add_pathologies(root, vocabulary)
        _even_out(root, vocabulary)
    if len(_BUILT) >= _KEPT:
        _BUILT.clear()
    _BUILT[vocabulary.digest] = root
    return root


@contextmanager
def _uncollected() -> Iterator[None]:
    """Look for no garbage until the end: the tree is there to stay, and looking takes longer."""
    looking = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looking:
            gc.enable()
            gc.collect()


def _lexeme(root: Tree, tokens: tuple[str, ...]) -> Lexeme:
    node: Node = root
    for token in tokens:
        following = node.get(token)
        if following is None:
            following = node[token] = {}
            root.words.add(token)
        node = following
    lexeme: Lexeme | None = node.get(END)
    if lexeme is None:
        lexeme = node[END] = Lexeme()
    return lexeme


def _each(
    root: Tree, patterns: Iterable[str], *, plurals: bool = False
) -> Iterable[tuple[tuple[str, ...], Lexeme]]:
    for pattern in patterns:
        exact = pattern.startswith("=")
        for said in expand(pattern[1:] if exact else pattern):
            tokens = _written_out(said)
            forms = {tokens, plural(tokens)} if plurals and not exact else (tokens,)
            for form in forms:
                lexeme = _lexeme(root, form)
                if exact:
                    shown = pattern[1:]
                    lexeme.exact += (shown, shown.upper()) if " " in shown else (shown,)
                else:
                    lexeme.loose = True
                yield form, lexeme


def _written_out(words: tuple[str, ...]) -> tuple[str, ...]:
    """Write contractions out, as the reader of tokens does."""
    if "'" not in words:
        return words
    said: tuple[str, ...] = ()
    for word in words:
        said = uncontracted((*said, word))
    return said


def _add_grammar(root: Tree, vocabulary: Vocabulary) -> None:
    grammar = vocabulary.grammar
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
        for _, lexeme in _each(root, patterns):
            lexeme.parts |= part
    for group, patterns in grammar.context.groups.items():
        for _, lexeme in _each(root, patterns):
            lexeme.parts |= Part.ELSEWHERE
            lexeme.groups += (group,)
    for name, patterns in grammar.referring.items():
        for _, lexeme in _each(root, patterns):
            lexeme.parts |= Part.MENTION
            lexeme.pathologies, lexeme.placed = (name,), True
    _add_statements(root, vocabulary)


def _add_statements(root: Tree, vocabulary: Vocabulary) -> None:
    grammar = vocabulary.grammar
    for number, attribute in enumerate(grammar.attribute):
        for _ in _each(root, attribute.not_subjects):
            pass  # an expression without a part: it only hides the shorter ones inside it
        for kind, part in _STATING:
            for _, lexeme in _each(root, getattr(attribute, kind)):
                lexeme.parts |= part
                setattr(lexeme, kind, (*getattr(lexeme, kind), number))
    for split in grammar.split:
        parts = ((split.subjects, Part.SPLIT_SUBJECT), (split.properties, Part.SPLIT_PROPERTY))
        for patterns, part in parts:
            for _, lexeme in _each(root, patterns):
                lexeme.parts |= part
                lexeme.splits += (split.pathology,)


def _add_cues(root: Tree, vocabulary: Vocabulary) -> None:
    finite = frozenset(vocabulary.grammar.finite)
    judging = vocabulary.grammar.judging
    for entry in vocabulary.cues:
        cue = Cue(entry.phrase or None, entry.kind, entry.side)
        for tokens, lexeme in _each(root, entry.words):
            lexeme.parts |= Part.CUE | (Part.COMMA if tokens[0] == "," else 0)
            lexeme.said = " ".join(tokens)
            if not any(other.side == cue.side for other in lexeme.cues):
                lexeme.cues += (cue,)
            if cue.phrase in {"likely", "possibly", "present"} and not judging.isdisjoint(tokens):
                lexeme.parts |= Part.JUDGING
            if lexeme.finite or tokens[0] == "to" or finite.isdisjoint(tokens):
                continue
            noun = "favor" in tokens and "in favor" in " ".join(tokens)
            lexeme.finite = not (noun and finite.isdisjoint(set(tokens) - {"favor"}))


def _add_answers(root: Tree, vocabulary: Vocabulary) -> None:
    """Make of every answer a cue that looks back to its question: "? not convincing ."."""
    grammar = vocabulary.grammar
    for phrase, patterns in grammar.answers.items():
        cue = Cue(phrase, _ANSWERING.get(phrase, "hedge"), "after")
        for tokens, _ in _each(Tree(), patterns):
            for mark in grammar.answered:
                lexeme = _lexeme(root, ("?", *tokens, mark))
                lexeme.parts, lexeme.cues, lexeme.loose = Part.CUE, (cue,), True
                lexeme.said, lexeme.answers = " ".join(tokens), True


_ANSWERING: Final[dict[str, CueKind]] = {
    "absent": "negation", "present": "assertion", "cannot exclude": "denial",
}  # fmt: skip


def _add_pathologies(root: Tree, vocabulary: Vocabulary) -> None:
    lung = {word for word in vocabulary.grammar.context.lung if word.isalpha()}
    for entry in vocabulary.entries:
        for tokens, lexeme in _each(root, entry.words, plurals=True):
            lexeme.parts |= Part.MENTION
            if entry.name not in lexeme.pathologies:
                lexeme.pathologies += (entry.name,)
            lexeme.placed = lexeme.placed or not lung.isdisjoint(tokens)
    for entry in vocabulary.entries:
        for _, lexeme in _each(root, entry.excludes, plurals=True):
            if entry.name in lexeme.pathologies:
                lexeme.pathologies = tuple(n for n in lexeme.pathologies if n != entry.name)


def _even_out(root: Node, vocabulary: Vocabulary) -> None:
    """Let each verb open what its like opens, and keep what may stand inside a cue.

    Branches are shared and not copied, so the tree does not grow.
    """
    for said, others in vocabulary.grammar.alike.items():
        node: Node = root
        for word in said.split():
            node[word] = node.get(word, {})
            node = node[word]
        for other in others:
            _share(node, root.get(other, {}), set())
    inserted = Tree()
    for _, lexeme in _each(inserted, vocabulary.grammar.inserted):
        lexeme.loose = True
    root[INSERTED], root[TENSES] = inserted, vocabulary.grammar.tenses
    root[DOUBTING] = _doubts(vocabulary)


def _doubts(vocabulary: Vocabulary) -> tuple[frozenset[str], Tree]:
    """Give the first words of what doubts, and its tree with what holds such words and does not."""
    tree = Tree()
    tree[INSERTED] = tree[TENSES] = {}
    for _, lexeme in _each(tree, vocabulary.grammar.doubting):
        lexeme.parts = Part.CUE
    first = frozenset(tree)
    for _ in _each(tree, vocabulary.grammar.assured):
        pass
    return first, tree


def _share(node: Node, other: Node, met: set[tuple[int, int]]) -> None:
    """Give a node the branches of another that it has not.

    Where two rows share each other's branches a node is met again below itself, and left then.
    """
    if (id(node), id(other)) in met:
        return
    met.add((id(node), id(other)))
    for word, branch in list(other.items()):
        if word == END or branch is node:
            continue
        own: Any = node.setdefault(word, branch)
        if own is not branch:
            if END in branch:
                own.setdefault(END, branch[END])
            _share(own, branch, met)
