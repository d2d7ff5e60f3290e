"""Words: spellings, abbreviations, slips of the keyboard."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from forms.ways import FORMS, Form, Report, simple

# Words.
_BRITISH: Final = (
    ("edema", "oedema"), ("edematous", "oedematous"), ("hemorrhage", "haemorrhage"),
    ("hemothorax", "haemothorax"), ("hemorrhagic", "haemorrhagic"), ("hematoma", "haematoma"),
    ("tumor", "tumour"), ("favor", "favour"), ("favored", "favoured"), ("favors", "favours"),
    ("visualized", "visualised"), ("esophagus", "oesophagus"), ("esophageal", "oesophageal"),
    ("color", "colour"), ("gray", "grey"), ("caliber", "calibre"), ("center", "centre"),
    ("centered", "centred"), ("organized", "organised"), ("organizing", "organising"),
    ("localized", "localised"), ("etiology", "aetiology"), ("recognized", "recognised"),
    ("hyperinflated", "hyper-inflated"), ("ischemic", "ischaemic"), ("anemia", "anaemia"),
    ("loculated", "loculated"), ("ground-glass", "ground glass"), ("hilar", "hilar"),
    ("hiatal hernia", "hiatus hernia"), ("fiber", "fibre"), ("generalized", "generalised"),
)  # fmt: skip


def _swapped(text: str, pairs: Sequence[tuple[str, str]]) -> str:
    for here, there in pairs:
        text = re.sub(rf"\b{here}\b", there, text)
        text = re.sub(rf"\b{here.capitalize()}\b", there.capitalize(), text)
    return text


simple("words: British", lambda t: _swapped(t, _BRITISH))
simple("words: American", lambda t: _swapped(t, [(there, here) for here, there in _BRITISH]))
_SHORT: Final = (
    ("right lower lobe", "RLL"), ("right upper lobe", "RUL"), ("left lower lobe", "LLL"),
    ("left upper lobe", "LUL"), ("right middle lobe", "RML"), ("bilateral", "bilat"),
    ("without", "w/o"), ("with", "w/"), ("consistent w/", "c/w"), ("pneumothorax", "PTX"),
    ("consolidation", "consol"), ("suggestive of", "s/o"), ("secondary to", "2/2"),
    ("ground-glass opacity", "GGO"), ("ground-glass opacities", "GGOs"), ("versus", "vs"),
    ("pulmonary embolism", "PE"), ("tuberculosis", "TB"), ("cannot exclude", "can't exclude"),
    ("pneumonia", "PNA"), ("lymph nodes", "LNs"),
)  # fmt: skip
simple("words: abbreviated", lambda t: _swapped(t, _SHORT))
simple("words: w/ and w/o alone", lambda t: _swapped(t, (("without", "w/o"), ("with", "w/"))))
_NORMAL: Final = re.compile(
    r"(?<=: )(?:normal|unremarkable)(?=[.\n;]|$)|(?<=Heart size )is normal(?=[.\n])", re.IGNORECASE
)
simple("words: N for normal", lambda t: _NORMAL.sub("N", t))
simple("words: vs.", lambda t: _swapped(t, (("vs", "vs."), ("versus", "vs."))).replace("..", "."))
simple(
    "words: contracted",
    lambda t: re.sub(r"\b(is|are|was|does|can)(?: not|not)\b", r"\1n't", t).replace(
        "cann't", "can't"
    ),
)


def _slip(kind: str) -> None:
    def write(report: Report) -> str | None:
        def slipped(match: re.Match[str]) -> str:
            word = match[0]
            if word.isupper():
                return word
            k = int(report.rng.integers(2, len(word) - 2))
            if kind == "dropped":
                return word[:k] + word[k + 1 :]
            if kind == "doubled":
                return word[:k] + word[k] + word[k:]
            if kind == "wrong":
                near = "qwertyuiop asdfghjkl zxcvbnm"
                at = near.find(word[k])
                other = near[at + 1 : at + 2].strip() or near[at - 1]
                return word[:k] + other + word[k + 1 :]
            return word[:k] + word[k + 1] + word[k] + word[k + 2 :]

        return re.sub(r"\b[A-Za-z][a-z]{7,}\b(?!:)", slipped, report.text)

    FORMS.append(Form(f"slip: a letter {kind}", write))


for kind in ("dropped", "doubled", "swapped", "wrong"):
    _slip(kind)
