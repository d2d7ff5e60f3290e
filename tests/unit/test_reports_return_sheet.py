"""The return sheet goes out empty, comes back filled, and is refused when it cannot be trusted."""

from __future__ import annotations

from typing import get_args

import pytest

from calibration.profile import ReaderProfile
from reports.content import Case, RadiologistContent
from reports.disclosure import guard_radiologist
from reports.numbers import Language
from reports.pages import radiologist
from reports.pages.return_sheet import (
    SAVED,
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

CASES = (
    Case("X-1", "C-1", "pleural effusion", "likely", "absent", showed=False),
    Case("=cmd()", "-2", "pneumonia, left", 'said "likely"', "present", showed=True),
)

ON_CASES = [(kept, kept.replace(" ", "_")) for kept in get_args(Answer)]
ON_SWAPS = [(kept, kept.replace(" ", "_")) for kept in get_args(Opinion)]


def filled(*answers: str) -> bytes:
    lines = build(CASES).decode().splitlines()
    return "\r\n".join(
        [lines[0], *(f"{a}{b}" for a, b in zip(lines[1:], answers, strict=True))]
    ).encode()


def test_a_sheet_goes_out_with_one_row_per_case_and_no_answer() -> None:
    assert build(CASES).decode().splitlines() == [
        "xray_code,ct_code,pathology,you_wrote,ct_said,answer",
        "X-1,C-1,pleural effusion,likely,absent,",
        '\'=cmd(),\'-2,"pneumonia, left","said ""likely""",present,',
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
    lines = build((case,)).decode().splitlines()
    saved = "\r\n".join([lines[0], lines[1] + "Wrong pair"]).replace(",", sign)
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
    cases, swaps = read("\n".join([",".join(SAVED), *(row for _, row in rows)]).encode())
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
    assert read("\r\n".join([",".join(SAVED), *rows]).encode()) == (
        (CaseAnswer("X-1", "C-1", "pleural effusion", "concordant"),),
        (
            SwapAnswer("R-1", "likely", "", "may represent", "not mine"),
            SwapAnswer("R-1", "possibly", "pneumonia", "unlikely", "", "=only in children"),
        ),
    )


def test_swaps_of_the_page_go_out_on_the_sheet_and_come_back_from_it() -> None:
    content = samples.with_three_actions()
    wanted = [action.swap for action in in_words(_profile(content), words=Strings.load()).actions]
    sheet = radiologist.sheet(content)
    assert read(sheet) == ((), ())
    head, *rows = sheet.decode().splitlines()
    assert head == ",".join(SAVED)
    assert len(rows) == len(content.cases or ()) + len(wanted) == len({*rows})
    answers = ("Agree,", "disagree,no", ",'=only in children")
    reader = content.masthead.recipient
    said = [f"{row[:-1]}{each}" for row, each in zip(rows[-3:], answers, strict=True)]
    cases, swaps = read("\r\n".join([head, *rows[:-3], *said]).encode())
    assert cases == ()
    assert swaps == tuple(
        SwapAnswer(reader, s.phrase, s.finding or "", s.instead, answer, words)
        for s, answer, words in zip(
            wanted, ("agree", "disagree", ""), ("", "no", "=only in children"), strict=True
        )
    )
    # Codes that the office opens are those of cases.
    assert set(codes_of(sheet)) == {
        code for case in content.cases or () for code in (case.xray_code, case.ct_code)
    }


def _profile(content: RadiologistContent) -> ReaderProfile:
    profile = guard_radiologist(content).profile
    assert isinstance(profile, ReaderProfile)
    return profile


@pytest.mark.parametrize("row", ["X-1,C-1,e,likely,absent,agree,", "R-1,,e,likely,no,concordant,"])
def test_an_answer_of_the_other_kind_is_refused(row: str) -> None:
    with pytest.raises(ReturnSheetError, match="1 of 1 rows"):
        read(f"{','.join(SAVED)}\n{row}\n".encode())


def test_an_unknown_answer_is_refused_with_its_line() -> None:
    with pytest.raises(ReturnSheetError, match=r"1 of 2 rows cannot be read; first at line 3\."):
        read(filled("concordant", "perhaps"))


def test_a_sheet_without_its_columns_is_refused() -> None:
    with pytest.raises(ReturnSheetError, match="ct_code, pathology"):
        read(b"xray_code,answer\nX-1,concordant\n")


@pytest.mark.parametrize("sheet", [b"\xff\xfe\x00", b"", b'xray_code,ct_code\n"open'])
def test_what_is_no_csv_is_refused(sheet: bytes) -> None:
    with pytest.raises(ReturnSheetError, match="return sheet"):
        read(sheet)


def test_a_short_row_is_refused() -> None:
    with pytest.raises(ReturnSheetError, match="first at line 2"):
        read(build(CASES).splitlines(keepends=True)[0] + b"X-1,C-1\n")


def test_a_huge_file_is_refused() -> None:
    with pytest.raises(ReturnSheetError, match="at most 1,000,000"):
        read(b"x" * 1_000_001)
