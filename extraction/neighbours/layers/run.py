"""The parent's side: order a child to predict, and read its arrays.

| array | shape | meaning |
|---|---|---|
| probs | (n, C) | the model's final class probabilities |
| layers | (T, n) | class predicted after each layer, the first layer first |
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from extraction.errors import ExtractionError
from extraction.neighbours.layers.items import Cases

__all__ = ["Layerwise", "LayerwiseError", "layerwise"]

_CHILD: Final = Path(__file__).with_name("child.py")
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
    probs: NDArray[np.float64]
    layers: NDArray[np.int64]


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
        msg = f"{model}: holds no config.json; give the folder of a model as transformers saves it."
        raise LayerwiseError(msg)
    order = {
        "model": str(model),
        "task": cases.task,
        "texts": [list(texts) for texts in cases.texts],
        "options": list(cases.options),
        "device": device,
    }
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RADCAL_")}
    with tempfile.TemporaryDirectory() as folder:
        asked, made = Path(folder) / "order.json", Path(folder) / "made.npz"
        asked.write_text(json.dumps(order), encoding="utf-8")
        try:
            done = subprocess.run(  # noqa: S603 - the user names the Python, we name the script
                [python, "-I", _CHILD, asked, made],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if quiet else None,
                env=environment | _OFFLINE,
                check=False,
            )
        except OSError as error:
            msg = f"{python}: cannot be started ({error.strerror})."
            raise LayerwiseError(msg) from None
        answer = _answer(done.stdout, done.returncode)
        if "classes" not in answer:
            msg = f"{model.name}: {answer['failed']}. See radcal lm layers --help."
            raise LayerwiseError(msg)
        with np.load(made, allow_pickle=False) as arrays:
            return Layerwise(
                classes=tuple(str(name) for name in answer["classes"]),
                probs=np.asarray(arrays["probs"], dtype=np.float64),
                layers=np.asarray(arrays["layers"], dtype=np.int64),
            )


def _answer(printed: bytes, status: int) -> dict[str, list[str] | str]:
    """Read the child's last line."""
    lines = printed.decode("utf-8", "replace").strip().split("\n")
    try:
        answer = json.loads(lines[-1])
    except ValueError:
        return {"failed": f"the model's process ended with status {status} and said nothing"}
    return answer if isinstance(answer, dict) else {"failed": "it said nothing that can be read"}
