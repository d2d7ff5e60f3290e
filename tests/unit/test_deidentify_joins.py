"""An identifier takes with it what hangs on it; two of a kind with small words between are one."""

from __future__ import annotations

from typing import get_args

import pytest

from pipeline.deidentify.rules.joins import JUDGE, join
from pipeline.deidentify.spans import Category, Claims

_CATEGORIES = get_args(Category)


def joined(marked: str, *locked: str, rule: str = "rule") -> str:
    """Join what ⟦LABEL:…⟧ marks in a text; mark the result by brackets with the category."""
    text, spans = "", []
    for piece in marked.replace("⟧", "⟦").split("⟦"):
        label, colon, inside = piece.partition(":")
        if colon and label in _CATEGORIES:
            spans.append((len(text), len(text) + len(inside), label))
            text += inside
        else:
            text += piece
    claims = Claims(text, [(text.index(each), text.index(each) + len(each)) for each in locked])
    for start, end, label in spans:
        claims.take(start, end, label, rule, sure=True)
    join(claims)
    for each in reversed(claims.removed()):
        inside = text[each.start : each.end]
        text = f"{text[: each.start]}[{inside}]{text[each.end :]}"
    return text


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("on ⟦DATE:17.02⟧ kl. ⟦TIME:21.30⟧.", "on [17.02 kl. 21.30]."),
        ("file Θ-⟦ID:20877⟧ of 가-⟦ID:4471⟧.", "file [Θ-20877] of [가-4471]."),
        ("no effusion•⟦ID:20877123⟧ seen", "no effusion•[20877123] seen"),
        ("scanned ⟦DATE:wo 20-03-24⟧, ⟦TIME:16:08⟧ Uhr", "scanned [wo 20-03-24, 16:08 Uhr]"),
        ("film of ke ⟦DATE:8.5.2024⟧ seen", "film of [ke 8.5.2024] seen"),
        ("at ⟦TIME:17:50⟧h here", "at [17:50h] here"),
        ("in 3 months, mid-⟦DATE:May 2024⟧", "in 3 months, [mid-May 2024]"),
        ("told ⟦TIME:0244⟧ EDT.", "told [0244 EDT]."),
        ("⟦DATE:3/4⟧ and ⟦DATE:5/6⟧", "[3/4] and [5/6]"),
        ("⟦DATE:3/4/21⟧, ⟦DATE:5/6/21⟧", "[3/4/21], [5/6/21]"),
        ("after ⟦DATE:3/4/21⟧ with 5 drains", "after [3/4/21] with 5 drains"),
        ("⟦DATE:3/4⟧\nat ⟦TIME:14:05⟧", "[3/4]\nat [14:05]"),
        ("over the ⟦DATE:Easter⟧ long weekend", "over [the Easter long weekend]"),
        ("since late ⟦DATE:October⟧.", "since [late October]."),
        ("⟦DATE:Monday⟧ at 9h30 here", "[Monday at 9h30] here"),
        ("told ⟦TIME:06:32⟧ local.", "told [06:32 local]."),
        ("HRCT ⟦DATE:12/24⟧ v ⟦DATE:05/22⟧", "HRCT [12/24] v [05/22]"),
        ("of ⟦DATE:3/4/21⟧ local recurrence", "of [3/4/21] local recurrence"),
        ("of ⟦DATE:3/4/21⟧ CAT scan, at 2.5 cm", "of [3/4/21] CAT scan, at 2.5 cm"),
        ("of ⟦DATE:3/4/21⟧ CT, ⟦DATE:5/6/21⟧ PET", "of [3/4/21] CT, [5/6/21] PET"),
        ("compared to ⟦DATE:3/4/21⟧, so ⟦DATE:5/6/21⟧", "compared to [3/4/21], so [5/6/21]"),
    ],
)
def test_a_date_takes_its_clock_and_its_unit(marked: str, expected: str) -> None:
    assert joined(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("Pt ⟦NAME:Halimah⟧ bte ⟦NAME:Yusof⟧ seen", "Pt [Halimah bte Yusof] seen"),
        ("Dr ⟦NAME:Ganesan⟧ a/l ⟦NAME:Muniandy⟧", "Dr [Ganesan a/l Muniandy]"),
        ("told van der ⟦NAME:Velden⟧ at once", "told [van der Velden] at once"),
        ("Told Crawford-⟦NAME:Moana⟧ of it", "Told [Crawford-Moana] of it"),
        ("Dr ⟦NAME:S. Nic⟧ a' ⟦NAME:Zeldon⟧", "Dr [S. Nic a' Zeldon]"),
        ("\nBABY GIRL ⟦NAME:ZELDON⟧, 5 days", "\nBABY GIRL [ZELDON], 5 days"),
        ("signed ⟦NAME:H.L⟧.-M.", "signed [H.L.-M.]"),
        ("⟦NAME:O'Dea⟧ and ⟦NAME:Wu⟧", "[O'Dea] and [Wu]"),
        ("\nMA. ⟦NAME:CORAZON DY⟧, MD", "\n[MA. CORAZON DY], MD"),
        ("at ⟦LOCATION:Harrowmere College⟧ of ⟦LOCATION:Agriculture⟧",
         "at [Harrowmere College of Agriculture]"),
        ("⟦NAME:Ann⟧ of ⟦HOSPITAL:Mercy⟧", "[Ann] of [Mercy]"),
        ("CXR 2 V\n⟦NAME:BEGAY⟧ 58 M", "CXR 2 V\n[BEGAY] 58 M"),
    ],
)  # fmt: skip
def test_a_name_takes_its_particles_and_halves(marked: str, expected: str) -> None:
    assert joined(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("HKID ⟦ID:K482913⟧(6) born", "HKID [K482913(6)] born"),
        ("No. AMTH/RAD/⟦ID:2204⟧/24 here", "No. [AMTH/RAD/2204/24] here"),
        ("card ⟦ID:ZLS⟧6120 8 y", "card [ZLS6120] 8 y"),
        ("login trn_⟦ID:lbianchi2⟧, read", "login [trn_lbianchi2], read"),
        ("MRN ⟦ID:7720418⟧ ON ⟦ID:7720419⟧", "MRN [7720418] ON [7720419]"),
        (
            "A. Zeldon (MDCN ⟦ID:41180⟧), 62, CT ⟦ID:41181⟧",
            "A. Zeldon ([MDCN 41180]), 62, CT [41181]",
        ),
        ("HOSP NO-⟦ID:10 33 87⟧ AGE", "HOSP NO-[10 33 87] AGE"),
        ("V-⟦ID:nummer 284.117⟧, worker", "V-[nummer 284.117], worker"),
        ("from ⟦PHONE:95550-7731⟧ X 6.", "from [95550-7731 X 6]."),
        ("from (19) ⟦PHONE:95550-7731⟧ x2, no answer", "from [(19) 95550-7731] x2, no answer"),
        ("aged ⟦AGE:93 Y⟧ 4 M, female", "aged [93 Y 4 M], female"),
        ("aged ⟦AGE:93⟧ Y 4 M, female", "aged [93 Y 4 M], female"),
        ("born (⟦DATE:91⟧ år)", "born ([91 år])"),
        ("she is ⟦AGE:ninety⟧-one now", "she is [ninety-one] now"),
    ],
)
def test_a_code_goes_whole(marked: str, expected: str) -> None:
    assert joined(marked) == expected


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("⟦HOSPITAL:Palo Blanco⟧ Kidney Center", "[Palo Blanco Kidney Center]"),
        ("⟦HOSPITAL:ELK⟧ MEMORIAL CENTER WAS 0/1", "[ELK MEMORIAL CENTER] WAS 0/1"),
        ("⟦HOSPITAL:Zeldon⟧ Heart & Chest, Ward B", "[Zeldon Heart] & Chest, Ward B"),
        ("⟦HOSPITAL:Zeldon⟧ Maternity & Child Centre on", "[Zeldon Maternity & Child Centre] on"),
        ("at ⟦LOCATION:Zeldon⟧ No 3 hip", "at [Zeldon No 3] hip"),
        ("lot ⟦LOCATION:114, Zeldon Street⟧", "[lot 114, Zeldon Street]"),
        ("MVA, I-65 at ⟦LOCATION:Exit 22⟧", "MVA, [I-65 at Exit 22]"),
        ("from ⟦LOCATION:Rahat⟧ junction", "from [Rahat junction]"),
        ("from ⟦HOSPITAL:Zeldon⟧. Heart Normal", "from [Zeldon]. Heart Normal"),
        ("at ⟦HOSPITAL:Zeldon⟧ heart normal", "at [Zeldon] heart normal"),
        ("near Kibbutz ⟦LOCATION:Ofer⟧", "near [Kibbutz Ofer]"),
        ("bosun of M/T ⟦LOCATION:Zeldon Dawn⟧", "bosun of [M/T Zeldon Dawn]"),
        ("cc No. 88/3, ⟦LOCATION:Zeldon Road⟧", "cc [No. 88/3, Zeldon Road]"),
    ],
)
def test_a_place_takes_the_words_of_its_kind_and_its_number(marked: str, expected: str) -> None:
    assert joined(marked) == expected


def test_letters_behind_are_initials_of_what_the_judge_calls_a_name_not_a_place() -> None:
    assert joined("LUNG ⟦HOSPITAL:ZELDON⟧ V. OLD FILMS", rule=JUDGE) == "LUNG [ZELDON] V. OLD FILMS"
    assert joined("seen by ⟦NAME:ZELDON⟧ V. today", rule=JUDGE) == "seen by [ZELDON V.] today"


def test_a_locked_phrase_ends_whatever_is_joined() -> None:
    assert joined("⟦DATE:3/4⟧ at ⟦TIME:14:05⟧", "at") == "[3/4] at [14:05]"
    assert joined("⟦NAME:Maylikely⟧", "likely") == "[May]likely"


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("⟦HOSPITAL:Klinikum⟧ East", "[Klinikum] East"),
        ("Univ.-⟦HOSPITAL:Klinikum⟧ East", "[Univ.-Klinikum] East"),
        ("at Drs ⟦HOSPITAL:Rooyen & Partners⟧", "at [Drs Rooyen & Partners]"),
        ("⟦HOSPITAL:Irongate Health⟧ #207: chest", "[Irongate Health #207]: chest"),
        ("Cassette s/n FCR ⟦ID:60211873⟧ with", "Cassette s/n [FCR 60211873] with"),
        ("MRN ⟦ID:60211873⟧ with", "MRN [60211873] with"),
    ],
)
def test_a_place_and_a_code_take_what_opens_or_closes_them(marked: str, expected: str) -> None:
    assert joined(marked) == expected
