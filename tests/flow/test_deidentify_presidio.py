"""Presidio as a second layer: the real package, offline, or a clear word that it is missing."""

from __future__ import annotations

import importlib.util
import socket
from pathlib import Path

import pytest

from pipeline.deidentify import Clean, Deidentifier, KnownIdentifiers, Presidio
from pipeline.errors import ConfigurationError

INSTALLED = importlib.util.find_spec("presidio_analyzer") is not None
needs_presidio = pytest.mark.skipif(not INSTALLED, reason="presidio-analyzer is not installed")
PHRASED = (
    "May represent edema. Likely small effusion in 3 months. Kerley B lines, Swan-Ganz catheter. "
    "Cannot exclude pneumonia; no evidence of pneumothorax. Lung-RADS 4A, series 3 image 45."
)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@needs_presidio
@pytest.mark.usefixtures("offline")
@pytest.mark.filterwarnings("default")
def test_its_hits_are_added_to_ours_and_phrases_stay() -> None:
    alone, both = Deidentifier(), Deidentifier(second_layer=Presidio())
    assert both.clean(PHRASED) == alone.clean(PHRASED)
    card = f"{PHRASED} Paid with 4111 1111 1111 1111 by Dr. Kowalski, x@y.example.org."
    found = both.clean(card)
    assert isinstance(found, Clean)
    assert found.text == f"{PHRASED} Paid with [ID] by Dr. [NAME], [EMAIL]."
    assert "presidio" in {each.rule for each in found.removed}
    known = KnownIdentifiers(names=("MAY^GRACE",))
    assert isinstance(both.clean(PHRASED, known=known), Clean)


@needs_presidio
def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no spaCy model lies there \(no meta.json\)"):
        Presidio(tmp_path)


@needs_presidio
@pytest.mark.filterwarnings("default")
def test_a_broken_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        Presidio(tmp_path)


@needs_presidio
@pytest.mark.usefixtures("offline")
@pytest.mark.filterwarnings("default")
def test_a_local_model_finds_the_names_it_knows(tmp_path: Path) -> None:
    import spacy

    model = spacy.blank("en")
    ruler = model.add_pipe("entity_ruler")
    people = ["Zyx", "May", "Kerley", "Likely"]
    ruler.add_patterns([{"label": "PERSON", "pattern": name} for name in people])  # type: ignore[attr-defined]
    model.to_disk(tmp_path / "model")
    both = Deidentifier(second_layer=Presidio(tmp_path / "model"))
    found = both.clean("The case was shown to Zyx. May represent edema. Likely Kerley B lines.")
    assert isinstance(found, Clean)
    assert found.text == "The case was shown to [NAME]. May represent edema. Likely Kerley B lines."
    assert found.phrases_locked == 2


@pytest.mark.skipif(INSTALLED, reason="presidio-analyzer is installed")
def test_a_missing_package_is_said_with_what_to_do() -> None:
    with pytest.raises(ConfigurationError, match="Presidio is not installed here"):
        Presidio()


class Greedy:
    """A layer that takes everything there is."""

    def find(self, text: str):  # type: ignore[no-untyped-def]
        from pipeline.deidentify.spans import Found

        yield Found(0, len(text), "NAME", "greedy", sure=False)


def test_no_second_layer_can_take_a_certainty_phrase_or_a_clinical_name() -> None:
    found = Deidentifier(second_layer=Greedy()).clean("May represent Kerley B lines, likely edema.")
    assert isinstance(found, Clean)
    assert found.phrases_locked == 2
    for kept in ("May represent", "Kerley", "likely"):
        assert kept in found.text
