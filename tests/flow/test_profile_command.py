"""``radcal profile`` with real files: the schema, its exit codes, its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from calibration.profile import ProfileSettings
from pipeline.cli import profile
from pipeline.errors import EXIT_QUARANTINED, InputError
from tests.fixtures.department import SCALE, department

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "profile.schema.json").read_text(encoding="utf-8"))
_APP = typer.Typer()
_APP.callback()(lambda: None)
profile.register(_APP)


def run(folder: Path, frame: pd.DataFrame, *options: str) -> tuple[int, dict[str, object], str]:
    table, out = folder / "observations.csv", folder / "profile.json"
    frame.to_csv(table, index=False)
    given = ["profile", str(table), "--out", str(out), *options]
    result = CliRunner().invoke(_APP, given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, json.loads(out.read_text(encoding="utf-8")), result.output


LINES = [(0.0, 1.0), (0.8, 1.0), (0.0, 0.55), (0.0, 1.0)]


@pytest.mark.parametrize("statements", [12, 250, 1500])
def test_file_is_what_the_schema_says_for_few_and_for_many(tmp_path: Path, statements: int) -> None:
    code, found, _ = run(tmp_path, department(LINES, statements=statements, seed=statements))
    jsonschema.validate(found, SCHEMA)
    assert code == 0
    assert [r["reader"] for r in found["readers"]] == ["r00", "r01", "r02", "r03"]  # type: ignore[attr-defined]


def test_phrase_table_of_a_file_gives_what_the_builtin_one_gives(tmp_path: Path) -> None:
    table = tmp_path / "phrases.csv"
    SCALE.to_frame().to_csv(table, index=False)
    frame = department(LINES, statements=400, seed=3)
    _, own, _ = run(tmp_path, frame, "--phrases", str(table))
    _, builtin, _ = run(tmp_path, frame)
    assert own["readers"] == builtin["readers"]


def test_phrase_table_without_respondents_serves_and_says_so(tmp_path: Path) -> None:
    table = tmp_path / "phrases.csv"
    SCALE.to_frame().drop(columns=["n", "mean", "sd"]).to_csv(table, index=False)
    frame = department(LINES, statements=400, seed=3)
    code, found, _ = run(tmp_path, frame, "--phrases", str(table))
    assert code == 0
    assert "likely" in found["diagnostics"]["unsurveyed"]  # type: ignore[index]


def test_unknown_phrase_is_set_aside_counted_and_told_by_the_exit_code(tmp_path: Path) -> None:
    frame = department(LINES, statements=300, seed=4)
    frame.loc[:9, "phrase"] = "who knows"
    code, found, output = run(tmp_path, frame)
    assert code == EXIT_QUARANTINED
    assert found["unmapped"] == {"who knows": 10.0}
    assert "who knows 10" in output


def test_columns_may_stand_in_any_order_and_only_three_are_needed(tmp_path: Path) -> None:
    frame = department(LINES, statements=400, seed=5)[["label", "phrase", "reader"]]
    code, found, _ = run(tmp_path, frame)
    jsonschema.validate(found, SCHEMA)
    assert code == 0
    assert found["pathologies"] == [None]


@pytest.mark.parametrize(
    ("label", "message"),
    [("", r"label: 1 of 120 values are missing.*row 1"), ("1.5", r"outside \[0, 1\].*row 1")],
)
def test_label_that_is_none_stops_the_command(tmp_path: Path, label: str, message: str) -> None:
    frame = department(LINES, statements=30, seed=6).astype({"label": object})
    frame.loc[0, "label"] = label
    with pytest.raises(InputError, match=message):
        run(tmp_path, frame)


def test_missing_column_is_named(tmp_path: Path) -> None:
    frame = department(LINES, statements=30, seed=6).drop(columns="reader")
    with pytest.raises(InputError, match=r"column\(s\) missing: reader"):
        run(tmp_path, frame)


@pytest.mark.parametrize("count", ["1e20", "1e6"])
def test_counts_that_no_department_has_are_refused_at_once(tmp_path: Path, count: str) -> None:
    frame = department(LINES, statements=30, seed=6).assign(count=count)
    with pytest.raises(InputError, match=r"count: (120 of 120 values are outside|1.2e\+08 statem)"):
        run(tmp_path, frame)


def test_the_largest_count_that_is_taken_is_judged(tmp_path: Path) -> None:
    frame = department(LINES, statements=30, seed=6).assign(count=8e4)
    code, found, _ = run(tmp_path, frame)
    jsonschema.validate(found, SCHEMA)
    assert code == 0


def test_blanks_around_a_reader_s_name_make_no_second_reader(tmp_path: Path) -> None:
    frame = department(LINES, statements=100, seed=6)
    frame.loc[::2, "reader"] = " " + frame.loc[::2, "reader"] + " "
    _, found, _ = run(tmp_path, frame)
    assert [r["reader"] for r in found["readers"]] == ["r00", "r01", "r02", "r03"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--never", "Likely,unlikly"), r"'unlikly' is no phrase.*did you mean 'unlikely'"),
        (("--never", "zzz"), r"'zzz' is no phrase of the table diagnostic-certainty-scale\."),
        (("--phrases", "nope"), r"built in are only .*diagnostic-certainty-scale"),
    ],
)
def test_option_that_names_nothing_says_what_there_is(
    tmp_path: Path, given: tuple[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        run(tmp_path, department(LINES, statements=30, seed=6), *given)


def test_table_of_other_headers_gets_a_hint_and_other_separators_are_found(tmp_path: Path) -> None:
    frame = department(LINES, statements=30, seed=6)
    with pytest.raises(InputError, match=r"lower-case.*rename 'Reader', 'Label'"):
        run(tmp_path, frame.rename(columns={"reader": "Reader", "label": "Label"}))
    named = frame[["reader", "phrase", "label"]]
    joined = named.astype(str).agg(";".join, axis=1)
    assert run(tmp_path, joined.to_frame("reader;phrase;label"))[1] == run(tmp_path, named)[1]


def test_period_before_must_be_another_and_of_the_same_readers(tmp_path: Path) -> None:
    frame, before = department(LINES, statements=60, seed=6), tmp_path / "before.csv"
    frame[::-1].to_csv(before, index=False)
    with pytest.raises(InputError, match="holds the same observations"):
        run(tmp_path, frame, "--earlier", str(before))
    other = department(LINES, statements=60, seed=7)
    other.assign(reader="x" + other["reader"]).to_csv(before, index=False)
    with pytest.raises(InputError, match=r"no reader is in both tables \(4 before, 4 now\)"):
        run(tmp_path, frame, "--earlier", str(before))
    other[other["reader"] < "r02"].to_csv(before, index=False)
    _, found, output = run(tmp_path, frame, "--earlier", str(before))
    assert found["changes"] == []
    assert "fewer than 3 readers in both periods" in output


def test_soft_labels_are_taken_as_they_are(tmp_path: Path) -> None:
    frame = department(LINES, statements=600, seed=8)
    frame["label"] = frame["label"].map({0.0: 0.1, 1.0: 0.9})
    _, found, _ = run(tmp_path, frame)
    assert found["diagnostics"]["label_dispersion"] < 0.8  # type: ignore[index]


def test_change_since_a_period_before_is_told_if_that_is_given(tmp_path: Path) -> None:
    before = tmp_path / "before.csv"
    department(LINES, statements=1500, seed=1).to_csv(before, index=False)
    frame = department([(0.0, 1.0), (0.0, 1.0), *LINES[2:]], statements=1500, seed=2)
    _, alone, _ = run(tmp_path, frame)
    _, found, _ = run(tmp_path, frame, "--earlier", str(before))
    jsonschema.validate(found, SCHEMA)
    assert alone["changes"] is None
    moved = {c["reader"]: c["shift"]["high"] for c in found["changes"]}  # type: ignore[attr-defined]
    assert moved.keys() == {"r00", "r01", "r02", "r03"}
    assert [reader for reader, high in moved.items() if high < 0.0] == ["r01"]
    assert alone["readers"] == found["readers"]


def test_what_the_issue_before_told_is_read_from_its_file(tmp_path: Path) -> None:
    last = tmp_path / "last.json"
    lines = [(0.0, 1.0), (0.8, 1.0), (0.0, 0.7), (0.0, 1.0)]
    frame = department(lines, statements=300, seed=44, findings=12)
    _, first, _ = run(tmp_path, frame)
    judged = {r["reader"]: r["pattern"] for r in first["readers"]}  # type: ignore[attr-defined]
    doubtful = [name for name, p in judged.items() if p["sound"] and p["sound"] < 0.95]
    assert doubtful
    last.write_text(json.dumps(first), encoding="utf-8")
    _, again, _ = run(tmp_path, frame, "--told", str(last))
    assert again["readers"] == first["readers"]
    for reader in first["readers"]:  # type: ignore[attr-defined]
        reader["pattern"] |= {"state": "none", "direction": "none"}
    last.write_text(json.dumps(first), encoding="utf-8")
    _, anew, _ = run(tmp_path, frame, "--told", str(last))
    silent = {r["reader"] for r in anew["readers"] if r["pattern"]["state"] != "pattern"}  # type: ignore[attr-defined]
    assert silent >= set(doubtful)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1, 2]", "no file that `radcal profile` writes"),
        ('{"readers": []}', ""),
        (
            '{"readers": [{"reader": "x", "hedges": 90, "pattern": '
            '{"state": "none", "direction": "none"}}]}',
            "none of its 1 readers is in",
        ),
        (
            '{"readers": [{"reader": "r00", "hedges": 90, "pattern": '
            '{"state": "pattern", "direction": "too sure, overcalls"}}]}',
            "1 of 1 readers were told what no profile says",
        ),
    ],
)
def test_issue_before_must_be_a_profile_of_these_readers(
    tmp_path: Path, content: str, message: str
) -> None:
    last = tmp_path / "last.json"
    last.write_text(content, encoding="utf-8")
    frame = department(LINES, statements=60, seed=6)
    if not message:
        assert run(tmp_path, frame, "--told", str(last))[0] == 0
        return
    with pytest.raises(InputError, match=message):
        run(tmp_path, frame, "--told", str(last))


def test_page_of_the_file_prints_every_rule_as_it_is() -> None:
    page = (DOCS / "profile-json.md").read_text(encoding="utf-8")
    rules = ProfileSettings()
    assert f"probability ≥ {rules.pattern_probability:.2f}, and".replace("0.", ".") in page
    assert f"probability ≥ {rules.own_probability:.2f} (`sound`)".replace("0.", ".") in page
    assert f"| shift > {rules.shift_margin:g} |".replace("0.", ".") in page
    assert f"| slope < {1.0 - rules.slope_margin:g} |".replace("0.", ".") in page
    assert f"a shift of {rules.clear_shift:g}".replace("0.", ".") in page
