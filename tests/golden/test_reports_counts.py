"""Every count of a document agrees wherever it stands, or is named as another thing."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from dataclasses import replace

import pypdf
import pytest

from calibration.profile import Swap
from calibration.profile.whole import profile_data
from calibration.rounding import counted
from reports import disclosure, swaps
from reports.content import RadiologistContent, Unscored
from reports.drawing.marks import Text
from reports.drawing.style import Style
from reports.pages import committee, radiologist
from reports.pages.committee import months, tables
from reports.pages.radiologist import later
from tests.fixtures.reports import sample_contents as samples
from tests.fixtures.reports import sample_profiles
from tests.fixtures.reports.measured import counts_of_review, differing_in_review, words_of

_ROW = re.compile(r"([a-z][a-z ,]*): says [^():]*\([^()]*\), n ([\d,]+)")
_SWAP = re.compile(
    r"(?:“[^”]+”(?: for ([a-z ]+))? → “[^”]+” .*?)?"
    r"(?:All findings|There)(?::|, unlike the rest of your words:) "
    r"where you write “([^”]+)”, CT shows the finding [^()]*\([^()]*, ([\d,]+) statements?\)"
)
_WORD = re.compile(
    r"Your “([^”]+)”(?: for ([a-z ]+?))? says (?:more|less) than CT shows[^.]*\. +"
    r"This rests on ([\d,]+) statements?"
)
_HEDGES = re.compile(r"[Tt]he ([\d,]+) (?:hedges|of them)")
_COVERED = re.compile(r"([\d,]+ of [\d,]+) X-rays (?:with|had) a CT within")
_EVIDENCE = swaps._evidence
_LINES = re.compile(r"One line per phrase, \d+ of (\d+)")


def counts(page: str) -> dict[str, set[str]]:
    """Read what is counted off a reader's HTML page: each thing's name, and every figure it has."""
    words, found = words_of(page), defaultdict[str, set[str]](set)
    for name, n in _ROW.findall(words):
        found[name.strip()].add(n)
    for scope, phrase, n in _SWAP.findall(words):
        found[f"{phrase}, {scope}" if scope else phrase].add(n)
    for phrase, finding, n in _WORD.findall(words):
        found[f"{phrase}, {finding}" if finding else phrase].add(n)
    for cells in re.findall(r"<tr>(.*?)</tr>", page, flags=re.DOTALL):
        row = [words_of(cell).strip() for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", cells)]
        if len(row) >= 6 and re.fullmatch(r"[\d,]+", row[1]):
            found[row[0]].add(row[1])
    for name, pattern in {"hedges": _HEDGES, "covered": _COVERED, "lines": _LINES}.items():
        found[f"({name})"].update(pattern.findall(words))
    return found


def page_of(filled: RadiologistContent) -> str:
    return radiologist.build_both(filled, style=Style())[1].decode()


def differing(filled: RadiologistContent, page: str) -> list[str]:
    """Name what has two counts on the page, or another than the profile's file or the PDF says."""
    found = counts(page)
    whole = sample_profiles.department_of(["R-7Q2F"])
    (told,) = profile_data(replace(whole, readers=(filled.profile,)), messages={"R-7Q2F": ""})[
        "readers"
    ]
    by_file = {each["phrase"]: each["n"] for each in told["phrases"]}
    found["(hedges)"].add(f"{sum(float(counted(n)) for n in by_file.values()):,.0f}")
    for name in by_file.keys() & found.keys():
        found[name].add(f"{round(float(counted(by_file[name]))):,}")
    for sheet in radiologist.pages(filled, style=Style()):
        for mark in sheet.marks:
            if isinstance(mark, Text) and mark.id.startswith("n."):
                found[mark.id.removeprefix("n.")].add(mark.string)
    return [f"{name}: {sorted(each)}" for name, each in found.items() if len(each) > 1]


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 60, 20))
def test_every_count_of_a_reader_is_the_same_wherever_it_stands(start: int) -> None:
    things = 0
    for seed in range(start, start + 20):
        filled = samples.simulated(seed)
        if "goes on and on" in str(filled.profile):
            continue  # names that no expression here reads
        page = page_of(filled)
        assert differing(filled, page) == [], seed
        things += sum(bool(each) for each in counts(page).values())
    assert things > 100


def _more(swap: Swap, *rest: object, **named: object) -> str:
    return _EVIDENCE(replace(swap, n=swap.n + 5), *rest, **named)


@pytest.mark.parametrize(
    ("where", "name", "broken"),
    [
        (swaps, "_evidence", _more),
        (later, "count", lambda n: f"{n + 1:,.0f}"),
        (disclosure.rounded, "profile", lambda found: found),
        (radiologist, "guard_radiologist", lambda content: content),
    ],
    ids=["card", "table", "profile unrounded", "nothing rounded"],
)
def test_the_check_of_counts_fails_where_one_of_them_is_another(
    where: object, name: str, broken: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, broken)
    drawn = map(samples.simulated, range(6))  # in which the test above finds nothing
    assert any(differing(each, page_of(each)) for each in drawn)


def _review(seed: int, readers: int = 12) -> tuple[str, str]:
    filled = samples.committee(seed=seed, readers=readers)
    filled = replace(filled, unscored=(Unscored("versus", 320), Unscored("cannot exclude", 487)))
    printed, page = committee.build_both(filled, style=Style())
    pdf = pypdf.PdfReader(io.BytesIO(printed))
    return page.decode(), " ".join(sheet.extract_text() for sheet in pdf.pages)


@pytest.mark.parametrize("seed", range(6))
def test_every_count_of_a_review_is_the_same_wherever_it_stands_in_pdf_and_html(seed: int) -> None:
    page, pdf = _review(seed, readers=(6, 12, 23)[seed % 3])
    assert differing_in_review(page, pdf) == []
    assert len(counts_of_review(page)) > 30


@pytest.mark.parametrize(
    ("where", "name", "broken"),
    [
        (committee, "statements", lambda result: round(result.n) + 5),
        (tables, "count", lambda n: f"{n + 1:,.0f}"),
        (months, "kept_swaps", lambda reader: reader.advice),
    ],
    ids=["headline", "tables", "swaps"],
)
def test_the_check_of_a_review_fails_where_a_count_is_another(
    where: object, name: str, broken: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert differing_in_review(*_review(3)) == []
    monkeypatch.setattr(where, name, broken)
    assert differing_in_review(*_review(3))
