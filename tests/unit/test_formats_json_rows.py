"""Tables in JSON: a line each, one list, or a list within an object."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from pipeline.errors import InputError
from pipeline.formats.records import objects

ROWS = [{"a": 1, "text": "[x]\n{"}, {"a": 2, "b": [{"c": "]"}]}, {}]


def read(text: str) -> list[object]:
    return list(objects(text.splitlines(keepends=True), "t.json"))


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(map(json.dumps, ROWS)),
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        "[\n" + ",\n".join(map(json.dumps, ROWS)) + "\n]\n",
        json.dumps({"rows": ROWS}),
        json.dumps({"rows": ROWS, "total": 3}, indent=1),
        json.dumps({"rows": ROWS, "total": 3}),
        "\n".join(json.dumps({"rows": [each]}) for each in ROWS),  # a page a line
        json.dumps(ROWS[:1]) + "\n" + json.dumps(ROWS[1:], indent=2),
    ],
)
def test_rows_are_the_same_however_they_are_put_together(text: str) -> None:
    assert read(text) == ROWS


def test_pages_of_several_lines_in_one_file_are_refused_for_only_the_first_would_count() -> None:
    pages = [
        json.dumps({"rows": [each], "facets": [{"of": [{"n": 1}]}]}, indent=1) for each in ROWS
    ]
    assert read(pages[0]) == ROWS[:1]
    with pytest.raises(InputError, match="several objects with a list each; write each to a file"):
        read("\n".join(pages))


def test_a_broken_line_costs_itself() -> None:
    assert read('{"a": 1}\n[1, 2]\n{"a": \n{"a": 2}\n') == [{"a": 1}, None, None, {"a": 2}]
    assert read('[1, 2]\n{"a": 2}\n') == [None, {"a": 2}]


def test_an_element_that_is_no_object_costs_itself() -> None:
    assert read('[{"a": 1}, 7, null, {"a": 2}]') == [{"a": 1}, None, None, {"a": 2}]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ('[{"a": 1},\n{"a": 2},\n', 2),
        ('[{"a": 1},\n{"a": 2, SECRET},\n{"a": 3}]', 1),
        ('[{"a": 1}]\nSECRET', 1),
        ("[\n" + '{"a": [' * 5000, 0),
    ],
)
def test_a_list_that_is_broken_is_refused_without_a_word_of_it(text: str, row: int) -> None:
    with pytest.raises(InputError, match=f"t.json: .* behind its row {row}; export") as error:
        read(text)
    assert "SECRET" not in str(error.value)


def test_a_long_object_is_read_in_a_time_that_grows_with_its_length() -> None:
    long = {str(n): "x" for n in range(40_000)}
    assert read(json.dumps([long, long], indent=1)) == [long, long]


def test_an_empty_list_has_no_rows() -> None:
    empty: Sequence[object] = read("[\n]\n")
    assert empty == []


def test_a_line_cut_for_its_length_is_one_broken_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.formats.records._LONGEST_VALUE", 10)
    line = '{"a": "' + "x" * 30 + '"}\n'
    pieces = ['{"a": 1}\n', *(line[at : at + 10] for at in range(0, len(line), 10)), '{"a": 2}\n']
    assert list(objects(pieces, "t.jsonl")) == [{"a": 1}, None, {"a": 2}]
