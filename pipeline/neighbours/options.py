"""The options of the neighbouring measures' commands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pipeline.cli.common import Output, argument, option
from pipeline.cli.extraction_shared import ModelChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Options of ``radcal disagreement``."""

    votes: Path = argument(
        ...,
        "Votes: item and one count column per class; or item, reader, class with one row per vote.",
    )
    predictions: Path = option(..., "item and one probability column per class.")
    out: Path = option(..., "Result, one JSON file.")
    items_out: Path | None = option(None, "Measures of every item, one table.")
    bins: int = option(10, "Bins of the binned errors.", min=1)
    bootstrap: int = option(1000, min=0)
    control: int = option(0, "Votes drawn per item as the yardstick.", min=0)
    seed: int = option(0, min=0)
    output: Output


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """Options of ``radcal scalar``."""

    judgements: Path = argument(..., "slider, and any of label, phrase, item (for --predictions).")
    out: Path = option(..., "Result, one JSON file.")
    scale: float = option(100.0, "What the slider reads at certainty.")
    phrases: str = option("diagnostic-certainty-scale", "Built-in phrase table, or a file.")
    predictions: Path | None = option(None, "item and one probability column per class")
    phrases_out: Path | None = option(None, "What the phrases mean by the sliders: a phrase table.")
    votes: Path | None = option(None, "Votes on the same items, for the bounds.")
    places: str = option("", "Place of every class, as in yes=1,maybe=.4,no=0.", "--values")
    output: Output


@dataclass(frozen=True, slots=True, kw_only=True)
class Difficulty:
    """Options of ``radcal difficulty``."""

    predictions: Path = argument(
        ...,
        "A pool: .npz with probs (models, items, classes), or a table with model, item, one "
        "column per class.",
    )
    out: Path = option(..., "Result, one JSON file.")
    votes: Path | None = option(None, "Votes of people on the same items (tables).")
    items_out: Path | None = option(None, "Indicators, stratum and place in the review queue.")
    alpha: str = option("0.05,0.1,0.2", "Tolerances of the conformal sets.")
    count: int = option(3, "Strata of difficulty.", "--strata", min=1)
    output: Output


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Options of whoever asks a model how sure it is."""

    engine: str = option("server", "Which engine answers: server, vllm or transformers.")
    choice: ModelChoice
    phrases: str = option(
        "probability-words", "Phrases on offer: a built-in table or a file (form phrase)."
    )
    cache: Path | None = option(None, "Where replies are kept to go on from; default OUT.replies.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Elicitation:
    """Options of ``radcal lm elicit``."""

    questions: Path = argument(..., "JSON lines: SciQ, TruthfulQA, or question with answers.")
    out: Path = option(..., "Answers, one row per question and form.")
    asking: Asking
    form: list[str] | None = option(
        None, "probability, phrase, beta or own-phrase; repeat for several. Default: all four."
    )
    judge: str = option("match", "match: equal words are right; model: a model judges the others.")
    judge_model: str | None = option(None, "Model that judges; default the model that answers.")
    output: Output


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalibration:
    """Options of ``radcal lm calibrate``."""

    answers: Path = argument(
        ..., "Table of lm elicit; or one with correct, and probability, phrase or alpha, beta."
    )
    out: Path = option(..., "Result, one JSON file.")
    phrases: str | None = option(
        None,
        "Phrase table file, or the name of a built-in one; else the answers' own, or "
        "diagnostic-certainty-scale.",
    )
    bins: int = option(10, min=1)
    splits: int = option(10, "Random splits in halves, each used both ways.", min=1)
    bootstrap: int = option(1000, "Resamples behind the intervals.", min=0)
    seed: int = option(0, min=0)
    output: Output


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """Options of ``radcal lm layers``."""

    items: Path = argument(
        ...,
        "Questions with wrong answers (.jsonl), or a table (.csv, .parquet) with item, text, "
        "and as at hand text_pair and reference.",
    )
    out: Path = option(..., "Arrays for radcal difficulty (.npz).")
    model: list[Path] = option(..., "Folder of a model; repeat for a pool.", metavar="DIR")
    checkpoint: list[Path] | None = option(
        None, "Training checkpoints of one model, in order.", metavar="DIR"
    )
    options: int = option(4, "Options offered per question.", min=2, max=26)
    python: Path | None = option(None, "A Python with torch and transformers; default this one.")
    device: str = option("cpu", "Where torch runs: cpu, cuda.")
    output: Output
