"""Expressions as a graph of tokens, in which what goes on alike is one.

A node is a dict from the next token to the next node; the key `END` holds what ends there. The half
million expressions of the shipped vocabulary are some hundred times fewer nodes than as a tree
(a directed acyclic word graph: Blumer et al. 1985). Nodes are shared, so none is changed once made.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import reduce
from typing import Any, Final, TypeAlias, TypeVar

from extraction.rules.tokens import uncontracted
from extraction.vocabulary.patterns import Pattern, parsed, plural

END: Final = ""
Node: TypeAlias = dict[str, Any]
Merge: TypeAlias = Callable[[Any, Any], Any]
_Way = TypeVar("_Way", bound=Hashable)
_CONTRACTED: Final = "'", "t"


class Weaver:
    """Makes nodes, each of which is there once."""

    def __init__(self) -> None:
        self._nodes: dict[frozenset[tuple[str, int]], Node] = {}
        self._ends: dict[Any, Any] = {}

    def node(self, branches: Node) -> Node:
        """Give the one node of these branches."""
        if END in branches:
            branches[END] = self._ends.setdefault(branches[END], branches[END])
        key = frozenset((word, id(branch)) for word, branch in branches.items())
        return self._nodes.setdefault(key, branches)

    def expressions(self, pattern: str, end: Hashable, *, plurals: bool = False) -> Node:
        """Give all that a pattern stands for, contractions written out, with plurals or not.

        It is a first node, and none of the graph's.
        """
        node = self._sequence(parsed(pattern), self.node({END: end}))
        node = self._respelt(node, _written_out) if "'" in pattern else node
        node = self._respelt(node, _with_plurals) if plurals else node
        return {word: branch for word, branch in node.items() if word != END}

    def joined(self, one: Node, other: Node, merge: Merge) -> Node:
        """Give a node with the branches of both; `merge` makes one of what ends there in both."""
        known: dict[tuple[int, int], Node] = {}

        def join(one: Node, other: Node) -> Node:
            key = id(one), id(other)
            if one is other:
                return one
            if key not in known:
                branches = one | other
                for word in one.keys() & other.keys():
                    join_ = merge if word == END else join
                    branches[word] = join_(one[word], other[word])
                known[key] = self.node(branches)
            return known[key]

        return join(one, other)

    def add(self, whole: Node, node: Node, merge: Merge) -> None:
        """Add branches to a first node, which is none of the graph's yet and grows in place."""
        for word, branch in node.items():
            whole[word] = self.joined(whole.get(word, {}), branch, merge)

    def told(
        self,
        node: Node,
        way: _Way,
        step: Callable[[_Way, str], _Way],
        end: Callable[[_Way, Any], Node],
    ) -> Node:
        """Let each end tell of the tokens on the way to it, in a new first node.

        Parameters
        ----------
        way
            What is known before the first token.
        step
            Gives what is known behind a token.
        end
            Gives the branches that take the place of an end.
        """
        known: dict[tuple[int, _Way], Node] = {}

        def walk(node: Node, way: _Way) -> Node:
            key = id(node), way
            if key not in known:
                further = {w: walk(branch, step(way, w)) for w, branch in node.items() if w != END}
                ends = end(way, node[END]) if END in node else {}
                known[key] = self.joined(self.node(further), self.node(ends), _same)
            return known[key]

        return {word: walk(branch, step(way, word)) for word, branch in node.items()}

    def _sequence(self, pattern: Pattern, rest: Node) -> Node:
        for piece in reversed(pattern):
            if isinstance(piece, str):
                rest = self.node({piece: rest})
            else:
                options = (self._sequence(option, rest) for option in piece)
                rest = reduce(lambda one, other: self.joined(one, other, _same), options)
        return rest

    def _respelt(self, node: Node, respell: _Respell) -> Node:
        """Give a graph with every token, and what goes on behind it, as told."""
        known: dict[int, Node] = {}

        def walk(node: Node) -> Node:
            if id(node) not in known:
                branches: Node = {END: node[END]} if END in node else {}
                for word, branch in node.items():
                    for form, rest in respell(self, word, branch, walk) if word != END else ():
                        branches[form] = self.joined(branches.get(form, {}), rest, _same)
                known[id(node)] = self.node(branches)
            return known[id(node)]

        return walk(node)


_Walk: TypeAlias = Callable[[Node], Node]
_Respell: TypeAlias = Callable[[Weaver, str, Node, _Walk], Iterator[tuple[str, Node]]]


def _written_out(
    weaver: Weaver, word: str, branch: Node, walk: _Walk
) -> Iterator[tuple[str, Node]]:
    """Write contractions out, as the reader of tokens does."""
    short = uncontracted((word, *_CONTRACTED))
    mark, end = _CONTRACTED
    rest = branch.get(mark, {}).get(end) if len(short) < len((word, *_CONTRACTED)) else None
    if rest is None:
        yield word, walk(branch)
        return
    verb, denial = short
    yield verb, weaver.node({denial: walk(rest)})
    others = {each: after for each, after in branch[mark].items() if each != end}
    kept = {each: after for each, after in branch.items() if each != mark}
    if others or kept:
        yield word, walk(weaver.node(kept | ({mark: weaver.node(others)} if others else {})))


def _with_plurals(
    weaver: Weaver, word: str, branch: Node, walk: _Walk
) -> Iterator[tuple[str, Node]]:
    """Put the last word of every expression in the plural too."""
    yield word, walk(branch)
    if END in branch:
        (form,) = plural((word,))
        yield form, weaver.node({END: branch[END]})


def _same(one: Any, other: Any) -> Any:
    """Let the first end stay: within a pattern all are one."""
    return one
