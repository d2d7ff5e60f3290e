"""How far a cue reaches that stands before what it governs, and where a place parts its scope.

A cue speaks of the finding, not of its place. A place is a preposition of `nesting`, words that
qualify, and the mention; with a definite article it is known to be there whatever stands before it,
without one only where another finding does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from extraction.rules.lexicon import Cue, Part
from extraction.rules.scan import GOVERNABLE, Clause, Item, Scope, denies, governs, is_finite
from extraction.rules.tokens import Token
from extraction.vocabulary.schema import GrammarFile

_WITHIN, _NEAR, _TOUCHING = 6, 5, 2
_BREAKS: Final = (
    Part.CUE | Part.COMMA | Part.COORDINATOR | Part.OR | Part.AND | Part.COMPANION | Part.VERB
)
_KINDS: Final = frozenset({"negation", "hedge", "denial"})
_ANYTHING: Final = frozenset(
    {"finding", "findings", "abnormality", "abnormalities", "lesion", "lesions"}
    | {"area", "areas", "process", "change", "changes"}
)
_OF: Final = frozenset({"of", "to", "from", "for", "with", "explain"})


def is_place(clause: Clause, j: int) -> bool:
    """Whether the mention at `j` says where the finding is that a cue speaks of."""
    items = clause.items
    before = items[j - 1] if j else None
    if before is not None and before.last == items[j].first and before.lexeme.parts & _BREAKS:
        return False
    first = _preposition(items[j].first, clause.tokens, clause.grammar)
    if first < 0 or _in_cue(items, j, first):
        return False
    return clause.tokens[first + 1].word in clause.grammar.definite or _heads(items, j, first)


def _belongs(clause: Clause, j: int, at: int) -> bool:
    """Whether only a part of the finding is denied: "no loculation of the effusion"."""
    tokens, grammar, items = clause.tokens, clause.grammar, clause.items
    k = items[j].first - 1
    while k > items[at].last and _qualifies(tokens[k].word, grammar) and items[j].first - k < _NEAR:
        if tokens[k].word in grammar.definite:
            named = tokens[items[at].last : k - 1]
            spoken = bool(named) and all(token.word.isalpha() for token in named)
            return spoken and tokens[k - 1].word in _OF and not _in_cue(items, j, k - 1)
        k -= 1
    return False


def _qualifies(word: str, grammar: GrammarFile) -> bool:
    return word.isalpha() and word not in grammar.prepositions


def _in_cue(items: list[Item], j: int, token: int) -> bool:
    """Whether a token belongs to a cue in front: "in keeping with old tuberculosis"."""
    over = (item for item in items[:j] if item.first <= token < item.last)
    return any(item.lexeme.parts & Part.CUE for item in over)


def without_places(clause: Clause, scope: Scope) -> Iterator[Scope]:
    """Give a scope in the pieces that its places leave of it."""
    first = scope.first
    if scope.cue.kind in _KINDS and scope.cue.phrase and scope.side != "around":
        for j in range(scope.first, scope.last):
            if clause.items[j].lexeme.parts & Part.MENTION and (
                is_place(clause, j)
                or (scope.cue.kind == "negation" and _belongs(clause, j, scope.at))
            ):
                yield scope._replace(first=first, last=j)
                first = j + 1
    yield scope if first == scope.first else scope._replace(first=first)


def _preposition(at: int, tokens: list[Token], grammar: GrammarFile) -> int:
    """Token of the preposition whose object starts or ends at `at`; -1 if there is none."""
    article = False
    k = at - 1
    while k >= max(at - _WITHIN, 0):
        word = tokens[k].word
        if word in grammar.nesting:
            return k
        if word == "of" and k and tokens[k - 1].word in grammar.regions:
            k -= 1
            article = False
        elif (
            article or not word.isalpha() or word in {"or", "nor"}
            or word in grammar.prepositions or word in grammar.finite
        ):  # fmt: skip
            return -1
        else:
            article = word in grammar.articles or word in grammar.definite
        k -= 1
    return -1


def _heads(items: list[Item], j: int, first: int) -> bool:
    """Whether a finding stands before the preposition with nothing that parts them."""
    ahead = (item.lexeme.parts for item in reversed(items[:j]) if item.first < first)
    return bool(next((p for p in ahead if p & (Part.MENTION | _BREAKS)), 0) & Part.MENTION)


_ADJECTIVAL: Final = ("ic", "al", "ous", "ive", "ant")
_SILENT: Final = frozenset({"ignore", "not evaluable"})
_THAT: Final = frozenset({"that", "whether"})
_PLACE: Final = Part.LUNG | Part.ELSEWHERE | Part.ASSERTING | Part.PRONOUN
DOUBTS: Final = frozenset({"unlikely", "very unlikely"})
_BESIDE: Final = frozenset({"associated", "accompanying", "adjacent", "resultant"})
_TOGETHER: Final = frozenset({"combination", "mixture", "mix", "sum"})
"""Behind one of these, within so many words, all that is joined is of one cue."""
_LEADING: Final = 3
_TELLING: Final = frozenset({"shows", "show", "showed", "demonstrates", "demonstrate", "reveals"})


def forward(clause: Clause, at: int, cue: Cue) -> Scope:
    """Scope of a cue that stands before what it governs.

    It ends at "with"; at a colon or "due to" once something is governed; at the next cue, unless
    a negation meets a hedge ("no … to suggest") or two hedges touch ("may be compatible with");
    and at a comma or "and" that opens a fresh assertion.
    """
    first = _behind_subject(clause, at, cue)
    return Scope(at, cue, first, _until(clause, at, first, cue), "before")


def _behind_subject(clause: Clause, at: int, cue: Cue) -> int:
    """Give where a scope begins: behind what is there whatever is thought of it.

    "I doubt the haze is edema", "differential for the opacity", "less likely, the views show".
    """
    items, tokens, grammar = clause.items, clause.tokens, clause.grammar
    last = items[at].last
    lead = next((t.word for t in tokens[last : last + 2] if t.word not in _THAT), "")
    opens = at == 0 and cue.kind == "hedge" and lead == ","
    listed = cue.phrase == "versus" and tokens[last - 1].word in {"for", "of"}
    stands = lead in grammar.definite and tokens[last - 1].word not in grammar.transitive - _THAT
    if cue.kind in _SILENT or not (opens or listed or stands):
        return at + 1
    rest = [k for k in range(at + 1 + opens, len(items)) if items[k].lexeme.parts & ~_PLACE]
    named = bool(rest) and bool(items[rest[0]].lexeme.parts & Part.MENTION)
    said = rest[named] if len(rest) > named and (named or opens) else at
    told = said > at and (not opens or governs(items, said, len(items)))
    parted = is_finite(items[said]) or items[said].lexeme.parts & Part.COLON
    return said if told and (parted or (listed and tokens[last - 1].word != "of")) else at + 1


def _until(clause: Clause, at: int, first: int, cue: Cue) -> int:
    """Position of the item that ends the scope, or the number of items."""
    items, tokens = clause.items, clause.tokens
    governed = closed = False
    ahead = [token.word for token in tokens[items[at].last : items[at].last + _LEADING]]
    joined = ahead[:1] == ["both"] or not _TOGETHER.isdisjoint(ahead)
    together = (joined and cue.kind == "hedge") or cue.phrase == "versus"
    for j in range(first, len(items)):
        parts = items[j].lexeme.parts
        ends = parts & Part.COMPANION or (governed and parts & (Part.COLON | Part.CAUSE))
        denies = cue.kind == "negation" and parts & Part.COMMA
        silent = cue.kind in _SILENT and parts & Part.COMMA
        if (
            (ends and not items[j - 1].lexeme.parts & Part.OR)
            or (not governed and parts & Part.CAUSE and _beyond(items, at, j, cue, tokens))
            or (not governed and parts & Part.COMMA and _missed(items, at, j, cue, tokens))
            or (cue.kind in _SILENT and tokens[items[j].first].word in _TELLING)
            or (governed and _list_closes(items, j, closed=closed))
            or ((denies or silent) and _speaks_anew(items, j))
            or (denies and _unlisted(clause, at, j))
            or (governed and not together and _opens_anew(items, j, cue))
            or (governed and not together and _leaves_aside(clause, at, j))
        ):
            return j
        closed = closed or (governed and bool(parts & (Part.PARTICIPLE | Part.VERB)))
        if parts & Part.CUE:
            until = Scope(max(at, first - 1), cue, first, j, "before")
            if _cue_ends(clause, until, governed=governed):
                return j
        governed = governed or bool(parts & GOVERNABLE)
    return len(items)


def _beyond(items: list[Item], at: int, j: int, cue: Cue, tokens: list[Token]) -> bool:
    """Whether a hedge had its object already: "suspicious for cancer with small effusion"."""
    over = {k for item in items[at + 1 : j] for k in range(item.first, item.last)}
    between = (k for k in range(items[at].last, items[j].first) if tokens[k].word.isalpha())
    ends = tokens[items[j].last - 1].word in _BESIDE or tokens[items[j].first].word == "with"
    ends = ends and not items[j - 1].lexeme.parts & Part.OR
    return cue.kind == "hedge" and ends and any(k not in over for k in between)


def _missed(items: list[Item], at: int, comma: int, cue: Cue, tokens: list[Token]) -> bool:
    """Whether a hedge already had its object, outside the vocabulary ("consistent with …, …")."""
    opens = items[at + 1].lexeme.parts & Part.COMMA and items[at + 1].first == items[at].last
    if cue.kind != "hedge" or cue.phrase == "versus" or opens:  # "may be, on the lateral, a nodule"
        return False
    between = [token.word for token in tokens[items[at].last : items[comma].first]]
    aside = (
        at > 0 and items[at - 1].lexeme.parts & Part.COMMA and items[at - 1].last == items[at].first
    )
    if aside and len(between) == 1 and between[0].endswith(_ADJECTIVAL):
        return True  # "nodules, most probably metastatic, adenopathy and effusion"
    joined = listed = False
    for item in items[comma + 1 :]:
        parts = item.lexeme.parts
        if (parts & Part.MENTION and joined) or (parts & Part.OR and listed):
            return False
        if parts & Part.CUE:
            break
        listed = listed or bool(parts & Part.MENTION)
        joined = bool(parts & (Part.OR | Part.AND)) or (joined and not parts & Part.COMMA)
    return True


def _leaves_aside(clause: Clause, at: int, comma: int) -> bool:
    """Whether what a hedge says in passing ends: "a nodule, possibly a granuloma, and a mass"."""
    items, tokens = clause.items, clause.tokens
    parts = [item.lexeme.parts for item in items]
    opens = at > 1 and parts[at - 1] & Part.COMMA and items[at - 1].last == items[at].first
    if not opens or any(each & Part.COMMA for each in parts[at:comma]):
        return False
    joint = next(iter(items[comma + 1 : comma + 2]), items[comma])
    joins = parts[comma] & Part.COMMA and joint.lexeme.parts & Part.AND
    behind = tokens[joint.last].word if joins and joint.last < len(tokens) else ""
    told = governs(items, 0, at - 1) or any(each & Part.VERB for each in parts[: at - 1])
    return told and behind in clause.grammar.articles


def _list_closes(items: list[Item], j: int, *, closed: bool) -> bool:
    """Whether a comma or "and" ends what is governed: behind a verb, or before a new statement."""
    parts = items[j].lexeme.parts
    comma, joins = parts & Part.COMMA, parts & Part.AND
    if (comma and _speaks_anew(items, j)) or (joins and _tells_anew(items, j)):
        return True
    return closed and bool(comma | joins) and not _or_later(items, j)


def _speaks_anew(items: list[Item], comma: int) -> bool:
    """Whether a statement of its own follows: "no edema, heart enlarged", "…, effusions are small".

    A verb that only closes a list opens none ("no infiltrate, effusion is seen").
    """
    following = items[comma + 1 : comma + 4]
    if len(following) < 2:
        return False
    subject, said = following[0].lexeme.parts, following[1]
    touches = said.first == following[0].last
    if subject & Part.SUBJECT and said.lexeme.parts & Part.PREDICATE:
        return True
    if not (subject & (Part.MENTION | Part.SUBJECT) and touches):
        return False
    behind = following[2].lexeme.parts if len(following) > 2 else 0
    closes = len(following) < 3 or bool(behind & (Part.COMMA | Part.LUNG))
    if said.lexeme.parts & Part.CUE and (said.lexeme.finite or closes):
        return all(cue.kind == "hedge" for cue in said.lexeme.cues)  # "…, pneumonia possible"
    if said.lexeme.parts & Part.ASSERTING:  # "…, effusions unchanged"
        return len(following) < 3 or bool(behind & (Part.COMMA | Part.AND))
    return bool(said.lexeme.parts & Part.VERB) and not behind & (Part.PARTICIPLE | Part.CUE)


def _tells_anew(items: list[Item], joint: int) -> bool:
    """Whether a known thing and its verb follow an "and": "no edema and the heart is enlarged"."""
    following = items[joint + 1 : joint + 3]
    if len(following) < 2:
        return False
    thing, said = following
    if not thing.lexeme.parts & (Part.MENTION | Part.SUBJECT) or said.first != thing.last:
        return False
    if said.lexeme.parts & Part.CUE:  # "no edema and pneumonia is unlikely"
        return said.lexeme.finite and all(cue.kind == "hedge" for cue in said.lexeme.cues)
    return thing.first > items[joint].last and bool(said.lexeme.parts & Part.VERB)


def _unlisted(clause: Clause, at: int, comma: int) -> bool:
    """Whether a denied list ends at a comma without an "or" behind it.

    Behind it are a size, an article or a quality ("nil effusion, 6 mm nodule"), what nobody denies
    in passing ("no effusion, cardiomegaly"), or the first that is not denied anew.
    """
    items, grammar = clause.items, clause.grammar
    rest, first = items[comma + 1 :], items[comma].first
    if _or_later(items, comma) or any(item.lexeme.parts & Part.PARTICIPLE for item in rest):
        return False
    ends = (k for k, item in enumerate(rest) if item.lexeme.parts & Part.COMMA)
    told = rest[: next(ends, len(rest))]
    if not told or items[at].last == first or clause.tokens[first - 1].word in grammar.unending:
        return False
    word = clause.tokens[
        rest[0].last if rest[0].lexeme.parts & Part.AND else items[comma].last
    ].word
    if word == clause.tokens[items[at].last - 1].word:
        return False  # "free of consolidation, of edema, and of emphysema"
    if word[0].isdigit() or word in grammar.articles:
        return True
    renewed = at > 0 and items[at - 1].lexeme.parts & Part.COMMA and any(map(denies, items[:at]))
    if renewed or any(item.lexeme.parts & Part.ASSERTING for item in told):
        return True
    denied = {name for item in items[at:comma] for name in item.lexeme.pathologies}
    named = [name for item in told for name in item.lexeme.pathologies][:1]
    return denied.isdisjoint(grammar.undenied) and not grammar.undenied.isdisjoint(named)


def _opens_anew(items: list[Item], j: int, cue: Cue) -> bool:
    parts = items[j].lexeme.parts
    before = items[j - 1].lexeme.parts
    if parts & Part.ASSERTING and before & (Part.COMMA | Part.COORDINATOR):
        return not before & Part.OR and not _or_later(items, j)
    return cue.kind in _SILENT and bool(parts & Part.COMMA) and not _or_later(items, j)


def _cue_ends(clause: Clause, until: Scope, *, governed: bool) -> bool:
    """Whether the cue at the end of a scope keeps it from reaching any further."""
    items, at, cue, j = clause.items, until.at, until.cue, until.last
    following = {other.side: other for other in items[j].lexeme.cues}
    other = following.get("before") or following.get("either")
    if other is None or ("after" in following and governed):
        return False
    if cue.kind != "negation":
        return (
            governed
            or cue.kind == "assertion"  # "not clearly seen on the lateral, could be edema"
            or cue.phrase is None
            or other.kind in {"negation", "ignore", "not evaluable"}
            or other.phrase in DOUBTS
            or items[j].first - items[at].last > _TOUCHING
        )
    if other.kind != "hedge":
        return True
    if clause.tokens[items[j].first].word == "to":  # "no defect, down to the bases, to suggest PE"
        return False
    before = items[j - 1].lexeme.parts
    separated = before & Part.COMMA or (before & Part.COORDINATOR and not before & Part.OR)
    qualifies = (
        clause.tokens[items[j].last - 1].word in clause.grammar.transitive
        or other.phrase == "suspicious for"
    )
    if before & Part.COMMA and not governed:
        return _is_of_nobody(clause, at, j - 1, qualifies=qualifies)
    if before & Part.COMMA and items[j].lexeme.finite and governs(items, 0, at):
        return True  # "an opacity without effusion, may represent pneumonia"
    if governed and before & Part.AND and clause.tokens[items[at].last - 1].word == "against":
        return True  # "arguing against pneumonia and in favor of atelectasis"
    return bool(governed and separated and not qualifies)


def _is_of_nobody(clause: Clause, at: int, comma: int, *, qualifies: bool) -> bool:
    """Whether a comma ends what is denied, which has no name of ours: "no cavity, likely edema".

    What `qualifies` may still be of a thing of no kind: "no finding, suspicious for edema".
    """
    words = [t.word for t in clause.tokens[clause.items[at].last : clause.items[comma].first]]
    named = [word for word in words if word.isalpha()]
    return bool(named) and not (qualifies and named[-1] in _ANYTHING)


def _or_later(items: list[Item], j: int) -> bool:
    for item in items[j:]:
        either = item.lexeme.parts & Part.OR
        if either or any(cue.side != "after" for cue in item.lexeme.cues):
            return bool(either)
    return False


def absorbed_until(items: list[Item], scope: Scope) -> int:
    """Position of the last cue swallowed by a touching hedge before it ("likely represents")."""
    last = scope.at
    if scope.cue.kind == "negation" or scope.cue.phrase is None:
        return last
    for j in range(scope.first, scope.last):
        parts = items[j].lexeme.parts
        if parts & (GOVERNABLE | Part.COMMA):
            break
        if any(cue.side in {"before", "either"} for cue in items[j].lexeme.cues):
            last = j
    return last
