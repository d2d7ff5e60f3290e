"""Unit: vocabulary files are read whole, checked whole, and every problem is listed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from extraction.audit.text import changes
from extraction.errors import VocabularyError
from extraction.finding import Extracted
from extraction.rules.engine import RuleEngine
from extraction.vocabulary import load
from extraction.vocabulary.patterns import warnings_for

NAMED = [
    "aspiration", "atelectasis", "bronchiectasis", "cardiomegaly", "consolidation", "emphysema",
    "fibrosis", "fracture", "granuloma", "hiatal hernia", "lung mass", "lung nodule",
    "lung opacity", "lymphadenopathy", "pericardial effusion", "pleural effusion",
    "pleural thickening", "pneumonia", "pneumothorax", "pulmonary edema", "pulmonary embolism",
    "scarring", "tuberculosis", "vascular congestion",
]  # fmt: skip


def test_shipped_vocabulary_has_the_agreed_pathologies_and_phrases() -> None:
    vocabulary = load()
    assert sorted(vocabulary.pathologies) == sorted(NAMED)
    assert len(vocabulary.phrases) == 20
    assert (vocabulary.phrases[0], vocabulary.phrases[-1]) == ("absent", "present")


def test_shipped_vocabulary_gives_no_warning() -> None:
    assert warnings_for(load()) == []


def test_rollups_name_labels_of_the_public_sets() -> None:
    named = {entry.name: (entry.chexpert, entry.ctrate) for entry in load().entries}
    assert named["lung opacity"] == ("Lung Opacity", "Lung opacity")
    assert named["lung mass"][0] == named["lung nodule"][0] == "Lung Lesion"


def test_every_problem_of_every_file_is_listed_at_once(tmp_path: Path) -> None:
    (tmp_path / "phrases.toml").write_text("phrases = 3")
    (tmp_path / "cues.toml").write_text('[[cue]]\nphrase = "x"\nkind = "loud"\nside = "before"')
    (tmp_path / "sections.toml").write_text("[[section")
    with pytest.raises(VocabularyError) as caught:
        load(tmp_path)
    message = str(caught.value)
    assert "phrases.toml: phrases" in message
    assert "cues.toml: cue.0.kind" in message
    assert "sections.toml: not valid TOML" in message


def test_a_folder_that_holds_no_file_of_a_vocabulary_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cue.toml").write_text("")
    for folder in (tmp_path, tmp_path / "misspelt"):
        with pytest.raises(VocabularyError, match=r"holds none of phrases.toml, .*cues.toml"):
            load(folder)


def test_a_phrase_nobody_defined_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cues.toml").write_text(
        '[[cue]]\nphrase = "rather sure"\nkind = "hedge"\nside = "before"\nwords = ["sure of"]'
    )
    with pytest.raises(VocabularyError, match=r"'rather sure' is not in phrases.toml"):
        load(tmp_path)


def test_an_edited_file_changes_the_digest_and_only_what_it_says(tmp_path: Path) -> None:
    shipped = load()
    place = Path(load.__globals__["_HERE"])
    text = (place / "pathologies.toml").read_text().replace('"pneumonia", ', '"pneumonia", "flu", ')
    (tmp_path / "pathologies.toml").write_text(text)
    edited = load(tmp_path)
    assert edited.digest != shipped.digest
    texts = ["Likely flu. No effusion.", "No effusion."]
    before = RuleEngine(shipped).extract(texts, modality="XR")
    after = RuleEngine(edited).extract(texts, modality="XR")
    found = list(changes(["a", "b"], (shipped, before), (edited, after)))
    assert [(c.report_id, c.pathology, c.before, c.after) for c in found] == [
        ("a", "pneumonia", "not mentioned", "likely")
    ]


def test_two_meanings_of_one_cue_are_a_warning(tmp_path: Path) -> None:
    place = Path(load.__globals__["_HERE"])
    text = (place / "cues.toml").read_text()
    extra = '\n[[cue]]\nphrase = "likely"\nkind = "hedge"\nside = "before"\nwords = ["possible"]\n'
    (tmp_path / "cues.toml").write_text(text + extra)
    assert warnings_for(load(tmp_path)) == [
        "cue 'possible': means 'possibly', so 'likely' never applies."
    ]


def test_verbs_that_open_what_each_other_opens_are_read() -> None:
    shipped = load()
    alike = {
        "is not": ("are",), "are not": ("is",), "was not": ("is",), "was": ("is", "are"),
        "is": ("was",),
    }  # fmt: skip
    grammar = shipped.grammar.model_copy(update={"alike": alike})
    engine = RuleEngine(replace(shipped, grammar=grammar, digest="verbs alike"))
    (outcome,) = engine.extract(["Edema was not excluded."], modality="XR")
    assert isinstance(outcome, Extracted)
    assert [each.phrase for each in outcome.findings] == ["cannot exclude"]
