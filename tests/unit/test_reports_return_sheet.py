"""The return sheet goes out empty, comes back filled, and is refused when it cannot be trusted."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from html import unescape
from typing import get_args

import pytest

from calibration.profile import ReaderProfile
from extraction.vocabulary import load
from reports.content import Case, RadiologistContent
from reports.disclosure import guard_radiologist
from reports.drawing.style import style_for
from reports.numbers import Language
from reports.pages import radiologist
from reports.pages.return_sheet import (
    Answer,
    CaseAnswer,
    Opinion,
    ReturnSheetError,
    SwapAnswer,
    build,
    codes_of,
    read,
)
from reports.strings import Strings
from reports.verdict import in_words
from tests.fixtures.reports import sample_contents as samples

FORMER = "xray_code,ct_code,pathology,you_wrote,ct_said,answer,words"
"""Columns of sheets up to 0.9, of whatever language the page was."""
ENGLISH = Strings.load()

CASES = (
    Case("X-1", "C-1", "pleural effusion", "likely", "absent", showed=False),
    Case("=cmd()", "-2", "pneumonia, left", 'said "likely"', "present", showed=True),
)

ON_CASES = [(kept, kept.replace(" ", "_")) for kept in get_args(Answer)]
ON_SWAPS = [(kept, kept.replace(" ", "_")) for kept in get_args(Opinion)]


def filled(*answers: str) -> bytes:
    lines = build(CASES, words=ENGLISH).bytes().decode("utf-8-sig").splitlines()
    said = [f"{row[:-1]}{answer}," for row, answer in zip(lines[1:], answers, strict=True)]
    return "\r\n".join([lines[0], *said]).encode()


def test_a_sheet_goes_out_with_one_row_per_case_and_no_answer() -> None:
    choices = "agrees / differs / not scored / wrong pair"
    assert build(CASES, reader="R-1", words=ENGLISH).bytes().decode("utf-8-sig").splitlines() == [
        "Reader,X-ray,CT,Finding,You wrote,CT said,Advised instead,Answers to choose from,"
        "Your answer,Your words (on swaps)",
        f"R-1,X-1,C-1,pleural effusion,likely,absent,,{choices},,",
        f'R-1,\'=cmd(),\'-2,"pneumonia, left","said ""likely""",present,,{choices},,',
    ]


def test_answers_come_back_with_their_codes_whatever_the_case_or_mark_of_order() -> None:
    assert read(b"\xef\xbb\xbf" + filled("Wrong pair ", "DISCORDANT")) == (
        (
            CaseAnswer("X-1", "C-1", "pleural effusion", "wrong pair"),
            CaseAnswer("=cmd()", "-2", "pneumonia, left", "discordant"),
        ),
        (),
    )


@pytest.mark.parametrize("charset", ["utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("sign", [";", "\t"])
def test_a_sheet_that_another_countrys_spreadsheet_saved_is_read(charset: str, sign: str) -> None:
    case = Case("X-1", "C-1", "pleural effusion", "likely – yes", "absent", showed=False)
    lines = build((case,), words=ENGLISH).bytes().decode("utf-8-sig").splitlines()
    saved = "\r\n".join([lines[0], lines[1][:-1] + "Wrong pair,"]).replace(",", sign)
    assert read(saved.encode(charset)) == (
        (CaseAnswer("X-1", "C-1", "pleural effusion", "wrong pair"),),
        (),
    )


@pytest.mark.parametrize("language", get_args(Language))
def test_an_answer_is_taken_as_the_page_calls_it(language: str) -> None:
    words = Strings.load(language=language)
    rows = [
        (kept, f"X-{kept},C-1,e,likely,absent,{words(f'cases.{key}')},") for kept, key in ON_CASES
    ]
    rows += [(kept, f"R-1,,e,{kept},no,{words(f'card.{key}').upper()},") for kept, key in ON_SWAPS]
    cases, swaps = read("\n".join([FORMER, *(row for _, row in rows)]).encode())
    assert [each.answer for each in (*cases, *swaps)] == [kept for kept, _ in rows]


def test_an_empty_answer_is_no_answer() -> None:
    assert read(filled("", "")) == ((), ())


def test_what_is_said_of_swaps_stands_on_the_sheet_that_the_html_page_saves() -> None:
    rows = (
        "X-1,C-1,pleural effusion,likely,absent,Concordant,",
        "X-2,C-2,pleural effusion,likely,absent,,",
        "R-1,,,likely,may represent,Not mine,",
        "R-1,,pneumonia,possibly,unlikely,,'=only in children",
        "R-1,,edema,probably,likely,,",
    )
    assert read("\r\n".join([FORMER, *rows]).encode()) == (
        (CaseAnswer("X-1", "C-1", "pleural effusion", "concordant"),),
        (
            SwapAnswer("R-1", "likely", "", "may represent", "not mine"),
            SwapAnswer("R-1", "possibly", "pneumonia", "unlikely", "", "=only in children"),
        ),
    )


FINDINGS = load().pathologies


@pytest.mark.parametrize("language", get_args(Language))
def test_a_sheet_holds_what_its_columns_say_in_the_pages_language_and_comes_back(
    language: str,
) -> None:
    content, style = samples.with_three_actions(), style_for("A4", language=language)
    content = replace(content, profile=_in_one_finding(_profile(content), "pleural effusion"))
    words, reader = style.strings, content.masthead.recipient
    wanted = [action.swap for action in in_words(_profile(content), words=ENGLISH).actions]
    sheet = radiologist.sheet_of(content, style=style).bytes()
    assert read(sheet, findings=FINDINGS) == ((), ())
    head, *rows = csv.reader(
        io.StringIO(sheet.decode("utf-8-sig")), delimiter=";" if language == "de" else ","
    )
    assert len(rows) == len(content.cases or ()) + len(wanted)
    cell = {words(f"sheet.{name}"): k for k, name in enumerate(_KEYS)}
    assert [*cell] == head
    of = [{name: row[k] for name, k in zip(_KEYS, cell.values(), strict=True)} for row in rows]
    for row, case in zip(of, content.cases or (), strict=False):
        assert (row["xray"], row["ct"], row["instead"]) == (case.xray_code, case.ct_code, "")
        assert row["finding"] == words.name(case.pathology)
        assert row["said"] == words.name(case.ct_phrase, of="CT: ")
    for row, swap in zip(of[-len(wanted) :], wanted, strict=True):
        assert (row["reader"], row["wrote"], row["instead"]) == (reader, swap.phrase, swap.instead)
        assert (row["xray"], row["ct"], row["said"]) == ("", "", "")
        where = words.name(swap.finding) if swap.finding else words("verdict.swap.all")
        assert row["finding"] == where
    for row in rows:
        row[-2:] = row[-3].split(" / ")[-1].upper(), "'=only in children"
    out = io.StringIO()
    csv.writer(out, delimiter=";").writerows([head, *rows])
    cases, swaps = read(out.getvalue().encode(), findings=FINDINGS)
    assert [(c.xray_code, c.ct_code, c.pathology) for c in cases] == [
        (case.xray_code, case.ct_code, case.pathology) for case in content.cases or ()
    ]
    assert {each.answer for each in cases} == {"wrong pair"}
    assert swaps == tuple(
        SwapAnswer(reader, s.phrase, s.finding or "", s.instead, "not mine", "=only in children")
        for s in wanted
    )
    # Codes that the office opens are those of cases.
    assert set(codes_of(sheet)) == {
        code for case in content.cases or () for code in (case.xray_code, case.ct_code)
    }


_KEYS = (
    "reader", "xray", "ct", "finding", "wrote", "said", "instead", "choices", "answer", "words",
)  # fmt: skip


def _in_one_finding(profile: ReaderProfile, finding: str) -> ReaderProfile:
    """Let the first swap be of one finding."""
    first, *rest = profile.advice
    return replace(profile, advice=(replace(first, finding=finding), *rest))


@pytest.mark.parametrize("language", get_args(Language))
def test_all_that_the_html_page_asks_has_its_row_on_the_sheet_that_it_saves(language: str) -> None:
    content, style = samples.with_three_actions(), style_for("A4", language=language)
    content = replace(content, profile=_in_one_finding(_profile(content), "pleural effusion"))
    page = radiologist.build_both(content, style=style)[1].decode()
    found = re.search(r'data-sheet="([^"]*)"', page)
    assert found is not None
    sheet = json.loads(unescape(found[1]))
    asked = [unescape(about) for about in re.findall(r'data-about="([^"]*)"', page)]
    assert {*asked} == {*sheet["rows"]}
    assert {*re.findall(r'<input type="radio" value="([^"]*)"', page)} == {*sheet["answers"]}
    assert all(len(sheet["head"]) == len(cells) + 2 for cells in sheet["rows"].values())


@pytest.mark.parametrize("finding", ["Pleuraerguss", "PLEURAL EFFUSION", "pleural effusion"])
def test_a_finding_comes_back_as_it_is_kept_whatever_a_page_calls_it(finding: str) -> None:
    rows = [f"X-1,C-1,{finding},likely,absent,wrong pair,", f"R-1,,{finding},likely,present,agree,"]
    cases, swaps = read("\n".join([FORMER, *rows]).encode(), findings=FINDINGS)
    assert [each.pathology for each in cases] == ["pleural effusion"]
    assert [each.finding for each in swaps] == ["pleural effusion"]


def test_no_two_findings_are_called_the_same() -> None:
    for language in get_args(Language):
        called = [Strings.load(language=language).name(each) for each in load().pathologies]
        assert len({*map(str.lower, called)}) == len(called)


def _profile(content: RadiologistContent) -> ReaderProfile:
    profile = guard_radiologist(content).profile
    assert isinstance(profile, ReaderProfile)
    return profile


@pytest.mark.parametrize("row", ["X-1,C-1,e,likely,absent,agree,", "R-1,,e,likely,no,concordant,"])
def test_an_answer_of_the_other_kind_is_refused(row: str) -> None:
    with pytest.raises(ReturnSheetError, match="1 of 1 rows"):
        read(f"{FORMER}\n{row}\n".encode())


def test_an_unknown_answer_is_refused_with_its_line() -> None:
    with pytest.raises(ReturnSheetError, match=r"1 of 2 rows cannot be read; first at line 3\."):
        read(filled("concordant", "perhaps"))


def test_a_sheet_without_its_columns_is_refused() -> None:
    with pytest.raises(ReturnSheetError, match="CT, Finding"):
        read(b"xray_code,answer\nX-1,concordant\n")


@pytest.mark.parametrize("sheet", [b"\xff\xfe\x00", b"", b'xray_code,ct_code\n"open'])
def test_what_is_no_csv_is_refused(sheet: bytes) -> None:
    with pytest.raises(ReturnSheetError, match="return sheet"):
        read(sheet)


def test_a_short_row_is_refused() -> None:
    with pytest.raises(ReturnSheetError, match="first at line 2"):
        read(build(CASES, words=ENGLISH).bytes().splitlines(keepends=True)[0] + b"R-1,X-1,C-1\n")


def test_a_huge_file_is_refused() -> None:
    with pytest.raises(ReturnSheetError, match="at most 1,000,000"):
        read(b"x" * 1_000_001)
