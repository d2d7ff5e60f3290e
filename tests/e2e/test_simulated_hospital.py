"""The demonstration recovers the simulated hospital's truth, and gives nobody away."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pypdf
import pytest
from scipy.stats import binom

from calibration.regression import logistic_calibration
from calibration.survey import builtin
from calibration.tally import tally
from pipeline.vault.codes import exam_identifiers, study_identifiers
from pipeline.vault.vault import Vault
from tests.e2e.commands import DEMO, Demo, here, radcal
from tests.fixtures.reports.measured import counts_of_review, differing_in_review, words_of
from tests.golden.test_reports_html import read

pytestmark = pytest.mark.slow


def table(demo: Demo, name: str) -> pd.DataFrame:
    shards = sorted((demo.workspace / "analysis" / name).glob("*.parquet"))
    return pd.concat([pd.read_parquet(shard) for shard in shards], ignore_index=True)


def study_codes(demo: Demo) -> dict[str, str]:
    exams = raw_exams(demo, ["accession", "patient_id", "patient_domain"])
    with Vault.open(demo.workspace / "raw" / "vault.sqlite", demo.key, read_only=True) as vault:
        codes = vault.codes("study", study_identifiers(exams))
    return dict(zip(exams["accession"], codes, strict=True))


def raw_exams(demo: Demo, columns: list[str]) -> pd.DataFrame:
    shards = sorted((demo.workspace / "raw" / "exams").glob("*.parquet"))
    return pd.concat([pd.read_parquet(shard, columns=columns) for shard in shards])


def exam_keys(demo: Demo) -> pd.DataFrame:
    """Every exported version, by its labels, with its key in the analysis zone."""
    labels = ["accession", "status", "version"]
    exams = raw_exams(demo, [*labels, "source_digest", "patient_id", "patient_domain"])
    with Vault.open(demo.workspace / "raw" / "vault.sqlite", demo.key, read_only=True) as vault:
        study = vault.codes("study", study_identifiers(exams))
        exam = vault.codes("exam", exam_identifiers(exams))
    each = zip(study, exams["status"], exam, strict=True)
    return exams[labels].assign(exam_key=[".".join(parts) for parts in each])


def test_demo_ends_well_and_tells_its_counts(demo: Demo) -> None:
    assert demo.finished.code == 0, demo.finished.err
    assert demo.finished.summary["outcome"] == "delivered"
    assert demo.finished.summary["pages_delivered"] == 9


def test_every_reader_and_the_committee_get_a_page(demo: Demo) -> None:
    folders = sorted(p.name for p in demo.delivery().iterdir())
    assert len([f for f in folders if f.startswith("R-")]) == 8
    for folder in folders:
        name = "review.pdf" if folder == "committee" else "feedback.pdf"
        page = demo.delivery() / folder / name
        assert page.stat().st_mode & 0o777 == 0o600
        assert len(pypdf.PdfReader(page).pages) >= 2


def test_every_total_of_the_review_is_the_same_wherever_it_stands(demo: Demo) -> None:
    page = (demo.delivery() / "committee" / "review.html").read_bytes()
    tables, words = read(page).tables, words_of(page.decode())
    n = {row[0]: row[-1] for row in tables["Scores"][1:]}
    hedged = {n.pop(name) for name in [*n] if "hedges" in name or "without absent" in name}
    assert len(n) == 5
    ((everything,), (hedges,)) = {*n.values()}, hedged
    assert sum(row[1:2] == [everything] for rows in tables.values() for row in rows) >= 5
    assert words.count(f"{everything} statements") >= 2
    assert f"statements compared with CT {everything}" in words
    unscored = re.search(r"hedges without a surveyed meaning ([\d,]+)", words)
    assert unscored is not None
    uses = sum(
        int(row[2].replace(",", ""))
        for row in tables["Use of the institution's terms (2)"][1:]
        if row[0] != "diagnostic of"
    )  # listed as a term, and no hedge
    assert f"{uses:,}" == f"{int(hedges.replace(',', '')) + int(unscored[1].replace(',', '')):,}"


def test_the_review_counts_a_reader_as_the_readers_own_page_does(demo: Demo) -> None:
    page = (demo.delivery() / "committee" / "review.html").read_bytes()
    in_review = {row[0]: row[1] for row in read(page).tables["Readers, in code order"][1:]}
    assert len(in_review) == 8
    for reader, n in in_review.items():
        own = (demo.delivery() / reader / "feedback.html").read_text(encoding="utf-8")
        assert f"{n} statements about a finding" in words_of(own), reader


def test_the_review_counts_cards_and_marks_as_the_delivered_pages_hold_them(demo: Demo) -> None:
    def text(path: Path) -> str:
        return "\n".join(sheet.extract_text() for sheet in pypdf.PdfReader(path).pages)

    own = {folder.name: text(folder / "feedback.pdf") for folder in demo.delivery().glob("R-*")}
    review = text(demo.delivery() / "committee" / "review.pdf")
    cards = {reader: each.count("I agree") for reader, each in own.items()}
    said = r"(\d+) swaps on the pages of (\d+) of (\d+) readers"
    advised = re.search(said, " ".join(review.split()))
    assert advised is not None
    given = sum(map(bool, cards.values()))
    assert [*map(int, advised.groups())] == [sum(cards.values()), given, len(own)]
    hands = re.findall(
        r"“([^”]+)”\s+[\d.]+\s+\(says\s+\d+\s%,\s+CT\s+\d+\s%;\s+for\s+(\d+)\s+of", review
    )
    assert len(hands) > 1
    for word, readers in hands:
        marks = [len(re.findall(rf"less *\n{word} *\n", each)) for each in own.values()]
        assert sum(marks) == int(readers), word


def test_every_count_of_the_review_is_one_in_its_pdf_and_html(demo: Demo) -> None:
    folder = demo.delivery() / "committee"
    page = (folder / "review.html").read_text(encoding="utf-8")
    pdf = " ".join(sheet.extract_text() for sheet in pypdf.PdfReader(folder / "review.pdf").pages)
    assert differing_in_review(page, pdf) == []
    found = counts_of_review(page)
    assert {"statements", "hedges without a meaning", "readers told", "swaps", "likely"} <= {
        name for name, each in found.items() if each
    }


def test_pairs_are_those_of_the_truth_but_for_withheld_reports(demo: Demo) -> None:
    truth = pd.read_parquet(demo.truth / "pairs.parquet")
    codes = study_codes(demo)
    expected = set(
        zip(truth["xr_accession"].map(codes), truth["ct_accession"].map(codes), strict=True)
    )
    found = table(demo, "pairs")
    pairs = set(zip(found["xr_study_code"], found["ct_study_code"], strict=True))
    withheld = {key.split(".")[0] for key in table(demo, "withheld")["exam_key"]}
    missed = {pair for pair in expected - pairs if not set(pair) & withheld}
    assert pairs <= expected
    assert missed == set()
    assert len(pairs) >= 0.98 * len(expected)


def test_extraction_agrees_with_the_truth_cell_by_cell(demo: Demo) -> None:
    truth = pd.read_parquet(demo.truth / "report_findings.parquet")
    truth = truth.astype({"version": "str"}).merge(exam_keys(demo))
    read = set(table(demo, "readings")["exam_key"])
    truth = truth[truth["exam_key"].isin(read)]
    found = table(demo, "report_findings")
    found = found[found["pathology"].isin(set(truth["pathology"]))]
    both = truth.merge(found, on=["exam_key", "pathology"], how="outer")
    wrong = (both["phrase_x"].fillna("") != both["phrase_y"].fillna("")).sum()
    cells = len(read) * truth["pathology"].nunique()
    assert 1 - wrong / cells >= 0.99


def test_reader_slopes_are_recovered_within_their_intervals(demo: Demo) -> None:
    phrases = builtin("diagnostic-certainty-scale")
    index = {phrase: k for k, phrase in enumerate(phrases.phrases)}
    truth = pd.read_csv(demo.truth / "readers.csv")
    with Vault.open(demo.workspace / "raw" / "vault.sqlite", demo.key, read_only=True) as vault:
        codes = vault.codes("reader", truth["reader_id"].tolist())
    observations = table(demo, "observations")
    surveyed = observations[observations["phrase"].isin(index)]
    inside = []
    for code, slope in zip(codes, truth["fitted_slope"], strict=True):
        own = surveyed[surveyed["reader_code"] == code]
        counted = tally(
            own["phrase"].map(index).to_numpy(dtype=np.int64),
            own["label"].to_numpy(),
            n_phrases=len(phrases),
        )
        line = logistic_calibration(counted, phrase_table=phrases).slope
        inside.append(line.low <= slope <= line.high)
    # One department in fifty has fewer by chance, were every interval right.
    assert sum(inside) >= binom.ppf(0.02, len(inside), 0.95), inside


def outputs(demo: Demo) -> Iterator[tuple[Path, str]]:
    """Every byte outside the raw zone and the export itself, as text that can be searched."""
    yield Path("stdout"), demo.finished.out
    yield Path("stderr"), demo.finished.err
    kept_apart = (demo.workspace / "raw", demo.folder / "demo" / "hospital")
    for path in sorted(demo.folder.rglob("*")):
        if not path.is_file() or any(path.is_relative_to(zone) for zone in kept_apart):
            continue
        yield path, str(path.relative_to(demo.folder))
        if path.suffix == ".parquet":
            yield path, pd.read_parquet(path).to_csv()
        elif path.suffix == ".pdf":
            reader = pypdf.PdfReader(path)
            yield path, "\n".join(page.extract_text() for page in reader.pages)
            yield path, str(reader.metadata)
        yield path, path.read_bytes().decode("latin-1")


def canaries(demo: Demo) -> set[str]:
    """Planted identifiers distinctive enough that finding one anywhere is a leak."""
    planted = pd.read_parquet(demo.truth / "identifiers.parquet").to_dict("records")
    return {_folded(p["text"]) for p in planted if p["distinctive"] and p["category"] != "DATE"}


_PARTED = str.maketrans({chr(c): " " for c in range(256) if not re.match(r"[0-9a-z]", chr(c))})
"""Of Latin-1 all that parts words; what lies beyond parts them too."""


def _folded(text: str) -> str:
    return " ".join(_words(text))


def _words(text: str) -> list[str]:
    plain = text.casefold().encode("latin-1", "replace").decode("latin-1")
    return plain.translate(_PARTED).split()


def _found(text: str, wanted: set[str]) -> set[str]:
    """Wanted strings of one to four words that stand in the text, looked up by their first word."""
    words, first = _words(text), {w.split()[0] for w in wanted}
    starts = [i for i, word in enumerate(words) if word in first]
    return {
        joined
        for i in starts
        for length in range(1, 5)
        if (joined := " ".join(words[i : i + length])) in wanted
    }


def test_search_for_identifiers_finds_them_where_they_are(demo: Demo) -> None:
    exams = (demo.folder / "demo" / "hospital" / "exams.csv").read_text(encoding="utf-8")
    wanted = {w for w in canaries(demo) if len(w.split()) <= 4}
    assert len(wanted) > 1000
    assert len(_found(exams, wanted)) > 0.95 * len(wanted)


def test_no_planted_identifier_in_any_byte_outside_the_raw_zone(demo: Demo) -> None:
    wanted = canaries(demo)
    leaks = {str(path): found for path, text in outputs(demo) if (found := _found(text, wanted))}
    assert leaks == {}


def test_reports_are_not_kept_by_prefect(demo: Demo) -> None:
    (database,) = (demo.workspace / "prefect").glob("prefect.db")
    with sqlite3.connect(database) as connection:
        (runs,) = connection.execute("select count(*) from task_run").fetchone()
        parameters = str(connection.execute("select parameters from flow_run").fetchall())
    assert runs > 10
    assert "radcal.toml" in parameters
    assert not re.search("effusion|pneumonia|opacity", parameters)


def test_second_run_changes_nothing_and_says_so(demo: Demo) -> None:
    def content() -> dict[str, bytes]:
        zones = ("raw/exams", "analysis", "delivery")
        files = [p for z in zones for p in (demo.workspace / z).rglob("*") if p.is_file()]
        return {str(p): p.read_bytes() for p in files}

    before = content()
    again = radcal(*DEMO, cwd=demo.folder)
    assert again.code == 0, again.err
    assert again.summary["outcome"] == "nothing changed"
    assert again.summary["pages_unchanged"] == 9
    assert content() == before


def test_status_tells_the_last_run(demo: Demo) -> None:
    told = here("status", "demo/radcal.toml", "--json", cwd=demo.folder)
    assert told.code == 0
    assert told.summary["last_run"] == "delivered"
    assert told.summary["lock"] == "free"
    assert {stage["state"] for stage in told.summary["stages"]} == {"up to date"}
