"""``radcal disagreement``, ``scalar`` and ``difficulty`` with real files: results and refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer

from pipeline.neighbours import measures as neighbours
from tests.fixtures.commands import Done, run

CLASSES = ["present", "uncertain", "absent"]
_APP = typer.Typer()
neighbours.register(_APP)


def radcal(*arguments: str | Path) -> Done:
    return run(_APP, *arguments)


def strict(path: Path) -> dict[str, object]:
    def refuse(name: str) -> float:
        raise AssertionError(name)

    found: dict[str, object] = json.loads(path.read_text(), parse_constant=refuse)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """120 exams: probabilities, votes in another order of rows and columns, sliders, a pool."""
    g = np.random.default_rng(3)
    pi = g.dirichlet([0.8, 0.6, 0.6], 120)
    probs = (0.3 * g.dirichlet([1, 1, 1], 120) + 0.7 * pi).round(3)
    probs[:, 2] = (1.0 - probs[:, 0] - probs[:, 1]).round(3)
    votes = np.array([g.multinomial(12, p) for p in pi])
    items = [f"case {k:03d}" for k in range(120)]
    pd.DataFrame(probs, columns=CLASSES).assign(item=items).to_csv(tmp_path / "p.csv", index=False)
    mixed = pd.DataFrame(votes, columns=CLASSES).assign(item=items).sample(frac=1, random_state=1)
    mixed[["item", *reversed(CLASSES)]].to_csv(tmp_path / "v.csv", index=False)
    slider = (100 * probs @ [1, 0.4, 0]).round()
    words = np.where(slider > 50, "likely", "unlikely")
    label = (g.random(120) < pi[:, 0]).astype(int)
    table = pd.DataFrame({"item": items, "slider": slider, "label": label, "phrase": words})
    table.to_csv(tmp_path / "s.csv", index=False)
    pool = np.stack([w * g.dirichlet([1, 1, 1], 120) + (1 - w) * pi for w in (0.2, 0.5, 0.8)])
    np.savez(tmp_path / "pool.npz", probs=pool, votes=votes, checkpoints_0=pool[:1],
             checkpoints_1=pool[:2])  # fmt: skip
    parts = [
        pd.DataFrame(p, columns=CLASSES).assign(model=f"engine {m}", item=items)
        for m, p in enumerate(pool)
    ]
    pd.concat(parts).to_csv(tmp_path / "pool.csv", index=False)
    return tmp_path


def edited(path: Path, row: int, column: str, value: object) -> Path:
    """Change one cell; rows count from 1 below the header."""
    frame = pd.read_csv(path, dtype=str)
    frame.loc[row - 1, column] = str(value)
    frame.to_csv(path, index=False)
    return path


def compare(folder: Path, *more: str | Path) -> Done:
    return radcal(
        "disagreement", folder / "v.csv", "--predictions", folder / "p.csv",
        "--out", folder / "d.json", "--bootstrap", "50", *more,
    )  # fmt: skip


def test_result_matches_items_and_classes_by_name(folder: Path) -> None:
    done = compare(folder, "--control", "4", "--json")
    assert done.returncode == 0
    found = strict(folder / "d.json")
    p = pd.read_csv(folder / "p.csv").set_index("item")
    v = pd.read_csv(folder / "v.csv").set_index("item").loc[p.index, CLASSES]
    by_hand = 0.5 * (p[CLASSES] - v / 12).abs().sum(axis=1).mean()
    assert found["distance"]["value"] == pytest.approx(by_hand)
    assert found["distance"]["low"] < by_hand < found["distance"]["high"]
    assert found["control"]["votes_drawn"] == 4
    assert found["classes"] == CLASSES
    assert sum(found["distance_histogram"]["count"]) == 120
    assert json.loads(done.stdout)["items"] == 120


def test_items_table_is_written_and_agrees_with_the_result(folder: Path) -> None:
    assert compare(folder, "--items-out", folder / "items.csv").returncode == 0
    items = pd.read_csv(folder / "items.csv")
    found = strict(folder / "d.json")
    assert items["distance"].mean() == pytest.approx(found["distance"]["value"])


def test_one_row_per_readers_vote_counts_like_the_wide_table(folder: Path) -> None:
    assert compare(folder).returncode == 0
    wide = strict(folder / "d.json")
    votes = pd.read_csv(folder / "v.csv")
    rows = [
        {"item": row["item"], "reader": f"R{reader}", "class": name}
        for _, row in votes.iterrows()
        for reader, name in enumerate(name for c in CLASSES for name in [c] * row[c])
    ]
    pd.DataFrame(rows).to_csv(folder / "v.csv", index=False)
    assert compare(folder).returncode == 0
    assert strict(folder / "d.json") == wide
    named = {"item": "exam", "class": "label"}
    pd.DataFrame(rows).rename(columns=named).to_csv(folder / "v.csv", index=False)
    assert compare(folder).returncode == 0
    assert strict(folder / "d.json") == wide
    pd.DataFrame([*rows, rows[4]]).to_csv(folder / "v.csv", index=False)
    assert "repeat a reader's vote on an item; first at row 1441" in compare(folder).stderr


BAD = {
    "sum": ("p.csv", 3, "absent", 0.9, r"p.csv: 1 of 120 rows do not sum to 1; first at row 3 ("),
    "text": ("p.csv", 4, "absent", "x", "hold a class value that is not a number; first at row 4"),
    "nan": ("p.csv", 4, "absent", "nan", "not a number; first at row 4"),
    "negative": ("v.csv", 5, "absent", -1, "v.csv: 1 of 120 rows hold a negative count"),
    "fraction": ("v.csv", 6, "absent", 0.5, "fractions where counts are needed; first at row 6"),
    "stranger": ("v.csv", 7, "item", "case 999", "v.csv: 1 of 120 rows name an item that p.csv"),
    "twice": ("p.csv", 8, "item", "case 000", "p.csv: 1 of 120 rows repeat an item"),
    "blank": ("p.csv", 2, "item", " ", "rows name no item; first at row 2"),
}


@pytest.mark.parametrize(("file", "row", "column", "value", "message"), BAD.values(), ids=BAD)
def test_bad_row_stops_the_command_and_is_named(
    folder: Path, file: str, row: int, column: str, value: object, message: str
) -> None:
    edited(folder / file, row, column, value)
    done = compare(folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "case" not in done.stderr
    assert not (folder / "d.json").exists()


def test_item_without_votes_is_named(folder: Path) -> None:
    votes = pd.read_csv(folder / "v.csv")
    votes.loc[10, CLASSES] = 0
    votes.to_csv(folder / "v.csv", index=False)
    assert "v.csv: 1 of 120 rows hold no vote; first at row 11" in compare(folder).stderr


def test_one_class_and_other_classes_are_refused(folder: Path) -> None:
    table = pd.read_csv(folder / "p.csv")
    table.rename(columns={"absent": "gone"}).to_csv(folder / "p.csv", index=False)
    assert "classes differ in absent, gone" in compare(folder).stderr
    table[["item", "present"]].to_csv(folder / "p.csv", index=False)
    assert "p.csv: 1 class column(s); give one column per class" in compare(folder).stderr


def test_control_of_more_votes_than_there_are_says_how_many(folder: Path) -> None:
    done = compare(folder, "--control", "13")
    assert done.returncode == 2
    assert "v.csv: 120 of 120 rows hold fewer than 13 votes; first at row 1." in done.stderr
    for name in CLASSES:
        edited(folder / "v.csv", 5, name, 1)
    assert "v.csv: 1 of 120 rows hold fewer than 12" in compare(folder, "--control", "12").stderr
    assert "first at row 5. Lower --control." in compare(folder, "--control", "12").stderr


def test_sliders_are_calibrated_without_bins_and_phrases_get_distributions(folder: Path) -> None:
    done = radcal("scalar", folder / "s.csv", "--out", folder / "s.json")
    assert done.returncode == 0
    found = strict(folder / "s.json")
    assert found["calibration"]["n"] == 120
    parts = found["calibration"]["brier"]
    whole = parts["miscalibration"] - parts["discrimination"] + parts["uncertainty"]
    assert parts["score"] == pytest.approx(whole)
    assert [p["phrase"] for p in found["phrases"]] == ["likely", "unlikely"]
    likely, unlikely = (p["distribution"] for p in found["phrases"])
    assert likely["alpha"] / likely["beta"] > unlikely["alpha"] / unlikely["beta"]
    assert "predictions" not in found


def test_predictions_are_held_against_sliders_and_votes(folder: Path) -> None:
    done = radcal(
        "scalar", folder / "s.csv", "--out", folder / "s.json", "--predictions", folder / "p.csv",
        "--votes", folder / "v.csv", "--values", "present=1,uncertain=0.4,absent=0",
    )  # fmt: skip
    assert done.returncode == 0
    found = strict(folder / "s.json")["predictions"]
    assert found["mean_absolute_error"]["value"] < 0.006
    assert found["bounds"]["error"] < found["classwise_error"]["value"]
    assert found["ranking_risk"]["pairs"] == 120 * 119 // 2


SCALAR_BAD = {
    "slider": (("s.csv", 2, "slider", 130), (), "slider: 1 of 120 values are missing or outside"),
    "label": (("s.csv", 3, "label", "x"), (), "label: 1 of 120 values are missing or outside 0"),
    "phrase": (("s.csv", 4, "phrase", ""), (), "phrase: 1 of 120 values are blank; first at row 4"),
    "values": ((), ("--predictions", "p.csv", "--values", "present=1"), "give each class its pla"),
    "orphan": ((), ("--values", "a=1"), "say how to judge --predictions"),
    "scale": ((), ("--scale", "0"), "give the slider's reading at certainty"),
    "item": (
        ("s.csv", 9, "item", "other"),
        ("--predictions", "p.csv", "--values", "present=1,uncertain=.4,absent=0"),
        "s.csv: 1 of 120 rows name an item that p.csv does not have; first at row 9",
    ),
}


@pytest.mark.parametrize(("edit", "options", "message"), SCALAR_BAD.values(), ids=SCALAR_BAD)
def test_unusable_judgements_are_refused(
    folder: Path, edit: tuple[object, ...], options: tuple[str, ...], message: str
) -> None:
    if edit:
        edited(folder / str(edit[0]), int(edit[1]), str(edit[2]), edit[3])
    given = [folder / o if o.endswith(".csv") else o for o in options]
    done = radcal("scalar", folder / "s.csv", "--out", folder / "s.json", *given)
    assert done.returncode == 2
    assert message in done.stderr


def test_arrays_and_table_of_a_pool_give_the_same_indicators(folder: Path) -> None:
    first = radcal("difficulty", folder / "pool.npz", "--out", folder / "a.json",
                   "--items-out", folder / "a.csv")  # fmt: skip
    second = radcal("difficulty", folder / "pool.csv", "--votes", folder / "v.csv",
                    "--out", folder / "b.json", "--items-out", folder / "b.csv")  # fmt: skip
    assert (first.returncode, second.returncode) == (0, 0)
    a, b = strict(folder / "a.json"), strict(folder / "b.json")
    assert set(a["indicators"]) - set(b["indicators"]) == {
        "M_avg_ckpt_p", "M_first_ckpt", "M_avg_ckpt",
    }  # fmt: skip
    for name, spread in b["indicators"].items():
        assert a["indicators"][name] == pytest.approx(spread), name
    items = pd.read_csv(folder / "b.csv")
    assert sorted(items["review_rank"]) == list(range(1, 121))
    first_in_line = items.sort_values("review_rank")
    assert (np.diff(first_in_line["M_dis"]) <= 1e-12).all()
    assert a["split"]["n_success"] + a["split"]["n_failure"] == 120


def test_blanks_around_an_items_name_are_no_part_of_it_in_a_pool_either(folder: Path) -> None:
    pool = pd.read_csv(folder / "pool.csv", dtype=str)
    edited(folder / "pool.csv", 1, "item", f" {pool['item'][0]} ")
    given = ("difficulty", folder / "pool.csv", "--votes", folder / "v.csv")
    assert radcal(*given, "--out", folder / "d.json").returncode == 0
    assert strict(folder / "d.json")["n"] == 120
    edited(folder / "pool.csv", 1, "item", " ")
    assert "1 of 360 rows name no item" in radcal(*given, "--out", folder / "d.json").stderr


def test_reference_column_of_the_pool_is_used_and_checked(folder: Path) -> None:
    pool = pd.read_csv(folder / "pool.csv").assign(reference="present")
    pool.to_csv(folder / "pool.csv", index=False)
    arguments = ("difficulty", folder / "pool.csv", "--out", folder / "c.json")
    assert radcal(*arguments).returncode == 0
    assert "H_dis" not in strict(folder / "c.json")["indicators"]
    edited(folder / "pool.csv", 5, "reference", "absent")
    assert "give an item another reference than its other rows" in radcal(*arguments).stderr
    edited(folder / "pool.csv", 5, "reference", "elsewhere")
    assert "name a reference that is no class column; first at row 5" in radcal(*arguments).stderr


def test_pool_with_a_missing_or_broken_file_says_so(folder: Path) -> None:
    out = ("--out", folder / "c.json")
    assert "no such file" in radcal("difficulty", folder / "none.npz", *out).stderr
    (folder / "broken.npz").write_bytes(b"not an archive")
    assert "cannot be read as arrays" in radcal("difficulty", folder / "broken.npz", *out).stderr
    np.savez(folder / "other.npz", scores=np.zeros(3))
    assert "no array probs" in radcal("difficulty", folder / "other.npz", *out).stderr
    np.savez(folder / "flat.npz", probs=np.zeros((3, 2)))
    assert (
        "expected (models, items, classes)"
        in radcal("difficulty", folder / "flat.npz", *out).stderr
    )
    pool = pd.read_csv(folder / "pool.csv").iloc[:-1]
    pool.to_csv(folder / "pool.csv", index=False)
    assert (
        "1 pairs of model and item are missing"
        in radcal("difficulty", folder / "pool.csv", *out).stderr
    )


def test_pickled_arrays_are_never_loaded(folder: Path) -> None:
    np.savez(folder / "objects.npz", probs=np.array([{"a": 1}], dtype=object))
    done = radcal("difficulty", folder / "objects.npz", "--out", folder / "c.json")
    assert done.returncode == 2
    assert "cannot be read as arrays" in done.stderr
