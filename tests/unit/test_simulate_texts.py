"""Simulated report texts: identifiers where the truth says, findings in the section it says."""

from __future__ import annotations

import re
from importlib.resources import files
from random import Random

import pytest

from pipeline.simulate import Simulation, simulate
from pipeline.simulate.identifiers import Document
from pipeline.simulate.lexicon import wording
from pipeline.simulate.sentences import Speaker


@pytest.fixture(scope="module")
def sim() -> Simulation:
    return simulate(pairs=700, readers=12, seed=5)


@pytest.fixture(scope="module")
def masked(sim: Simulation) -> dict[str, str]:
    """Texts with every planted identifier blanked out."""
    out = {row.exam_id: list(row.text) for row in sim.exams.itertuples()}
    for span in sim.truth.identifiers.itertuples():
        letters = out[span.exam_id]
        letters[span.start : span.end] = "\0" * (span.end - span.start)
    return {exam_id: "".join(letters) for exam_id, letters in out.items()}


def test_spans_hold_the_identifiers(sim: Simulation) -> None:
    texts = sim.exams.set_index("exam_id")["text"].to_dict()
    for span in sim.truth.identifiers.itertuples():
        found = texts[span.exam_id][span.start : span.end]
        assert found == span.text
        assert found == found.strip()
        assert found


def test_every_category_of_identifier_is_planted(sim: Simulation) -> None:
    planted = sim.truth.identifiers
    assert set(planted["category"]) == {
        "AGE90", "DATE", "EMAIL", "HOSPITAL", "ID", "LOCATION", "NAME", "PHONE", "TIME",
    }  # fmt: skip
    assert planted["kind"].nunique() > 35
    assert planted["exam_id"].nunique() > 0.97 * len(sim.exams)


def test_planted_values_are_those_of_the_record(sim: Simulation) -> None:
    exams = sim.exams.set_index("exam_id")
    planted = sim.truth.identifiers
    for kind, column in (("mrn", "patient_id"), ("accession", "accession"), ("phone", "phone")):
        spans = planted[planted["kind"] == kind]
        assert len(spans) > 50
        record = exams.loc[spans["exam_id"], column].to_numpy()
        assert (spans["text"].str.upper().to_numpy() == [v.upper() for v in record]).all()


def test_nothing_identifying_is_left_outside_the_spans(
    sim: Simulation, masked: dict[str, str]
) -> None:
    """The record's own numbers and full names never occur unlisted; nor do old ages or e-mails."""
    for exam in sim.exams.itertuples():
        rest = masked[exam.exam_id].casefold()
        for value in (exam.accession, exam.patient_id, exam.phone, exam.reader_name, exam.site):
            assert value.casefold() not in rest
        assert "@" not in rest
        assert not re.search(r"\b(9\d|1[01]\d)[ -]?(year|y\.o|yo)", rest)
        assert not re.search(r"\b\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}\b|\b20[0-3]\d\b", rest)


def test_ages_above_89_are_planted_and_others_are_not(sim: Simulation) -> None:
    ages = sim.truth.identifiers.query("category == 'AGE90'")["text"].str.extract(r"^(\d+)")[0]
    assert len(ages) > 5
    assert (ages.astype(int) > 89).all()


def test_names_that_are_words_of_a_report_are_planted(sim: Simulation) -> None:
    names = sim.truth.identifiers.query("category == 'NAME'")["text"].str.casefold()
    for word in ("may", "april", "will", "grace", "white", "long", "fields", "case", "o'", "szcz"):
        assert names.str.contains(word, regex=False).any(), word


def test_no_text_starts_like_a_spreadsheet_formula(sim: Simulation) -> None:
    for column in sim.exams.columns[sim.exams.dtypes == "str"]:
        assert not sim.exams[column].str.startswith(("=", "+", "-", "@", "\t")).any(), column


def test_texts_hardly_ever_repeat(sim: Simulation, masked: dict[str, str]) -> None:
    assert sim.exams["text"].is_unique or sim.exams["text"].nunique() > 0.999 * len(sim.exams)
    lines = {re.sub(r"\s+", " ", text) for text in masked.values()}
    assert len(lines) > 0.95 * len(sim.exams.query("exam_code != 'XRKNEE'")) - 60


def test_sections_of_the_truth_exist_in_the_text(sim: Simulation) -> None:
    texts = sim.exams.set_index("exam_id")["text"].to_dict()
    for row in sim.truth.report_findings.drop_duplicates(["exam_id", "section"]).itertuples():
        text = texts[row.exam_id].upper()
        impression = re.search(r"^(IMPRESSION|CONCLUSION|OPINION)\b", text, flags=re.MULTILINE)
        assert (impression is None) == (row.section == "body"), row.exam_id


def test_capitals_never_move_a_span() -> None:
    document = Document()
    document.add("seen by ")
    document.identify("Szczepańska", "NAME", "family")
    start, end, *_ = document.spans[0]
    assert document.text(capitals=True)[start:end] == "SZCZEPAŃSKA"


def test_no_letter_of_the_word_lists_becomes_two_in_capitals() -> None:
    for path in files("pipeline.simulate").joinpath("data").iterdir():
        written = path.read_text(encoding="utf-8")
        assert len(written.upper()) == len(written), path.name


def test_a_section_states_each_pathology_by_one_of_its_nouns() -> None:
    """Every noun of a stated pathology, or its own special sentence, occurs in the section."""
    words = wording()
    for seed in range(300):
        rng = Random(seed)
        count = 1 + seed % 6
        cells = [
            (p, rng.randrange(len(words.phrases)))
            for p in rng.sample(range(len(words.pathologies)), count)
        ]
        mode = ("xray", "ct", "translated")[seed % 3]
        text = " ".join(s.text for s in Speaker(words, mode, rng).section(cells)).casefold()
        for p, _ in cells:
            entry = words.pathologies[p]
            nouns = [n.words for n in (*entry.nouns, *entry.detailed[0], *entry.detailed[1])]
            own = [*nouns, *entry.present, *entry.absent, *entry.clear]
            assert any(n.casefold() in text for n in own), (entry.name, text)
        assert "{" not in text
