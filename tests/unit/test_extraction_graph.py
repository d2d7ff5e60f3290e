"""The graph of expressions: all that the patterns stand for, each branch once."""

from collections.abc import Iterator

import pytest

from extraction.rules.graph import END, Node, Weaver
from extraction.rules.lexicon import DOUBTING, INSERTED, TENSES, build
from extraction.rules.tokens import uncontracted
from extraction.vocabulary import load
from extraction.vocabulary.patterns import expand, plural


def ways(node: Node) -> Iterator[tuple[str, ...]]:
    for word, branch in node.items():
        if word == END:
            yield ()
        else:
            yield from ((word, *rest) for rest in ways(branch))


def written_out(words: tuple[str, ...]) -> tuple[str, ...]:
    said: tuple[str, ...] = ()
    for word in words:
        said = uncontracted((*said, word))
    return said


@pytest.mark.parametrize("plurals", [False, True])
@pytest.mark.parametrize(
    "pattern",
    [
        "no [definite] {sign|evidence [at all]} of",
        "{is|are|isn't|can't|can} [really|at all] {seen|be seen}",
        "it {won't|will} {do|don't|doesn't matter}",
        "{opacity|opacities} [{in|of} the lung]",
        "[a|b] [a|b] [a|b]",
    ],
)
def test_a_graph_holds_what_its_pattern_stands_for(pattern: str, *, plurals: bool) -> None:
    said = {written_out(each) for each in expand(pattern)}
    said |= {plural(each) for each in said} if plurals else set()
    assert set(ways(Weaver().expressions(pattern, "end", plurals=plurals))) == said


def test_every_cue_of_the_vocabulary_is_in_its_graph() -> None:
    root = build(load())
    for entry in load().cues:
        for pattern in entry.words[::5]:
            for said in map(written_out, expand(pattern.removeprefix("="))[::7]):
                node: Node = root
                for word in said:
                    node = node[word]
                assert any(cue.side == entry.side for cue in node[END].cues), said


def test_what_goes_on_alike_is_one_node() -> None:
    node = Weaver().expressions("{may|might} [also] {represent|reflect} this", "end")
    assert node["may"] is node["might"]
    assert node["may"]["represent"] is node["may"]["also"]["reflect"]
    met: dict[int, Node] = {}

    def walk(node: Node) -> None:
        if id(node) not in met:
            met[id(node)] = node
            for word, branch in node.items():
                if word not in {END, INSERTED, TENSES, DOUBTING}:
                    walk(branch)

    walk(build(load()))
    alike = {frozenset((word, id(branch)) for word, branch in n.items()) for n in met.values()}
    assert len(alike) == len(met) < 20_000


def test_joining_changes_neither() -> None:
    weaver = Weaver()
    one, other = (weaver.node(weaver.expressions(p, p)) for p in ("may be", "may [well] do"))
    both = weaver.joined(one, other, lambda a, _: a)
    assert set(ways(both)) == {*ways(one), *ways(other)} == {*map(tuple, map(str.split, SAID))}
    assert set(ways(one)) == {("may", "be")}


SAID = ("may be", "may do", "may well do")
