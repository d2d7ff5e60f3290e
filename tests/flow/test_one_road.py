"""`radcal calibrate` and the hospital's job: one road, so the same numbers from the same rows.

The job rounds what it prints before it computes (`calibration.rounding`); the command, which is
for those who hold the rows, does not. So the command is given the rows that rounding leaves. What
still differs is what chance adds to the phrase error: the job rounds chance alike.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from calibration.groups import Group, GroupResults, group_results
from calibration.plain import plain_fields
from calibration.rounding import rounded
from calibration.survey import builtin
from calibration.tally import tally
from pipeline import cli
from pipeline.config import Configuration
from pipeline.tables.results import Scale

FINDINGS = ("effusion", "nodule", "pneumonia", "rare")
CONFIG = Configuration(
    input={"paths": ["none"]},
    calibration={"seed": 5, "bootstrap": 100},
    phrases={"discouraged": [], "reserved": [], "recommended": []},
)
PHRASES = builtin("diagnostic-certainty-scale").with_borrowed(CONFIG.phrases.borrow)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Draw a department of two readers who overstate "likely"; one finding has few exams."""
    g = np.random.default_rng(11)
    k = g.choice(len(PHRASES), 2400, p=g.dirichlet(np.ones(len(PHRASES))))
    rate = PHRASES.means.copy()
    rate[PHRASES.index("likely")] -= 0.4
    return pd.DataFrame(
        {
            "reader": g.choice(["R-1", "R-2"], len(k)),
            "pathology": g.choice(FINDINGS, len(k), p=[0.4, 0.35, 0.245, 0.005]),
            "phrase": np.array(PHRASES.phrases)[k],
            "label": (g.random(len(k)) < rate[k]).astype(float),
        }
    )


def by_the_job(rows: pd.DataFrame, name: str) -> GroupResults:
    cells = rows.rename(columns={"label": "label_value"}).groupby(
        ["pathology", "phrase", "label_value"], as_index=False
    )
    return group_results(
        Group(name, cells.size().rename(columns={"size": "count"})),
        pathologies=FINDINGS,
        study=Scale(PHRASES, CONFIG).study,
        minimum=CONFIG.reports.min_exams,
        advised=True,
    )


def as_printed(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Give the rows of each group's rounded tally."""
    parts = []
    for name, part in rows.groupby(by) if by else [((), rows)]:
        k = part["phrase"].map(PHRASES.index).to_numpy()
        counts = rounded(tally(k, part["label"].to_numpy(), n_phrases=len(PHRASES))).counts
        again = pd.DataFrame(
            {
                "phrase": np.repeat(PHRASES.phrases, counts.sum(axis=1).astype(int)),
                "label": np.concatenate([np.repeat([0.0, 1.0], c.astype(int)) for c in counts]),
                # How many findings there are shares out the chance of advice.
                "pathology": np.resize(part["pathology"].to_numpy(), int(counts.sum())),
            }
        )
        parts.append(again.assign(**dict(zip(by, name, strict=True))))
    return pd.concat(parts, ignore_index=True)


def by_the_command(rows: pd.DataFrame, by: str, folder: Path) -> dict[tuple[str, ...], dict]:
    as_printed(rows, by.split(",") if by else []).to_csv(folder / "rows.csv", index=False)
    PHRASES.to_frame().to_csv(folder / "phrases.csv", index=False)
    arguments = ["calibrate", folder / "rows.csv", "--phrases", folder / "phrases.csv"]
    arguments += ["--out", folder / "out.json", "--seed", 5, "--bootstrap", 100, "--quiet"]
    arguments += ["--holdout", "none", "--by", by]
    if not cli.app.registered_commands:
        cli._register()
    done = CliRunner().invoke(cli.app, [str(part) for part in arguments])
    assert done.exit_code == 0, done.output
    groups = json.loads((folder / "out.json").read_text())["groups"]
    return {tuple(group["group"].values()): group for group in groups}


def same(theirs: dict, results: GroupResults, pathology: str | None) -> bool:
    """Whether a group of the file holds a group of the job, figure for figure."""
    own = results.overall if pathology is None else results.by_pathology[pathology]
    ours = {**plain_fields(own), **plain_fields(results.advice[pathology])}
    assert {"ece", "curve", "phrase_table", "advice", "suppressed"} <= set(ours)
    for each in (ours, theirs):
        del each["phrase_error"]  # of exact counts on pages
    return {name: theirs[name] for name in ours} == ours


@pytest.mark.parametrize("reader", ["R-1", "R-2"])
def test_a_readers_results_and_advice_are_the_jobs(
    rows: pd.DataFrame, tmp_path: Path, reader: str
) -> None:
    job = by_the_job(rows[rows["reader"] == reader], reader)
    together = by_the_command(rows, "reader", tmp_path)
    assert same(together[(reader,)], job, None)
    each = by_the_command(rows, "pathology,reader", tmp_path)
    assert [p for p in FINDINGS if job.by_pathology[p] is None] == ["rare"]
    for pathology in FINDINGS[:-1]:
        assert same(each[pathology, reader], job, pathology), pathology
    assert any(found.suggestions for found in job.advice.values())


def test_the_departments_results_and_advice_are_the_jobs(
    rows: pd.DataFrame, tmp_path: Path
) -> None:
    job = by_the_job(rows, "department")
    assert same(by_the_command(rows, "", tmp_path)[()], job, None)
    each = by_the_command(rows, "pathology", tmp_path)
    assert all(same(each[(pathology,)], job, pathology) for pathology in FINDINGS[:-1])


def test_the_command_and_the_job_start_from_the_same_defaults() -> None:
    from calibration.analysis import Settings, Study

    config = Configuration(input={"paths": ["none"]}, phrases=CONFIG.phrases)
    assert Scale(PHRASES, config).study == Study(PHRASES, Settings(), 0)
