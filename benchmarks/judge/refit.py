"""Fit a part of the weights to what networks make of the authors that they were spared."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from gold import FOLDS, NEWER, authors, file_of, save
from numpy.typing import NDArray

from pipeline.deidentify import Deidentifier, Options
from pipeline.deidentify.audit import GoldReport
from pipeline.deidentify.judge import Judge
from pipeline.deidentify.judge.model import load_weights

__all__ = ["refit"]

_Seen = TypeVar("_Seen")


def refit(
    what: str | None,
    part: str,
    seen: Callable[[Sequence[GoldReport], Deidentifier, Judge], _Seen],
    fit: Callable[[Sequence[_Seen]], NDArray[np.float32]],
) -> None:
    """Fit a part of each fold's weights by all other folds, and of those for use by everyone.

    Parameters
    ----------
    what
        What the command is for.
    part
        The name among `Weights` of what is fit.
    seen
        What the judge of a fold makes of an author left out of it.
    fit
        What is fit to authors so seen.
    """
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--weights", type=Path, required=True)
    folder = parser.parse_args().weights
    rules, gold = Deidentifier(Options(caution=0)), authors(NEWER)
    shown: dict[str, _Seen] = {}
    for fold in FOLDS:
        judge = Judge(rules.lexicon, weights=load_weights(folder / file_of(fold)))
        shown |= {name: seen(gold[name], rules, judge) for name in fold}
    for fold in (*FOLDS, ()):
        fitted: Any = fit([each for name, each in shown.items() if name not in fold])
        place = folder / file_of(fold)
        save(replace(load_weights(place), **{part: fitted}), place)
        print(place.name, np.round(fitted, 3).tolist(), flush=True)
