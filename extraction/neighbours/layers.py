"""What a local transformers model would say after each of its layers; torch lives in a child.

| array | shape | meaning |
|---|---|---|
| probs | (n, C) | the model's final class probabilities |
| layers | (T, n) | class predicted after each layer, the first layer first |

Cases are questions with lettered options, or texts to classify.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from calibration.arrays import FloatArray, IntArray
from extraction.errors import ExtractionError
from extraction.neighbours.questions import Question

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Cases:
    """N cases for one kind of model.

    Attributes
    ----------
    task
        ``choose``: a causal model continues with an option's letter; ``classify``: a sequence
        classifier names a class.
    items
        Names of the cases.
    texts
        What the model reads: a text, or two for a classifier of pairs.
    references
        The right letter or class of each case; empty where nobody knows.
    options
        Letters to choose from; empty for a classifier, which has its own classes.
    """

    task: Literal["choose", "classify"]
    items: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    references: tuple[str, ...]
    options: tuple[str, ...] = ()


def cases_of_questions(questions: Sequence[Question], *, options: int) -> tuple[Cases, int]:
    """Put questions with one right and ``options`` − 1 wrong answers; count those with too few.

    Further wrong answers are not offered, because every case must have the same classes.
    """
    letters = tuple(_LETTERS[:options])
    kept = [
        Question(q.question_id, q.text, q.right, q.wrong[: options - 1])
        for q in questions
        if len(q.wrong) >= options - 1
    ]
    offered = [options_of(question) for question in kept]
    right = tuple(
        letters[texts.index(question.right[0])]
        for question, texts in zip(kept, offered, strict=True)
    )
    prompts = tuple(
        (_prompt(question, texts, letters),) for question, texts in zip(kept, offered, strict=True)
    )
    names = tuple(question.question_id for question in kept)
    return Cases("choose", names, prompts, right, letters), len(questions) - len(kept)


def options_of(question: Question) -> tuple[str, ...]:
    """One right and the wrong answers, in an order that only the question decides."""
    options = [question.right[0], *question.wrong][: len(_LETTERS)]
    seed = hashlib.sha256(f"{question.question_id}\0{question.text}".encode()).digest()
    random.Random(seed).shuffle(options)  # noqa: S311 - an order, not a secret
    return tuple(options)


def _prompt(question: Question, texts: Sequence[str], letters: Sequence[str]) -> str:
    lines = [f"{letter}. {text}" for letter, text in zip(letters, texts, strict=True)]
    asked = " ".join(question.text.split())
    return "\n".join([f"Question: {asked}", *lines, "Answer:"])


_CHILD: Final = Path(__file__).with_name("layers_child.py")
_OFFLINE: Final = {
    "HF_HUB_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
}


class LayerwiseError(ExtractionError):
    """A model could not be read layer by layer; the message says why."""


@dataclass(frozen=True, slots=True, eq=False)
class Layerwise:
    """Predictions of one model, classes in its own order; see the module's table."""

    classes: tuple[str, ...]
    probs: FloatArray
    layers: IntArray


def layerwise(
    cases: Cases, *, model: Path, python: Path, device: str = "cpu", quiet: bool = True
) -> Layerwise:
    """Predict every case after every layer of a local model.

    Parameters
    ----------
    cases
        What is predicted.
    model
        Folder of the model, as transformers saves it; nothing is fetched.
    python
        A Python that has torch and transformers.
    device
        Where it runs, as torch names it.
    quiet
        Show no progress.

    Raises
    ------
    LayerwiseError
        If the folder, the Python or the architecture cannot be used.
    """
    if not (model / "config.json").is_file():
        raise LayerwiseError(
            f"{model}: holds no config.json; give the folder of a model as transformers saves it."
        )
    order = {
        "model": str(model),
        "task": cases.task,
        "texts": [list(texts) for texts in cases.texts],
        "options": list(cases.options),
        "device": device,
    }
    with tempfile.TemporaryDirectory() as folder:
        asked, made = Path(folder) / "order.json", Path(folder) / "made.npz"
        asked.write_text(json.dumps(order), encoding="utf-8")
        answer = _ordered([python, "-I", _CHILD, asked, made], quiet=quiet)
        if "classes" not in answer:
            raise LayerwiseError(f"{model.name}: {answer['failed']}. See radcal lm layers --help.")
        with np.load(made, allow_pickle=False) as arrays:
            return Layerwise(
                classes=tuple(str(name) for name in answer["classes"]),
                probs=np.asarray(arrays["probs"], dtype=np.float64),
                layers=np.asarray(arrays["layers"], dtype=np.int64),
            )


def _ordered(command: list[Path | str], *, quiet: bool) -> dict[str, list[str] | str]:
    """Run the child, without our secrets, and read what it says last."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RADCAL_")}
    try:
        done = subprocess.run(  # noqa: S603 - the user names the Python, we name the script
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
            env=environment | _OFFLINE,
            check=False,
        )
    except OSError as error:
        raise LayerwiseError(f"{command[0]}: cannot be started ({error.strerror}).") from None
    return _answer(done.stdout, done.returncode)


def _answer(printed: bytes, status: int) -> dict[str, list[str] | str]:
    """Read the child's last line."""
    lines = printed.decode("utf-8", "replace").strip().split("\n")
    try:
        answer = json.loads(lines[-1])
    except ValueError:
        return {"failed": f"the model's process ended with status {status} and said nothing"}
    return answer if isinstance(answer, dict) else {"failed": "it said nothing that can be read"}
