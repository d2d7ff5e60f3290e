"""What ``radcal disagreement`` and ``radcal scalar`` read, compute and write.

Results are one JSON file each, without NaN, described in docs/neighbours.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from calibration.arrays import FloatArray
from calibration.neighbours import class_scores, export
from calibration.neighbours.categorical import frequencies
from calibration.neighbours.disagreement import disagreement as measure
from calibration.neighbours.ranking import ranking_risk
from calibration.neighbours.sliders import personal_phrases, slider_calibration
from calibration.plain import Plain, plain
from calibration.survey import PhraseTable
from pipeline.cli.common import blaming, phrase_table, write_result
from pipeline.errors import ConfigurationError, InputError
from pipeline.formats.tables import numbers, read_table, refuse, texts, write_table
from pipeline.neighbours.categories import (
    ClassTable,
    aligned,
    matched,
    read_predictions,
    read_votes,
)
from pipeline.neighbours.options import Disagreement, Scalar


def disagreement(given: Disagreement) -> None:
    """Measure predictions against votes, and write what was asked for."""
    predicted = read_predictions(given.predictions)
    votes = read_votes(given.votes, classes=predicted.classes)
    few = votes.cells.sum(axis=1) < given.control
    fault = f"rows hold fewer than {given.control} votes"
    refuse(few, given.votes.name, fault, advice="Lower --control.")
    voted = aligned(votes, predicted)
    with blaming(given.votes.name):
        found = measure(
            probs=predicted.cells,
            votes=voted.cells,
            bins=given.bins,
            bootstrap=given.bootstrap,
            control_votes=given.control,
            rng=np.random.default_rng(given.seed),
        )
    settings = {name: getattr(given, name) for name in ("bins", "bootstrap", "control", "seed")}
    data = export.disagreement_data(found)
    write_result(given.out, {"classes": list(predicted.classes), "settings": settings, **data})
    if given.items_out is not None:
        frame = found.to_frame()
        frame.insert(0, "item", list(predicted.items))
        write_table(frame, given.items_out)
    names = ("distance", "entropy", "ranking", "accuracy", "confidence_ece", "classwise_ece")
    summary: dict[str, object] = {"items": found.n}
    summary |= {name: round(float(found.estimates[name].value), 4) for name in names}
    summary |= {"noise_floor": round(float(found.floor), 4), "result": str(given.out)}
    given.output.tell(summary)


def scalar(given: Scalar) -> None:
    """Measure sliders, and predictions against them, and write what was asked for."""
    if given.predictions is None and (given.votes is not None or given.places):
        raise ConfigurationError(
            "--votes and --values say how to judge --predictions; give those too."
        )
    judged = Judgements.read(given.judgements, scale=given.scale)
    if given.phrases_out is not None and judged.phrase is None:
        raise InputError(f"{given.judgements.name}: --phrases-out needs a column phrase.")
    content = _scalar(given, judged)
    write_result(given.out, content)
    if given.phrases_out is not None:
        write_table(personal_table(judged, phrases=given.phrases), given.phrases_out)
    done = [name for name in ("calibration", "phrases", "predictions") if content.get(name)]
    given.output.tell(
        {"judgements": len(judged.slider), "computed": ", ".join(done), "result": str(given.out)}
    )


def _scalar(given: Scalar, judged: Judgements) -> dict[str, Plain]:
    content: dict[str, Plain] = {"n": len(judged.slider), "scale": given.scale}
    with blaming(given.judgements.name):
        content |= sliders(judged, phrases=given.phrases)
        if given.predictions is not None:
            content["predictions"] = against_classes(
                judged, predictions=given.predictions, votes=given.votes, values=given.places
            )
    return content


@dataclass(frozen=True, slots=True, eq=False)
class Judgements:
    """One slider value per row, with what else the table has.

    Attributes
    ----------
    source
        File name, for messages.
    slider
        Values divided by the scale, in [0, 1], shape (N,).
    label, phrase, item
        The columns of these names, None where the table has none.
    """

    source: str
    slider: FloatArray
    label: FloatArray | None
    phrase: tuple[str, ...] | None
    item: tuple[str, ...] | None

    @classmethod
    def read(cls, path: Path, *, scale: float) -> Judgements:
        """Read a table; sliders and labels must be numbers from 0 to the scale, and to 1.

        Raises
        ------
        InputError
            If the column is missing, the table is empty or a value is out of range.
        """
        if not 0.0 < scale < np.inf:
            raise ConfigurationError(
                f"--scale {scale}: give the slider's reading at certainty, above 0."
            )
        frame = read_table(path, {"slider": "the stated number"})
        if frame.empty:
            raise InputError(f"{path.name}: no judgements; the table has a header only.")
        slider = _column(frame["slider"], "slider", scale, path.name) / scale
        label = None
        if "label" in frame.columns:
            label = _column(frame["label"], "label", 1.0, path.name)
        phrase = _text(frame, "phrase")
        advice = "Give the phrase beside each slider, or leave the column out."
        blank = [not said for said in phrase or ()]
        refuse(blank, f"{path.name}: phrase", "values are blank", advice=advice)
        return cls(path.name, slider, label, phrase, _text(frame, "item"))


def sliders(judged: Judgements, *, phrases: str) -> dict[str, Plain]:
    """Bin-free calibration where there are labels, personal distributions where phrases."""
    found: dict[str, Plain] = {"calibration": None, "phrases": None}
    if judged.label is not None:
        found["calibration"] = export.slider_data(
            slider_calibration(slider=judged.slider, label=judged.label)
        )
    if judged.phrase is not None:
        table = phrase_table(phrases)
        personal = personal_phrases(phrase=list(judged.phrase), slider=judged.slider, table=table)
        found["phrases"] = [export.personal_data(phrase) for phrase in personal]
        found["share_order"] = list(table.phrases)
    return found


def personal_table(judged: Judgements, *, phrases: str) -> pd.DataFrame:
    """Give the phrases that two sliders or more define, as a phrase table for ``--phrases``."""
    found = personal_phrases(
        phrase=list(judged.phrase or ()), slider=judged.slider, table=phrase_table(phrases)
    )
    defined = [
        (one.phrase, one.distribution, one.n) for one in found if one.distribution and one.n > 1
    ]
    if not defined:
        raise InputError(f"{judged.source}: no phrase has sliders that define a distribution.")
    names, distributions, n = zip(*defined, strict=True)
    return PhraseTable("personal", names, distributions, n).to_frame()


def against_classes(
    judged: Judgements, *, predictions: Path, votes: Path | None, values: str
) -> dict[str, Plain]:
    """MAE and ranking risk of the expected score; with votes, class-wise error and bounds."""
    predicted = read_predictions(predictions)
    slider = _for_items(judged, predicted)
    places = _places(values, predicted.classes)
    score = class_scores.expected_score(probs=predicted.cells, values=places)
    error = class_scores.scalar_error(score=score, judged=slider)
    found: dict[str, Plain] = {
        "mean_absolute_error": plain(error.estimate()),
        "ranking_risk": export.ranking_data(ranking_risk(score=score, judged=slider)),
        "classwise_error": None,
        "bounds": None,
    }
    if votes is not None:
        voted = aligned(read_votes(votes, classes=predicted.classes), predicted)
        found |= _against_votes(predicted.cells, voted.cells, places)
    return found


def _against_votes(probs: FloatArray, votes: FloatArray, places: FloatArray) -> dict[str, Plain]:
    truth = frequencies(votes)
    by_error = class_scores.error_bound(probs=probs, truth=truth, values=places)
    by_rank = class_scores.ranking_bound(probs=probs, truth=truth, values=places)
    return {
        "classwise_error": plain(class_scores.classwise_error(probs=probs, truth=truth).estimate()),
        "bounds": {
            "error": plain(by_error.paper),
            "error_tight": plain(by_error.tight),
            "ranking": plain(by_rank.bound),
            "ranking_regret": plain(by_rank.regret),
            "ranking_optimum": "least",
        },
    }


def _for_items(judged: Judgements, predicted: ClassTable) -> FloatArray:
    """Slider values in the order of the predictions, one per item."""
    if judged.item is None:
        raise InputError(
            f"{judged.source}: column 'item' is needed to match sliders with predictions."
        )
    index = pd.Index(judged.item)
    refuse(index.duplicated(), judged.source, "rows repeat an item")
    matched(judged.source, judged.item, predicted)
    return judged.slider[index.get_indexer(pd.Index(predicted.items))]


def _places(text: str, classes: tuple[str, ...]) -> FloatArray:
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    try:
        named = {name.strip(): float(value) for name, _, value in parts}
    except ValueError:
        named = {}
    if set(named) != set(classes) or len(parts) != len(classes):
        raise ConfigurationError(
            f"--values: give each class its place, as in {'=…,'.join(classes)}=…"
        )
    return np.array([named[name] for name in classes])


def _column(column: pd.Series, name: str, most: float, source: str) -> FloatArray:
    values = numbers(column)
    fault = f"values are missing or outside 0 to {most:g}"
    refuse(~((values >= 0.0) & (values <= most)), f"{source}: {name}", fault)
    return values


def _text(frame: pd.DataFrame, name: str) -> tuple[str, ...] | None:
    if name not in frame.columns:
        return None
    return tuple(texts(frame[name]))
