"""How names are spelt: the characters, the tokens, and how far a name goes from where it begins.

Capitals and small letters of Latin-1, Latin Extended-A/B and Additional count, and combining
accents, so that Szczepański, Åse and Nguyễn are names like any other. Whether a word is spelt as
names are, whatever the lists say, a linear model over its runs of letters tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from pipeline.names.lexicon import Lexicon


def _letters(*, upper: bool) -> str:
    wanted = map(chr, (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)))
    return "".join(c for c in wanted if (c.isupper() if upper else c.islower()))


UPPER: Final = "A-Z" + _letters(upper=True)
LOWER: Final = "a-z" + _letters(upper=False) + "\u0300-\u036f"

NAME_REST: Final = rf"(?:[{LOWER}{UPPER}]|['’`-](?=[{UPPER}{LOWER}])){{1,30}}"
"""A name behind its first letter, for patterns that begin with the letter to be found fast."""
NAME_WORD: Final = rf"[{UPPER}]{NAME_REST}"
_WORD: Final = re.compile(NAME_WORD)
_INITIAL: Final = re.compile(rf"[{UPPER}](?:\.(?:[ \t]?-?[{UPPER}]\.)?|(?![\w'’]))")
_PARTICLE: Final = re.compile(
    r"(?:van|von|der|den|de|del|los|las|della|di|da|dos|das|du|la|le|el|al|bin|ibn|ben|bint|ter|ten"
    r"|st\.|y|e|ap|zu|af|av)(?:[ \t]|(?<=al)-)",
    re.IGNORECASE,
)
_PARTICLES_BEGIN: Final = frozenset("vdlebtsyazVDLEBTSYAZ")
_CREDENTIALS_GO_ON: Final = frozenset(".h")
_CREDENTIAL: Final = re.compile(
    r"(?:M\.[ ]?D|D\.[ ]?O|R\.[ ]?N|N\.[ ]?P|P\.[ ]?A|Ph\.[ ]?D|R\.[ ]?T)"
    rf"(?![\w'’]|\.?[ ][{UPPER}])"
)
_LETTERS: Final = re.compile(rf"[{UPPER}][{LOWER}{UPPER}]{{1,30}}")
_SHORT_GIVEN: Final = re.compile(rf"(?:ED|AL|VI|TY|JO|BO)[ \t]{{1,2}}([{UPPER}]{{2,30}})(?![\w])")
_TITLE_BEFORE: Final = re.compile(r"\b(?:DRS?|MRS?|MS|HR|MW|DHR|SDR|PROF)\.[ \t]$", re.IGNORECASE)
_SUFFIX: Final = re.compile(r",?[ ](?:[JS]r\.?|[JS]R\.?|III?|IV)(?![\w'’])")
"""What a family tells its members of one name apart by."""
_GAP: Final = re.compile(r"[ \t]{1,3}|\^{1,3}")
_WRAP: Final = re.compile(
    rf"[ \t]?\n[ \t]{{0,4}}(?={NAME_WORD}(?:[.,]|,?[ \t](?:at|on|by|via|who|and|in|of|for"
    rf"|from|regarding)\b))"
)
"""A line break inside a name, where what follows goes on as a sentence does."""
_TITLED: Final = re.compile(rf"[{UPPER}][{LOWER}]")
_TITLED_IN: Final = 200
"""A report in small letters has at most one word with a capital in so many characters."""
_ODD_SIGNS: Final = "\xa0\u2002\u2003\u2007\u2008\u2009\u200a\u202f\u3000\u2010\u2011＠：／№"
_PLAIN_SIGNS: Final = str.maketrans(_ODD_SIGNS, f"{'':9}--@:/#")
_DASHED: Final = re.compile(
    r"(?<!\w)(?:\w{1,40}(?:[–—−]\w{1,40}){2,12}|[^\W\d]{0,12}\d{4,20}[–−]\w{3,40})"
)
_DASHES: Final = str.maketrans("–—−", "---")
"""As in dates and numbers; a range keeps its dash."""
_CAPITAL: Final = 0.15
"""And of its characters a smaller share are capitals, those of CT and MRI."""
_LABEL: Final = re.compile(r"[^\W\d_]{2,12}(?:[ ](?:No|NO|ID|Id))?\.?[ ]?[:#]|(?:Page|PAGE)\b")
"""What opens the next column, behind a name and more than one blank."""
_MIN_WRAPPED: Final = 45
_COMMA: Final = re.compile(r"[ \t]?,[ \t]{0,3}")
_MAX_WORDS: Final = 5
SPELLING: Final = Path(str(resources.files("pipeline.names").joinpath("words", "spelling.npz")))
RUNS: Final = 1 << 15
"""So many numbers stand for the runs of letters of all words."""
_LONGEST_RUN: Final = 5
_CRC: Final = np.array([crc32(bytes([255 - at])) for at in range(256)], np.uint32) ^ 0xFF000000
"""What a byte makes of a checksum (CRC-32), by itself and the checksum's last byte."""
_STEPS: Final = (-8, -5, -3, -1.5, 0, 1.5, 3, 5, 8)


def name_end(text: str, start: int, lexicon: Lexicon, *, comma: bool) -> int:
    """Follow a name from where it begins; equals `start` if none begins there.

    Parameters
    ----------
    text
        The report.
    start
        Where the first word of the name would stand.
    lexicon
        Knows the words that end a name (credentials, departments, verbs).
    comma
        Whether ``LAST, FIRST M`` may follow a comma.
    """
    end, at, commas = start, start, 0
    for count in range(_MAX_WORDS):
        opens = count == 0 and _opens_name(text, at, lexicon)
        token_end = _token_end(text, at, lexicon, after_comma=commas > 0 or opens)
        if token_end == at or (count and _is_sentence(text, at, token_end, lexicon)):
            break
        end, at, token = token_end, token_end, text[at:token_end]
        if commas and count > 1 and token.endswith("."):
            break  # LAST, FIRST M. is whole
        gap = _GAP.match(text, at) or _wrap(text, at, lexicon)
        if gap is None and comma and commas == 0:
            gap = _COMMA.match(text, at)
            commas += 1
        if gap is None:
            break
        at = gap.end()
        if at - end > 1 and _LABEL.match(text, at):
            break
    suffix = _SUFFIX.match(text, end) if end > start else None
    return suffix.end() if suffix else end


def is_small(text: str) -> bool:
    """Tell whether a report is in small letters but for abbreviations and few words."""
    too_many = islice(_TITLED.finditer(text), len(text) // _TITLED_IN, None)
    return not any(too_many) and sum(map(str.isupper, text)) < _CAPITAL * len(text)


def as_read(text: str) -> str:
    """Read a report as rules do, letter by letter: one in small letters as one in capitals.

    Blanks and hyphens of any kind, dashes in dates and numbers and № are the plain signs.
    """
    if not text.isascii():
        plain = text.translate(_PLAIN_SIGNS)
        text = _DASHED.sub(lambda match: match[0].translate(_DASHES), plain)
    if not is_small(text):
        return text
    upper = text.upper()
    return upper if len(upper) == len(text) else "".join(map(_capital, text))


def _capital(letter: str) -> str:
    upper = letter.upper()
    return upper if len(upper) == 1 else letter


def _opens_name(text: str, at: int, lexicon: Lexicon) -> bool:
    """Tell ED BISHOP from ED physician: in capitals, a word follows that can be a family name."""
    match = _SHORT_GIVEN.match(text, at)
    if match is not None:
        return lexicon.reads_as_name(match.group(1))
    dotted = text[at - 2 : at - 1] == "."
    return dotted and _TITLE_BEFORE.search(text, max(0, at - 6), at) is not None


def reads_as_name(text: str, start: int, end: int, lexicon: Lexicon) -> bool:
    """Tell whether a span begins with a word that can be a name, and goes on with such words."""
    words = _LETTERS.findall(text, start, end)
    return (
        bool(words)
        and lexicon.reads_as_name(words[0])
        and not any(map(lexicon.ends_capitals, words[1:]))
    )


def _is_sentence(text: str, start: int, end: int, lexicon: Lexicon) -> bool:
    """Tell whether a sentence goes on behind a name, in capitals or with a capital of its own."""
    return any(map(lexicon.ends_capitals, _LETTERS.findall(text, start, end)))


def _wrap(text: str, at: int, lexicon: Lexicon) -> re.Match[str] | None:
    """Find a line break that only wraps: the line before it is long, and a name follows."""
    match = _WRAP.match(text, at)
    word = _WORD.match(text, match.end()) if match else None
    if word is None or not lexicon.reads_as_name(word.group()):
        return None
    is_long = "\n" not in text[max(0, at - _MIN_WRAPPED) : at] and at >= _MIN_WRAPPED
    return match if match and is_long else None


def _token_end(text: str, at: int, lexicon: Lexicon, *, after_comma: bool) -> int:
    if text[at : at + 1] in _PARTICLES_BEGIN:
        particle = _PARTICLE.match(text, at)
        if particle is not None:
            after = _token_end(text, particle.end(), lexicon, after_comma=after_comma)
            if after > particle.end():
                return after
    if text[at + 1 : at + 2] in _CREDENTIALS_GO_ON and _CREDENTIAL.match(text, at):
        return at
    word = _WORD.match(text, at)
    if word is not None:
        ends = lexicon.ends_name(word.group(), after_comma=after_comma)
        return at if ends else word.end()
    initial = _INITIAL.match(text, at)
    return initial.end() if initial is not None else at


def letters(words: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the numbers of each word's runs of two to five letters, its ends marked.

    Returns
    -------
    The numbers, and where those of each word begin, with the end.
    """
    ended = [f"^{word}$".encode() for word in words]
    spelt = np.frombuffer(b"".join((*ended, bytes(_LONGEST_RUN))), dtype=np.uint8)
    ends = np.cumsum([0, *map(len, ended)])
    size = int(ends[-1])
    left = np.repeat(ends[1:], np.diff(ends)) - np.arange(size)
    sums, runs = np.full(size, 0xFFFFFFFF, dtype=np.uint32), []
    for at in range(_LONGEST_RUN):
        sums = _CRC[(sums ^ spelt[at : at + size]) & 0xFF] ^ (sums >> 8)
        runs.append(~sums % RUNS)
    inside = left[:, None] > np.arange(1, _LONGEST_RUN)
    numbers = np.column_stack(runs[1:])[inside].astype(np.int64)
    return numbers, np.cumsum([0, *inside.sum(axis=1)])[ends]


def half(word: str) -> int:
    """Tell which half of all words, 0 or 1, a word belongs to."""
    return crc32(word.encode()) >> 31


def spelling_features(words: Sequence[str]) -> list[tuple[str, str]]:
    """Tell whether folded words are spelt as names of people and of places are.

        n   name against word, p  place against the likelier of these, 0 (below -8) to 9 (above 8)

    Log-odds of a linear model over runs of letters, fit to the half of our lists that does not hold
    the word (`SPELLING`, made by ``benchmarks/judge/spelling.py``).
    """
    odds, shifts, scale = _spelling()
    (runs, begun), sides = letters(words), np.array(list(map(half, words)), dtype=np.int64)
    times = np.diff(begun)
    sums = np.add.reduceat(odds[np.repeat(sides, times), runs], begun[:-1])
    name, place = (sums * (scale / times**0.5)[:, None] + shifts[sides]).T
    steps = np.searchsorted(_STEPS, [name, place + np.minimum(name, 0)], side="right")
    return [(f"m:n{name}", f"m:p{place}") for name, place in steps.T.tolist()]


@cache
def _spelling() -> tuple[NDArray[np.int64], NDArray[np.float64], float]:
    with np.load(SPELLING, allow_pickle=False) as read:
        odds, shifts, scale = (read[name] for name in ("odds", "shifts", "scale"))
    return odds.astype(np.int64), shifts.astype(np.float64), float(scale)
